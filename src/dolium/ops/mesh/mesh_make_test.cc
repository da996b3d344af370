#include "dolium/ops/mesh/mesh_make.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/mesh/testing/labels.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"

namespace dolium::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using volume::Vec3;

// Of the test volume, which begins at 10, 20, 30.
constexpr Vec3 kSize = {70, 60, 50};

uint64_t LabelOf(double x, double y, double z) {
  if (std::hypot(x - 45, y - 50, z - 52) < 17) return 5;
  if (x < 30 && y < 40) return uint64_t{1} << 40;
  if (std::hypot(x - 70, y - 70, z - 70) < 3) return 9;
  return 0;
}

class MeshMakeTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  static volume::VolumeInfo InfoOf(volume::DataType type) {
    volume::VolumeInfo info;
    info.type = volume::VolumeType::kSegmentation;
    info.data_type = type;
    for (const double factor : {1.0, 2.0}) {
      volume::ScaleInfo scale;
      scale.resolution = {8 * factor, 8 * factor, 20};
      scale.key = volume::DefaultScaleKey(scale.resolution);
      scale.size = {static_cast<int64_t>(70 / factor), static_cast<int64_t>(60 / factor),
                    50};
      scale.voxel_offset = {static_cast<int64_t>(10 / factor),
                            static_cast<int64_t>(20 / factor), 30};
      scale.chunk_sizes = {{16, 16, 16}};
      info.scales.push_back(scale);
    }
    return info;
  }

  // Both scales have the labels.
  void MakeVolume(const std::string& name) const {
    const auto made = Must(volume::Volume::Create(Must(ParseLocation(Path(name))),
                                                  InfoOf(volume::DataType::kUint64)));
    for (size_t i = 0; i < 2; ++i) {
      const auto scale = Must(made.OpenScale(i));
      const volume::Box bounds = scale->bounds();
      const double factor = i == 0 ? 1 : 2;
      std::vector<uint64_t> labels;
      for (int64_t z = bounds.begin[2]; z < bounds.end[2]; ++z) {
        for (int64_t y = bounds.begin[1]; y < bounds.end[1]; ++y) {
          for (int64_t x = bounds.begin[0]; x < bounds.end[0]; ++x) {
            labels.push_back(LabelOf((static_cast<double>(x) + 0.5) * factor,
                                     (static_cast<double>(y) + 0.5) * factor,
                                     static_cast<double>(z) + 0.5));
          }
        }
      }
      const auto view =
          volume::VoxelView::Dense({bounds.size(), 1, volume::DataType::kUint64},
                                   reinterpret_cast<const std::byte*>(labels.data()));
      ASSERT_TRUE(scale->Write(bounds, view));
    }
  }

  MeshMakeRequest RequestFor(const std::string& target) const {
    MeshMakeRequest request;
    request.volume = Path("seg");
    if (!target.empty()) request.target = Path(target);
    request.scale = 0;
    return request;
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

  MeshSource Open(const std::string& name) const {
    return Must(MeshSource::Open(Must(ParseLocation(Path(name)))));
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(MeshMakeTest, MakesAMeshOfEachLabelAndNamesThemInTheInfo) {
  MakeVolume("seg");
  MeshMakeChoice choice;
  const JobReport report =
      Must(MakeMeshes(RequestFor(""), {}, [&](const auto& made) { choice = made; }));
  EXPECT_EQ(report.written.entries, 3U);
  EXPECT_TRUE(choice.is_registered);
  EXPECT_EQ(choice.error, 20);
  const auto made = Must(volume::Volume::Open(Must(ParseLocation(Path("seg")))));
  EXPECT_EQ(made.info().mesh, "mesh");
  const MeshSource meshes = Open("seg/mesh");
  EXPECT_THAT(Must(meshes.ListIds()), ElementsAre(5, 9, uint64_t{1} << 40));
  const auto ball = Must(meshes.Get(5));
  ASSERT_TRUE(ball);
  const Topology topology = TopologyOf(*ball);
  EXPECT_EQ(topology.open_sides, 0U);
  EXPECT_EQ(topology.euler, 2);
  Point low = ball->vertices.front();
  Point high = low;
  for (const Point& vertex : ball->vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  // In nanometres, from the origin of all voxels.
  const std::array<double, 3> centre = {45 * 8, 50 * 8, 52 * 20};
  const std::array<double, 3> size = {34 * 8, 34 * 8, 34 * 20};
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR((low[d] + high[d]) / 2, centre[d], 10);
    EXPECT_NEAR(high[d] - low[d], size[d], size[d] * 0.1);
  }
  EXPECT_FALSE(std::filesystem::exists(Path("seg/mesh/.dolium-plan")));
}

TEST_F(MeshMakeTest, MakesTheSameWhateverBlocksAndThreads) {
  MakeVolume("seg");
  for (const bool sharded : {false, true}) {
    std::optional<std::map<std::string, std::string>> expected;
    for (const int64_t side : {256, 32, 16}) {
      const std::string target = fmt::format("meshes-{}-{}", sharded, side);
      MeshMakeRequest request = RequestFor(target);
      request.sharded = sharded;
      request.block_side = side;
      request.levels = 3;
      RunOptions options;
      options.writer.jobs = side == 32 ? 1 : 4;
      Must(MakeMeshes(request, options));
      const auto made = FilesOf(Path(target));
      if (!expected) expected = made;
      EXPECT_EQ(made, *expected) << "blocks of " << side;
    }
    EXPECT_EQ(expected->contains("5.index"), !sharded);
    EXPECT_EQ(expected->contains("0.shard"), sharded);
  }
}

TEST_F(MeshMakeTest, ChoosesAScaleThatIsNearlyIsotropic) {
  MakeVolume("seg");
  MeshMakeChoice choice;
  MeshMakeRequest request = RequestFor("meshes");
  request.scale.reset();
  Must(MakeMeshes(request, {}, [&](const auto& made) { choice = made; }));
  EXPECT_EQ(choice.scale, 1U);
  EXPECT_EQ(choice.resolution, (volume::Resolution{16, 16, 20}));
  EXPECT_FALSE(choice.is_registered);
  const auto made = Must(volume::Volume::Open(Must(ParseLocation(Path("seg")))));
  EXPECT_FALSE(made.info().mesh);
}

TEST_F(MeshMakeTest, LeavesOutSmallLabelsAndThoseThatNobodyWants) {
  MakeVolume("seg");
  MeshMakeRequest request = RequestFor("large");
  request.min_voxels = 200;
  Must(MakeMeshes(request, {}));
  EXPECT_THAT(Must(Open("large").ListIds()), ElementsAre(5, uint64_t{1} << 40));
  request = RequestFor("some");
  request.segments = {9, 77, 5, 9};
  Must(MakeMeshes(request, {}));
  EXPECT_THAT(Must(Open("some").ListIds()), ElementsAre(5, 9));
}

TEST_F(MeshMakeTest, RunsAsTasksInTwoStages) {
  MakeVolume("seg");
  MeshMakeRequest request = RequestFor("meshes");
  request.block_side = 32;
  const Plan plan = Must(PlanMeshMake(request));
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[0].size(), 12U);
  const auto early = RunTask(BuiltinFormats(), plan.stages[1][0], {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(early.error().message, HasSubstr("is not done yet"));
  for (const std::string& task : plan.tasks()) {
    // Twice does no harm.
    Must(RunTask(BuiltinFormats(), task, {}));
    Must(RunTask(BuiltinFormats(), task, {}));
  }
  const JobReport report = Must(MakeMeshes(request, {}));
  EXPECT_EQ(report.parts_done_before, report.parts);
  Must(MakeMeshes(RequestFor("others"), {}));
  EXPECT_EQ(FilesOf(Path("meshes")), FilesOf(Path("others")));
}

TEST_F(MeshMakeTest, BeginsNothingWhereMeshesAreUnlessForced) {
  MakeVolume("seg");
  Must(MakeMeshes(RequestFor(""), {}));
  const auto again = MakeMeshes(RequestFor(""), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
  MeshMakeRequest request = RequestFor("");
  request.segments = {5};
  request.force = true;
  Must(MakeMeshes(request, {}));
  EXPECT_THAT(Must(Open("seg/mesh").ListIds()), ElementsAre(5));
  std::ofstream(Path("seg/mesh/notes.txt")) << "mine";
  request.segments = {9};
  const auto refused = MakeMeshes(request, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("holds \"notes.txt\""));
}

TEST_F(MeshMakeTest, NoticesThatTheSourceHasChanged) {
  MakeVolume("seg");
  MeshMakeRequest request = RequestFor("meshes");
  const Plan plan = Must(PlanMeshMake(request));
  for (const std::string& task : plan.tasks()) {
    Must(RunTask(BuiltinFormats(), task, {}));
  }
  const auto made = Must(volume::Volume::Open(Must(ParseLocation(Path("seg")))));
  const auto scale = Must(made.OpenScale(0));
  const uint64_t label = 9;
  const volume::Box voxel = {{11, 21, 31}, {12, 22, 32}};
  ASSERT_TRUE(scale->Write(
      voxel, volume::VoxelView::Dense({{1, 1, 1}, 1, volume::DataType::kUint64},
                                      reinterpret_cast<const std::byte*>(&label))));
  const auto finished = MakeMeshes(request, {});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kConflict);
  request.force = true;
  Must(MakeMeshes(request, {}));
}

TEST_F(MeshMakeTest, RefusesWhatIsNoSegmentation) {
  Must(volume::Volume::Create(Must(ParseLocation(Path("image"))),
                              InfoOf(volume::DataType::kFloat32)));
  MeshMakeRequest request = RequestFor("meshes");
  request.volume = Path("image");
  const auto made = MakeMeshes(request, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(made.error().message, HasSubstr("meshes are made of labels"));
  EXPECT_FALSE(std::filesystem::exists(Path("meshes")));
}

TEST_F(MeshMakeTest, RefusesNumbersOutOfRange) {
  MakeVolume("seg");
  const auto refusal = [&](auto change) {
    MeshMakeRequest request = RequestFor("meshes");
    change(request);
    const auto made = PlanMeshMake(request);
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(refusal([](auto& request) { request.bits = 12; }),
              HasSubstr("12 bits, expected 10 or 16"));
  EXPECT_THAT(refusal([](auto& request) { request.error = -1; }),
              HasSubstr("expected 0 or more"));
  EXPECT_THAT(refusal([](auto& request) { request.levels = 0; }),
              HasSubstr("expected 1 to 32"));
  EXPECT_THAT(refusal([](auto& request) { request.scale = 2; }),
              HasSubstr("no scale 2; the volume has 2"));
}

}  // namespace
}  // namespace dolium::mesh
