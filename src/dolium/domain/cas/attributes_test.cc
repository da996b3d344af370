// What versions keep besides contents, modes and times: put, and restored.
#include "dolium/domain/cas/attributes.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct stat StatusAt(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

class AttributesTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::filesystem::create_directory(path("source"));
  }

  Version PutSource(PutOptions options = {}) {
    options.name = "set";
    if (!options.skipped) {
      options.skipped = [&](const std::string& file, const Error& reason) {
        skipped_.emplace_back(file, reason.message);
      };
    }
    const auto version = Put(*store_, {path("source")}, options);
    EXPECT_TRUE(version) << version.error().message;
    return version ? *version : Version();
  }

  GetReport RestoreTo(const Version& version, const std::string& out,
                      GetOptions options = {}) {
    options.lost = [&](Lost what, const std::string& file, const Error& reason) {
      lost_.emplace_back(what, file + ": " + reason.message);
    };
    const auto report = Restore(*store_, version, path(out), options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : GetReport();
  }

  std::map<std::string, ManifestEntry> Entries(const Version& version) {
    std::map<std::string, ManifestEntry> entries;
    const auto lease = store_->TakeLease().value();
    EXPECT_TRUE(store_->VisitManifest(version, *lease, [&](ManifestEntry entry) {
      entries[entry.path] = entry;
      return Result<void>();
    }));
    return entries;
  }

  // Whether the file system of the test keeps extended attributes.
  bool SetUserAttribute(const std::string& file, const char* name,
                        std::string_view value) {
    return setxattr(path(file).c_str(), name, value.data(), value.size(), 0) == 0;
  }
  std::string UserAttribute(const std::string& file, const char* name) {
    char value[100];
    const ssize_t size = getxattr(path(file).c_str(), name, value, sizeof value);
    return size < 0 ? "none" : std::string(value, static_cast<size_t>(size));
  }

  std::vector<std::pair<std::string, std::string>> skipped_;
  std::vector<std::pair<Lost, std::string>> lost_;
};

TEST_F(AttributesTest, FilesWithSeveralNamesGetThemAgain) {
  WriteText(path("source/a"), "text");
  std::filesystem::create_directory(path("source/sub"));
  std::filesystem::create_hard_link(path("source/a"), path("source/sub/b"));
  std::filesystem::create_hard_link(path("source/a"), path("source/sub/c"));
  WriteText(path("source/other"), "text");
  const Version version = PutSource();
  const auto entries = Entries(version);
  EXPECT_EQ(entries.at("a").inode, 1u);
  EXPECT_EQ(entries.at("sub/b").inode, 1u);
  EXPECT_EQ(entries.at("other").inode, 0u);
  const GetReport report = RestoreTo(version, "out");
  EXPECT_EQ(report.files, 4u);
  EXPECT_EQ(report.bytes, 16u);
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
  EXPECT_EQ(StatusAt(path("out/a")).st_nlink, 3u);
  EXPECT_EQ(StatusAt(path("out/a")).st_ino, StatusAt(path("out/sub/c")).st_ino);
  EXPECT_NE(StatusAt(path("out/a")).st_ino, StatusAt(path("out/other")).st_ino);
  // Of a part of the folder, those that are in it.
  RestoreTo(version, "part", {.path = "sub"});
  EXPECT_EQ(StatusAt(path("part/b")).st_nlink, 2u);
  EXPECT_EQ(ReadText(path("part/c")), "text");
  // Again, over what is there.
  RestoreTo(version, "out", {.force = true});
  EXPECT_EQ(StatusAt(path("out/a")).st_nlink, 3u);
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
}

