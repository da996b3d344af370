// Sparse volumes: work goes by what is there, and gives what a look at each cell gives.
#include "dolium/ops/volume/volume_occupied.h"

#include <filesystem>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/dvid/testing/blocks.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {
namespace {

class SparseVolumeTest : public testing::Test {
 protected:
  Location At(const std::string& name) const { return Must(ParseLocation(Text(name))); }
  std::string Text(const std::string& name) const { return folder_.path() + "/" + name; }

  static dvid::TestBlock MakeBlock(const dvid::Key& key) {
    return {key, dvid::TestVoxels(static_cast<uint64_t>(key[0] + 3 * key[1]), 9)};
  }

  TranscodeRequest Request(const std::string& source, const std::string& target) const {
    TranscodeRequest request;
    request.source = Text(source);
    request.target = Text(target);
    return request;
  }
  static PyramidRequest Pyramid(size_t scales) {
    PyramidRequest pyramid;
    pyramid.scales = scales;
    pyramid.factor = Vec3{2, 2, 2};
    pyramid.ignore_zero = true;
    return pyramid;
  }

  // Labels of one block of a scale.
  std::vector<uint64_t> ReadBlock(const std::string& volume, const dvid::Key& key) const {
    const auto scale = Must(Must(OpenVolume(At(volume))).OpenCopy(0));
    Box box;
    for (size_t d = 0; d < 3; ++d) {
      box.begin[d] = int64_t{key[d]} * 64;
      box.end[d] = box.begin[d] + 64;
    }
    std::vector<uint64_t> voxels(dvid::kTestVoxels);
    Must(scale->Read(
        box, MutableVoxelView::Dense(scale->ShapeOf(box),
                                     reinterpret_cast<std::byte*>(voxels.data()))));
    return voxels;
  }
  void ExpectBlock(const std::string& volume, const dvid::TestBlock& block) const {
    std::vector<uint64_t> labels = block.voxels;
    for (uint64_t& label : labels) label = dvid::LabelOf(label);
    EXPECT_TRUE(ReadBlock(volume, block.key) == labels) << volume;
  }

  // All files below a folder, with their bytes.
  std::map<std::string, std::string> Files(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Text(name))) {
      if (!entry.is_regular_file()) continue;
      const Location file = Must(ParseLocation(entry.path().string()));
      files[entry.path().lexically_relative(Text(name))] =
          std::string(AsText(Must(file.store->ReadWhole(file.path, 1 << 30)).bytes));
    }
    return files;
  }

  const dvid::TestBlock near_ = MakeBlock({0, 0, 0});
  const dvid::TestBlock far_ = MakeBlock({20000, 10000, 5000});
  const TemporaryFolder folder_;
};

TEST_F(SparseVolumeTest, TwoBlocksFarApartAreAFewParts) {
  // By corners that give an immense side, in one file, and in one with another name.
  dvid::WriteTestShard(At("corners/s0/0_0_0.arrow"), {near_});
  dvid::WriteTestShard(At("corners/s0/1280000_640000_320000.arrow"), {far_});
  dvid::WriteTestShard(At("one/s0/0_0_0.arrow"), {near_, far_});
  dvid::WriteTestShard(At("named/s0/a.arrow"), {far_, near_});
  for (const std::string name : {"corners", "one", "named"}) {
    TranscodeRequest request = Request(name, name + "-v");
    request.pyramid = Pyramid(2);
    const Plan plan = Must(PlanTranscode(request));
    EXPECT_EQ(plan.parts, 6U) << name << ": two for each scale";
    const JobReport report = Must(RunPlan(BuiltinFormats(), plan, {}));
    EXPECT_EQ(report.written.entries, 6U);
    ExpectBlock(name + "-v", near_);
    ExpectBlock(name + "-v", far_);

    DvidWriteRequest write;
    write.source = Text(name);
    write.target = Text(name + "-e");
    EXPECT_EQ(Must(WriteDvidExport(write, {})).written.objects, 4U);
    ExpectBlock(name + "-e", far_);
    write.source = Text(name + "-v");
    write.target = Text(name + "-ve");
    write.scales = {0};
    EXPECT_EQ(Must(WriteDvidExport(write, {})).written.objects, 4U);
    ExpectBlock(name + "-ve", near_);
    ExpectBlock(name + "-ve", far_);
  }
}

