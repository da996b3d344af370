#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A pyramid of seven scales, sizes halved and rounded down: the example of the format's
// description.
VolumeInfo Pyramid() {
  VolumeInfo info;
  info.type = VolumeType::kImage;
  Vec3 size = {6446, 6643, 8090};
  for (double nm = 8; nm <= 512; nm *= 2) {
    info.scales.push_back({.key = DefaultScaleKey({nm, nm, nm}),
                           .size = size,
                           .resolution = {nm, nm, nm},
                           .chunk_sizes = {{64, 64, 64}},
                           .encoding = {.encoding = Encoding::kJpeg}});
    for (int64_t& side : size) side /= 2;
  }
  return info;
}

std::vector<std::string> Warnings(const VolumeInfo& info) {
  const auto valid = Validate(info);
  EXPECT_TRUE(valid) << valid.error().message;
  std::vector<std::string> texts;
  for (const InfoWarning& warning : CheckVolumeInfo(info)) {
    texts.push_back(fmt::format("{}: {}", warning.path, warning.text));
  }
  return texts;
}

TEST(CheckVolumeInfo, FindsNothingInTheExamplesOfTheFormat) {
  VolumeInfo info = Pyramid();
  EXPECT_THAT(Warnings(info), IsEmpty());
  info.type = VolumeType::kSegmentation;
  info.data_type = DataType::kUint64;
  for (ScaleInfo& scale : info.scales) {
    scale.encoding = {.encoding = Encoding::kCompressedSegmentation};
  }
  EXPECT_THAT(Warnings(info), IsEmpty());
}

TEST(CheckVolumeInfo, TakesSizesRoundedUpAndOffsetsRoundedEitherWay) {
  VolumeInfo info = Pyramid();
  info.scales.resize(2);
  info.scales[1].size = {3223, 3322, 4045};
  EXPECT_THAT(Warnings(info), IsEmpty());
  // 3:6449 halved outwards is 1:3225.
  info.scales[0].voxel_offset = {3, -3, 0};
  info.scales[1].voxel_offset = {1, -2, 0};
  info.scales[1].size = {3224, 3322, 4045};
  EXPECT_THAT(Warnings(info), IsEmpty());
  info.scales[1].voxel_offset = {2, -1, 0};
  EXPECT_THAT(Warnings(info), IsEmpty());
}

TEST(CheckVolumeInfo, TakesRatiosThatAreNotExact) {
  VolumeInfo info = Pyramid();
  info.scales.resize(2);
  info.scales[0].resolution = {0.1, 8, 8};
  info.scales[1].resolution = {0.3, 16, 16};
  info.scales[0].size[0] = 300;
  info.scales[1].size[0] = 100;
  EXPECT_THAT(Warnings(info), IsEmpty());
}

TEST(CheckVolumeInfo, FindsSizesAndOffsetsThatDoNotFollowFromTheFinerScale) {
  VolumeInfo info = Pyramid();
  info.scales.resize(2);
  info.scales[1].size = {3223, 3323, 2000};
  info.scales[1].voxel_offset = {1, 0, 0};
  EXPECT_THAT(
      Warnings(info),
      ElementsAre(
          "scales[1].voxel_offset: found 1 in x, expected 0, from the finer "
          "scale and the ratio 2 of the resolutions",
          "scales[1].size: found 3323 in y, expected 3321 to 3322, from the finer "
          "scale and the ratio 2 of the resolutions",
          "scales[1].size: found 2000 in z, expected 4045, from the finer "
          "scale and the ratio 2 of the resolutions"));
}

TEST(CheckVolumeInfo, FindsAResolutionThatDecreases) {
  VolumeInfo info = Pyramid();
  info.scales.resize(2);
  info.scales[1].resolution[2] = 4;
  EXPECT_THAT(Warnings(info),
              ElementsAre("scales[1].resolution: 4 in z after 8; scales go "
                          "from fine to coarse"));
}

TEST(CheckVolumeInfo, FindsASegmentationThatIsNone) {
  VolumeInfo info = Pyramid();
  info.scales.resize(1);
  info.scales[0].encoding = {};
  info.type = VolumeType::kSegmentation;
  info.num_channels = 2;
  info.data_type = DataType::kFloat32;
  EXPECT_THAT(
      Warnings(info),
      ElementsAre("num_channels: found 2, but a segmentation has one channel",
                  "data_type: found float32, but the labels of a segmentation are "
                  "integers"));
}

