#include "dolium/ops/volume/skipped_chunks.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "dolium/container/entry_error.h"

namespace dolium::volume {
namespace {

constexpr std::string_view kChunkWord = "chunk ";

// `error` is what a read of the scale reported.
Finding DamagedChunk(const Scale& scale, const Vec3& cell, const Error& error) {
  // "a.shard: chunk 5", or the name of a file.
  const std::string chunk = scale.storage().Describe(cell);
  const size_t colon = chunk.find(": ");
  const std::string key = colon == std::string::npos ? "" : chunk.substr(colon + 2);
  Finding finding =
      ErrorFinding("voxels", chunk.substr(0, colon), key, std::nullopt, error);
  if (key.starts_with(kChunkWord)) finding.key.erase(0, kChunkWord.size());
  return finding;
}

}  // namespace

DamageVisitor SkippedChunks::visitor() {
  return [this](const Scale& scale, const Vec3& cell, const Error& error) {
    Finding finding = DamagedChunk(scale, cell, error);
    const std::lock_guard lock(mutex_);
    if (seen_.emplace(finding.object, finding.message).second) {
      findings_.push_back(std::move(finding));
    }
  };
}

std::vector<Finding> SkippedChunks::findings() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> sorted = findings_;
  std::ranges::sort(sorted, {}, [](const Finding& finding) {
    return std::tie(finding.object, finding.message);
  });
  return sorted;
}

}  // namespace dolium::volume
