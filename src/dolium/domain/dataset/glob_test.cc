#include "dolium/domain/dataset/glob.h"

#include <string>

#include <gtest/gtest.h>

namespace dolium::dataset {
namespace {

TEST(GlobMatches, TheWholeName) {
  EXPECT_TRUE(GlobMatches("a.sp", "a.sp"));
  EXPECT_FALSE(GlobMatches("a.sp", "a.spx"));
  EXPECT_FALSE(GlobMatches("a.sp", "xa.sp"));
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
}

TEST(GlobMatches, AnyTextForAStar) {
  EXPECT_TRUE(GlobMatches("*.shardpack", "train-0.shardpack"));
  EXPECT_TRUE(GlobMatches("*", "a"));
  EXPECT_TRUE(GlobMatches("a*", "a"));
  EXPECT_TRUE(GlobMatches("a**b*", "axxb"));
  EXPECT_TRUE(GlobMatches("*ab*ab", "aabxabab"));
  EXPECT_FALSE(GlobMatches("*.shardpack", "train-0.shardpack.bak"));
  EXPECT_FALSE(GlobMatches("a*b", "ac"));
}

TEST(GlobMatches, OneCharacterForAQuestionMark) {
  EXPECT_TRUE(GlobMatches("train-?", "train-7"));
  EXPECT_FALSE(GlobMatches("train-?", "train-"));
  EXPECT_FALSE(GlobMatches("train-?", "train-17"));
  EXPECT_TRUE(GlobMatches("?x", "\xc3\xa4x"));
  EXPECT_TRUE(GlobMatches("?x", "\xffx"));
}

TEST(GlobMatches, OneOfASet) {
  EXPECT_TRUE(GlobMatches("[0-3]", "2"));
  EXPECT_FALSE(GlobMatches("[0-3]", "4"));
  EXPECT_TRUE(GlobMatches("[!0-3]", "4"));
  EXPECT_FALSE(GlobMatches("[^0-3]", "2"));
  EXPECT_TRUE(GlobMatches("[]x]", "]"));
  EXPECT_TRUE(GlobMatches("[a-]", "-"));
  EXPECT_TRUE(GlobMatches("[ab]*[0-9]", "bcd7"));
  EXPECT_TRUE(GlobMatches("a[b", "a[b"));
}

TEST(GlobMatches, WhatABackslashProtects) {
  EXPECT_TRUE(GlobMatches(R"(a\*b)", "a*b"));
  EXPECT_FALSE(GlobMatches(R"(a\*b)", "axb"));
}

TEST(GlobMatches, HiddenNamesOnlyWhenAsked) {
  EXPECT_FALSE(GlobMatches("*", ".hidden"));
  EXPECT_FALSE(GlobMatches("?hidden", ".hidden"));
  EXPECT_TRUE(GlobMatches(".*", ".hidden"));
}

TEST(GlobMatches, EndsSoonWhateverThePattern) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(GlobMatches(pattern + "b", std::string(250, 'a')));
}

TEST(IsGlob, FindsCharactersWithAMeaning) {
  EXPECT_TRUE(IsGlob("a*"));
  EXPECT_TRUE(IsGlob("a?"));
  EXPECT_TRUE(IsGlob("[a]"));
  EXPECT_FALSE(IsGlob("a{b,c}.shardpack"));
}

}  // namespace
}  // namespace dolium::dataset
