#include "dolium/base/byte_reader.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(ByteReader, ReadsInOrder) {
  ByteReader reader(AsBytes(std::string_view("\x01\x02\x00text", 7)));
  EXPECT_EQ(*reader.Read<uint8_t>("kind"), 1U);
  EXPECT_EQ(*reader.Read<uint16_t>("length"), 2U);
  EXPECT_EQ(AsText(*reader.ReadBytes(4, "name")), "text");
  EXPECT_EQ(reader.position(), 7U);
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReader, SaysWhatIsMissing) {
  ByteReader reader(AsBytes("0123456789"));
  ASSERT_TRUE(reader.ReadBytes(8, "header"));
  const auto number = reader.Read<uint32_t>("num_lods");
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(number.error().message, "num_lods needs 4 bytes at 8, 2 remain");
  EXPECT_EQ(reader.position(), 8U) << "a failed read takes nothing";
  EXPECT_EQ(AsText(*reader.ReadBytes(2, "rest")), "89");
}

TEST(ByteReader, IsNotFooledByAnAbsurdLength) {
  ByteReader reader(AsBytes("0123456789"));
  ASSERT_TRUE(reader.ReadBytes(5, "header"));
  EXPECT_FALSE(reader.ReadBytes(UINT64_MAX, "name"));
  EXPECT_FALSE(reader.ReadBytes(UINT64_MAX - 4, "name"));
  EXPECT_EQ(reader.remaining(), 5U);
  EXPECT_TRUE(reader.ReadBytes(0, "nothing"));
}

TEST(ByteReader, ReadsNothingFromNothing) {
  ByteReader reader(BytesView{});
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_FALSE(reader.Read<uint8_t>("kind"));
}

}  // namespace
}  // namespace dolium
