#include "dolium/domain/dataset/imports/tfrecord.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/dataset/imports/testing/samples.h"
#include "dolium/domain/dataset/imports/tf_example.h"

namespace dolium::dataset {
namespace {

using shardpack::ArrayShape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Example { features { feature { key: "a" value { bytes_list { value: "x" } } } } }
const std::string kExample(
    "\x0a\x0c\x0a\x0a\x0a\x01"
    "a\x12\x05\x0a\x03\x0a\x01x",
    14);

ParsedExample Parse(std::string_view text) {
  return Must(ParseExample(Bytes::Copy(AsBytes(text))));
}
std::string ParseError(std::string_view text) {
  return ErrorOf(ParseExample(Bytes::Copy(AsBytes(text))));
}

TEST(TfExample, HasAFileForEachFeature) {
  const ParsedExample example = Parse(kExample);
  ASSERT_EQ(example.files.size(), 1U);
  EXPECT_EQ(example.files[0].name, "a");
  EXPECT_EQ(AsText(example.files[0].data), "x");
  EXPECT_EQ(example.files[0].content_type, "application/octet-stream");
}

TEST(TfExample, HasNumbersAsArraysPackedOrNot) {
  // f: two floats, packed; i: 1 and -1, one by one.
  const std::string floats(
      "\x0a\x13\x0a\x01"
      "f\x12\x0e\x12\x0c\x0a\x08\0\0\x80?\0\0\0@"
      "\x10\x05",
      21);
  const std::string integers(
      "\x0a\x16\x0a\x01i\x12\x11\x1a\x0f\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff"
      "\x01\x18\x01",
      24);
  const std::string both = floats + integers;
  const ParsedExample example =
      Parse("\x0a" + std::string(1, static_cast<char>(both.size())) + both);
  ASSERT_EQ(example.files.size(), 2U);
  EXPECT_EQ(example.files[0].array, (ArrayShape{"<f4", {2}}));
  EXPECT_EQ(AsText(example.files[0].data), std::string_view("\0\0\x80?\0\0\0@", 8));
  EXPECT_EQ(example.files[1].array, (ArrayShape{"<i8", {2}}));
  EXPECT_EQ(AsText(example.files[1].data),
            std::string("\x01\0\0\0\0\0\0\0", 8) + std::string(8, '\xff'));
}

TEST(TfExample, IsMadeAsItIsRead) {
  std::vector<shardpack::File> files = {
      MakeFile("image", "\xff\xd8\xff jpeg"),
      {.name = "numbers",
       .data = Bytes::Copy(AsBytes(std::string("\x01\0\0\0\0\0\0\x80", 8))),
       .array = ArrayShape{"<i8", {1}}},
      {.name = "rows",
       .data = Bytes::Copy(AsBytes("12345678")),
       .array = ArrayShape{"<f4", {2}}},
      {.name = "square",
       .data = Bytes::Copy(AsBytes("1234567812345678")),
       .array = ArrayShape{"<f4", {2, 2}}},
      {.name = "zero", .array = ArrayShape{"<f4", {0}}},
  };
  const ParsedExample again =
      Must(ParseExample(Bytes::FromVector(MakeExample(files, std::string_view("a/b")))));
  EXPECT_EQ(again.key, "a/b");
  ASSERT_EQ(again.files.size(), 5U);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(again.files[i].name, files[i].name);
    EXPECT_EQ(AsText(again.files[i].data), AsText(files[i].data)) << files[i].name;
    if (i != 3) {
      EXPECT_EQ(again.files[i].array, files[i].array) << files[i].name;
    }
  }
  EXPECT_EQ(again.files[0].content_type, "image/jpeg");
}

TEST(TfExample, NumbersSeveralValuesOfAFeature) {
  const ParsedExample example =
      Parse(std::string("\x0a\x0f\x0a\x0d\x0a\x01"
                        "a\x12\x08\x0a\x06\x0a\x01x\x0a\x01y",
                        17));
  ASSERT_EQ(example.files.size(), 2U);
  EXPECT_EQ(example.files[0].name, "a.0");
  EXPECT_EQ(example.files[1].name, "a.1");
  EXPECT_EQ(AsText(example.files[1].data), "y");
}

TEST(TfExample, RejectsWhatIsNone) {
  EXPECT_THAT(ParseError("\x0a\x05"
                         "abc"),
              HasSubstr("needs 5 bytes at 2, 3 remain"));
  EXPECT_THAT(ParseError(std::string(11, '\xff')), HasSubstr("more than 64 bits"));
  EXPECT_THAT(ParseError("\x0b"), HasSubstr("wire type 3"));
  EXPECT_THAT(ParseError(std::string("\x08\x01", 2)),
              HasSubstr("features has wire type 0"));
  EXPECT_THAT(ParseError(std::string("\x0a\x02\x0a\0", 4)),
              HasSubstr("a feature without a name"));
}

class TfRecordTest : public ::testing::Test {
 protected:
  std::unique_ptr<SampleSource> Open(const std::string& bytes,
                                     const ImportOptions& options = {}) {
    return ReadTfRecords(Must(InputStream::Open(Bytes::Copy(AsBytes(bytes)), "t")),
                         options);
  }

