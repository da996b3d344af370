#include "dolium/ops/skeleton/skeleton_make.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/skeleton/testing/label_shapes.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"

namespace dolium::skeleton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SkeletonMakeTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // A fork with the label 7, a tube with 9, a ball with 3 that has no more than some
  // hundred voxels. The volume begins at 10, 20, 30.
  static LabelShapes Shapes() {
    LabelShapes shapes({130, 130, 70}, {16, 16, 16});
    shapes.AddTube(7, {100, 1000, 560}, {1000, 1000, 560}, 120);
    shapes.AddTube(7, {1000, 1000, 560}, {1950, 300, 200}, 100);
    shapes.AddTube(7, {1000, 1000, 560}, {1950, 1800, 900}, 100);
    shapes.AddTube(9, {200, 200, 200}, {200, 1800, 200}, 80);
    shapes.AddTube(3, {500, 200, 800}, {500, 200, 800}, 60);
    return shapes;
  }

  void MakeVolume(volume::DataType type = volume::DataType::kUint32) const {
    const LabelShapes shapes = Shapes();
    volume::VolumeInfo info;
    info.type = volume::VolumeType::kSegmentation;
    info.data_type = type;
    volume::ScaleInfo scale;
    scale.resolution = shapes.resolution();
    scale.key = "16_16_16";
    scale.size = shapes.size();
    scale.voxel_offset = {10, 20, 30};
    scale.chunk_sizes = {{32, 32, 32}};
    info.scales = {scale};
    const auto volume =
        Must(volume::Volume::Create(Must(ParseLocation(Path("seg"))), info));
    if (type != volume::DataType::kUint32) return;
    const auto whole = Must(volume.OpenScale(0));
    Must(whole->Write(whole->bounds(),
                      volume::VoxelView::Dense(
                          {shapes.size(), 1, type},
                          reinterpret_cast<const std::byte*>(shapes.labels().data()))));
  }

  SkeletonMakeRequest RequestFor(const std::string& target) const {
    SkeletonMakeRequest request;
    request.volume = Path("seg");
    if (!target.empty()) request.target = Path(target);
    request.block_side = 32;
    request.tick = 300;  // the branches are hardly longer than the usual one
    return request;
  }

  SkeletonSource Open(const std::string& name) const {
    return Must(SkeletonSource::Open(Must(ParseLocation(Path(name)))));
  }

  static std::map<std::string, std::string> FilesOf(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files[entry.path().lexically_relative(folder).string()] =
          std::string(std::istreambuf_iterator<char>(in), {});
    }
    return files;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(SkeletonMakeTest, MakesASkeletonOfEachLabelAndNamesThemInTheInfo) {
  MakeVolume();
  SkeletonMakeChoice choice;
  const JobReport report =
      Must(MakeSkeletonsOf(RequestFor(""), {}, [&](const auto& made) { choice = made; }));
  EXPECT_EQ(report.written.entries, 2U);
  EXPECT_TRUE(choice.is_registered);
  EXPECT_EQ(choice.block, (volume::Vec3{32, 32, 32}));
  const auto volume = Must(volume::Volume::Open(Must(ParseLocation(Path("seg")))));
  EXPECT_EQ(volume.info().skeletons, "skeletons");
  const SkeletonSource source = Open("seg/skeletons");
  EXPECT_THAT(Must(source.ListIds()), ElementsAre(7, 9));
  EXPECT_THAT(source.info().attributes, ElementsAre(Attribute{.id = "radius"}));
  EXPECT_TRUE(IsShownByClients(source.info()));
  const auto fork = Must(source.Get(7));
  ASSERT_TRUE(fork);
  EXPECT_EQ(TreesOf(*fork), 1U);
  EXPECT_EQ(EndsOf(*fork), 3U);
  EXPECT_NEAR(LengthOf(*fork), 3742, 0.1 * 3742);
  const auto tube = Must(source.Get(9));
  ASSERT_TRUE(tube);
  EXPECT_EQ(TreesOf(*tube), 1U);
  EXPECT_EQ(EndsOf(*tube), 2U);
  EXPECT_NEAR(LengthOf(*tube), 1760, 100);
  // With the offset of the volume.
  for (const Point& at : tube->vertices) {
    EXPECT_NEAR(at[0], 200 + 160, 60);
    EXPECT_NEAR(at[2], 200 + 480, 60);
  }
}

