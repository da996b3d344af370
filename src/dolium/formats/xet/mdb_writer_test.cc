// Shards, written, searched, and joined.
#include "dolium/formats/xet/mdb_writer.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_lookup.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/testing/shards.h"
#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ByteSink SinkInto(ByteVector& out) {
  return [&out](BytesView bytes) -> Result<void> {
    Append(out, bytes);
    return {};
  };
}

// Keeps every output.
struct Outputs {
  std::vector<std::unique_ptr<ByteVector>> shards;
  NextSink next() {
    return [this]() -> Result<ByteSink> {
      shards.push_back(std::make_unique<ByteVector>());
      return SinkInto(*shards.back());
    };
  }
};

std::vector<Hash> HashesOf(const ShardView& view) {
  std::vector<Hash> hashes;
  EXPECT_TRUE(view.Scan({.file = [&](const FileBlock& file) -> Result<void> {
                           hashes.push_back(file.hash());
                           return {};
                         },
                         .xorb = [&](const XorbBlock& xorb) -> Result<void> {
                           hashes.push_back(xorb.hash());
                           return {};
                         }}));
  return hashes;
}

ByteVector MadeUpShard(uint64_t begin, uint64_t end,
                       const ShardWriteOptions& options = {}) {
  std::vector<FileInfo> files;
  std::vector<XorbInfo> xorbs;
  for (uint64_t i = begin; i < end; ++i) {
    files.push_back(MadeUpFile(i));
    xorbs.push_back(MadeUpXorb(i));
  }
  return WriteShard(files, xorbs, options).value();
}

TEST(WriteShard, MakesTheShardsOfTheVectors) {
  EXPECT_EQ(WriteShard(FilesOfShardVector(), XorbsOfShardVector(), {}).value(),
            ShardVector("full"));
  EXPECT_EQ(WriteShard(FilesOfShardVector(), XorbsOfShardVector(), {.with_footer = false})
                .value(),
            ShardVector("upload"));
  EXPECT_EQ(WriteShard({}, {}, {}).value(), ShardVector("empty"));
}

TEST(WriteShard, MarksTheChunksThatFilesBeginWith) {
  auto xorbs = XorbsOfShardVector();
  xorbs[0].chunks[4].flags = kGloballyEligible;  // A mark of somebody else.
  std::vector<FileInfo> files = FilesOfShardVector();
  FileInfo elsewhere = MadeUpFile(1);  // Of a xorb that is not described.
  files.push_back(elsewhere);
  std::set<size_t> expected = {4};
  for (const FileInfo& file : FilesOfShardVector()) {
    expected.insert(file.terms.front().first);
  }
  ASSERT_GT(expected.size(), 1U);
  const auto shard = WriteShard(files, xorbs, {.mark_file_starts = true}).value();
  const auto xorb = ShardView::Open(shard)->xorbs().Next().value().value();
  for (size_t i = 0; i < xorb.size(); ++i) {
    EXPECT_EQ(xorb.chunk(i).flags, expected.contains(i) ? kGloballyEligible : 0) << i;
  }
}

TEST(WriteShard, KeepsTheFirstOfEqualHashes) {
  auto files = FilesOfShardVector();
  auto xorbs = XorbsOfShardVector();
  files.push_back(files[0]);
  files.back().terms[0].raw_bytes = 1;
  xorbs.push_back(xorbs[0]);
  xorbs.back().chunks.clear();
  EXPECT_EQ(WriteShard(files, xorbs, {}).value(), ShardVector("full"));
}

