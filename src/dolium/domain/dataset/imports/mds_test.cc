#include "dolium/domain/dataset/imports/mds.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/xxh64.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/gzip.h"
#include "dolium/codec/zstd.h"
#include "dolium/domain/dataset/imports/mds_shard.h"
#include "dolium/domain/dataset/imports/testing/samples.h"

namespace dolium::dataset {
namespace {

using shardpack::ArrayShape;
using ::testing::HasSubstr;

// A shard of two samples, as Streaming lays it out: columns `id` (int) and `text` (str).
const std::string kShard = std::string(
                               "\x02\0\0\0"
                               "\x12\0\0\0\x20\0\0\0\x2d\0\0\0",
                               16) +
                           "{}" + std::string("\x02\0\0\0\x07\0\0\0\0\0\0\0hi", 14) +
                           std::string("\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff!", 13);

std::string Index(const std::string& more) {
  return R"({"version": 2, "shards": [{"version": 2, "format": "mds", "samples": 2,
    "column_names": ["id", "text"], "column_encodings": ["int", "str"],
    "column_sizes": [8, null], "hashes": [], "size_limit": 67108864, )" +
         more + "}]}";
}

const std::string kPlain =
    R"("compression": null, "zip_data": null,
       "raw_data": {"basename": "shard.00000.mds", "bytes": 45, "hashes": {}})";

class MdsTest : public ::testing::Test {
 protected:
  void Write(const std::string& index, const std::string& shard = kShard,
             const std::string& name = "shard.00000.mds") const {
    WriteFile(folder_.path() + "/index.json", index);
    WriteFile(folder_.path() + "/" + name, shard);
  }
  std::unique_ptr<SampleSource> Open() const { return Must(OpenMds(folder_.path(), {})); }
  std::string OpenError() const { return ErrorOf(OpenMds(folder_.path(), {})); }

  const TemporaryFolder folder_;
};

TEST_F(MdsTest, HasAFileForEachColumn) {
  Write(Index(kPlain));
  const auto source = Open();
  EXPECT_EQ(source->progress().total_entries, 2U);
  const auto samples = ReadAll(*source);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].key, "000000000");
  EXPECT_EQ(samples[1].key, "000000001");
  EXPECT_EQ(samples[0].files[0].name, "id");
  EXPECT_EQ(samples[0].files[0].array, (ArrayShape{"<i8", {}}));
  EXPECT_EQ(AsText(samples[0].files[0].data), std::string("\x07\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(samples[1].files[1].content_type, "text/plain");
  EXPECT_EQ(AsText(samples[1].files[1].data), "!");
}

TEST_F(MdsTest, DecompressesWholeShards) {
  const ByteVector gzip = GzipEncode(AsBytes(kShard));
  const ByteVector zstd = ZstdEncode(AsBytes(kShard));
  for (const auto& [name, bytes] :
       {std::pair("gz:6", AsText(gzip)), std::pair("zstd", AsText(zstd))}) {
    Write(Index(fmt::format(
              R"("compression": "{}", "zip_data":
                 {{"basename": "s.zip", "bytes": {}, "hashes": {{}}}}, "raw_data":
                 {{"basename": "s.mds", "bytes": 45, "hashes": {{"xxh64": "{:016x}"}}}})",
              name, bytes.size(), Xxh64(AsBytes(kShard)))),
          std::string(bytes), "s.zip");
    EXPECT_EQ(ReadAll(*Open()).size(), 2U) << name;
  }
  Write(Index(R"("compression": "br:11",
                 "zip_data": {"basename": "s.zip", "bytes": 3, "hashes": {}},
                 "raw_data": {"basename": "s.mds", "bytes": 45, "hashes": {}})"),
        "abc", "s.zip");
  EXPECT_THAT(FirstError(*Open()), HasSubstr("compressed with br:11; only gz and zstd"));
}

