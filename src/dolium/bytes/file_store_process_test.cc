// What holds among processes: commits, locks, and what a killed writer leaves.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {
namespace {

// Runs `body` in a child, which exits with what it returns.
pid_t Spawn(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int ExitStatus(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A pipe over which a child says that it has come to some point.
class Signal {
 public:
  Signal() {
    int ends[2];
    if (pipe(ends) == 0) {
      read_ = UniqueFd(ends[0]);
      write_ = UniqueFd(ends[1]);
    }
  }
  void Send() const { EXPECT_EQ(write(write_.get(), "x", 1), 1); }
  void Wait() const {
    char c = 0;
    ASSERT_EQ(read(read_.get(), &c, 1), 1);
  }

 private:
  UniqueFd read_;
  UniqueFd write_;
};

size_t CountTemporaries(const std::string& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    count += entry.path().filename().string().find(".dolium-tmp-") != std::string::npos;
  }
  return count;
}

class FileStoreProcessTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::shared_ptr<FileStore> store_ = *FileStore::Open(folder_.path());
};

TEST_F(FileStoreProcessTest, LosesNoUpdateOfEightProcesses) {
  constexpr int kProcesses = 8;
  constexpr int kIncrements = 25;
  ASSERT_TRUE(store_->Put("counter", AsBytes("0"), Precondition::Absent()));
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(Spawn([&] {
      for (int done = 0; done < kIncrements;) {
        const auto now = store_->ReadWhole("counter", 100);
        if (!now) return 1;
        const int value = std::stoi(std::string(AsText(now->bytes)));
        const auto put = store_->Put("counter", AsBytes(std::to_string(value + 1)),
                                     Precondition::At(now->generation));
        if (put) ++done;
        if (!put && put.error().code != ErrorCode::kConflict) return 2;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(ExitStatus(child), 0);
  EXPECT_EQ(AsText(store_->ReadWhole("counter", 100)->bytes),
            std::to_string(kProcesses * kIncrements));
  EXPECT_EQ(CountTemporaries(folder_.path()), 0U);
}

TEST_F(FileStoreProcessTest, KeepsTheOldStateWhenAWriterIsKilled) {
  ASSERT_TRUE(store_->Put("one", AsBytes("old"), Precondition::Absent()));
  const Signal written;
  const pid_t child = Spawn([&] {
    auto writer = store_->Begin("one");
    if (!writer || !(*writer)->Append(ByteVector(3 << 20))) return 1;
    written.Send();
    pause();
    return 0;
  });
  written.Wait();
  EXPECT_EQ(CountTemporaries(folder_.path()), 1U);
  const auto while_alive = store_->RemoveStaleTemporaries("");
  ASSERT_TRUE(while_alive) << while_alive.error().message;
  EXPECT_EQ(*while_alive, 0U);
  EXPECT_EQ(CountTemporaries(folder_.path()), 1U);

  kill(child, SIGKILL);
  EXPECT_EQ(ExitStatus(child), -1);
  EXPECT_EQ(AsText(store_->ReadWhole("one", 10)->bytes), "old");
  EXPECT_EQ(CountTemporaries(folder_.path()), 1U);

  auto alive = store_->Begin("two");
  ASSERT_TRUE(alive) << alive.error().message;
  EXPECT_EQ(*store_->RemoveStaleTemporaries(""), 1U)
      << "the dead one's, not the live one's";
  ASSERT_TRUE((*alive)->Append(AsBytes("two")));
  ASSERT_TRUE((*alive)->Commit(Precondition::Absent()));
  EXPECT_EQ(AsText(store_->ReadWhole("two", 10)->bytes), "two");
  EXPECT_EQ(CountTemporaries(folder_.path()), 0U);
}

TEST_F(FileStoreProcessTest, FindsNoTemporariesInAFolderThatIsNotThere) {
  EXPECT_EQ(*store_->RemoveStaleTemporaries("absent"), 0U);
}

TEST_F(FileStoreProcessTest, CleansUpBesideWritersThatComeAndGo) {
  const pid_t child = Spawn([&] {
    for (int i = 0; i < 200; ++i) {
      if (!store_->Put("one", AsBytes(std::to_string(i)), Precondition::None())) return 1;
    }
    return 0;
  });
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    ASSERT_TRUE(store_->RemoveStaleTemporaries(""));
  }
  EXPECT_EQ(status, 0) << "a live writer's temporary was removed";
  EXPECT_EQ(AsText(store_->ReadWhole("one", 10)->bytes), "199");
}

TEST_F(FileStoreProcessTest, HoldsOtherProcessesOffWhileRewriting) {
  ASSERT_TRUE(store_->Put("one", AsBytes("old"), Precondition::Absent()));
  auto lock = store_->LockForRewrite("one");
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_NE(*lock, nullptr);
  const Signal started;
  const pid_t child = Spawn([&] {
    started.Send();
    const auto theirs = store_->LockForRewrite("one");
    if (!theirs || *theirs == nullptr) return 1;
    // The lock is that of the file which took the place of the old one.
    const auto whole = store_->ReadWhole("one", 10);
    if (!whole || AsText(whole->bytes) != "new") return 2;
    return 0;
  });
  started.Wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it should be waiting";
  ASSERT_TRUE(store_->Put("one", AsBytes("new"), Precondition::None()));
  // Ends the lock, although the child has inherited the descriptor that holds it.
  lock->reset();
  EXPECT_EQ(ExitStatus(child), 0);
}

TEST_F(FileStoreProcessTest, LeavesAWriterToItsProcessWhenForked) {
  auto writer = store_->Begin("one");
  ASSERT_TRUE(writer) << writer.error().message;
  const pid_t child = Spawn([&] {
    writer->reset();
    return 0;
  });
  EXPECT_EQ(ExitStatus(child), 0);
  ASSERT_TRUE((*writer)->Append(AsBytes("text")));
  const auto committed = (*writer)->Commit(Precondition::Absent());
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(AsText(store_->ReadWhole("one", 10)->bytes), "text");
}

TEST_F(FileStoreProcessTest, ReadsBatchesInAForkedChild) {
  // Both processes have used io_uring by the end; a shared ring would mix up their reads.
  std::string text(8 << 20, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i / 4096);
  std::ofstream(JoinPath(folder_.path(), "one"), std::ios::binary) << text;
  const auto read_cold = [&] {
    const UniqueFd file(
        open(JoinPath(folder_.path(), "one").c_str(), O_RDONLY | O_CLOEXEC));
    if (fsync(file.get()) != 0) return 1;
    if (posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return 1;
    std::vector<ByteRange> ranges;
    for (uint64_t i = 0; i < 500; ++i) ranges.push_back({((i * 37) % 2000) * 4096, 4096});
    const auto read = store_->ReadRanges("one", ranges);
    if (!read) return 2;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (AsText(read->parts[i]) != text.substr(ranges[i].offset, 4096)) return 3;
    }
    return 0;
  };
  ASSERT_EQ(read_cold(), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) children.push_back(Spawn(read_cold));
  EXPECT_EQ(read_cold(), 0);
  for (const pid_t child : children) EXPECT_EQ(ExitStatus(child), 0);
}

}  // namespace
}  // namespace dolium
