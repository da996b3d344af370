#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/ops/properties/segment_tables.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

using properties::SegmentProperties;

Result<SegmentProperties> MeasureVolume(const Context& context) {
  DOLIUM_TRY(const Location location, ParseLocation(context.arguments[0]));
  DOLIUM_TRY(const volume::Volume volume, OpenVolume(location));
  MeasureOptions options = {.jobs = context.jobs(), .stop = context.stop};
  DOLIUM_TRY(const auto scale, ScaleOption(context.arguments, volume.info()));
  options.scale = scale.value_or(0);
  options.progress = context.terminal.StartProgress("properties");
  auto measured = MeasureSegments(volume, options);
  context.terminal.EndProgress();
  return measured;
}

ExitStatus PutProperties(Context& context, const std::string& target,
                         const Result<SegmentProperties>& table) {
  if (!table) return context.FailLocation(table.error());
  const auto location = ParseLocation(target);
  if (!location) return context.FailLocation(location.error());
  const auto place =
      PutSegmentProperties(*location, *table, context.arguments.Has("force"));
  if (!place) return context.Fail(place.error());
  if (context.arguments.Has("no-summary")) return ExitStatus::kGood;
  const std::string folder = place->folder.Describe();
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"folder", folder},
                                          {"segments", table->ids.size()},
                                          {"properties", table->properties.size()},
                                          {"registered", place->is_new_in_volume}});
  } else {
    context.terminal.Line(fmt::format(
        "{}: {} properties of {} segments{}", folder, table->properties.size(),
        FormatCount(table->ids.size()),
        place->is_new_in_volume ? ", which the info of the volume now names" : ""));
  }
  return ExitStatus::kGood;
}

}  // namespace

ExitStatus RunVolumeProperties(Context& context) {
  const std::string target =
      context.arguments.Get("output").value_or(context.arguments[0]);
  return PutProperties(context, target, MeasureVolume(context));
}

ExitStatus RunPropertiesImport(Context& context) {
  const auto csv = ParseLocation(context.arguments[0]);
  if (!csv) return context.FailLocation(csv.error());
  return PutProperties(context, context.arguments[1],
                       ReadPropertiesCsv(*csv, context.stop));
}

ExitStatus RunPropertiesExport(Context& context) {
  const auto location = ParseLocation(context.arguments[0]);
  if (!location) return context.FailLocation(location.error());
  const auto folder = FindPropertiesFolder(*location);
  if (!folder) return context.FailLocation(folder.error());
  const auto table = properties::ReadSegmentProperties(*folder);
  if (!table) return context.FailLocation(table.error());
  const std::string& file = context.arguments[1];
  const auto written = context.WriteFile(file, AsBytes(WritePropertiesCsv(*table)));
  if (!written) return context.Fail(written.error());
  if (context.arguments.Has("no-summary") || file == "-") return ExitStatus::kGood;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary",
                              {{"file", file}, {"segments", table->ids.size()}});
  } else {
    context.terminal.Line(
        fmt::format("{}: {} segments", file, FormatCount(table->ids.size())));
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
