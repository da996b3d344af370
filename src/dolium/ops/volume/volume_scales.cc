#include "dolium/ops/volume/volume_scales.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/codec/codec.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

constexpr Vec3 kChunkSize = {64, 64, 64};
constexpr size_t kMaxScales = 64;
// Chunks that are looked at to see how the others are stored; where the store cannot
// list, the first ones in each dimension.
constexpr size_t kSampledChunks = 64;
constexpr int64_t kSampledSide = 4;

// Chunks that are made to see how much others will take.
constexpr uint64_t kSampledCells = 16;

// Sides that differ by less than this count as equal: the ratio from which halving the
// shorter one brings them nearer to each other.
const double kIsotropic = std::sqrt(2.0);

bool IsOneChunk(const ScaleInfo& scale) {
  const Vec3& chunk = scale.chunk_sizes.front();
  return scale.size[0] <= chunk[0] && scale.size[1] <= chunk[1] &&
         scale.size[2] <= chunk[2];
}

// A key that no scale has yet.
std::string FreshKey(const VolumeInfo& info, const Resolution& resolution) {
  const std::string key = DefaultScaleKey(resolution);
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(info.scales, name, &ScaleInfo::key) != info.scales.end();
  };
  std::string name = key;
  for (int i = 1; is_taken(name); ++i) name = fmt::format("{}-{}", key, i);
  return name;
}

}  // namespace

VolumeType DefaultType(DataType type, int64_t channels) {
  const bool is_wide = type == DataType::kUint32 || type == DataType::kUint64;
  return is_wide && channels == 1 ? VolumeType::kSegmentation : VolumeType::kImage;
}

DownsampleMethod DefaultMethod(const VolumeInfo& info) {
  return info.type == VolumeType::kSegmentation ? DownsampleMethod::kMode
                                                : DownsampleMethod::kAverage;
}

EncodingSpec DefaultEncoding(const VolumeInfo& info) {
  EncodingSpec spec;
  const bool is_wide =
      DefaultType(info.data_type, info.num_channels) == VolumeType::kSegmentation;
  if (info.type == VolumeType::kSegmentation && is_wide) {
    spec.encoding = Encoding::kCompressedSegmentation;
  }
  return spec;
}

Result<void> ChooseStorage(const VolumeInfo& info, const StorageRequest& request,
                           ScaleInfo& scale) {
  for (size_t d = 0; d < 3; ++d) {
    if (scale.size[d] < 0 || scale.size[d] > kMaxCoordinate ||
        std::abs(scale.voxel_offset[d] / 2) > kMaxCoordinate / 2) {
      return InvalidArgument(fmt::format("a volume of {} voxels at {} is out of range",
                                         ToString(scale.size),
                                         ToString(scale.voxel_offset)));
    }
  }
  if (scale.chunk_sizes.empty() || request.chunk_size) {
    scale.chunk_sizes = {request.chunk_size.value_or(kChunkSize)};
  }
  if (scale.key.empty()) scale.key = FreshKey(info, scale.resolution);
  scale.encoding = request.encoding ? *request.encoding : scale.encoding;
  DOLIUM_TRY_VOID(CheckEncodable(scale.encoding, info.data_type, info.num_channels));
  scale.sharding.reset();
  if (request.sharding) {
    scale.sharding = *request.sharding;
    return {};
  }
  if (!request.sharded) return {};
  scale.chunk_sizes.resize(1);
  DOLIUM_TRY(const Grid grid, Grid::Make(scale.bounds(), scale.chunk_sizes.front()));
  DOLIUM_TRY(const MortonCode morton, MortonCode::Make(grid.shape()));
  const ArrayShape shape{scale.chunk_sizes.front(), info.num_channels, info.data_type};
  const auto bytes = shape.bytes();
  if (!bytes) {
    return InvalidArgument(fmt::format("chunks of {} voxels are too large",
                                       ToString(scale.chunk_sizes.front())));
  }
  scale.sharding = ChooseVolumeSharding(morton, request.shard_bytes, *bytes,
                                        IsCompressed(scale.encoding.encoding)
                                            ? neuroglancer::Encoding::kRaw
                                            : neuroglancer::Encoding::kGzip);
  return {};
}

