#include "dolium/base/xxh64.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(Xxh64, GivesTheKnownValues) {
  EXPECT_EQ(Xxh64({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(Xxh64(AsBytes("images17/image194")), 0x85445BF034BFBE12u);
  EXPECT_EQ(Xxh64(AsBytes("images17/image195")), 0x6DAC04B3B8F92C5Du);
}

TEST(Xxh64Stream, GivesTheValueOfAllSegmentsTogether) {
  Xxh64Stream stream;
  EXPECT_EQ(stream.value(), Xxh64({}));
  stream.Add(AsBytes("images17"));
  stream.Add(AsBytes("/image194"));
  EXPECT_EQ(stream.value(), 0x85445BF034BFBE12u);
}

}  // namespace
}  // namespace dolium
