#include "dolium/formats/neuroglancer/sharded_target.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/entry_list.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

using testing::HasSubstr;

// A part that is made from chunks in the objects of another store.
class WritePartTest : public testing::Test {
 protected:
  static constexpr ShardingSpec kSpec{.minishard_bits = 3};

  // Spreads the chunks over `objects` objects, in no order.
  void PutChunks(size_t objects, const CodecChain& codecs = {}) {
    std::vector<ByteVector> bytes(objects);
    std::mt19937_64 random(1);
    entries_.clear();
    std::vector<size_t> owners;
    for (const auto& [id, value] : chunks_) {
      const size_t owner = random() % objects;
      const ByteVector stored = Must(Encode(codecs, AsBytes(value)));
      Entry entry;
      entry.key = std::to_string(id);
      entry.extents.push_back({nullptr, {bytes[owner].size(), stored.size()}, codecs});
      Append(bytes[owner], stored);
      entries_.push_back(std::move(entry));
      owners.push_back(owner);
    }
    std::vector<Generation> generations;
    for (size_t i = 0; i < objects; ++i) {
      const std::string name = std::to_string(i);
      generations.push_back(Must(source_.Put(name, bytes[i], Precondition::None())));
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      // One of its own for each entry, as some scans make them.
      entries_[i].extents[0].object = std::make_shared<const ObjectVersion>(
          ObjectVersion{std::to_string(owners[i]), generations[owners[i]]});
    }
    std::shuffle(entries_.begin(), entries_.end(), random);
  }

  Result<WriteSummary> WritePart(uint64_t memory) {
    EntryList list(entries_);
    PartSource source;
    source.store = &source_;
    source.entries = &list;
    source.skip_damaged = skip_damaged_;
    WriterOptions options;
    options.memory = memory;
    options.jobs = 1;
    options.spill_folder = spills_.path();
    ShardedTarget target(folder_.location, kSpec, "");
    return target.WritePart(0, source, options);
  }

  // Whether the shard is the one that a writer makes of all chunks.
  void ExpectAllChunks() {
    TestFolder expected;
    WriteChunks(expected.location, kSpec, chunks_);
    EXPECT_EQ(folder_.Get("0.shard"), expected.Get("0.shard"));
    EXPECT_TRUE(std::filesystem::is_empty(spills_.path()));
  }

  Chunks chunks_ = RandomChunks(1, 3000);
  MemoryStore source_{"source"};
  std::vector<Entry> entries_;
  std::function<bool(const Entry&, const Error&)> skip_damaged_;
  TestFolder folder_;
  const TemporaryFolder spills_;
};

TEST_F(WritePartTest, CopiesInAsLittleMemoryAsThereIs) {
  PutChunks(/*objects=*/10);
  for (const uint64_t memory : {uint64_t{0}, uint64_t{500'000}, uint64_t{1} << 28}) {
    SCOPED_TRACE(memory);
    const auto before = source_.reads();
    EXPECT_EQ(Must(WritePart(memory)).entries, chunks_.size());
    EXPECT_LT(source_.reads() - before, 2000U) << "copied, not read one by one";
    ExpectAllChunks();
  }
}

TEST_F(WritePartTest, CopiesFromMoreObjectsThanItCanRemember) {
  PutChunks(/*objects=*/1000);
  EXPECT_EQ(Must(WritePart(0)).entries, chunks_.size());
  ExpectAllChunks();
}

TEST_F(WritePartTest, DecodesWhatIsStoredInAnotherWay) {
  PutChunks(/*objects=*/3, {{CodecId::kGzip}});
  EXPECT_EQ(Must(WritePart(uint64_t{1} << 20)).entries, chunks_.size());
  ExpectAllChunks();
}

TEST_F(WritePartTest, RejectsAKeyGivenTwice) {
  PutChunks(/*objects=*/3);
  entries_.push_back(entries_.front());
  for (const uint64_t memory : {uint64_t{0}, uint64_t{1} << 28}) {
    const auto written = WritePart(memory);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(written.error().message,
                HasSubstr(fmt::format("chunk {} is given twice", entries_[0].key)));
  }
  EXPECT_EQ(folder_.Get("0.shard"), "");
}

TEST_F(WritePartTest, KeepsTheFirstReadableOneOfEachKey) {
  PutChunks(/*objects=*/3);
  const Entry good = entries_[0];
  const Entry other = entries_[1];
  Entry damaged = good;
  damaged.extents[0].range = {uint64_t{1} << 40, 1};
  Entry twice = good;
  twice.extents = other.extents;
  entries_.insert(entries_.begin(), damaged);
  entries_.push_back(twice);
  std::vector<std::string> skipped;
  skip_damaged_ = [&](const Entry& entry, const Error& error) {
    EXPECT_EQ(entry.key, good.key);
    skipped.push_back(error.message);
    return true;
  };
  EXPECT_EQ(Must(WritePart(uint64_t{1} << 20)).entries, chunks_.size());
  EXPECT_THAT(skipped, testing::ElementsAre(
                           HasSubstr("end past the object"),
                           HasSubstr("listed more than once; the first is kept")));
  ExpectAllChunks();
}

}  // namespace
}  // namespace dolium::neuroglancer
