// Checking a store: finding everything in it that is damaged, and what that means for
// files.
#pragma once

#include <cstdint>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

struct CheckOptions {
  bool deep = false;  // decompress and hash every chunk
  // Move xorbs and shards that are damaged to the quarantine, so that what
  // they have counts as missing and is stored again by the next put of it.
  bool quarantine = false;
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct CheckReport {
  uint64_t xorbs = 0;
  uint64_t shards = 0;
  uint64_t versions = 0;
  uint64_t files = 0;  // of all versions
  uint64_t bytes = 0;  // of xorbs that were read
  uint64_t errors = 0;
  uint64_t unreadable = 0;  // errors of the way to the data, not of the data
  uint64_t damaged_files = 0;
  uint64_t quarantined = 0;  // xorbs and shards
};

// Checks that marker, versions and shards have the bytes they are named after, that the
// footers of xorbs give their names, and that the terms of every file give its hash; with
// `deep`, also every chunk. Each finding names an object, or a file of a version with the
// first thing that is wrong with it ("damaged_file", key: the path). A file whose xorb
// was quarantined counts as damaged. What could not be read for another reason is a
// finding of kind "unreadable", counts as no damage, and is counted for itself. Versions
// that are removed meanwhile are no findings. Goes on behind damage; the error is for
// what prevents checking.
Result<CheckReport> CheckStore(const CasStore& store, const CheckOptions& options,
                               const FindingVisitor& visitor);

}  // namespace dolium::cas