TEST(WriteKeyed, MakesTheAnswerOfTheVectors) {
  auto xorbs = XorbsOfShardVector();
  xorbs[0].chunks[0].flags = xorbs[0].chunks[1].flags = kGloballyEligible;
  const ByteVector plain = WriteShard(FilesOfShardVector(), xorbs, {}).value();
  const auto view = ShardView::Open(plain).value();
  const Hash key = RawHashOf(Vectors()["keyed_chunk_hash"][0]["key_raw"]);
  ByteVector keyed;
  ASSERT_TRUE(WriteKeyed(
      view, key,
      {.with_block_tables = false, .created = 1700000000, .expiry = 4000000000},
      SinkInto(keyed)));
  EXPECT_EQ(keyed, ShardVector("keyed"));
  ByteVector without;
  ASSERT_TRUE(WriteKeyed(view, key,
                         {.with_block_tables = false,
                          .with_chunk_table = false,
                          .created = 1700000000,
                          .expiry = 4000000000},
                         SinkInto(without)));
  EXPECT_EQ(without.size(), Vectors()["shard"]["dedup_response_keyed_no_lookup_len"]);
  EXPECT_TRUE(CheckShard(ShardView::Open(without).value()));
  const auto again = ShardView::Open(keyed).value();
  EXPECT_EQ(WriteKeyed(again, key, {}, SinkInto(without)).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(MdbShardWriter, RefusesWhatIsOutOfOrder) {
  ByteVector out;
  MdbShardWriter writer(SinkInto(out), {});
  ByteVector a;
  ByteVector b;
  AppendFile(MadeUpFile(1), a);
  AppendFile(MadeUpFile(2), b);
  if (FileBlock(b).hash() < FileBlock(a).hash()) std::swap(a, b);
  ASSERT_TRUE(writer.AddFile(FileBlock(b)));
  EXPECT_EQ(writer.AddFile(FileBlock(a)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.AddFile(FileBlock(b)).error().code, ErrorCode::kInvalidArgument);
  ByteVector xorb;
  AppendXorb(MadeUpXorb(1, 2), xorb);
  ASSERT_TRUE(writer.AddXorb(XorbBlock(xorb)));
  EXPECT_THAT(writer.AddFile(FileBlock(b)).error().message, HasSubstr("after xorbs"));
}

TEST(MdbShardWriter, RefusesMixedVerificationInUploads) {
  auto files = FilesOfShardVector();
  files[1].is_verified = false;
  const auto shard = WriteShard(files, {}, {.with_footer = false});
  EXPECT_EQ(shard.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(shard.error().message, HasSubstr("verification"));
}

TEST(MdbShardWriter, KnowsItsSize) {
  for (const ShardWriteOptions& options :
       {ShardWriteOptions{}, ShardWriteOptions{.with_footer = false},
        ShardWriteOptions{.with_block_tables = false},
        ShardWriteOptions{.with_chunk_table = false}}) {
    ByteVector out;
    MdbShardWriter writer(SinkInto(out), options);
    ByteVector block;
    AppendFile(MadeUpFile(1), block);
    uint64_t expected = writer.SizeWith(FileBlock(block));
    ASSERT_TRUE(writer.AddFile(FileBlock(block)));
    EXPECT_EQ(writer.size(), expected);
    block.clear();
    AppendXorb(MadeUpXorb(1, 20), block);
    expected = writer.SizeWith(XorbBlock(block));
    ASSERT_TRUE(writer.AddXorb(XorbBlock(block)));
    EXPECT_EQ(writer.size(), expected);
    ASSERT_TRUE(writer.Finish());
    EXPECT_EQ(out.size(), expected);
  }
}

TEST(MdbShardWriter, HandsOnTheErrorsOfItsSink) {
  MdbShardWriter writer([](BytesView) -> Result<void> { return IoError("full"); }, {});
  EXPECT_EQ(writer.Finish().error().message, "full");
}

TEST(Lookup, FindsEverythingThatIsThereAndNothingElse) {
  for (const bool with_tables : {true, false}) {
    const ByteVector shard = MadeUpShard(
        0, 200, {.with_block_tables = with_tables, .with_chunk_table = with_tables});
    const auto view = ShardView::Open(shard).value();
    ASSERT_TRUE(CheckShard(view));
    for (uint64_t i = 0; i < 220; ++i) {
      const auto file = FindFile(view, MadeUpFile(i).hash);
      const auto xorb = FindXorb(view, MadeUpXorb(i).hash);
      ASSERT_TRUE(file && xorb);
      ASSERT_EQ(file->has_value(), i < 200);
      ASSERT_EQ(xorb->has_value(), i < 200);
      const XorbInfo info = MadeUpXorb(i);
      std::vector<Hash> wanted;
      for (const ChunkEntry& chunk : info.chunks) wanted.push_back(chunk.hash);
      wanted.push_back(kDataKey);
      for (size_t first = 0; first < info.chunks.size(); ++first) {
        const auto run = FindRun(view, std::span(wanted).subspan(first), 0);
        ASSERT_TRUE(run);
        ASSERT_EQ(run->has_value(), i < 200);
        if (!*run) continue;
        EXPECT_EQ((*run)->xorb.hash(), info.hash);
        EXPECT_EQ((*run)->first, first);
        EXPECT_EQ((*run)->count, info.chunks.size() - first);
      }
      if (i >= 200) continue;
      EXPECT_EQ((*file)->hash(), MadeUpFile(i).hash);
      EXPECT_EQ((*file)->term(0), MadeUpFile(i).terms[0]);
      EXPECT_EQ((*xorb)->size(), info.chunks.size());
    }
  }
}

TEST(FindRun, TakesPlainHashesInAKeyedShard) {
  const ByteVector keyed = ShardVector("keyed");
  const auto view = ShardView::Open(keyed).value();
  std::vector<Hash> chunks;
  for (const ByteVector& chunk : ChunksOfShardVector())
    chunks.push_back(ChunkHash(chunk));
  const auto run = FindRun(view, std::span(chunks).subspan(3), 4000000000);
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->first, 3U);
  EXPECT_EQ((*run)->count, 17U);
}

TEST(FindRun, FindsNothingInAnExpiredShard) {
  const ByteVector keyed = ShardVector("keyed");
  const auto view = ShardView::Open(keyed).value();
  const std::vector<Hash> chunks = {ChunkHash(AsBytes("Hello World!"))};
  EXPECT_TRUE(FindRun(view, chunks, 4000000000).value());
  EXPECT_FALSE(FindRun(view, chunks, 4000000001).value());
  // 0 says that it does not expire.
  const ByteVector zero = WriteShard({}, XorbsOfShardVector(), {.expiry = 0}).value();
  EXPECT_TRUE(FindRun(ShardView::Open(zero).value(), chunks, 1).value());
}

TEST(FindRun, PrefersTheLongestRun) {
  std::vector<XorbInfo> xorbs = {MadeUpXorb(1, 3), MadeUpXorb(2, 9), MadeUpXorb(3, 5)};
  // All begin with the same chunks.
  for (XorbInfo& xorb : xorbs) {
    for (size_t i = 0; i < xorb.chunks.size(); ++i) {
      xorb.chunks[i].hash = MadeUpXorb(7, 20).chunks[i].hash;
    }
  }
  const ByteVector shard = WriteShard({}, xorbs, {}).value();
  std::vector<Hash> wanted;
  for (const ChunkEntry& chunk : MadeUpXorb(7, 20).chunks) wanted.push_back(chunk.hash);
  const auto run = FindRun(ShardView::Open(shard).value(), wanted, 0).value();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->count, 9U);
  EXPECT_EQ(run->xorb.hash(), xorbs[1].hash);
}

TEST(Lookup, RefusesTablesThatPointNowhere) {
  ByteVector shard = ShardVector("full");
  const auto footer = ShardView::Open(shard)->footer().value();
  for (const uint64_t row : {footer.files.offset + 8, footer.xorbs.offset + 8}) {
    StoreLE(shard.data() + row, ~uint32_t{0});
  }
  for (uint64_t i = 0; i < footer.chunks.count; ++i) {
    StoreLE(shard.data() + footer.chunks.offset + i * kChunkRowSize + 12, uint32_t{20});
  }
  const auto view = ShardView::Open(shard).value();
  EXPECT_FALSE(FindXorb(view, XorbsOfShardVector()[0].hash));
  const std::vector<Hash> chunks = {ChunkHash(AsBytes("Hello World!"))};
  EXPECT_THAT(FindRun(view, chunks, 0).error().message,
              HasSubstr("names chunk 20 of xorb"));
  EXPECT_FALSE(CheckShard(view));
}

TEST(FirstRow, FindsTheFirstThatIsNotBelow) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint64_t> keys(random() % 300);
    for (uint64_t& key : keys) {
      // Uniform, or crowded, or few.
      const uint64_t value = random();
      key = round % 3 == 0 ? value : round % 3 == 1 ? value >> (value % 64) : value % 7;
    }
    std::sort(keys.begin(), keys.end());
    ByteVector table(keys.size() * kBlockRowSize);
    for (size_t i = 0; i < keys.size(); ++i) {
      StoreLE(table.data() + i * kBlockRowSize, keys[i]);
    }
    std::vector<uint64_t> wanted = keys;
    for (const uint64_t extra : {uint64_t{0}, uint64_t{3}, ~uint64_t{0}, random()}) {
      wanted.push_back(extra);
    }
    for (const uint64_t key : wanted) {
      EXPECT_EQ(FirstRow(table, kBlockRowSize, key),
                static_cast<size_t>(std::lower_bound(keys.begin(), keys.end(), key) -
                                    keys.begin()));
    }
  }
}

