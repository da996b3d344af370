// Putting files and folders into a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/cas/tree_walk.h"

namespace dolium::cas {

struct PutOptions {
  std::string name = {};
  size_t jobs = 0;                        // threads; 0: one per core
  uint64_t memory = uint64_t{256} << 20;  // bytes of files on their way at once
  bool reread = false;  // read files of folders that have not changed since the last put
  // Where chunks of a file end besides. Files cut so have other hashes than Xet gives
  // them. May be empty.
  std::function<Result<std::vector<uint64_t>>(const std::string& path)> forced_cuts = {};
  std::vector<std::string> exclude = {};  // see exclude.h
  bool one_file_system = false;           // see tree_walk.h
  bool owners = true;                     // keep them, by their numbers
  std::vector<std::string> tags = {};
  std::optional<std::string> host = {};  // nullopt: the name of this machine
  // Called for what is left out of the version, and why: what cannot be read, is gone,
  // changes whenever it is read (kConflict), or is a socket; also for extended attributes
  // that cannot be read, without which the rest is kept.
  Skipped skipped = {};
  // Called at the end for each pattern of `exclude` that excluded nothing.
  std::function<void(const std::string& pattern)> unmatched = {};
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

// Puts one file, one folder, or several of both, as the next version of the name. When it
// returns, all is durable. Stopped or failed, no version is made; done again, what was
// stored is not stored again. A file that changes while it is read is read again a few
// times: none is ever stored as a mixture of its states. The only path that was given
// cannot be left out: that is an error. Holds some bytes for each file of a folder that
// has several names.
Result<Version> Put(const CasStore& store, const std::vector<std::string>& paths,
                    const PutOptions& options);

// The same for a stream, up to its end. Does not close it.
Result<Version> PutStream(const CasStore& store, int fd, const PutOptions& options);

// The name of this machine; empty if it cannot be the host of a version.
std::string HostName();

// Stores the file at `path` as the manifest of a version, whose files the lease covers.
Result<Version> PutManifest(const CasStore& store, Lease& lease, const std::string& path,
                            Version version, const PutOptions& options);

}  // namespace dolium::cas
