// Puts of files that change, vanish or cannot be read meanwhile: what is stored is what
// was there at one time, and the rest is stored.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// More than a put with the least memory reads ahead.
constexpr size_t kLarge = size_t{32} << 20;

class PutChangesTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    WriteText(path("source/a"), "first");
    WriteText(path("source/b"), RandomText(kLarge, 1));
    WriteText(path("source/c"), "last");
  }

  // Calls `change` in the middle of each time that the large file is read.
  PutOptions ChangingOptions(std::function<void(int reads)> change) {
    PutOptions options;
    options.name = "set";
    options.memory = 1;
    options.skipped = [this](const std::string& what, const Error& reason) {
      skipped_.emplace_back(BaseName(what), reason.message);
    };
    options.progress = [this, change = std::move(change)](const Progress& progress) {
      const bool is_inside = progress.bytes >= kLarge / 4 && progress.bytes < kLarge / 2;
      if (is_inside && !was_inside_) change(++reads_);
      was_inside_ = is_inside;
    };
    return options;
  }
  // Replaces bytes at the end; the size stays.
  void Overwrite(std::string_view name, uint64_t seed) {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-100'000, std::ios::end);
    file << RandomText(100'000, seed);
  }
  void ExpectRestores(const Version& version) {
    std::filesystem::remove_all(path("out"));
    const auto restored = Restore(*store_, version, path("out"), {});
    ASSERT_TRUE(restored) << restored.error().message;
  }

  std::vector<std::pair<std::string, std::string>> skipped_;
  int reads_ = 0;
  bool was_inside_ = false;
};

TEST_F(PutChangesTest, ReadsAgainWhatChangedMeanwhile) {
  const auto version = Put(*store_, {path("source")}, ChangingOptions([&](int reads) {
    if (reads == 1) Overwrite("source/b", 2);
    if (reads == 2) truncate(path("source/b").c_str(), kLarge - 7);
  }));
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(reads_, 3);
  EXPECT_THAT(skipped_, ElementsAre());
  EXPECT_EQ(version->totals.files, 3u);
  EXPECT_EQ(version->totals.bytes, 9 + kLarge - 7);
  ExpectRestores(*version);
  EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("source")));
}

TEST_F(PutChangesTest, LeavesOutWhatChangesWheneverItIsRead) {
  const auto version = Put(*store_, {path("source")}, ChangingOptions([&](int reads) {
    std::ofstream(path("source/b"), std::ios::app) << reads;
  }));
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(reads_, 3);
  EXPECT_THAT(skipped_,
              ElementsAre(Pair("b", HasSubstr("changed while it was read, from"))));
  EXPECT_EQ(version->totals.files, 2u);
  EXPECT_EQ(version->totals.bytes, 9u);
  ExpectRestores(*version);
  std::filesystem::remove(path("source/b"));
  EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("source")));
}

TEST_F(PutChangesTest, StoresNoFileThatChangesWheneverItIsReadAlone) {
  const auto version = Put(*store_, {path("source/b")}, ChangingOptions([&](int reads) {
    Overwrite("source/b", static_cast<uint64_t>(reads) + 10);
  }));
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kConflict);
  EXPECT_THAT(version.error().message, HasSubstr("source/b: changed while it was read"));
  EXPECT_EQ(reads_, 3);
  EXPECT_THAT(*ListNames(store_->layout()), ElementsAre());
}

TEST_F(PutChangesTest, FollowsAFileThatChangedOnceAlone) {
  const auto version = Put(*store_, {path("source/b")}, ChangingOptions([&](int reads) {
    if (reads == 1) WriteText(path("source/b"), "short");
  }));
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(GetText(*version), "short");
}

TEST_F(PutChangesTest, LeavesOutWhatVanishesOrIsNoFileAnyMore) {
  for (const char* name : {"gone", "pipe", "replaced"}) {
    WriteText(path(fmt::format("source/{}", name)), name);
  }
  mkfifo(path("source/special").c_str(), 0666);
  PutOptions options = ChangingOptions([](int) {});
  options.forced_cuts = [&](const std::string& file) -> Result<std::vector<uint64_t>> {
    const std::string name(BaseName(file));
    if (name == "gone") std::filesystem::remove(file);
    if (name == "pipe") {
      std::filesystem::remove(file);
      mkfifo(file.c_str(), 0666);
    }
    if (name == "a") return IoError("cannot be read");
    if (name == "replaced") {
      WriteText(path("other"), "by another");
      std::filesystem::rename(path("other"), file);
    }
    return std::vector<uint64_t>();
  };
  const auto version = Put(*store_, {path("source")}, options);
  ASSERT_TRUE(version) << version.error().message;
  std::sort(skipped_.begin(), skipped_.end());
  EXPECT_THAT(skipped_,
              ElementsAre(Pair("a", "cannot be read"),
                          Pair("gone", HasSubstr("No such file or directory")),
                          Pair("pipe", "is no longer a file that can be read"),
                          Pair("replaced", HasSubstr("was replaced while it was read"))));
  ExpectRestores(*version);
  EXPECT_TRUE(std::filesystem::is_fifo(path("out/special")));
  EXPECT_THAT(FilesBelow(path("out")),
              ElementsAre(Pair("b", RandomText(kLarge, 1)), Pair("c", "last")));
}

}  // namespace
}  // namespace dolium::cas
