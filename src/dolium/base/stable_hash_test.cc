#include "dolium/base/stable_hash.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

// Parts of unfinished sets depend on these: they may never change.
TEST(StableHash, IsTheSameEverywhere) {
  EXPECT_EQ(StableHash(""), 0xefd01f60ba992926U);
  EXPECT_EQ(StableHash("a"), 0x82a2a958a9bece5bU);
  EXPECT_EQ(StableHash("chunk 12", 1), 0x539fcd7a6ccf6ef6U);
}

TEST(StableHash, DependsOnTheSeed) { EXPECT_NE(StableHash("a", 1), StableHash("a", 2)); }

}  // namespace
}  // namespace dolium
