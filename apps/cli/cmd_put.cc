#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/codec/codec.h"

namespace dolium::cli {

ExitStatus RunPut(Context& context) {
  const std::string& key = context.arguments[1];
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const auto present = (*container)->Find(key);
  if (!present) return context.Fail(present.error());
  if (*present && !context.arguments.Has("force")) {
    return context.Fail(
        Exists(fmt::format("{}: {}: is there already; --force replaces it",
                           (*container)->location().Describe(), key)));
  }

  Change change{.key = key,
                .value = {},
                .preceding = {},
                .only_if_absent = !context.arguments.Has("force")};
  auto value = context.ReadFile(context.arguments[2], kDefaultDecodeLimit);
  if (!value) return context.FailLocation(value.error());
  change.value = *std::move(value);
  if (const auto file = context.arguments.Get("preceding")) {
    auto preceding = context.ReadFile(*file, kDefaultDecodeLimit);
    if (!preceding) return context.FailLocation(preceding.error());
    change.preceding = *std::move(preceding);
  }
  const auto applied =
      (*container)
          ->Apply({&change, 1}, {.progress = context.terminal.StartProgress("put"),
                                 .stop = context.stop});
  context.terminal.EndProgress();
  if (!applied) return context.Fail(applied.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("put", {{"key", key},
                                      {"size", change.value->size()},
                                      {"replaced", present->has_value()}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
