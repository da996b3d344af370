#include "dolium/formats/neuroglancer/sharding_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/formats/neuroglancer/murmur3.h"

namespace dolium::neuroglancer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json ValidSpec() {
  return {{"@type", "neuroglancer_uint64_sharded_v1"},
          {"hash", "identity"},
          {"preshift_bits", 1},
          {"minishard_bits", 7},
          {"shard_bits", 3}};
}

// What ParseSharding says of the valid spec with one member changed.
std::string ErrorWith(const char* member, json value) {
  json spec = ValidSpec();
  spec[member] = std::move(value);
  const auto parsed = ParseSharding(spec);
  return parsed ? "" : parsed.error().message;
}

TEST(Murmur3OfKey, MatchesTheReferenceFunction) {
  const std::pair<uint64_t, uint64_t> cases[] = {
      {0, 0x4772b084e028ae41},
      {1, 0xe8bd67d616d4ce9a},
      {42, 0xc20b94f95119f47a},
      {65535, 0x199acff150acd49c},
      {4294967295, 0x007260ffc08751be},
      {4294967296, 0xbbb12d133b78fd64},
      {1234567890123, 0x12c41574e351e23b},
      {81985529216486895, 0x708036264c109d93},
      {9223372036854775808U, 0x998a35e4316acfa8},
      {18446744073709551615U, 0x574f66bd212b5d1a},
  };
  for (const auto& [key, hash] : cases) EXPECT_EQ(Murmur3OfKey(key), hash) << key;
}

TEST(ShardingSpec, PlacesKeysAsOtherReadersDo) {
  const ShardingSpec murmur{.preshift_bits = 6,
                            .hash = ShardHash::kMurmur3,
                            .minishard_bits = 11,
                            .shard_bits = 7};
  EXPECT_EQ(murmur.LocationOf(1822975381), (MinishardLocation{66, 18}));
  EXPECT_EQ(murmur.ShardStem(66), "42");

  const ShardingSpec identity{.preshift_bits = 9, .minishard_bits = 6, .shard_bits = 16};
  EXPECT_EQ(identity.LocationOf(583460383).minishard, 51U);
  EXPECT_EQ(identity.ShardStem(identity.LocationOf(583460383).shard), "458d");
}

TEST(ShardingSpec, ShiftsBySixtyFourLeaveNothing) {
  const ShardingSpec spec{.preshift_bits = 64, .minishard_bits = 3, .shard_bits = 3};
  EXPECT_EQ(spec.LocationOf(~uint64_t{0}), (MinishardLocation{0, 0}));
  const ShardingSpec whole{.shard_bits = 64};
  EXPECT_EQ(whole.LocationOf(~uint64_t{0}), (MinishardLocation{~uint64_t{0}, 0}));
}

TEST(ShardingSpec, PadsNamesToTheDigitsOfTheShardBits) {
  const auto stem = [](unsigned bits, uint64_t shard) {
    return ShardingSpec{.shard_bits = bits}.ShardStem(shard);
  };
  EXPECT_EQ(stem(0, 0), "0");
  EXPECT_EQ(stem(1, 1), "1");
  EXPECT_EQ(stem(4, 15), "f");
  EXPECT_EQ(stem(5, 15), "0f");
  EXPECT_EQ(stem(8, 255), "ff");
  EXPECT_EQ(stem(9, 255), "0ff");
  EXPECT_EQ(stem(64, 1), "0000000000000001");
}

TEST(ShardingSpec, ReadsBackOnlyItsOwnNames) {
  const ShardingSpec spec{.shard_bits = 5};
  EXPECT_EQ(spec.ParseShardStem("1f"), 31U);
  for (const char* stem : {"", "f", "20", "1F", "01f", "zz", "0x", "00000000000000001"}) {
    EXPECT_EQ(spec.ParseShardStem(stem), std::nullopt) << stem;
  }
}

TEST(ParseSharding, TakesAbsentEncodingsAsRaw) {
  const auto spec = ParseSharding(ValidSpec());
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(*spec,
            (ShardingSpec{.preshift_bits = 1, .minishard_bits = 7, .shard_bits = 3}));
}

