#include "dolium/formats/neuroglancer/shard_assembler.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"
#include "dolium/formats/neuroglancer/shard_reader.h"

namespace dolium::neuroglancer {
namespace {

// Keeps what is not zero, and the size of the largest segment that it was given.
class SparseWriter final : public ObjectWriter {
 public:
  Result<void> Append(BytesView bytes) override {
    largest = std::max(largest, bytes.size());
    const bool is_zero =
        !bytes.empty() && bytes[0] == std::byte{0} &&
        std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
    for (size_t i = 0; !is_zero && i + 8 <= bytes.size(); i += 8) {
      const auto word = LoadLE<uint64_t>(bytes.data() + i);
      if (word != 0) words[size_ + i] = word;
    }
    size_ += bytes.size();
    return {};
  }
  uint64_t size() const override { return size_; }
  Result<Generation> Commit(const Precondition& /*precondition*/) override {
    return Generation();
  }

  std::map<uint64_t, uint64_t> words;  // by their place
  size_t largest = 0;

 private:
  uint64_t size_ = 0;
};

TEST(AssembleShard, HoldsNoIndexOfMinishardsWithoutChunks) {
  ShardingSpec spec;
  spec.minishard_bits = 25;
  const std::vector<std::byte> value(8, std::byte{1});
  std::vector<StoredChunk> chunks;
  for (const uint64_t id : {uint64_t{3}, (uint64_t{1} << 25) - 1}) {
    chunks.push_back({.id = id, .length = value.size(), .memory = value.data()});
  }
  ListSource source(spec, std::move(chunks), {});
  SparseWriter out;
  const auto written = AssembleShard(spec, source, out, {});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->entries, 2U);
  EXPECT_EQ(out.size(), spec.shard_index_bytes() + 2 * (8 + 24));
  EXPECT_LE(out.largest, size_t{1} << 20);
  // Where the index of each minishard is: after its value.
  EXPECT_EQ(out.words[3 * 16], 8U);
  EXPECT_EQ(out.words[3 * 16 + 8], 32U);
  EXPECT_EQ(out.words[spec.shard_index_bytes() - 16], 40U);
  EXPECT_EQ(out.words[spec.shard_index_bytes() - 8], 64U);
}

// An index of 512 MiB, of which neither side holds more than the blocks that it needs.
TEST(AssembleShard, WritesALargeIndexThatIsReadInBlocks) {
  ShardingSpec spec;
  spec.minishard_bits = 25;
  const uint64_t last = (uint64_t{1} << 25) - 1;
  const std::vector<std::byte> value(8, std::byte{1});
  std::vector<StoredChunk> chunks;
  for (const uint64_t id : {uint64_t{3}, last}) {
    chunks.push_back({.id = id, .length = value.size(), .memory = value.data()});
  }
  ListSource source(spec, std::move(chunks), {});
  SparseWriter out;
  Must(AssembleShard(spec, source, out, {}));
  EXPECT_EQ(out.size(), (uint64_t{512} << 20) + 2 * (8 + 24));
  EXPECT_LE(out.largest, size_t{1} << 20);

  // The same bytes in a file with holes.
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/0.shard";
  std::ofstream file(path, std::ios::binary);
  for (const auto& [at, word] : out.words) {
    std::array<std::byte, sizeof(word)> bytes{};
    StoreLE<uint64_t>(bytes.data(), word);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  file.close();
  std::filesystem::resize_file(path, out.size());
  const ShardReader reader(Must(ParseLocation(folder.path())), spec, uint64_t{1} << 20);
  for (const uint64_t id : {uint64_t{3}, last}) {
    const auto found = Must(reader.Get(id));
    ASSERT_TRUE(found.has_value()) << id;
    EXPECT_EQ(AsText(*found), AsText(BytesView(value))) << id;
  }
  EXPECT_FALSE(Must(reader.Get(4)).has_value());
}

TEST(AssembleShard, RefusesAnIndexOfMoreThanFourGibibytes) {
  ShardingSpec spec;
  spec.minishard_bits = 29;
  ListSource source(spec, {}, {});
  SparseWriter out;
  const auto written = AssembleShard(spec, source, out, {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace dolium::neuroglancer
