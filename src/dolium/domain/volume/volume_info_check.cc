#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {
namespace {

using neuroglancer::ShardHash;
using neuroglancer::ShardingSpec;

// The client keeps voxel coordinates in float32, exact up to here, ...
constexpr int64_t kClientMaxCoordinate = int64_t{1} << 24;
// ... and takes the bits of a cell in 32-bit integers.
constexpr int64_t kClientMaxCells = int64_t{1} << 31;
// A shard index of 1 MiB; it is read whole by some programs.
constexpr unsigned kLargeMinishardBits = 16;

constexpr std::string_view kAxes = "xyz";

std::string RangeText(double low, double high) {
  const double positive_zero = 0;  // Added to -0 it gives 0.
  if (low == high) return fmt::format("{:.0f}", low + positive_zero);
  return fmt::format("{:.0f} to {:.0f}", low + positive_zero, high + positive_zero);
}

std::optional<InfoWarning> ManyChannels(const VolumeInfo& info) {
  if (info.type != VolumeType::kSegmentation || info.num_channels == 1) {
    return std::nullopt;
  }
  return InfoWarning{
      "num_channels",
      fmt::format("found {}, but a segmentation has one channel", info.num_channels)};
}

std::optional<InfoWarning> FractionLabels(const VolumeInfo& info) {
  if (info.type != VolumeType::kSegmentation || info.data_type != DataType::kFloat32) {
    return std::nullopt;
  }
  return InfoWarning{"data_type",
                     "found float32, but the labels of a segmentation are integers"};
}

class Checker {
 public:
  explicit Checker(const VolumeInfo& info) : info_(info) {}

  std::vector<InfoWarning> Run() && {
    CheckRoot();
    for (size_t i = 0; i < info_.scales.size(); ++i) {
      path_ = fmt::format("scales[{}]", i);
      CheckScale(info_.scales[i]);
      if (i > 0) ComparedWithFiner(info_.scales[i - 1], info_.scales[i]);
    }
    return std::move(warnings_);
  }

 private:
  void Warn(std::string path, std::string text) {
    warnings_.push_back({std::move(path), std::move(text)});
  }
  // Of a member of the scale under check.
  void WarnScale(std::string_view member, std::string text) {
    Warn(fmt::format("{}.{}", path_, member), std::move(text));
  }

  void CheckRoot() {
    if (auto warning = ManyChannels(info_)) warnings_.push_back(*std::move(warning));
    if (auto warning = FractionLabels(info_)) warnings_.push_back(*std::move(warning));
  }

  void CheckScale(const ScaleInfo& scale) {
    if (!keys_.insert(NormalizePath(scale.key)).second) {
      WarnScale("key",
                fmt::format("an earlier scale has the folder \"{}\" too", scale.key));
    }
    if (std::ranges::min(scale.size) == 0) {
      WarnScale("size", fmt::format("found {}; Neuroglancer refuses a volume without "
                                    "voxels",
                                    ToString(scale.size)));
    }
    CheckScaleEncoding(scale);
    if (scale.sharding) {
      CheckSharding(scale, *scale.sharding);
    } else {
      CheckCoordinates(scale.bounds());
    }
  }

  void CheckScaleEncoding(const ScaleInfo& scale) {
    if (const auto usable = CheckUsable(info_, scale); !usable) {
      WarnScale("encoding", usable.error().message);
    } else if (scale.encoding.encoding == Encoding::kPng && info_.num_channels > 1 &&
               info_.data_type == DataType::kUint16) {
      WarnScale("encoding",
                fmt::format("png of uint16 with {} channels; Neuroglancer shows wrong "
                            "values, use raw",
                            info_.num_channels));
    } else if (scale.encoding.encoding == Encoding::kJxl && info_.num_channels > 1) {
      WarnScale("encoding",
                fmt::format("jxl with {} channels; Neuroglancer shows wrong values, use "
                            "jpeg or png",
                            info_.num_channels));
    }
    for (const char* member :
         {"compressed_segmentation_block_size", "jpeg_quality", "png_level"}) {
      if (scale.extra.contains(member)) {
        WarnScale(member,
                  "does not belong to the encoding of this scale; TensorStore "
                  "does not open such a volume");
      }
    }
  }