TEST(ParseSharding, IgnoresTheCaseOfWords) {
  json spec = ValidSpec();
  spec["hash"] = "MurmurHash3_x86_128";
  spec["data_encoding"] = "GZIP";
  const auto parsed = ParseSharding(spec);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->hash, ShardHash::kMurmur3);
  EXPECT_EQ(parsed->data_encoding, Encoding::kGzip);
}

TEST(ParseSharding, RoundTripsThroughJson) {
  const ShardingSpec spec{.preshift_bits = 9,
                          .hash = ShardHash::kMurmur3,
                          .minishard_bits = 6,
                          .shard_bits = 15,
                          .minishard_index_encoding = Encoding::kGzip,
                          .data_encoding = Encoding::kGzip};
  const auto parsed = ParseSharding(ToJson(spec));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, spec);
}

TEST(ParseSharding, AcceptsTheLimitsOfEachMember) {
  for (const int bits : {0, 1, 63, 64}) EXPECT_EQ(ErrorWith("preshift_bits", bits), "");
  for (const int bits : {0, 1, 31, 32}) EXPECT_EQ(ErrorWith("minishard_bits", bits), "");
  for (const int bits : {0, 1, 56, 57}) EXPECT_EQ(ErrorWith("shard_bits", bits), "");
}

TEST(ParseSharding, TakesWholeNumbersInAnyForm) {
  EXPECT_EQ(ErrorWith("preshift_bits", 1.0), "");
  EXPECT_EQ(ErrorWith("minishard_bits", 32.0), "");
  EXPECT_EQ(ErrorWith("shard_bits", -0.0), "");
  EXPECT_THAT(ErrorWith("preshift_bits", 65.0), HasSubstr("\"preshift_bits\" is 65.0"));
  EXPECT_THAT(ErrorWith("preshift_bits", -1.0), HasSubstr("\"preshift_bits\" is -1.0"));
}

TEST(ParseSharding, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(ErrorWith("preshift_bits", 65),
            "sharding: \"preshift_bits\" is 65, expected an integer from 0 to 64");
  EXPECT_THAT(ErrorWith("preshift_bits", -1), HasSubstr("\"preshift_bits\" is -1"));
  EXPECT_THAT(ErrorWith("minishard_bits", 33), HasSubstr("\"minishard_bits\" is 33"));
  EXPECT_THAT(ErrorWith("minishard_bits", 1.5), HasSubstr("\"minishard_bits\" is 1.5"));
  EXPECT_THAT(ErrorWith("minishard_bits", nullptr),
              HasSubstr("\"minishard_bits\" is null"));
  EXPECT_THAT(ErrorWith("shard_bits", 58), HasSubstr("add up to more than 64"));
  EXPECT_THAT(ErrorWith("shard_bits", 1e30), HasSubstr("\"shard_bits\" is 1e+30"));
  EXPECT_THAT(ErrorWith("@type", "neuroglancer_uint64_sharded_v2"),
              HasSubstr("\"@type\" is"));
  EXPECT_THAT(ErrorWith("hash", "invalid_hash"),
              HasSubstr("\"hash\" is \"invalid_hash\""));
  EXPECT_THAT(ErrorWith("data_encoding", 1234), HasSubstr("\"data_encoding\" is 1234"));
  EXPECT_THAT(ErrorWith("data_encoding", "zip"),
              HasSubstr("expected \"raw\" or \"gzip\""));
}

TEST(ParseSharding, NamesTheMemberThatIsMissing) {
  for (const char* member :
       {"@type", "hash", "preshift_bits", "minishard_bits", "shard_bits"}) {
    json spec = ValidSpec();
    spec.erase(member);
    const auto parsed = ParseSharding(spec);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message,
                HasSubstr(std::string("\"") + member + "\" is missing"));
  }
}

TEST(ParseShardingText, RejectsWhatIsNotAnObject) {
  EXPECT_EQ(ParseShardingText("{").error().message, "sharding: not valid JSON");
  EXPECT_THAT(ParseShardingText("[1]").error().message, HasSubstr("expected an object"));
}

}  // namespace
}  // namespace dolium::neuroglancer
