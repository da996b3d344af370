#include "dolium/domain/volume/dvid/dvid_export.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/dvid/label_block.h"
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

Result<Volume> OpenAt(const Location& location, const DvidReadOptions& options = {}) {
  DOLIUM_TRY(auto opened, Volume::OpenExport(location, false, options));
  if (!opened) return NotFound("no export");
  return *std::move(opened);
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
      Must(OpenAt(location_, {.labels = dvid::LabelKind::kSupervoxels}));
  ASSERT_NE(volume.dvid_export(), nullptr);
  EXPECT_EQ(volume.info().data_type, DataType::kUint64);
  const auto scale = Must(volume.OpenCopy(0));
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
  const Volume volume = Must(OpenAt(location_, {.spec = Spec("150, 60, 50")}));
  const auto scale = Must(volume.OpenCopy(0));
  EXPECT_EQ(scale->info().resolution, (Resolution{8, 8, 8}));
  EXPECT_TRUE(scale->info().sharding);
  const auto voxels = ReadAll(*scale);
  EXPECT_EQ(voxels[149 + 150 * (59 + 60 * 49)],
            dvid::LabelOf(second_[21 + 64 * (59 + 64 * 49)]));
  EXPECT_EQ(voxels[5 + 150 * (7 + 60 * 9)], dvid::LabelOf(first_[5 + 64 * (7 + 64 * 9)]));
}

TEST_F(DvidExportTest, CannotBeWrittenTo) {
  const Volume volume = Must(OpenAt(location_));
  const auto scale = Must(volume.OpenCopy(0));
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

// Writes a shard of one row, with lists that may not be those of its block.
void WriteRow(const Location& location, const dvid::Key& key,
              const std::vector<uint64_t>& voxels, const std::vector<uint64_t>& labels,
              const std::vector<uint64_t>& supervoxels) {
  const ByteVector bytes = dvid::EncodeBlock(dvid::kTestGrid, voxels);
  const auto list = [](const std::vector<uint64_t>& numbers) {
    ByteVector out(numbers.size() * sizeof(uint64_t));
    for (size_t i = 0; i < numbers.size(); ++i) {
      StoreLE<uint64_t>(out.data() + i * sizeof(uint64_t), numbers[i]);
    }
    return out;
  };
  const ByteVector first = list(labels);
  const ByteVector second = list(supervoxels);
  const auto writer = Must(dvid::DvidShardWriter::Begin(location, {}));
  Must(writer->Add({.block = key,
                    .labels = dvid::LabelList(first),
                    .supervoxels = dvid::LabelList(second),
                    .stored = ZstdEncodeChecked(bytes),
                    .uncompressed_size = static_cast<uint32_t>(bytes.size())}));
  Must(writer->Finish());
}

TEST_F(DvidExportTest, RefusesListsThatAreNotTheBlocks) {
  std::vector<uint64_t> voxels(dvid::kTestVoxels, 5);
  voxels[0] = 9;  // The list is 9, 5.
  const auto error = [&](const std::vector<uint64_t>& labels,
                         const std::vector<uint64_t>& supervoxels) -> std::string {
    const Location location{std::make_shared<MemoryStore>("test"), "one"};
    WriteRow(location.Child("0_0_0.arrow"), {0, 0, 0}, voxels, labels, supervoxels);
    const Volume volume = Must(OpenAt(location));
    const auto scale = Must(volume.OpenCopy(0));
    const auto chunk = scale->storage().Get({0, 0, 0});
    if (chunk) return *chunk ? "read" : "not there";
    return std::string(ErrorCodeName(chunk.error().code)) + ": " + chunk.error().message;
  };
  EXPECT_EQ(error({9, 5}, {9, 5}), "read");
  EXPECT_THAT(
      error({5, 9}, {5, 9}),
      HasSubstr("corrupt: memory://test/one/0_0_0.arrow: 0_0_0: the supervoxels of its "
                "row are not the 2 labels"));
  EXPECT_THAT(error({}, {}),
              HasSubstr("the supervoxels of its row are not the 2 labels"));
}

TEST_F(DvidExportTest, RefusesBlocksInTheWrongShard) {
  dvid::WriteTestShard(location_.Child("s0").Child("256_0_0.arrow"),
                       {{{0, 1, 0}, second_}, {{4, 0, 0}, second_}});
  const DvidReadOptions options{.spec = Spec("384, 128, 64")};
  const auto exported = Must(DvidExport::Open(location_, options));
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  ASSERT_EQ(report.damage.size(), 1U);
  EXPECT_EQ(report.damage[0].kind, "misplaced");
  EXPECT_THAT(report.damage[0].message,
              HasSubstr("1 of 2 blocks do not belong into a file of this name, 0_1_0 for "
                        "one"));
  const Volume volume = Must(OpenAt(location_, options));
  const auto scale = Must(volume.OpenCopy(0));
  const auto chunk = scale->storage().Get({4, 0, 0});
  EXPECT_EQ(chunk.error().kind, "misplaced");
  EXPECT_EQ(OpenAt(location_).error().kind, "misplaced") << "its size is not known then";
}

TEST_F(DvidExportTest, SalvagesBlocksFromTheWrongShard) {
  dvid::WriteTestShard(
      location_.Child("s0").Child("256_0_0.arrow"),
      {{{0, 1, 0}, second_}, {{4, 0, 0}, second_}, {{0, 0, 0}, second_}});
  const DvidReadOptions options{.labels = dvid::LabelKind::kSupervoxels, .salvage = true};
  const auto exported = Must(DvidExport::Open(location_, options));
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  EXPECT_TRUE(report.damage.empty());
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].kind, "misplaced");
  const Volume volume = Must(OpenAt(location_, options));
  const auto scale = Must(volume.OpenCopy(0));
  ASSERT_EQ(scale->bounds(), (Box{{0, 0, 0}, {320, 128, 64}}));
  const auto voxels = ReadAll(*scale);
  EXPECT_EQ(voxels[7 + 320 * (64 + 9 + 128 * 11)], second_[7 + 64 * (9 + 64 * 11)]);
  EXPECT_EQ(voxels[7 + 320 * (9 + 128 * 11)], first_[7 + 64 * (9 + 64 * 11)])
      << "the one in its place counts";
}

