#include "dolium/bytes/http_headers.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace dolium {
namespace {

ResponseHeader Header(std::initializer_list<std::string_view> lines) {
  ResponseHeader header;
  for (const std::string_view line : lines) header.AddLine(line);
  return header;
}

TEST(ParseContentRange, ReadsTheThreeForms) {
  EXPECT_EQ(ParseContentRange("bytes 0-99/1000"),
            (ContentRange{ByteRange{0, 100}, 1000}));
  EXPECT_EQ(ParseContentRange("bytes 5-5/*"),
            (ContentRange{ByteRange{5, 1}, std::nullopt}));
  EXPECT_EQ(ParseContentRange("bytes */1000"), (ContentRange{std::nullopt, 1000}));
  EXPECT_EQ(ParseContentRange(" Bytes  0-0/1 "), (ContentRange{ByteRange{0, 1}, 1}));
  EXPECT_EQ(ParseContentRange("bytes 18446744073709551613-18446744073709551614/*"),
            (ContentRange{ByteRange{~uint64_t{0} - 2, 2}, std::nullopt}));
}

TEST(ParseContentRange, RejectsEverythingElse) {
  for (const std::string_view text :
       {"", "bytes", "bytes ", "bytes0-1/2", "items 0-1/2", "bytes 0-1", "bytes 0/2",
        "bytes -1/2", "bytes 0-/2", "bytes 1-0/2", "bytes 0-2/2", "bytes 0-1/",
        "bytes */*", "bytes 0 -1/2", "bytes 0x0-1/2", "bytes +0-1/2",
        "bytes 0-1/2, bytes 0-1/2", "bytes 0-18446744073709551615/*",
        "bytes 0-1/18446744073709551616"}) {
    EXPECT_FALSE(ParseContentRange(text)) << text;
  }
}

TEST(ParseDecimal, TakesDigitsThatFit) {
  EXPECT_EQ(ParseDecimal("18446744073709551615"), ~uint64_t{0});
  EXPECT_EQ(ParseDecimal("007"), 7u);
  for (const std::string_view text :
       {"", " 1", "1 ", "-1", "+1", "1e3", "18446744073709551616"}) {
    EXPECT_FALSE(ParseDecimal(text)) << text;
  }
}

TEST(ParseStatusLine, ReadsBothVersions) {
  EXPECT_EQ(ParseStatusLine("HTTP/1.1 206 Partial Content\r\n"), 206);
  EXPECT_EQ(ParseStatusLine("HTTP/2 404 \r\n"), 404);
  EXPECT_EQ(ParseStatusLine("HTTP/2 200"), 200);
  for (const std::string_view line :
       {"", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099",
        "HTTP/1.1 600", "HTTP/1.1 abc", "SIP/2.0 200 OK"}) {
    EXPECT_FALSE(ParseStatusLine(line)) << line;
  }
}

TEST(ResponseHeader, FindsFieldsWhateverTheirCase) {
  const auto header =
      Header({"HTTP/1.1 206 OK\r\n", "CONTENT-RANGE:bytes 0-9/10\r\n",
              "content-length:  10  \r\n", "Content-Encoding: GZIP\r\n", "\r\n"});
  EXPECT_EQ(header.status(), 206);
  EXPECT_TRUE(header.complete());
  EXPECT_EQ(header.content_range(), (ContentRange{ByteRange{0, 10}, 10}));
  EXPECT_EQ(header.content_length(), 10u);
  EXPECT_EQ(header.content_encoding(), "gzip");
  EXPECT_TRUE(header.is_encoded());
}

TEST(ResponseHeader, KeepsOnlyTheLastOfSeveralHeads) {
  const auto header = Header({"HTTP/1.1 302 Found\r\n", "ETag: \"old\"\r\n", "\r\n",
                              "HTTP/1.1 200 OK\r\n", "Content-Length: 3\r\n", "\r\n"});
  EXPECT_EQ(header.status(), 200);
  EXPECT_EQ(header.MakeGeneration(3).token, "");
}

TEST(ResponseHeader, IgnoresTrailers) {
  const auto header =
      Header({"HTTP/1.1 200 OK\r\n", "ETag: \"a\"\r\n", "\r\n", "ETag: \"b\"\r\n"});
  EXPECT_EQ(header.MakeGeneration(1).token, "etag \"a\"");
}

TEST(ResponseHeader, DoubledFieldsDoNotParse) {
  const auto header = Header({"HTTP/1.1 206 OK\r\n", "Content-Range: bytes 0-9/10\r\n",
                              "Content-Range: bytes 0-9/10\r\n", "Content-Length: 1\r\n",
                              "Content-Length: 2\r\n", "\r\n"});
  EXPECT_EQ(header.content_range_text(), "bytes 0-9/10, bytes 0-9/10");
  EXPECT_FALSE(header.content_range());
  EXPECT_FALSE(header.content_length());
}

TEST(ResponseHeader, WithoutAContentEncodingIsIdentity) {
  EXPECT_EQ(Header({"HTTP/1.1 200 OK", ""}).content_encoding(), "identity");
  EXPECT_FALSE(Header({"HTTP/1.1 200 OK", "Content-Encoding:", ""}).is_encoded());
}

TEST(ResponseHeader, MakesGenerationsFromTheBestThereIs) {
  const std::string_view modified = "Last-Modified: Sat, 01 Jan 2022 00:00:00 GMT";
  EXPECT_EQ(Header({"HTTP/2 200", "ETag: \"x\"", modified, ""}).MakeGeneration(5).token,
            "etag \"x\"");
  EXPECT_EQ(Header({"HTTP/2 200", "ETag: W/\"x\"", ""}).MakeGeneration(5).token,
            "etag W/\"x\"");
  EXPECT_EQ(Header({"HTTP/2 200", modified, ""}).MakeGeneration(5).token,
            "modified Sat, 01 Jan 2022 00:00:00 GMT, size 5");
  EXPECT_EQ(Header({"HTTP/2 200", ""}).MakeGeneration(5).token, "")
      << "a size alone proves nothing";
  EXPECT_EQ(Header({"HTTP/2 200", ""}).MakeGeneration(std::nullopt).token, "");
}

}  // namespace
}  // namespace dolium
