#include "dolium/ops/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"

namespace dolium {
namespace {

using testing::ElementsAre;

using CsvRows = std::vector<std::vector<std::string>>;

// Taken in segments of so many bytes.
Result<CsvRows> CsvRowsOf(std::string_view text, size_t segment = 1) {
  CsvRows rows;
  CsvParser parser([&](uint64_t, std::span<const std::string> fields) -> Result<void> {
    rows.emplace_back(fields.begin(), fields.end());
    return {};
  });
  for (size_t at = 0; at < text.size(); at += segment) {
    DOLIUM_TRY_VOID(parser.Take(text.substr(at, segment)));
  }
  DOLIUM_TRY_VOID(parser.Finish());
  return rows;
}

std::string CsvErrorOf(std::string_view text) {
  const auto rows = CsvRowsOf(text);
  return rows ? "" : rows.error().message;
}

TEST(CsvParser, ReadsFieldsOfAllKinds) {
  const std::string text =
      "\xef\xbb\xbfname,\"a, b\"\r\n\r\n1,\"two\nlines, \"\"quoted\"\"\"\n,\n\"\",x";
  for (const size_t segment : {1, 3, 100}) {
    const auto rows = CsvRowsOf(text, segment);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_THAT(*rows, ElementsAre(ElementsAre("name", "a, b"),
                                   ElementsAre("1", "two\nlines, \"quoted\""),
                                   ElementsAre("", ""), ElementsAre("", "x")));
  }
  EXPECT_TRUE(CsvRowsOf("")->empty());
  EXPECT_THAT(*CsvRowsOf("\xef\xbb\xbf\"id\",x\n1,"),
              ElementsAre(ElementsAre("id", "x"), ElementsAre("1", "")));
}

TEST(CsvParser, NamesTheRowThatIsWrong) {
  EXPECT_EQ(CsvErrorOf("a,b\n1\n"), "row 2: 1 fields, expected 2");
  EXPECT_EQ(CsvErrorOf("a,b\n1,2\"3\n"), "row 2: a quote within \"2\"");
  EXPECT_EQ(CsvErrorOf("a\n\"b\"c\n"), "row 2: \"b\" goes on behind its closing quote");
  EXPECT_EQ(CsvErrorOf("a\n\"b\n"), "row 2: a quote that is not closed");
}

TEST(CsvFields, AreReadAsTheyAreWritten) {
  for (const std::string field :
       {"plain", "with, comma", "\"quoted\"", "two\nlines", ""}) {
    std::string line = "x,";
    AppendCsvField(field, line);
    const auto rows = CsvRowsOf(line);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->front().back(), field);
  }
}

TEST(CsvNumbers, AreWholeFields) {
  EXPECT_EQ(*ParseCsvNumber("-1.5e3"), -1500);
  EXPECT_EQ(ParseCsvNumber("1 ").error().message, "\"1 \" is no number");
  EXPECT_EQ(*ParseCsvId("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(ParseCsvId("-1").error().message,
            "\"-1\" is no whole number from 0 to 18446744073709551615");
}

TEST(ReadCsv, NamesTheObject) {
  const Location at{std::make_shared<MemoryStore>("test"), "a.csv"};
  const auto visit = [](uint64_t, std::span<const std::string>) -> Result<void> {
    return {};
  };
  EXPECT_EQ(ReadCsv(at, {}, visit).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(at.store->Put("a.csv", AsBytes("a,b\n1\n"), Precondition::None()));
  EXPECT_EQ(ReadCsv(at, {}, visit).error().message,
            "memory://test/a.csv: row 2: 1 fields, expected 2");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ReadCsv(at, stop.get_token(), visit).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace dolium