  void CheckCoordinates(const Box& bounds) {
    for (size_t d = 0; d < 3; ++d) {
      if (bounds.begin[d] < -kClientMaxCoordinate ||
          bounds.end[d] > kClientMaxCoordinate) {
        WarnScale(
            "size",
            fmt::format("voxels {}:{} in {}; beyond {} Neuroglancer gets the names "
                        "of unsharded chunks wrong, use shards",
                        bounds.begin[d], bounds.end[d], kAxes[d], kClientMaxCoordinate));
      }
    }
  }

  void CheckSharding(const ScaleInfo& scale, const ShardingSpec& spec) {
    const auto grid = Grid::Make(scale.bounds(), scale.chunk_sizes.front());
    const auto morton =
        grid ? MortonCode::Make(grid->shape()) : Result<MortonCode>(grid.error());
    if (!morton) return;
    const unsigned bits = spec.preshift_bits + spec.minishard_bits + spec.shard_bits;
    if (spec.hash == ShardHash::kMurmur3) {
      WarnScale("sharding.hash",
                "found murmurhash3_x86_128; the chunks of a shard are then strewn over "
                "the volume, and neighbours are not read together");
    } else if (spec.shard_bits > 0 && bits < morton->total_bits()) {
      WarnScale(
          "sharding.shard_bits",
          fmt::format("preshift, minishard and shard bits are {}, fewer than the {} "
                      "of the grid: shards are not boxes of chunks, and cannot be "
                      "written one by one",
                      bits, morton->total_bits()));
    }
    if (spec.preshift_bits == 64) {
      WarnScale("sharding.preshift_bits", "found 64, which cloud-volume refuses");
    }
    if (spec.minishard_bits > kLargeMinishardBits) {
      WarnScale("sharding.minishard_bits",
                fmt::format("found {}; the index of every shard then takes {} MiB",
                            spec.minishard_bits, spec.shard_index_bytes() >> 20));
    }
    if (std::ranges::max(grid->shape()) > kClientMaxCells) {
      WarnScale("chunk_sizes[0]",
                fmt::format("a grid of {} chunks; Neuroglancer takes at most {} in each "
                            "dimension",
                            ToString(grid->shape()), kClientMaxCells));
    }
  }

  // What a scale should have from the one before it.
  void ComparedWithFiner(const ScaleInfo& finer, const ScaleInfo& scale) {
    for (size_t d = 0; d < 3; ++d) {
      const double ratio = scale.resolution[d] / finer.resolution[d];
      if (ratio < 1) {
        WarnScale("resolution",
                  fmt::format("{:g} in {} after {:g}; scales go from fine to coarse",
                              scale.resolution[d], kAxes[d], finer.resolution[d]));
        continue;
      }
      if (!std::isfinite(ratio)) continue;
      CompareRange(finer, scale, d, ratio);
    }
  }

  // Programs round down or up, and where a volume does not begin at a multiple of the
  // ratio, outwards.
  void CompareRange(const ScaleInfo& finer, const ScaleInfo& scale, size_t d,
                    double ratio) {
    const auto down = [&](double value) { return std::floor(value / ratio + kSlack); };
    const auto up = [&](double value) { return std::ceil(value / ratio - kSlack); };
    const auto begin = static_cast<double>(finer.voxel_offset[d]);
    const auto size = static_cast<double>(finer.size[d]);
    const double most = std::max(up(size), up(begin + size) - down(begin));
    const auto expect = [&](std::string_view member, int64_t found, double low,
                            double high) {
      const auto value = static_cast<double>(found);
      if (value >= low && value <= high) return;
      WarnScale(member,
                fmt::format("found {} in {}, expected {}, from the finer scale and the "
                            "ratio {:g} of the resolutions",
                            found, kAxes[d], RangeText(low, high), ratio));
    };
    expect("size", scale.size[d], down(size), most);
    expect("voxel_offset", scale.voxel_offset[d], down(begin), up(begin));
  }

  static constexpr double kSlack = 1e-6;  // for ratios that are not exact

  const VolumeInfo& info_;
  std::string path_;
  std::set<std::string> keys_;
  std::vector<InfoWarning> warnings_;
};

}  // namespace

std::vector<InfoWarning> CheckVolumeInfo(const VolumeInfo& info) {
  return Checker(info).Run();
}

Result<void> CheckCreatable(const VolumeInfo& info) {
  auto wrong = ManyChannels(info);
  if (!wrong) wrong = FractionLabels(info);
  if (!wrong) return {};
  return InvalidArgument(
      fmt::format("{}: {}; make it an image", wrong->path, wrong->text));
}

}  // namespace dolium::volume
