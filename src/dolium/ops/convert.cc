#include "dolium/ops/convert.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/unfinished.h"
#include "dolium/ops/convert_plan.h"
#include "dolium/ops/job/part_entries.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/plan_record.h"
#include "dolium/ops/job/work_list.h"
#include "dolium/ops/scan_source.h"

namespace dolium {
namespace {

using Phase = PlanFolder::Phase;

// The part of the memory that tables of work lists may take while tasks run.
constexpr uint64_t kTableShare = 8;

// Adds up the progress of tasks that run at once.
class ProgressSum {
 public:
  ProgressSum(const ProgressFunction& report, uint64_t entries_done,
              uint64_t total_entries)
      : report_(report), progress_{entries_done, total_entries, 0} {}

  void Add(uint64_t entries, uint64_t bytes) {
    if (!report_) return;
    const std::lock_guard lock(mutex_);
    progress_.entries += entries;
    progress_.bytes += bytes;
    report_(progress_);
  }

 private:
  const ProgressFunction& report_;
  std::mutex mutex_;
  Progress progress_;  // guarded by mutex_
};

// The progress of one task: what its target tells, and the rest when it ends.
class TaskProgress {
 public:
  TaskProgress(ProgressSum& sum, uint64_t entries, uint64_t bytes)
      : sum_(sum), entries_(entries), bytes_(bytes) {}

  void Add(uint64_t entries, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    entries = std::min(entries, entries_);
    bytes = std::min(bytes, bytes_);
    entries_ -= entries;
    bytes_ -= bytes;
    sum_.Add(entries, bytes);
  }
  void End() { Add(entries_, bytes_); }