Result<void> EstimateShardBytes(const VolumeInfo& info, const ScaleInfo& scale,
                                const ChunkSource& source, StorageRequest& request) {
  if (!request.stored_shard_bytes || request.sharding || !request.sharded) return {};
  request.shard_bytes = *request.stored_shard_bytes;
  StorageRequest in_files = request;
  in_files.sharded = false;
  VolumeInfo sampled = info;
  sampled.scales = {scale};
  DOLIUM_TRY_VOID(ChooseStorage(info, in_files, sampled.scales.front()));
  sampled.scales.front().chunk_sizes.resize(1);
  // Only its chunks are made; nothing is written.
  const Location nowhere{std::make_shared<MemoryStore>(), "sample"};
  DOLIUM_TRY(const auto target, Scale::Open(nowhere, sampled, 0));
  const bool is_gzip = !IsCompressed(sampled.scales.front().encoding.encoding);
  const uint64_t cells = target->grid().cell_count();
  const Vec3 shape = target->grid().shape();
  const uint64_t count = std::min(cells, kSampledCells);
  uint64_t stored = 0;
  uint64_t voxels = 0;
  for (uint64_t i = 0; i < count; ++i) {
    auto number = static_cast<int64_t>(cells / count * i + cells / count / 2);
    Vec3 cell;
    for (size_t d = 0; d < 3; ++d) {
      cell[d] = number % shape[d];
      number /= shape[d];
    }
    auto made = source.Make(*target, cell);
    // Whoever reads all of it reports it.
    if (!made && made.error().code == ErrorCode::kCorrupt) continue;
    if (!made) return std::move(made).error();
    if (!*made) continue;
    DOLIUM_TRY(const Bytes encoded,
               Unwrap((*made)->wrapper, (*made)->bytes, kDefaultDecodeLimit));
    stored += is_gzip ? GzipEncode(encoded).size() : encoded.size();
    voxels += *target->ShapeOf(target->grid().VoxelsOf(cell)).bytes();
  }
  if (stored == 0) return {};
  // Sizes that no volume has are as good as any other.
  const double expected = static_cast<double>(*request.stored_shard_bytes) *
                          static_cast<double>(voxels) / static_cast<double>(stored);
  request.shard_bytes =
      static_cast<uint64_t>(std::min(expected, static_cast<double>(uint64_t{1} << 62)));
  return {};
}

Result<std::optional<Wrapper>> FindWrapper(const Scale& scale) {
  if (scale.info().sharding) return std::optional(Wrapper::kNone);
  const auto look = [&](const Vec3& cell) -> Result<std::optional<Wrapper>> {
    const auto chunk = scale.storage().GetStored(cell);
    // What is damaged says nothing here; it is met again when it is read.
    if (!chunk && !IsChunkDamage(chunk.error())) return chunk.error();
    if (!chunk || !*chunk) return std::nullopt;
    return (*chunk)->wrapper;
  };
  std::vector<Vec3> cells;
  const Location& folder = scale.folder();
  const auto listed = folder.store->List(folder.path, [&](std::string_view name, bool) {
    if (const auto cell = scale.storage().CellOf(name)) cells.push_back(*cell);
    return cells.size() < kSampledChunks;
  });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!listed && listed.error().code != ErrorCode::kUnsupported) return listed.error();
  if (!listed) {
    Box first = scale.grid().cells();
    for (size_t d = 0; d < 3; ++d) {
      first.end[d] = std::min(first.end[d], first.begin[d] + kSampledSide);
    }
    cells = CellsOf(first);
  }
  for (const Vec3& cell : cells) {
    DOLIUM_TRY(const auto found, look(cell));
    if (found) return found;
  }
  return std::nullopt;
}

Vec3 ChooseFactor(const ScaleInfo& scale, const std::optional<Vec3>& wanted) {
  Vec3 factor = wanted.value_or(Vec3{1, 1, 1});
  if (!wanted) {
    double shortest = INFINITY;
    for (size_t d = 0; d < 3; ++d) {
      if (scale.size[d] > 1) shortest = std::min(shortest, scale.resolution[d]);
    }
    for (size_t d = 0; d < 3; ++d) {
      factor[d] = scale.resolution[d] < shortest * kIsotropic ? 2 : 1;
    }
  }
  for (size_t d = 0; d < 3; ++d) {
    if (scale.size[d] <= 1) factor[d] = 1;
  }
  return factor;
}

Result<void> AddPyramid(const PyramidRequest& request, const StorageRequest& storage,
                        size_t from, VolumeInfo& info, std::vector<Stage>& stages) {
  if (request.factor) {
    for (const int64_t factor : *request.factor) {
      if (factor < 1 || factor > kMaxDownsampleFactor) {
        return InvalidArgument(fmt::format("a factor of {}, expected {} to {}", factor, 1,
                                           kMaxDownsampleFactor));
      }
    }
  }
  const DownsampleMethod method = request.method.value_or(DefaultMethod(info));
  const size_t limit = request.scales.value_or(kMaxScales);
  const size_t present = info.scales.size();
  while (info.scales.size() - present < limit) {
    const ScaleInfo finer = info.scales[from];
    if (!request.scales && IsOneChunk(finer)) break;
    const Vec3 factor = ChooseFactor(finer, request.factor);
    if (factor == Vec3{1, 1, 1}) break;
    ScaleInfo scale = finer;
    scale.key.clear();
    scale.extra.clear();
    scale.hidden = false;
    scale.chunk_sizes.resize(1);
    const Box bounds = DownsampledBounds(finer.bounds(), factor);
    scale.voxel_offset = bounds.begin;
    scale.size = bounds.size();
    for (size_t d = 0; d < 3; ++d) {
      scale.resolution[d] *= static_cast<double>(factor[d]);
    }
    const auto there = std::ranges::find_if(info.scales, [&](const ScaleInfo& other) {
      return other.resolution == scale.resolution && other.bounds() == bounds;
    });
    if (there != info.scales.end()) {
      from = static_cast<size_t>(there - info.scales.begin());
      continue;
    }
    DOLIUM_TRY_VOID(ChooseStorage(info, storage, scale));
    info.scales.push_back(scale);
    stages.push_back({.scale = info.scales.size() - 1,
                      .input = FinerInput{from, {factor, method, request.ignore_zero}},
                      .layout = LayoutOf(scale, false),
                      .wrapper = storage.wrapper.value_or(Wrapper::kNone)});
    from = info.scales.size() - 1;
  }
  return {};
}

}  // namespace dolium::volume
