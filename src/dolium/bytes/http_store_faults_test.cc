// What HttpStore does about servers that fail or misbehave.

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/http_store.h"
#include "dolium/bytes/testing/encoded_text.h"
#include "dolium/bytes/testing/http_store_fixture.h"

namespace dolium {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(HttpStoreTest, RetriesOverloadAndServerErrors) {
  for (const int status : {408, 429, 500, 503}) {
    Fault fault;
    fault.status = status;
    server_.Break("/seg/a", fault);
  }
  EXPECT_EQ(Read(10, 5), body_.substr(10, 5));
  EXPECT_EQ(server_.request_count(), 5u);
  EXPECT_EQ(store_->stats().retries, 4u);
  EXPECT_EQ(connections(), 1u);
  ASSERT_EQ(delays_.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_GE(delays_[i], milliseconds(50 << i));
    EXPECT_LE(delays_[i], milliseconds(100 << i));
  }
}

TEST_F(HttpStoreTest, GivesUpAfterTheLastAttempt) {
  Fault fault;
  fault.status = 503;
  server_.Break("/seg/a", fault, 100);
  EXPECT_EQ(Read(0, 1), "unavailable: URL: HTTP 503 (attempt 5 of 5)");
  EXPECT_EQ(server_.request_count(), 5u);
  EXPECT_EQ(store_->stats().requests, 5u);
  EXPECT_EQ(store_->stats().retries, 4u);
}

TEST_F(HttpStoreTest, HonoursRetryAfter) {
  Fault fault;
  fault.status = 429;
  fault.headers = {"Retry-After: 3"};
  server_.Break("/seg/a", fault);
  fault.headers = {"Retry-After: 86400"};
  server_.Break("/seg/a", fault);
  EXPECT_EQ(Read(0, 1), "0");
  EXPECT_THAT(delays_, ElementsAre(milliseconds(3000), milliseconds(5000)));
}

TEST_F(HttpStoreTest, NeverRetriesOtherClientErrors) {
  for (const int status : {400, 401, 403, 409, 418}) {
    Fault fault;
    fault.status = status;
    server_.Break("/seg/a", fault);
  }
  EXPECT_EQ(Read(0, 1), "io: URL: HTTP 400");
  EXPECT_EQ(
      Read(0, 1),
      "io: URL: HTTP 401; the server wants credentials, or others than those in the "
      "query of the location");
  EXPECT_THAT(Read(0, 1), StartsWith("io: URL: HTTP 403; "));
  EXPECT_EQ(Read(0, 1), "io: URL: HTTP 409");
  EXPECT_EQ(Read(0, 1), "io: URL: HTTP 418");
  EXPECT_EQ(server_.request_count(), 5u);
}

TEST_F(HttpStoreTest, TakesForbiddenForMissingAtGoogleAndAmazonOnly) {
  EXPECT_TRUE(ForbiddenIsMissing("storage.googleapis.com"));
  EXPECT_TRUE(ForbiddenIsMissing("storage.googleapis.com:443"));
  EXPECT_TRUE(ForbiddenIsMissing("b.s3.us-east-1.amazonaws.com"));
  EXPECT_FALSE(ForbiddenIsMissing("notamazonaws.com"));
  EXPECT_FALSE(ForbiddenIsMissing("storage.googleapis.com.example.org"));

  options_.transfer.connect_to = {fmt::format("::127.0.0.1:{}", server_.port())};
  auto store = HttpStore::Open("http://storage.googleapis.com", "", options_);
  ASSERT_TRUE(store);
  Fault fault;
  fault.status = 403;
  server_.Break("/bucket/x", fault, 2);
  auto info = (*store)->Stat("bucket/x");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_FALSE(info->has_value());
  auto whole = (*store)->ReadWhole("bucket/x", 10);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message,
            "http://storage.googleapis.com/bucket/x: no such object");
  ASSERT_EQ(server_.request_count(), 2u);
  EXPECT_EQ(server_.requests()[0].header("host"), "storage.googleapis.com");
}

