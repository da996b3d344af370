// The kind of job that writes DVID exports.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/volume/dvid_write.h"

namespace dolium::volume {

inline constexpr std::string_view kDvidKind = "dvid";

// What a request must be, and its source.
Result<void> CheckShardSide(int64_t side);
Result<void> CheckDvidSource(const Volume& volume, const std::vector<size_t>& scales);
// JobRecord::source of such a job.
Result<std::string> FindDvidSourceState(const DvidWriteRequest& request,
                                        const WriterOptions& options);
// What the plan of its parts has to leave out as damaged. Fails as the plan would.
Result<std::vector<Finding>> FindDamageOfPlan(const DvidWriteRequest& request,
                                              const Location& folder);
// kExists if a folder has something else than an export in it.
Result<void> CheckDvidReplaceable(const Location& folder);

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenDvidJob(Formats formats, const Location& folder,
                                         const JobRecord& record);
Result<void> CheckDvidJobReplaceable(Formats formats, const JobRecord& record,
                                     const Location& folder);

}  // namespace dolium::volume
