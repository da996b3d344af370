#include "dolium/bytes/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/store_suite.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {
namespace {

using testing::HasSubstr;

// A store in a folder of its own, which goes with it.
std::shared_ptr<Store> MakeFileStore(std::string_view parent, FileStoreOptions options) {
  struct Owner {
    explicit Owner(std::string_view parent) : folder(parent) {}
    TemporaryFolder folder;
    std::shared_ptr<FileStore> store;
  };
  auto owner = std::make_shared<Owner>(parent);
  auto opened = FileStore::Open(owner->folder.path(), options);
  if (!opened) std::abort();
  owner->store = *opened;
  return {owner, owner->store.get()};
}

INSTANTIATE_TEST_SUITE_P(
    File, StoreSuite,
    testing::Values(
        MakeStoreCase("Uring", [] { return MakeFileStore("", {}); }),
        MakeStoreCase("NoUring", [] { return MakeFileStore("", {true, false}); }),
        MakeStoreCase("NoSyncInMemory",
                      [] { return MakeFileStore("/dev/shm", {false, true}); })),
    StoreCaseName);

class FileStoreTest : public testing::Test {
 protected:
  std::string Path(std::string_view name) const { return JoinPath(folder_.path(), name); }

  void Write(std::string_view name, std::string_view text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  std::string Read(std::string_view name) const {
    const auto whole = store_->ReadWhole(name, 1 << 20);
    return whole ? std::string(AsText(whole->bytes)) : "error: " + whole.error().message;
  }

  std::string ReadPart(std::string_view name, ByteRange range) const {
    const auto part = store_->ReadRange(name, range);
    return part ? std::string(AsText(*part)) : "error: " + part.error().message;
  }

  TemporaryFolder folder_;
  std::shared_ptr<FileStore> store_ = *FileStore::Open(folder_.path());
};

TEST_F(FileStoreTest, NamesFilesAsTyped) {
  EXPECT_EQ(store_->Describe("a/b"), folder_.path() + "/a/b");
  EXPECT_EQ(store_->Describe("/a/b"), "/a/b");
  const auto here = FileStore::Open();
  ASSERT_TRUE(here);
  EXPECT_EQ((*here)->Describe("a/../b"), "a/../b");
  EXPECT_EQ((*here)->Describe(""), ".");
}

TEST_F(FileStoreTest, NeedsItsRoot) {
  const auto store = FileStore::Open(Path("absent"));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(store.error().message, HasSubstr(Path("absent")));
}

TEST_F(FileStoreTest, ReadsAbsolutePaths) {
  Write("one", "text");
  const auto elsewhere = FileStore::Open("/");
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(AsText((*elsewhere)->ReadWhole(Path("one"), 10)->bytes), "text");
}

TEST_F(FileStoreTest, StaysInItsFolderWhenTheProcessMoves) {
  Write("one", "text");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto store = FileStore::Open(".");
  std::filesystem::current_path("/");
  ASSERT_TRUE(store);
  EXPECT_EQ(AsText((*store)->ReadWhole("one", 10)->bytes), "text");
  EXPECT_TRUE((*store)->Put("deep/two", AsBytes("x"), Precondition::Absent()));
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(Path("deep/two")));
}

TEST_F(FileStoreTest, NoticesAReplacedFile) {
  Write("one", "old text");
  EXPECT_EQ(ReadPart("one", {0, 3}), "old");
  Write("other", "new text");
  std::filesystem::rename(Path("other"), Path("one"));
  EXPECT_EQ(ReadPart("one", {0, 3}), "new");
}

TEST_F(FileStoreTest, NoticesAFileChangedInPlace) {
  Write("one", "short");
  const auto before = store_->Stat("one");
  ASSERT_TRUE(before && before->has_value());
  EXPECT_EQ(ReadPart("one", {0, 5}), "short");
  Write("one", "longer text");
  EXPECT_EQ(ReadPart("one", {7, 4}), "text");
  const auto old = store_->ReadRange("one", {0, 5}, {(*before)->generation});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::kConflict);
}

