// VolumeWorker: does the tasks of one volume job. What volume_plan.cc runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// Holds what tasks have in common open. Safe to use from many threads.
class VolumeWorker {
 public:
  // Reads the job from the marker in `home`. kNotFound if there is none.
  static Result<std::unique_ptr<VolumeWorker>> Open(const Location& home);

  VolumeWorker(VolumeJob job, Location home, Location volume)
      : job_(std::move(job)),
        home_(std::move(home)),
        volume_(std::move(volume)),
        folder_(home_) {}

  const VolumeJob& job() const { return job_; }
  const Location& home() const { return home_; }
  const Location& volume() const { return volume_; }
  const PlanFolder& folder() const { return folder_; }

  // Whether all that the job is to write is in the volume's info already: then it was
  // only left to tidy up.
  Result<bool> IsComplete() const;

  // All tasks, done or not, in order of part.
  Result<std::vector<VolumeTask>> Tasks() const;

  // Makes a part, and its report. kUnavailable if a part of a stage before it, that it
  // needs, is not done yet.
  // `progress` is told how many more chunks are done, and how many bytes of voxels they
  // have.
  using Tell = std::function<void(uint64_t chunks, uint64_t bytes)>;
  Result<WriteSummary> Run(const VolumeTask& task, const WriterOptions& options,
                           const Tell& progress);

 private:
  // The number of the first part of a stage.
  Result<uint64_t> FirstPart(size_t stage) const;
  Result<void> CheckTask(const VolumeTask& task, const Scale& target) const;
  // kConflict if the folder has got another job.
  Result<void> CheckJob(const VolumeTask& task) const;
  // kUnavailable unless what a task reads of a scale that the job writes is there. Looks
  // for the reports of these parts alone: there may be very many others.
  Result<void> CheckReady(const VolumeTask& task, const Scale& target);
  Result<std::shared_ptr<Scale>> ScaleOf(size_t scale);
  Result<WriteSummary> Fill(const Scale& target, const Stage& stage, const Box& cells,
                            const WriterOptions& options, const Tell& progress);
  Result<std::shared_ptr<const ArraySource>> ArrayOf(const ArrayInput& input);
  Result<std::shared_ptr<Scale>> SourceOf(const VolumeInput& input);

  const VolumeJob job_;
  const Location home_;
  const Location volume_;
  const PlanFolder folder_;

  std::mutex mutex_;
  std::map<size_t, std::shared_ptr<Scale>> scales_;   // of the volume
  std::map<size_t, std::shared_ptr<Scale>> sources_;  // of another volume
  std::shared_ptr<const ArraySource> array_;
  std::set<uint64_t> done_;  // parts that are known to be
};

}  // namespace dolium::volume
