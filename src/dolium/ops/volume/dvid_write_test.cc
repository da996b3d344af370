#include "dolium/ops/volume/dvid_write.h"

#include <filesystem>
#include <stop_token>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/testing/blocks.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/verify_volume.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

class DvidWriteTest : public testing::Test {
 protected:
  Location At(const std::string& name) const {
    return Must(ParseLocation(folder_.path() + "/" + name));
  }
  std::string Text(const std::string& name) const { return folder_.path() + "/" + name; }

  // A volume of 150 x 70 x 66 labels: zero where x is 64 to 127.
  void MakeVolume(const std::string& name, DataType type) const {
    VolumeInfo info;
    info.type = VolumeType::kSegmentation;
    info.data_type = type;
    ScaleInfo scale;
    scale.key = "8_8_8";
    scale.resolution = {8, 8, 8};
    scale.size = kSize;
    scale.chunk_sizes = {{32, 32, 32}};
    info.scales = {scale};
    const Volume volume = Must(Volume::Create(At(name), info));
    const auto opened = Must(volume.OpenCopy(0));
    const ArrayShape shape = opened->ShapeOf(opened->bounds());
    ByteVector bytes(static_cast<size_t>(*shape.bytes()));
    const std::vector<uint64_t> voxels = Voxels();
    for (size_t i = 0; i < voxels.size(); ++i) {
      if (type == DataType::kUint32) {
        StoreLE<uint32_t>(bytes.data() + 4 * i, static_cast<uint32_t>(voxels[i]));
      } else {
        StoreLE<uint64_t>(bytes.data() + 8 * i, voxels[i]);
      }
    }
    Must(opened->Write(opened->bounds(), VoxelView::Dense(shape, bytes.data())));
  }

  static std::vector<uint64_t> Voxels() {
    std::vector<uint64_t> voxels;
    for (int64_t z = 0; z < kSize[2]; ++z) {
      for (int64_t y = 0; y < kSize[1]; ++y) {
        for (int64_t x = 0; x < kSize[0]; ++x) {
          const auto label = static_cast<uint64_t>(1 + x / 9 + 100 * (y / 11) + z / 20);
          voxels.push_back(x >= 64 && x < 128 ? 0 : label);
        }
      }
    }
    return voxels;
  }

  std::vector<uint64_t> Read(const std::string& name) const {
    const Volume volume = Must(OpenVolume(At(name)));
    const auto scale = Must(volume.OpenCopy(0));
    const Box box = {{0, 0, 0}, kSize};
    const ArrayShape shape = scale->ShapeOf(box);
    std::vector<uint64_t> voxels(static_cast<size_t>(*shape.voxels()));
    Must(scale->Read(box, MutableVoxelView::Dense(
                              shape, reinterpret_cast<std::byte*>(voxels.data()))));
    return voxels;
  }

  DvidWriteRequest Request(const std::string& source, const std::string& target) const {
    DvidWriteRequest request;
    request.source = Text(source);
    request.target = Text(target);
    request.shard_side = 64;
    return request;
  }

  static constexpr Vec3 kSize = {150, 70, 66};
  const TemporaryFolder folder_;
};

TEST_F(DvidWriteTest, WritesWhatAVolumeHolds) {
  for (const DataType type : {DataType::kUint32, DataType::kUint64}) {
    MakeVolume("v", type);
    for (const auto layout : {dvid::ShardLayout::kStream, dvid::ShardLayout::kSeed}) {
      DvidWriteRequest request = Request("v", "e");
      request.layout = layout;
      const JobReport report = Must(WriteDvidExport(request, {}));
      EXPECT_EQ(report.parts, 12U);
      EXPECT_EQ(report.written.objects, layout == dvid::ShardLayout::kSeed ? 8U : 16U)
          << "those of zeros are not there";
      EXPECT_EQ(report.written.entries, 8U);
      EXPECT_EQ(Must(ReadMarker(At("e"))), std::nullopt);
      EXPECT_EQ(Read("e"), Voxels());
      EXPECT_EQ(WriteDvidExport(request, {}).error().code, ErrorCode::kExists);
      std::filesystem::remove_all(Text("e"));
    }
    std::filesystem::remove_all(Text("v"));
  }
}

