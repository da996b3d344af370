#include "dolium/ops/source/chunk_reader.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/write.h"

namespace dolium {
namespace {

using ::testing::HasSubstr;

class ChunkReaderTest : public testing::TestWithParam<const char*> {
 protected:
  void Write(const std::string& format,
             const std::map<std::string, std::string>& parameters) {
    const WriteRequest request{path_, format, {.spec = {}, .parameters = parameters}};
    const auto set = Must(SetWriter::Begin(BuiltinFormats(), request, {}));
    Must(set->AddChunk(7, AsBytes("seven"), {}));
    Must(set->AddChunk(300, AsBytes("three hundred"), {}));
    Must(set->Finish());
  }
  std::unique_ptr<Container> Open(const std::string& path) {
    return Must(OpenContainer(BuiltinFormats(), Must(ParseLocation(path)), "", {}));
  }
  std::string ValueOf(const Container& container, uint64_t id) {
    const auto chunks = ChunkReader::Of(container);
    EXPECT_TRUE(chunks);
    const auto chunk = Must(chunks->Locate(id));
    if (!chunk) return "absent";
    ByteVector stored(chunk->range.length);
    Must(chunks->Read(*chunk, stored));
    return std::string(AsText(Must(chunks->Decode(id, *chunk, stored))));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/set";
};

TEST_P(ChunkReaderTest, ReadsFromASetAndFromOneShard) {
  Write("neuroglancer", {{"shard-bits", "1"},
                         {"minishard-bits", "0"},
                         {"preshift-bits", "0"},
                         {"hash", "identity"},
                         {"data-encoding", GetParam()}});
  EXPECT_EQ(ValueOf(*Open(path_), 7), "seven");
  EXPECT_EQ(ValueOf(*Open(path_), 300), "three hundred");
  EXPECT_EQ(ValueOf(*Open(path_), 8), "absent");
  EXPECT_EQ(ValueOf(*Open(path_ + "/0.shard"), 300), "three hundred");
  EXPECT_EQ(ValueOf(*Open(path_ + "/0.shard"), 7), "absent");
  const auto set = Open(path_);
  EXPECT_EQ(ChunkReader::Of(*set)->is_raw(), GetParam() == std::string("raw"));
}
INSTANTIATE_TEST_SUITE_P(Encodings, ChunkReaderTest, testing::Values("raw", "gzip"));

TEST_F(ChunkReaderTest, ReadsAgainWhileShardsAreReplaced) {
  Write("neuroglancer", {{"data-encoding", "raw"}});
  const auto set = Open(path_);
  const auto writer = Open(path_);
  const auto chunks = *ChunkReader::Of(*set);
  const uint64_t id = 7;
  int attempts = 0;
  const auto value = chunks.ReadCurrent(id, [&]() -> Result<std::string> {
    DOLIUM_TRY(const auto chunk, chunks.Locate(id));
    if (++attempts < 3) {  // Replaced under the reader.
      Change change;
      change.key = "7";
      change.value = Bytes::Copy(AsBytes("seven, " + std::to_string(attempts)));
      Must(writer->Apply({&change, 1}, {}));
    }
    ByteVector stored(chunk->range.length);
    DOLIUM_TRY_VOID(chunks.Read(*chunk, stored));
    return std::string(AsText(stored));
  });
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, "seven, 2");
  EXPECT_EQ(attempts, 3);
  const auto conflict = []() -> Result<void> { return Conflict("replaced"); };
  EXPECT_EQ(chunks.ReadCurrent(id, conflict).error().code, ErrorCode::kConflict);
}

TEST_F(ChunkReaderTest, ReadsOneByOneWhatIsReplacedUnderEveryBatch) {
  Write("neuroglancer", {{"data-encoding", "raw"}});
  const auto set = Open(path_);
  const auto chunks = *ChunkReader::Of(*set);
  const std::vector<uint64_t> ids = {7, 300};
  int batches = 0;
  std::vector<size_t> read;
  const auto read_all = [&]() -> Result<void> {
    ++batches;
    return Conflict("replaced");
  };
  const auto read_one = [&](size_t i) -> Result<void> {
    read.push_back(i);
    if (read.size() == 1) return Conflict("replaced, too");
    return {};
  };
  Must(chunks.ReadEachCurrent(ids, read_all, read_one));
  EXPECT_GT(batches, 1);
  EXPECT_EQ(read, (std::vector<size_t>{0, 0, 1}));

  const auto damaged = [] { return Result<void>(Corrupt("damaged")); };
  EXPECT_EQ(chunks.ReadEachCurrent(ids, damaged, read_one).error().code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(read.size(), 3U) << "damage is no reason to read again";
}

TEST_F(ChunkReaderTest, IsForKeysThatAreNumbers) {
  Write("files", {});
  EXPECT_FALSE(ChunkReader::Of(*Open(path_)));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/300"));
  EXPECT_EQ(Must(ParseChunkId("300")), 300U);
  EXPECT_THAT(ParseChunkId("3x").error().message, HasSubstr("\"3x\" is not a number"));
}

}  // namespace
}  // namespace dolium