TEST_F(SkeletonMakeTest, MakesTheSameInShardsAndFromBlocksOfOtherSizes) {
  MakeVolume();
  Must(MakeSkeletonsOf(RequestFor("files"), {}));
  SkeletonMakeRequest request = RequestFor("shards");
  request.sharded = true;
  request.cross_sections = true;
  Must(MakeSkeletonsOf(request, {}));
  const SkeletonSource files = Open("files");
  const SkeletonSource shards = Open("shards");
  EXPECT_TRUE(shards.storage().is_sharded());
  EXPECT_THAT(Must(shards.ListIds()), ElementsAre(7, 9));
  EXPECT_EQ(shards.info().attributes.size(), 2U);
  EXPECT_EQ(shards.info().attributes.back().id, "cross_sectional_area");
  for (const int64_t side : {48, 96, 200}) {
    SkeletonMakeRequest other = RequestFor("side" + std::to_string(side));
    other.block_side = side;
    Must(MakeSkeletonsOf(other, {}));
    const SkeletonSource made = Open("side" + std::to_string(side));
    for (const uint64_t id : {uint64_t{7}, uint64_t{9}}) {
      const auto expected = Must(files.Get(id));
      const auto found = Must(made.Get(id));
      ASSERT_TRUE(found) << id;
      EXPECT_EQ(TreesOf(*found), 1U);
      EXPECT_EQ(EndsOf(*found), EndsOf(*expected));
      EXPECT_NEAR(LengthOf(*found), LengthOf(*expected), 0.15 * LengthOf(*expected));
    }
  }
}

TEST_F(SkeletonMakeTest, TakesTheLabelsThatAreListed) {
  MakeVolume();
  SkeletonMakeRequest request = RequestFor("some");
  request.segments = {3, 9, 9, 12};
  request.min_voxels = 0;
  request.dust = 0;
  Must(MakeSkeletonsOf(request, {}));
  EXPECT_THAT(Must(Open("some").ListIds()), ElementsAre(3, 9));
}

TEST_F(SkeletonMakeTest, GoesOnAfterItWasStopped) {
  MakeVolume();
  Must(MakeSkeletonsOf(RequestFor("whole"), {}));
  const SkeletonMakeRequest request = RequestFor("target");
  const Plan plan = Must(PlanSkeletonMake(request));
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.kind, "skeleton-make");
  // A few tasks, as other processes do them, and one of the second stage too early.
  for (size_t i = 0; i < 5; ++i) {
    Must(RunTask(BuiltinFormats(), plan.stages[0][i], {}));
  }
  const auto early = RunTask(BuiltinFormats(), plan.stages[1][0], {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(early.error().message, HasSubstr("is not done yet"));
  // With other memory: the blocks are those that it began with.
  SkeletonMakeRequest again = request;
  again.block_side = 64;
  const JobReport report = Must(MakeSkeletonsOf(again, {}));
  EXPECT_EQ(report.parts_done_before, 5U);
  EXPECT_EQ(report.parts, plan.parts);
  EXPECT_EQ(FilesOf(Path("target")), FilesOf(Path("whole")));
}

TEST_F(SkeletonMakeTest, RefusesWhatIsThereAndReplacesSkeletonsAlone) {
  MakeVolume();
  Must(MakeSkeletonsOf(RequestFor("target"), {}));
  SkeletonMakeRequest request = RequestFor("target");
  request.min_voxels = 2;
  const auto there = MakeSkeletonsOf(request, {});
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, ErrorCode::kExists);
  request.force = true;
  request.dust = 0;
  Must(MakeSkeletonsOf(request, {}));
  EXPECT_THAT(Must(Open("target").ListIds()), ElementsAre(3, 7, 9));
  std::ofstream(Path("target/notes.txt")) << "mine";
  request.min_voxels = 3;
  const auto foreign = MakeSkeletonsOf(request, {});
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("holds \"notes.txt\""));
}

TEST_F(SkeletonMakeTest, RefusesWhatIsNoSegmentation) {
  MakeVolume(volume::DataType::kFloat32);
  const auto made = MakeSkeletonsOf(RequestFor("target"), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(made.error().message, HasSubstr("has 1 channels of float32"));
}

TEST_F(SkeletonMakeTest, RefusesNumbersThatAreNoLengths) {
  MakeVolume();
  SkeletonMakeRequest request = RequestFor("target");
  request.teasar.constant = -1;
  const auto made = MakeSkeletonsOf(request, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "-1 is no length or factor, expected 0 or more");
  request.teasar.constant = 300;
  request.scale = 3;
  const auto scale = MakeSkeletonsOf(request, {});
  ASSERT_FALSE(scale);
  EXPECT_THAT(scale.error().message, HasSubstr("no scale 3; the volume has 1"));
}

TEST_F(SkeletonMakeTest, ChoosesBlocksByMemory) {
  MakeVolume();
  SkeletonMakeRequest request = RequestFor("target");
  request.block_side = std::nullopt;
  RunOptions options;
  options.writer.jobs = 2;
  options.writer.memory = uint64_t{2} * 80 * 70 * 70 * 70;
  SkeletonMakeChoice choice;
  Must(PlanSkeletonMake(request, options, [&](const auto& made) { choice = made; }));
  EXPECT_EQ(choice.block, (volume::Vec3{64, 64, 64}));
}

}  // namespace
}  // namespace dolium::skeleton
