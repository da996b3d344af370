#include "dolium/domain/dataset/imports/jsonl.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/dataset/imports/sample_json.h"
#include "dolium/domain/dataset/imports/testing/samples.h"
#include "dolium/domain/dataset/imports/text_values.h"

namespace dolium::dataset {
namespace {

using shardpack::MetadataFormat;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<SampleSource> Open(std::string_view text,
                                   const ImportOptions& options = {}) {
  return ReadJsonLines(Must(InputStream::Open(Bytes::Copy(AsBytes(text)), "t.jsonl")),
                       options);
}

class JsonLinesTest : public ::testing::Test {
 protected:
  std::string Write(const std::vector<shardpack::Sample>& samples) const {
    WriteAll(*Must(CreateJsonLines(path_, {.force = true})), samples);
    return ReadFile(path_);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/t.jsonl";
};

TEST_F(JsonLinesTest, MakesEachLineASample) {
  const auto source = Open("{\"a\": 1}\r\n\n[1, 2]\n{\"id\": 7}\n{\"key\":\"k\"}");
  const auto samples = ReadAll(*source);
  EXPECT_THAT(Described(samples),
              ElementsAre("000000000: json={\"a\": 1}", "000000001: json=[1, 2]",
                          "7: json={\"id\": 7}", "k: json={\"key\":\"k\"}"));
  EXPECT_EQ(samples[0].files[0].content_type, "application/json");
}

TEST_F(JsonLinesTest, TakesTheFirstKeyThatIsOne) {
  EXPECT_THAT(
      Described(ReadAll(*Open(R"({"id": 1, "key": "b", "__key__": "c"})"
                              "\n"
                              R"({"id": 1.5, "key": null})"
                              "\n"
                              R"({"id": ""})"))),
      ElementsAre(HasSubstr("c: "), HasSubstr("1.5: "), HasSubstr("000000002: ")));
}

TEST_F(JsonLinesTest, SaysWhichLineIsNoJson) {
  EXPECT_EQ(FirstError(*Open("{}\n\n{\n")), "corrupt: t.jsonl: line 3: not valid JSON");
  EXPECT_THAT(FirstError(*Open(std::string(200, '[') + "\n")),
              HasSubstr("t.jsonl: line 1: JSON nested 200 levels deep"));
  EXPECT_THAT(FirstError(*Open("{\"a\": 123456}", {.max_file_bytes = 5})),
              HasSubstr("the line at byte 0 has more than the limit of 5 bytes"));
}

TEST_F(JsonLinesTest, ReadsLinesOfAnyLength) {
  const std::string large = "\"" + std::string(5'000'000, 'x') + "\"";
  const auto samples = ReadAll(*Open("1\n" + large + "\n2\n" + large));
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(AsText(samples[1].files[0].data), large);
  EXPECT_EQ(AsText(samples[2].files[0].data), "2");
  EXPECT_EQ(AsText(samples[3].files[0].data), large);
}

TEST_F(JsonLinesTest, WritesJsonAsItIsAndPutsTheKeyInWhereItWouldBeLost) {
  const std::string text = Write({
      MakeSample("000000000", {{"json", "{\"a\": 1}"}}),
      MakeSample("k", {{"json", "{\"key\": \"k\"}"}}),
      MakeSample("x/y", {{"json", "{\n  \"b\": 2\n}"}}),
      MakeSample("z", {{"json", "{}"}}),
      MakeSample("list", {{"json", "[1]"}}),
  });
  EXPECT_EQ(text,
            "{\"a\": 1}\n"
            "{\"key\": \"k\"}\n"
            "{\"__key__\":\"x/y\",\"b\":2}\n"
            "{\"__key__\":\"z\"}\n"
            "{\"files\":[{\"content_type\":\"application/json\",\"name\":\"json\","
            "\"text\":\"[1]\"}],\"key\":\"list\"}\n");
  EXPECT_THAT(Described(ReadAll(*Open(text))),
              ElementsAre("000000000: json={\"a\": 1}", "k: json={\"key\": \"k\"}",
                          "x/y: json={\"__key__\":\"x/y\",\"b\":2}",
                          "z: json={\"__key__\":\"z\"}", "list: json=[1]"));
}

TEST_F(JsonLinesTest, KeepsEverythingAboutASample) {
  shardpack::Sample sample =
      MakeSample("a/b", {{"x.txt", "t\n\"ü\""}, {"y.jpg", "\xff\xd8"}});
  sample.metadata = {MetadataFormat::kJson, Bytes::Copy(AsBytes(R"({"split":"train"})"))};
  sample.files[0].metadata = {MetadataFormat::kMsgPack, Bytes::Copy(AsBytes("\x80"))};
  sample.files[0].modified = -5;
  sample.files[0].mode = 0640;
  sample.files[1].array = shardpack::ArrayShape{"<u2", {1}};
  sample.files[1].compression = shardpack::Compression::kZstd;
  const auto again = ReadAll(*Open(Write({sample})));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(Described(again[0]), Described(sample));
  EXPECT_EQ(AsText(again[0].metadata.bytes), R"({"split":"train"})");
  EXPECT_EQ(again[0].files[0].metadata.format, MetadataFormat::kMsgPack);
  EXPECT_EQ(AsText(again[0].files[0].metadata.bytes), "\x80");
  EXPECT_EQ(again[0].files[0].modified, -5);
  EXPECT_EQ(again[0].files[0].mode, 0640U);
  EXPECT_EQ(again[0].files[1].array, sample.files[1].array);
  EXPECT_EQ(again[0].files[1].compression, shardpack::Compression::kZstd);
  EXPECT_EQ(again[0].files[1].content_type, "image/jpeg");
}

TEST_F(JsonLinesTest, LeavesLinesWithFilesAsTheyAreIfToldTo) {
  const std::string line = R"({"key": "a", "files": [{"name": "x", "text": "1"}]})";
  EXPECT_THAT(Described(ReadAll(*Open(line))), ElementsAre("a: x=1"));
  EXPECT_THAT(Described(ReadAll(*Open(line, {.jsonl_files = false}))),
              ElementsAre("a: json=" + line));
}

TEST_F(JsonLinesTest, RefusesKeysThatAreNotUtf8) {
  const auto sink = Must(CreateJsonLines(path_, {}));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample("\xff", {{"x", "1"}}))),
              HasSubstr("invalid_argument: sample ff: "));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample("\xff", {{"json", "{}"}}))),
              HasSubstr("not UTF-8"));
}

