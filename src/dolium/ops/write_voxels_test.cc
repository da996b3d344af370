#include "dolium/ops/write_voxels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/builtin.h"

namespace dolium {
namespace {

using ::testing::HasSubstr;

TEST(VoxelTargets, SayWhatTheyMake) {
  for (const VoxelTarget& target : VoxelTargets()) {
    EXPECT_EQ(FindVoxelTarget(target.format), &target);
    EXPECT_FALSE(target.made.empty()) << target.format;
    EXPECT_FALSE(target.about.empty()) << target.format;
  }
}

TEST(VoxelTargets, FindParametersThatContradictEachOther) {
  const VoxelTarget& volume = *FindVoxelTarget("precomputed");
  EXPECT_EQ(FindExclusion(volume, {{"labels", ""}}), nullptr);
  const VoxelExclusion* const both =
      FindExclusion(volume, {{"labels", ""}, {"supervoxels", ""}});
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->other, "supervoxels");

  const VoxelTarget& exported = *FindVoxelTarget("dvid");
  EXPECT_EQ(FindExclusion(exported, {{"csv", "dvid"}, {"layout", "stream"}}), nullptr);
  const VoxelExclusion* const seed =
      FindExclusion(exported, {{"csv", "dvid"}, {"layout", "seed"}});
  ASSERT_NE(seed, nullptr);
  EXPECT_EQ(seed->value, "seed");
}

TEST(VoxelTargets, RefuseContradictionsOfAllCallers) {
  ConvertRequest request;
  request.source = "/none/in";
  request.target = "/none/out";
  request.target_format = "precomputed";
  request.parameters = {{"labels", ""}, {"supervoxels", ""}};
  const auto converted = Convert(BuiltinFormats(), request, {}, [](const Finding&) {});
  ASSERT_FALSE(converted);
  EXPECT_EQ(converted.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(converted.error().message,
              HasSubstr("takes no parameter \"labels\" beside \"supervoxels\""));
}

}  // namespace
}  // namespace dolium
