#include "dolium/formats/neuroglancer/info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/memory_store.h"

namespace dolium::neuroglancer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Spec(unsigned shard_bits) {
  return ToJson({.minishard_bits = 1, .shard_bits = shard_bits});
}

class FindShardingTest : public testing::Test {
 protected:
  void Put(std::string_view path, const json& info) {
    ASSERT_TRUE(store_->Put(path, AsBytes(info.dump()), Precondition::None()));
  }
  Result<ShardingInfo> Find(std::string path) {
    return FindSharding(Location{store_, std::move(path)});
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>("m");
};

TEST_F(FindShardingTest, TakesTheFoldersOwnInfo) {
  Put("mesh/info", {{"@type", "neuroglancer_multilod_draco"}, {"sharding", Spec(4)}});
  const auto found = Find("mesh");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->kind, Kind::kMesh);
  EXPECT_EQ(found->spec.shard_bits, 4U);
  EXPECT_EQ(found->source, "memory://m/mesh/info");
  EXPECT_THAT(found->own_info, HasSubstr("multilod"));
}

TEST_F(FindShardingTest, TakesTheScaleThatIsTheFolder) {
  Put("seg/info", {{"scales",
                    {{{"key", "8_8_8"}, {"sharding", Spec(3)}},
                     {{"key", "deep/16_16_16"}, {"sharding", Spec(2)}},
                     {{"key", "../beside"}, {"sharding", Spec(1)}},
                     {{"key", "plain"}}}}});
  EXPECT_EQ(Find("seg/8_8_8")->spec.shard_bits, 3U);
  EXPECT_EQ(Find("seg/deep/16_16_16")->spec.shard_bits, 2U);
  EXPECT_EQ(Find("seg/8_8_8")->kind, Kind::kVolume);
  EXPECT_EQ(Find("seg/8_8_8")->own_info, "");
  EXPECT_EQ(Find("seg/plain").error().code, ErrorCode::kNotFound);
}

TEST_F(FindShardingTest, TakesTheIndexesOfAnnotations) {
  Put("ann/info", {{"@type", "neuroglancer_annotations_v1"},
                   {"by_id", {{"key", "by_id"}, {"sharding", Spec(1)}}},
                   {"relationships", {{{"key", "rel"}, {"sharding", Spec(2)}}}},
                   {"spatial", {{{"key", "spatial0"}, {"sharding", Spec(3)}}}}});
  EXPECT_EQ(Find("ann/by_id")->spec.shard_bits, 1U);
  EXPECT_EQ(Find("ann/rel")->spec.shard_bits, 2U);
  EXPECT_EQ(Find("ann/spatial0")->spec.shard_bits, 3U);
  EXPECT_EQ(Find("ann/spatial0")->kind, Kind::kAnnotations);
}

TEST_F(FindShardingTest, AsksWhichScaleIsMeant) {
  Put("seg/info",
      {{"scales",
        {{{"key", "a"}, {"sharding", Spec(3)}}, {{"key", "b"}, {"sharding", Spec(2)}}}}});
  const auto found = Find("seg");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "memory://m/seg/info: describes 2 sharded folders; name one: a, b");
}

TEST_F(FindShardingTest, SaysHowToGoOnWithoutAnInfo) {
  const auto found = Find("x/y");
  EXPECT_EQ(found.error().message,
            "memory://m/x/y: no info file in it or above it describes these shards");
  EXPECT_EQ(found.error().hint, Hint::kGiveSharding);
}

TEST_F(FindShardingTest, SaysThatDataAreNotSharded) {
  Put("seg/info", {{"scales", {{{"key", "a"}}}}});
  EXPECT_EQ(Find("seg").error().message,
            "memory://m/seg/info: no \"sharding\"; these data are not sharded");
}

TEST_F(FindShardingTest, NamesTheInfoThatIsBroken) {
  ASSERT_TRUE(store_->Put("seg/info", AsBytes("{"), Precondition::None()));
  EXPECT_EQ(Find("seg").error().message, "memory://m/seg/info: not valid JSON");
  Put("seg/info", {{"sharding", 7}});
  EXPECT_THAT(Find("seg").error().message, HasSubstr("seg/info: sharding: found number"));
  Put("seg/info", {{"scales", 3}});
  EXPECT_THAT(Find("seg").error().message,
              HasSubstr("\"scales\" is number, expected an array"));
  Put("seg/info", {{"scales", {{{"sharding", Spec(1)}}}}});
  EXPECT_THAT(Find("seg").error().message, HasSubstr("without a \"key\""));
}

TEST(ParseInfo, RefusesJsonThatIsNestedTooDeeply) {
  const std::string nested = std::string(1000000, '[') + std::string(1000000, ']');
  for (const std::string& text : {nested, "{\"@type\":" + nested + "}",
                                  "{\"sharding\":{\"hash\":" + nested + "}}"}) {
    const auto parsed = ParseInfo(text);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message,
                HasSubstr("levels deep, more than the limit of 100"));
  }
}

TEST(ShardingFromText, TakesBareSpecsAndWholeInfos) {
  const Location folder{std::make_shared<MemoryStore>(), "x/8_8_8"};
  EXPECT_EQ(ShardingFromText(Spec(5).dump(), folder)->spec.shard_bits, 5U);
  const json mesh{{"@type", "neuroglancer_multilod_draco"}, {"sharding", Spec(4)}};
  EXPECT_EQ(ShardingFromText(mesh.dump(), folder)->kind, Kind::kMesh);
  const json volume{{"scales",
                     {{{"key", "4_4_4"}, {"sharding", Spec(3)}},
                      {{"key", "8_8_8"}, {"sharding", Spec(2)}}}}};
  EXPECT_EQ(ShardingFromText(volume.dump(), folder)->spec.shard_bits, 2U);
  EXPECT_EQ(ShardingFromText("{}", folder).error().message, "no \"sharding\" in it");
}

TEST(InfoText, KeepsTheOtherMembers) {
  const json info =
      json::parse(InfoText(R"({"@type":"t","x":1,"sharding":{}})", {.shard_bits = 9}));
  EXPECT_EQ(info["x"], 1);
  EXPECT_EQ(info["sharding"]["shard_bits"], 9);
}

}  // namespace
}  // namespace dolium::neuroglancer
