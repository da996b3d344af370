#include "dolium/bytes/http_store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/encoded_text.h"
#include "dolium/bytes/testing/http_store_fixture.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST_F(HttpStoreTest, ReadsRangesOverOneKeptConnection) {
  EXPECT_EQ(Read(0, 10), body_.substr(0, 10));
  EXPECT_EQ(Read(99'990, 10), body_.substr(99'990, 10));
  EXPECT_EQ(Read(500, 50'000), body_.substr(500, 50'000));
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(connections(), 1u);
  EXPECT_EQ(requests[0].method, "GET");
  EXPECT_EQ(requests[0].target, "/seg/a");
  EXPECT_EQ(requests[0].header("range"), "bytes=0-9");
  EXPECT_EQ(requests[1].header("range"), "bytes=99990-99999");
  EXPECT_EQ(requests[0].header("accept-encoding"), "identity");
  EXPECT_EQ(requests[0].header("user-agent"), "dolium/" DOLIUM_VERSION);
  EXPECT_EQ(store_->stats().requests, 3u);
  EXPECT_EQ(store_->stats().retries, 0u);
  EXPECT_EQ(store_->stats().bytes, 50'020u);
}

TEST_F(HttpStoreTest, TellsSizeAndGenerationWithARead) {
  const ByteRange range{3, 4};
  auto read = store_->ReadRanges("seg/a", {&range, 1});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->info.size, 100'000u);
  EXPECT_EQ(read->info.generation.token, "etag \"one\"");
}

TEST_F(HttpStoreTest, MergesNearRangesAndKeepsFarOnesApart) {
  options_.max_gap = 100;
  options_.max_merged = 1000;
  Reopen();
  const std::vector<ByteRange> ranges = {
      {5000, 10}, {0, 10}, {110, 10}, {50, 0}, {5, 20}};
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_TRUE(read) << read.error().message;
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(AsText(read->parts[i]), body_.substr(ranges[i].offset, ranges[i].length))
        << i;
  }
  std::set<std::string> asked;
  for (const auto& request : server_.requests()) asked.insert(request.header("range"));
  EXPECT_THAT(asked, ElementsAre("bytes=0-119", "bytes=5000-5009"));
}

TEST_F(HttpStoreTest, RunsRangesAtOnceWithinTheBound) {
  options_.transfer.max_concurrency = 4;
  Reopen();
  // The first answers wait for each other.
  std::mutex mutex;
  std::condition_variable came;
  size_t asked = 0;
  server_.OnRequest([&](const ServedRequest&) {
    std::unique_lock lock(mutex);
    ++asked;
    came.notify_all();
    EXPECT_TRUE(came.wait_for(lock, std::chrono::minutes(2), [&] { return asked >= 4; }));
  });
  std::vector<ByteRange> ranges;
  for (uint64_t i = 0; i < 40; ++i) ranges.push_back({i * 2000, 100});
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_TRUE(read) << read.error().message;
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(AsText(read->parts[i]), body_.substr(ranges[i].offset, 100)) << i;
  }
  EXPECT_EQ(server_.request_count(), 40u);
  EXPECT_EQ(server_.most_at_once(), 4u);
  EXPECT_EQ(connections(), 4u);
}

TEST_F(HttpStoreTest, ServesManyThreads) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 25; ++i) {
        const uint64_t offset = (t * 25 + i) * 100;
        auto bytes = store_->ReadRange("seg/a", {offset, 100});
        good += bytes && AsText(*bytes) == body_.substr(offset, 100) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
  EXPECT_EQ(store_->stats().requests, 200u);
  EXPECT_LE(connections(), 8u);
}

TEST_F(HttpStoreTest, AMissingObjectCostsOneRequestAndKeepsTheConnection) {
  auto read = store_->ReadRange("seg/none", {0, 10});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read.error().message, server_.origin() + "/seg/none: no such object");
  EXPECT_EQ(server_.request_count(), 1u);
  Fault gone;
  gone.status = 410;
  server_.Break("/seg/a", gone);
  EXPECT_EQ(Read(0, 1), "not_found: URL: no such object");
  EXPECT_EQ(Read(0, 1), "0");
  EXPECT_EQ(server_.request_count(), 3u);
  EXPECT_EQ(connections(), 1u);
}

