#include "dolium/bytes/store.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(JoinPath("a/b", "c"), "a/b/c");
  EXPECT_EQ(JoinPath("a/b/", "c"), "a/b/c");
  EXPECT_EQ(JoinPath("a", "/c"), "a/c");
  EXPECT_EQ(JoinPath("/", "c"), "/c");
  EXPECT_EQ(JoinPath("", "c"), "c");
  EXPECT_EQ(JoinPath("", "/c"), "/c");
  EXPECT_EQ(JoinPath("a", ""), "a");
  EXPECT_EQ(JoinPath("", ""), "");
}

TEST(ParentPath, DropsTheLastComponent) {
  EXPECT_EQ(ParentPath("a/b/c"), "a/b");
  EXPECT_EQ(ParentPath("a/b/"), "a");
  EXPECT_EQ(ParentPath("a//b"), "a");
  EXPECT_EQ(ParentPath("c"), "");
  EXPECT_EQ(ParentPath("/c"), "/");
  EXPECT_EQ(ParentPath("/"), "/");
  EXPECT_EQ(ParentPath(""), "");
}

TEST(BaseName, IsTheLastComponent) {
  EXPECT_EQ(BaseName("a/b/c"), "c");
  EXPECT_EQ(BaseName("a/b/"), "b");
  EXPECT_EQ(BaseName("c"), "c");
  EXPECT_EQ(BaseName("/"), "");
  EXPECT_EQ(BaseName(""), "");
}

TEST(NormalizePath, ResolvesDotsByText) {
  EXPECT_EQ(NormalizePath("a/./b/../c"), "a/c");
  EXPECT_EQ(NormalizePath("a/../../b"), "../b");
  EXPECT_EQ(NormalizePath("../../b"), "../../b");
  EXPECT_EQ(NormalizePath("/../a"), "/a");
  EXPECT_EQ(NormalizePath("/a/.."), "/");
  EXPECT_EQ(NormalizePath("a/.."), "");
  EXPECT_EQ(NormalizePath("a//b/"), "a/b");
  EXPECT_EQ(NormalizePath("..."), "...");
  EXPECT_EQ(NormalizePath(""), "");
}

}  // namespace
}  // namespace dolium
