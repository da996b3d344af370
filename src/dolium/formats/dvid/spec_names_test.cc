#include "dolium/formats/dvid/spec_names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::dvid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string SpecText(const std::string& size, const std::string& members) {
  return fmt::format(R"({{"scales": [{{"size": [{}], "chunk_sizes": [[64,64,64]]{}}}]}})",
                     size, members);
}

std::string Bits(int preshift, int minishard) {
  return fmt::format(
      R"(, "sharding": {{"preshift_bits": {}, "minishard_bits": {}, "shard_bits": 9}})",
      preshift, minishard);
}

TEST(ParseSpecNames, KnowsTheSidesThatDvidTakes) {
  const auto cubes = Must(ParseSpecNames(SpecText("94088,78317,134576", Bits(9, 6))));
  EXPECT_EQ(cubes.at(0).sides, (std::vector<int64_t>{2048, 2048}));
  EXPECT_EQ(Must(cubes[0].Corners()).size(), 46U * 39 * 66);
  // A flat volume: x and y have the bits that z lacks.
  const auto flat = Must(ParseSpecNames(SpecText("8192,8192,64", Bits(4, 2))));
  EXPECT_EQ(flat.at(0).sides, (std::vector<int64_t>{512, 256}));
  // One shard for all; exports of before March 2026 cut it.
  const auto coarse = Must(ParseSpecNames(SpecText("600,300,300", Bits(9, 6))));
  EXPECT_EQ(coarse.at(0).sides, (std::vector<int64_t>{640, 2048}));
  EXPECT_THAT(Must(coarse[0].Corners()), ElementsAre(Key{0, 0, 0}));
}

TEST(ParseSpecNames, TakesTheSideThatWeWrite) {
  const auto names = Must(ParseSpecNames(
      SpecText("200,70,64", Bits(9, 6) + R"(, "dolium_shard_side": 128)")));
  EXPECT_THAT(Must(names.at(0).Corners()), ElementsAre(Key{0, 0, 0}, Key{128, 0, 0}));
}

TEST(ParseSpecNames, RefusesWhatIsNoSpecOrLeavesItOpen) {
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(R"({"scales": 1})"),
        std::string(R"({"scales": [1]})"), SpecText("1,2", ""), SpecText("0,1,1", ""),
        SpecText("1,1,99999999999", ""), SpecText("-1,1,1", ""),
        SpecText("64,64,64", R"(, "dolium_shard_side": 100)"),
        SpecText("64,64,64", R"(, "dolium_shard_side": 0)")}) {
    const auto names = ParseSpecNames(text);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().code, ErrorCode::kCorrupt) << text;
  }
  const auto open = Must(ParseSpecNames(SpecText("64,64,64", "")));
  EXPECT_THAT(open.at(0).Corners().error().message,
              HasSubstr("the spec does not say how large shards are"));
  const auto many =
      Must(ParseSpecNames(SpecText("2000000000,2000000000,64", Bits(0, 0))));
  EXPECT_THAT(many.at(0).Corners().error().message, HasSubstr("too many to ask for"));
}

}  // namespace
}  // namespace dolium::dvid
