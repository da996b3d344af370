#include "cli/terminal/json_line.h"

#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

TEST(JsonLine, BeginsWithTypeAndSchema) {
  EXPECT_EQ(ToLine(TypedLine("entry", {{"key", "a"}, {"size", 3}})),
            R"({"type":"entry","schema":1,"key":"a","size":3})");
}

TEST(JsonLine, HasNamesThatAreNotUtf8InHex) {
  EXPECT_EQ(ToLine({{"key", "a\xff"}, {"object", "b"}}),
            R"({"key_hex":"61ff","object":"b"})");
  EXPECT_EQ(ToLine({{"files", Json::array({"a\xff", "b"})}}),
            R"({"files":[{"hex":"61ff"},"b"]})");
  EXPECT_EQ(ToLine({{"message", "a\xff: no"}}), "{\"message\":\"a\uFFFD: no\"}");
}

TEST(JsonLine, HasTimesWithTheirZone) {
  EXPECT_EQ(JsonTime(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(JsonTime(1'700'000'000'500'000'000), "2023-11-14T22:13:20.5Z");
  EXPECT_EQ(JsonTime(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(JsonLine, HasNumbersAsNumbers) {
  EXPECT_EQ(ToLine(PropertiesJson({{"a", 7U}, {"b", "7"}, {"c", true}, {"d", 0.5}})),
            R"({"a":7,"b":"7","c":true,"d":0.5})");
}

}  // namespace
}  // namespace dolium::cli
