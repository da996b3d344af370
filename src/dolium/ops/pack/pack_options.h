// How shards of training sets are written, in words and numbers: what faces take of their
// callers, for every verb and function alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/pack_writer.h"

namespace dolium::dataset {

// Nullopt: as it is if nothing is said.
struct PackWishes {
  std::optional<std::string> compression = {};   // none, gzip, lz4 or zstd
  std::optional<int64_t> level = {};             // of that
  bool compress_all = false;                     // also what says that it is compressed
  std::optional<uint64_t> chunk_size = {};       // of larger files
  std::optional<uint64_t> chunk_threshold = {};  // 0: no chunks
  std::optional<uint64_t> align = {};            // bytes
  std::optional<uint64_t> record_size_limit = {};
  std::optional<std::string> oversize = {};  // error, split or skip
  std::optional<uint64_t> dictionary = {};   // bytes
  bool key_index = true;
  bool keys = false;
  std::optional<bool> entry_index = {};
  uint64_t shard_size = 0;
  uint64_t shard_records = 0;
  bool reproducible = false;
  bool force = false;
};

// kInvalidArgument, with the name of the wish and a colon, if there is no such thing. All
// else of the options is the caller's.
Result<shardpack::PackOptions> PackOptionsOf(const PackWishes& wishes);

}  // namespace dolium::dataset
