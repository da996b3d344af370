#include <unistd.h>

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/source/stream.h"

namespace dolium::cli {
namespace {

// What all kinds say of themselves.
struct Description {
  std::string format;
  std::string location;
  std::optional<bool> is_finished;  // nullopt: nobody can know
  std::optional<uint64_t> objects;
  Properties properties;
};

Result<Description> DescribeSource(const Context& context, const std::string& text) {
  DOLIUM_TRY(const auto source, context.OpenSource(text, /*allow_unfinished=*/true));
  DOLIUM_TRY(const Container* const entries, source->entries());
  Description description{std::string(entries->format_name()),
                          source->location().Describe(),
                          std::nullopt,
                          std::nullopt,
                          {}};
  DOLIUM_TRY(description.is_finished, source->IsFinished());
  DOLIUM_TRY(description.objects, source->CountObjects());
  const Location& location = source->location();
  DOLIUM_TRY(const auto object, location.store->Stat(location.path));
  if (object) {
    // A file whose index cannot be read says nothing of itself.
    DOLIUM_TRY(const auto objects, entries->Objects());
    DOLIUM_TRY_VOID(entries->ScanObject(
        objects.front(),
        {.entry = [](const Entry& /*entry*/) { return false; }, .damage = {}}));
  }
  description.properties = entries->properties();
  return description;
}

Result<Description> DescribeStream(const Context& context) {
  DOLIUM_TRY_VOID(context.CheckStreamOptions());
  DOLIUM_TRY(StreamReport report, ReadStream(STDIN_FILENO, {.stop = context.stop}));
  return Description{std::string(report.format), std::string(kStandardInput),
                     std::nullopt, std::nullopt, std::move(report.properties)};
}

}  // namespace

ExitStatus RunInfo(Context& context) {
  const std::string& text = context.arguments[0];
  const bool is_stream = text == kStandardInput;
  const auto found = is_stream ? DescribeStream(context) : DescribeSource(context, text);
  if (!found) {
    return is_stream ? context.Fail(found.error()) : context.FailLocation(found.error());
  }
  const char* const state = found->is_finished.value_or(true) ? "finished" : "unfinished";

  if (context.terminal.json()) {
    Json json = {{"format", found->format}, {"location", found->location}};
    if (!is_stream) {
      json["state"] = state;
      json["objects"] = found->objects ? Json(*found->objects) : Json();
    }
    json["properties"] = PropertiesJson(found->properties);
    context.terminal.JsonLine("info", json);
    return ExitStatus::kGood;
  }
  Table table({{}, {}}, [&](std::string_view line) { context.terminal.Line(line); });
  table.Add({"format", found->format});
  table.Add({"location", found->location});
  if (!is_stream) table.Add({"state", state});
  if (found->objects) table.Add({"objects", FormatCount(*found->objects)});
  for (const auto& [name, value] : found->properties) table.Add({name, value.text()});
  table.Finish();
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
