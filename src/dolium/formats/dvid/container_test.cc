#include "dolium/formats/dvid/container.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

class DvidContainerTest : public testing::Test {
 protected:
  DvidContainerTest() : location_{std::make_shared<MemoryStore>("test"), "export"} {
    for (const int32_t corner : {0, 2, 4}) {
      std::vector<TestBlock> blocks;
      for (int32_t i = 0; i < 2; ++i) {
        const Key key = {corner + i, 1 - i, 0};
        blocks.push_back({key, TestVoxels(static_cast<uint64_t>(corner + i), 30)});
        expected_["s0/" + ToString(key)] = EncodeBlock(kTestGrid, blocks.back().voxels);
      }
      WriteTestShard(
          location_.Child("s0").Child(ToString({corner * 64, 0, 0}) + ".arrow"), blocks);
    }
    WriteTestShard(location_.Child("s1").Child("0_0_0.arrow"),
                   {{{0, 0, 0}, TestVoxels(9, 1)}});
    expected_["s1/0_0_0"] = EncodeBlock(kTestGrid, TestVoxels(9, 1));
  }

  std::unique_ptr<Container> Open(const Location& location,
                                  const OpenOptions& options = {}) const {
    return Must(kFormat.open(location, options));
  }

  const Location location_;
  std::map<std::string, ByteVector> expected_;
};

TEST_F(DvidContainerTest, FindsEveryBlockAndNoOther) {
  const auto container = Open(location_);
  EXPECT_EQ(container->format_name(), "dvid");
  for (const auto& [key, block] : expected_) {
    const auto entry = Must(container->Find(key));
    ASSERT_TRUE(entry) << key;
    EXPECT_EQ(entry->key, key);
    EXPECT_EQ(entry->size, block.size());
    EXPECT_TRUE(Equal(Must(ReadEntry(container->store(), *entry)).value, block)) << key;
    Must(container->CheckValue(*entry, Bytes::Copy(block)));
  }
  EXPECT_EQ(Must(container->Find("s0/77_0_0")), std::nullopt);
  EXPECT_EQ(Must(container->Find("s0/0_-1_0")), std::nullopt);
  EXPECT_EQ(container->Find("0_0_0").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(container->Find("s0/0_0").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DvidContainerTest, ScansEveryBlockOnce) {
  const auto container = Open(location_);
  const std::vector<std::string> objects = Must(container->Objects());
  EXPECT_EQ(objects.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(objects));
  std::map<std::string, ByteVector> found;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    const Bytes value = Must(ReadEntry(container->store(), entry)).value;
    EXPECT_TRUE(
        found.emplace(entry.key, ByteVector(value.view().begin(), value.view().end()))
            .second);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(found, expected_);
  for (const std::string& object : objects) {
    Must(container->CheckObject(object, [](const Finding& finding) {
      ADD_FAILURE() << finding.object << ": " << finding.message;
    }));
  }
}

TEST_F(DvidContainerTest, TakesOneScaleOrOneShard) {
  const auto scale = Open(location_.Child("s0"));
  EXPECT_TRUE(Must(scale->Find("3_0_0")));
  EXPECT_GT(Must(kFormat.probe(location_)), 0);
  EXPECT_GT(Must(kFormat.probe(location_.Child("s0"))), 0);
  const Location shard = location_.Child("s0").Child("128_0_0.arrow");
  EXPECT_GT(Must(kFormat.probe(shard)), 0);
  EXPECT_TRUE(Must(Open(shard)->Find("3_0_0")));
  EXPECT_EQ(Must(Open(shard)->Find("5_0_0")), std::nullopt);
  EXPECT_EQ(kFormat.open(location_.Child("none"), {}).error().code, ErrorCode::kNotFound);
}

// A file of testdata/good in a store that counts.
Location Golden(const std::shared_ptr<MemoryStore>& store, const std::string& name) {
  const Location file = Must(ParseLocation(
      DOLIUM_SOURCE_DIR "/src/dolium/formats/dvid/testdata/good/" + name + ".arrow"));
  const Bytes bytes = Must(file.store->ReadWhole(file.path, 1 << 20)).bytes;
  Must(store->Put("export/0_0_0.arrow", bytes, Precondition::None()));
  return {store, "export"};
}

TEST_F(DvidContainerTest, DecompressesTheBuffersOfABatchOnce) {
  const auto store = std::make_shared<MemoryStore>("test");
  for (const char* const name : {"stream-zstd", "file-lz4"}) {
    const auto container = Open(Golden(store, name));
    std::vector<Entry> entries;
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      entries.push_back(entry);
      return true;
    };
    Must(Scan(*container, visitor));
    ASSERT_EQ(entries.size(), 3U);
    const uint64_t reads = store->reads();
    const auto stored = ReadManyStored(*store, entries);
    EXPECT_EQ(store->reads(), reads) << "they are at hand";
    for (size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].extents.front().codecs.size(), 3U);
      const Bytes value = Must(DecodeStored(*store, entries[i], Must(stored[i]))).value;
      EXPECT_TRUE(LabelBlock::Parse(value));
      Must(container->CheckValue(entries[i], value));
      // Those who lost what was at hand read it.
      Entry bare = entries[i];
      bare.extents.front().predecoded_steps = 0;
      EXPECT_TRUE(Equal(Must(ReadEntry(*store, bare)).value, value));
      EXPECT_EQ(Must(ReadStored(*store, entries[i])).value.size(),
                entries[i].stored_size());
    }
    EXPECT_GT(store->reads(), reads);
  }
}

