// VolumeWorker: the kind of job that writes scales of volumes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/volume/skipped_chunks.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

inline constexpr std::string_view kVolumeKind = "volume";

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenVolumeJob(Formats formats, const Location& folder,
                                           const JobRecord& record);
Result<void> CheckVolumeJobReplaceable(Formats formats, const JobRecord& record,
                                       const Location& folder);

// A part of a stage.
struct VolumeTask {
  uint64_t part = 0;  // its number, counted on from stage to stage
  size_t stage = 0;
  Box cells;
};

// Holds what parts have in common open. Safe to use from many threads.
class VolumeWorker final : public Job {
 public:
  // `job_folder` is the folder that carries the marker.
  VolumeWorker(VolumeJob job, Location job_folder, Location volume)
      : job_(std::move(job)),
        job_folder_(std::move(job_folder)),
        volume_(std::move(volume)),
        folder_(job_folder_) {}

  Result<void> Plan(const PartSink& sink) override;
  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override;
  Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const override;
  // Whether all that the job is to write is in the volume's info already.
  Result<bool> IsComplete() const override;
  Result<void> Finish() override;
  // What Plan() had to leave out as damaged; parts find further damage.
  std::vector<Finding> plan_findings() const { return plan_skipped_.findings(); }
  std::optional<std::string> AddsTo() const override {
    return job_.adds ? std::optional(job_.volume) : std::nullopt;
  }

 private:
  // The number of the first part of a stage.
  Result<uint64_t> FirstPart(size_t stage) const;
  // The parts of a stage that can have a chunk, by number; others are not planned. Found
  // once, from what the source lists.
  Result<const std::vector<Part>*> PlannedParts(size_t stage);
  Result<std::vector<Part>> FindParts(const Stage& stage, const Scale& target);
  Result<void> CheckTask(const VolumeTask& task, const Scale& target) const;
  // kUnavailable unless what a task reads of a scale that the job writes is there. Looks
  // for the reports of these parts alone: there may be very many others.
  Result<void> CheckReady(const VolumeTask& task, const Scale& target);
  Result<std::shared_ptr<Scale>> ScaleOf(size_t scale);
  // What is damaged goes to `skipped`, if the job is to leave it out.
  Result<WriteSummary> Fill(const Scale& target, const Stage& stage, const Box& cells,
                            const PartContext& context, SkippedChunks& skipped);
  // Of `skipped`; empty if damage is an error.
  ChunkStorage::DamagedIndexVisitor IndexVisitor(SkippedChunks& skipped,
                                                 const Scale& scale) const;
  // Which part of the copies of folders it is; nullopt if it is one of a scale.
  Result<std::optional<uint64_t>> CopyPart(uint64_t part) const;
  Result<void> WriteInfo() const;
  // Removes what killed parts left in the folders of the scales, and beside the info.
  Result<void> RemoveLeftovers() const;
  Result<std::shared_ptr<const ArraySource>> ArrayOf(const ArrayInput& input);
  Result<std::shared_ptr<Scale>> SourceOf(const VolumeInput& input);

  const VolumeJob job_;
  const Location job_folder_;
  const Location volume_;
  const PlanFolder folder_;

  std::mutex plan_mutex_;                     // before mutex_
  std::map<size_t, std::vector<Part>> plan_;  // by stage
  SkippedChunks plan_skipped_;
  std::mutex mutex_;
  std::map<size_t, std::shared_ptr<Scale>> scales_;   // of the volume
  std::map<size_t, std::shared_ptr<Scale>> sources_;  // of another volume
  std::shared_ptr<const ArraySource> array_;
  std::set<uint64_t> done_;  // parts that are known to be
};

}  // namespace dolium::volume
