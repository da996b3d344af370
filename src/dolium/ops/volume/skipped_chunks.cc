#include "dolium/ops/volume/skipped_chunks.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"

namespace dolium::volume {
namespace {

constexpr std::string_view kChunkWord = "chunk ";

// The object that holds a chunk, and what it calls the chunk: "a.shard" and "chunk 5", or
// the name of a file.
std::pair<std::string, std::string> ChunkName(const Scale& scale, const Vec3& cell) {
  const std::string chunk = scale.storage().Describe(cell);
  const size_t colon = chunk.find(": ");
  if (colon == std::string::npos) return {chunk, ""};
  return {chunk.substr(0, colon), chunk.substr(colon + 2)};
}

// `error` is what a read of the scale reported.
Finding DamagedChunk(const Scale& scale, const Vec3& cell, const Error& error) {
  const auto [object, key] = ChunkName(scale, cell);
  Finding finding = ErrorFinding("voxels", object, key, std::nullopt, error);
  if (key.starts_with(kChunkWord)) finding.key.erase(0, kChunkWord.size());
  return finding;
}

}  // namespace

void SkippedChunks::Add(Finding finding) {
  if (seen_.emplace(finding.object, finding.message).second) {
    findings_.push_back(std::move(finding));
  }
}

DamageVisitor SkippedChunks::visitor() {
  return [this](const Scale& scale, const Vec3& cell, const Error& error) {
    Finding finding = DamagedChunk(scale, cell, error);
    const std::lock_guard lock(mutex_);
    // Where the index is damaged, it is not known whether there is a chunk at all.
    const bool is_known = std::ranges::any_of(indexes_, [&](const auto& index) {
      return index.first == finding.object && finding.message.ends_with(index.second);
    });
    if (!is_known) Add(std::move(finding));
  };
}

ChunkStorage::DamagedIndexVisitor SkippedChunks::index_visitor(const Scale& scale) {
  return [this, &scale](const Box& cells, const Error& error) -> Result<void> {
    Finding finding = ErrorFinding("index", ChunkName(scale, cells.begin).first, {},
                                   std::nullopt, error);
    const std::lock_guard lock(mutex_);
    indexes_.emplace(finding.object, finding.message);
    finding.message =
        fmt::format("chunks within voxels {}: {}", ToString(scale.grid().VoxelsOf(cells)),
                    finding.message);
    Add(std::move(finding));
    return {};
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