 private:
  ProgressSum& sum_;
  std::mutex mutex_;
  uint64_t entries_;  // still to be told of, as are the bytes; guarded by mutex_
  uint64_t bytes_;
};

Finding SkippedFinding(const Store& store, const Entry& entry, const Error& error) {
  std::string object;
  std::optional<ByteRange> range;
  if (!entry.extents.empty()) {
    object = store.Describe(entry.extents.front().object->name);
    range = entry.extents.front().range;
  }
  return ErrorFinding(std::string(ErrorCodeName(error.code)), std::move(object),
                      entry.key, range, error);
}

// Makes one part and writes its report.
Result<TaskReport> RunPart(Formats formats, const PlanFolder& folder,
                           const PlanRecord& record, uint64_t part, PartEntries entries,
                           const WriterOptions& options, ProgressSum& progress) {
  if (entries.count() == 0) {
    return InvalidArgument(
        fmt::format("{}: the plan has no part {}", folder.set().Describe(), part));
  }
  TaskProgress task_progress(progress, entries.count(), entries.bytes());

  DOLIUM_TRY(const Location from, ParseLocation(record.request.source));
  DOLIUM_TRY(const Format* format, FindFormat(formats, record.format));
  DOLIUM_TRY(const auto target, format->reopen(folder.set(), record.description));

  std::mutex mutex;
  PartReport report;
  report.part = part;
  PartSource source;
  source.store = from.store.get();
  source.entries = &entries;
  source.progress = [&](uint64_t more, uint64_t their_bytes) {
    task_progress.Add(more, their_bytes);
  };
  if (record.request.skip_damaged) {
    source.skip_damaged = [&](const Entry& entry, const Error& error) {
      if (!IsDamage(error)) return false;
      const std::lock_guard lock(mutex);
      report.skipped.push_back(SkippedFinding(*from.store, entry, error));
      return true;
    };
  }
  auto written = target->WritePart(part, source, options);
  if (!written) {
    Error error = std::move(written).error();
    if (error.code == ErrorCode::kConflict) {
      error.message += fmt::format(
          "; the source is not what the plan was made for: remove {} and begin again",
          folder.set().Describe());
    }
    return error;
  }
  report.written = *written;
  std::sort(report.skipped.begin(), report.skipped.end(),
            [](const Finding& a, const Finding& b) { return a.key < b.key; });
  DOLIUM_TRY_VOID(folder.WriteReport(report));
  task_progress.End();
  return TaskReport{report.written, std::move(report.skipped)};
}

// What all parts came to, after checking that every one is there.
Result<ConvertReport> SumUp(const PlanFolder& folder, const Target& target,
                            std::span<const PlannedPart> parts) {
  std::vector<PartReport> reports(parts.size());
  DOLIUM_TRY_VOID(ParallelFor(parts.size(), 0, [&](size_t i) -> Result<void> {
    const uint64_t part = parts[i].part;
    const std::string object = target.PartObject(part);
    const Store& store = *folder.set().store;
    DOLIUM_TRY(auto report, folder.ReadReport(part));
    if (!report) {
      return NotFound(fmt::format("{}: part {} is not done; run its task",
                                  store.Describe(object), part));
    }
    reports[i] = *std::move(report);
    if (reports[i].written.entries == 0) return {};
    DOLIUM_TRY(const auto info, store.Stat(object));
    if (info) return {};
    return NotFound(fmt::format("{}: part {} was made, but is gone; run its task again",
                                store.Describe(object), part));
  }));
  ConvertReport sum;
  sum.parts = parts.size();
  DOLIUM_TRY(auto scan, folder.ReadReport(std::nullopt));
  if (scan) sum.skipped = std::move(scan->skipped);
  for (PartReport& report : reports) {
    sum.written += report.written;
    std::move(report.skipped.begin(), report.skipped.end(),
              std::back_inserter(sum.skipped));
  }
  return sum;
}

Result<ConvertReport> Finish(Formats formats, const PlanFolder& folder) {
  // Only one process at a time may swap folders; a second one finds nothing left to do.
  DOLIUM_TRY(const auto lock, folder.FindLock());
  DOLIUM_TRY(auto state, folder.Load());
  if (!state.record) {
    return NotFound(folder.set().Describe() + ": no conversion is under way here");
  }
  const PlanRecord& record = *state.record;
  DOLIUM_TRY(const Format* format, FindFormat(formats, record.format));
  DOLIUM_TRY(const auto target, format->reopen(folder.set(), record.description));
  if (state.phase == Phase::kUnderWay) {
    DOLIUM_TRY(const auto lists, OpenWorkLists(folder, record));
    DOLIUM_TRY(const auto parts, PartsOf(lists));
    DOLIUM_TRY(state.report, SumUp(folder, *target, parts));
    DOLIUM_TRY_VOID(folder.Close(record, state.report));
  }
  if (state.phase != Phase::kFinished) {
    DOLIUM_TRY_VOID(target->Finish());
    DOLIUM_TRY_VOID(RemoveMarker(folder.set()));
  }
  DOLIUM_TRY_VOID(PutInPlace(formats, folder, record));
  return std::move(state.report);
}

uint64_t PartsDone(const OpenPlan& plan) {
  if (plan.state.phase != Phase::kUnderWay) return plan.state.report.parts;
  return static_cast<uint64_t>(std::count_if(plan.parts.begin(), plan.parts.end(),
                                             [](const auto& p) { return p.done; }));
}

uint64_t EntriesDone(const OpenPlan& plan) {
  if (plan.state.phase != Phase::kUnderWay) return plan.state.record->entries;
  uint64_t sum = 0;
  for (const PlannedPart& part : plan.parts) {
    if (part.done) sum += part.entries;
  }
  return sum;
}

// Keeps the tables in memory, as far as a budget allows, for tasks to search.
Result<void> KeepTables(std::span<WorkList> lists, uint64_t budget) {
  for (WorkList& list : lists) {
    const uint64_t bytes = list.parts() * sizeof(PartShare);
    if (bytes > budget) continue;
    budget -= bytes;
    DOLIUM_TRY_VOID(list.KeepTable());
  }
  return {};
}

Result<void> RunParts(Formats formats, OpenPlan& plan, const RunOptions& options) {
  std::vector<uint64_t> to_do;
  for (const PlannedPart& part : plan.parts) {
    if (!part.done) to_do.push_back(part.part);
  }
  const PlanRecord& record = *plan.state.record;
  ProgressSum progress(options.progress, EntriesDone(plan), record.entries);
  const size_t all_threads =
      ThreadCount(options.writer.jobs, std::numeric_limits<size_t>::max());
  const size_t threads = ThreadCount(options.writer.jobs, to_do.size());
  WriterOptions writer = options.writer;
  writer.jobs = std::max<size_t>(1, all_threads / threads);
  writer.memory = options.writer.memory / threads;
  DOLIUM_TRY_VOID(KeepTables(plan.lists, options.writer.memory / kTableShare));
  return ParallelFor(
      to_do.size(), threads,
      [&](size_t i) -> Result<void> {
        DOLIUM_TRY(PartEntries entries, PartEntries::Find(plan.lists, to_do[i]));
        DOLIUM_TRY([[maybe_unused]] const TaskReport report,
                   RunPart(formats, plan.folder, record, to_do[i], std::move(entries),
                           writer, progress));
        return {};
      },
      options.writer.stop);
}

}  // namespace

Result<Plan> PlanConvert(Formats formats, const ConvertRequest& request,
                         const RunOptions& options) {
  DOLIUM_TRY(const OpenPlan open, PreparePlan(formats, request, options));
  Plan plan;
  plan.target = open.target;
  plan.entries = open.state.record->entries;
  plan.bytes = open.state.record->bytes;
  plan.parts_done = PartsDone(open);
  plan.parts = open.state.phase == Phase::kUnderWay ? open.parts.size() : plan.parts_done;
  plan.entries_done = EntriesDone(open);
  for (const PlannedPart& part : open.parts) {
    if (part.done) continue;
    DOLIUM_TRY(std::string task, ToText(Task{open.target, part.part}));
    plan.tasks.push_back(std::move(task));
  }
  return plan;
}

Result<TaskReport> RunTask(Formats formats, std::string_view task,
                           const RunOptions& options) {
  DOLIUM_TRY(const Task parsed, ParseTask(task));
  DOLIUM_TRY(const Location set, ParseLocation(parsed.target));
  const PlanFolder folder(set);
  DOLIUM_TRY(const auto state, folder.Load());
  if (!state.record || state.phase == Phase::kFinished) {
    return NotFound(set.Describe() + ": no conversion is under way here");
  }
  DOLIUM_TRY(const auto lists, OpenWorkLists(folder, *state.record));
  DOLIUM_TRY(PartEntries entries, PartEntries::Find(lists, parsed.part));
  ProgressSum progress(options.progress, 0, entries.count());
  return RunPart(formats, folder, *state.record, parsed.part, std::move(entries),
                 options.writer, progress);
}

Result<ConvertReport> FinishPlan(Formats formats, const Plan& plan) {
  DOLIUM_TRY(const Location set, ParseLocation(plan.target));
  DOLIUM_TRY(ConvertReport report, Finish(formats, PlanFolder(set)));
  report.parts_done_before = plan.parts_done;
  return report;
}

Result<ConvertReport> Convert(Formats formats, const ConvertRequest& request,
                              const RunOptions& options) {
  DOLIUM_TRY(OpenPlan plan, PreparePlan(formats, request, options));
  DOLIUM_TRY_VOID(RunParts(formats, plan, options));
  DOLIUM_TRY(ConvertReport report, Finish(formats, plan.folder));
  report.parts_done_before = PartsDone(plan);
  return report;
}

}  // namespace dolium
