// Damage that must not pass unseen: what salvage keeps, and what it says is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/reindex.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSalvagedShard = "s0/0_0_0.arrow";
constexpr const char* kSalvagedCsv = "s0/0_0_0.csv";

class SalvageTest : public testing::Test {
 protected:
  SalvageTest() : store_(std::make_shared<MemoryStore>("test")) {
    for (int32_t i = 0; i < 8; ++i) {
      blocks_.push_back({{i % 2, i / 2 % 2, i / 4}, TestVoxels(uint64_t(i), 12)});
    }
    WriteTestShard(shard(), blocks_);
    const auto whole = Must(Shard::Open(shard()));
    for (size_t i = 0; i < whole->size(); ++i) {
      messages_.push_back(whole->MessageOf(i));
    }
  }

  Location shard() const { return {store_, kSalvagedShard}; }
  std::string Get(const std::string& name) const {
    return std::string(AsText(Must(store_->ReadWhole(name, 1 << 30)).bytes));
  }
  void Put(const std::string& name, std::string_view text) const {
    Must(store_->Put(name, AsBytes(text), Precondition::None()));
  }
  void RemoveCsv() const { Must(store_->Remove(kSalvagedCsv, Precondition::None())); }

  // Makes a batch a message of a type that there is not.
  void SpoilType(size_t number) const {
    std::string bytes = Get(kSalvagedShard);
    const auto begin = static_cast<size_t>(messages_[number].offset) + 8;
    const auto length = LoadLE<uint32_t>(
        reinterpret_cast<const std::byte*>(bytes.data()) + begin - sizeof(uint32_t));
    for (size_t at = begin; at < begin + length; ++at) {
      if (bytes[at] != 3) continue;  // A record batch.
      bytes[at] = 9;
      const auto message =
          ParseMessage(AsBytes(std::string_view(bytes).substr(begin, length)));
      if (message && message->kind == MessageKind::kOther) {
        Put(kSalvagedShard, bytes);
        return;
      }
      bytes[at] = 3;
    }
    FAIL() << "no byte has the type";
  }

  static std::vector<std::string> Verified(const Location& location, bool salvage) {
    OpenOptions options;
    if (salvage) options.parameters["salvage"] = "yes";
    const auto container = Must(kFormat.open(location, options));
    std::vector<std::string> found;
    for (const std::string& object : Must(container->Objects())) {
      Must(container->CheckObject(object, [&](const Finding& finding) {
        const bool is_error = finding.severity == Severity::kError;
        found.push_back(fmt::format("{} {}: {}", is_error ? "error" : "warning",
                                    finding.kind, finding.message));
      }));
    }
    return found;
  }

  static std::vector<std::string> Kinds(const Shard& shard) {
    std::vector<std::string> kinds;
    for (const Finding& finding : shard.warnings()) kinds.push_back(finding.kind);
    return kinds;
  }

  void ExpectAllBlocks(const Shard& shard) const {
    EXPECT_EQ(shard.size(), blocks_.size());
    for (const TestBlock& block : blocks_) {
      const auto number = shard.FindBlock(block.key);
      ASSERT_TRUE(number) << ToString(block.key);
      EXPECT_EQ(
          Must(DecodeRow(Must(shard.Read(*number)), LabelKind::kSupervoxels)).voxels,
          block.voxels);
    }
  }

  std::shared_ptr<MemoryStore> store_;
  std::vector<TestBlock> blocks_;
  std::vector<ByteRange> messages_;
};

TEST_F(SalvageTest, ReportsAMessageOfAnUnknownType) {
  SpoilType(1);
  EXPECT_THAT(Verified(shard(), false), ElementsAre(HasSubstr("error message: ")));
  RemoveCsv();
  const auto opened = Shard::Open(shard());
  ASSERT_FALSE(opened) << "7 of 8 blocks would be silent";
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("is of a type that streams do not have"));
}

TEST_F(SalvageTest, CountsWhatItCouldNotTake) {
  SpoilType(1);
  const auto saved = Must(Shard::Open(shard(), {.salvage = true}));
  EXPECT_EQ(saved->size(), 7U);
  EXPECT_THAT(Kinds(*saved), ElementsAre("salvage", "lost", "lost"));
  EXPECT_EQ(saved->warnings()[1].range, messages_[1]);
  EXPECT_THAT(saved->warnings()[1].message,
              HasSubstr(fmt::format("not whole are {} bytes in 1 of its parts",
                                    messages_[1].length)));
  EXPECT_THAT(saved->warnings()[2].message,
              HasSubstr("1 of the 8 blocks that its index lists are not in the data, "
                        "1_0_0 for one"));
  // A scan says it, too, and so does a check.
  OpenOptions options;
  options.parameters["salvage"] = "yes";
  const auto container = Must(kFormat.open(shard(), options));
  size_t entries = 0;
  std::vector<Finding> damage;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry&) { return ++entries > 0; };
  visitor.damage = [&](const Finding& finding) {
    damage.push_back(finding);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(entries, 7U);
  ASSERT_EQ(damage.size(), 2U);
  EXPECT_EQ(damage[0].severity, Severity::kError);
  EXPECT_THAT(Verified(shard(), true),
              ElementsAre(HasSubstr("warning salvage"), HasSubstr("error lost"),
                          HasSubstr("error lost")));
}

