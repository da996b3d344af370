#include "cli/volume/export_arguments.h"

#include <utility>

#include "cli/findings.h"
#include "cli/volume/volume_arguments.h"

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
  FindingPrinter shown(context, FindingPrinter::Output::kReports, "left out: ");
  for (const Finding& finding : skipped) {
    // Warnings were shown when they were found.
    if (finding.severity == Severity::kError) shown.Add(finding);
  }
  return skipped.empty() ? ExitStatus::kGood : ExitStatus::kBad;
}

}  // namespace dolium::cli
