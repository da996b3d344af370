#include "dolium/domain/volume/dvid_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSpecText = R"({
  "@type": "neuroglancer_multiscale_volume", "type": "segmentation",
  "data_type": "uint64", "num_channels": 1, "scales": [{
    "key": "8_8_8", "size": [SIZE], "resolution": [8, 8, 8], "voxel_offset": [0, 0, 0],
    "chunk_sizes": [[64, 64, 64]], "encoding": "compressed_segmentation",
    "compressed_segmentation_block_size": [8, 8, 8],
    "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity",
      "preshift_bits": PRESHIFT, "minishard_bits": 0, "shard_bits": 2,
      "minishard_index_encoding": "gzip", "data_encoding": "gzip"}}]})";

std::string Spec(std::string_view size, std::string_view preshift = "3") {
  std::string text(kSpecText);
  text.replace(text.find("SIZE"), 4, size);
  text.replace(text.find("PRESHIFT"), 8, preshift);
  return text;
}

class DvidExportTest : public testing::Test {
 protected:
  DvidExportTest() : location_{std::make_shared<MemoryStore>("test"), "export"} {
    dvid::WriteTestShard(location_.Child("s0").Child("0_0_0.arrow"),
                         {{{0, 0, 0}, first_}, {{1, 1, 0}, zero_}});
    dvid::WriteTestShard(location_.Child("s0").Child("128_0_0.arrow"),
                         {{{2, 0, 0}, second_}});
  }

  static std::vector<uint64_t> ReadAll(const Scale& scale) {
    const ArrayShape shape = scale.ShapeOf(scale.bounds());
    std::vector<uint64_t> voxels(static_cast<size_t>(*shape.voxels()));
    Must(scale.Read(
        scale.bounds(),
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(voxels.data()))));
    return voxels;
  }

  const std::vector<uint64_t> first_ = dvid::TestVoxels(1, 40);
  const std::vector<uint64_t> second_ = dvid::TestVoxels(2, 9);
  const std::vector<uint64_t> zero_ = std::vector<uint64_t>(dvid::kTestVoxels);
  const Location location_;
};

TEST_F(DvidExportTest, IsAVolumeOfWholeBlocksWithoutASpec) {
  const Volume volume =
      Must(Volume::Open(location_, false, {.labels = dvid::LabelKind::kSupervoxels}));
  ASSERT_NE(volume.dvid_export(), nullptr);
  EXPECT_EQ(volume.info().data_type, DataType::kUint64);
  const auto scale = Must(volume.OpenScale(0));
  EXPECT_EQ(scale->bounds(), (Box{{0, 0, 0}, {192, 128, 64}}));
  const auto voxels = ReadAll(*scale);
  for (size_t z = 0; z < 64; z += 7) {
    for (size_t y = 0; y < 128; y += 5) {
      for (size_t x = 0; x < 192; ++x) {
        uint64_t expected = 0;
        if (y < 64 && x < 64) expected = first_[x + 64 * (y + 64 * z)];
        if (y < 64 && x >= 128) expected = second_[x - 128 + 64 * (y + 64 * z)];
        ASSERT_EQ(voxels[x + 192 * (y + 128 * z)], expected) << x << ',' << y << ',' << z;
      }
    }
  }
}

TEST_F(DvidExportTest, GivesLabelsAndCutsTheLastChunks) {
  const Volume volume =
      Must(Volume::Open(location_, false, {.spec = Spec("150, 60, 50")}));
  const auto scale = Must(volume.OpenScale(0));
  EXPECT_EQ(scale->info().resolution, (Resolution{8, 8, 8}));
  EXPECT_TRUE(scale->info().sharding);
  const auto voxels = ReadAll(*scale);
  EXPECT_EQ(voxels[149 + 150 * (59 + 60 * 49)],
            dvid::LabelOf(second_[21 + 64 * (59 + 64 * 49)]));
  EXPECT_EQ(voxels[5 + 150 * (7 + 60 * 9)], dvid::LabelOf(first_[5 + 64 * (7 + 64 * 9)]));
}

TEST_F(DvidExportTest, CannotBeWrittenTo) {
  const Volume volume = Must(Volume::Open(location_));
  const auto scale = Must(volume.OpenScale(0));
  const Box box = {{0, 0, 0}, {1, 1, 1}};
  const uint64_t one = 1;
  const auto written = scale->Write(
      box,
      VoxelView::Dense(scale->ShapeOf(box), reinterpret_cast<const std::byte*>(&one)));
  EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
}

TEST_F(DvidExportTest, CountsBlocksOutsideOfTheVolume) {
  const auto exported =
      Must(DvidExport::Open(location_, {.spec = Spec("128, 128, 64", "3")}));
  ASSERT_TRUE(exported);
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  EXPECT_EQ(report.blocks, 3U);
  EXPECT_EQ(report.outside, 1U);
  EXPECT_TRUE(report.damage.empty());
}

TEST_F(DvidExportTest, ExplainsSpecsThatDamageExports) {
  const auto why = [](std::string_view size, std::string_view preshift) {
    const auto info = Must(ParseVolumeInfo(Spec(size, preshift)));
    return WhyNotCubic(info.scales.front()).value_or("");
  };
  EXPECT_EQ(why("1024, 1024, 1024", "3"), "");
  EXPECT_EQ(why("1024, 1024, 1024", "6"), "");
  EXPECT_THAT(why("1024, 1024, 1024", "4"), HasSubstr("4,2,2 blocks, not cubes"));
  EXPECT_EQ(why("128, 128, 64", "2"), "") << "one shard spans the grid";
  const auto offset = [&] {
    std::string text = Spec("64, 64, 64");
    text.replace(text.find("[0, 0, 0]"), 9, "[0, 0, 9]");
    return DvidExport::Open(location_, {.spec = text}).error().message;
  };
  EXPECT_THAT(offset(), HasSubstr("voxel_offset of 0,0,9"));
}

TEST_F(DvidExportTest, ReportsDamagedShards) {
  const std::string object = JoinPath(location_.path, "s0/128_0_0.arrow");
  const auto whole = Must(location_.store->ReadWhole(object, 1 << 30));
  ByteVector twice(whole.bytes.view().begin(), whole.bytes.view().end());
  Append(twice, whole.bytes);
  Must(location_.store->Put(object, twice, Precondition::None()));
  const auto exported = Must(DvidExport::Open(location_, {.spec = Spec("192, 128, 64")}));
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  ASSERT_EQ(report.damage.size(), 1U);
  EXPECT_EQ(report.damage[0].kind, "rerun");
  const auto saved =
      Must(DvidExport::Open(location_, {.spec = Spec("192, 128, 64"), .salvage = true}));
  EXPECT_EQ(Must(CheckExport(*saved, 1, {})).blocks, 3U);
}

TEST_F(DvidExportTest, IsNoVolumeWithoutShards) {
  EXPECT_EQ(Volume::Open(location_.Child("none")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace dolium::volume