TEST_F(HttpStoreTest, RetriesBrokenBodiesAndConnections) {
  Fault truncated;
  truncated.body_bytes_sent = 7;
  server_.Break("/seg/a", truncated);
  Fault short_and_closed;
  short_and_closed.body_bytes_sent = 7;
  short_and_closed.no_content_length = true;
  server_.Break("/seg/a", short_and_closed);
  Fault closed;
  closed.close_at_once = true;
  server_.Break("/seg/a", closed);
  EXPECT_EQ(Read(100, 50), body_.substr(100, 50));
  EXPECT_EQ(server_.request_count(), 4u);
  EXPECT_EQ(store_->stats().retries, 3u);
}

TEST_F(HttpStoreTest, TellsTheLastCauseOfABrokenBody) {
  Fault fault;
  fault.body_bytes_sent = 7;
  fault.no_content_length = true;
  server_.Break("/seg/a", fault, 5);
  EXPECT_EQ(Read(100, 50),
            "unavailable: URL: the body of bytes [100, 150) ends after 7 of 50 bytes "
            "(attempt 5 of 5)");
  fault.no_content_length = false;
  server_.Break("/seg/a", fault, 5);
  EXPECT_EQ(Read(100, 50),
            "unavailable: URL: transfer closed with 43 bytes remaining to read (attempt "
            "5 of 5)");
}

TEST_F(HttpStoreTest, GivesUpOnAServerThatIsNotThere) {
  std::string origin;
  {
    const HttpTestServer gone;
    origin = gone.origin();
  }
  auto store = HttpStore::Open(origin, "", options_);
  ASSERT_TRUE(store);
  auto read = (*store)->ReadRange("a", {0, 1});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(read.error().message, StartsWith(origin + "/a: Failed to connect"));
  EXPECT_THAT(read.error().message, HasSubstr("(attempt 5 of 5)"));
  EXPECT_EQ((*store)->stats().requests, 5u);
}

TEST_F(HttpStoreTest, TimesOutAndRetries) {
  options_.transfer.attempt_timeout = milliseconds(500);
  Reopen();
  Fault slow;
  slow.body_delay = milliseconds(1500);
  server_.Break("/seg/a", slow, 1);
  EXPECT_EQ(Read(0, 4), body_.substr(0, 4));
  // On a busy machine the answer that is not held up may come too late as well.
  EXPECT_GE(store_->stats().retries, 1u);
  EXPECT_EQ(server_.request_count(), store_->stats().retries + 1);
  options_.retry.attempts = 1;
  Reopen();
  server_.Break("/seg/a", slow, 1);
  const std::string message = Read(0, 4);
  EXPECT_THAT(message, StartsWith("unavailable: URL: Operation timed out after "));
  EXPECT_THAT(message, HasSubstr("(attempt 1 of 1)"));
}

TEST_F(HttpStoreTest, RefusesAServerThatIgnoresRange) {
  Fault fault;
  fault.ignore_range = true;
  server_.Break("/seg/a", fault);
  EXPECT_EQ(
      Read(5, 10),
      "unsupported: URL: the server ignores Range (200 instead of 206 to bytes [5, 15)); "
      "use a server that answers range requests, or a local copy");
  EXPECT_EQ(server_.request_count(), 1u);
}

TEST_F(HttpStoreTest, RefusesAnEncodedRange) {
  Fault fault;
  fault.headers = {"Content-Encoding: gzip"};
  server_.Break("/seg/a", fault);
  EXPECT_EQ(
      Read(5, 10),
      "unsupported: URL: the server answers bytes [5, 15) with Content-Encoding gzip, "
      "where only identity makes sense; store or serve the object without it");
  EXPECT_EQ(server_.request_count(), 1u);
}

TEST_F(HttpStoreTest, RefusesAContentRangeThatIsNotTheOneAskedFor) {
  const std::string before =
      "io: URL: asked for bytes [5, 15), that is \"bytes=5-14\", but Content-Range is ";
  for (const std::string wrong :
       {"bytes 6-15/100000", "bytes 5-13/100000", "bytes 0-14/100000", "bytes 5-14/10",
        "bytes 5-14", "items 5-14/100000", ""}) {
    Fault fault;
    fault.content_range = wrong;
    server_.Break("/seg/a", fault);
    EXPECT_EQ(Read(5, 10), fmt::format("{}\"{}\"", before, wrong));
  }
  EXPECT_EQ(server_.request_count(), 7u);
}

