#include "dolium/formats/dvid/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

std::string CsvError(std::string_view text) {
  const auto index = ParseCsvIndex(text);
  return index ? "none" : index.error().message;
}

TEST(ParseCsvIndex, ReadsWhatDvidWritesAndWhatItDocuments) {
  for (const std::string_view header : {"# schema_size=0\n", "# schema_size=688\n", ""}) {
    const std::string text = std::string(header) +
                             "x,y,z,offset,size,batch_idx\n2,0,-1,0,10264,0\n"
                             "2,1,0,10264,5792,3\n";
    const ShardIndex index = Must(ParseCsvIndex(text));
    EXPECT_TRUE(index.has_ranges);
    ASSERT_EQ(index.rows.size(), 2U);
    EXPECT_EQ(index.rows[0].key, (Key{2, 0, -1}));
    EXPECT_EQ(index.rows[1].range, (ByteRange{10264, 5792}));
    EXPECT_EQ(index.rows[1].row, 3U);
  }
}

TEST(ParseCsvIndex, ReadsTransitionalForms) {
  const ShardIndex rec = Must(ParseCsvIndex("x,y,z,rec\n5,6,7,1\n"));
  EXPECT_FALSE(rec.has_ranges);
  EXPECT_EQ(rec.rows.at(0).record, 1U);
  const ShardIndex morton = Must(ParseCsvIndex("x,y,z,rec,morton\n5,6,7,1\n"));
  EXPECT_EQ(morton.rows.at(0).key, (Key{5, 6, 7}));
  const ShardIndex offsets = Must(ParseCsvIndex("x,y,z,rec,offset,size\n5,6,7,1,8,9\n"));
  EXPECT_EQ(offsets.rows.at(0).range, (ByteRange{8, 9}));
}

TEST(ParseCsvIndex, RejectsWhatIsNoIndex) {
  EXPECT_THAT(CsvError(""), HasSubstr("its header is \"\""));
  EXPECT_THAT(CsvError("a,b,c\n"), HasSubstr("expected x,y,z"));
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,3\n"), "line 2: 3 values, expected 4");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,3,4,5\n"), "line 2: 5 values, expected 4");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,9999999999,4\n"),
            "line 2: a coordinate is not a number of 32 bits");
  EXPECT_EQ(CsvError("x,y,z,offset,size\n1,2,3,18446744073709551615,2\n"),
            "line 2: 2 bytes at 18446744073709551615 end past 2^64");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,3,4 4\n"), "line 2: \"4 4\" is not a number");
}

TEST(ParseCsvIndex, ReadsWhatWentThroughOtherHands) {
  const std::string plain =
      "x,y,z,offset,size,batch_idx\n2,0,-1,0,10264,0\n2,1,0,10264,5,3\n";
  const ShardIndex expected = Must(ParseCsvIndex(plain));
  std::string crlf = plain;
  for (size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) {
    crlf.replace(at, 1, "\r\n");
  }
  for (const std::string& text :
       {"\xef\xbb\xbf" + plain, "\xef\xbb\xbf# schema_size=688\r\n" + crlf, crlf + "\r\n",
        plain + "\n", plain + " \n\t\r\n\n", plain.substr(0, plain.size() - 1),
        std::string("\"# schema_size=0\"\n\"x\",\"y\",\"z\",\"offset\",\"size\","
                    "\"batch_idx\"\n\"2\",\"0\",\"-1\",\"0\",\"10264\",\"0\"\n"
                    "\"2\", \"1\" ,\"0\",\"10264\",\" 5 \",\"3\"\n"),
        std::string(" x , y,z\t,offset,size,batch_idx\n  2, 0, -1, 0, 10264, 0\n"
                    "2,1,0,10264,5,3  \n")}) {
    const auto index = ParseCsvIndex(text);
    ASSERT_TRUE(index) << text << ": " << index.error().message;
    ASSERT_EQ(index->rows.size(), expected.rows.size()) << text;
    for (size_t i = 0; i < expected.rows.size(); ++i) {
      EXPECT_EQ(index->rows[i].key, expected.rows[i].key) << text;
      EXPECT_EQ(index->rows[i].range, expected.rows[i].range) << text;
      EXPECT_EQ(index->rows[i].row, expected.rows[i].row) << text;
    }
  }
  EXPECT_EQ(CsvError("x,y,z,rec\n\n1,2,3,4\n"), "line 2: 0 values, expected 4");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,\"3,4\"\n"),
            "line 2: a coordinate is not a number of 32 bits");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,3,\"4\n"), "line 2: \"\"4\" is not a number");
  EXPECT_EQ(CsvError("x,y,z,rec\n1,2,3,\"\"4\"\"\n"),
            "line 2: \"\"4\"\" is not a number");
}

TEST(ParseJsonIndex, ReadsKeysAndRecords) {
  const ShardIndex index = Must(ParseJsonIndex(R"({"2_1_0": 1, "2_0_0": 0})"));
  ASSERT_EQ(index.rows.size(), 2U);
  EXPECT_EQ(index.rows[0].key, (Key{2, 0, 0}));
  EXPECT_EQ(JsonText(index.rows), R"({"2_0_0":0,"2_1_0":1})");
  EXPECT_FALSE(ParseJsonIndex("[1]"));
  EXPECT_FALSE(ParseJsonIndex(R"({"2_1": 1})"));
  EXPECT_FALSE(ParseJsonIndex(R"({"2_1_0": -1})"));
  EXPECT_FALSE(ParseJsonIndex("{"));
}

TEST(ParseKey, TakesOneTextForOneKey) {
  EXPECT_EQ(ParseKey("-1_0_7"), (Key{-1, 0, 7}));
  for (const char* text : {"", "1_2", "1_2_3_4", "01_2_3", "1_2_+3", "1__3", "1_2_3_"}) {
    EXPECT_EQ(ParseKey(text), std::nullopt) << text;
  }
}

TEST(FindFooter, FindsBothOrders) {
  const std::string json = "{}";
  const std::string length("\2\0\0\0\0\0\0\0", 8);
  for (const std::string& tail : {length + "CHUNKIDX", "CHUNKIDX" + length}) {
    EXPECT_EQ(Must(FindFooter(AsBytes(tail), 118)), (ByteRange{100, 2}));
  }
  const std::string none(16, 'x');
  EXPECT_EQ(Must(FindFooter(AsBytes(none), 118)), std::nullopt);
  EXPECT_THAT(FindFooter(AsBytes(length + "CHUNKIDX"), 17).error().message,
              HasSubstr("claims 2 bytes of JSON in an object of 17"));
}

TEST(CsvText, WritesBothForms) {
  const std::vector<IndexRow> rows = {{{2, 0, 0}, 0, {688, 100}, 0},
                                      {{2, 1, 0}, 1, {788, 50}, 0}};
  EXPECT_EQ(CsvText(rows, 688, CsvForm::kDocumented),
            "# schema_size=688\nx,y,z,offset,size,batch_idx\n2,0,0,688,100,0\n"
            "2,1,0,788,50,0\n");
  EXPECT_EQ(CsvText(rows, 688, CsvForm::kDvid),
            "# schema_size=0\nx,y,z,offset,size,batch_idx\n2,0,0,0,788,0\n"
            "2,1,0,788,50,0\n");
}

}  // namespace
}  // namespace dolium::dvid
