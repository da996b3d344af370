// Getting files and folders out of a store.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/cas/tree_walk.h"

namespace dolium::cas {

// What of an entry could not be restored.
enum class Lost : uint8_t {
  kEntry,     // all of it: a pipe or device that may not be made
  kOwner,     // and with it the bits that let a program run as its owner
  kExtended,  // extended attributes
};
using LostFunction =
    std::function<void(Lost what, const std::string& path, const Error& reason)>;

struct GetOptions {
  size_t jobs = 0;     // threads; 0: one per core
  bool force = false;  // replace files and links that are there
  // What to restore of a folder: a path in it; empty: all.
  std::string path = {};
  // Called, by one thread at a time, for each file that is damaged, which is left out;
  // without it, the first is an error.
  Skipped damaged = {};
  bool owners = true;  // by their numbers, where the version has them
  // Called, by one thread at a time, for what may not be set or made here, without which
  // the rest is restored; without it, the first is an error.
  LostFunction lost = {};
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct GetReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Restores a version, or what has a path in it: a file as the file `out`, a folder into
// the folder `out`, with modes, times, owners and all else it has. Every chunk is
// checked. Each file appears whole or not at all. Nothing is written outside of `out`,
// whatever the manifest or links in `out` say. kExists if something is in the way, unless
// `force` and it is a file or link. Files with several names get them again, and holes
// are not filled. What a killed process left in the folders that are restored to is
// removed.
Result<GetReport> Restore(const CasStore& store, const Version& version,
                          const std::string& out, const GetOptions& options);

// Writes a file to a descriptor.
Result<GetReport> WriteTo(const CasStore& store, const xet::Hash& file, int fd,
                          const GetOptions& options);

}  // namespace dolium::cas
