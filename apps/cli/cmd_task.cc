#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/verbs.h"
#include "dolium/base/parallel.h"
#include "dolium/ops/job/job.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kInputLimit = uint64_t{1} << 30;

// The arguments, or the lines of standard input that are not empty.
Result<std::vector<std::string>> ReadTasks(const Context& context) {
  if (!context.arguments.positionals().empty()) return context.arguments.positionals();
  DOLIUM_TRY(const Bytes input, context.ReadFile("-", kInputLimit));
  std::vector<std::string> tasks;
  std::string_view rest = AsText(input);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) tasks.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tasks;
}

// Tasks that may be done at once; each group needs those before it.
Result<std::map<size_t, std::vector<std::string>>> ByStage(
    const std::vector<std::string>& tasks) {
  std::map<size_t, std::vector<std::string>> stages;
  for (const std::string& task : tasks) {
    DOLIUM_TRY(const size_t stage, StageOf(task));
    stages[stage].push_back(task);
  }
  return stages;
}

}  // namespace

ExitStatus RunTask(Context& context) {
  const auto tasks = ReadTasks(context);
  if (!tasks) return context.FailLocation(tasks.error());
  const auto stages = ByStage(*tasks);
  if (!stages) return context.FailLocation(stages.error());
  const ProgressFunction progress = context.terminal.StartProgress("task");

  std::mutex mutex;
  WriteSummary written;  // these are guarded by mutex
  bool skipped = false;
  FindingPrinter findings(context, FindingPrinter::Output::kReports, "left out: ");
  Result<void> ran;
  for (const auto& [stage, group] : *stages) {
    // Tasks run side by side, one thread each, and share the memory.
    const size_t threads = ThreadCount(context.jobs(), group.size());
    RunOptions options;
    options.writer = context.writer_options();
    options.writer.jobs = 1;
    options.writer.memory /= threads;
    ran = ParallelFor(
        group.size(), threads,
        [&](size_t index) -> Result<void> {
          DOLIUM_TRY(const TaskReport report,
                     dolium::RunTask(context.formats, group[index], options));
          const std::scoped_lock lock(mutex);
          written += report.written;
          for (const Finding& finding : report.skipped) {
            skipped = true;
            findings.Add(finding);
          }
          if (progress)
            progress({.entries = written.entries, .bytes = written.stored_bytes});
          return {};
        },
        context.stop);
    if (!ran) break;
  }
  context.terminal.EndProgress();
  findings.Finish();
  if (!ran) return context.FailLocation(ran.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"tasks", tasks->size()},
                                          {"entries", written.entries},
                                          {"value_bytes", written.value_bytes},
                                          {"stored_bytes", written.stored_bytes}});
  }
  return skipped ? ExitStatus::kBad : ExitStatus::kGood;
}

}  // namespace dolium::cli
