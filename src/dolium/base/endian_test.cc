#include "dolium/base/endian.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(Endian, LoadsTheLowestByteFirstAtAnyAlignment) {
  const std::array<std::byte, 9> bytes = {std::byte{0xff}, std::byte{1}, std::byte{2},
                                          std::byte{3},    std::byte{4}, std::byte{5},
                                          std::byte{6},    std::byte{7}, std::byte{0x88}};
  EXPECT_EQ(LoadLE<uint8_t>(bytes.data() + 1), 1U);
  EXPECT_EQ(LoadLE<uint16_t>(bytes.data() + 1), 0x0201U);
  EXPECT_EQ(LoadLE<uint32_t>(bytes.data() + 1), 0x04030201U);
  EXPECT_EQ(LoadLE<uint64_t>(bytes.data() + 1), 0x8807060504030201U);
}

TEST(Endian, StoresWhatItLoads) {
  std::array<std::byte, 9> bytes{};
  StoreLE<uint64_t>(bytes.data() + 1, 0x8807060504030201U);
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[1], std::byte{1});
  EXPECT_EQ(bytes[8], std::byte{0x88});
  EXPECT_EQ(LoadLE<uint64_t>(bytes.data() + 1), 0x8807060504030201U);
}

TEST(Endian, SwapsBytes) {
  EXPECT_EQ(SwapBytes<uint8_t>(0x12), 0x12U);
  EXPECT_EQ(SwapBytes<uint16_t>(0x1234), 0x3412U);
  EXPECT_EQ(SwapBytes<uint32_t>(0x12345678), 0x78563412U);
  EXPECT_EQ(SwapBytes<uint64_t>(0x0102030405060708U), 0x0807060504030201U);
}

}  // namespace
}  // namespace dolium
