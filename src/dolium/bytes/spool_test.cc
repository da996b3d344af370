#include "dolium/bytes/spool.h"

#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/cached_store.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/http_store_fixture.h"
#include "dolium/bytes/testing/temporary_folder.h"

namespace dolium {
namespace {

using testing::HasSubstr;

std::string ContentOf(const Spool& spool) {
  std::string text(static_cast<size_t>(spool.size()), '?');
  EXPECT_TRUE(spool.Read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(Spool, HoldsWhatAStoreHas) {
  MemoryStore store("m");
  const std::string text(9'000'000, 'x');
  const auto generation = store.Put("a", AsBytes(text), Precondition::None());
  ASSERT_TRUE(generation);
  const auto spool = Spool::Of(store, "a", *generation);
  ASSERT_TRUE(spool) << spool.error().message;
  EXPECT_EQ(ContentOf(*spool), text);
  EXPECT_EQ(Spool::Of(store, "a", {"another"}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Spool::Of(store, "b", {}).error().code, ErrorCode::kNotFound);
}

TEST(Spool, HoldsWhatIsAppended) {
  auto spool = Spool::Make();
  ASSERT_TRUE(spool) << spool.error().message;
  EXPECT_TRUE(spool->Map()->empty());
  ASSERT_TRUE(spool->Append(AsBytes("first, ")));
  ASSERT_TRUE(spool->Append(AsBytes("second")));
  EXPECT_EQ(ContentOf(*spool), "first, second");
  const auto map = spool->Map();
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(AsText(*map), "first, second");
}

class PlainServerTest : public HttpStoreTest {
 protected:
  void SetUp() override {
    HttpStoreTest::SetUp();
    plain_.ignore_range = true;
  }
  Fault plain_;
};

TEST_F(PlainServerTest, ReadsAllByOneRequestWithoutARange) {
  server_.Break("/seg/a", plain_);
  const auto spool = Spool::Of(*store_, "seg/a", {});
  ASSERT_TRUE(spool) << spool.error().message;
  EXPECT_EQ(ContentOf(*spool), body_);
  ASSERT_EQ(server_.request_count(), 1U);
  EXPECT_EQ(server_.requests()[0].header("range"), "");
}

TEST_F(PlainServerTest, BeginsAgainWhereABodyIsCutShort) {
  Fault cut = plain_;
  cut.body_bytes_sent = 20;
  server_.Break("/seg/a", cut);
  const auto spool = Spool::Of(*store_, "seg/a", {});
  ASSERT_TRUE(spool) << spool.error().message;
  EXPECT_EQ(ContentOf(*spool), body_);
  EXPECT_EQ(server_.request_count(), 2U);

  Fault encoded = plain_;
  encoded.headers = {"Content-Encoding: gzip"};
  server_.Break("/seg/a", encoded);
  EXPECT_THAT(Described(Spool::Of(*store_, "seg/a", {}).error()),
              HasSubstr("unsupported: URL: Content-Encoding is gzip"));
}

TEST_F(PlainServerTest, ACacheKeepsAllOfIt) {
  const TemporaryFolder folder;
  const auto cache =
      CachedStore::Open(store_, server_.origin(), {.folder = folder.path()});
  ASSERT_TRUE(cache) << cache.error().message;
  std::string body;
  for (size_t i = 0; i < 300'000; ++i) body += static_cast<char>('a' + i % 23);
  server_.Put("/seg/a", {body, "\"two\"", "", ""});
  server_.Break("/seg/a", plain_, 100);
  const auto suffix = (*cache)->ReadSuffix("seg/a", 1000);
  ASSERT_TRUE(suffix) << suffix.error().message;
  EXPECT_EQ(AsText(suffix->bytes), body.substr(body.size() - 1000));
  EXPECT_EQ(suffix->info.size, body.size());
  const size_t asked = server_.request_count();
  EXPECT_LE(asked, 3U);  // by a range, then without, and for its size
  const auto range = (*cache)->ReadRange("seg/a", {65'530, 100'000});
  ASSERT_TRUE(range) << range.error().message;
  EXPECT_EQ(AsText(*range), body.substr(65'530, 100'000));
  EXPECT_EQ(server_.request_count(), asked);
}

}  // namespace
}  // namespace dolium
