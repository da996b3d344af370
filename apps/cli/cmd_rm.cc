#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/verbs.h"

namespace dolium::cli {

ExitStatus RunRm(Context& context) {
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const std::vector<std::string>& arguments = context.arguments.positionals();
  const std::vector<std::string> keys(arguments.begin() + 1, arguments.end());
  std::vector<Change> changes;
  changes.reserve(keys.size());
  for (const std::string& key : keys) {
    changes.push_back({.key = key, .value = std::nullopt, .preceding = {}});
  }
  const auto applied =
      (*container)
          ->Apply(changes, {.progress = context.terminal.StartProgress("rm"),
                            .stop = context.stop});
  context.terminal.EndProgress();
  if (!applied) return context.Fail(applied.error());
  if (context.terminal.json()) {
    for (const std::string& key : keys) {
      context.terminal.JsonLine("removed", {{"key", key}});
    }
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