  // The bytes of a file with these samples.
  std::string Write(const std::vector<shardpack::Sample>& samples,
                    SampleExportOptions options = {}) {
    options.force = true;
    WriteAll(*Must(CreateTfRecords(path_, options)), samples);
    return ReadFile(path_);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/t.tfrecord";
};

TEST_F(TfRecordTest, HasTheBytesThatTensorFlowWrites) {
  const std::string bytes = Write({MakeSample("k", {{"a", "x"}})}, {.keys = false});
  // Length, its masked checksum, the Example, its masked checksum.
  EXPECT_EQ(bytes,
            std::string("\x0e\0\0\0\0\0\0\0\xc5\xe5i?", 12) + kExample + "H\xdcS\x14");
}

TEST_F(TfRecordTest, ReadsExamplesWithTheirKeys) {
  const std::string bytes = Write(
      {MakeSample("a/1", {{"jpg", "J"}, {"txt", "t"}}), MakeSample("b", {{"x", ""}})});
  const auto source = Open(bytes);
  EXPECT_THAT(Described(ReadAll(*source)), ElementsAre("a/1: jpg=J txt=t", "b: x="));
  EXPECT_EQ(source->progress().entries, 2U);
  EXPECT_EQ(source->progress().bytes, bytes.size());
}

TEST_F(TfRecordTest, NumbersExamplesWithoutKeysAndRawRecords) {
  const std::string bytes = Write(
      {MakeSample("a", {{"x", "1"}}), MakeSample("b", {{"x", "2"}})}, {.keys = false});
  EXPECT_THAT(Described(ReadAll(*Open(bytes, {.key_prefix = "s-"}))),
              ElementsAre("s-000000000: x=1", "s-000000001: x=2"));
  const auto raw = ReadAll(*Open(bytes, {.records = TfRecords::kRaw}));
  ASSERT_EQ(raw.size(), 2U);
  EXPECT_EQ(raw[1].key, "000000001");
  EXPECT_EQ(raw[1].files[0].name, "data");
  EXPECT_EQ(AsText(raw[1].files[0].data), bytes.substr(bytes.size() - 18, 14));
}

TEST_F(TfRecordTest, ReadsAndWritesGzip) {
  const std::string bytes = Write({MakeSample("a", {{"x", "1"}})}, {.gzip = true});
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
  EXPECT_THAT(Described(ReadAll(*Open(bytes))), ElementsAre("a: x=1"));
}

TEST_F(TfRecordTest, NoticesEveryAlteredByteAndEveryCut) {
  const std::string bytes =
      Write({MakeSample("a", {{"x", "some text"}}), MakeSample("b", {{"x", ""}})});
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 0x10);
    EXPECT_NE(FirstError(*Open(altered)), "") << i;
  }
  const size_t first = 16 + static_cast<size_t>(bytes[0]);
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    const std::string error = FirstError(*Open(bytes.substr(0, cut)));
    if (error.empty()) {
      EXPECT_EQ(cut, first);
    }
  }
}

TEST_F(TfRecordTest, SaysWhereDamageIs) {
  std::string bytes = Write({MakeSample("a", {{"x", "1"}})});
  EXPECT_THAT(FirstError(*Open(bytes, {.max_file_bytes = 3})),
              HasSubstr("t: the record at 0: 32 bytes, more than the limit of 3"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(FirstError(*Open(bytes)),
            "corrupt: t: the record at 0: the checksum of its data is wrong");
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  EXPECT_EQ(FirstError(*Open(bytes)),
            "corrupt: t: the record at 0: the checksum of its length is wrong");
}

}  // namespace
}  // namespace dolium::dataset
