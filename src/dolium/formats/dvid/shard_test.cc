#include "dolium/formats/dvid/shard.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::dvid {
namespace {

using testing::HasSubstr;

class ShardTest : public testing::Test {
 protected:
  ShardTest() : store_(std::make_shared<MemoryStore>("test")) {
    for (int32_t i = 0; i < 5; ++i) {
      blocks_.push_back(
          {{i, 0, i % 2},
           TestVoxels(static_cast<uint64_t>(i), i == 2 ? 1 : 20 * size_t(i) + 2)});
    }
  }

  Location At(const std::string& name) const { return {store_, name}; }
  ByteVector ReadObject(const std::string& name) const {
    const auto whole = Must(store_->ReadWhole(name, 1 << 30));
    return {whole.bytes.view().begin(), whole.bytes.view().end()};
  }
  void PutObject(const std::string& name, BytesView bytes) const {
    Must(store_->Put(name, bytes, Precondition::None()));
  }
  void PutObject(const std::string& name, std::string_view text) const {
    PutObject(name, AsBytes(text));
  }
  void RemoveObject(const std::string& name) const {
    Must(store_->Remove(name, Precondition::None()));
  }

  void ExpectAllBlocks(const Shard& shard, int32_t scale = 1) const {
    EXPECT_EQ(shard.size(), blocks_.size());
    for (const TestBlock& block : blocks_) {
      const Key key = {block.key[0] * scale, block.key[1] * scale, block.key[2] * scale};
      const auto number = shard.Find(key);
      ASSERT_TRUE(number) << ToString(key);
      EXPECT_EQ(shard.BlockOf(*number), block.key);
      EXPECT_EQ(shard.FindBlock(block.key), number);
      const Row row = Must(shard.Read(*number));
      EXPECT_EQ(Must(DecodeRow(row, LabelKind::kSupervoxels)).voxels, block.voxels);
      const auto labels = Must(DecodeRow(row, LabelKind::kLabels)).voxels;
      for (size_t i = 0; i < labels.size(); i += 997) {
        EXPECT_EQ(labels[i], LabelOf(block.voxels[i]));
      }
    }
    EXPECT_EQ(shard.Find({99, 0, 0}), std::nullopt);
  }
  static std::vector<std::string> Findings(const Shard& shard, int64_t side = 0) {
    std::vector<std::string> found;
    Must(shard.Check(
        [&](const Finding& finding) {
          found.push_back(finding.kind + ": " + finding.message);
        },
        side));
    return found;
  }
  std::string OpenError(const std::string& name) const {
    const auto shard = Shard::Open(At(name));
    return shard ? "none" : shard.error().message;
  }
  // Its CSV without the lines that begin so.
  void DropFromCsv(const std::string& name, std::string_view start) const {
    std::string csv(AsText(ReadObject(name)));
    const size_t at = csv.find("\n" + std::string(start)) + 1;
    csv.erase(at, csv.find('\n', at) + 1 - at);
    PutObject(name, csv);
  }

  std::shared_ptr<MemoryStore> store_;
  std::vector<TestBlock> blocks_;
};

TEST_F(ShardTest, ReadsWhatWasWrittenInEveryForm) {
  for (const size_t rows : {1, 2, 9}) {
    for (const CsvForm csv : {CsvForm::kDocumented, CsvForm::kDvid}) {
      WriteTestShard(At("0_0_0.arrow"), blocks_, {.csv = csv, .rows_per_batch = rows});
      const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
      EXPECT_EQ(shard->index_form(), "csv");
      EXPECT_FALSE(shard->is_file());
      ExpectAllBlocks(*shard);
      EXPECT_THAT(Findings(*shard), testing::IsEmpty());
    }
  }
}

TEST_F(ShardTest, ReadsTheSeedsLayout) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.layout = ShardLayout::kSeed});
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  EXPECT_TRUE(shard->is_file());
  EXPECT_TRUE(shard->in_voxels());
  EXPECT_EQ(shard->index_form(), "footer");
  ExpectAllBlocks(*shard, 64);
  EXPECT_THAT(Findings(*shard), testing::IsEmpty());
  const auto blocks =
      Must(Shard::Open(At("0_0_0.arrow"), {.coordinates = Coordinates::kBlock}));
  EXPECT_EQ(blocks->BlockOf(1), (Key{64, 0, 64}));
}

TEST_F(ShardTest, ReadsAFooterWithItsFieldsSwapped) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.layout = ShardLayout::kSeed});
  ByteVector bytes = ReadObject("0_0_0.arrow");
  std::rotate(bytes.end() - 16, bytes.end() - 8, bytes.end());
  PutObject("0_0_0.arrow", bytes);
  ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"))), 64);
}

