#include "dolium/codec/brotli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

using testing::HasSubstr;

ByteVector PatternOf(size_t size) {
  ByteVector value(size);
  for (size_t i = 0; i < size; ++i) value[i] = static_cast<std::byte>(i * i / 257);
  return value;
}

TEST(Brotli, DecodesWhatItEncoded) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{1'000'000}}) {
    const ByteVector value = PatternOf(size);
    const auto back = BrotliDecode(BrotliEncode(value), size);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, value);
  }
}

TEST(Brotli, KeepsToTheLimit) {
  const ByteVector stored = BrotliEncode(ByteVector(100'000'000));
  ASSERT_LT(stored.size(), 1000U);
  const auto decoded = BrotliDecode(stored, 99'999'999);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(decoded.error().message,
            "brotli stream decodes to more than the limit of 99999999 bytes");
}

TEST(Brotli, RejectsACutAndWhatFollows) {
  ByteVector stored = BrotliEncode(PatternOf(1000));
  for (size_t size = 0; size < stored.size(); ++size) {
    const auto cut = BrotliDecode(BytesView(stored).first(size), 2000);
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(cut.error().message, HasSubstr("cut short"));
  }
  stored.push_back(std::byte{0});
  EXPECT_THAT(BrotliDecode(stored, 2000).error().message,
              HasSubstr("1 bytes follow the end of the brotli stream"));
}

// A window of 2^30 bytes, by the extension that no RFC has.
TEST(Brotli, RefusesLargeWindows) {
  const ByteVector stored = {std::byte{0x11}, std::byte{0x3e}, std::byte{0x03}};
  EXPECT_FALSE(BrotliDecode(stored, 2000));
}

}  // namespace
}  // namespace dolium
