// Scanning a source's index for a plan, its objects in parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/ops/convert.h"

namespace dolium {

struct ScanSourceOptions {
  size_t jobs = 0;
  bool skip_damaged = false;
  std::stop_token stop;
};

// Calls `visit` for every entry, from many threads; its first error ends the scan.
// Returns the damage that was skipped, in order of object and key; without
// `skip_damaged`, damage is an error.
Result<std::vector<Finding>> ScanSource(
    const Container& source, const ScanSourceOptions& options,
    const std::function<Result<void>(const Entry&)>& visit);

// Whether an error means that bytes are damaged or lost, rather than out of reach for
// now.
bool IsDamage(const Error& error);

}  // namespace dolium
