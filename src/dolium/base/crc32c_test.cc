#include "dolium/base/crc32c.h"

#include <random>

#include <gtest/gtest.h>

namespace dolium {
namespace {

// Bit by bit, from the definition.
uint32_t Slow(BytesView data) {
  uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : data) {
    crc ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
    }
  }
  return ~crc;
}

TEST(Crc32c, GivesTheCheckValueOfItsDefinition) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xE3069283u);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32c, AgreesWithTheDefinitionAtEveryLengthAndOffset) {
  std::mt19937 random(1);
  ByteVector data(2000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  for (size_t size = 0; size < 700; ++size) {
    const auto part = BytesView(data).subspan(size % 9, size);
    EXPECT_EQ(Crc32c(part), Slow(part)) << size;
  }
}

TEST(Crc32c, CopiesAndSumsAtEveryLengthAndOffset) {
  std::mt19937 random(3);
  ByteVector data(70000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  std::vector<size_t> sizes;
  for (size_t size = 0; size < 1500; ++size) sizes.push_back(size);
  for (const size_t size : {4096, 8192, 9999, 65536, 65791}) sizes.push_back(size);
  for (const size_t size : sizes) {
    const auto part = BytesView(data).subspan(size % 67, size);
    const auto before = static_cast<uint32_t>(random());
    ByteVector copy(size + 2, std::byte{0x5A});
    EXPECT_EQ(CopyWithCrc32c(part, copy.data() + 1, before), Crc32c(part, before))
        << size;
    EXPECT_TRUE(Equal(part, BytesView(copy).subspan(1, size))) << size;
    EXPECT_EQ(copy.front(), std::byte{0x5A}) << size;
    EXPECT_EQ(copy.back(), std::byte{0x5A}) << size;
  }
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
  std::mt19937 random(2);
  ByteVector data(1000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  const BytesView all(data);
  for (const size_t cut : {0, 1, 7, 191, 192, 500, 999, 1000}) {
    EXPECT_EQ(Crc32c(all.subspan(cut), Crc32c(all.first(cut))), Crc32c(all)) << cut;
  }
}

}  // namespace
}  // namespace dolium