TEST_F(SparseVolumeTest, SparseVolumesAreTranscodedAndDownsampledByTheirShards) {
  dvid::WriteTestShard(At("e/s0/0_0_0.arrow"), {near_, far_});
  Must(RunPlan(BuiltinFormats(), Must(PlanTranscode(Request("e", "v"))), {}));
  TranscodeRequest request = Request("v", "smaller");
  request.storage.chunk_size = Vec3{32, 32, 32};
  const Plan plan = Must(PlanTranscode(request));
  EXPECT_EQ(plan.parts, 2U);
  Must(RunPlan(BuiltinFormats(), plan, {}));
  ExpectBlock("smaller", far_);
  DownsampleRequest downsample;
  downsample.volume = Text("v");
  downsample.pyramid = Pyramid(3);
  const Plan coarser = Must(PlanDownsample(downsample));
  EXPECT_EQ(coarser.parts, 6U);
  EXPECT_EQ(Must(RunPlan(BuiltinFormats(), coarser, {})).written.entries, 6U);
}

TEST_F(SparseVolumeTest, ChunksInFilesAreFoundByTheirNames) {
  dvid::WriteTestShard(At("e/s0/0_0_0.arrow"), {near_, far_});
  TranscodeRequest request = Request("e", "v");
  request.sharded = false;
  Must(RunPlan(BuiltinFormats(), Must(PlanTranscode(request)), {}));
  for (const bool sharded : {true, false}) {
    SCOPED_TRACE(sharded);
    const std::string target = sharded ? "shards" : "files";
    request = Request("v", target);
    request.sharded = sharded;
    request.pyramid = Pyramid(2);
    const Plan plan = Must(PlanTranscode(request));
    EXPECT_EQ(plan.parts, 6U);
    EXPECT_EQ(Must(RunPlan(BuiltinFormats(), plan, {})).written.entries, 6U);
    ExpectBlock(target, near_);
    ExpectBlock(target, far_);
  }
  // What cannot be read as it is stored is an error, and not absent.
  const std::string key = Must(Volume::Open(At("v"))).info().scales[0].key;
  const std::string name = Text("v/" + key + "/0-64_0-64_0-64");
  std::filesystem::rename(name, name + ".xz");
  const auto failed =
      RunPlan(BuiltinFormats(), Must(PlanTranscode(Request("v", "odd"))), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnsupported);
}

// One shard for all cells: its index says which chunks there are.
TEST_F(SparseVolumeTest, AShardOfVeryManyCellsIsMadeOfThoseThatAreThere) {
  dvid::WriteTestShard(At("e/s0/0_0_0.arrow"), {near_, far_});
  TranscodeRequest request = Request("e", "v");
  request.storage.sharding = neuroglancer::ShardingSpec{.preshift_bits = 60};
  const Plan plan = Must(PlanTranscode(request));
  EXPECT_EQ(plan.parts, 1U);
  EXPECT_EQ(Must(RunPlan(BuiltinFormats(), plan, {})).written.entries, 2U);
  const Plan again = Must(PlanTranscode(Request("v", "again")));
  EXPECT_EQ(again.parts, 1U);
  EXPECT_EQ(Must(RunPlan(BuiltinFormats(), again, {})).written.entries, 2U);
  ExpectBlock("again", near_);
  ExpectBlock("again", far_);
  TranscodeRequest others = Request("v", "others");
  others.sharded = true;
  EXPECT_EQ(Must(PlanTranscode(others)).parts, 2U);
}

