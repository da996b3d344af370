// Sharded chunks: by Morton code of their cell.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/formats/neuroglancer/shard_reader.h"

namespace dolium::volume {

class ShardChunks : public ChunkStorage {
 public:
  ShardChunks(Location folder, const neuroglancer::ShardingSpec& spec, MortonCode morton,
              uint64_t max_bytes, uint64_t cache_bytes);

  std::string Describe(const Vec3& cell) const override;
  std::vector<std::string> ObjectsOf(const Vec3& cell) const override;
  std::optional<Vec3> CellOf(std::string_view key) const override;
  Result<Bytes> Unwrap(std::string_view key, const Bytes& value) const override;
  Result<std::optional<Bytes>> Get(const Vec3& cell) const override;
  Result<std::optional<StoredChunk>> GetStored(const Vec3& cell) const override;
  Result<void> GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                       const Visitor& visit) const override;
  Result<bool> VisitOccupied(const BoxVisitor& visit,
                             const DamagedIndexVisitor& damaged) const override;
  Result<std::optional<std::vector<Vec3>>> FindOccupied(
      const Box& within, const DamagedIndexVisitor& damaged) const override;
  // The first one also removes what writers that died left in the folder.
  Result<void> Update(std::span<const ChunkUpdate> updates,
                      const WorkOptions& options) override;

 private:
  Result<void> GetEachByRequests(std::span<const Vec3> cells, const WorkOptions& options,
                                 const Visitor& visit) const;
  // Visits the cells of all chunks of a shard, by its index. Precondition: shards are
  // boxes of cells.
  Result<void> VisitShard(uint64_t shard,
                          const std::function<Result<void>(const Vec3&)>& visit,
                          const DamagedIndexVisitor& damaged) const;
  // The shards that are in the folder; nullopt if it cannot be listed.
  Result<std::optional<std::set<uint64_t>>> ListShards() const;

  const MortonCode morton_;
  const uint64_t max_bytes_;
  const neuroglancer::ShardReader reader_;
  std::atomic<bool> is_tidy_{false};
};

}  // namespace dolium::volume
