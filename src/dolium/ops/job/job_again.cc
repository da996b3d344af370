// Jobs whose source changes while they run begin again.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/plan.h"

namespace dolium {
namespace {

// What one beginning came to.
struct Attempt {
  Result<JobReport> ran;
  std::string folder;    // location of the job's
  std::string began_as;  // its id, if it began in this attempt
};

// Whether the job is still there, and nobody else has begun one in its place.
bool IsStillThere(const Attempt& attempt) {
  if (attempt.began_as.empty()) return false;
  const auto folder = ParseLocation(attempt.folder);
  if (!folder) return false;
  const auto state = PlanFolder(*folder).Load();
  return state && state->id == attempt.began_as;
}

Result<JobReport> Repeat(const std::function<Result<Attempt>(bool again)>& make) {
  std::optional<Error> changed;
  for (uint64_t beginning = 1;; ++beginning) {
    auto attempt = make(beginning > 1);
    if (!attempt) {
      // What cannot be replaced cannot begin again: then the change is what matters.
      const bool is_refused = attempt.error().code == ErrorCode::kUnsupported;
      return changed && is_refused ? *std::move(changed) : std::move(attempt).error();
    }
    if (attempt->ran) {
      attempt->ran->beginnings = beginning;
      return std::move(attempt->ran);
    }
    Error error = std::move(attempt->ran).error();
    if (error.code != ErrorCode::kConflict || !IsStillThere(*attempt)) return error;
    if (beginning == kMostBeginnings) {
      error.message += fmt::format(
          ", as it had since each of the {} beginnings before; begin again when nobody "
          "writes to the source",
          beginning - 1);
      return error;
    }
    changed = std::move(error);
  }
}

}  // namespace

Result<JobReport> BeginAndRun(Formats formats,
                              const std::function<Result<OpenJob>(bool again)>& begin,
                              const RunOptions& options) {
  return Repeat([&](bool again) -> Result<Attempt> {
    DOLIUM_TRY(OpenJob open, begin(again));
    auto ran = RunJob(formats, open, options);
    return Attempt{std::move(ran), open.location, open.began ? open.state.id : ""};
  });
}

Result<JobReport> PlanAndRun(Formats formats,
                             const std::function<Result<Plan>(bool again)>& plan,
                             const RunOptions& options) {
  return Repeat([&](bool again) -> Result<Attempt> {
    DOLIUM_TRY(const Plan planned, plan(again));
    auto ran = RunPlan(formats, planned, options);
    return Attempt{std::move(ran), planned.folder, planned.began_as};
  });
}

}  // namespace dolium
