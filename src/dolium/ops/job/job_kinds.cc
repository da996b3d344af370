// The one list of kinds of jobs.
#include "dolium/ops/convert_job.h"
#include "dolium/ops/job/job.h"

namespace dolium {
namespace {

constexpr JobKind kJobKinds[] = {
    {kConvertKind, OpenConvertJob, CheckConvertReplaceable},
};

}  // namespace

std::span<const JobKind> JobKinds() { return kJobKinds; }

}  // namespace dolium
