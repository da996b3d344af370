// A request for a job on volumes, on its way to becoming one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/volume/volume_job.h"
#include "dolium/ops/volume/volume_worker.h"

namespace dolium::volume {

class VolumeDraft final : public JobDraft {
 public:
  // `request` says all that was asked for, to see whether two requests are the same.
  VolumeDraft(VolumeJob job, const nlohmann::json& request);

  // That it is to leave out what is damaged: without that, it would be the same request
  // with these members.
  void LeavesOut(nlohmann::json request, const nlohmann::json& strict);

  // Has the source looked at before anything is written. It must outlive the draft.
  void CheckFirst(const Volume& source, const WriterOptions& options,
                  const FindingVisitor& visitor);

  std::string_view kind() const override { return kVolumeKind; }
  const std::string& request() const override { return request_; }
  Result<std::string> FindSourceState() override;
  Result<void> CheckReplaceable(const Location& folder) const override;
  Result<std::optional<std::string>> TakeUp(const JobRecord& begun) const override;
  Result<void> TakeOver(const PlanFolder& folder) override { return WriteScan(folder); }
  Result<void> Prepare() override;
  Result<std::string> Plan(const PlanFolder& folder) override;

 private:
  Result<void> WriteScan(const PlanFolder& folder) const;

  VolumeJob job_;
  const std::string request_;
  std::optional<std::string> strict_request_;  // the one that leaves out nothing
  std::function<Result<std::vector<Finding>>()> check_;
  std::vector<Finding> left_out_;
};

}  // namespace dolium::volume
