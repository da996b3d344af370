#include "dolium/domain/cas/restore.h"

#include <sys/stat.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/folder.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class RestoreTest : public StoreTest {
 protected:
  Version PutFolder() {
    PutOptions options;
    options.name = "set";
    const auto version = Put(*store_, {path("source")}, options);
    EXPECT_TRUE(version) << version.error().message;
    return version ? *version : Version();
  }
};

TEST_F(RestoreTest, RemovesWhatAKilledOneLeft) {
  WriteText(path("source/file"), "text");
  WriteText(path("source/sub/file"), "text");
  const Version version = PutFolder();
  for (const char* folder : {"out", "out/sub"}) {
    WriteText(path(fmt::format("{}/{}", folder, MakeTemporaryName("file"))), "te");
  }
  std::filesystem::remove_all(path("out/sub"));
  // Nothing but a temporary: as good as empty.
  ASSERT_TRUE(Restore(*store_, version, path("out"), {}));
  EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("source")));
  WriteText(path("out/sub/" + MakeTemporaryName("file")), "te");
  ASSERT_TRUE(Restore(*store_, version, path("out"), {.force = true}));
  EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("source")));
}

TEST_F(RestoreTest, LeavesOutDamagedFilesAndGoesOn) {
  // Of several parts, and damaged in the last of them.
  WriteText(path("source/large"), RandomText(10'000'000, 1));
  const Version alone = PutFolder();
  for (const auto& [name, text] : FilesBelow(path("store/xorbs"))) {
    if (text.size() < 10'000'000) continue;
    std::string damaged = text;
    damaged[9'990'000] ^= 1;
    WriteText(path("store/xorbs/" + name), damaged);
  }
  for (uint64_t i = 0; i < 20; ++i) {
    WriteText(path(fmt::format("source/{}", i)), RandomText(100'000, 100 + i));
  }
  store_ = Reopen();
  const Version version = PutFolder();
  const auto refused = Restore(*store_, version, path("refused"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  std::vector<std::pair<std::string, std::string>> damaged;
  GetOptions options;
  options.damaged = [&](const std::string& file, const Error& reason) {
    damaged.emplace_back(file, reason.message);
  };
  const auto restored = Restore(*store_, version, path("out"), options);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_THAT(damaged, ElementsAre(Pair(path("out/large"), HasSubstr("chunk"))));
  EXPECT_EQ(restored->files, 20u);
  std::filesystem::remove(path("source/large"));
  EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("source")));
}

TEST_F(RestoreTest, ReplacesNeitherPipesNorFolders) {
  WriteText(path("source/file"), "text");
  const Version version = PutFolder();
  std::filesystem::create_directory(path("out"));
  mkfifo(path("out/file").c_str(), 0666);
  const auto restored = Restore(*store_, version, path("out"), {.force = true});
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::kExists);
  EXPECT_THAT(restored.error().message,
              HasSubstr("out/file: is neither a file nor a link, and is not replaced"));
  EXPECT_TRUE(std::filesystem::is_fifo(path("out/file")));
}

}  // namespace
}  // namespace dolium::cas