TEST_F(SalvageTest, CountsDamagedMetadata) {
  std::string bytes = Get(kSalvagedShard);
  bytes[static_cast<size_t>(messages_[7].offset) + 8] = '\x7f';  // The flatbuffer's root.
  Put(kSalvagedShard, bytes);
  RemoveCsv();
  const auto saved = Must(Shard::Open(shard(), {.salvage = true}));
  EXPECT_EQ(saved->size(), 7U);
  EXPECT_THAT(Kinds(*saved), ElementsAre("salvage", "lost"));
  EXPECT_EQ(saved->warnings()[1].range, messages_[7]);
}

TEST_F(SalvageTest, KeepsEveryBlockWhereTheCsvIsWrong) {
  const std::string good = Get(kSalvagedCsv);
  // Every row has the block of the row before it.
  std::string csv = good.substr(0, good.find("\n0,0,0,") + 1);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Key& key = blocks_[(i + 1) % blocks_.size()].key;
    csv += fmt::format("{},{},{},{},{},0\n", key[0], key[1], key[2], messages_[i].offset,
                       messages_[i].length);
  }
  Put(kSalvagedCsv, csv);
  EXPECT_FALSE(Must(Shard::Open(shard()))->Read(0));
  const auto permuted = Must(Shard::Open(shard(), {.salvage = true}));
  ExpectAllBlocks(*permuted);
  EXPECT_THAT(Kinds(*permuted), ElementsAre("index"));
  EXPECT_THAT(permuted->warnings()[0].message, HasSubstr("8 of the 8 rows"));
  // Seven blocks that are nowhere.
  csv = good.substr(0, good.find("\n0,1,0,") + 1);
  for (size_t i = 2; i < blocks_.size(); ++i) {
    csv += fmt::format("9,9,{},{},{},0\n", i, messages_[i].offset, messages_[i].length);
  }
  Put(kSalvagedCsv, csv);
  const auto wrong = Must(Shard::Open(shard(), {.salvage = true}));
  ExpectAllBlocks(*wrong);
  EXPECT_THAT(Kinds(*wrong), ElementsAre("index"));
  Put(kSalvagedCsv, good);
  EXPECT_THAT(Kinds(*Must(Shard::Open(shard(), {.salvage = true}))), IsEmpty());
}

TEST_F(SalvageTest, GoesByVoxelsOfTheIndexIfAsked) {
  std::string csv = "x,y,z,offset,size,batch_idx\n";
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Key& key = blocks_[i].key;
    csv += fmt::format("{},{},{},{},{},0\n", 64 * key[0], 64 * key[1], 64 * key[2],
                       messages_[i].offset, messages_[i].length);
  }
  Put(kSalvagedCsv, csv);
  const auto saved =
      Must(Shard::Open(shard(), {.coordinates = Coordinates::kVoxel, .salvage = true}));
  ExpectAllBlocks(*saved);
  EXPECT_THAT(Kinds(*saved), IsEmpty());
  EXPECT_TRUE(saved->Find({64, 64, 64}));
}

TEST_F(SalvageTest, SeesThatAStreamLacksWhatItsIndexLists) {
  Put(kSalvagedShard,
      Get(kSalvagedShard).substr(0, static_cast<size_t>(messages_[6].offset)));
  EXPECT_FALSE(Shard::Open(shard()));
  const auto saved = Must(Shard::Open(shard(), {.salvage = true}));
  EXPECT_EQ(saved->size(), 6U);
  EXPECT_THAT(Kinds(*saved), ElementsAre("end", "index", "lost"));
  EXPECT_THAT(saved->warnings()[2].message, HasSubstr("2 of the 8 blocks"));
}

TEST_F(SalvageTest, TakesAFooterForNoLoss) {
  WriteTestShard(shard(), blocks_, {.layout = ShardLayout::kSeed});
  std::string bytes = Get(kSalvagedShard);
  const size_t end = bytes.rfind("ARROW1", bytes.size() - 100);
  bytes[end] = 'a';
  Put(kSalvagedShard, bytes);
  const auto saved = Must(Shard::Open(shard(), {.salvage = true}));
  EXPECT_EQ(saved->size(), blocks_.size());
  EXPECT_THAT(Kinds(*saved), testing::Not(testing::Contains("lost")));
}

TEST_F(SalvageTest, ReindexHidesNoTruncation) {
  Put(kSalvagedShard,
      Get(kSalvagedShard).substr(0, static_cast<size_t>(messages_[6].offset)));
  const std::string before = Get(kSalvagedCsv);
  const auto refused = WriteShardIndex(shard(), {}, /*replace=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message,
              HasSubstr("has no end mark and 6 blocks, its index 8: the file was cut"));
  EXPECT_EQ(Get(kSalvagedCsv), before);
  // Without the old index a new one is written, and verify goes on to see the end.
  RemoveCsv();
  EXPECT_TRUE(Must(WriteShardIndex(shard(), {}, /*replace=*/true)));
  EXPECT_THAT(Verified(shard(), false), ElementsAre(HasSubstr("warning end: ")));
}

TEST_F(SalvageTest, ReindexReplacesAnIndexWithTooManyRowsOfAWholeStream) {
  const std::string good = Get(kSalvagedCsv);
  Put(kSalvagedCsv, good + "9,9,9,100,200,0\n");
  EXPECT_TRUE(Must(WriteShardIndex(shard(), {}, /*replace=*/true)));
  EXPECT_EQ(Get(kSalvagedCsv), good);
}

}  // namespace
}  // namespace dolium::dvid
