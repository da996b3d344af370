#include "dolium/domain/cas/collect.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class CollectTest : public StoreTest {
 protected:
  CollectReport Collect(CollectOptions options = {.grace = seconds(0)}) {
    const auto report = CollectGarbage(*store_, options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : CollectReport();
  }
  void Remove(std::string_view reference) {
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference(reference)));
  }
  std::vector<Finding> Findings(bool deep = true) {
    std::vector<Finding> findings;
    const auto store = CasStore::Open(path("store"));
    if (!store) {
      Finding& finding = findings.emplace_back();
      finding.message = store.error().message;
      return findings;
    }
    const auto report = CheckStore(**store, {.deep = deep}, [&](const Finding& finding) {
      findings.push_back(finding);
    });
    EXPECT_TRUE(report) << report.error().message;
    return findings;
  }
  size_t Count(std::string_view folder) { return FilesBelow(path(folder)).size(); }
};

TEST_F(CollectTest, RemovesWhatNoVersionNeeds) {
  const std::string kept = RandomText(2'000'000, 1);
  PutText("kept", kept);
  PutText("gone", RandomText(2'000'000, 2));
  EXPECT_EQ(Collect().removed_xorbs, 0u);
  Remove("gone");
  EXPECT_EQ(Collect({.grace = std::chrono::hours(1)}).kept_young, 1u);
  EXPECT_EQ(Count("store/xorbs"), 2u);
  const CollectReport dry = Collect({.grace = seconds(0), .dry_run = true});
  EXPECT_EQ(dry.removed_xorbs, 1u);
  EXPECT_GT(dry.removed_bytes, 2'000'000u);
  EXPECT_EQ(Count("store/xorbs"), 2u);
  const CollectReport report = Collect();
  EXPECT_EQ(report.removed_xorbs, 1u);
  EXPECT_EQ(report.removed_shards, 1u);
  EXPECT_EQ(Count("store/xorbs"), 1u);
  EXPECT_EQ(Count("store/shards"), 1u);
  EXPECT_EQ(GetText(*FindVersion(store_->layout(), *ParseReference("kept"))), kept);
  EXPECT_THAT(Findings(), testing::IsEmpty());
  // And what is gone is stored again.
  EXPECT_EQ(PutText("gone", RandomText(2'000'000, 2)).totals.new_bytes, 2'000'000u);
}

