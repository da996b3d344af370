// Getting files and folders out of a store.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

struct GetOptions {
  size_t jobs = 0;     // threads; 0: one per core
  bool force = false;  // replace files that are there
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct GetReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Restores a version: a file as the file `out`, a folder into the folder `out`, with
// modes and times. Every chunk is checked. Each file appears whole or not at all. Nothing
// is written outside of `out`, whatever the manifest or links in `out` say. kExists if
// something is in the way, unless `force`.
Result<GetReport> Restore(const CasStore& store, const Version& version,
                          const std::string& out, const GetOptions& options);

// Writes a file to a descriptor.
Result<GetReport> WriteTo(const CasStore& store, const xet::Hash& file, int fd,
                          const GetOptions& options);

}  // namespace dolium::cas
