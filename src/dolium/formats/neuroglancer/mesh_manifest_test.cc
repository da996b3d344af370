#include "dolium/formats/neuroglancer/mesh_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

// Two levels of detail: fragments of 100, 0 and 50 bytes, then one of 60.
constexpr const char* kManifest =
    "000020410000a0410000f0410000803f0000004000004040020000000000803f00000040000000000000"
    "000000"
    "0000000000003f0000003f0000003f030000000100000000000000010000000000000000000000000000"
    "000100"
    "00000000000000000000000000006400000000000000320000000000000000000000000000003c00000"
    "0";

TEST(FragmentBytes, AddsUpAllLevelsOfDetail) {
  const auto sum = FragmentBytes(FromHex(kManifest));
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(*sum, 210U);
}

TEST(FragmentBytes, RejectsEveryTruncation) {
  const ByteVector manifest = FromHex(kManifest);
  for (size_t length = 0; length < manifest.size(); ++length) {
    const auto sum = FragmentBytes(BytesView(manifest).first(length));
    ASSERT_FALSE(sum) << length;
    EXPECT_EQ(sum.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(sum.error().message, testing::HasSubstr("remain"));
  }
}

TEST(FragmentBytes, RejectsBytesBehindTheEnd) {
  ByteVector manifest = FromHex(kManifest);
  manifest.push_back(std::byte{0});
  EXPECT_EQ(FragmentBytes(manifest).error().message,
            "manifest is 133 bytes, its counts make 132");
}

TEST(FragmentBytes, AllocatesNothingForALyingCount) {
  ByteVector manifest = FromHex(kManifest);
  for (int i = 24; i < 28; ++i)
    manifest[static_cast<size_t>(i)] = std::byte{0xff};  // num_lods
  EXPECT_THAT(
      FragmentBytes(manifest).error().message,
      testing::HasSubstr("lod_scales and vertex_offsets needs 68719476720 bytes"));
}

}  // namespace
}  // namespace dolium::neuroglancer
