// Numbers about a store, and what changed between two versions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

struct StoreStatistics {
  uint64_t names = 0;
  uint64_t versions = 0;
  uint64_t files = 0;         // of all versions
  uint64_t bytes = 0;         // of them: what would be there without a store
  uint64_t xorbs = 0;         // that shards list
  uint64_t chunks = 0;        // of them
  uint64_t raw_bytes = 0;     // of them
  uint64_t stored_bytes = 0;  // of the files that hold xorbs
  uint64_t shards = 0;
  uint64_t shard_bytes = 0;
  uint64_t index_bytes = 0;
  // Chunks by size: [i] counts those of at least 2^i bytes and less than twice that.
  std::array<uint64_t, 18> histogram{};

  // How many bytes of versions each raw, and each stored byte holds.
  double dedup_ratio() const {
    return raw_bytes == 0 ? 1
                          : static_cast<double>(bytes) / static_cast<double>(raw_bytes);
  }
  double compression_ratio() const {
    return stored_bytes == 0
               ? 1
               : static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes);
  }
};
Result<StoreStatistics> CountStore(const CasStore& store);

// What one version is made of.
struct VersionStatistics {
  uint64_t terms = 0;
  uint64_t xorbs = 0;
  uint64_t unique_bytes = 0;  // each chunk once
};
Result<VersionStatistics> CountVersion(const CasStore& store, const Version& version);

// Chunks of files, and those of them that another version has not, each once.
struct ChunkSums {
  uint64_t chunks = 0;
  uint64_t bytes = 0;
  uint64_t new_chunks = 0;
  uint64_t new_bytes = 0;
};
// What the second of two versions adds to the first.
struct VersionGain {
  ChunkSums stored;                // by the chunks that it was stored as
  std::optional<ChunkSums> plain;  // by those of Xet, if one of them is aligned

  // Bytes that alignment spares; negative if it costs some.
  std::optional<int64_t> gain() const {
    if (!plain) return std::nullopt;
    return static_cast<int64_t>(plain->new_bytes - stored.new_bytes);
  }
};
// Compares the distinct files of both, chunk by chunk. If one is aligned, reads both
// versions to cut them as Xet does. Holds the hashes of all chunks of the first.
Result<VersionGain> CompareChunks(const CasStore& store, const Version& first,
                                  const Version& second, const std::stop_token& stop);

struct VersionDifference {
  enum class Kind : uint8_t { kRemoved, kAdded, kChanged };
  Kind kind = Kind::kChanged;
  std::string path;
  std::string reason;  // of a change: "content", "mode", "time", "owner", ...
};
struct VersionDifferences {
  uint64_t equal = 0;
  uint64_t removed = 0;
  uint64_t added = 0;
  uint64_t changed = 0;
  bool is_equal() const { return removed + added + changed == 0; }
};
// Compares what two versions hold, in order of paths. A file is compared by its hash.
Result<VersionDifferences> DiffVersions(
    const CasStore& store, const Version& first, const Version& second,
    const std::function<void(const VersionDifference&)>& visit);

}  // namespace dolium::cas
