// Getting files and folders out of a store.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/cas/tree_walk.h"

namespace dolium::cas {

struct GetOptions {
  size_t jobs = 0;     // threads; 0: one per core
  bool force = false;  // replace files and links that are there
  // What to restore of a folder: a path in it; empty: all.
  std::string path = {};
  // Called, by one thread at a time, for each file that is damaged, which is left out;
  // without it, the first is an error.
  Skipped damaged = {};
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct GetReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Restores a version, or what has a path in it: a file as the file `out`, a folder into
// the folder `out`, with modes and times. Every chunk is checked. Each file appears whole
// or not at all. Nothing is written outside of `out`, whatever the manifest or links in
// `out` say. kExists if something is in the way, unless `force` and it is a file or link.
// What a killed process left in the folders that are restored to is removed.
Result<GetReport> Restore(const CasStore& store, const Version& version,
                          const std::string& out, const GetOptions& options);

// Writes a file to a descriptor.
Result<GetReport> WriteTo(const CasStore& store, const xet::Hash& file, int fd,
                          const GetOptions& options);

}  // namespace dolium::cas
