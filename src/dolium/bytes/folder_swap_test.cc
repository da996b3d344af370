#include "dolium/bytes/folder_swap.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FolderSwapTest : public testing::Test {
 protected:
  // A folder that holds one file of the folder's own name.
  std::string Make(const std::string& name) {
    fs::create_directory(Path(name));
    std::ofstream(Path(name) + "/" + name) << name;
    return Path(name);
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  const TemporaryFolder folder_;
};

TEST_F(FolderSwapTest, TellsAFolderFromAFileALinkAndNothing) {
  Make("a");
  fs::create_directory_symlink(Path("a"), Path("link"));
  EXPECT_TRUE(*FolderExists(Path("a")));
  EXPECT_FALSE(*FolderExists(Path("a/a")));
  EXPECT_FALSE(*FolderExists(Path("link")));
  EXPECT_FALSE(*FolderExists(Path("none")));
  EXPECT_FALSE(*FolderExists(Path("a/a/none")));
}

TEST_F(FolderSwapTest, ExchangesTwoFolders) {
  const auto exchanged = ExchangeFolders(Make("a"), Make("b"));
  if (!exchanged && exchanged.error().code == ErrorCode::kUnsupported) {
    GTEST_SKIP() << exchanged.error().message;
  }
  ASSERT_TRUE(exchanged) << exchanged.error().message;
  EXPECT_TRUE(fs::exists(Path("a/b")));
  EXPECT_TRUE(fs::exists(Path("b/a")));
}

TEST_F(FolderSwapTest, ExchangesNothingIfOneIsMissing) {
  const auto exchanged = ExchangeFolders(Make("a"), Path("none"));
  ASSERT_FALSE(exchanged);
  EXPECT_THAT(exchanged.error().message, HasSubstr(Path("none")));
  EXPECT_TRUE(fs::exists(Path("a/a")));
}

TEST_F(FolderSwapTest, HidesAFolderThatIsToBeRemovedAndFindsItAgain) {
  const auto hidden = HideFolder(Make("a"));
  ASSERT_TRUE(hidden) << hidden.error().message;
  EXPECT_FALSE(fs::exists(Path("a")));
  EXPECT_TRUE(fs::exists(*hidden + "/a"));
  const auto other = HideFolder(Make("ab"));
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_TRUE(RemoveHidden(Path("a")));
  EXPECT_FALSE(fs::exists(*hidden));
  EXPECT_TRUE(fs::exists(*other)) << "of another folder";
  EXPECT_TRUE(RemoveHidden(Path("none/a"))) << "nothing is there";
}

TEST_F(FolderSwapTest, RemovesWhatDeadWritersLeftOfAFile) {
  Make("folder");
  const std::string dead = Path("folder/.a.dolium-tmp-0123456789abcdef");
  const std::string alive = Path("folder/.a.dolium-tmp-fedcba9876543210");
  const std::string other = Path("folder/.b.dolium-tmp-0123456789abcdef");
  for (const std::string& path : {dead, alive, other}) std::ofstream(path) << "left";
  const UniqueFd writer(open(alive.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(writer.get(), LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(RemoveHidden(Path("folder/a")));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive)) << "its writer lives";
  EXPECT_TRUE(fs::exists(other)) << "of another file";
}

TEST_F(FolderSwapTest, RenamesAFolderButNotOverAnother) {
  const std::string a = Make("a");
  const auto over = RenameFolder(a, Make("b"));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kExists);
  EXPECT_TRUE(fs::exists(Path("a/a")));
  EXPECT_TRUE(fs::exists(Path("b/b")));
  ASSERT_TRUE(RenameFolder(a, Path("c")));
  EXPECT_TRUE(fs::exists(Path("c/a")));
  EXPECT_FALSE(fs::exists(a));
}

TEST_F(FolderSwapTest, RemovesAFolderAndNotWhatItsLinksName) {
  Make("kept");
  const std::string a = Make("a");
  fs::create_directories(a + "/deep/er");
  fs::create_directory_symlink(Path("kept"), a + "/deep/link");
  ASSERT_TRUE(RemoveFolder(a));
  EXPECT_FALSE(fs::exists(a));
  EXPECT_TRUE(fs::exists(Path("kept/kept")));
  EXPECT_TRUE(RemoveFolder(a)) << "one that is not there is fine";
}

}  // namespace
}  // namespace dolium
