#include "dolium/domain/dataset/imports/skipping_source.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SkippingTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return JoinPath(folder_.path(), name);
  }
  void Put(const std::string& name, std::string_view bytes) const {
    const Location location = Must(ParseLocation(Path(name)));
    Must(location.store->Put(location.path, AsBytes(bytes), Precondition::None()));
  }
  std::string Get(const std::string& name) const {
    return shardpack::BytesAt(Must(ParseLocation(Path(name))));
  }

  // Samples "0" to "4" as `kind` has them.
  void Export(std::string_view kind, const std::string& name) const {
    const auto sink = Must(OpenSampleSink(kind, Path(name), {}));
    for (int i = 0; i < 5; ++i) {
      Must(sink->Put(
          {.key = std::to_string(i),
           .files = {{.name = "text.txt",
                      .content_type = "text/plain",
                      .data = shardpack::Text("content of " + std::to_string(i))}}}));
    }
    Must(sink->Finish());
  }

  // The keys that come; what was left out is in findings_.
  std::vector<std::string> Keys(std::string_view kind, const std::string& name,
                                ImportOptions options = {}) {
    options.skip_damaged = true;
    const auto source = Must(OpenSampleSource(kind, Path(name), options));
    Must(source->Bind());
    std::vector<std::string> keys;
    while (const auto sample = Must(source->Next())) keys.push_back(sample->key);
    findings_ = source->TakeLeftOut(UINT64_MAX);
    EXPECT_THAT(source->TakeLeftOut(UINT64_MAX), IsEmpty());
    return keys;
  }

  // Without skipping, it is an error.
  void ExpectError(std::string_view kind, const std::string& name) const {
    const auto source = Must(OpenSampleSource(kind, Path(name), {}));
    Result<std::optional<Sample>> sample = source->Next();
    while (sample && *sample) sample = source->Next();
    EXPECT_FALSE(sample);
  }

  const TemporaryFolder folder_;
  std::vector<Finding> findings_;
};

TEST_F(SkippingTest, LeavesOutLinesOfJson) {
  Put("a.jsonl",
      "{\"id\": 1}\n{\"id\": \nnothing\n{\"id\": 2}\n"
      "{\"key\": \"3\", \"files\": [{\"name\": \"../x\", \"text\": \"\"}]}\n");
  ExpectError("jsonl", "a.jsonl");
  EXPECT_THAT(Keys("jsonl", "a.jsonl"), ElementsAre("1", "2"));
  ASSERT_EQ(findings_.size(), 3U);
  EXPECT_EQ(findings_[0].object, Path("a.jsonl"));
  EXPECT_THAT(findings_[0].message, HasSubstr("line 2: "));
  EXPECT_THAT(findings_[1].message, HasSubstr("line 3: "));
}

TEST_F(SkippingTest, TellsWhatWasLeftOutBeforeASample) {
  Put("a.jsonl", "bad\n{\"id\": 0}\n{\"id\": 1}\nbad\nbad\n{\"id\": 2}\nbad\n");
  ImportOptions options;
  options.skip_damaged = true;
  const auto source = Must(OpenSampleSource("jsonl", Path("a.jsonl"), options));
  while (Must(source->Next())) {
  }
  EXPECT_EQ(source->TakeLeftOut(0).size(), 0U);
  EXPECT_EQ(source->TakeLeftOut(2).size(), 1U);  // before sample 0
  EXPECT_EQ(source->TakeLeftOut(3).size(), 2U);  // before sample 2
  EXPECT_EQ(source->TakeLeftOut(UINT64_MAX).size(), 1U);
}

