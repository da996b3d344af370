#include "dolium/domain/cas/put.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/testing/export_shard.h"
#include "dolium/domain/cas/testing/store_fixture.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/merkle.h"

namespace dolium::cas {
namespace {

using testing::HasSubstr;

class PutTest : public StoreTest {};

xet::Hash XetHash(std::string_view text) {
  return xet::FileHash(*xet::ChunkAndHash(AsBytes(text)));
}

void ExpectWhole(const CasStore& store) {
  const auto report = CheckStore(store, {.deep = true}, [](const Finding& finding) {
    ADD_FAILURE() << finding.object << ": " << finding.key << ": " << finding.message;
  });
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->errors, 0u);
}

TEST_F(PutTest, GivesFilesTheirHashOfXetAndBackTheirBytes) {
  for (const size_t size : {0u, 1u, 8191u, 8192u, 65536u, 131072u, 131073u, 3'000'000u,
                            (4u << 20), (8u << 20) + 17}) {
    const std::string text = RandomText(size, size);
    const Version version = PutText("file", text);
    EXPECT_EQ(version.hash, XetHash(text)) << size;
    EXPECT_EQ(version.totals.bytes, size);
    EXPECT_EQ(GetText(version), text) << size;
  }
  ExpectWhole(*Reopen());
}

TEST_F(PutTest, TakesStreams) {
  const std::string text = RandomText(9'000'000, 5);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    ASSERT_TRUE(WriteAll(ends[1], AsBytes(text)));
    close(ends[1]);
  });
  PutOptions options;
  options.name = "stream";
  const auto version = PutStream(*store_, ends[0], options);
  writer.join();
  close(ends[0]);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(version->hash, XetHash(text));
  EXPECT_EQ(GetText(*version), text);
}

TEST_F(PutTest, StoresEachChunkOnce) {
  const std::string text = RandomText(6'000'000, 1);
  EXPECT_EQ(PutText("a", text).totals.new_bytes, text.size());
  EXPECT_EQ(PutText("a", text).totals.new_bytes, 0u);
  store_ = Reopen();
  EXPECT_EQ(PutText("b", text).totals.new_bytes, 0u);
  // Within one put, too: all but where the halves meet.
  const std::string twice = RandomText(2'000'000, 12);
  const Version version = PutText("c", twice + twice);
  EXPECT_LE(version.totals.new_bytes, twice.size() + 2 * xet::kMaxChunk);
  EXPECT_EQ(GetText(version), twice + twice);
}

TEST_F(PutTest, KeepsWhatInsertionsAndDeletionsLeaveInPlace) {
  const std::string text = RandomText(8'000'000, 2);
  PutText("file", text);
  std::string inserted = text;
  inserted.insert(3'000'000, "a few bytes");
  std::string deleted = inserted;
  deleted.erase(5'000'000, 1000);
  for (const std::string& changed : {inserted, deleted}) {
    const Version version = PutText("file", changed);
    EXPECT_GT(version.totals.new_bytes, 0u);
    EXPECT_LE(version.totals.new_bytes, 4 * xet::kMaxChunk);
    EXPECT_EQ(GetText(version), changed);
  }
}

TEST_F(PutTest, DoesNotShowThreadsOrMemory) {
  const std::string source = path("in");
  WriteText(source + "/large", RandomText(9'000'000, 3));
  for (int i = 0; i < 100; ++i) {
    WriteText(source + "/small/" + std::to_string(i),
              RandomText(static_cast<size_t>(i * i), static_cast<uint64_t>(i)));
  }
  std::map<std::string, std::string> first;
  int number = 0;
  for (const auto& [jobs, memory] :
       std::vector<std::pair<size_t, uint64_t>>{{1, 1}, {2, 10 << 20}, {5, 256 << 20}}) {
    const std::string place = path("store" + std::to_string(number++));
    ASSERT_TRUE(InitStore(place));
    const auto store = *CasStore::Open(place);
    PutOptions options;
    options.name = "set";
    options.jobs = jobs;
    options.memory = memory;
    const auto version = Put(*store, {source}, options);
    ASSERT_TRUE(version) << version.error().message;
    auto files = FilesBelow(place + "/xorbs");
    files.merge(FilesBelow(place + "/shards"));
    if (first.empty()) {
      first = std::move(files);
    } else {
      EXPECT_EQ(files, first) << jobs;
    }
  }
}

