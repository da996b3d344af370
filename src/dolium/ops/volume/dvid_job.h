// The kind of job that writes DVID exports.
#pragma once

#include <memory>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"

namespace dolium::volume {

inline constexpr std::string_view kDvidKind = "dvid";

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenDvidJob(Formats formats, const Location& folder,
                                         const JobRecord& record);
Result<void> CheckDvidReplaceable(Formats formats, const JobRecord& record,
                                  const Location& folder);

}  // namespace dolium::volume
