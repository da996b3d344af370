// Running and finishing volume plans.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_plan.h"
#include "dolium/ops/volume/volume_target.h"
#include "dolium/ops/volume/volume_worker.h"

namespace dolium::volume {
namespace {

// Adds the scales that the job made to an info, unless they are there.
Result<VolumeInfo> WithScales(VolumeInfo info, const VolumeJob& job) {
  for (const Stage& stage : job.stages) {
    const ScaleInfo& scale = job.info.scales[stage.scale];
    const auto found = std::ranges::find(info.scales, scale.key, &ScaleInfo::key);
    if (found == info.scales.end()) {
      info.scales.push_back(scale);
    } else if (*found != scale) {
      return Exists(fmt::format("{}: the volume has got another scale \"{}\" meanwhile",
                                job.volume, scale.key));
    }
  }
  return info;
}

Result<void> WriteInfo(const VolumeWorker& worker) {
  const VolumeJob& job = worker.job();
  if (job.adds) {
    DOLIUM_TRY_VOID(UpdateInfo(worker.volume(), [&](VolumeInfo info) {
      return WithScales(std::move(info), job);
    }));
    return {};
  }
  auto written = WriteNewInfo(worker.volume(), job.info);
  if (written || written.error().code != ErrorCode::kExists) return written;
  DOLIUM_TRY(const Volume there,
             Volume::Open(worker.volume(), /*allow_unfinished=*/true));
  if (there.info() == job.info) return {};  // A run that was killed wrote it.
  return written;
}

// What all parts together wrote. kNotFound if one is missing.
Result<WriteSummary> SumOfReports(const VolumeWorker& worker) {
  DOLIUM_TRY(const std::vector<VolumeTask> tasks, worker.Tasks());
  WriteSummary sum;
  for (const VolumeTask& task : tasks) {
    DOLIUM_TRY(const auto report, worker.folder().ReadReport(task.part));
    if (!report) {
      return NotFound(fmt::format("{}: part {} of stage {} is not done yet",
                                  worker.home().Describe(), task.part, task.stage));
    }
    sum += report->written;
  }
  return sum;
}

// Removes what killed tasks left in the folders of the scales, and beside the info.
Result<void> RemoveLeftovers(const VolumeWorker& worker) {
  const Location& volume = worker.volume();
  DOLIUM_TRY([[maybe_unused]] const size_t beside,
             volume.store->RemoveStaleTemporaries(volume.path));
  for (const Stage& stage : worker.job().stages) {
    const Location folder =
        ResolveScaleKey(volume, worker.job().info.scales[stage.scale].key);
    DOLIUM_TRY([[maybe_unused]] const size_t removed,
               folder.store->RemoveStaleTemporaries(folder.path));
    DOLIUM_TRY_VOID(RemoveSpills(folder));
  }
  return {};
}

// Puts a volume that is complete but for its marker in the place of another. The marker
// must be gone when readers see the volume, so a record of the job stands in for it
// meanwhile.
Result<std::string> PutVolumeInPlace(const VolumeWorker& worker) {
  DOLIUM_TRY_VOID(RecordComplete(worker.home(), worker.job()));
  DOLIUM_TRY_VOID(RemoveMarker(worker.home()));
  DOLIUM_TRY(const SwapFolders here, SwapFolders::Of(worker.volume()));
  const SwapFolders folders =
      SwapFolders::Beside(JoinPath(ParentPath(here.target), worker.job().replaces));
  DOLIUM_TRY_VOID(SwapIn(folders));
  DOLIUM_TRY_VOID(TidyUpSwap(folders));
  return folders.target;
}

// Tells the progress of all tasks together, one call at a time.
class VolumeProgressSum {
 public:
  VolumeProgressSum(const ProgressFunction& report, uint64_t done, uint64_t total)
      : report_(report), sum_{.entries = done, .total_entries = total} {}

  void Add(uint64_t chunks, uint64_t bytes) {
    if (!report_) return;
    const std::lock_guard lock(mutex_);
    sum_.entries += chunks;
    sum_.bytes += bytes;
    report_(sum_);
  }

 private:
  const ProgressFunction& report_;
  std::mutex mutex_;
  Progress sum_;
};

Result<void> RunStage(VolumeWorker& worker, const std::vector<std::string>& tasks,
                      const RunOptions& options, VolumeProgressSum& progress) {
  const size_t jobs = ThreadCount(options.writer.jobs, SIZE_MAX);
  const size_t at_once = ThreadCount(options.writer.jobs, tasks.size());
  WriterOptions writer = options.writer;
  writer.memory /= at_once;
  writer.jobs = std::max<size_t>(1, jobs / at_once);
  return ParallelFor(
      tasks.size(), at_once,
      [&](size_t i) -> Result<void> {
        DOLIUM_TRY(const VolumeTask task, ParseVolumeTask(tasks[i]));
        DOLIUM_TRY_VOID(worker.Run(task, writer, [&](uint64_t chunks, uint64_t bytes) {
          progress.Add(chunks, bytes);
        }));
        return {};
      },
      options.writer.stop);
}

}  // namespace

Result<WriteSummary> RunVolumeTask(std::string_view task, const RunOptions& options) {
  DOLIUM_TRY(const VolumeTask parsed, ParseVolumeTask(task));
  DOLIUM_TRY(const Location home, ParseLocation(parsed.home));
  DOLIUM_TRY(const auto worker, VolumeWorker::Open(home));
  VolumeProgressSum progress(options.progress, 0, 0);
  return worker->Run(parsed, options.writer, [&](uint64_t chunks, uint64_t bytes) {
    progress.Add(chunks, bytes);
  });
}

Result<VolumeReport> FinishVolumePlan(const VolumePlan& plan) {
  DOLIUM_TRY(const Location home, ParseLocation(plan.home));
  DOLIUM_TRY(const auto worker, VolumeWorker::Open(home));
  DOLIUM_TRY(const auto lock, worker->folder().FindLock());
  VolumeReport report;
  report.info = worker->job().info;
  report.parts = plan.parts;
  report.parts_done_before = plan.parts_done;
  DOLIUM_TRY(const bool complete, worker->IsComplete());
  if (!complete) {
    DOLIUM_TRY(report.written, SumOfReports(*worker));
    DOLIUM_TRY_VOID(WriteInfo(*worker));
  }
  // From here on a rerun only has to tidy up: it sees that the info is complete.
  DOLIUM_TRY_VOID(RemoveLeftovers(*worker));
  DOLIUM_TRY_VOID(worker->folder().Remove());
  if (worker->job().replaces.empty()) {
    report.volume = worker->job().volume;
    DOLIUM_TRY_VOID(RemoveMarker(home));
  } else {
    DOLIUM_TRY(report.volume, PutVolumeInPlace(*worker));
  }
  return report;
}

Result<VolumeReport> RunVolumePlan(const VolumePlan& plan, const RunOptions& options) {
  if (plan.home.empty()) return VolumeReport{};
  DOLIUM_TRY(const Location home, ParseLocation(plan.home));
  DOLIUM_TRY(const auto worker, VolumeWorker::Open(home));
  VolumeProgressSum progress(options.progress, plan.chunks_done, plan.chunks);
  for (const std::vector<std::string>& tasks : plan.stages) {
    DOLIUM_TRY_VOID(RunStage(*worker, tasks, options, progress));
  }
  return FinishVolumePlan(plan);
}

}  // namespace dolium::volume
