#include "dolium/ops/job/plan.h"

#include <algorithm>
#include <iterator>

#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {
namespace {

// Where the result will be.
std::string TargetOf(const OpenJob& open) {
  const std::string& replaced = open.state.record->replaces;
  if (replaced.empty()) return TargetBeside(open.location);
  return JoinPath(ParentPath(open.location), replaced);
}

}  // namespace

std::vector<std::string> Plan::tasks() const {
  std::vector<std::string> all;
  for (const std::vector<std::string>& stage : stages) {
    std::ranges::copy(stage, std::back_inserter(all));
  }
  return all;
}

Result<Plan> PlanOf(const OpenJob& open) {
  Plan plan;
  plan.kind = open.state.record->kind;
  plan.folder = open.location;
  const auto volume = open.job ? open.job->AddsTo() : std::nullopt;
  plan.adds = volume.has_value();
  plan.target = volume.value_or(TargetOf(open));
  if (open.began) plan.began_as = open.state.id;
  plan.is_stream = open.job && open.job->is_stream();
  if (!plan.is_stream) {
    DOLIUM_TRY(plan.stages, open.Tasks());
  }
  plan.parts = open.parts_total();
  plan.parts_done = open.parts_done();
  plan.entries = open.entries();
  plan.entries_done = open.entries_done();
  for (const JobPart& part : open.parts) plan.bytes += part.bytes;
  return plan;
}

Result<JobReport> RunPlan(Formats formats, const Plan& plan, const RunOptions& options) {
  JobReport report;
  if (!plan.folder.empty()) {
    DOLIUM_TRY(const Location folder, ParseLocation(plan.folder));
    DOLIUM_TRY(OpenJob open, FindJob(formats, folder, options));
    RunOptions run = options;
    run.replace_files = run.replace_files || plan.force;
    DOLIUM_TRY(report, RunJob(formats, open, run));
  }
  if (!plan.is_stream) report.parts = plan.parts;
  report.parts_done_before = plan.parts_done;
  if (plan.adds || plan.folder.empty()) report.target = plan.target;
  return report;
}

}  // namespace dolium
