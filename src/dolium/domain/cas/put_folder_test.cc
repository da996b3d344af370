// Puts of folders: what is not read again, what is held in memory, and how they end
// early.
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace {

std::mutex synced_mutex;
std::set<std::string>* synced = nullptr;  // paths, while somebody wants to know

}  // namespace

// In place of the C library's: tests can see what is made durable.
extern "C" int fsync(int fd) {
  {
    const std::lock_guard hold(synced_mutex);
    if (synced != nullptr) {
      std::error_code error;
      const auto path =
          std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
      synced->insert(path);
    }
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace dolium::cas {
namespace {

using testing::HasSubstr;
using testing::Not;

class PutFolderTest : public StoreTest {
 protected:
  Version PutFolder(PutOptions options = {}) {
    options.name = "set";
    const auto version = Put(*Reopen(), {path("source")}, options);
    EXPECT_TRUE(version) << version.error().message;
    return version ? *version : Version();
  }
};

TEST_F(PutFolderTest, CountsTheChunksOfFilesThatItDidNotRead) {
  for (int i = 0; i < 5; ++i) {
    WriteText(path(fmt::format("source/{}", i)),
              RandomText(200'000, static_cast<uint64_t>(i)));
  }
  WriteText(path("source/same"), ReadText(path("source/0")));
  WriteText(path("source/empty"), "");
  usleep(200'000);  // What changed just before a put is not remembered.
  const Version first = PutFolder();
  const Version second = PutFolder();
  EXPECT_GT(first.totals.chunks, 6u);
  EXPECT_EQ(second.totals.chunks, first.totals.chunks);
  EXPECT_EQ(second.totals.new_chunks, 0u);
  EXPECT_EQ(PutFolder({.name = "set", .reread = true}).totals.chunks,
            first.totals.chunks);
}

// Neither entries, nor rows of what was seen, nor notes for gc pile up until the end.
TEST_F(PutFolderTest, HoldsNothingOfFilesThatDidNotChange) {
  constexpr uint64_t kFiles = 8000;
  for (uint64_t i = 0; i < kFiles; ++i) {
    WriteText(path(fmt::format("source/{}/{}", i / 1000, i)), std::to_string(i));
  }
  usleep(200'000);
  const Version first = PutFolder();
  bool has_looked = false;
  PutOptions options;
  options.progress = [&](const Progress& progress) {
    if (has_looked || progress.entries < kFiles - 100) return;
    has_looked = true;
    std::vector<uint64_t> sizes;
    for (const auto& file : std::filesystem::directory_iterator(path("store/tmp"))) {
      sizes.push_back(file.file_size());
    }
    std::sort(sizes.begin(), sizes.end());
    // The rows and the manifest so far.
    ASSERT_GE(sizes.size(), 2u);
    EXPECT_GT(sizes[sizes.size() - 2], kFiles * 104 / 2);
    EXPECT_GT(sizes.back(), uint64_t{1} << 20);
    std::string notes;
    for (const auto& file : std::filesystem::directory_iterator(path("store/leases"))) {
      notes += ReadText(file.path());
    }
    EXPECT_THAT(notes, HasSubstr(fmt::format("t {}\n", ToString(first.hash))));
    EXPECT_THAT(notes, Not(HasSubstr("f ")));
  };
  const Version second = PutFolder(options);
  EXPECT_TRUE(has_looked);
  EXPECT_EQ(second.hash, first.hash);
  EXPECT_EQ(second.totals.files, kFiles);
}

// The folder that was put before covers its files only as long as it is there.
TEST_F(PutFolderTest, NotesEachFileIfTheFolderThatWasSeenIsGone) {
  WriteText(path("source/a"), RandomText(100'000, 1));
  WriteText(path("source/b"), RandomText(100'000, 2));
  PutFolder();
  WriteText(path("source/b"), RandomText(100'000, 3));
  usleep(200'000);
  PutFolder();
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set@2")));
  ASSERT_TRUE(CollectGarbage(*Reopen(), {.grace = std::chrono::seconds(0)}));
  std::string notes;
  PutOptions options;
  options.progress = [&](const Progress&) {
    for (const auto& file : std::filesystem::directory_iterator(path("store/leases"))) {
      notes += ReadText(file.path());
    }
  };
  const Version version = PutFolder(options);
  EXPECT_THAT(notes, Not(HasSubstr("t ")));
  EXPECT_THAT(notes, HasSubstr("f "));
  EXPECT_GE(version.totals.new_bytes, 100'000u);
  ASSERT_TRUE(Restore(*Reopen(), version, path("out"), {}));
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
}

TEST_F(PutFolderTest, WaitsForALargeFileWithEntriesBehindIt) {
  WriteText(path("source/0"), RandomText(30'000'000, 1));
  for (int i = 0; i < 5000; ++i) WriteText(path(fmt::format("source/a{}", i)), "x");
  usleep(200'000);
  PutFolder();
  WriteText(path("source/0"), RandomText(30'000'000, 2));
  const Version version = PutFolder();
  EXPECT_EQ(version.totals.files, 5001u);
  ASSERT_TRUE(Restore(*Reopen(), version, path("out"), {}));
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
}

TEST_F(PutFolderTest, StopsBetweenFilesThatDidNotChange) {
  for (int i = 0; i < 100; ++i) WriteText(path(fmt::format("source/{}", i)), "x");
  usleep(200'000);
  PutFolder();
  std::stop_source stop;
  PutOptions options{.name = "set"};
  options.stop = stop.get_token();
  uint64_t last = 0;
  options.progress = [&](const Progress& progress) {
    last = progress.entries;
    if (last == 5) stop.request_stop();
  };
  const auto version = Put(*Reopen(), {path("source")}, options);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(last, 5u);
}

TEST_F(PutFolderTest, StopsWhileAStreamIsSilent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "some", 4), 4);
  std::stop_source stop;
  PutOptions options{.name = "stream"};
  options.stop = stop.get_token();
  std::thread stopper([&] {
    usleep(100'000);
    stop.request_stop();
  });
  const auto version = PutStream(*store_, ends[0], options);
  stopper.join();
  close(ends[0]);
  close(ends[1]);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kCancelled);
}

TEST_F(PutFolderTest, StopsWhileGcHasTheLock) {
  WriteText(path("source/file"), "x");
  std::stop_source stop;
  PutOptions options{.name = "set"};
  options.stop = stop.get_token();
  const auto lock = StoreLock::Exclusive(store_->layout());
  ASSERT_TRUE(lock);
  std::thread stopper([&] {
    usleep(100'000);
    stop.request_stop();
  });
  const auto version = Put(*store_, {path("source")}, options);
  stopper.join();
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kCancelled);
}

// Who made a folder may have been killed before it was durable.
TEST_F(PutFolderTest, MakesFoldersDurableThatAreThereAlready) {
  std::filesystem::create_directory(path("store/names/n"));
  for (int i = 0; i < 256; ++i) {
    std::filesystem::create_directory(path(fmt::format("store/xorbs/{:02x}", i)));
  }
  std::set<std::string> paths;
  {
    const std::lock_guard hold(synced_mutex);
    synced = &paths;
  }
  PutText("n", "text");
  {
    const std::lock_guard hold(synced_mutex);
    synced = nullptr;
  }
  const std::string root = std::filesystem::canonical(path("store"));
  EXPECT_TRUE(paths.contains(root + "/names"));
  EXPECT_TRUE(paths.contains(root + "/xorbs"));
}

TEST_F(PutFolderTest, SaysWhatAlignedEntriesGain) {
  // Entries of 3000 bytes, each cut by itself; one of them grows.
  std::string old_text;
  std::string new_text;
  std::vector<uint64_t> cuts;
  for (uint64_t i = 0; i < 300; ++i) {
    const std::string entry = RandomText(3000, i);
    old_text += entry;
    new_text += entry;
    if (i == 150) new_text += "more";
    cuts.push_back(new_text.size());
  }
  PutOptions options;
  options.forced_cuts = [&](const std::string&) { return cuts; };
  const Version second = PutText("aligned", new_text, options);
  for (size_t i = 150; i < cuts.size(); ++i) cuts[i] -= 4;
  const Version first = PutText("aligned", old_text, options);
  const auto gain = CompareChunks(*store_, first, second, {});
  ASSERT_TRUE(gain) << gain.error().message;
  EXPECT_EQ(gain->stored.chunks, 300u);
  EXPECT_EQ(gain->stored.bytes, new_text.size());
  EXPECT_EQ(gain->stored.new_chunks, 1u);
  EXPECT_EQ(gain->stored.new_bytes, 3004u);
  ASSERT_TRUE(gain->plain);
  EXPECT_EQ(gain->plain->bytes, new_text.size());
  EXPECT_GE(gain->plain->new_chunks, 1u);
  EXPECT_EQ(gain->gain(), static_cast<int64_t>(gain->plain->new_bytes) - 3004);
  // What plain puts of both say.
  const Version old_plain = PutText("old", old_text);
  const Version new_plain = PutText("new", new_text);
  const auto plain = CompareChunks(*store_, old_plain, new_plain, {});
  EXPECT_FALSE(plain->plain);
  EXPECT_FALSE(plain->gain());
  EXPECT_EQ(plain->stored.chunks, gain->plain->chunks);
  EXPECT_EQ(plain->stored.new_bytes, gain->plain->new_bytes);
}

TEST_F(PutFolderTest, IsNotRestoredOverFolders) {
  std::filesystem::create_directories(path("source"));
  std::filesystem::create_symlink("x", path("source/link"));
  WriteText(path("source/file"), "text");
  const Version version = PutFolder();
  const Version file = PutText("file", "text");
  for (const bool force : {false, true}) {
    const auto restored = Restore(*store_, file, path("source"), {.force = force});
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::kExists);
    EXPECT_EQ(restored.error().message,
              fmt::format("{0}: is a folder; name the file to make, as in {0}/file",
                          path("source")));
  }
  for (const char* const name : {"link", "file"}) {
    const std::string out = path(fmt::format("out-{}", name));
    std::filesystem::create_directories(fmt::format("{}/{}", out, name));
    const auto restored = Restore(*store_, version, out, {.force = true});
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, ErrorCode::kExists);
    EXPECT_EQ(restored.error().message,
              fmt::format("{}/{}: is a folder, which a file or link does not replace",
                          out, name));
  }
}

}  // namespace
}  // namespace dolium::cas
