// convert: one set into another, as a job (job/job.h).
//
// Planning scans the source's index once and writes, beside the target's parts, work
// lists that say which entries make up which part. A task is plain text (JSON) and makes
// one part. So tasks may run on threads (Convert), or on other machines that see the same
// locations. A rerun of the same conversion resumes it, at whatever point it was killed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium {

struct ConvertRequest {
  std::string source;                      // location
  std::string source_format;               // empty: detect
  std::optional<std::string> source_spec;  // of a set, or of a DVID export
  std::string target;                      // location
  std::string target_format;               // empty: the source's
  std::optional<std::string> target_spec;
  std::map<std::string, std::string> parameters;  // of the target
  bool force = false;             // replace a finished set: build beside, then swap
  bool skip_damaged = false;      // leave out what cannot be read
  bool allow_unfinished = false;  // of the source
};

using ConvertReport = JobReport;

// Volumes and DVID exports are made of voxels (write_voxels.h), all else of entries.
// `visitor` gets what there is to say of the source before anything is written: warnings,
// and damage, which is an error then.

// Scans the source, chooses the target's parameters, writes work lists and marker; or
// resumes the plan that is there. kExists, unless `force`, if the target is a finished
// set or an unfinished one that another request began; with `force`, if it holds what is
// not part of a set and would be lost. kInvalidArgument if one of source and
// target lies in the other. After all tasks (RunTask(), job.h), FinishJob() completes it.
Result<Plan> PlanConvert(Formats formats, const ConvertRequest& request,
                         const RunOptions& options = {},
                         const FindingVisitor& visitor = {});

// Plan, tasks on `options.writer.jobs` threads, finish.
Result<ConvertReport> Convert(Formats formats, const ConvertRequest& request,
                              const RunOptions& options,
                              const FindingVisitor& visitor = {});

}  // namespace dolium