// A check that moves a damaged xorb away after gc saw it: what else is in it, and what
// shards say of it, is needed.
TEST_F(CollectTest, KeepsWhatIsQuarantinedMeanwhile) {
  const std::string kept = RandomText(100'000, 1);
  const Version version = PutText("kept", kept);
  const std::string xorb = FilesBelow(path("store/xorbs")).begin()->first;
  const std::string quarantined = path("store/quarantine/" + std::string(BaseName(xorb)));
  WriteText(path("first/x"), RandomText(100, 2));
  WriteText(path("meanwhile/x"), RandomText(100, 3));
  PutOptions options;
  options.name = "first";
  ASSERT_TRUE(Put(*store_, {path("first")}, options));
  CollectOptions collect{.grace = seconds(0)};
  int calls = 0;
  collect.progress = [&](const Progress&) {
    if (++calls == 1) {
      // A folder that is marked only when all else was.
      options.name = "meanwhile";
      ASSERT_TRUE(Put(*Reopen(), {path("meanwhile")}, options));
    } else if (calls == 2) {
      std::filesystem::create_directory(path("store/quarantine"));
      std::filesystem::rename(path("store/xorbs/" + xorb), quarantined);
    }
  };
  const auto refused = CollectGarbage(*Reopen(), collect);
  ASSERT_EQ(calls, 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing is removed"));
  EXPECT_TRUE(std::filesystem::exists(quarantined));
  store_ = Reopen();
  EXPECT_EQ(GetText(version), kept);
}

TEST_F(CollectTest, RewritesShardsThatAreHalfNeeded) {
  const std::string base = RandomText(3'000'000, 3);
  PutText("a", base);
  const Version version = PutText("b", base + RandomText(1'000'000, 4));
  Remove("a");
  const CollectReport report = Collect();
  EXPECT_EQ(report.removed_xorbs, 0u);
  EXPECT_EQ(report.rewritten_shards, 1u);
  EXPECT_EQ(GetText(version), base + RandomText(1'000'000, 4));
  EXPECT_EQ(PutText("a", base).totals.new_bytes, 0u);
  EXPECT_THAT(Findings(), testing::IsEmpty());
}

TEST_F(CollectTest, JoinsManySmallShards) {
  for (uint64_t i = 0; i < 12; ++i) {
    PutText("file" + std::to_string(i), RandomText(1000, i));
  }
  EXPECT_EQ(Count("store/shards"), 12u);
  Collect();
  EXPECT_EQ(Count("store/shards"), 1u);
  EXPECT_THAT(Findings(), testing::IsEmpty());
  store_ = Reopen();
  for (uint64_t i = 0; i < 12; ++i) {
    const std::string name = "file" + std::to_string(i);
    EXPECT_EQ(PutText(name, RandomText(1000, i)).totals.new_bytes, 0u);
    EXPECT_EQ(GetText(*FindVersion(store_->layout(), *ParseReference(name))),
              RandomText(1000, i));
  }
}

TEST_F(CollectTest, KeepsWhatALivingReaderHasNoted) {
  const std::string text = RandomText(1'000'000, 5);
  const Version version = PutText("file", text);
  auto lease = *store_->TakeLease();
  const auto file = *store_->OpenFile(version.hash, *lease);
  Remove("file");
  EXPECT_EQ(Collect().removed_xorbs, 0u);
  ByteVector bytes(text.size());
  ASSERT_TRUE(file->Read(0, bytes));
  EXPECT_EQ(AsText(bytes), text);
  lease.reset();
  EXPECT_EQ(Collect().removed_xorbs, 1u);
}

TEST_F(CollectTest, ForgetsTheDead) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto lease = Lease::Take(*Layout::Local(path("store")));
    auto file = NewFile::Create(*Layout::Local(path("store")), (*lease)->id());
    _exit(lease && file && file->Append(AsBytes("rest")) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(Count("store/leases"), 1u);
  EXPECT_EQ(Count("store/tmp"), 1u);
  Collect();
  EXPECT_EQ(Count("store/leases"), 0u);
  EXPECT_EQ(Count("store/tmp"), 0u);
}

TEST_F(CollectTest, RemovesNothingWhileAVersionIsDamaged) {
  PutText("kept", RandomText(1'000'000, 6));
  PutText("gone", RandomText(1'000'000, 7));
  Remove("gone");
  const auto files = *ListVersionFiles(store_->layout(), "kept");
  WriteText(files[0].path, "{}");
  const auto report = CollectGarbage(*store_, {.grace = seconds(0)});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("nothing is removed"));
  EXPECT_EQ(Count("store/xorbs"), 2u);
}

// Writers, readers and a collector at once: every version that was reported can be read.
TEST_F(CollectTest, RunsBesideWritersAndReaders) {
  std::atomic<bool> stop = false;
  std::thread collector([&] {
    const auto own = Reopen();
    while (!stop) {
      const auto report = CollectGarbage(*own, {.grace = seconds(0)});
      EXPECT_TRUE(report) << report.error().message;
    }
  });
  std::vector<std::thread> writers;
  for (uint64_t number = 0; number < 2; ++number) {
    writers.emplace_back([&, number] {
      const auto own = Reopen();
      const std::string name = "w" + std::to_string(number);
      const std::string shared = RandomText(700'000, 100);
      for (uint64_t round = 0; round < 12; ++round) {
        // The same text in both, which each removes again and again.
        const std::string text = shared + RandomText(200'000, round);
        const std::string file = path(name + "-in");
        WriteText(file, text);
        PutOptions options;
        options.name = name;
        options.jobs = 2;
        const auto version = Put(*own, {file}, options);
        ASSERT_TRUE(version) << version.error().message;
        const auto got = Restore(*own, *version, path(name + "-out"), {.force = true});
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ(ReadText(path(name + "-out")), text);
        if (round % 2 == 1) {
          ASSERT_TRUE(RemoveVersions(own->layout(), *ParseReference(name)));
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  collector.join();
  EXPECT_THAT(Findings(), testing::IsEmpty());
}

TEST_F(CollectTest, FindsEveryBitFlip) {
  WriteText(path("in/a"), RandomText(300, 8));
  WriteText(path("in/b"), std::string(500, 'x'));
  PutOptions options;
  options.name = "set";
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  store_.reset();
  ASSERT_THAT(Findings(), testing::IsEmpty());
  size_t flips = 0;
  for (const char* const folder : {"xorbs", "shards", "names"}) {
    for (const auto& [name, bytes] : FilesBelow(path("store/") + folder)) {
      const std::string file = path("store/") + folder + "/" + name;
      for (size_t i = 0; i < bytes.size(); ++i) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i * 5 % 8)));
        WriteText(file, flipped);
        ASSERT_FALSE(Findings().empty()) << file << " byte " << i;
        ++flips;
      }
      WriteText(file, bytes);
    }
  }
  const std::string marker = ReadText(path("store/dolium-cas.json"));
  for (size_t i = 0; i < marker.size(); ++i) {
    std::string flipped = marker;
    flipped[i] = static_cast<char>(flipped[i] ^ 2);
    WriteText(path("store/dolium-cas.json"), flipped);
    ASSERT_FALSE(Findings().empty()) << "marker byte " << i;
  }
  WriteText(path("store/dolium-cas.json"), marker);
  EXPECT_GT(flips, 1500u);
  EXPECT_THAT(Findings(), testing::IsEmpty());
}

TEST_F(CollectTest, NamesEveryFileThatADamagedChunkIsIn) {
  const std::string shared = RandomText(300'000, 9);
  WriteText(path("in/hit"), shared);
  WriteText(path("in/also"), shared + "more");
  WriteText(path("in/other"), RandomText(300'000, 10));
  PutOptions options;
  options.name = "set";
  const auto version = Put(*store_, {path("in")}, options);
  ASSERT_TRUE(version);
  store_.reset();
  auto xorbs = FilesBelow(path("store/xorbs"));
  ASSERT_EQ(xorbs.size(), 1u);
  auto& [name, bytes] = *xorbs.begin();
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  WriteText(path("store/xorbs/") + name, bytes);
  std::vector<std::string> damaged;
  for (const Finding& finding : Findings()) {
    if (finding.kind == "damaged_file") damaged.push_back(finding.key);
  }
  EXPECT_THAT(damaged, testing::ElementsAre("also", "hit"));
  EXPECT_THAT(Findings(false), testing::IsEmpty());  // Contents are for --deep.

  store_ = Reopen();
  const auto got = Restore(*store_, *version, path("out"), {.jobs = 1});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kCorrupt);
  for (const char* const part : {"also", "file ", "term 0", "xorb ", "chunk 0"}) {
    EXPECT_THAT(got.error().message, HasSubstr(part));
  }
  EXPECT_FALSE(std::filesystem::exists(path("out/also")));
}

}  // namespace
}  // namespace dolium::cas
