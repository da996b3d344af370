// Small scales for tests, and whole arrays in and out of them.
#pragma once

#include <memory>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {

// One scale "1_1_1" that begins at -3,0,10.
inline VolumeInfo OneScaleInfo(DataType type, int64_t channels, const Vec3& size,
                               const Vec3& chunk, bool sharded) {
  VolumeInfo info;
  info.data_type = type;
  info.num_channels = channels;
  ScaleInfo scale;
  scale.key = "1_1_1";
  scale.size = size;
  scale.voxel_offset = {-3, 0, 10};
  scale.chunk_sizes = {chunk};
  if (sharded) {
    const Grid grid = *Grid::Make(scale.bounds(), chunk);
    scale.sharding = ChooseVolumeSharding(*MortonCode::Make(grid.shape()), 2, 1,
                                          neuroglancer::Encoding::kGzip);
  }
  info.scales = {scale};
  return info;
}

inline std::shared_ptr<Scale> MakeScale(const Location& folder, const VolumeInfo& info,
                                        bool gzip_files = false) {
  auto scale = Scale::Open(folder, info, 0, 0, {.gzip_files = gzip_files});
  EXPECT_TRUE(scale) << scale.error().message;
  return *std::move(scale);
}

inline ByteVector RandomVoxels(const ArrayShape& shape, uint32_t seed = 1) {
  ByteVector voxels(*shape.bytes());
  std::mt19937 random(seed);
  for (std::byte& byte : voxels) byte = static_cast<std::byte>(random() % 200);
  return voxels;
}

inline void WriteAll(Scale& scale, const ByteVector& voxels) {
  const auto written = scale.Write(
      scale.bounds(), VoxelView::Dense(scale.ShapeOf(scale.bounds()), voxels.data()));
  ASSERT_TRUE(written) << written.error().message;
}

inline ByteVector ReadBox(const Scale& scale, const Box& box,
                          const BoxOptions& options = {}) {
  const ArrayShape shape = scale.ShapeOf(box, options);
  ByteVector voxels(*shape.bytes(), std::byte{77});
  const auto read =
      scale.Read(box, MutableVoxelView::Dense(shape, voxels.data()), options);
  EXPECT_TRUE(read) << read.error().message;
  return voxels;
}

}  // namespace dolium::volume
