#include "dolium/bytes/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/testing/temporary_folder.h"

namespace dolium {
namespace {

class AtomicFileTest : public testing::Test {
 protected:
  std::string Text(const std::string& name) {
    std::ifstream file(folder_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Count() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(folder_.path())) {
      ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
  const UniqueFd fd_ = UniqueFd(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY));
};

TEST_F(AtomicFileTest, AppearsWithItsNameAlone) {
  auto file = AtomicFile::Create(fd_.get(), "name");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(IsTemporaryName(file->temporary())) << file->temporary();
  ASSERT_TRUE(file->Append(AsBytes("hello")));
  ASSERT_TRUE(file->WriteAt(3, AsBytes("p me")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/name"));
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(file->Rename("name"));
  EXPECT_EQ(Text("name"), "help me");
  EXPECT_EQ(file->temporary(), "");
  EXPECT_EQ(file->Rename("other").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Count(), 1U);
}

TEST_F(AtomicFileTest, LeavesNothingWhenItIsGivenUp) {
  {
    ASSERT_TRUE(AtomicFile::Create(fd_.get(), "name"));
  }
  EXPECT_EQ(Count(), 0U);
  auto first = AtomicFile::Create(fd_.get(), "a");
  auto second = AtomicFile::Create(fd_.get(), "b");
  ASSERT_TRUE(first && second);
  *first = *std::move(second);
  EXPECT_EQ(Count(), 1U);
}

TEST_F(AtomicFileTest, RefusesWhatIsThereOrReplacesIt) {
  std::ofstream(folder_.path() + "/name") << "old";
  auto file = AtomicFile::Create(fd_.get(), "name");
  ASSERT_TRUE(file && file->Append(AsBytes("new")));
  const auto refused = file->Rename("name", AtomicFile::IfThere::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(Text("name"), "old");
  ASSERT_TRUE(file->Rename("name", AtomicFile::IfThere::kReplace));
  EXPECT_EQ(Text("name"), "new");
}

TEST_F(AtomicFileTest, MovesToAnotherFolderUnderANameOfTheCallers) {
  std::filesystem::create_directory(folder_.path() + "/there");
  const UniqueFd there(open((folder_.path() + "/there").c_str(), O_RDONLY | O_DIRECTORY));
  std::ofstream(folder_.path() + "/lease.7") << "left by a dead writer";
  auto file = AtomicFile::CreateNamed(fd_.get(), "lease.7");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->Append(AsBytes("x")));
  ASSERT_TRUE(file->Rename(there.get(), "name", AtomicFile::IfThere::kRefuse));
  EXPECT_EQ(Text("there/name"), "x");
  EXPECT_EQ(Count(), 1U);
}

TEST_F(AtomicFileTest, IsLockedWhileItLives) {
  auto file = AtomicFile::Create(fd_.get(), "name", 0600);
  ASSERT_TRUE(file);
  const UniqueFd other(openat(fd_.get(), file->temporary().c_str(), O_RDWR));
  EXPECT_NE(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  struct stat status{};
  ASSERT_EQ(fstat(other.get(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  file->Discard();
  EXPECT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(AtomicFileTest, BelongsToTheProcessThatMadeIt) {
  auto file = AtomicFile::Create(fd_.get(), "name");
  ASSERT_TRUE(file);
  const pid_t child = fork();
  if (child == 0) {
    file->Discard();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Count(), 1U);
  EXPECT_TRUE(file->Rename("name"));
}

}  // namespace
}  // namespace dolium