TEST(UniteShards, GivesTheShardOfAllBlocks) {
  const ByteVector a = MadeUpShard(0, 60);
  const ByteVector b = MadeUpShard(40, 100);
  const ByteVector c = MadeUpShard(0, 0, {.with_footer = false});
  const std::vector<ShardView> views = {
      ShardView::Open(a).value(), ShardView::Open(b).value(), ShardView::Open(c).value()};
  Outputs outputs;
  EXPECT_EQ(UniteShards(views, {}, outputs.next()).value(), 1U);
  EXPECT_EQ(*outputs.shards[0], MadeUpShard(0, 100));
}

// Two shards have one file: one with its range hashes, the other with its SHA-256.
TEST(UniteShards, MergesWhatShardsSayOfOneFile) {
  const FileInfo whole = MadeUpFile(1);
  FileInfo verified = whole;
  verified.sha256.reset();
  FileInfo digested = whole;
  digested.is_verified = false;
  digested.verification.clear();
  FileInfo bare = digested;
  bare.sha256.reset();
  const auto shard_of = [](const FileInfo& file) {
    return WriteShard({file}, {MadeUpXorb(1)}, {}).value();
  };
  const ByteVector expected = shard_of(whole);
  const auto unite = [](const std::vector<ByteVector>& shards) {
    std::vector<ShardView> views;
    for (const ByteVector& shard : shards)
      views.push_back(ShardView::Open(shard).value());
    Outputs outputs;
    EXPECT_EQ(UniteShards(views, {}, outputs.next()).value(), 1U);
    return *outputs.shards[0];
  };
  EXPECT_EQ(unite({shard_of(verified), shard_of(digested)}), expected);
  EXPECT_EQ(unite({shard_of(digested), shard_of(verified)}), expected);
  EXPECT_EQ(unite({shard_of(bare), shard_of(digested), shard_of(verified)}), expected);
  // One that says as much as all of them is taken as it is.
  EXPECT_EQ(unite({shard_of(bare), shard_of(whole)}), expected);
  EXPECT_EQ(unite({shard_of(bare), shard_of(digested)}), shard_of(digested));
  // Zeros in place of a SHA-256 say nothing.
  FileInfo zeros = verified;
  zeros.sha256 = Hash();
  EXPECT_EQ(unite({shard_of(zeros), shard_of(digested)}), expected);
}

