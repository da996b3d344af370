#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/base/parallel.h"

namespace dolium::cli {

ExitStatus RunReindex(Context& context) {
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const auto objects = (*container)->Objects();
  if (!objects) return context.FailLocation(objects.error());
  const bool replace = context.arguments.Has("force");
  std::mutex mutex;
  uint64_t written = 0;
  uint64_t left = 0;
  uint64_t failed = 0;
  const auto done = ParallelFor(
      objects->size(), context.jobs(),
      [&](size_t i) -> Result<void> {
        const auto made = (*container)->WriteIndex((*objects)[i], replace);
        const std::lock_guard lock(mutex);
        if (made) {
          ++(*made ? written : left);
        } else if (made.error().code == ErrorCode::kCorrupt) {
          // The others may be well.
          (void)context.Fail(made.error());
          ++failed;
        } else {
          return made.error();
        }
        return {};
      },
      context.stop);
  if (!done) return context.FailLocation(done.error());
  const ExitStatus status = failed > 0 ? ExitStatus::kBad : ExitStatus::kGood;
  if (context.arguments.Has("no-summary")) return status;
  const std::string name = (*container)->location().Describe();
  if (context.terminal.json()) {
    context.terminal.JsonLine(
        "summary",
        {{"location", name}, {"written", written}, {"left", left}, {"damaged", failed}});
  } else {
    context.terminal.Line(fmt::format(
        "{}: {} {} written, {} left as they are, {} damaged", name, FormatCount(written),
        written == 1 ? "index" : "indexes", FormatCount(left), FormatCount(failed)));
  }
  return status;
}

}  // namespace dolium::cli
