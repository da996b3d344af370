#include "dolium/formats/shardpack/names.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::shardpack {
namespace {

using namespace std::string_view_literals;

TEST(IsPlainText, DistinguishesUtf8FromOtherBytes) {
  for (const std::string_view good :
       {""sv, "a"sv, "12345678"sv, "123456789"sv, "\x7f"sv, "größer"sv, "12345678ß"sv,
        "\u65e5\u672c"sv, "\xf0\x9f\x98\x80"sv, "\xf4\x8f\xbf\xbf"sv, "\xee\x80\x80"sv}) {
    EXPECT_TRUE(IsPlainText(good)) << good;
  }
  for (const std::string_view bad :
       {"\0"sv, "1234567\0"sv, "12345678\0"sv, "ß\0ß"sv, "\x80"sv, "\xc3"sv, "\xc0\x80"sv,
        "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xed\xa0\x80"sv, "\xf0\x8f\xbf\xbf"sv,
        "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv, "\xe6\x97"sv,
        "12345678\xff"sv}) {
    EXPECT_FALSE(IsPlainText(bad)) << bad;
  }
}

TEST(CheckKey, TakesOneTo65535Bytes) {
  EXPECT_TRUE(CheckKey("images17/image194"));
  EXPECT_TRUE(CheckKey("/../any text"));
  EXPECT_TRUE(CheckKey(std::string(65535, 'k')));
  EXPECT_EQ(CheckKey("").error().message, "a key of 0 bytes, 1 to 65535 are possible");
  EXPECT_EQ(CheckKey(std::string(65536, 'k')).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(CheckKey("a\0b"sv).error().message, "a key with a zero byte");
  EXPECT_EQ(CheckKey("\xff").error().message, "a key that is not UTF-8");
}

TEST(CheckEntryName, RefusesWhatIsNotSafeToExtract) {
  for (const auto good : {"left.jpg", "a/b/c", "..a", "a..", "a/...", "."}) {
    EXPECT_TRUE(CheckEntryName(good)) << good;
  }
  for (const auto bad : {"", "/etc/passwd", "..", "../a", "a/..", "a/../b"}) {
    EXPECT_FALSE(CheckEntryName(bad)) << bad;
  }
  EXPECT_EQ(CheckEntryName("a/../b").error().message,
            "entry \"a/../b\": the name leads upwards");
}

TEST(CheckContentType, MayBeEmpty) {
  EXPECT_TRUE(CheckContentType(""));
  EXPECT_TRUE(CheckContentType("image/jpeg"));
  EXPECT_FALSE(CheckContentType("image\0jpeg"sv));
  EXPECT_FALSE(CheckContentType(std::string(65536, 't')));
}

}  // namespace
}  // namespace dolium::shardpack