TEST_F(AttributesTest, HolesAreNotFilled) {
  constexpr off_t kSize = 64 << 20;
  const std::string text = RandomText(5000, 1);
  {
    WriteText(path("source/file"), "");
    ASSERT_EQ(truncate(path("source/file").c_str(), kSize), 0);
    const UniqueFd file(open(path("source/file").c_str(), O_WRONLY));
    // At a place where no block begins, across the parts that are read, and at the end.
    for (const off_t at : {off_t{10}, off_t{(4 << 20) - 100}, kSize - 5000}) {
      ASSERT_EQ(pwrite(file.get(), text.data(), text.size(), at), 5000);
    }
  }
  const int64_t blocks = StatusAt(path("source/file")).st_blocks;
  if (blocks * 512 >= kSize) GTEST_SKIP() << "the file system keeps no holes";
  const Version folder = PutSource();
  EXPECT_TRUE(Entries(folder).at("file").is_sparse);
  PutOptions options;
  options.name = "file";
  const Version alone = Put(*store_, {path("source/file")}, options).value();
  EXPECT_TRUE(alone.is_sparse);
  RestoreTo(folder, "out");
  RestoreTo(alone, "alone");
  for (const char* file : {"out/file", "alone"}) {
    const struct stat status = StatusAt(path(file));
    EXPECT_EQ(status.st_size, kSize);
    EXPECT_LE(status.st_blocks, blocks + 64) << file;
    EXPECT_EQ(ReadText(path(file)), ReadText(path("source/file"))) << file;
  }
}

TEST_F(AttributesTest, ExtendedAttributesAreKept) {
  WriteText(path("source/file"), "text");
  std::filesystem::create_directory(path("source/sub"));
  if (!SetUserAttribute("source/file", "user.comment", std::string_view("a\0b", 3))) {
    GTEST_SKIP() << "the file system has no extended attributes";
  }
  ASSERT_TRUE(SetUserAttribute("source/file", "user.\xff", "bytes"));
  ASSERT_TRUE(SetUserAttribute("source/file", "user.empty", ""));
  ASSERT_TRUE(SetUserAttribute("source/sub", "user.folder", "yes"));
  // One may write none to it later.
  std::filesystem::permissions(path("source/file"), std::filesystem::perms::owner_read);
  const Version version = PutSource();
  EXPECT_THAT(skipped_, IsEmpty());
  RestoreTo(version, "out");
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_EQ(UserAttribute("out/file", "user.comment"), std::string("a\0b", 3));
  EXPECT_EQ(UserAttribute("out/file", "user.\xff"), "bytes");
  EXPECT_EQ(UserAttribute("out/file", "user.empty"), "");
  EXPECT_EQ(UserAttribute("out/sub", "user.folder"), "yes");
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
  // A single file has them in its version.
  PutOptions options;
  options.name = "file";
  const Version alone = Put(*store_, {path("source/file")}, options).value();
  const auto again = FindVersion(store_->layout(), *ParseReference("file")).value();
  EXPECT_EQ(again, alone);
  EXPECT_EQ(again.attributes.extended.size(), 3u);
  RestoreTo(again, "alone");
  EXPECT_EQ(UserAttribute("alone", "user.\xff"), "bytes");
}