TEST_F(ShardTest, GoesThroughTheMessagesWithoutAnIndex) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.rows_per_batch = 2});
  RemoveObject("0_0_0.csv");
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  EXPECT_EQ(shard->index_form(), "none");
  ExpectAllBlocks(*shard);
  EXPECT_THAT(Findings(*shard),
              testing::ElementsAre(HasSubstr("index: there is no index")));
  Must(shard->Check(
      [](const Finding& finding) { EXPECT_EQ(finding.hint, Hint::kReindex); }, 0));
}

TEST_F(ShardTest, RefusesACsvWithoutARowInTheMiddle) {
  for (const CsvForm csv : {CsvForm::kDocumented, CsvForm::kDvid}) {
    WriteTestShard(At("0_0_0.arrow"), blocks_, {.csv = csv});
    DropFromCsv("0_0_0.csv", "2,0,0,");
    EXPECT_THAT(OpenError("0_0_0.arrow"),
                HasSubstr("its index has 4 rows, the Arrow data 5"));
    ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true})));
  }
}

TEST_F(ShardTest, RefusesACsvWithoutARowOfABatch) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.rows_per_batch = 3});
  DropFromCsv("0_0_0.csv", "1,0,1,");
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("its index has 4 rows"));
  // That the last row of a batch is missing shows when one of the others is read.
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.rows_per_batch = 3});
  DropFromCsv("0_0_0.csv", "2,0,0,");
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  EXPECT_THAT(shard->Read(*shard->Find({0, 0, 0})).error().message,
              HasSubstr("0_0_0: its batch has 3 rows, the index not as many"));
  EXPECT_TRUE(shard->Read(*shard->Find({3, 0, 1})));
}

TEST_F(ShardTest, GoesThroughTheMessagesIfRangesAreOthers) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  std::string csv(AsText(ReadObject("0_0_0.csv")));
  csv.replace(csv.find("\n2,0,0,") + 7, 1, "9");
  PutObject("0_0_0.csv", csv);
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  ExpectAllBlocks(*shard);
  EXPECT_THAT(
      Findings(*shard),
      testing::ElementsAre(HasSubstr("the ranges of its index are not those of the")));
}

TEST_F(ShardTest, HasRowsInStorageOrderWhateverTheCsvs) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.rows_per_batch = 2});
  std::string csv(AsText(ReadObject("0_0_0.csv")));
  const size_t at = csv.find("\n0,0,0,") + 1;
  const std::string first = csv.substr(at, csv.find('\n', at) + 1 - at);
  csv.erase(at, first.size());
  PutObject("0_0_0.csv", csv + first);
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  for (size_t i = 0; i < blocks_.size(); ++i) EXPECT_EQ(shard->key(i), blocks_[i].key);
  ExpectAllBlocks(*shard);
}

TEST_F(ShardTest, RefusesVoxelsInACsvOverBlocksInTheColumns) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  std::string csv = "x,y,z,offset,size,batch_idx\n";
  const auto whole = Must(Shard::Open(At("0_0_0.arrow")));
  for (size_t i = 0; i < whole->size(); ++i) {
    const ByteRange range = whole->MessageOf(i);
    csv += fmt::format("{},{},{},{},{},0\n", 64 * whole->key(i)[0], 64 * whole->key(i)[1],
                       64 * whole->key(i)[2], range.offset, range.length);
  }
  PutObject("0_0_0.csv", csv);
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  EXPECT_THAT(shard->Read(*shard->Find({64, 0, 64})).error().message,
              HasSubstr("64_0_64: the columns have it as 1_0_1"));
  ExpectAllBlocks(
      *Must(Shard::Open(At("0_0_0.arrow"), {.coordinates = Coordinates::kVoxel})), 64);
}

TEST_F(ShardTest, ReadsIndexesOfRecords) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  PutObject("0_0_0.csv",
            "x,y,z,rec,morton\n0,0,0,0\n1,0,1,1\n2,0,0,2\n3,0,1,3\n4,0,0,4\n");
  ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"))));
  PutObject("0_0_0.csv", "x,y,z,rec\n0,0,0,0\n");
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("index has 1 rows, the Arrow data 5"));
  RemoveObject("0_0_0.csv");
  PutObject("0_0_0.json",
            R"({"0_0_0":0,"64_0_64":1,"128_0_0":2,"192_0_64":3,"256_0_0":4})");
  const auto voxels = Must(Shard::Open(At("0_0_0.arrow")));
  EXPECT_TRUE(voxels->in_voxels()) << "the columns count blocks, the keys voxels";
  ExpectAllBlocks(*voxels, 64);
  PutObject("0_0_0.json", R"({"0_0_0":0,"1_0_1":1,"2_0_0":2,"3_0_1":3,"4_0_9":4})");
  EXPECT_THAT(OpenError("0_0_0.arrow"),
              HasSubstr("record 4 is 4_0_9 in the index and 4_0_0 in the columns"));
}