TEST_F(HttpStoreTest, RefusesABodyLongerThanItsRange) {
  Fault fault;
  fault.body_suffix = "x";
  server_.Break("/seg/a", fault);
  EXPECT_EQ(Read(5, 10), "io: URL: asked for bytes [5, 15), but the body is longer");
  EXPECT_EQ(server_.request_count(), 1u);
}

TEST_F(HttpStoreTest, RetriesStat) {
  Fault fault;
  fault.status = 500;
  server_.Break("/seg/a", fault, 2);
  auto info = store_->Stat("seg/a");
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->size, 100'000u);
  EXPECT_EQ(server_.request_count(), 3u);
}

TEST_F(HttpStoreTest, RefusesACutOffGzipBody) {
  const std::string cut = GzipText(body_).substr(0, 5000);
  server_.Put("/seg/a", {cut, "\"z\"", "", "gzip"});
  EXPECT_EQ(ReadAll(), "corrupt: URL: the gzip body ends early, after 5000 bytes");
  EXPECT_EQ(server_.request_count(), 1u);
}

TEST_F(HttpStoreTest, UndoesBrotliAndZstdAndRefusesThemCutOff) {
  for (const auto& [encoding, name, stored] :
       {std::tuple{"br", "brotli", BrotliText(body_)},
        {"zstd", "zstd", ZstdText(body_)}}) {
    server_.Put("/seg/a", {stored, "\"z\"", "", encoding});
    EXPECT_EQ(ReadAll(), body_) << name;
    server_.Put("/seg/a", {stored.substr(0, 500), "\"z\"", "", encoding});
    EXPECT_EQ(ReadAll(),
              fmt::format("corrupt: URL: the {} body ends early, after 500 bytes", name));
    server_.Put("/seg/a", {"not " + body_, "\"z\"", "", encoding});
    EXPECT_THAT(ReadAll(), HasSubstr(fmt::format("{} stream is damaged", name)));
  }
}

TEST_F(HttpStoreTest, RetriesAGzipBodyThatEndsWithItsConnection) {
  server_.Put("/seg/a", {GzipText(body_), "\"z\"", "", "gzip"});
  Fault fault;
  fault.no_content_length = true;
  fault.body_bytes_sent = 5000;
  server_.Break("/seg/a", fault);
  EXPECT_EQ(ReadAll(), body_);
  EXPECT_EQ(server_.request_count(), 2u);
}

TEST_F(HttpStoreTest, RefusesEncodingsNotAskedFor) {
  server_.Put("/seg/a", {body_, "", "", "deflate"});
  EXPECT_EQ(ReadAll(),
            "unsupported: URL: Content-Encoding is deflate, which was not asked for; "
            "understood "
            "are gzip, br, zstd");
}

TEST_F(HttpStoreTest, FollowsRedirectsUpToFive) {
  Fault redirect;
  redirect.status = 302;
  redirect.headers = {"Location: /seg/a", "ETag: \"of the redirect\""};
  server_.Break("/seg/moved", redirect);
  auto read = store_->ReadRanges("seg/moved", std::vector<ByteRange>{{4, 4}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(AsText(read->parts[0]), body_.substr(4, 4));
  EXPECT_EQ(read->info.generation.token, "etag \"one\"");
  EXPECT_EQ(server_.request_count(), 2u);

  server_.Break("/seg/a", redirect, 100);
  EXPECT_EQ(Read(0, 1), "io: URL: Maximum (5) redirects followed");
  EXPECT_EQ(server_.request_count(), 8u);

  redirect.headers = {"Location: file:///etc/passwd"};
  server_.Break("/seg/local", redirect);
  auto local = store_->ReadWhole("seg/local", 1000);
  ASSERT_FALSE(local);
  EXPECT_EQ(local.error().code, ErrorCode::kIo);
  EXPECT_THAT(local.error().message, HasSubstr("file"));
}

}  // namespace
}  // namespace dolium