TEST_F(SkippingTest, LeavesOutRecordsWhoseDataIsDamaged) {
  Export("tfrecord", "a.tfrecord");
  std::string bytes = Get("a.tfrecord");
  bytes[bytes.find("content of 2")] = 'C';
  Put("a.tfrecord", bytes);
  ExpectError("tfrecord", "a.tfrecord");
  EXPECT_THAT(Keys("tfrecord", "a.tfrecord"), ElementsAre("0", "1", "3", "4"));
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_THAT(findings_[0].message, HasSubstr("the checksum of its data is wrong"));
  // Where the next one begins, a damaged length does not say.
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  Put("a.tfrecord", bytes);
  ExpectError("tfrecord", "a.tfrecord");
  ImportOptions options;
  options.skip_damaged = true;
  const auto source = Must(OpenSampleSource("tfrecord", Path("a.tfrecord"), options));
  EXPECT_THAT(source->Next().error().message, HasSubstr("checksum of its length"));
}

TEST_F(SkippingTest, LeavesOutSamplesAndTheRestOfArchives) {
  Export("webdataset", "a.tar");
  Export("webdataset", "b.tar");
  const std::string good = Get("a.tar");
  std::string bytes = good;
  const size_t second = bytes.find("2.text.txt");
  bytes.replace(second, 10, "2.texT.txt");  // Its header is damaged.
  Put("a.tar", bytes);
  // Whether the file that is lost was one of sample 1, nobody knows.
  EXPECT_THAT(Keys("webdataset", "{a,b}.tar"), ElementsAre("0", "0", "1", "2", "3", "4"));
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_EQ(findings_[0].object, Path("a.tar"));
  EXPECT_THAT(findings_[0].message, HasSubstr("sample \"1\" may lack files"));

  // A sample with a file twice: the rest of it goes, too, and nothing else.
  const size_t block = 1024;
  Put("c.tar", good.substr(0, block) + good);
  ExpectError("webdataset", "c.tar");
  EXPECT_THAT(Keys("webdataset", "c.tar"), ElementsAre("1", "2", "3", "4"));
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_THAT(findings_[0].message, HasSubstr("has a file of that name already"));
}

TEST_F(SkippingTest, LeavesOutShardsOfMdsThatAreNotWhole) {
  const auto sink = Must(OpenSampleSink("mds", Path("mds"), {.shard_samples = 2}));
  for (int i = 0; i < 6; ++i) {
    Must(sink->Put({.key = std::to_string(i),
                    .files = {{.name = "x", .data = shardpack::Text("value")}}}));
  }
  Must(sink->Finish());
  std::string bytes = Get("mds/shard.00001.mds");
  bytes.pop_back();
  Put("mds/shard.00001.mds", bytes);
  ExpectError("mds", "mds");
  EXPECT_THAT(Keys("mds", "mds"), ElementsAre("0", "1", "4", "5"));
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_EQ(findings_[0].object, Path("mds/shard.00001.mds"));
}

TEST_F(SkippingTest, LeavesOutLinesOfManifestsAndMissingFiles) {
  Put("in/a.txt", "a");
  Put("in/manifest.jsonl",
      "{\"key\": \"0\", \"files\": [{\"path\": \"a.txt\"}]}\n"
      "{\"key\": \n"
      "{\"key\": \"1\", \"files\": [{\"path\": \"gone.txt\"}]}\n"
      "{\"key\": \"2\", \"files\": [{\"path\": \"a.txt\"}]}\n");
  EXPECT_THAT(Keys("folder", "in", {.grouping = Grouping::kManifest}),
              ElementsAre("0", "2"));
  ASSERT_EQ(findings_.size(), 2U);
  EXPECT_THAT(findings_[1].message, HasSubstr("gone.txt"));
}

TEST_F(SkippingTest, LeavesOutWhatIsLargerThanTheLimit) {
  Put("in/a/x", "small");
  Put("in/b/x", "far too large");
  Put("in/c/x", "small");
  EXPECT_THAT(
      Keys("folder", "in", {.grouping = Grouping::kDirectory, .max_file_bytes = 10}),
      ElementsAre("a", "c"));
  EXPECT_EQ(findings_.size(), 1U);
  Export("lmdb", "l");
  EXPECT_THAT(Keys("lmdb", "l", {.max_file_bytes = 3}), IsEmpty());
  EXPECT_EQ(findings_.size(), 5U);
}

}  // namespace
}  // namespace dolium::dataset
