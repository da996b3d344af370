#include "dolium/domain/volume/volume_info.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/morton.h"

namespace dolium::volume {
namespace {

template <typename Found>
Error OutOfRange(std::string_view path, const Found& found, std::string_view expected) {
  return InvalidArgument(fmt::format("{}: found {}, expected {}", path, found, expected));
}

Result<void> ValidateBounds(std::string_view path, const ScaleInfo& scale) {
  for (size_t d = 0; d < 3; ++d) {
    if (scale.size[d] < 0 || scale.size[d] > kMaxCoordinate) {
      return OutOfRange(fmt::format("{}.size[{}]", path, d), scale.size[d],
                        fmt::format("an integer from 0 to {}", kMaxCoordinate));
    }
    // The sum of the two cannot overflow: each is below 2^62.
    if (scale.voxel_offset[d] < -kMaxCoordinate ||
        scale.voxel_offset[d] > kMaxCoordinate ||
        scale.voxel_offset[d] + scale.size[d] > kMaxCoordinate) {
      return OutOfRange(
          fmt::format("{}.voxel_offset[{}]", path, d), scale.voxel_offset[d],
          fmt::format("an integer from -{0}, and with the size {1} added at most {0}",
                      kMaxCoordinate, scale.size[d]));
    }
    if (!std::isfinite(scale.resolution[d]) || scale.resolution[d] <= 0) {
      return OutOfRange(fmt::format("{}.resolution[{}]", path, d), scale.resolution[d],
                        "a number greater than 0");
    }
  }
  return {};
}

// The largest chunk that there is: those at the edges are truncated.
ArrayShape LargestChunk(const VolumeInfo& info, const Grid& grid) {
  ArrayShape shape{grid.chunk_size(), info.num_channels, info.data_type};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t whole = std::max<int64_t>(1, grid.bounds().size()[d]);
    shape.size[d] = std::min(shape.size[d], whole);
  }
  return shape;
}

Result<void> ValidateChunks(std::string_view path, const VolumeInfo& info,
                            const ScaleInfo& scale) {
  if (scale.chunk_sizes.empty()) {
    return OutOfRange(fmt::format("{}.chunk_sizes", path), "none", "at least one");
  }
  for (size_t i = 0; i < scale.chunk_sizes.size(); ++i) {
    const std::string at = fmt::format("{}.chunk_sizes[{}]", path, i);
    DOLIUM_TRY(const Grid grid,
               Grid::Make(scale.bounds(), scale.chunk_sizes[i]).Within(at));
    const ArrayShape chunk = LargestChunk(info, grid);
    if (!chunk.bytes()) {
      return OutOfRange(
          at,
          fmt::format("chunks of {} with {} channels of {}", ToString(chunk.size),
                      chunk.channels, ToString(chunk.type)),
          "less than 2^64 bytes");
    }
    if (scale.sharding) {
      DOLIUM_TRY_VOID(MortonCode::Make(grid.shape()).Within(at));
    }
  }
  if (!scale.sharding) return {};
  if (scale.chunk_sizes.size() > 1) {
    return OutOfRange(fmt::format("{}.chunk_sizes", path),
                      fmt::format("{} sizes", scale.chunk_sizes.size()),
                      "one, because the scale is sharded");
  }
  return scale.sharding->Validate().Within(path);
}

}  // namespace

std::string_view ToString(VolumeType type) {
  switch (type) {
    case VolumeType::kUnknown:
      return "unknown";
    case VolumeType::kImage:
      return "image";
    case VolumeType::kSegmentation:
      return "segmentation";
  }
  return "unknown";
}

Box ScaleInfo::bounds() const {
  return {
      voxel_offset,
      {voxel_offset[0] + size[0], voxel_offset[1] + size[1], voxel_offset[2] + size[2]}};
}

Result<void> Validate(const VolumeInfo& info) {
  if (info.num_channels < 1) {
    return OutOfRange("num_channels", info.num_channels, "an integer from 1");
  }
  if (info.scales.empty() && !info.redirect) {
    return OutOfRange("scales", "none", "at least one");
  }
  for (size_t i = 0; i < info.scales.size(); ++i) {
    const ScaleInfo& scale = info.scales[i];
    const std::string path = fmt::format("scales[{}]", i);
    DOLIUM_TRY_VOID(ValidateBounds(path, scale));
    DOLIUM_TRY_VOID(ValidateChunks(path, info, scale));
    if (const auto good = CheckSettings(scale.encoding); !good) {
      return InvalidArgument(fmt::format("{}.{}", path, good.error().message));
    }
  }
  return {};
}

Result<void> CheckUsable(const VolumeInfo& info, const ScaleInfo& scale) {
  if (!scale.foreign_encoding.empty()) {
    return Unsupported(
        fmt::format("the encoding {} is cloud-volume's own and is not supported",
                    scale.foreign_encoding));
  }
  return CheckEncodable(scale.encoding, info.data_type, info.num_channels);
}

Location ResolveScaleKey(const Location& info_folder, std::string_view key) {
  const std::string joined = JoinPath(info_folder.path, key);
  const auto local = info_folder.store->LocalPath(joined);
  if (!local || *local) return {info_folder.store, NormalizePath(joined)};
  // Not a file system: there is nothing above the root.
  return {info_folder.store, NormalizePath("/" + joined).substr(1)};
}

std::string DefaultScaleKey(const Resolution& resolution) {
  return fmt::format("{:g}_{:g}_{:g}", resolution[0], resolution[1], resolution[2]);
}

}  // namespace dolium::volume
