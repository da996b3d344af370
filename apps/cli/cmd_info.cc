#include <optional>
#include <string>

#include "cli/cmd_shard_stream.h"
#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/container/unfinished.h"

namespace dolium::cli {
namespace {

// The marker lies in the set's folder: the location itself, or the one a shard is in.
Result<bool> IsUnfinished(const Location& location) {
  DOLIUM_TRY(const auto object, location.store->Stat(location.path));
  DOLIUM_TRY(const auto marker, ReadMarker(object ? location.Parent() : location));
  return marker.has_value();
}

// nullopt where the store cannot list: then counting would mean probing.
Result<std::optional<uint64_t>> CountObjects(const Container& container) {
  const Location& location = container.location();
  const auto listed =
      location.store->List(location.path, [](auto, bool) { return false; });
  if (!listed && listed.error().code == ErrorCode::kUnsupported) return std::nullopt;
  DOLIUM_TRY(const auto objects, container.Objects());
  return objects.size();
}

}  // namespace

ExitStatus RunInfo(Context& context) {
  if (context.arguments[0] == kStandardInput) return ShardStreamInfo(context);
  const auto container = context.Open(context.arguments[0], /*allow_unfinished=*/true);
  if (!container) return context.FailLocation(container.error());
  const Location& location = (*container)->location();
  const auto unfinished = IsUnfinished(location);
  if (!unfinished) return context.FailLocation(unfinished.error());
  const auto objects = CountObjects(**container);
  if (!objects) return context.FailLocation(objects.error());
  const char* const state = *unfinished ? "unfinished" : "finished";
  const Properties properties = (*container)->properties();

  if (context.terminal.json()) {
    Json json = {{"type", "info"},
                 {"format", (*container)->format_name()},
                 {"location", location.Describe()},
                 {"state", state},
                 {"objects", *objects ? Json(**objects) : Json()},
                 {"properties", Json::object()}};
    for (const auto& [name, value] : properties) json["properties"][name] = value;
    context.terminal.JsonLine(json);
    return ExitStatus::kGood;
  }
  Table table({{}, {}}, [&](std::string_view line) { context.terminal.Line(line); });
  table.Add({"format", std::string((*container)->format_name())});
  table.Add({"location", location.Describe()});
  table.Add({"state", state});
  if (*objects) table.Add({"objects", FormatCount(**objects)});
  for (const auto& [name, value] : properties) table.Add({name, value});
  table.Finish();
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