TEST_F(PutTest, RestoresAFolderExactly) {
  const std::string source = path("source");
  WriteText(source + "/a/b/file", "hello");
  WriteText(source + "/empty", "");
  WriteText(source + "/a/large", RandomText(5'000'000, 4));
  WriteText(source + "/\xff\xfe name", "not UTF-8");
  std::filesystem::create_directories(source + "/nothing/within");
  std::filesystem::create_symlink("../nowhere", source + "/a/link");
  std::filesystem::create_directory_symlink("a", source + "/to-a");
  ASSERT_EQ(chmod((source + "/a/b/file").c_str(), 0751), 0);
  ASSERT_EQ(chmod((source + "/nothing").c_str(), 0500), 0);
  const timespec times[2] = {{1, 2}, {1234567890, 123456789}};
  ASSERT_EQ(utimensat(AT_FDCWD, (source + "/a").c_str(), times, 0), 0);
  ASSERT_EQ(utimensat(AT_FDCWD, (source + "/a/b/file").c_str(), times, 0), 0);
  ASSERT_EQ(utimensat(AT_FDCWD, (source + "/a/link").c_str(), times, AT_SYMLINK_NOFOLLOW),
            0);
  PutOptions options;
  options.name = "folder/with: odd name";
  const auto version = Put(*store_, {source}, options);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(version->kind, VersionKind::kFolder);
  EXPECT_EQ(version->totals.files, 4u);

  const auto found = FindVersion(store_->layout(), *ParseReference(options.name));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, *version);
  const auto report = Restore(*Reopen(), *found, path("out"), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files, 4u);
  EXPECT_EQ(Snapshot(path("out")), Snapshot(source));
  // Not into what is there.
  const auto again = Restore(*store_, *found, path("out"), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
  ASSERT_TRUE(Restore(*store_, *found, path("out"), {.force = true}));
  EXPECT_EQ(Snapshot(path("out")), Snapshot(source));
  const auto same = DiffVersions(*store_, *version, *found, [](const auto&) {});
  EXPECT_TRUE(same->is_equal());
}