TEST_F(MdsTest, ChecksSizesAndHashes) {
  Write(Index(kPlain), kShard + "x");
  EXPECT_THAT(FirstError(*Open()), HasSubstr("46 bytes, but the index says 45"));
  Write(Index(R"("compression": null, "zip_data": null, "raw_data":
          {"basename": "shard.00000.mds", "bytes": 45,
           "hashes": {"xxh64": "0123456789abcdef"}})"));
  EXPECT_THAT(FirstError(*Open()), HasSubstr("the index says 0123456789abcdef"));
}

TEST_F(MdsTest, RejectsOffsetsThatContradict) {
  std::string shard = kShard;
  shard[8] = '\x31';  // the second sample begins after the last ends
  Write(Index(kPlain), shard);
  EXPECT_THAT(FirstError(*Open()),
              HasSubstr("sample 1 begins at 49, not within [18, 45]"));
  shard = kShard;
  shard[18] = '\x03';  // a column longer than its sample
  Write(Index(kPlain), shard);
  EXPECT_THAT(FirstError(*Open()),
              HasSubstr("shard.00000.mds: sample 0: text needs 3 bytes at 12, 2 remain"));
  shard[18] = '\x01';
  Write(Index(kPlain), shard);
  EXPECT_THAT(FirstError(*Open()), HasSubstr("1 bytes after its last column"));
  shard[0] = '\x03';
  Write(Index(kPlain), shard);
  EXPECT_THAT(FirstError(*Open()), HasSubstr("3 samples, but the index says 2"));
}

TEST_F(MdsTest, RejectsIndexesThatAreNone) {
  Write("{");
  EXPECT_THAT(OpenError(), HasSubstr("index.json: not valid JSON"));
  Write(R"({"version": 3, "shards": []})");
  EXPECT_THAT(OpenError(), HasSubstr("an index of version 3; only 2 is known"));
  Write(R"({"version": 2})");
  EXPECT_THAT(OpenError(), HasSubstr("no \"shards\""));
  Write(Index(R"("raw_data": {"basename": "../../etc/passwd", "bytes": 1})"));
  EXPECT_THAT(OpenError(), HasSubstr("\"../../etc/passwd\", no file of the folder"));
  Write(R"({"version": 2, "shards": [{"version": 2, "format": "json"}]})");
  EXPECT_THAT(OpenError(), HasSubstr("a shard of format \"json\""));
}

TEST_F(MdsTest, WritesWhatItReads) {
  std::vector<shardpack::Sample> samples;
  for (int i = 0; i < 10; ++i) {
    samples.push_back(MakeSample(
        fmt::format("k{}", i),
        {{"bin", std::string(100, 'b')}, {"jpg", "J"}, {"json", "{}"}, {"txt", "t"}}));
    samples.back().files.push_back({.name = "n",
                                    .data = Bytes::Copy(AsBytes("1234")),
                                    .array = ArrayShape{"<f4", {}}});
  }
  const std::string path = folder_.path() + "/out";
  WriteAll(*Must(CreateMds(path, {.shard_samples = 4})), samples);
  EXPECT_THAT(ReadFile(path + "/index.json"), HasSubstr("shard.00002.mds"));
  EXPECT_THAT(ReadFile(path + "/index.json"),
              HasSubstr(R"(["str","bytes","jpeg","json","float32","str"])"));
  const auto again = ReadAll(*Must(OpenMds(path, {})));
  ASSERT_EQ(again.size(), 10U);
  EXPECT_EQ(Described(again[7]),
            "k7: bin=" + std::string(100, 'b') + " jpg=J json={} n=1234 txt=t");
  EXPECT_EQ(again[7].files[3].array, (ArrayShape{"<f4", {}}));
  EXPECT_THAT(ErrorOf(CreateMds(path, {})), HasSubstr("index.json: is there already"));
}

TEST_F(MdsTest, BeginsANewShardBeforeTheLimit) {
  const std::string path = folder_.path() + "/out";
  std::vector<shardpack::Sample> samples(
      9, MakeSample("k", {{"bin", std::string(500, 'b')}}));
  WriteAll(*Must(CreateMds(path, {.shard_bytes = 1500})), samples);
  for (int i = 0; i < 4; ++i) {
    const auto size = ReadFile(fmt::format("{}/shard.{:05}.mds", path, i)).size();
    EXPECT_LE(size, 1500U);
    EXPECT_GT(size, 1000U);
  }
  EXPECT_EQ(ReadAll(*Must(OpenMds(path, {}))).size(), 9U);
}

TEST_F(MdsTest, RefusesSamplesWithOtherColumnsAndTextThatIsNone) {
  const auto sink = Must(CreateMds(folder_.path() + "/out", {}));
  Must(sink->Put(MakeSample("a", {{"txt", "1"}})));
  EXPECT_THAT(
      ErrorOf(sink->Put(MakeSample("b", {{"jpg", "1"}}))),
      HasSubstr("sample \"b\": its columns are __key__ (str), jpg (jpeg), but those "
                "of samples before are __key__ (str), txt (str)"));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample("b", {{"txt", "\xff"}}))),
              HasSubstr("\"txt\" is text, but not UTF-8"));
}

