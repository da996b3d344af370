#include "dolium/base/checked_math.h"

#include <gtest/gtest.h>

#include "dolium/base/byte_range.h"

namespace dolium {
namespace {

TEST(CheckedMath, GivesNothingInsteadOfWrapping) {
  EXPECT_EQ(CheckedAdd(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(CheckedAdd(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xffffffff00000000U);
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(CheckedMul(0, UINT64_MAX), 0U);
}

TEST(CheckedMath, ShiftsByAnyCount) {
  EXPECT_EQ(ShiftRight(0x80, 7), 1U);
  EXPECT_EQ(ShiftRight(UINT64_MAX, 63), 1U);
  EXPECT_EQ(ShiftRight(UINT64_MAX, 64), 0U);
  EXPECT_EQ(ShiftLeft(1, 63), uint64_t{1} << 63);
  EXPECT_EQ(ShiftLeft(1, 64), 0U);
  EXPECT_EQ(ShiftLeft(1, 1000), 0U);
}

TEST(CheckedMath, SetsLowBits) {
  EXPECT_EQ(LowBits(0), 0U);
  EXPECT_EQ(LowBits(5), 31U);
  EXPECT_EQ(LowBits(63), UINT64_MAX >> 1);
  EXPECT_EQ(LowBits(64), UINT64_MAX);
  EXPECT_EQ(LowBits(200), UINT64_MAX);
}

TEST(ByteRange, RefusesAnEndThatDoesNotFit) {
  EXPECT_EQ(ByteRange::Make(UINT64_MAX, 0), (ByteRange{UINT64_MAX, 0}));
  EXPECT_EQ(ByteRange::Make(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(ToString({8192, 4096}), "[8192, 12288)");
}

}  // namespace
}  // namespace dolium