// Files of different shards need not say equally much.
TEST(UniteShards, MayHaveMixedVerification) {
  FileInfo bare = MadeUpFile(2);
  bare.is_verified = false;
  bare.verification.clear();
  const ByteVector a = WriteShard({MadeUpFile(1)}, {MadeUpXorb(1)}, {}).value();
  const ByteVector b = WriteShard({bare}, {MadeUpXorb(2)}, {}).value();
  const std::vector<ShardView> views = {ShardView::Open(a).value(),
                                        ShardView::Open(b).value()};
  Outputs outputs;
  ASSERT_TRUE(UniteShards(views, {}, outputs.next()));
  const auto united = ShardView::Open(*outputs.shards[0]).value();
  EXPECT_TRUE(CheckShard(united));
  EXPECT_EQ(HashesOf(united).size(), 4U);
  EXPECT_EQ(
      UniteShards(views, {.write = {.with_footer = false}}, outputs.next()).error().code,
      ErrorCode::kInvalidArgument);
}

TEST(UniteShards, CutsOutputsAtALimit) {
  const ByteVector a = MadeUpShard(0, 100);
  const ByteVector b = MadeUpShard(100, 200);
  const std::vector<ShardView> views = {ShardView::Open(a).value(),
                                        ShardView::Open(b).value()};
  Outputs outputs;
  const size_t count = UniteShards(views, {.shard_limit = 10000}, outputs.next()).value();
  EXPECT_EQ(count, outputs.shards.size());
  EXPECT_GT(count, 5U);
  std::vector<Hash> found;
  for (const auto& shard : outputs.shards) {
    EXPECT_LE(shard->size(), 10000U);
    const auto view = ShardView::Open(*shard).value();
    EXPECT_TRUE(CheckShard(view));
    for (const Hash& hash : HashesOf(view)) found.push_back(hash);
  }
  const ByteVector all = MadeUpShard(0, 200);
  EXPECT_EQ(found, HashesOf(ShardView::Open(all).value()));
}

