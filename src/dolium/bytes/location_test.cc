#include "dolium/bytes/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Path(std::string_view text) {
  auto location = ParseLocation(text);
  return location ? location->path : "error: " + location.error().message;
}

std::string Described(std::string_view text) {
  auto location = ParseLocation(text);
  return location ? location->Describe() : "error: " + location.error().message;
}

Error ErrorOf(std::string_view text) {
  auto location = ParseLocation(text);
  return location ? Error{ErrorCode::kExists, "no error: " + location->path}
                  : location.error();
}

TEST(ParseLocation, TakesPathsAsTheyAre) {
  EXPECT_EQ(Described("seg/s0"), "seg/s0");
  EXPECT_EQ(Described("/data/seg"), "/data/seg");
  EXPECT_EQ(Path("."), ".");
  EXPECT_EQ(Path("../seg"), "../seg");
  EXPECT_EQ(Path("C:\\data\\seg"), "C:\\data\\seg");
  EXPECT_EQ(Path("a:b/c"), "a:b/c");
  EXPECT_EQ(Path("my seg%20"), "my seg%20");
}

TEST(ParseLocation, DropsTrailingSlashesButKeepsTheRoot) {
  EXPECT_EQ(Path("seg//"), "seg");
  EXPECT_EQ(Path("/data/"), "/data");
  EXPECT_EQ(Path("/"), "/");
  EXPECT_EQ(Path("//"), "/");
  EXPECT_EQ(Path("file:///"), "/");
  EXPECT_EQ(Path("http://host/seg//"), "seg");
  EXPECT_EQ(Path("http://host/"), "");
  EXPECT_EQ(Path("http://host"), "");
}

TEST(ParseLocation, DecodesFileUrls) {
  EXPECT_EQ(Path("file:///data/my%20seg/"), "/data/my seg");
  EXPECT_EQ(Path("file://localhost/data"), "/data");
  EXPECT_EQ(Path("FILE:///data"), "/data");
  EXPECT_EQ(ErrorOf("file://host/data").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("file://host/data").message,
            "file://host/data: names the host \"host\"; a local file has three slashes: "
            "file:///path");
  EXPECT_EQ(ErrorOf("file://").message, "file://: has no path");
  EXPECT_EQ(ErrorOf("file:///a%00b").message, "the location has a NUL character in it");
}

TEST(ParseLocation, SplitsHttpUrls) {
  EXPECT_EQ(Path("https://Host.example:8443/a/b"), "a/b");
  EXPECT_EQ(Described("HTTPS://Host.example:8443/a/B/"), "https://host.example:8443/a/B");
  EXPECT_EQ(Described("http://[::1]:80/a"), "http://[::1]:80/a");
  EXPECT_EQ(Path("http://host/a/./b/../c"), "a/c");
  EXPECT_EQ(Path("http://host/../../c"), "c");
  EXPECT_EQ(Path("http://host/a//b"), "a//b");
}

TEST(ParseLocation, DecodesAndEncodesUrlPaths) {
  EXPECT_EQ(Path("http://host/my%20seg/8%3A8"), "my seg/8:8");
  EXPECT_EQ(Described("http://host/my seg/a:b"), "http://host/my%20seg/a:b");
  EXPECT_EQ(Described("http://host/o/a%2Fb%3fc"), "http://host/o/a%2Fb%3Fc");
}

TEST(ParseLocation, KeepsTheQueryOutOfPathsAndMessages) {
  EXPECT_EQ(Path("http://host/seg/?token=secret"), "seg");
  EXPECT_EQ(Described("http://host/seg?token=secret"), "http://host/seg");
  EXPECT_THAT(ErrorOf("http://host/seg?token=secret#f").message,
              Not(HasSubstr("secret")));
  EXPECT_THAT(ErrorOf("http://host/seg?token=se cret").message, Not(HasSubstr("cret")));
  EXPECT_THAT(ErrorOf("ftp://host/seg?token=secret").message, Not(HasSubstr("secret")));
}

TEST(ParseLocation, StripsThePrecomputedSpellings) {
  EXPECT_EQ(Described("precomputed://https://host/seg/"), "https://host/seg");
  EXPECT_EQ(Described("precomputed://gs://bucket/seg"),
            "https://storage.googleapis.com/bucket/seg");
  EXPECT_EQ(Described("precomputed://seg/s0"), "seg/s0");
  EXPECT_EQ(Described("https://host/seg/|neuroglancer-precomputed:"), "https://host/seg");
  EXPECT_EQ(ErrorOf("precomputed://").message, "the location is empty");
}

TEST(ParseLocation, MapsGoogleBucketsToTheirPublicAddress) {
  EXPECT_EQ(Described("gs://bucket/a/b/"), "https://storage.googleapis.com/bucket/a/b");
  EXPECT_EQ(Described("gs://bucket/a%20b"),
            "https://storage.googleapis.com/bucket/a%2520b");
  EXPECT_EQ(ErrorOf("gs:///a").message, "gs:///a: has no bucket");
}

TEST(ParseLocation, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ErrorOf("").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("").message, "the location is empty");
  EXPECT_EQ(ErrorOf("s3://bucket/seg").code, ErrorCode::kUnsupported);
  EXPECT_EQ(
      ErrorOf("s3://bucket/seg").message,
      "s3://bucket/seg: S3 is not supported yet; a public bucket can be read at its "
      "https:// address");
  EXPECT_EQ(ErrorOf("ftp://host/seg").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("ftp://host/seg").message,
            "ftp://host/seg: unknown scheme \"ftp\"; known are file, http, https, gs and "
            "precomputed");
  EXPECT_EQ(ErrorOf("http://").message, "\"http://\" is not http[s]://host[:port]");
  EXPECT_EQ(ErrorOf("http://ho st/x").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("http://host:99999/x").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("http://me:pass@host/x").message,
            "user names and passwords in URLs are not supported");
  EXPECT_EQ(ErrorOf("http://host/a#b").message,
            "http://host/a: has a fragment; write %23 for # in a name");
}

TEST(ParseLocation, SharesStores) {
  const auto a = ParseLocation("http://host/a");
  const auto b = ParseLocation("HTTP://HOST/b");
  const auto with_query = ParseLocation("http://host/a?t=1");
  const auto other_host = ParseLocation("http://host2/a");
  ASSERT_TRUE(a && b && with_query && other_host);
  EXPECT_EQ(a->store, b->store);
  EXPECT_NE(a->store, with_query->store);
  EXPECT_NE(a->store, other_host->store);

  const auto file = ParseLocation("seg");
  const auto file_url = ParseLocation("file:///data");
  ASSERT_TRUE(file && file_url);
  EXPECT_EQ(file->store, file_url->store);
}

TEST(Location, WalksUpAndDown) {
  const auto location = ParseLocation("https://host/seg/s0?t=1");
  ASSERT_TRUE(location);
  EXPECT_EQ(location->Child("1f.shard").Describe(), "https://host/seg/s0/1f.shard");
  EXPECT_EQ(location->Parent().Describe(), "https://host/seg");
  EXPECT_EQ(location->Parent().Parent().Describe(), "https://host");
  EXPECT_EQ(location->Parent().Parent().Child("x").Describe(), "https://host/x");
}

}  // namespace
}  // namespace dolium
