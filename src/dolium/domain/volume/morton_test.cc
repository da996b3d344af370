#include "dolium/domain/volume/morton.h"

#include <cstdint>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/volume/morton_internal.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

MortonCode Code(const Vec3& grid) { return MortonCode::Make(grid).value(); }

// The definition of the format, bit by bit.
uint64_t Definition(const Vec3& grid, const Vec3& cell) {
  uint64_t code = 0;
  unsigned next = 0;
  for (unsigned i = 0; i < 63; ++i) {
    for (size_t d = 0; d < 3; ++d) {
      if (int64_t{1} << i >= grid[d]) continue;
      code |= (static_cast<uint64_t>(cell[d]) >> i & 1) << next++;
    }
  }
  return code;
}

TEST(MortonCode, TakesAsManyBitsAsTheLastCellNeeds) {
  // A volume of 79,80,144 voxels in chunks of 20,20,12; from TensorStore's tests.
  EXPECT_EQ(Code({4, 4, 12}).bits(), (std::array<unsigned, 3>{2, 2, 4}));
  EXPECT_EQ(Code({0, 4294967295, 1}).bits(), (std::array<unsigned, 3>{0, 32, 0}));
  EXPECT_EQ(Code({1, 1, (int64_t{1} << 62) - 2}).total_bits(), 62u);
  EXPECT_EQ(Code({1, 1, 1}).total_bits(), 0u);
}

TEST(MortonCode, EncodesAsOtherProgramsDo) {
  struct Case {
    Vec3 grid, cell;
    uint64_t code;
  };
  const Case cases[] = {
      // From TensorStore's tests, with the grid that has their numbers of bits.
      {{16, 4, 2}, {0, 0, 0}, 0},
      {{16, 4, 2}, {1, 0, 0}, 1},
      {{16, 4, 2}, {0, 1, 0}, 2},
      {{16, 4, 2}, {2, 0, 1}, 12},
      {{16, 4, 2}, {2, 3, 0}, 26},
      {{16, 4, 2}, {9, 2, 1}, 85},
      // From cloud-volume's tests.
      {{3, 3, 3}, {2, 0, 0}, 8},
      {{3, 3, 3}, {2, 2, 0}, 24},
      {{3, 3, 3}, {2, 2, 1}, 28},
      {{2, 3, 1}, {1, 2, 0}, 5},
      {{4, 4, 1}, {3, 3, 0}, 15},
      {{8, 8, 2}, {5, 5, 0}, 99},
      {{1944, 1048, 442}, {1131, 411, 177}, 583460383},
      // From Neuroglancer's tests.
      {{1 << 21, 1 << 21, 1 << 21}, {17969, 19026, 21140}, 31080405594385},
      {{1 << 18, 1 << 15, 1 << 17}, {247345, 19026, 86676}, 1051427196170513},
      // Where `2^i <= n` gives another code.
      {{8, 2, 2}, {5, 1, 1}, 23},
      {{8, 4, 1}, {4, 2, 0}, 24},
      {{5, 3, 1}, {4, 2, 0}, 24},
      {{539, 619, 805}, {538, 618, 804}, 1007359768},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(ToString(c.grid) + " " + ToString(c.cell));
    EXPECT_EQ(Code(c.grid).Encode(c.cell), c.code);
    EXPECT_EQ(Code(c.grid).Decode(c.code), c.cell);
  }
}

TEST(MortonCode, AgreesWithTheDefinitionAndThePortableLoop) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    Vec3 grid;
    for (int64_t& n : grid)
      n = 1 + static_cast<int64_t>(random() >> (43 + random() % 21));
    const MortonCode code = Code(grid);
    Vec3 cell;
    for (size_t d = 0; d < 3; ++d) {
      cell[d] = static_cast<int64_t>(random() % static_cast<uint64_t>(grid[d]));
    }
    const uint64_t encoded = code.Encode(cell);
    ASSERT_EQ(encoded, Definition(grid, cell)) << ToString(grid) << " " << ToString(cell);
    ASSERT_EQ(code.Decode(encoded), cell);
    uint64_t portable = 0;
    for (size_t d = 0; d < 3; ++d) {
      portable |= DepositBits(static_cast<uint64_t>(cell[d]), code.masks()[d]);
      ASSERT_EQ(ExtractBits(encoded, code.masks()[d]), static_cast<uint64_t>(cell[d]));
    }
    ASSERT_EQ(encoded, portable);
  }
}

TEST(MortonCode, DecodesNoCodeThatHasNoCell) {
  const MortonCode code = Code({3, 2, 1});
  int cells = 0;
  for (uint64_t candidate = 0; candidate < 64; ++candidate) {
    if (const auto cell = code.Decode(candidate)) {
      ++cells;
      EXPECT_EQ(code.Encode(*cell), candidate);
    }
  }
  EXPECT_EQ(cells, 6);
  EXPECT_EQ(code.Decode(uint64_t{1} << 63), std::nullopt);
  EXPECT_EQ(Code({0, 4, 4}).Decode(0), std::nullopt);
}

TEST(MortonCode, UsesAll64Bits) {
  const Vec3 grid = {int64_t{1} << 22, int64_t{1} << 21, int64_t{1} << 21};
  const MortonCode code = Code(grid);
  EXPECT_EQ(code.total_bits(), 64u);
  const Vec3 last = {grid[0] - 1, grid[1] - 1, grid[2] - 1};
  EXPECT_EQ(code.Encode(last), ~uint64_t{0});
  EXPECT_EQ(code.Decode(~uint64_t{0}), last);
}

TEST(MortonCode, RefusesAGridOfMoreThan64Bits) {
  const auto code = MortonCode::Make({(int64_t{1} << 22) + 1, 1 << 21, 1 << 21});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(code.error().message,
              HasSubstr("4194305,2097152,2097152 chunks needs 65 bits"));
  EXPECT_FALSE(MortonCode::Make({1, -1, 1}));
}

}  // namespace
}  // namespace dolium::volume
