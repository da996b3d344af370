#include "dolium/domain/cas/version.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;

class VersionTest : public StoreTest {
 protected:
  std::vector<uint64_t> Sequences() {
    std::vector<uint64_t> sequences;
    const auto versions = ListVersions(store_->layout(), "n");
    EXPECT_TRUE(versions) << versions.error().message;
    for (const Version& version : *versions) sequences.push_back(version.sequence);
    return sequences;
  }
  size_t Remove(std::string_view reference) {
    const auto removed = RemoveVersions(store_->layout(), *ParseReference(reference));
    EXPECT_TRUE(removed) << removed.error().message;
    return removed ? *removed : 0;
  }
};

TEST_F(VersionTest, NeverGivesANumberTwice) {
  for (int i = 0; i < 3; ++i) PutText("n", "text");
  EXPECT_EQ(Remove("n@3"), 1u);
  EXPECT_EQ(PutText("n", "text").sequence, 4u);
  EXPECT_EQ(Remove("n@2"), 1u);
  EXPECT_EQ(Remove("n@4"), 1u);
  // One file keeps the number, and is no version.
  EXPECT_THAT(Sequences(), ElementsAre(1));
  EXPECT_EQ(FilesBelow(path("store/names/n")).count("00000004.last"), 1u);
  EXPECT_EQ(FilesBelow(path("store/names/n")).size(), 2u);
  EXPECT_EQ(PutText("n", "text").sequence, 5u);
  EXPECT_EQ(Remove("n"), 2u);
  EXPECT_THAT(*ListNames(store_->layout()), testing::IsEmpty());
  EXPECT_EQ(PutText("n", "text").sequence, 6u);
  EXPECT_THAT(Sequences(), ElementsAre(6));
}

TEST_F(VersionTest, OfANameThatIsGoneBeginsAnewAfterGc) {
  PutText("n", "text");
  Remove("n");
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = std::chrono::hours(1)}));
  EXPECT_TRUE(std::filesystem::exists(path("store/names/n/00000001.last")));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = std::chrono::seconds(0)}));
  EXPECT_FALSE(std::filesystem::exists(path("store/names/n")));
  EXPECT_EQ(PutText("n", "text").sequence, 1u);
  // One that is not keeps its folder.
  Remove("n@1");
  PutText("n", "text");
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = std::chrono::seconds(0)}));
  EXPECT_THAT(Sequences(), ElementsAre(2));
}

TEST_F(VersionTest, ThatIsNotThereCannotBeRemoved) {
  PutText("n", "text");
  for (const char* const text : {"n@2", "m"}) {
    const auto removed = RemoveVersions(store_->layout(), *ParseReference(text));
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(RemoveVersions(store_->layout(), *ParseReference("n@2")).error().message,
            "n@2: no such version; the latest is 1");
}

}  // namespace
}  // namespace dolium::cas
