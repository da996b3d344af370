#include "cli/volume/export_arguments.h"

#include <utility>

#include "cli/findings.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::cli {

Result<volume::DvidReadOptions> ExportOptionsOf(const Context& context) {
  DOLIUM_TRY(auto spec, context.ReadSpec("spec"));
  return ExportOptionsOf(context, std::move(spec));
}

Result<volume::DvidReadOptions> ExportOptionsOf(const Context& context,
                                                std::optional<std::string> spec) {
  const Arguments& arguments = context.arguments;
  volume::DvidReadOptions options;
  if (arguments.Has("labels") && arguments.Has("supervoxels")) {
    return InvalidArgument("--labels and --supervoxels exclude each other");
  }
  if (arguments.Has("supervoxels")) options.labels = dvid::LabelKind::kSupervoxels;
  options.spec = std::move(spec);
  if (arguments.Has("resolution")) {
    DOLIUM_TRY(options.resolution, ResolutionOption(arguments));
  }
  if (const auto word = arguments.Get("coordinates")) {
    options.coordinates = *dvid::ParseCoordinates(*word);
  }
  options.salvage = arguments.Has("skip-damaged");
  return options;
}

ExitStatus ReportSkipped(const Context& context, const std::vector<Finding>& skipped) {
  FindingPrinter printer(context, FindingPrinter::Output::kReports, "left out: ");
  for (const Finding& finding : skipped) printer.Add(finding);
  return skipped.empty() ? ExitStatus::kGood : ExitStatus::kBad;
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
  for (const auto* const findings : {&report.warnings, &report.of_spec, &report.damage}) {
    FindingPrinter shown(context, FindingPrinter::Output::kReports);
    for (const Finding& finding : *findings) shown.Add(finding);
  }
  return report;
}

}  // namespace dolium::cli