TEST_F(ShardTest, SalvagesByTheColumnsWhereTheIndexIsWrong) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  for (const char* const csv :
       {"x,y,z,rec\n0,0,0,0\n",
        "x,y,z,rec\n0,0,0,0\n1,0,1,1\n2,0,0,2\n3,0,1,3\n4,0,9,4\n", "no index at all"}) {
    PutObject("0_0_0.csv", std::string_view(csv));
    EXPECT_NE(OpenError("0_0_0.arrow"), "none");
    const auto shard = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
    ExpectAllBlocks(*shard);
    ASSERT_EQ(shard->warnings().size(), 1U);
    EXPECT_EQ(shard->warnings()[0].kind, "index");
  }
}

TEST_F(ShardTest, SalvagesAFileWhoseFooterIsDamaged) {
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.layout = ShardLayout::kSeed});
  const ByteVector good = ReadObject("0_0_0.arrow");
  ByteVector bad = good;
  bad[bad.size() - 17] = std::byte{'!'};  // The JSON's closing brace.
  PutObject("0_0_0.arrow", bad);
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("not the index of a shard"));
  const auto shard = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
  ExpectAllBlocks(*shard, 64);
  EXPECT_EQ(shard->warnings().at(0).kind, "index");
  bad = good;
  StoreLE<uint64_t>(bad.data() + bad.size() - 16, bad.size());  // The JSON's length.
  PutObject("0_0_0.arrow", bad);
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("the footer claims"));
  ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true})), 64);
}

TEST_F(ShardTest, AcceptsAStreamWithoutAnEnd) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  ByteVector bytes = ReadObject("0_0_0.arrow");
  bytes.resize(bytes.size() - 8);
  PutObject("0_0_0.arrow", bytes);
  ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"))));
  RemoveObject("0_0_0.csv");
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  ASSERT_EQ(shard->warnings().size(), 1U);
  EXPECT_THAT(shard->warnings()[0].message, HasSubstr("no end mark"));
  bytes.resize(bytes.size() - 8);
  PutObject("0_0_0.arrow", bytes);
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("ends past the data"));
}

TEST_F(ShardTest, ExplainsAnExportIntoTheSameFolder) {
  WriteTestShard(At("0_0_0.arrow"), blocks_);
  ByteVector bytes = ReadObject("0_0_0.arrow");
  Append(bytes, ReadObject("0_0_0.arrow"));
  PutObject("0_0_0.arrow", bytes);
  const auto shard = Shard::Open(At("0_0_0.arrow"));
  ASSERT_FALSE(shard);
  EXPECT_EQ(shard.error().kind, "rerun");
  EXPECT_THAT(shard.error().message, HasSubstr("a folder that had an export already"));
  const auto saved = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
  ExpectAllBlocks(*saved);
  EXPECT_GE(saved->MessageOf(0).offset, bytes.size() / 2) << "the last counts";
}

TEST_F(ShardTest, ExplainsShardsThatShareAFile) {
  WriteTestShard(At("0_0_0.arrow"), {blocks_[0], blocks_[1]});
  ByteVector first = ReadObject("0_0_0.arrow");
  WriteTestShard(At("0_0_0.arrow"), {blocks_[2], blocks_[3], blocks_[4]});
  // The second writer begins in the midst of the first one's last message.
  const ByteVector second = ReadObject("0_0_0.arrow");
  first.insert(first.end() - 400, second.begin(), second.end());
  PutObject("0_0_0.arrow", first);
  EXPECT_NE(OpenError("0_0_0.arrow"), "none");
  const auto saved = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
  EXPECT_EQ(saved->size(), 4U);
  EXPECT_FALSE(saved->warnings().empty());
  ByteVector whole = ReadObject("0_0_0.arrow");
  WriteTestShard(At("1_1_1.arrow"), {blocks_[0]});
  ByteVector joined = ReadObject("1_1_1.arrow");
  joined.resize(joined.size() - 8);
  Append(joined, second);
  PutObject("0_0_0.arrow", joined);
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("shards are not cubes"));
}