TEST_F(DvidWriteTest, CopiesRowsOfAnotherExportWithBothLists) {
  const auto blocks = std::vector<dvid::TestBlock>{{{0, 0, 0}, dvid::TestVoxels(1, 20)},
                                                   {{1, 0, 0}, dvid::TestVoxels(2, 20)}};
  WriteTestShard(At("e/s0/0_0_0.arrow"), blocks);
  DvidWriteRequest request = Request("e", "copy");
  request.shard_side = 128;
  Must(WriteDvidExport(request, {}));
  const auto read = [&](const std::string& name) {
    const auto whole = Must(At(name).store->ReadWhole(At(name).path, 1 << 30));
    return std::string(AsText(whole.bytes));
  };
  EXPECT_TRUE(read("e/s0/0_0_0.arrow") == read("copy/s0/0_0_0.arrow"));
}

TEST_F(DvidWriteTest, ResumesWhatWasStopped) {
  MakeVolume("v", DataType::kUint64);
  const DvidWriteRequest request = Request("v", "e");
  std::stop_source stop;
  RunOptions options;
  options.writer.jobs = 1;
  options.writer.stop = stop.get_token();
  size_t reported = 0;
  options.progress = [&](const Progress&) {
    if (++reported == 3) stop.request_stop();
  };
  EXPECT_EQ(WriteDvidExport(request, options).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(OpenVolume(At("e")).error().code, ErrorCode::kUnavailable)
      << "an export that carries the marker is not read";
  DvidWriteRequest other = request;
  other.csv = dvid::CsvForm::kDvid;
  EXPECT_THAT(WriteDvidExport(other, {}).error().message,
              HasSubstr("begun by another request"));
  const JobReport report = Must(WriteDvidExport(request, {}));
  EXPECT_GE(report.parts_done_before, 1U);
  EXPECT_EQ(report.parts, 12U);
  EXPECT_EQ(report.written.objects, 16U);
  EXPECT_EQ(Read("e"), Voxels());
}

TEST_F(DvidWriteTest, ReplacesAnExportWithForceAndNothingElse) {
  MakeVolume("v", DataType::kUint64);
  DvidWriteRequest request = Request("v", "e");
  Must(WriteDvidExport(request, {}));
  request.force = true;
  request.shard_side = 128;
  EXPECT_EQ(Must(WriteDvidExport(request, {})).written.objects, 4U);
  EXPECT_EQ(Read("e"), Voxels());
  for (const std::string name :
       {"notes.txt", "notes.csv", "s0/notes.json", "s0/a.arrow", "s0/spec.json",
        "mine/0_0_0.arrow", "s0/deeper/0_0_0.csv"}) {
    const Location mine = At("e/" + name);
    Must(mine.store->Put(mine.path, AsBytes("mine"), Precondition::None()));
    EXPECT_THAT(WriteDvidExport(request, {}).error().message,
                HasSubstr("which is no part of an export"))
        << name;
    EXPECT_TRUE(Must(mine.store->Stat(mine.path))) << name;
    for (const std::string& gone :
         {name, std::string("mine"), std::string("s0/deeper")}) {
      std::filesystem::remove_all(Text("e/" + gone));
    }
  }
  for (const std::string name :
       {"export.log", "spec.json", "s0/64_0_0-offsets.csv", "s0/64_0_0.json"}) {
    const Location owned = At("e/" + name);
    Must(owned.store->Put(owned.path, AsBytes("DVID's"), Precondition::None()));
  }
  Must(WriteDvidExport(request, {}));
  EXPECT_EQ(Read("e"), Voxels());
}

TEST_F(DvidWriteTest, KeepsSizesAndResolutions) {
  MakeVolume("v", DataType::kUint32);
  Must(WriteDvidExport(Request("v", "e"), {}));
  const Volume volume = Must(OpenVolume(At("e")));
  EXPECT_EQ(volume.info().scales[0].size, kSize);
  EXPECT_EQ(volume.info().scales[0].resolution, (Resolution{8, 8, 8}));
  EXPECT_EQ(volume.info().scales[0].key, "8_8_8");
  Must(WriteDvidExport(Request("e", "copy"), {}));
  EXPECT_EQ(Must(OpenVolume(At("copy"))).info(), volume.info());
}

TEST_F(DvidWriteTest, KeepsTheNumbersOfScales) {
  const auto blocks = std::vector<dvid::TestBlock>{{{0, 0, 0}, dvid::TestVoxels(1, 20)}};
  for (const std::string name : {"s1", "s2"}) {
    WriteTestShard(At("e/" + name + "/0_0_0.arrow"), blocks);
  }
  DvidWriteRequest request = Request("e", "copy");
  request.scales = {1};
  Must(WriteDvidExport(request, {}));
  EXPECT_FALSE(std::filesystem::exists(Text("copy/s0")));
  EXPECT_FALSE(std::filesystem::exists(Text("copy/s1")));
  EXPECT_TRUE(std::filesystem::exists(Text("copy/s2/0_0_0.arrow")));
  const auto scales = Must(OpenVolume(At("e"))).info().scales;
  EXPECT_EQ(Must(OpenVolume(At("copy"))).info().scales,
            std::vector<ScaleInfo>{scales[1]});
}

TEST_F(DvidWriteTest, DoesNotCopyDamage) {
  const auto blocks = std::vector<dvid::TestBlock>{{{0, 0, 0}, dvid::TestVoxels(1, 20)},
                                                   {{1, 0, 0}, dvid::TestVoxels(2, 20)}};
  const Location object = At("e/s0/0_0_0.arrow");
  WriteTestShard(object, blocks);
  const auto whole = Must(object.store->ReadWhole(object.path, 1 << 30));
  ByteVector bytes(whole.bytes.view().begin(), whole.bytes.view().end());
  bytes[bytes.size() - 2000] ^= std::byte{1};  // in the block of the last row
  Must(object.store->Put(object.path, bytes, Precondition::None()));
  DvidWriteRequest request = Request("e", "copy");
  const auto refused = WriteDvidExport(request, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("e/s0/0_0_0.arrow: 1_0_0: "));
  request.target = Text("salvaged");
  request.exported.salvage = true;
  const JobReport report = Must(WriteDvidExport(request, {}));
  EXPECT_EQ(report.written.entries, 1U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].key, "1_0_0");
}