TEST_F(DvidExportTest, LetsBlocksOutsideOfTheVolumeLieAnywhere) {
  dvid::WriteTestShard(location_.Child("s0").Child("256_0_0.arrow"),
                       {{{9, 1, 0}, second_}, {{4, 0, 0}, second_}});
  const auto exported = Must(DvidExport::Open(location_, {.spec = Spec("384, 128, 64")}));
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  EXPECT_TRUE(report.damage.empty());
  ASSERT_EQ(report.of_spec.size(), 1U);
  EXPECT_EQ(report.of_spec[0].kind, "outside");
  EXPECT_THAT(report.of_spec[0].message, HasSubstr("1 of 5 blocks lie outside"));
}

TEST_F(DvidExportTest, ReportsBlocksInTwoShardsWhereNamesDoNotDecide) {
  const Location location{std::make_shared<MemoryStore>("test"), "named"};
  dvid::WriteTestShard(location.Child("a.arrow"), {{{0, 0, 0}, first_}});
  dvid::WriteTestShard(location.Child("b.arrow"),
                       {{{0, 0, 0}, second_}, {{1, 0, 0}, second_}});
  const auto check = [&](bool salvage) {
    const auto exported = Must(DvidExport::Open(location, {.salvage = salvage}));
    return Must(CheckExport(*exported, 1, {}));
  };
  const ExportReport report = check(false);
  ASSERT_EQ(report.damage.size(), 1U);
  EXPECT_EQ(report.damage[0].key, "0_0_0");
  EXPECT_THAT(report.damage[0].object, HasSubstr("b.arrow"));
  EXPECT_THAT(report.damage[0].message, HasSubstr("a.arrow, too"));
  EXPECT_TRUE(check(true).damage.empty());
  EXPECT_EQ(check(true).warnings.size(), 1U);
}

TEST_F(DvidExportTest, LeavesDamagedBlocksOutWithSalvage) {
  std::vector<uint64_t> voxels(dvid::kTestVoxels, 5);
  voxels[0] = 9;
  WriteRow(location_.Child("s0").Child("256_0_0.arrow"), {4, 0, 0}, voxels, {5, 9},
           {5, 9});
  const DvidReadOptions options{.spec = Spec("384, 128, 64"), .salvage = true};
  const auto exported = Must(DvidExport::Open(location_, options));
  const ExportReport report = Must(CheckExport(*exported, 1, {}));
  EXPECT_TRUE(report.damage.empty());
  EXPECT_EQ(report.damaged, 1U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].kind, "block");
  EXPECT_EQ(report.warnings[0].key, "4_0_0");
  EXPECT_THAT(report.warnings[0].message, HasSubstr("the block is left out"));
  const Volume volume = Must(OpenAt(location_, options));
  const auto scale = Must(volume.OpenCopy(0));
  EXPECT_EQ(Must(scale->storage().Get({4, 0, 0})), std::nullopt);
  EXPECT_TRUE(Must(scale->storage().Get({0, 0, 0})));
}