TEST_F(ShardTest, SalvagesMessagesAtAnyOffset) {
  WriteTestShard(At("0_0_0.arrow"), {blocks_[0], blocks_[1]});
  const ByteVector first = ReadObject("0_0_0.arrow");
  WriteTestShard(At("0_0_0.arrow"), {blocks_[2], blocks_[3], blocks_[4]});
  const ByteVector second = ReadObject("0_0_0.arrow");
  for (const size_t cut : {400, 401, 402, 403}) {
    // Written up to here when the second writer began.
    ByteVector both(first.begin(), first.end() - static_cast<ptrdiff_t>(cut));
    Append(both, second);
    PutObject("0_0_0.arrow", both);
    RemoveObject("0_0_0.csv");
    EXPECT_NE(OpenError("0_0_0.arrow"), "none");
    const auto saved = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
    EXPECT_EQ(saved->size(), 4U) << cut;
    for (const size_t i : {0, 2, 3, 4}) {
      const auto number = saved->Find(blocks_[i].key);
      ASSERT_TRUE(number) << cut << " " << i;
      EXPECT_EQ(
          Must(DecodeRow(Must(saved->Read(*number)), LabelKind::kSupervoxels)).voxels,
          blocks_[i].voxels);
    }
    ASSERT_EQ(saved->warnings().size(), 2U);
    EXPECT_THAT(saved->warnings()[1].message,
                HasSubstr("bytes in 1 of its parts: their blocks are missing"));
    PutObject("0_0_0.csv", "x,y,z,rec\n");
  }
}

TEST_F(ShardTest, RejectsABlockThatIsThereTwice) {
  const TestBlock other{blocks_[0].key, blocks_[3].voxels};
  WriteTestShard(At("0_0_0.arrow"), {blocks_[0], blocks_[1], other});
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("block 0_0_0 is there twice"));
  const auto saved = Must(Shard::Open(At("0_0_0.arrow"), {.salvage = true}));
  ASSERT_EQ(saved->size(), 2U);
  const Row row = Must(saved->Read(*saved->Find(other.key)));
  EXPECT_EQ(Must(DecodeRow(row, LabelKind::kSupervoxels)).voxels, other.voxels)
      << "the last counts";
  ASSERT_EQ(saved->warnings().size(), 1U);
  EXPECT_THAT(saved->warnings()[0].message, HasSubstr("1 of 3 rows are left out"));
}

TEST_F(ShardTest, RefusesAFooterThatListsABatchTwice) {
  WriteTestShard(At("0_0_0.arrow"), {blocks_[0], blocks_[1]},
                 {.layout = ShardLayout::kSeed});
  ByteVector bytes = ReadObject("0_0_0.arrow");
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  // The second batch's offset in Arrow's footer, which is behind all batches.
  ByteVector wanted(8);
  StoreLE<uint64_t>(wanted.data(), shard->MessageOf(1).offset);
  const auto found =
      std::search(bytes.begin() + static_cast<ptrdiff_t>(shard->MessageOf(1).end()),
                  bytes.end(), wanted.begin(), wanted.end());
  ASSERT_NE(found, bytes.end());
  StoreLE<uint64_t>(&*found, shard->MessageOf(0).offset);
  PutObject("0_0_0.arrow", bytes);
  EXPECT_THAT(OpenError("0_0_0.arrow"),
              HasSubstr(fmt::format("the footer has a batch at {}, expected one in",
                                    shard->MessageOf(0).offset)));
}

