#include "dolium/domain/dataset/catalog.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/container/testing/must.h"

namespace dolium::dataset {
namespace {

using ::testing::HasSubstr;

SetCatalog Example() {
  return {.shards = {{.path = "train-000000.shardpack",
                      .size = 704,
                      .records = 2,
                      .index_offset = 416,
                      .footer_crc32c = 0x0de94707,
                      .keys_digest = 0xfffffffffffffffe,
                      .min_key = "images17/image194",
                      .max_key = "images17/image195"},
                     {.path = "more/\"x\" \xc3\xa4.shardpack",
                      .size = 72,
                      .footer_crc32c = 0xffffffff}},
          .columns = {{"left.jpg", "image/jpeg"}, {"meta.json", ""}}};
}

// The example, with a member of its first shard (or of itself) set to another value.
std::string With(std::string_view pointer, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(Must(CatalogText(Example())));
  json[nlohmann::json::json_pointer(std::string(pointer))] = value;
  return json.dump();
}

std::string Without(std::string_view pointer) {
  const nlohmann::json::json_pointer target{std::string(pointer)};
  auto json = nlohmann::json::parse(Must(CatalogText(Example())));
  json[target.parent_pointer()].erase(target.back());
  return json.dump();
}

std::string CatalogError(std::string_view text, ErrorCode code = ErrorCode::kCorrupt) {
  const auto catalog = ParseCatalog(text);
  if (catalog) return "no error";
  EXPECT_EQ(catalog.error().code, code);
  return catalog.error().message;
}

TEST(SetCatalog, HasOneText) {
  EXPECT_EQ(Must(CatalogText(Example())),
            "{\n"
            "\"shardpack_catalog\": 1,\n"
            "\"totals\": {\"shards\":2,\"records\":2,\"size\":776},\n"
            "\"columns\": [{\"name\":\"left.jpg\",\"content_type\":\"image/jpeg\"},"
            "{\"name\":\"meta.json\",\"content_type\":\"\"}],\n"
            "\"shards\": [\n"
            "{\"path\":\"train-000000.shardpack\",\"size\":704,\"records\":2,"
            "\"index_offset\":416,\"footer_crc32c\":\"0de94707\","
            "\"keys_digest\":\"fffffffffffffffe\",\"min_key\":\"images17/image194\","
            "\"max_key\":\"images17/image195\"},\n"
            "{\"path\":\"more/\\\"x\\\" \xc3\xa4.shardpack\",\"size\":72,\"records\":0,"
            "\"index_offset\":0,\"footer_crc32c\":\"ffffffff\"}\n"
            "]\n"
            "}\n");
}

TEST(SetCatalog, ComesBackFromItsText) {
  EXPECT_EQ(Must(ParseCatalog(Must(CatalogText(Example())))), Example());
  EXPECT_EQ(Must(ParseCatalog(Must(CatalogText({})))), SetCatalog{});
}

TEST(SetCatalog, SkipsWhatItDoesNotKnow) {
  EXPECT_EQ(Must(ParseCatalog(With("/licence", "CC0"))), Example());
  EXPECT_EQ(Must(ParseCatalog(With("/shards/0/host", "a"))), Example());
  EXPECT_EQ(Must(ParseCatalog(Without("/columns"))).shards, Example().shards);
}

TEST(SetCatalog, TakesUrlsAndRelativePathsOnly) {
  for (const char* good : {"https://host/a.shardpack", "gs://b/a", "../x/a.shardpack"}) {
    EXPECT_TRUE(ParseCatalog(With("/shards/0/path", good))) << good;
  }
  for (const char* bad : {"/etc/passwd", "file:///etc/passwd", "x://y"}) {
    EXPECT_THAT(CatalogError(With("/shards/0/path", bad)),
                HasSubstr("expected one relative to the catalog"))
        << bad;
  }
  EXPECT_THAT(CatalogError(With("/shards/0/path", "")), HasSubstr("\"path\" is empty"));
  EXPECT_THAT(CatalogError(With("/shards/0/path", std::string("a\0b", 3))),
              HasSubstr("NUL"));
}

TEST(SetCatalog, RejectsWhatIsNone) {
  EXPECT_EQ(CatalogError(""), "not a catalog: not valid JSON");
  EXPECT_EQ(CatalogError("[]"),
            "not a catalog: expected a JSON object with \"shardpack_catalog\"");
  EXPECT_EQ(CatalogError("{}"),
            "not a catalog: expected a JSON object with \"shardpack_catalog\"");
  EXPECT_THAT(CatalogError(std::string(100'000, '[')), HasSubstr("nested"));
  EXPECT_EQ(CatalogError(With("/shardpack_catalog", 2), ErrorCode::kUnsupported),
            "a catalog of version 2; known is 1");
  EXPECT_EQ(CatalogError(With("/shardpack_catalog", 0)), "a catalog of version 0");
  EXPECT_EQ(CatalogError(Without("/shards")), "has no \"shards\"");
  EXPECT_EQ(CatalogError(With("/shards", 1)), "\"shards\" is number, expected an array");
}

TEST(SetCatalog, RejectsMembersOfTheWrongKind) {
  EXPECT_EQ(CatalogError(Without("/shards/0/path")),
            "shard 0 of the catalog: has no \"path\"");
  EXPECT_EQ(CatalogError(With("/shards/1", 7)),
            "shard 1 of the catalog: is number, expected an object");
  for (const nlohmann::json& bad : {nlohmann::json(-1), nlohmann::json(1.5),
                                    nlohmann::json("7"), nlohmann::json(nullptr)}) {
    EXPECT_THAT(CatalogError(With("/shards/0/records", bad)),
                HasSubstr("expected a whole number from 0 to 2^64-1"));
  }
  for (const char* bad :
       {"", "0de9470", "0de947070", "0de9470g", "-0de9470", "0x0de947"}) {
    EXPECT_THAT(CatalogError(With("/shards/0/footer_crc32c", bad)),
                HasSubstr("expected 8 hexadecimal digits"));
  }
  EXPECT_THAT(CatalogError(With("/shards/0/keys_digest", "12")),
              HasSubstr("expected 16 hexadecimal digits"));
  EXPECT_EQ(CatalogError(With("/columns/0/name", 1)),
            "column 0 of the catalog: \"name\" is number, expected a string");
  EXPECT_EQ(CatalogError(With("/columns/0/name", "")), "a column has an empty \"name\"");
}

TEST(SetCatalog, RejectsContradictions) {
  EXPECT_EQ(CatalogError(With("/shards/0/index_offset", 700)),
            "shard \"train-000000.shardpack\": an index of 2 records at 700 does not fit "
            "its size of 704 bytes");
  EXPECT_THAT(CatalogError(With("/shards/0/records", uint64_t{1} << 61)),
              HasSubstr("does not fit its size"));
  EXPECT_THAT(CatalogError(With("/shards/0/records", ~uint64_t{0})),
              HasSubstr("does not fit its size"));
  EXPECT_EQ(CatalogError(With("/shards/0/size", ~uint64_t{0})),
            "the sizes of the shards add up to more than 2^64");
  EXPECT_THAT(CatalogError(Without("/shards/0/max_key")),
              HasSubstr("expected both or none"));
  EXPECT_THAT(CatalogError(With("/shards/0/max_key", "a")), HasSubstr("comes after"));
  EXPECT_EQ(CatalogError(With("/totals/records", 3)),
            "\"totals\" says 3 records, but the shards have 2; was the catalog edited?");
  EXPECT_EQ(CatalogError(Without("/totals")), "has no object \"totals\"");
}

TEST(CatalogText, RefusesWhatItCouldNotReadBack) {
  SetCatalog catalog = Example();
  catalog.shards[0].min_key = "a\xff";
  const auto text = CatalogText(catalog);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(text.error().message, HasSubstr("UTF-8"));
  catalog = Example();
  catalog.shards[0].path = "/absolute";
  ASSERT_FALSE(CatalogText(catalog));
  EXPECT_EQ(CatalogText(catalog).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace dolium::dataset