TEST_F(DvidContainerTest, RecognisesStreamsOfBeforeArrow015) {
  const auto store = std::make_shared<MemoryStore>("test");
  const Location shard = Golden(store, "stream-legacy").Child("0_0_0.arrow");
  EXPECT_GT(Must(kFormat.probe(shard)), 0);
  Must(store->Put(shard.path,
                  AsBytes(std::string("\x20\0\0\0", 4) + std::string(99, 'x')),
                  Precondition::None()));
  EXPECT_EQ(Must(kFormat.probe(shard)), 0) << "a length, but no schema";
}

TEST_F(DvidContainerTest, CountsTheBytesOfGzipBlocks) {
  const auto store = std::make_shared<MemoryStore>("test");
  const auto bytes_of = [&](const char* name) {
    return Must(Open(Golden(store, name))->Statistics({})).back();
  };
  EXPECT_EQ(bytes_of("block-gzip").first, "block bytes");
  EXPECT_EQ(bytes_of("block-gzip"), bytes_of("block-none"));
}

TEST_F(DvidContainerTest, FindsBlocksThatReadersDoNotFind) {
  const auto findings = [](Container& container) {
    std::vector<std::string> found;
    for (const std::string& object : Must(container.Objects())) {
      Must(container.CheckObject(object, [&](const Finding& finding) {
        found.push_back(finding.kind + " " + finding.key);
      }));
    }
    return found;
  };
  // Corners give a side of 128 voxels.
  const Location wrong = location_.Child("wrong");
  WriteTestShard(wrong.Child("0_0_0.arrow"),
                 {{{0, 0, 0}, TestVoxels(1, 1)}, {{2, 0, 0}, TestVoxels(2, 1)}});
  WriteTestShard(wrong.Child("128_0_0.arrow"),
                 {{{2, 0, 0}, TestVoxels(3, 1)}, {{2, 2, 0}, TestVoxels(4, 1)}});
  EXPECT_THAT(findings(*Open(wrong)), testing::ElementsAre("name 2_0_0", "name 2_2_0"));
  // Names say nothing.
  const Location named = location_.Child("named");
  WriteTestShard(named.Child("a.arrow"), {{{0, 0, 0}, TestVoxels(1, 1)}});
  WriteTestShard(named.Child("b.arrow"),
                 {{{1, 0, 0}, TestVoxels(1, 1)}, {{0, 0, 0}, TestVoxels(2, 1)}});
  EXPECT_THAT(findings(*Open(named)), testing::ElementsAre("twice 0_0_0"));
}

TEST_F(DvidContainerTest, NoticesAValueThatIsNotTheRows) {
  const auto container = Open(location_);
  const auto entry = Must(container->Find("s0/0_1_0"));
  const auto other = container->CheckValue(*entry, Bytes::Copy(expected_.at("s0/1_0_0")));
  EXPECT_THAT(other.error().message, HasSubstr("are not the"));
}

TEST_F(DvidContainerTest, ReportsADamagedShardAndGoesOn) {
  const std::string object = JoinPath(location_.path, "s0/128_0_0.arrow");
  Must(location_.store->Put(object, AsBytes("damaged, all of it, to the end"),
                            Precondition::None()));
  const auto container = Open(location_);
  size_t entries = 0;
  std::vector<Finding> damage;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry&) { return ++entries > 0; };
  visitor.damage = [&](const Finding& finding) {
    damage.push_back(finding);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(entries, 5U);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_THAT(damage[0].object, HasSubstr("128_0_0.arrow"));
  visitor.damage = nullptr;
  EXPECT_EQ(Scan(*container, visitor).error().code, ErrorCode::kCorrupt);
}

TEST_F(DvidContainerTest, CountsLabels) {
  const Properties counts = Must(Open(location_.Child("s1"))->Statistics({}));
  EXPECT_EQ(counts[0], (Properties::value_type("labels", 1U)));
  EXPECT_EQ(counts[3], (Properties::value_type("solid blocks", 1U)));
}

TEST_F(DvidContainerTest, RejectsParametersThatItDoesNotKnow) {
  OpenOptions options;
  options.parameters["coordinates"] = "miles";
  EXPECT_EQ(kFormat.open(location_, options).error().message,
            "coordinates \"miles\", expected auto, block or voxel");
}

}  // namespace
}  // namespace dolium::dvid