TEST_F(ShardTest, ReadsOneRowOfALargeBatchAlone) {
  for (int32_t i = 5; i < 15; ++i) {
    blocks_.push_back({{i, 0, 0}, TestVoxels(static_cast<uint64_t>(i), 30'000)});
  }
  WriteTestShard(At("0_0_0.arrow"), blocks_, {.rows_per_batch = 100});
  const auto shard = Must(Shard::Open(At("0_0_0.arrow")));
  ASSERT_GT(shard->MessageOf(0).length, uint64_t{1} << 20);
  const auto cache = std::make_shared<BatchCache>();
  ExpectAllBlocks(*Must(Shard::Open(At("0_0_0.arrow"), {}, cache)));
  EXPECT_GT(cache->bytes(), 0U);
  EXPECT_LT(cache->bytes(), 10'000U) << "keys and offsets, no blocks";
}

TEST_F(ShardTest, KeepsNoMoreBatchesThanOneCacheHolds) {
  WriteTestShard(At("0_0_0.arrow"), {blocks_[3], blocks_[4]}, {.rows_per_batch = 2});
  const uint64_t limit =
      Must(Shard::Open(At("0_0_0.arrow")))->MessageOf(0).length * 5 / 2;
  const auto cache = std::make_shared<BatchCache>(limit);
  std::vector<std::shared_ptr<const Shard>> shards;
  for (const char* const name : {"0_0_0.arrow", "64_0_0.arrow", "128_0_0.arrow"}) {
    WriteTestShard(At(name), {blocks_[3], blocks_[4]}, {.rows_per_batch = 2});
    shards.push_back(Must(Shard::Open(At(name), {}, cache)));
    Must(shards.back()->Read(0));
    EXPECT_LE(cache->bytes(), limit);
  }
  EXPECT_GT(cache->bytes(), limit / 2) << "two of three";
  for (const auto& shard : shards) {
    EXPECT_EQ(Must(DecodeRow(Must(shard->Read(1)), LabelKind::kSupervoxels)).voxels,
              blocks_[4].voxels);
  }
}

TEST_F(ShardTest, FindsAnIndexThatLies) {
  WriteTestShard(At("64_0_0.arrow"), blocks_);
  std::string csv(AsText(ReadObject("64_0_0.csv")));
  csv.replace(csv.find("\n1,0,1,"), 7, "\n1,0,7,");
  PutObject("64_0_0.csv", csv);
  const auto shard = Must(Shard::Open(At("64_0_0.arrow")));
  // Its key, 7 blocks along z, is no place to compare with the file's name.
  EXPECT_THAT(
      Findings(*shard, /*side=*/256),
      testing::UnorderedElementsAre("index: is in the index, but in no record",
                                    "index: is not in the index",
                                    HasSubstr("name: lies before 64_0_0, the corner")));
  EXPECT_THAT(shard->Read(*shard->Find({1, 0, 7})).error().message,
              HasSubstr("1_0_7: the columns have it as 1_0_1"));
}

TEST_F(ShardTest, RejectsWhatIsNoShard) {
  PutObject("0_0_0.arrow", "no");
  EXPECT_EQ(OpenError("0_0_0.arrow"),
            "memory://test/0_0_0.arrow: 2 bytes are no Arrow data");
  PutObject("0_0_0.arrow", std::string(100, 'x'));
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("neither an Arrow stream nor"));
  PutObject("0_0_0.arrow", std::string(100, '\0'));
  EXPECT_THAT(OpenError("0_0_0.arrow"), HasSubstr("neither an Arrow stream nor"));
  PutObject("0_0_0.arrow", std::string("ARROW1\0\0", 8) + std::string(100, '\0'));
  EXPECT_NE(OpenError("0_0_0.arrow"), "none");
  EXPECT_EQ(Shard::Open(At("none.arrow")).error().code, ErrorCode::kNotFound);
}

// Every byte of the metadata changed, one after another: an error or the same rows, never
// a crash.
TEST_F(ShardTest, SurvivesDamagedMetadata) {
  WriteTestShard(At("0_0_0.arrow"), {blocks_[2]});
  RemoveObject("0_0_0.csv");
  const ByteVector good = ReadObject("0_0_0.arrow");
  for (size_t i = 0; i < 688 + 544 + 100; ++i) {
    for (const int flipped : {0x80, 0xff}) {
      ByteVector bad = good;
      bad[i] ^= static_cast<std::byte>(flipped);
      PutObject("0_0_0.arrow", bad);
      const auto shard = Shard::Open(At("0_0_0.arrow"));
      if (!shard || (*shard)->size() == 0) continue;
      const auto row = (*shard)->Read(0);
      if (row) (void)DecodeRow(*row, LabelKind::kLabels);
    }
  }
}

TEST_F(ShardTest, FindsBlocksThatLieInTheWrongFile) {
  WriteTestShard(At("64_0_0.arrow"), blocks_);
  const auto shard = Must(Shard::Open(At("64_0_0.arrow")));
  std::vector<std::string> keys;
  Must(shard->Check(
      [&](const Finding& finding) {
        EXPECT_EQ(finding.kind, "name");
        EXPECT_THAT(finding.message,
                    HasSubstr(finding.key == "0_0_0" ? "lies before 64_0_0, the corner"
                                                     : "a shard or more behind 64_0_0"));
        keys.push_back(finding.key);
      },
      /*side=*/128));
  EXPECT_THAT(keys, testing::ElementsAre("0_0_0", "3_0_1", "4_0_0"));
}

TEST_F(ShardTest, MapsLocalFiles) {
  const TemporaryFolder folder;
  const Location place = Must(ParseLocation(folder.path() + "/0_0_0.arrow"));
  WriteTestShard(place, blocks_);
  ExpectAllBlocks(*Must(Shard::Open(place)));
  ExpectAllBlocks(*Must(Shard::Open(place, {.map_limit = 0})));
}

}  // namespace
}  // namespace dolium::dvid
