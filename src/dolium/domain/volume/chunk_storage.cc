#include "dolium/domain/volume/chunk_storage.h"

#include <algorithm>

#include "dolium/base/checked_math.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/volume/file_chunks.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/shard_chunks.h"

namespace dolium::volume {
namespace {

// compressed_segmentation of noise takes a bit more than twice its voxels in blocks of
// any sensible size, images far less than that; the rest is for headers.
constexpr uint64_t kMaxGrowth = 4;
constexpr uint64_t kMaxHeader = uint64_t{1} << 20;

// Cells that a thread takes at a time: few enough that all threads end together.
constexpr size_t kRunsPerThread = 4;
constexpr size_t kMaxRun = 32;

}  // namespace

uint64_t CellCount(const Box& cells) {
  if (cells.empty()) return 0;
  const Vec3 size = cells.size();
  const auto layer =
      CheckedMul(static_cast<uint64_t>(size[0]), static_cast<uint64_t>(size[1]));
  const auto all =
      layer ? CheckedMul(*layer, static_cast<uint64_t>(size[2])) : std::nullopt;
  return all.value_or(UINT64_MAX);
}

Box CellBox(const Vec3& cell) { return {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}; }

Result<bool> ChunkStorage::VisitOccupied(const BoxVisitor& /*visit*/,
                                         const DamagedIndexVisitor& /*damaged*/) const {
  return false;
}

Result<std::optional<std::vector<Vec3>>> ChunkStorage::FindOccupied(
    const Box& /*within*/, const DamagedIndexVisitor& /*damaged*/) const {
  return std::nullopt;
}

Result<void> GetInRuns(const ChunkStorage& storage, std::span<const Vec3> cells,
                       const WorkOptions& options, const ChunkStorage::Visitor& visit) {
  const size_t threads = ThreadCount(options.jobs, cells.size());
  const size_t run =
      threads == 1
          ? 1
          : std::clamp<size_t>(cells.size() / (threads * kRunsPerThread), 1, kMaxRun);
  return ParallelFor((cells.size() + run - 1) / run, threads,
                     [&](size_t first) -> Result<void> {
                       const size_t end = std::min(cells.size(), (first + 1) * run);
                       for (size_t i = first * run; i < end; ++i) {
                         if (options.stop.stop_requested()) return Cancelled();
                         auto chunk = storage.Get(cells[i]);
                         if (!chunk && !options.failed) return chunk.error();
                         DOLIUM_TRY_VOID(chunk ? visit(i, *std::move(chunk))
                                               : options.failed(i, chunk.error()));
                       }
                       return {};
                     },
                     options.stop);
}

uint64_t MaxEncodedBytes(const EncodingSpec& spec, ArrayShape shape) {
  if (spec.encoding == Encoding::kCompressedSegmentation) {
    // Blocks are stored whole, also where the chunk has but a part of them.
    for (size_t d = 0; d < 3; ++d) {
      const int64_t block = std::max<int64_t>(1, spec.block_size[d]);
      shape.size[d] = (shape.size[d] + block - 1) / block * block;
    }
  }
  const auto grown = CheckedMul(shape.bytes().value_or(UINT64_MAX), kMaxGrowth);
  return grown ? CheckedAdd(*grown, kMaxHeader).value_or(UINT64_MAX) : UINT64_MAX;
}

std::shared_ptr<ChunkStorage> OpenChunkStorage(const Location& folder,
                                               const ScaleInfo& scale, const Grid& grid,
                                               const ArrayShape& shape,
                                               const StorageOptions& options) {
  const uint64_t max_bytes = MaxEncodedBytes(scale.encoding, shape);
  if (scale.sharding) {
    // A valid info has no grid of more bits.
    const MortonCode morton = *MortonCode::Make(grid.shape());
    return std::make_shared<ShardChunks>(folder, *scale.sharding, morton, max_bytes,
                                         options.cache_bytes);
  }
  return std::make_shared<FileChunks>(folder, scale.encoding.encoding, grid, shape,
                                      max_bytes, options.gzip_files);
}

}  // namespace dolium::volume