shardpack::File FileOf(const std::string& encoding, std::string_view value) {
  return Must(MdsFileOf({"a", encoding}, Bytes::Copy(AsBytes(value))));
}

std::string FileError(const std::string& encoding, std::string_view value) {
  return ErrorOf(MdsFileOf({"a", encoding}, Bytes::Copy(AsBytes(value))));
}

TEST(MdsEncodings, SayWhatTheBytesAre) {
  EXPECT_EQ(FileOf("jpeg", "J").content_type, "image/jpeg");
  EXPECT_EQ(FileOf("pkl", "p").content_type, "application/x-pickle");
  EXPECT_EQ(FileOf("list[jpeg]", "l").content_type,
            "application/x-mds; encoding=list[jpeg]");
  EXPECT_EQ(FileOf("uint8", "1").array, (ArrayShape{"|u1", {}}));
  const MdsColumn column = MdsColumnFor(
      {.name = "a", .content_type = "application/x-mds; encoding=list[jpeg]"});
  EXPECT_EQ(column, (MdsColumn{"a", "list[jpeg]"}));
}

TEST(MdsEncodings, DecodeArraysOfAllFourForms) {
  using namespace std::string_literals;
  const std::string numbers = "123456789012";
  const ArrayShape expected{"<u2", {2, 3}};
  for (const auto& [encoding, header] : std::vector<std::pair<std::string, std::string>>{
           {"ndarray:uint16:2,3", ""},
           {"ndarray:uint16", "\x08\x02\x03"},
           {"ndarray:uint16", "\x09\x02\x00\x03\x00"s},
           {"ndarray", "\x10\x08\x02\x03"}}) {
    const shardpack::File file = FileOf(encoding, header + numbers);
    EXPECT_EQ(file.array, expected) << encoding;
    EXPECT_EQ(AsText(file.data), numbers) << encoding;
  }
  EXPECT_THAT(FileError("ndarray", "\x10\x08\x02\x04" + numbers),
              HasSubstr("12 bytes for an array of <u2 x (2, 4)"));
  EXPECT_THAT(FileError("ndarray", "\x01\x08\x02\x03"), HasSubstr("an array of type 1"));
  EXPECT_THAT(FileError("ndarray:float32:", ""), HasSubstr("an array of lengths \"\""));
}

TEST(MdsEncodings, DecodeImagesWhoseModeSaysWhatTheyAre) {
  using namespace std::string_literals;
  const std::string size = "\x02\0\0\0\x01\0\0\0\x03\0\0\0"s;
  const shardpack::File file = FileOf("pil", size + "RGBabcdef");
  EXPECT_EQ(file.array, (ArrayShape{"|u1", {1, 2, 3}}));
  EXPECT_EQ(AsText(file.data), "abcdef");
  EXPECT_EQ(AsText(file.metadata.bytes), R"({"pil_mode":"RGB"})");
  EXPECT_EQ(FileOf("pil", size + "XYZabcdef").content_type,
            "application/x-mds; encoding=pil");
  EXPECT_THAT(FileError("pil", size + "RGBabc"), HasSubstr("3 bytes for an array"));
}

TEST(MdsEncodings, UnpackImagesOfBits) {
  using namespace std::string_literals;
  const std::string header = "\x0a\0\0\0\x02\0\0\0\x01\0\0\0001"s;
  const shardpack::File file = FileOf("pil", header + "\xa0\x40\x01\x80");
  EXPECT_EQ(file.array, (ArrayShape{"|b1", {2, 10}}));
  EXPECT_EQ(AsText(file.data), "\1\0\1\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\1\0"s);
  EXPECT_EQ(AsText(file.metadata.bytes), R"({"pil_mode":"1"})");
  EXPECT_THAT(FileError("pil", header + "abc"), HasSubstr("3 bytes for 10 x 2 bits"));
}

}  // namespace
}  // namespace dolium::dataset