TEST(UniteShards, OfNothingIsAnEmptyShard) {
  Outputs outputs;
  EXPECT_EQ(UniteShards({}, {}, outputs.next()).value(), 1U);
  EXPECT_EQ(*outputs.shards[0], ShardVector("empty"));
}

TEST(SubtractShards, LeavesWhatIsInNoOther) {
  const ByteVector a = MadeUpShard(0, 100);
  const ByteVector b = MadeUpShard(20, 40);
  const ByteVector c = MadeUpShard(30, 90);
  const std::vector<ShardView> without = {ShardView::Open(b).value(),
                                          ShardView::Open(c).value()};
  Outputs outputs;
  ASSERT_TRUE(SubtractShards(ShardView::Open(a).value(), without, {}, outputs.next()));
  std::vector<ShardView> parts;
  const ByteVector low = MadeUpShard(0, 20);
  const ByteVector high = MadeUpShard(90, 100);
  for (const ByteVector* part : {&low, &high}) {
    parts.push_back(ShardView::Open(*part).value());
  }
  ASSERT_TRUE(UniteShards(parts, {}, outputs.next()));
  EXPECT_EQ(*outputs.shards[0], *outputs.shards[1]);
  Outputs nothing;
  ASSERT_TRUE(SubtractShards(without[0], without, {}, nothing.next()));
  EXPECT_THAT(HashesOf(ShardView::Open(*nothing.shards[0]).value()), IsEmpty());
}

TEST(Sets, RefuseShardsThatAreNotInOrder) {
  ByteVector shard;
  AppendShardHeader({.footer_size = 0}, shard);
  std::vector<FileInfo> files = {MadeUpFile(1), MadeUpFile(2)};
  if (files[0].hash < files[1].hash) std::swap(files[0], files[1]);
  for (const FileInfo& file : files) AppendFile(file, shard);
  AppendBookend(shard);
  AppendBookend(shard);
  const std::vector<ShardView> views = {ShardView::Open(shard).value()};
  Outputs outputs;
  EXPECT_THAT(UniteShards(views, {}, outputs.next()).error().message,
              HasSubstr("shard is not in order"));
}

TEST(Sets, RefuseDifferentKeys) {
  const ByteVector plain = ShardVector("full");
  const ByteVector keyed = ShardVector("keyed");
  const std::vector<ShardView> views = {ShardView::Open(plain).value(),
                                        ShardView::Open(keyed).value()};
  Outputs outputs;
  EXPECT_EQ(UniteShards(views, {}, outputs.next()).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(SubtractShards(views[0], views, {}, outputs.next()).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(outputs.shards, IsEmpty());
}

TEST(Sets, KeepTheKey) {
  const ByteVector keyed = ShardVector("keyed");
  const std::vector<ShardView> views = {ShardView::Open(keyed).value()};
  Outputs outputs;
  ASSERT_TRUE(UniteShards(views,
                          {.write = {.with_block_tables = false,
                                     .created = 1700000000,
                                     .expiry = 4000000000}},
                          outputs.next()));
  EXPECT_EQ(*outputs.shards[0], keyed);
}

}  // namespace
}  // namespace dolium::xet