TEST(CheckVolumeInfo, FindsEncodingsThatViewersShowWrong) {
  VolumeInfo info = Pyramid();
  info.scales.resize(1);
  info.num_channels = 3;
  EXPECT_THAT(Warnings(info), IsEmpty());
  info.scales[0].encoding.encoding = Encoding::kJxl;
  EXPECT_THAT(Warnings(info), ElementsAre("scales[0].encoding: jxl with 3 channels; "
                                          "Neuroglancer shows wrong values, use jpeg or "
                                          "png"));
  info.scales[0].encoding.encoding = Encoding::kPng;
  EXPECT_THAT(Warnings(info), IsEmpty());
  info.data_type = DataType::kUint16;
  EXPECT_THAT(Warnings(info),
              ElementsAre("scales[0].encoding: png of uint16 with 3 "
                          "channels; Neuroglancer shows wrong values, use "
                          "raw"));
}

TEST(CheckVolumeInfo, FindsScalesThatCannotBeUsed) {
  VolumeInfo info = Pyramid();
  info.scales.resize(1);
  info.scales[0].foreign_encoding = "crackle";
  info.scales[0].extra["jpeg_quality"] = "75";
  EXPECT_THAT(
      Warnings(info),
      ElementsAre("scales[0].encoding: the encoding crackle is cloud-volume's own "
                  "and is not supported",
                  "scales[0].jpeg_quality: does not belong to the encoding of "
                  "this scale; TensorStore does not open such a volume"));
}

TEST(CheckVolumeInfo, FindsCoordinatesThatTheClientGetsWrong) {
  VolumeInfo info = Pyramid();
  info.scales.resize(1);
  ScaleInfo& scale = info.scales[0];
  scale.size[1] = (1 << 24) + 1;
  EXPECT_THAT(Warnings(info),
              ElementsAre("scales[0].size: voxels 0:16777217 in y; beyond 16777216 "
                          "Neuroglancer gets the names of unsharded chunks wrong, use "
                          "shards"));
  scale.sharding = {.preshift_bits = 10, .minishard_bits = 3, .shard_bits = 20};
  EXPECT_THAT(Warnings(info), IsEmpty());
}

TEST(CheckVolumeInfo, FindsShardingThatHurts) {
  VolumeInfo info = Pyramid();
  info.scales.resize(1);
  ScaleInfo& scale = info.scales[0];
  scale.sharding = {.preshift_bits = 9, .minishard_bits = 2, .shard_bits = 9};
  EXPECT_THAT(Warnings(info),
              ElementsAre("scales[0].sharding.shard_bits: preshift, minishard and shard "
                          "bits are 20, fewer than the 21 of the grid: shards are not "
                          "boxes of chunks, and cannot be written one by one"));
  scale.sharding = {.preshift_bits = 64,
                    .hash = neuroglancer::ShardHash::kMurmur3,
                    .minishard_bits = 20};
  EXPECT_THAT(
      Warnings(info),
      ElementsAre("scales[0].sharding.hash: found murmurhash3_x86_128; the chunks "
                  "of a shard are then strewn over the volume, and neighbours are "
                  "not read together",
                  "scales[0].sharding.preshift_bits: found 64, which cloud-volume "
                  "refuses",
                  "scales[0].sharding.minishard_bits: found 20; the index of every "
                  "shard then takes 16 MiB"));
}

TEST(CheckVolumeInfo, FindsScalesInOneFolderAndScalesWithoutVoxels) {
  VolumeInfo info = Pyramid();
  info.scales.resize(2);
  info.scales[1].key = "./8_8_8/";
  info.scales[0].size[0] = 1;
  info.scales[1].size[0] = 0;
  EXPECT_THAT(
      Warnings(info),
      ElementsAre("scales[1].key: an earlier scale has the folder \"./8_8_8/\" too",
                  "scales[1].size: found 0,3321,4045; Neuroglancer refuses a "
                  "volume without voxels"));
}

}  // namespace
}  // namespace dolium::volume