TEST_F(DvidWriteTest, WritesNothingOfADamagedExport) {
  MakeVolume("v", DataType::kUint64);
  Must(WriteDvidExport(Request("v", "e"), {}));
  const Location object = At("e/s0/0_0_0.arrow");
  const auto whole = Must(object.store->ReadWhole(object.path, 1 << 30));
  ByteVector twice(whole.bytes.view().begin(), whole.bytes.view().end());
  Append(twice, whole.bytes);
  Must(object.store->Put(object.path, twice, Precondition::None()));
  std::vector<std::string> seen;
  const FindingVisitor visitor = [&](const Finding& finding) {
    if (finding.severity == Severity::kError) seen.push_back(finding.kind);
  };
  TranscodeRequest transcode;
  transcode.source = Text("e");
  transcode.target = Text("out");
  const auto volume = PlanTranscode(transcode, {}, visitor);
  ASSERT_FALSE(volume);
  EXPECT_EQ(volume.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(volume.error().hint, Hint::kSalvage);
  const auto copy = PlanDvidExport(Request("e", "out"), {}, visitor);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(seen, (std::vector<std::string>{"rerun", "rerun"}));
  EXPECT_FALSE(std::filesystem::exists(Text("out")));
}

TEST_F(DvidWriteTest, IsPlannedWithWhatIsDone) {
  MakeVolume("v", DataType::kUint64);
  DvidWriteRequest request = Request("v", "e");
  Must(WriteDvidExport(request, {}));
  request.force = true;
  request.csv = dvid::CsvForm::kDvid;
  const Plan plan = Must(PlanDvidExport(request));
  EXPECT_EQ(plan.kind, "dvid");
  EXPECT_EQ(plan.folder, Text("e.dolium-new"));
  EXPECT_EQ(plan.target, Text("e"));
  EXPECT_EQ(plan.parts, 12U);
  EXPECT_EQ(plan.entries, 12U);
  ASSERT_EQ(plan.tasks().size(), 12U);
  Must(RunTask(BuiltinFormats(), plan.tasks()[3], {}));
  const Plan rest = Must(PlanDvidExport(request));
  EXPECT_EQ(rest.tasks().size(), 11U);
  EXPECT_EQ(rest.parts, 12U);
  EXPECT_EQ(rest.parts_done, 1U);
  EXPECT_EQ(rest.entries_done, 1U);
  EXPECT_EQ(Must(RunPlan(BuiltinFormats(), rest, {})).parts_done_before, 1U);
  EXPECT_EQ(Read("e"), Voxels());
}

TEST_F(DvidWriteTest, CopiesBlocksWhoseLabelsAloneAreZero) {
  // Supervoxels of a body that was deleted.
  const Location object = At("e/s0/0_0_0.arrow");
  const ByteVector block =
      dvid::EncodeBlock(dvid::kTestGrid, std::vector<uint64_t>(dvid::kTestVoxels, 5));
  const auto parsed = Must(dvid::LabelBlock::Parse(block));
  const ByteVector zero(sizeof(uint64_t));
  const auto writer = Must(dvid::DvidShardWriter::Begin(object, {}));
  Must(writer->Add({.block = {0, 0, 0},
                    .labels = dvid::LabelList(zero),
                    .supervoxels = parsed.labels(),
                    .stored = ZstdEncodeChecked(block),
                    .uncompressed_size = static_cast<uint32_t>(block.size())}));
  Must(writer->Finish());
  EXPECT_EQ(Must(WriteDvidExport(Request("e", "copy"), {})).written.entries, 1U);
}

TEST_F(DvidWriteTest, RefusesACsvWhereThereIsNone) {
  DvidWriteRequest request = Request("v", "e");
  request.layout = dvid::ShardLayout::kSeed;
  request.csv = dvid::CsvForm::kDvid;
  EXPECT_EQ(WriteDvidExport(request, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DvidWriteTest, VerifyTellsWhatDoesNotGoWithTheSpec) {
  MakeVolume("v", DataType::kUint64);
  Must(WriteDvidExport(Request("v", "e"), {}));
  const auto verify = [&] {
    const auto container = Must(dvid::kFormat.open(At("e"), {}));
    std::vector<Finding> findings;
    const VerifyReport report =
        Must(VerifyExport(*container, {}, {},
                          [&](const Finding& finding) { findings.push_back(finding); }));
    EXPECT_EQ(report.errors + report.warnings, findings.size());
    return findings;
  };
  EXPECT_TRUE(verify().empty());
  const Location spec = At("e/spec.json");
  const auto whole = Must(spec.store->ReadWhole(spec.path, 1 << 20));
  std::string text(AsText(whole.bytes));
  text.replace(text.find("150"), 3, "128");
  Must(spec.store->Put(spec.path, AsBytes(text), Precondition::None()));
  const auto outside = verify();
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(outside[0].severity, Severity::kWarning);
  EXPECT_EQ(outside[0].kind, "outside");
  EXPECT_THAT(outside[0].message, HasSubstr("4 of 8 blocks lie outside"));
  Must(spec.store->Put(spec.path, AsBytes("{}"), Precondition::None()));
  const auto bad = verify();
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].severity, Severity::kError);
  EXPECT_EQ(bad[0].kind, "spec");
}

TEST_F(DvidWriteTest, ConvertsBackToAVolume) {
  MakeVolume("v", DataType::kUint64);
  Must(WriteDvidExport(Request("v", "e"), {}));
  TranscodeRequest request;
  request.source = Text("e");
  request.target = Text("w");
  request.pyramid.emplace().scales = 1;
  const Plan plan = Must(PlanTranscode(request));
  Must(RunPlan(BuiltinFormats(), plan, {}));
  const VolumeInfo info = Must(OpenVolume(Must(ParseLocation(request.target)))).info();
  ASSERT_EQ(info.scales.size(), 2U);
  EXPECT_TRUE(info.scales[0].sharding);
  EXPECT_EQ(info.scales[0].encoding.encoding, Encoding::kCompressedSegmentation);
  EXPECT_EQ(Read("w"), Voxels());
}

TEST_F(DvidWriteTest, RefusesWhatAnExportCannotHold) {
  VolumeInfo info;
  info.type = VolumeType::kImage;
  info.data_type = DataType::kUint8;
  ScaleInfo scale;
  scale.key = "1_1_1";
  scale.size = {10, 10, 10};
  scale.chunk_sizes = {{10, 10, 10}};
  info.scales = {scale};
  Must(Volume::Create(At("image"), info));
  EXPECT_EQ(WriteDvidExport(Request("image", "e"), {}).error().code,
            ErrorCode::kUnsupported);
  DownsampleRequest downsample;
  MakeVolume("v", DataType::kUint64);
  Must(WriteDvidExport(Request("v", "x"), {}));
  downsample.volume = Text("x");
  EXPECT_EQ(PlanDownsample(downsample).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace dolium::volume
