#include "dolium/base/crc32c.h"

#include <random>

#include <gtest/gtest.h>

#include "dolium/base/crc32c_kernels_internal.h"

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

// Any of the ways to copy and sum.
using Copy = uint32_t (*)(BytesView from, std::byte* into, uint32_t before);

void ExpectCopies(Copy copy) {
  std::mt19937 random(3);
  ByteVector data(70000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  std::vector<size_t> sizes;
  for (size_t size = 0; size < 1100; ++size) sizes.push_back(size);
  for (const size_t size : {4096, 8192, 8193, 9999, 65536, 65791}) sizes.push_back(size);
  for (const size_t size : sizes) {
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{8}, size % 67}) {
      const auto part = BytesView(data).subspan(offset, size);
      const auto before = static_cast<uint32_t>(random());
      ByteVector to(size + 2, std::byte{0x5A});
      ASSERT_EQ(copy(part, to.data() + 1, before), Crc32c(part, before)) << size;
      ASSERT_TRUE(Equal(part, BytesView(to).subspan(1, size))) << size;
      ASSERT_EQ(to.front(), std::byte{0x5A}) << size;
      ASSERT_EQ(to.back(), std::byte{0x5A}) << size;
    }
  }
}

TEST(Crc32c, CopiesAndSumsOnThisProcessor) { ExpectCopies(CopyWithCrc32c); }

TEST(Crc32c, CopiesAndSumsOnAnyProcessor) {
  ExpectCopies(internal::CopyWithCrcBySegments);
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
