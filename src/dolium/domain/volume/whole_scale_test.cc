#include "dolium/domain/volume/whole_scale.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/testing/scale_makers.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::volume {
namespace {

class WholeScaleTest : public ::testing::Test {
 protected:
  static Volume Make() {
    VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {40, 30, 20}, {16, 16, 16},
                                   /*sharded=*/false);
    info.scales[0].chunk_sizes.push_back({40, 30, 1});
    return Must(
        Volume::Create({std::make_shared<MemoryStore>("test"), "vol"}, std::move(info)));
  }
};

TEST_F(WholeScaleTest, WritesTheCopiesOfAllChunkSizes) {
  const Volume volume = Make();
  const auto scale = Must(volume.OpenScale(0));
  const Box box = {{0, 3, 12}, {20, 21, 25}};
  const ByteVector voxels = RandomVoxels(scale->ShapeOf(box));
  Must(scale->Write(box, VoxelView::Dense(scale->ShapeOf(box), voxels.data())));
  EXPECT_EQ(ReadBox(*Must(volume.OpenCopy(0, 0)), box), voxels);
  EXPECT_EQ(ReadBox(*Must(volume.OpenCopy(0, 1)), box), voxels);
}

TEST_F(WholeScaleTest, ReadsTheCopyThatNeedsLeast) {
  const Volume volume = Make();
  const auto scale = Must(volume.OpenScale(0));
  const Box cube = {{-3, 0, 10}, {13, 16, 26}};
  const Box slice = {{-3, 0, 10}, {37, 30, 11}};
  EXPECT_EQ(scale->BestFor(cube)->grid().chunk_size(), (Vec3{16, 16, 16}));
  EXPECT_EQ(scale->BestFor(slice)->grid().chunk_size(), (Vec3{40, 30, 1}));
  const Box outside = {{0, 0, 0}, {1, 1, 1}};
  std::byte voxel{};
  EXPECT_EQ(scale->Read(outside, MutableVoxelView::Dense(scale->ShapeOf(outside), &voxel))
                .error()
                .code,
            ErrorCode::kInvalidArgument);
}

TEST_F(WholeScaleTest, IsOfAScaleThatTheVolumeHas) {
  EXPECT_EQ(Make().OpenScale(1).error().message,
            "memory://test/vol: no scale 1; the volume has 1");
}

}  // namespace
}  // namespace dolium::volume
