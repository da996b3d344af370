#include "dolium/domain/mesh/multires_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::mesh {
namespace {

constexpr const char* kInfo = R"({
  "@type": "neuroglancer_multilod_draco",
  "vertex_quantization_bits": 10,
  "lod_scale_multiplier": 2.5,
  "transform": [4, 0, 0, 100, 0, 4, 0, 0, 0, 0, 40, -7],
  "mip": 2,
  "segment_properties": "props",
  "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1,
               "hash": "murmurhash3_x86_128", "minishard_bits": 2, "shard_bits": 3,
               "data_encoding": "gzip"},
  "spatial_index": {"chunk_size": [1, 2, 3]}
})";

TEST(MultiresInfo, ReadsAllMembers) {
  const auto info = ParseMultiresInfo(kInfo);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->vertex_quantization_bits, 10U);
  EXPECT_EQ(info->lod_scale_multiplier, 2.5);
  EXPECT_EQ(info->transform,
            (objects::Transform{4, 0, 0, 100, 0, 4, 0, 0, 0, 0, 40, -7}));
  ASSERT_TRUE(info->sharding);
  EXPECT_EQ(info->sharding->shard_bits, 3U);
  EXPECT_EQ(info->sharding->data_encoding, neuroglancer::Encoding::kGzip);
  EXPECT_EQ(info->segment_properties, "props");
  EXPECT_EQ(info->extra.at("mip"), "2");
}

TEST(MultiresInfo, WritesWhatItReadWithUnknownMembers) {
  const auto info = ParseMultiresInfo(kInfo);
  ASSERT_TRUE(info);
  const std::string text = ToJson(*info);
  EXPECT_THAT(text, testing::HasSubstr("\"spatial_index\""));
  const auto again = ParseMultiresInfo(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *info);
}

TEST(MultiresInfo, TakesTheIdentityWhereThereIsNoTransformAndNullForNothing) {
  const auto info = ParseMultiresInfo(
      R"({"@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 16.0,
          "lod_scale_multiplier": 1, "sharding": null, "segment_properties": null})");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->transform, objects::kIdentity);
  EXPECT_FALSE(info->sharding);
}

TEST(MultiresInfo, NamesTheMemberThatIsWrong) {
  const auto message = [](std::string_view members) {
    const auto info = ParseMultiresInfo("{\"@type\": \"neuroglancer_multilod_draco\"" +
                                        std::string(members) + "}");
    EXPECT_FALSE(info);
    EXPECT_EQ(info.error().code, ErrorCode::kCorrupt);
    return info.error().message;
  };
  EXPECT_EQ(message(""), "vertex_quantization_bits: is missing");
  EXPECT_EQ(message(R"(, "vertex_quantization_bits": 12)"),
            "vertex_quantization_bits: found 12, expected 10 or 16");
  EXPECT_EQ(message(R"(, "vertex_quantization_bits": 10, "lod_scale_multiplier": 0)"),
            "lod_scale_multiplier: found 0, expected a number above 0");
  EXPECT_EQ(message(R"(, "transform": [1, 2])"),
            "transform: found [1,2], expected 12 finite numbers");
  EXPECT_THAT(message(R"(, "sharding": {"@type": "other"})"),
              testing::StartsWith("sharding: "));
}

TEST(MultiresInfo, RejectsAnInfoOfAnotherKind) {
  EXPECT_EQ(
      ParseMultiresInfo(R"({"@type": "neuroglancer_skeletons"})").error().message,
      "@type: found \"neuroglancer_skeletons\", expected neuroglancer_multilod_draco");
  EXPECT_EQ(ParseMultiresInfo("[1]").error().message,
            "found array, expected a JSON object");
}

TEST(MultiresInfo, ValidatesWhatIsToBeWritten) {
  MultiresInfo info;
  EXPECT_TRUE(Validate(info));
  info.vertex_quantization_bits = 11;
  EXPECT_EQ(Validate(info).error().message,
            "vertex_quantization_bits: found 11, expected 10 or 16");
}

}  // namespace
}  // namespace dolium::mesh