TEST_F(SparseVolumeTest, GivesWhatALookAtEachCellGives) {
  // Shards of 2 x 2 x 2 blocks of which most are missing, and some lack blocks.
  std::map<dvid::Key, std::vector<dvid::TestBlock>> shards;
  for (const dvid::Key& key : std::vector<dvid::Key>{
           {0, 0, 0}, {1, 1, 1}, {4, 0, 3}, {5, 1, 2}, {7, 7, 7}, {2, 6, 0}, {8, 3, 5}}) {
    shards[{key[0] / 2 * 128, key[1] / 2 * 128, key[2] / 2 * 128}].push_back(
        MakeBlock(key));
  }
  for (const auto& [corner, blocks] : shards) {
    dvid::WriteTestShard(At("e/s0/" + dvid::ToString(corner) + ".arrow"), blocks);
  }
  TranscodeRequest files = Request("e", "files");
  files.sharded = false;
  Must(RunPlan(BuiltinFormats(), Must(PlanTranscode(files)), {}));
  // Where there may be chunks in folders within folders, names do not suffice.
  const std::string key = Must(Volume::Open(At("files"))).info().scales[0].key;
  std::filesystem::create_directory(Text("files/" + key + "/0-64"));
  std::map<std::string, Plan> plans;
  for (const std::string name : {"e", "files"}) {
    TranscodeRequest request = Request(name, name + "-v");
    request.sharded = true;
    request.storage.shard_bytes = 8 * dvid::kTestVoxels * sizeof(uint64_t);
    request.pyramid = Pyramid(2);
    plans[name] = Must(PlanTranscode(request));
    Must(RunPlan(BuiltinFormats(), plans[name], {}));
    DvidWriteRequest write;
    write.source = Text(name + "-v");
    write.target = Text(name + "-again");
    write.shard_side = 128;
    Must(WriteDvidExport(write, {}));
  }
  EXPECT_LT(plans["e"].parts, plans["files"].parts) << "files are looked for";
  EXPECT_TRUE(Files("e-v") == Files("files-v"));
  EXPECT_TRUE(Files("e-again") == Files("files-again"));
  EXPECT_GT(Files("e-v").size(), 8U);
}

TEST_F(SparseVolumeTest, AVolumeOfNothingIsMadeOfNoParts) {
  dvid::WriteTestShard(At("e/s0/0_0_0.arrow"), {far_});
  TranscodeRequest request = Request("e", "v");
  request.exported.spec = R"({"@type":"neuroglancer_multiscale_volume",
      "type":"segmentation","data_type":"uint64","num_channels":1,"scales":[{
      "key":"s","size":[640,640,640],"resolution":[8,8,8],"voxel_offset":[0,0,0],
      "chunk_sizes":[[64,64,64]],"encoding":"raw"}]})";
  const Plan plan = Must(PlanTranscode(request));
  EXPECT_EQ(plan.parts, 0U);
  EXPECT_EQ(Must(RunPlan(BuiltinFormats(), plan, {})).written.entries, 0U);
  EXPECT_EQ(ReadBlock("v", {1, 1, 1}), std::vector<uint64_t>(dvid::kTestVoxels));
}

TEST_F(SparseVolumeTest, MapsCellsBothWays) {
  dvid::WriteTestShard(At("e/s0/0_0_0.arrow"), {near_, MakeBlock({3, 2, 1})});
  TranscodeRequest request = Request("e", "v");
  request.storage.chunk_size = Vec3{32, 64, 128};
  request.pyramid = Pyramid(1);
  Must(RunPlan(BuiltinFormats(), Must(PlanTranscode(request)), {}));
  const Volume from = Must(OpenVolume(At("e")));
  const Volume to = Must(Volume::Open(At("v")));
  const auto source = Must(from.OpenCopy(0));
  const auto target = Must(to.OpenCopy(0));
  const ScalePair pair{*source, *target};
  EXPECT_EQ(pair.TargetCells({{3, 2, 1}, {4, 3, 2}}), (Box{{6, 2, 0}, {8, 3, 1}}));
  EXPECT_EQ(pair.SourceCells({{6, 2, 0}, {7, 3, 1}}), (Box{{3, 2, 0}, {4, 3, 2}}));
  EXPECT_THAT(
      Must(FindOccupiedCells(pair, target->grid().cells())),
      testing::ElementsAre(Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{6, 2, 0}, Vec3{7, 2, 0}));
  const auto coarse = Must(to.OpenCopy(1));
  EXPECT_THAT(
      Must(FindOccupiedCells({*target, *coarse, {2, 2, 2}}, coarse->grid().cells())),
      testing::ElementsAre(Vec3{0, 0, 0}, Vec3{3, 1, 0}));
}

}  // namespace
}  // namespace dolium::volume