TEST_F(PutTest, ReadsAgainOnlyWhatChanged) {
  const std::string source = path("source");
  WriteText(source + "/same", RandomText(100'000, 20));
  WriteText(source + "/changed", RandomText(100'000, 21));
  PutOptions options;
  options.name = "set";
  // Asked for files that are read.
  size_t read = 0;
  options.forced_cuts = [&](const std::string&) {
    ++read;
    return std::vector<uint64_t>();
  };
  usleep(200'000);  // What changed just before a put is not remembered.
  ASSERT_TRUE(Put(*store_, {source}, options));
  EXPECT_EQ(std::exchange(read, 0), 2u);
  struct stat before{};
  ASSERT_EQ(stat((source + "/changed").c_str(), &before), 0);
  // The same size and time of modification: only the time of change shows it.
  WriteText(source + "/changed", RandomText(100'000, 22));
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, (source + "/changed").c_str(), times, 0), 0);
  usleep(200'000);
  const auto second = Put(*Reopen(), {source}, options);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->totals.bytes, 200'000u);
  EXPECT_EQ(second->totals.new_bytes - 100'000u, [&] {
    const auto lease = *store_->TakeLease();
    return (*store_->OpenFile(second->hash, *lease))->size();
  }());
  EXPECT_EQ(std::exchange(read, 0), 1u);
  ASSERT_TRUE(Restore(*store_, *second, path("out"), {}));
  EXPECT_EQ(Snapshot(path("out")), Snapshot(source));
  const auto third = Put(*Reopen(), {source}, options);
  EXPECT_EQ(std::exchange(read, 0), 0u);
  EXPECT_EQ(third->hash, second->hash);
  options.reread = true;
  ASSERT_TRUE(Put(*Reopen(), {source}, options));
  EXPECT_EQ(read, 2u);
  // What gc removed is read again, whatever was remembered.
  options.reread = false;
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set")));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = std::chrono::seconds(0)}));
  EXPECT_GT(Put(*Reopen(), {source}, options)->totals.new_bytes, 200'000u);
}

TEST_F(PutTest, KeepsSeveralPathsUnderTheirBaseNames) {
  WriteText(path("x/one"), "1");
  WriteText(path("y/two/file"), "2");
  PutOptions options;
  options.name = "both";
  const auto version = Put(*store_, {path("x/one"), path("y/two")}, options);
  ASSERT_TRUE(version) << version.error().message;
  ASSERT_TRUE(Restore(*store_, *version, path("out"), {}));
  EXPECT_EQ(ReadText(path("out/one")), "1");
  EXPECT_EQ(ReadText(path("out/two/file")), "2");
  const auto twice = Put(*store_, {path("x/one"), path("x/one")}, options);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(PutTest, FindsThroughAnIndexThatIsMissing) {
  const std::string text = RandomText(1'000'000, 6);
  const Version version = PutText("file", text);
  store_.reset();
  std::filesystem::remove_all(path("store/index"));
  store_ = Reopen();
  EXPECT_EQ(GetText(version), text);
  EXPECT_EQ(PutText("again", text).totals.new_bytes, 0u);
}

TEST_F(PutTest, MakesTheIndexAnew) {
  const std::string text = RandomText(1'000'000, 7);
  PutText("file", text);
  store_.reset();
  WriteText(path("store/index/data.mdb"), "damaged");
  {
    const auto lease = *Lease::Take(*Layout::Local(path("store")));
    const auto shards = RebuildIndex(*Layout::Local(path("store")), lease->id());
    ASSERT_TRUE(shards) << shards.error().message;
    EXPECT_EQ(*shards, 1u);
  }
  store_ = Reopen();
  EXPECT_TRUE(store_->catalog()->FindChunk((*xet::ChunkAndHash(AsBytes(text)))[0].hash));
  EXPECT_EQ(PutText("again", text).totals.new_bytes, 0u);
}

TEST_F(PutTest, CutsWhereItIsTold) {
  PutOptions options;
  options.forced_cuts = [](const std::string&) {
    return std::vector<uint64_t>{100, 1000, 500'000};
  };
  const std::string text = RandomText(1'000'000, 8);
  const Version version = PutText("file", text, options);
  EXPECT_TRUE(version.is_aligned);
  EXPECT_NE(version.hash, XetHash(text));
  EXPECT_EQ(GetText(version), text);
  // What lies between two boundaries is found again wherever it is.
  options.forced_cuts = [](const std::string&) { return std::vector<uint64_t>{900}; };
  EXPECT_EQ(PutText("part", text.substr(100, 900), options).totals.new_bytes, 0u);
}

TEST_F(PutTest, ReadsAnywhere) {
  const std::string text = RandomText(3'000'000, 9);
  const Version version = PutText("file", text);
  const auto lease = *store_->TakeLease();
  const auto file = store_->OpenFile(version.hash, *lease);
  ASSERT_TRUE(file) << file.error().message;
  std::mt19937_64 source(1);
  for (int i = 0; i < 200; ++i) {
    const size_t offset = source() % text.size();
    const size_t size = source() % (text.size() - offset + 1) % 200'000;
    ByteVector bytes(size);
    ASSERT_TRUE((*file)->Read(offset, bytes));
    EXPECT_EQ(AsText(bytes), std::string_view(text).substr(offset, size));
  }
}

TEST_F(PutTest, MovesFilesByShards) {
  const std::string text = RandomText(2'000'000, 10);
  PutText("file", text);
  const auto report = ExportShard(*store_, path("out.mdb"), path("xorbs"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files, 1u);
  ASSERT_TRUE(InitStore(path("other")));
  const auto other = *CasStore::Open(path("other"));
  ExchangeReport imported;
  const auto without = ImportShard(*other, path("out.mdb"), {.name = "in"}, imported);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::kNotFound);
  imported = {};
  const auto version = ImportShard(*other, path("out.mdb"),
                                   {.name = "in", .xorbs = path("xorbs")}, imported);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(imported.copied_xorbs, report->xorbs);
  ASSERT_TRUE(Restore(*other, *version, path("restored"), {}));
  EXPECT_EQ(ReadText(path("restored/" + ToString(XetHash(text)))), text);
  ExpectWhole(*other);
}

TEST_F(PutTest, SaysWhatItHolds) {
  const std::string text = RandomText(1'000'000, 11);
  PutText("file", text);
  PutText("file", text);
  const auto counts = CountStore(*store_);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->names, 1u);
  EXPECT_EQ(counts->versions, 2u);
  EXPECT_EQ(counts->bytes, 2'000'000u);
  EXPECT_EQ(counts->raw_bytes, 1'000'000u);
  EXPECT_EQ(counts->dedup_ratio(), 2);
  uint64_t chunks = 0;
  for (const uint64_t count : counts->histogram) chunks += count;
  EXPECT_EQ(chunks, counts->chunks);
  const auto version =
      CountVersion(*store_, *FindVersion(store_->layout(), *ParseReference("file@2")));
  EXPECT_EQ(version->unique_bytes, 1'000'000u);
}

TEST_F(PutTest, RefusesManifestsThatLeadOutOfTheFolder) {
  for (const char* const bad :
       {"../out", "/etc/passwd", "a/../../b", "a//b", "", "./a", "a/."}) {
    ManifestEntry entry;
    entry.path = bad;
    const auto parsed = ParseEntry(FormatEntry(entry));
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
  }
}

TEST_F(PutTest, WritesNothingThroughLinks) {
  // A link that a manifest brings, or that is there already.
  const xet::Hash hash = PutText("file", "text").hash;
  ManifestEntry link;
  link.path = "a";
  link.type = EntryType::kLink;
  link.target = path("outside");
  ManifestEntry below;
  below.path = "a/file";
  below.mode = 0644;
  below.size = 4;
  below.hash = hash;
  WriteText(path("manifest"), FormatEntry(link) + FormatEntry(below));
  std::filesystem::create_directories(path("outside"));
  const auto lease = *store_->TakeLease();
  Version version;
  version.name = "bad";
  version.kind = VersionKind::kFolder;
  PutOptions options;
  options.name = "bad";
  const auto put = PutManifest(*store_, *lease, path("manifest"), version, options);
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_FALSE(Restore(*store_, *put, path("out"), {}));
  std::filesystem::create_directories(path("out2"));
  std::filesystem::create_directory_symlink(path("outside"), path("out2/a"));
  EXPECT_FALSE(Restore(*store_, *put, path("out2"), {.force = true}));
  EXPECT_TRUE(std::filesystem::is_empty(path("outside")));
}

TEST(LayoutTest, EscapesNames) {
  for (const std::string name : {"plain", "a/b", ".hidden", "100%", "x y", "\xff"}) {
    EXPECT_EQ(UnescapeName(EscapeName(name)), name);
    EXPECT_TRUE(CheckName(name));
  }
  EXPECT_EQ(EscapeName("../x"), "%2E.%2Fx");
  EXPECT_FALSE(UnescapeName("a%2"));
  EXPECT_FALSE(UnescapeName("a%61"));  // Two names for one folder are none.
  EXPECT_FALSE(CheckName(""));
  EXPECT_FALSE(CheckName("name@3"));
  EXPECT_FALSE(CheckName(std::string(64, 'a')));
  const auto reference = ParseReference("data@home@12");
  EXPECT_EQ(reference->name, "data@home");
  EXPECT_EQ(reference->sequence, 12u);
}

TEST_F(PutTest, IsNotMadeOverOtherThings) {
  WriteText(path("folder/file"), "x");
  const auto made = InitStore(path("folder"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kExists);
  const auto opened = CasStore::Open(path("folder"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(opened.error().message, HasSubstr("no store is there"));
  EXPECT_EQ(opened.error().hint, Hint::kInitStore);
}

}  // namespace
}  // namespace dolium::cas