TEST(SampleJson, SaysWhatIsWrongWithALineOfAManifest) {
  const auto error = [](std::string_view text) {
    return ErrorOf(ParseManifestLine(text));
  };
  EXPECT_THAT(error("[]"), HasSubstr("array, not an object"));
  EXPECT_THAT(error("{}"), HasSubstr("no \"key\""));
  EXPECT_THAT(error(R"({"key": 1})"), HasSubstr("\"key\" is number, not a string"));
  EXPECT_THAT(error(R"({"key": "a", "files": []})"), HasSubstr("no \"files\""));
  EXPECT_THAT(error(R"({"key": "a", "files": [{"name": "x"}]})"),
              HasSubstr("no \"path\""));
  EXPECT_THAT(error(R"({"key": "a", "files": [{"path": "x"}, {"path": "y/x"}]})"),
              HasSubstr("two files are named \"x\""));
  EXPECT_THAT(error(R"({"key": "a", "files": [{"path": "x", "compression": "br"}]})"),
              HasSubstr("\"compression\" is \"br\", not none, gzip, lz4 or zstd"));
  EXPECT_THAT(error(R"({"key": "a", "files": [{"path": "x", "mode": 4096}]})"),
              HasSubstr("\"mode\""));
  EXPECT_THAT(
      error(R"({"key": "a", "files": [{"path": "x", "array": {"dtype": "<f4"}}]})"),
      HasSubstr("\"shape\""));
}

TEST(Base64, IsThatOfTheStandard) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(ToBase64(AsBytes(plain)), encoded);
    EXPECT_EQ(AsText(Must(FromBase64(encoded))), plain);
  }
  for (const char* bad :
       {"Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9", "===="}) {
    EXPECT_NE(ErrorOf(FromBase64(bad)), "") << bad;
  }
}

TEST(Utf8, IsWellFormedOrNot) {
  for (const char* good : {"", "abc", "ü", "€", "😀", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(AsBytes(good))) << good;
  }
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x80\x80\x80\x80", "a\xff"}) {
    EXPECT_FALSE(IsUtf8(AsBytes(bad))) << ToHex(AsBytes(bad));
  }
}

}  // namespace
}  // namespace dolium::dataset