TEST_F(AttributesTest, PipesAreKeptAndSocketsReported) {
  ASSERT_EQ(mkfifo(path("source/pipe").c_str(), 0640), 0);
  WriteText(path("source/file"), "text");
  {
    const UniqueFd socket_fd(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path("source/socket");
    if (name.size() < sizeof address.sun_path) {
      std::copy(name.begin(), name.end(), address.sun_path);
      ASSERT_EQ(
          bind(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
          0);
    }
  }
  const Version version = PutSource();
  EXPECT_THAT(skipped_,
              ElementsAre(Pair(path("source/socket"), "is a socket, which is not kept")));
  EXPECT_TRUE(version.has_special);
  EXPECT_THAT(FormatVersion(version), HasSubstr("\"kind\":\"folder/2\""));
  EXPECT_EQ(ParseVersion(FormatVersion(version)).value(), version);
  RestoreTo(version, "out");
  EXPECT_TRUE(S_ISFIFO(StatusAt(path("out/pipe")).st_mode));
  EXPECT_EQ(StatusAt(path("out/pipe")).st_mode & 07777, 0640u);
  EXPECT_EQ(StatusAt(path("out/pipe")).st_mtim.tv_nsec,
            StatusAt(path("source/pipe")).st_mtim.tv_nsec);
  // One that is there stays; a file in its place goes.
  RestoreTo(version, "out", {.force = true});
  std::filesystem::remove(path("out/pipe"));
  WriteText(path("out/pipe"), "in the way");
  RestoreTo(version, "out", {.force = true});
  EXPECT_TRUE(S_ISFIFO(StatusAt(path("out/pipe")).st_mode));
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(AttributesTest, DevicesAndOwnersAreKeptByRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "for root alone";
  WriteText(path("source/file"), "text");
  std::filesystem::create_symlink("file", path("source/link"));
  std::filesystem::create_directory(path("source/sub"));
  // A device whose numbers do nothing.
  if (mknod(path("source/device").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "may make no devices";
  }
  ASSERT_EQ(chown(path("source/file").c_str(), 12345, 23456), 0);
  ASSERT_EQ(chmod(path("source/file").c_str(), 04755), 0);
  ASSERT_EQ(lchown(path("source/link").c_str(), 1, 2), 0);
  ASSERT_EQ(chown(path("source/sub").c_str(), 3, 4), 0);
  const Version version = PutSource();
  RestoreTo(version, "out");
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_EQ(OwnerOf(StatusAt(path("out/file"))), (Owner{12345, 23456}));
  EXPECT_EQ(StatusAt(path("out/file")).st_mode & 07777, 04755u);
  EXPECT_EQ(OwnerOf(StatusAt(path("out/link"))), (Owner{1, 2}));
  EXPECT_EQ(OwnerOf(StatusAt(path("out/sub"))), (Owner{3, 4}));
  EXPECT_TRUE(S_ISCHR(StatusAt(path("out/device")).st_mode));
  EXPECT_EQ(StatusAt(path("out/device")).st_rdev, makedev(1, 3));
  EXPECT_EQ(Snapshot(path("out")), Snapshot(path("source")));
  RestoreTo(version, "mine", {.owners = false});
  EXPECT_EQ(StatusAt(path("mine/file")).st_uid, geteuid());
  // A device is never replaced, not even by another one.
  std::filesystem::remove(path("out/device"));
  ASSERT_EQ(mknod(path("out/device").c_str(), S_IFCHR | 0600, makedev(1, 5)), 0);
  const auto refused = Restore(*store_, version, path("out"), {.force = true});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("neither a file nor a link"));
  EXPECT_EQ(StatusAt(path("out/device")).st_rdev, makedev(1, 5));
}

// Whoever may not set an owner or make a device gets a report, and the rest.
TEST_F(AttributesTest, WhatMayNotBeRestoredIsReported) {
  if (geteuid() != 0) GTEST_SKIP() << "root alone can make such a version";
  WriteText(path("source/file"), "text");
  if (mknod(path("source/device").c_str(), S_IFBLK | 0600, makedev(7, 200)) != 0) {
    GTEST_SKIP() << "may make no devices";
  }
  ASSERT_EQ(chmod(path("source/file").c_str(), 06755), 0);
  const Version version = PutSource();
  // By another user, in a process of its own.
  std::filesystem::create_directory(path("theirs"));
  ASSERT_EQ(chown(path("theirs").c_str(), 65534, 65534), 0);
  for (std::filesystem::path above = path("theirs"); above != "/tmp" && above != "/";
       above = above.parent_path()) {
    std::filesystem::permissions(
        above, std::filesystem::perms::others_exec | std::filesystem::perms::others_read,
        std::filesystem::perm_options::add);
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(77);
    int owners = 0;
    int entries = 0;
    GetOptions options;
    options.jobs = 1;
    options.lost = [&](Lost what, const std::string&, const Error&) {
      owners += what == Lost::kOwner ? 1 : 0;
      entries += what == Lost::kEntry ? 1 : 0;
    };
    const auto restored = Restore(*store_, version, path("theirs/out"), options);
    if (!restored) _exit(2);
    if (ReadText(path("theirs/out/file")) != "text") _exit(3);
    if ((StatusAt(path("theirs/out/file")).st_mode & 07777) != 0755) _exit(4);
    if (entries != 1 || owners != 2) _exit(5);  // The file, and the folder itself.
    // Nobody listens: the first is an error.
    if (Restore(*store_, version, path("theirs/other"), {})) _exit(6);
    // Owners were not asked for.
    owners = 0;
    options.owners = false;
    if (!Restore(*store_, version, path("theirs/third"), options)) _exit(7);
    _exit(owners == 0 ? 0 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(AttributesTest, WhatIsExcludedIsLeftOutWithoutAWord) {
  for (const char* file : {"keep", "a.o", "sub/b.o", "sub/c", "build/x", "sub/build/y"}) {
    WriteText(path(std::string("source/") + file), file);
  }
  const Version version = PutSource({.exclude = {"*.o", "/build"}});
  EXPECT_THAT(skipped_, IsEmpty());
  RestoreTo(version, "out");
  std::vector<std::string> names;
  for (const auto& [name, text] : FilesBelow(path("out"))) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("keep", "sub/c", "sub/build/y"));
  PutOptions wrong;
  wrong.name = "set";
  wrong.exclude = {"!a"};
  EXPECT_EQ(Put(*store_, {path("source")}, wrong).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(AttributesTest, AnotherFileSystemIsNotEntered) {
  std::filesystem::create_directory(path("source/sub"));
  WriteText(path("source/sub/file"), "text");
  const Version same = PutSource({.one_file_system = true});
  EXPECT_TRUE(Entries(same).contains("sub/file"));
  // /proc is another than the one it is mounted on.
  WalkOptions walking;
  walking.one_file_system = true;
  walking.exclude = *ExcludePatterns::Parse(std::vector<std::string>{"/[a-oq-z]*"});
  TreeWalk walk = TreeWalk::Begin({"/"}, path("store"), walking).value();
  std::vector<std::string> found;
  while (true) {
    const auto next = walk.Next();
    ASSERT_TRUE(next) << next.error().message;
    if (!*next) break;
    if ((*next)->entry.path.starts_with("proc")) found.push_back((*next)->entry.path);
  }
  EXPECT_THAT(found, ElementsAre("proc"));
}

TEST_F(AttributesTest, TagsAndHostAreKept) {
  PutOptions options;
  options.tags = {"b", "a", "b"};
  options.host = "box";
  WriteText(path("source/file"), "text");
  PutSource(options);
  const auto version = FindVersion(store_->layout(), *ParseReference("set")).value();
  EXPECT_THAT(version.tags, ElementsAre("a", "b"));
  EXPECT_EQ(version.host, "box");
  EXPECT_EQ(PutSource().host, HostName());
  for (const char* tag : {"", "a,b", "a\nb"}) {
    options.tags = {tag};
    options.name = "set";
    EXPECT_EQ(Put(*store_, {path("source")}, options).error().code,
              ErrorCode::kInvalidArgument);
  }
}

TEST(ParseVersion, ReadsRecordsOfOlderStores) {
  const auto version = ParseVersion(
      R"({"name":"n","sequence":1,"created":5,"kind":"folder","hash":")" +
      std::string(64, '1') +
      R"(","aligned":false,"files":1,"bytes":2,"chunks":3,"new_chunks":4,"new_bytes":5,)"
      R"("stored_bytes":6})");
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(version->host, "");
  EXPECT_THAT(version->tags, IsEmpty());
  EXPECT_FALSE(version->has_special);
}

TEST(ParseVersion, RefusesRecordsOfLaterOnes) {
  Version version;
  version.kind = VersionKind::kFolder;
  std::string text = FormatVersion(version);
  text.replace(text.find("\"folder\""), 8, "\"folder/3\"");
  const auto parsed = ParseVersion(text);
  EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(parsed.error().message, "a version of kind \"folder/3\"");
}

TEST(ParseEntry, ReadsLinesOfOlderStoresAndPassesOverUnknownMembers) {
  const auto entry =
      ParseEntry(R"({"path":"a","type":"folder","mode":493,"modified":7,"unknown":[1]})");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_FALSE(entry->attributes.owner);
  for (const char* text :
       {R"({"path":"a","type":"folder","mode":1,"modified":7,"uid":-1,"gid":0})",
        R"({"path":"a","type":"folder","mode":1,"modified":7,"uid":1})",
        R"({"path":"a","type":"folder","mode":1,"modified":7,"xattrs":{"user.a":"xx"}})",
        R"({"path":"a","type":"folder","mode":1,"modified":7,"xattrs":{"%00":"00"}})",
        R"({"path":"a","type":"char","mode":1,"modified":7,"device":[1]})",
        R"({"path":"a","type":"door","mode":1,"modified":7})"}) {
    EXPECT_EQ(ParseEntry(text).error().code, ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace dolium::cas
