#include "dolium/ops/volume/volume_draft.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "dolium/container/json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/export_check.h"
#include "dolium/ops/volume/volume_source.h"
#include "dolium/ops/volume/volume_target.h"

namespace dolium::volume {

using nlohmann::json;

VolumeDraft::VolumeDraft(VolumeJob job, const json& request)
    : job_(std::move(job)), request_(DumpJsonLossy(request)) {
  if (job_.skip_damaged) LeavesOut(request, {{"skip_damaged", false}});
}

void VolumeDraft::LeavesOut(json request, const json& strict) {
  request.update(strict);
  strict_request_ = DumpJsonLossy(request);
}

void VolumeDraft::CheckFirst(const Volume& source, const WriterOptions& options,
                             const FindingVisitor& visitor) {
  check_ = [&] { return CheckExportToRead(source, options, visitor); };
}

Result<std::string> VolumeDraft::FindSourceState() {
  return volume::FindSourceState(job_, {});
}

Result<void> VolumeDraft::CheckReplaceable(const Location& folder) const {
  return CheckVolumeReplaceable(folder, !job_.copies.empty());
}

// Parts that were made without leaving out anything are the same.
Result<std::optional<std::string>> VolumeDraft::TakeUp(const JobRecord& begun) const {
  if (begun.request != strict_request_) return std::nullopt;
  DOLIUM_TRY(VolumeJob job, ParseVolumeJob(begun.parameters));
  job.skip_damaged = job_.skip_damaged;
  for (Stage& stage : job.stages) {
    auto* const input = std::get_if<VolumeInput>(&stage.input);
    if (input != nullptr && input->exported) input->exported->salvage = true;
  }
  DOLIUM_TRY(std::string parameters, ToText(job));
  return std::optional(std::move(parameters));
}

Result<void> VolumeDraft::Prepare() {
  if (check_) {
    DOLIUM_TRY(left_out_, check_());
  }
  return {};
}

Result<std::string> VolumeDraft::Plan(const PlanFolder& folder) {
  const Location& job_folder = folder.set();
  if (!job_.adds) {
    DOLIUM_TRY(job_.volume, PortableText(job_folder, job_folder.Describe()));
  }
  DOLIUM_TRY(Location volume, ParseLocation(job_.volume));
  // What cannot be planned must not leave a marker.
  VolumeWorker worker(job_, job_folder, std::move(volume));
  DOLIUM_TRY_VOID(worker.Plan([](const JobPart&) {}));
  std::ranges::copy(worker.plan_findings(), std::back_inserter(left_out_));
  DOLIUM_TRY_VOID(WriteScan(folder));
  return ToText(job_);
}

Result<void> VolumeDraft::WriteScan(const PlanFolder& folder) const {
  if (left_out_.empty()) return {};
  return folder.WriteReport({.part = {}, .written = {}, .skipped = left_out_});
}

}  // namespace dolium::volume
