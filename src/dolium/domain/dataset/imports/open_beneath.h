// OpenBeneath: opens a file that may lie in a folder only.
#pragma once

#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::dataset {

// `path` is relative to the folder `root`. Links are followed as long as they stay within
// it; one that leads out is kInvalidArgument. `flags` as for open(2), O_CLOEXEC added.
Result<UniqueFd> OpenBeneath(int root, const std::string& path, int flags);

}  // namespace dolium::dataset
