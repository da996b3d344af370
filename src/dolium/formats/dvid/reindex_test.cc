#include "dolium/formats/dvid/reindex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

class ReindexTest : public testing::Test {
 protected:
  ReindexTest() : shard_{std::make_shared<MemoryStore>("test"), "s0/0_0_0.arrow"} {
    for (int32_t i = 0; i < 5; ++i) {
      blocks_.push_back({{i, 1, 0}, TestVoxels(static_cast<uint64_t>(i), 10)});
    }
  }

  void Put(const std::string& name, BytesView bytes) {
    Must(shard_.store->Put("s0/" + name, bytes, Precondition::None()));
  }
  std::string Get(const std::string& name) {
    return std::string(
        AsText(Must(shard_.store->ReadWhole("s0/" + name, 1 << 20)).bytes));
  }
  void Remove(const std::string& name) {
    Must(shard_.store->Remove("s0/" + name, Precondition::None()));
  }
  void PutGolden(const std::string& name) {
    const Location file = Must(ParseLocation(
        DOLIUM_SOURCE_DIR "/src/dolium/formats/dvid/testdata/good/" + name + ".arrow"));
    Put("0_0_0.arrow", Must(file.store->ReadWhole(file.path, 1 << 20)).bytes);
  }

  const Location shard_;
  std::vector<TestBlock> blocks_;
};

TEST_F(ReindexTest, WritesTheCsvThatTheWriterWrites) {
  for (const size_t rows : {1, 2}) {
    WriteTestShard(shard_, blocks_, {.rows_per_batch = rows});
    const std::string expected = Get("0_0_0.csv");
    Remove("0_0_0.csv");
    EXPECT_TRUE(Must(WriteShardIndex(shard_, {}, false)));
    EXPECT_EQ(Get("0_0_0.csv"), expected);
    EXPECT_EQ(Must(Shard::Open(shard_))->index_form(), "csv");
  }
}

TEST_F(ReindexTest, OverwritesNothingUnlessAsked) {
  WriteTestShard(shard_, blocks_);
  const std::string expected = Get("0_0_0.csv");
  Put("0_0_0.csv", AsBytes("nonsense"));
  EXPECT_FALSE(Must(WriteShardIndex(shard_, {}, false)));
  EXPECT_EQ(Get("0_0_0.csv"), "nonsense");
  EXPECT_TRUE(Must(WriteShardIndex(shard_, {}, true)));
  EXPECT_EQ(Get("0_0_0.csv"), expected);
  Remove("0_0_0.csv");
  Put("0_0_0.json", AsBytes("{}"));
  EXPECT_FALSE(Must(WriteShardIndex(shard_, {}, false)));
}

TEST_F(ReindexTest, LeavesShardsWithAnIndexAtTheirEnd) {
  WriteTestShard(shard_, blocks_, {.layout = ShardLayout::kSeed});
  EXPECT_FALSE(Must(WriteShardIndex(shard_, {}, false)));
  EXPECT_FALSE(Must(WriteShardIndex(shard_, {}, true)));
  EXPECT_EQ(Must(shard_.store->Stat("s0/0_0_0.csv")), std::nullopt);
}

TEST_F(ReindexTest, WritesNoIndexOfADamagedShard) {
  WriteTestShard(shard_, blocks_);
  const std::string bytes = Get("0_0_0.arrow");
  Put("0_0_0.arrow", AsBytes(bytes + bytes));
  Remove("0_0_0.csv");
  EXPECT_EQ(WriteShardIndex(shard_, {.salvage = true}, false).error().kind, "rerun");
  EXPECT_EQ(Must(shard_.store->Stat("s0/0_0_0.csv")), std::nullopt);
}

// Readers honour it: they read no batch before one is asked for.
TEST_F(ReindexTest, IsReadForEveryFlavour) {
  for (const char* const name :
       {"stream-plain", "stream-legacy", "stream-zstd", "file-plain", "file-zstd"}) {
    PutGolden(name);
    EXPECT_TRUE(Must(WriteShardIndex(shard_, {}, true))) << name;
    const auto& store = static_cast<const MemoryStore&>(*shard_.store);
    const uint64_t before = store.reads();
    const auto indexed = Must(Shard::Open(shard_));
    const uint64_t with_index = store.reads() - before;
    EXPECT_EQ(indexed->index_form(), "csv");
    const auto walked = Must(Shard::Open(shard_, {.use_index = false}));
    EXPECT_LT(with_index, store.reads() - before - with_index) << name;
    ASSERT_EQ(indexed->size(), walked->size());
    EXPECT_EQ(indexed->in_voxels(), walked->in_voxels());
    for (size_t i = 0; i < walked->size(); ++i) {
      EXPECT_EQ(indexed->key(i), walked->key(i));
      EXPECT_TRUE(Equal(Must(indexed->Read(i)).stored, Must(walked->Read(i)).stored));
    }
    Must(indexed->Check([&](const Finding& finding) {
      ADD_FAILURE() << name << ": " << finding.message;
    }));
  }
}

TEST_F(ReindexTest, IsWhatContainersDo) {
  WriteTestShard(shard_, blocks_);
  const std::string expected = Get("0_0_0.csv");
  Remove("0_0_0.csv");
  const auto container = Must(kFormat.open({shard_.store, ""}, {}));
  EXPECT_TRUE(Must(container->WriteIndex("s0/0_0_0.arrow", false)));
  EXPECT_FALSE(Must(container->WriteIndex("s0/0_0_0.arrow", false)));
  EXPECT_EQ(Get("0_0_0.csv"), expected);
  EXPECT_THAT(container->WriteIndex("s0/1_0_0.arrow", false).error().message,
              HasSubstr("not a shard of"));
}

}  // namespace
}  // namespace dolium::dvid