TEST_F(HttpStoreTest, TellsRangesThatEndPastTheObject) {
  EXPECT_EQ(Read(99'990, 20),
            "corrupt: URL: bytes [99990, 100010) end past the object (100000 bytes)");
  EXPECT_EQ(Read(200'000, 20),
            "corrupt: URL: bytes [200000, 200020) end past the object (100000 bytes)");
  Fault fault;
  fault.content_range = "bytes 99990-99999/*";
  server_.Break("/seg/a", fault);
  EXPECT_EQ(Read(99'990, 20),
            "corrupt: URL: bytes [99990, 100010) end past the object (100000 bytes)");
  fault.content_range = "nonsense";
  server_.Break("/seg/a", fault);
  EXPECT_EQ(Read(200'000, 20),
            "corrupt: URL: bytes [200000, 200020) end past the object (of unknown size)");
  EXPECT_EQ(server_.request_count(), 4u);
  EXPECT_EQ(Read(~uint64_t{0} - 5, 20),
            "corrupt: URL: bytes [18446744073709551610, 18446744073709551610 + 20) end "
            "past 2^64");
  EXPECT_EQ(server_.request_count(), 4u);
}

TEST_F(HttpStoreTest, NamesTheSliceOfAMergedReadThatEndsPastTheObject) {
  options_.max_gap = 1000;
  Reopen();
  const std::vector<ByteRange> ranges = {{99'000, 10}, {99'995, 10}};
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_FALSE(read);
  EXPECT_EQ(Described(read.error()),
            "corrupt: URL: bytes [99995, 100005) end past the object (100000 bytes)");
}

TEST_F(HttpStoreTest, ChecksEmptySlicesToo) {
  EXPECT_EQ(Read(100'000, 0), "");
  EXPECT_EQ(Read(100'001, 0),
            "corrupt: URL: bytes [100001, 100001) end past the object (100000 bytes)");
  const std::vector<ByteRange> ranges = {{0, 1}, {100'001, 0}};
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_FALSE(read);
  EXPECT_EQ(Described(read.error()),
            "corrupt: URL: bytes [100001, 100001) end past the object (100000 bytes)");
}

TEST_F(HttpStoreTest, ReadsOnlyTheGenerationAskedFor) {
  const ReadOptions old{Generation{"etag \"one\""}};
  EXPECT_TRUE(store_->ReadRange("seg/a", {0, 4}, old));
  server_.Put("/seg/a", {body_, "\"two\"", "", ""});
  auto read = store_->ReadRange("seg/a", {0, 4}, old);
  ASSERT_FALSE(read);
  EXPECT_EQ(Described(read.error()), "conflict: URL: changed since it was first read");
  EXPECT_EQ(server_.request_count(), 2u);
}

TEST_F(HttpStoreTest, ReadsAllAnewIfTheObjectChangesBetweenRanges) {
  options_.transfer.max_concurrency = 1;
  Reopen();
  std::string changed = body_;
  changed[0] = 'X';
  changed[50'000] = 'Y';
  std::atomic<int> count = 0;
  server_.OnRequest([&](const ServedRequest&) {
    if (++count == 2) server_.Put("/seg/a", {changed, "\"two\"", "", ""});
  });
  const std::vector<ByteRange> ranges = {{0, 4}, {50'000, 4}};
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->info.generation.token, "etag \"two\"");
  EXPECT_EQ(AsText(read->parts[0]), changed.substr(0, 4));
  EXPECT_EQ(AsText(read->parts[1]), changed.substr(50'000, 4));
  EXPECT_EQ(server_.request_count(), 4u);
}

TEST_F(HttpStoreTest, GivesUpOnAnObjectThatKeepsChanging) {
  options_.transfer.max_concurrency = 1;
  Reopen();
  for (int i = 0; i < 8; ++i) {
    Fault fault;
    fault.etag = fmt::format("\"{}\"", i);
    server_.Break("/seg/a", fault);
  }
  const std::vector<ByteRange> ranges = {{0, 4}, {50'000, 4}};
  auto read = store_->ReadRanges("seg/a", ranges);
  ASSERT_FALSE(read);
  EXPECT_EQ(Described(read.error()), "conflict: URL: changed since it was first read");
  EXPECT_EQ(server_.request_count(), 4u);
}

TEST_F(HttpStoreTest, MakesGenerationsWithoutAnETag) {
  server_.Put("/seg/a", {body_, "", "Sat, 01 Jan 2022 00:00:00 GMT", ""});
  auto info = store_->Stat("seg/a");
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->generation.token,
            "modified Sat, 01 Jan 2022 00:00:00 GMT, size 100000");
  const ReadOptions same{(*info)->generation};
  EXPECT_TRUE(store_->ReadRange("seg/a", {0, 4}, same));
  server_.Put("/seg/a", {body_ + "x", "", "", ""});
  auto read = store_->ReadRange("seg/a", {0, 4}, same);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kConflict);
}

TEST_F(HttpStoreTest, StatsByHead) {
  auto info = store_->Stat("seg/a");
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->size, 100'000u);
  EXPECT_EQ((*info)->generation.token, "etag \"one\"");
  info = store_->Stat("seg/none");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_FALSE(info->has_value());
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].method, "HEAD");
  EXPECT_EQ(connections(), 1u);
}

TEST_F(HttpStoreTest, StatsByTheFirstByteWhereHeadIsRefused) {
  Fault fault;
  fault.status = 405;
  server_.Break("/seg/a", fault);
  for (int i = 0; i < 2; ++i) {
    auto info = store_->Stat("seg/a");
    ASSERT_TRUE(info && *info);
    EXPECT_EQ((*info)->size, 100'000u);
    EXPECT_EQ((*info)->generation.token, "etag \"one\"");
  }
  server_.Put("/seg/empty", {"", "\"e\"", "", ""});
  auto info = store_->Stat("seg/empty");
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->size, 0u);
  info = store_->Stat("seg/none");
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->has_value());
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 5u);  // HEAD is not tried again.
  EXPECT_EQ(requests[0].method, "HEAD");
  EXPECT_EQ(requests[1].method, "GET");
  EXPECT_EQ(requests[1].header("range"), "bytes=0-0");
  EXPECT_EQ(requests[2].method, "GET");
}

TEST_F(HttpStoreTest, StatsAnEncodedObjectByReadingIt) {
  server_.Put("/seg/a", {GzipText(body_), "\"z\"", "", "gzip"});
  auto info = store_->Stat("seg/a");
  ASSERT_TRUE(info) << info.error().message;
  ASSERT_TRUE(info->has_value());
  EXPECT_EQ((*info)->size, 100'000u);
  EXPECT_EQ(server_.request_count(), 3u);
}

TEST_F(HttpStoreTest, ReadsWholeObjects) {
  auto whole = store_->ReadWhole("seg/a", 100'000);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(AsText(whole->bytes), body_);
  EXPECT_EQ(whole->generation.token, "etag \"one\"");
  ASSERT_EQ(server_.request_count(), 1u);
  EXPECT_EQ(server_.requests()[0].header("accept-encoding"), "gzip, br, zstd");
  EXPECT_EQ(server_.requests()[0].header("range"), "");
}

TEST_F(HttpStoreTest, ReadsTheLastBytesWithOneRequest) {
  server_.Put("/seg/o", {"0123456789", "\"e\"", "", ""});
  for (const auto& [length, want] : {std::pair<uint64_t, std::string_view>{3, "789"},
                                     {10, "0123456789"},
                                     {99, "0123456789"}}) {
    const uint64_t before = store_->stats().requests;
    const auto suffix = store_->ReadSuffix("seg/o", length);
    ASSERT_TRUE(suffix) << suffix.error().message;
    EXPECT_EQ(AsText(suffix->bytes), want);
    EXPECT_EQ(suffix->info.size, 10U);
    EXPECT_EQ(store_->stats().requests - before, 1U);
  }
}

TEST_F(HttpStoreTest, AnEmptyObjectHasNoLastBytes) {
  server_.Put("/seg/o", {"", "\"e\"", "", ""});
  const auto suffix = store_->ReadSuffix("seg/o", 5);
  ASSERT_TRUE(suffix) << suffix.error().message;
  EXPECT_EQ(suffix->bytes.size(), 0U);
  EXPECT_EQ(suffix->info.size, 0U);
  EXPECT_EQ(store_->ReadSuffix("seg/absent", 5).error().code, ErrorCode::kNotFound);
}

TEST_F(HttpStoreTest, StopsWholeReadsAtTheLimit) {
  EXPECT_EQ(ReadAll(99'999), "corrupt: URL: 100000 bytes, more than the limit of 99999");
  Fault fault;
  fault.no_content_length = true;
  server_.Break("/seg/a", fault);
  EXPECT_EQ(ReadAll(99'999), "corrupt: URL: more than the limit of 99999 bytes");
  EXPECT_EQ(server_.request_count(), 2u);
}

TEST_F(HttpStoreTest, UndoesGzipWithinTheLimit) {
  server_.Put("/seg/a", {GzipText(body_), "\"z\"", "", "gzip"});
  EXPECT_EQ(ReadAll(100'000), body_);
  EXPECT_EQ(ReadAll(99'999),
            "corrupt: URL: gzip stream decodes to more than the limit of 99999 bytes");
  server_.Put("/seg/a", {GzipText("") + std::string(70'000, 'x'), "", "", "gzip"});
  EXPECT_THAT(ReadAll(1000), StartsWith("corrupt: URL: gzip stream is damaged"));
  std::string members;
  while (members.size() < 100'000) members += GzipText("");
  server_.Put("/seg/a", {members, "", "", "gzip"});
  EXPECT_EQ(ReadAll(1000),
            "corrupt: URL: the gzip body alone has more than the limit of 1000 bytes");
}

TEST_F(HttpStoreTest, SendsTheQueryWithEveryRequestAndKeepsItOutOfMessages) {
  Reopen("token=secret&x=%2F");
  EXPECT_EQ(Read(0, 1), "0");
  EXPECT_TRUE(store_->Stat("seg/a"));
  auto missing = store_->ReadWhole("seg/my file:1?", 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            server_.origin() + "/seg/my%20file:1%3F: no such object");
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].target, "/seg/a?token=secret&x=%2F");
  EXPECT_EQ(requests[1].target, "/seg/a?token=secret&x=%2F");
  EXPECT_EQ(requests[2].target, "/seg/my%20file:1%3F?token=secret&x=%2F");
}

TEST_F(HttpStoreTest, IsReadOnlyAndDoesNotList) {
  auto listed = store_->List("seg", [](std::string_view, bool) { return true; });
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(listed.error().message,
            server_.origin() + "/seg: plain HTTP cannot list objects; name each one");
  auto writer = store_->Begin("seg/a");
  ASSERT_FALSE(writer);
  EXPECT_EQ(Described(writer.error()), "unsupported: URL: HTTP locations are read-only");
  auto removed = store_->Remove("seg/a", Precondition::None());
  ASSERT_FALSE(removed);
  EXPECT_EQ(Described(removed.error()), "unsupported: URL: HTTP locations are read-only");
  EXPECT_EQ(server_.request_count(), 0u);
}

TEST(UrlPath, EncodesAndDecodes) {
  EXPECT_EQ(EncodeUrlPath("a/b c:d@e+f~%[é]"), "a/b%20c:d@e+f~%25%5B%C3%A9%5D");
  EXPECT_EQ(DecodeUrlPath("a/b%20c%3ad%C3%A9%zz%4"), "a/b c:d\xC3\xA9%zz%4");
  EXPECT_EQ(DecodeUrlPath("a%2Fb%2fc"), "a%2Fb%2fc");
  EXPECT_EQ(EncodeUrlPath("a%2Fb%2fc"), "a%2Fb%2fc");
}

}  // namespace
}  // namespace dolium
