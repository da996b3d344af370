#include "cli/volume/export_arguments.h"

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::cli {

Result<volume::DvidReadOptions> ExportOptionsOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::DvidReadOptions options;
  if (arguments.Has("labels") && arguments.Has("supervoxels")) {
    return InvalidArgument("--labels and --supervoxels exclude each other");
  }
  if (arguments.Has("supervoxels")) options.labels = dvid::LabelKind::kSupervoxels;
  DOLIUM_TRY(options.spec, context.ReadSpec("spec"));
  if (arguments.Has("resolution")) {
    DOLIUM_TRY(options.resolution, ResolutionOption(arguments));
  }
  if (const auto word = arguments.Get("coordinates")) {
    options.coordinates = *dvid::ParseCoordinates(*word);
  }
  options.salvage = arguments.Has("salvage");
  return options;
}

Result<volume::ExportReport> CheckSource(const Context& context,
                                         const volume::DvidReadOptions& options) {
  DOLIUM_TRY(const Location location, ParseLocation(context.arguments[0]));
  DOLIUM_TRY(const auto volume,
             volume::Volume::Open(location, /*allow_unfinished=*/false, options));
  const volume::DvidExport* exported = volume.dvid_export();
  if (exported == nullptr) return volume::ExportReport();
  DOLIUM_TRY(volume::ExportReport report,
             CheckExport(*exported, context.jobs(), context.stop));
  for (const auto* const findings : {&report.warnings, &report.of_spec}) {
    for (const Finding& finding : *findings) {
      context.terminal.Report(Corrupt(FindingLine(finding, "warning: ")));
    }
  }
  for (const Finding& finding : report.damage) {
    context.terminal.Report(Corrupt(FindingLine(finding)),
                            Context::FindingMembers(finding));
  }
  return report;
}

Result<void> RefuseOptions(const Arguments& arguments,
                           std::span<const std::string_view> options,
                           std::string_view where) {
  for (const std::string_view option : options) {
    if (!arguments.Has(option)) continue;
    return InvalidArgument(fmt::format("--{} means nothing {}", option, where));
  }
  return {};
}

std::vector<Option> ExportRows() {
  return {
      Flag("", "labels", "of a DVID export: agglomerated labels [the default]"),
      Flag("", "supervoxels", "of a DVID export: supervoxels, not labels"),
      Value(ValueKind::kFile, "", "spec", "<file>",
            "what the export was made with [its spec.json, if there is one]"),
      Value(ValueKind::kText, "", "resolution", "<x,y,z>",
            "nanometres of a voxel, where no spec says [1,1,1]"),
      kCoordinates,
      kSalvage,
  };
}

}  // namespace dolium::cli
