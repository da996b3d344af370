#include "cli/export_arguments.h"

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "cli/volume_arguments.h"

namespace dolium::cli {

Result<volume::ExportOptions> ExportOptionsOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::ExportOptions options;
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
      Flag("", "labels", "of an export of DVID: agglomerated labels [the default]"),
      Flag("", "supervoxels", "of an export of DVID: supervoxels, not labels"),
      Value(ValueKind::kFile, "", "spec", "<file>",
            "what the export was made with [its spec.json, if there is one]"),
      Value(ValueKind::kText, "", "resolution", "<x,y,z>",
            "nanometres of a voxel, where no spec tells [1,1,1]"),
      kCoordinates,
      kSalvage,
  };
}

}  // namespace dolium::cli