TEST_F(FileStoreTest, NoticesARemovedFile) {
  Write("one", "text");
  EXPECT_EQ(ReadPart("one", {0, 4}), "text");
  std::filesystem::remove(Path("one"));
  EXPECT_EQ(ReadPart("one", {0, 4}), "error: " + Path("one") + ": no such object");
}

TEST_F(FileStoreTest, KeepsFewFilesOpen) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  for (int i = 0; i < 300; ++i) {
    Write(std::to_string(i), std::to_string(i));
    ASSERT_EQ(ReadPart(std::to_string(i), {0, 1}), std::to_string(i).substr(0, 1));
  }
  EXPECT_EQ(open_files() - before, 128);
}

TEST_F(FileStoreTest, ReadsTheSameThroughUringThreadsAndOneByOne) {
  // Holes and data in a file of 64 MiB, not in the page cache where the disk allows.
  constexpr uint64_t kSize = uint64_t{64} << 20;
  std::mt19937_64 random(20240607);
  {
    const UniqueFd file(open(Path("sparse").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
    ASSERT_EQ(ftruncate(file.get(), kSize), 0);
    for (int i = 0; i < 200; ++i) {
      std::string block(20'000, '\0');
      for (char& c : block) c = static_cast<char>(random());
      const auto offset = static_cast<off_t>(random() % (kSize - block.size()));
      ASSERT_EQ(pwrite(file.get(), block.data(), block.size(), offset),
                static_cast<ssize_t>(block.size()));
    }
    ASSERT_EQ(fsync(file.get()), 0);
  }
  const auto drop_from_page_cache = [&] {
    const UniqueFd file(open(Path("sparse").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
  };
  std::vector<ByteRange> ranges;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t length = random() % 12'000;
    ranges.push_back({random() % (kSize - length), length});
  }

  const auto mapped = store_->Map("sparse");
  ASSERT_TRUE(mapped) << mapped.error().message;
  const auto plain = FileStore::Open(folder_.path(), {true, false});
  ASSERT_TRUE(plain);
  drop_from_page_cache();
  const auto through_uring = store_->ReadRanges("sparse", ranges);
  ASSERT_TRUE(through_uring) << through_uring.error().message;
  const auto again = store_->ReadRanges("sparse", ranges);
  ASSERT_TRUE(again) << again.error().message;
  drop_from_page_cache();
  const auto on_threads = (*plain)->ReadRanges("sparse", ranges);
  ASSERT_TRUE(on_threads) << on_threads.error().message;
  size_t not_zero = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const BytesView expected =
        (*mapped)->view().subspan(ranges[i].offset, ranges[i].length);
    ASSERT_TRUE(Equal(through_uring->parts[i], expected)) << ToString(ranges[i]);
    ASSERT_TRUE(Equal(again->parts[i], expected)) << ToString(ranges[i]);
    ASSERT_TRUE(Equal(on_threads->parts[i], expected)) << ToString(ranges[i]);
    for (const std::byte b : expected) not_zero += b != std::byte{0};
  }
  EXPECT_GT(not_zero, 100'000U);
}

TEST_F(FileStoreTest, ReadsBatchesOnManyThreadsAtOnce) {
  std::string text(4 << 20, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i / 4096);
  Write("one", text);
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<ByteRange> ranges;
      for (uint64_t i = 0; i < 200; ++i)
        ranges.push_back({((i * 37 + t) % 1000) * 4096, 4096});
      for (int round = 0; round < 5; ++round) {
        const auto read = store_->ReadRanges("one", ranges);
        ASSERT_TRUE(read) << read.error().message;
        for (size_t i = 0; i < ranges.size(); ++i) {
          ASSERT_EQ(AsText(read->parts[i]), text.substr(ranges[i].offset, 4096));
        }
      }
    });
  }
}

TEST_F(FileStoreTest, MapsAFile) {
  Write("one", "mapped text");
  Write("empty", "");
  auto mapped = store_->Map("one");
  ASSERT_TRUE(mapped) << mapped.error().message;
  std::filesystem::remove(Path("one"));
  ASSERT_TRUE(mapped->has_value());
  const Bytes part = (*mapped)->Slice(7, 4);
  *mapped = Bytes();
  EXPECT_EQ(AsText(part), "text");
  EXPECT_TRUE(store_->Map("empty")->value().empty());
  EXPECT_EQ(store_->Map("one").error().code, ErrorCode::kNotFound);
}

TEST_F(FileStoreTest, RefusesNamesThatNoObjectCanHave) {
  for (const std::string_view name :
       {std::string_view("a/"), std::string_view(".."), std::string_view("a/."),
        std::string_view(""), std::string_view("a\0b", 3),
        std::string_view(".dolium-lock"), std::string_view(".x.dolium-tmp-0123")}) {
    const auto writer = store_->Begin(name);
    ASSERT_FALSE(writer) << name;
    EXPECT_EQ(writer.error().code, ErrorCode::kInvalidArgument) << writer.error().message;
  }
  EXPECT_EQ(store_->Stat(std::string_view("a\0b", 3)).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(store_->ReadWhole(std::string(5000, 'x'), 1).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(FileStoreTest, WritesTheLongestNameThatAFileCanHave) {
  const std::string name(255, 'n');
  const auto put = store_->Put(name, AsBytes("x"), Precondition::Absent());
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(Read(name), "x");
}

TEST_F(FileStoreTest, ReplacesNoFolderByAFile) {
  std::filesystem::create_directory(Path("folder"));
  const auto put = store_->Put("folder", AsBytes("x"), Precondition::None());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kExists);
  EXPECT_EQ(put.error().message, Path("folder") + ": there is a folder of that name");
  EXPECT_TRUE(std::filesystem::is_directory(Path("folder")));
}

TEST_F(FileStoreTest, KeepsThePermissionsOfTheFileItReplaces) {
  Write("one", "old");
  ASSERT_EQ(chmod(Path("one").c_str(), 0640), 0);
  ASSERT_TRUE(store_->Put("one", AsBytes("new"), Precondition::None()));
  struct stat status{};
  ASSERT_EQ(stat(Path("one").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(FileStoreTest, StampsALaterTimeThanThatOfTheFileItReplaces) {
  Write("one", "old");
  const timespec future[] = {{4'000'000'000, 5}, {4'000'000'000, 5}};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("one").c_str(), future, 0), 0);
  ASSERT_TRUE(store_->Put("one", AsBytes("new"), Precondition::None()));
  struct stat status{};
  ASSERT_EQ(stat(Path("one").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, 4'000'000'000);
  EXPECT_EQ(status.st_mtim.tv_nsec, 6);
}

TEST_F(FileStoreTest, ListsWhatLinksPointToAndNothingOfItsOwn) {
  Write("file", "x");
  Write(".dolium-lock", "");
  Write(".file.dolium-tmp-00", "");
  Write(".hidden", "x");
  std::filesystem::create_directory(Path("folder"));
  std::filesystem::create_symlink("file", Path("to-file"));
  std::filesystem::create_symlink("folder", Path("to-folder"));
  std::filesystem::create_symlink("absent", Path("to-nothing"));
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::map<std::string, bool> names;
  ASSERT_TRUE(store_->List("", [&](std::string_view name, bool is_folder) {
    return names.emplace(name, is_folder).second;
  }));
  EXPECT_THAT(names,
              testing::ElementsAre(
                  testing::Pair(".hidden", false), testing::Pair("file", false),
                  testing::Pair("folder", true), testing::Pair("pipe", false),
                  testing::Pair("to-file", false), testing::Pair("to-folder", true),
                  testing::Pair("to-nothing", false)));
}

TEST_F(FileStoreTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const auto read = store_->ReadWhole("pipe", 10);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("neither a file nor a folder"));
}

TEST_F(FileStoreTest, DistinguishesALinkThatLeadsNowhereFromNothing) {
  std::filesystem::create_symlink("absent", Path("to-nothing"));
  std::filesystem::create_symlink("to-itself", Path("to-itself"));
  for (const char* name : {"to-nothing", "to-itself"}) {
    EXPECT_THAT(store_->Stat(name).error().message,
                HasSubstr("a link that leads nowhere"));
    EXPECT_EQ(store_->ReadWhole(name, 10).error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(*store_->Stat("absent"), std::nullopt);
}

}  // namespace
}  // namespace dolium
