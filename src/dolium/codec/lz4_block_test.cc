#include "dolium/codec/lz4_block.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(Lz4Block, RoundTripsAtEveryLevel) {
  for (const std::string& text :
       {std::string("x"), std::string(100'000, 'x'), std::string("abcabcabcabcabcabc")}) {
    for (const int level : {0, 1, 9, 12, 99}) {
      const auto stored = Lz4BlockEncode(AsBytes(text), 200'000, level);
      ASSERT_TRUE(stored);
      ByteVector into(text.size());
      const auto decoded = Lz4BlockDecodeInto(*stored, into);
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_EQ(AsText(into), text);
    }
  }
}

TEST(Lz4Block, DecodesBytesOfTheFormat) {
  // A literal of 1, a match of 8 at distance 1; then the last 5 literals.
  const std::string stored("\x14x\x01\0\x50xxxxx", 10);
  ByteVector into(14);
  ASSERT_TRUE(Lz4BlockDecodeInto(AsBytes(stored), into));
  EXPECT_EQ(AsText(into), std::string(14, 'x'));
}

TEST(Lz4Block, EncodesOnlyWhatFits) {
  EXPECT_FALSE(Lz4BlockEncode(AsBytes("no two alike"), 11));
  EXPECT_FALSE(Lz4BlockEncode(AsBytes("x"), 0));
}

TEST(Lz4Block, RefusesAnotherSizeAndDamage) {
  const std::string text(1000, 'x');
  const ByteVector stored = *Lz4BlockEncode(AsBytes(text), 2000);
  for (const size_t size : {size_t{0}, size_t{999}, size_t{1001}}) {
    ByteVector into(size);
    EXPECT_EQ(Lz4BlockDecodeInto(stored, into).error().code, ErrorCode::kCorrupt) << size;
  }
  ByteVector into(1000);
  for (size_t size = 0; size < stored.size(); ++size) {
    EXPECT_FALSE(Lz4BlockDecodeInto(BytesView(stored).first(size), into)) << size;
  }
  EXPECT_FALSE(Lz4BlockDecodeInto({}, {}));
  EXPECT_TRUE(Lz4BlockDecodeInto(AsBytes(std::string_view("\0", 1)), {}));
}

}  // namespace
}  // namespace dolium
