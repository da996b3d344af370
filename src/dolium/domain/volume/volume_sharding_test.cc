#include "dolium/domain/volume/volume_sharding.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/volume/grid.h"

namespace dolium::volume {
namespace {

using neuroglancer::ShardHash;
using neuroglancer::ShardingSpec;
using testing::ElementsAre;
using testing::HasSubstr;

MortonCode CodeOf(const Vec3& grid) { return MortonCode::Make(grid).value(); }

ShardingSpec Identity(unsigned preshift, unsigned minishard, unsigned shard) {
  return {.preshift_bits = preshift, .minishard_bits = minishard, .shard_bits = shard};
}

uint64_t Count(const Box& cells) {
  const Vec3 size = cells.size();
  return cells.empty() ? 0 : static_cast<uint64_t>(size[0] * size[1] * size[2]);
}

std::vector<uint64_t> Shards(const ShardingSpec& spec, const MortonCode& morton) {
  std::vector<uint64_t> shards;
  EXPECT_TRUE(ForEachShard(spec, morton, [&](uint64_t shard) {
    shards.push_back(shard);
    return true;
  }));
  return shards;
}

std::vector<uint64_t> Codes(const ShardingSpec& spec, const MortonCode& morton,
                            uint64_t shard) {
  std::vector<uint64_t> codes;
  EXPECT_TRUE(ForEachCodeOfShard(spec, morton, shard, [&](uint64_t code) {
    codes.push_back(code);
    return true;
  }));
  return codes;
}

TEST(ShardCells, AreTheBoxesThatTensorStoreFinds) {
  // From TensorStore's tests: a volume in chunks of 50,25,13.
  struct Case {
    Vec3 grid;
    std::vector<uint64_t> counts;
  };
  const Case cases[] = {{{2, 4, 8}, {8, 8, 8, 8, 8, 8, 8, 8}},
                        {{2, 4, 7}, {8, 8, 8, 8, 8, 8, 4, 4}},
                        {{2, 3, 7}, {8, 4, 8, 4, 8, 4, 4, 2}}};
  const Vec3 begins[] = {{0, 0, 0}, {0, 2, 0}, {0, 0, 2}, {0, 2, 2},
                         {0, 0, 4}, {0, 2, 4}, {0, 0, 6}, {0, 2, 6}};
  for (const Case& c : cases) {
    for (uint64_t shard = 0; shard < 8; ++shard) {
      const auto cells = ShardCells(Identity(1, 2, 3), CodeOf(c.grid), shard);
      ASSERT_TRUE(cells);
      EXPECT_EQ(cells->begin, begins[shard]);
      EXPECT_EQ(Count(*cells), c.counts[shard]);
    }
  }
}

TEST(ShardCells, CoverLargeVolumes) {
  // 34432,39552,51508 voxels in chunks of 64,64,64; TensorStore writes 2048,2048,2048.
  const MortonCode morton = CodeOf({538, 618, 805});
  EXPECT_EQ(morton.total_bits(), 30u);
  const auto cells = ShardCells(Identity(9, 6, 15), morton, 7);
  EXPECT_EQ(cells, (Box{{32, 32, 32}, {64, 64, 64}}));
}

TEST(ShardCells, DoNotExistWhereShardsAreNoBoxes) {
  ShardingSpec murmur = Identity(1, 2, 3);
  murmur.hash = ShardHash::kMurmur3;
  EXPECT_EQ(ShardCells(murmur, CodeOf({2, 4, 8}), 0), std::nullopt);
  EXPECT_EQ(ShardCells(Identity(1, 2, 2), CodeOf({2, 4, 8}), 0), std::nullopt);
}

TEST(ShardCells, AreEmptyForAShardThatIsNotThere) {
  const auto beyond = ShardCells(Identity(1, 2, 3), CodeOf({2, 4, 8}), 8);
  ASSERT_TRUE(beyond);
  EXPECT_TRUE(beyond->empty());
  const auto huge = ShardCells(Identity(64, 0, 64), CodeOf({2, 4, 8}), ~uint64_t{0});
  ASSERT_TRUE(huge);
  EXPECT_TRUE(huge->empty());
  const auto no_voxels = ShardCells(Identity(1, 2, 3), CodeOf({0, 4, 8}), 0);
  ASSERT_TRUE(no_voxels);
  EXPECT_TRUE(no_voxels->empty());
}

TEST(ShardCells, AreAllCellsIfThereIsOneShard) {
  EXPECT_EQ(ShardCells(Identity(0, 0, 0), CodeOf({5, 6, 7}), 0),
            (Box{{0, 0, 0}, {5, 6, 7}}));
  EXPECT_EQ(ShardCells(Identity(64, 0, 0), CodeOf({5, 6, 7}), 0),
            (Box{{0, 0, 0}, {5, 6, 7}}));
}

// Every claim of the header against a look at every cell, over random specs.
TEST(VolumeSharding, AgreesWithALookAtEveryCell) {
  std::mt19937_64 random(3);
  int boxes = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto side = [&] {
      return 1 + static_cast<int64_t>(random() % (1 + random() % 12));
    };
    const MortonCode morton = CodeOf({side(), side(), side()});
    ShardingSpec spec =
        Identity(static_cast<unsigned>(random() % 5), static_cast<unsigned>(random() % 4),
                 static_cast<unsigned>(random() % 7));
    if (round % 50 == 0) spec.preshift_bits = 60 + static_cast<unsigned>(random() % 5);
    if (round % 30 == 0) spec.shard_bits = 64 - spec.minishard_bits;
    ASSERT_TRUE(spec.Validate());

    std::map<uint64_t, std::vector<uint64_t>> codes_of;
    std::map<uint64_t, Box> box_of;
    const Vec3& grid = morton.grid();
    for (uint64_t code = 0; code >> morton.total_bits() == 0; ++code) {
      const auto cell = morton.Decode(code);
      if (!cell) continue;
      const uint64_t shard = spec.LocationOf(code).shard;
      codes_of[shard].push_back(code);
      Box& box = box_of.try_emplace(shard, Box{grid, {0, 0, 0}}).first->second;
      for (size_t d = 0; d < 3; ++d) {
        box.begin[d] = std::min(box.begin[d], (*cell)[d]);
        box.end[d] = std::max(box.end[d], (*cell)[d] + 1);
      }
    }

    std::vector<uint64_t> expected;
    expected.reserve(codes_of.size());
    for (const auto& [shard, codes] : codes_of) expected.push_back(shard);
    ASSERT_EQ(Shards(spec, morton), expected);
    for (const auto& [shard, codes] : codes_of) {
      ASSERT_EQ(Codes(spec, morton, shard), codes);
      const auto cells = ShardCells(spec, morton, shard);
      if (!cells) continue;
      ++boxes;
      ASSERT_EQ(*cells, box_of[shard]);
      ASSERT_EQ(Count(*cells), codes.size());
    }
    const uint64_t absent = expected.back() + 1;
    ASSERT_THAT(Codes(spec, morton, absent), ElementsAre());
    ASSERT_TRUE(ShardCells(spec, morton, absent).value_or(Box{}).empty());
  }
  EXPECT_GT(boxes, 1000);
}

TEST(ForEachCodeOfShard, CostsNoMoreThanTheShardsOwnCells) {
  // Shards that are not boxes, of a grid with 2^60 cells: two bits above the shard's.
  const int64_t side = (int64_t{1} << 20) - 3;
  const MortonCode morton = CodeOf({side, side, side});
  EXPECT_THAT(
      Codes(Identity(0, 1, 57), morton, 0),
      ElementsAre(0, 1, uint64_t{1} << 58, (uint64_t{1} << 58) | 1, uint64_t{1} << 59,
                  (uint64_t{1} << 59) | 1, uint64_t{3} << 58, (uint64_t{3} << 58) | 1));
}

TEST(ForEachShard, StopsWhenTheVisitorHasHadEnough) {
  int visits = 0;
  ASSERT_TRUE(ForEachShard(Identity(0, 0, 20), CodeOf({100, 100, 100}),
                           [&](uint64_t) { return ++visits < 3; }));
  EXPECT_EQ(visits, 3);
  visits = 0;
  ASSERT_TRUE(ForEachCodeOfShard(Identity(20, 0, 0), CodeOf({100, 100, 100}), 0,
                                 [&](uint64_t) { return ++visits < 3; }));
  EXPECT_EQ(visits, 3);
}

TEST(ForEachShard, DoesNotTakeMurmur) {
  ShardingSpec murmur = Identity(1, 2, 3);
  murmur.hash = ShardHash::kMurmur3;
  const auto shards =
      ForEachShard(murmur, CodeOf({2, 4, 8}), [](uint64_t) { return true; });
  ASSERT_FALSE(shards);
  EXPECT_EQ(shards.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(shards.error().message, HasSubstr("murmurhash3_x86_128"));
  EXPECT_FALSE(
      ForEachCodeOfShard(murmur, CodeOf({2, 4, 8}), 0, [](uint64_t) { return true; }));
}

TEST(ChooseVolumeSharding, FillsShardsAndUsesEveryMortonBit) {
  // 64^3 uint64 in about 100 kB, 30 bits: 2^13 chunks are 819 MB, 2^14 too many.
  const MortonCode morton = CodeOf({538, 618, 805});
  const ShardingSpec spec = ChooseVolumeSharding(morton, uint64_t{1} << 30, 100'000,
                                                 neuroglancer::Encoding::kGzip);
  EXPECT_EQ(spec.preshift_bits, 10u);
  EXPECT_EQ(spec.minishard_bits, 3u);
  EXPECT_EQ(spec.shard_bits, 17u);
  EXPECT_EQ(spec.hash, ShardHash::kIdentity);
  EXPECT_EQ(spec.minishard_index_encoding, neuroglancer::Encoding::kGzip);
  EXPECT_EQ(spec.data_encoding, neuroglancer::Encoding::kGzip);
  EXPECT_EQ(ShardCells(spec, morton, 0), (Box{{0, 0, 0}, {32, 16, 16}}));
}

TEST(ChooseVolumeSharding, PutsASmallVolumeIntoOneShard) {
  const ShardingSpec spec = ChooseVolumeSharding(CodeOf({3, 3, 1}), uint64_t{1} << 30,
                                                 1000, neuroglancer::Encoding::kRaw);
  EXPECT_EQ(spec.preshift_bits, 4u);
  EXPECT_EQ(spec.minishard_bits, 0u);
  EXPECT_EQ(spec.shard_bits, 0u);
  EXPECT_EQ(spec.data_encoding, neuroglancer::Encoding::kRaw);
}

TEST(ChooseVolumeSharding, GivesValidBoxesForWhateverIsWanted) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const auto side = [&] {
      return 1 + static_cast<int64_t>(random() >> (43 + random() % 21));
    };
    const MortonCode morton = CodeOf({side(), side(), side()});
    const uint64_t shard_bytes = random() >> random() % 64;
    const uint64_t chunk_bytes = random() >> random() % 64;
    const ShardingSpec spec = ChooseVolumeSharding(morton, shard_bytes, chunk_bytes,
                                                   neuroglancer::Encoding::kGzip);
    ASSERT_TRUE(spec.Validate()) << spec.Validate().error().message;
    const unsigned within = spec.preshift_bits + spec.minishard_bits;
    ASSERT_EQ(within + spec.shard_bits, morton.total_bits());
    const auto first = ShardCells(spec, morton, 0);
    ASSERT_TRUE(first);
    ASSERT_FALSE(first->empty());
    if (within > 0) {
      ASSERT_LE(std::max<uint64_t>(1, chunk_bytes), shard_bytes >> within);
    }
  }
}

}  // namespace
}  // namespace dolium::volume