TEST(DvidSpec, ThatCannotBeReadIsNotTakenForNone) {
  const TemporaryFolder folder;
  const Location location = Must(ParseLocation(folder.path() + "/export"));
  const std::vector<uint64_t> voxels = dvid::TestVoxels(1, 4);
  const Location shard = location.Child("s0").Child("0_0_0.arrow");
  dvid::WriteTestShard(shard, {{{0, 0, 0}, voxels}});
  std::filesystem::create_symlink("spec.json", folder.path() + "/export/spec.json");
  const auto opened = DvidExport::Open(location, {});
  ASSERT_FALSE(opened) << "a link to itself";
  EXPECT_THAT(opened.error().message, HasSubstr("spec.json"));
  EXPECT_TRUE(Must(DvidExport::Open(shard, {}))) << "a shard has nothing within it";
}

TEST_F(DvidExportTest, KeepsTheNumbersOfScales) {
  for (const std::string_view name : {"s1", "s3"}) {
    dvid::WriteTestShard(location_.Child(name).Child("0_0_0.arrow"),
                         {{{0, 0, 0}, first_}});
  }
  for (const std::string_view name : {"s0/0_0_0.arrow", "s0/128_0_0.arrow"}) {
    Must(location_.store->Remove(JoinPath(location_.path, name), Precondition::None()));
  }
  const auto exported = Must(DvidExport::Open(location_, {.resolution = {4, 4, 40}}));
  ASSERT_EQ(exported->info().scales.size(), 2U);
  EXPECT_EQ(exported->number(0), 1U);
  EXPECT_EQ(exported->number(1), 3U);
  const VolumeInfo spec = exported->MakeSpec();
  ASSERT_EQ(spec.scales.size(), 4U);
  EXPECT_EQ(spec.scales[0].resolution, (Resolution{4, 4, 40}));
  EXPECT_EQ(spec.scales[0].size, (Vec3{128, 128, 128}));
  EXPECT_EQ(spec.scales[2].resolution, (Resolution{16, 16, 160}));
  EXPECT_EQ(spec.scales[2].size, (Vec3{128, 128, 128}));
  EXPECT_EQ(spec.scales[3].size, (Vec3{64, 64, 64}));
  Must(Validate(spec));
  for (const Location& one :
       {location_.Child("s1"), location_.Child("s1").Child("0_0_0.arrow")}) {
    const auto alone = Must(DvidExport::Open(one, {}));
    EXPECT_EQ(alone->number(0), 1U) << one.Describe();
    EXPECT_EQ(alone->info().scales[0].resolution, (Resolution{2, 2, 2}));
    EXPECT_THAT(DvidExport::Open(one, {.spec = Spec("64, 64, 64")}).error().message,
                HasSubstr("the spec has 1 scales, the export has scale 1"));
  }
}

TEST(DvidSpec, OfAVolumeHasItsSizesAndNoOffset) {
  VolumeInfo info = Must(ParseVolumeInfo(Spec("100, 70, 64")));
  info.data_type = DataType::kUint32;
  info.mesh = "mesh";
  info.scales[0].voxel_offset = {10, 20, 30};
  const VolumeInfo spec = SpecOf(info);
  EXPECT_EQ(spec.data_type, DataType::kUint64);
  EXPECT_EQ(spec.mesh, std::nullopt);
  EXPECT_EQ(spec.scales[0].size, (Vec3{110, 90, 94}));
  EXPECT_EQ(spec.scales[0].voxel_offset, (Vec3{0, 0, 0}));
  EXPECT_EQ(spec.scales[0].resolution, (Resolution{8, 8, 8}));
  EXPECT_TRUE(spec.scales[0].sharding);
  info.scales[0].chunk_sizes = {{32, 32, 32}};
  EXPECT_FALSE(SpecOf(info).scales[0].sharding);
  EXPECT_FALSE(
      SpecOf(Must(ParseVolumeInfo(Spec("1024, 1024, 1024", "4")))).scales[0].sharding)
      << "its shards are not cubes";
}

TEST_F(DvidExportTest, IsNoVolumeWithoutShards) {
  EXPECT_FALSE(Must(Volume::OpenExport(location_.Child("none"), false, {})));
}

}  // namespace
}  // namespace dolium::volume
