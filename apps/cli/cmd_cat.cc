#include <string>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/ops/list.h"

namespace dolium::cli {

ExitStatus RunCat(Context& context) {
  const std::string& key = context.arguments[1];
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const auto data = Cat(**container, key, context.arguments.Has("raw"));
  if (!data) return context.Fail(data.error());
  const Bytes& bytes = context.arguments.Has("preceding") ? data->preceding : data->value;

  const std::string file = context.arguments.Get("output").value_or("-");
  const auto written = context.WriteFile(file, bytes);
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json() && file != "-") {
    context.terminal.JsonLine(
        {{"type", "written"}, {"key", key}, {"file", file}, {"size", bytes.size()}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
