// Plan: a job that has begun, as plain values that every face can show and pass on.
//
// It says what is left to do, not how: any process runs its tasks (RunTask(), job.h),
// those of a stage after those of the stages before it, and FinishJob() completes the
// work. All planners return one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/format.h"
#include "dolium/ops/job/job.h"

namespace dolium {

struct OpenJob;

struct Plan {
  std::string kind;           // of JobKinds()
  std::string folder;         // location of the one with the marker; empty: nothing to do
  std::string target;         // location of what is made
  bool adds = false;          // to what is at `target`
  std::string began_as = {};  // id of the job, if it was not found but began with this
  bool force = false;  // files that are in the way of those of the job are replaced
  // A stream: its parts become known only while it runs, so that it has no tasks.
  bool is_stream = false;
  std::vector<std::vector<std::string>> stages;  // tasks not yet done
  uint64_t parts = 0;                            // of all stages, done or not
  uint64_t parts_done = 0;                       // by an earlier run
  uint64_t entries = 0;                          // of all parts: chunks, blocks, samples
  uint64_t entries_done = 0;                     // in those that are done
  uint64_t scales = 0;                           // of a volume, that are made
  uint64_t bytes = 0;  // stored, in the source, where that is known

  // Those of all stages, one after another.
  std::vector<std::string> tasks() const;
};

// What is left of a job.
Result<Plan> PlanOf(const OpenJob& open);

// Makes what is left, on threads, and completes it: RunJob() (job_engine.h).
Result<JobReport> RunPlan(Formats formats, const Plan& plan, const RunOptions& options);

// Plans and makes it; if the source changes meanwhile, again, as BeginAndRun() does
// (job_engine.h).
Result<JobReport> PlanAndRun(Formats formats,
                             const std::function<Result<Plan>(bool again)>& plan,
                             const RunOptions& options);

}  // namespace dolium
