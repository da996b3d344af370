// What damage does to a store: it is reported, it is never made worse, and it can be
// healed.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/worker_pool.h"
#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/put_session.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/testing/export_shard.h"
#include "dolium/domain/cas/testing/store_fixture.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::cas {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DamageTest : public StoreTest {
 protected:
  using Files = std::map<std::string, std::string>;

  Files Shards() const { return FilesBelow(path("store/shards")); }
  Files Xorbs() const { return FilesBelow(path("store/xorbs")); }
  // The only shard or xorb.
  std::string OnlyPath(std::string_view folder) const {
    const Files files = FilesBelow(path(folder));
    EXPECT_EQ(files.size(), 1u);
    return path(folder) + "/" + files.begin()->first;
  }
  static void Flip(const std::string& file, size_t at) {
    std::string bytes = ReadText(file);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    // Under a new name first: what has the old file mapped keeps it.
    WriteText(file + ".new", bytes);
    std::filesystem::rename(file + ".new", file);
  }
  Version Latest(std::string_view name) const {
    return *FindVersion(*Layout::Local(path("store")), *ParseReference(name));
  }
  // The kinds of all findings, each with its key.
  std::vector<std::string> Findings(const CheckOptions& options,
                                    CheckReport* report = nullptr) const {
    std::vector<std::string> findings;
    const auto checked = CheckStore(*Reopen(), options, [&](const Finding& finding) {
      findings.push_back(finding.kind + ":" + finding.key);
    });
    EXPECT_TRUE(checked) << checked.error().message;
    if (report != nullptr) *report = *checked;
    return findings;
  }
  void ExpectRefusal(std::string_view what) {
    const Files before = FilesBelow(path("store/xorbs"));
    const auto report = CollectGarbage(*Reopen(), {.grace = seconds(0)});
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, HasSubstr("nothing is removed"));
    EXPECT_THAT(report.error().message, HasSubstr(std::string(what)));
    EXPECT_EQ(FilesBelow(path("store/xorbs")), before);
  }
  void Reindex() {
    store_.reset();
    const auto lease = *Lease::Take(*Layout::Local(path("store")));
    const auto shards = RebuildIndex(*Layout::Local(path("store")), lease->id());
    EXPECT_TRUE(shards) << shards.error().message;
  }
};

TEST_F(DamageTest, AFlippedShardKeepsGcFromRemovingWhatItLists) {
  const std::string text = RandomText(100'000, 1);
  PutText("file", text);
  store_.reset();
  const std::string shard = OnlyPath("store/shards");
  Flip(shard, 101);  // In the hash of the xorb that the first term names.
  ExpectRefusal(shard);
  EXPECT_TRUE(std::filesystem::exists(shard));
  Flip(shard, 101);
  store_ = Reopen();
  EXPECT_EQ(GetText(Latest("file")), text);
}

TEST_F(DamageTest, AMissingOrDamagedXorbKeepsGcFromRemovingAnything) {
  PutText("file", RandomText(100'000, 2));
  const std::string xorb = OnlyPath("store/xorbs");
  PutText("gone", RandomText(100'000, 3));
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("gone")));
  const std::string bytes = ReadText(xorb);
  WriteText(xorb, bytes.substr(0, bytes.size() - 100));
  ExpectRefusal("a version has it");
  std::filesystem::remove(xorb);
  ExpectRefusal("a version has it");
  WriteText(xorb, bytes);
  const auto report = CollectGarbage(*Reopen(), {.grace = seconds(0)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->removed_xorbs, 1u);
}

// A version that goes while gc runs excuses what it needed, and nothing else.
TEST_F(DamageTest, AVersionThatGoesExcusesOnlyItsOwnFiles) {
  WriteText(path("in/x"), RandomText(50'000, 4));
  PutOptions options;
  options.name = "a-goes";
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  const Files before = Shards();
  PutText("kept", RandomText(50'000, 5));
  std::string kept;
  for (const auto& [name, bytes] : Shards()) {
    if (!before.contains(name)) kept = name;
  }
  std::filesystem::rename(path("store/shards/") + kept, path(kept));
  bool is_first = true;
  CollectOptions collect{.grace = seconds(0)};
  collect.progress = [&](const Progress&) {
    if (!std::exchange(is_first, false)) return;
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("a-goes")));
  };
  const auto refused = CollectGarbage(*Reopen(), collect);
  ASSERT_FALSE(is_first);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing is removed"));
  EXPECT_EQ(Xorbs().size(), 2u);

  // With all of another version gone meanwhile, by another gc.
  std::filesystem::rename(path(kept), path("store/shards/") + kept);
  ASSERT_TRUE(Put(*Reopen(), {path("in")}, options));
  is_first = true;
  collect.progress = [&](const Progress&) {
    if (!std::exchange(is_first, false)) return;
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("a-goes")));
    ASSERT_TRUE(CollectGarbage(*Reopen(), {.grace = seconds(0)}));
  };
  const auto report = CollectGarbage(*Reopen(), collect);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(Xorbs().size(), 1u);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, OneShardOfAnotherVersionDoesNotKeepOthersFromUse) {
  const std::string text = RandomText(200'000, 6);
  PutText("good", text);
  const Files before = Shards();
  PutText("bad", RandomText(200'000, 7));
  store_.reset();
  std::string bad;
  for (const auto& [name, bytes] : Shards()) {
    if (!before.contains(name)) bad = path("store/shards/") + name;
  }
  Flip(bad, 32);  // The version in the header.
  Reindex();
  store_ = Reopen();
  EXPECT_EQ(PutText("good", text).totals.new_bytes, 0u);
  EXPECT_EQ(GetText(Latest("good")), text);
  ExpectRefusal(bad);
  Flip(bad, 32);
  Flip(bad, 80);  // The flags of a file, which are looked at when the rows are made.
  Reindex();
  store_ = Reopen();
  EXPECT_EQ(PutText("good", text).totals.new_bytes, 0u);
  ExpectRefusal(bad);
}

TEST_F(DamageTest, ExpiredShardsDoNotDeduplicate) {
  const std::string text = RandomText(200'000, 8);
  PutText("file", text);
  store_.reset();
  const std::string shard = OnlyPath("store/shards");
  const std::string bytes = ReadText(shard);
  ByteVector expired;
  const auto view = *xet::ShardView::Open(AsBytes(bytes));
  ASSERT_TRUE(xet::UniteShards(std::span(&view, 1), {.write = {.expiry = 1}}, [&] {
    return Result<xet::ByteSink>([&](BytesView segment) {
      Append(expired, segment);
      return Result<void>();
    });
  }));
  const xet::Hash name = xet::ChunkHash(expired);
  std::filesystem::remove(shard);
  WriteText(Layout::Local(path("store"))->shard(name), AsText(expired));
  const xet::Hash chunk = (*xet::ChunkAndHash(AsBytes(text)))[0].hash;
  Reindex();
  store_ = Reopen();
  EXPECT_FALSE(store_->catalog()->FindChunk(chunk));
  // One that expired after it was added.
  ASSERT_TRUE(
      store_->catalog()->index()->Add(name, (*store_->catalog()->Shard(name))->view));
  EXPECT_FALSE(store_->catalog()->FindChunk(chunk));
  EXPECT_EQ(GetText(Latest("file")), text);
  EXPECT_EQ(PutText("other", text + "more").totals.new_bytes, text.size() + 4);
  // gc does not make it valid again.
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("other")));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
  EXPECT_THAT(Shards(), testing::Contains(testing::Key(ToString(name) + ".mdb")));
}

TEST_F(DamageTest, DoesWithoutAnIndexThatIsTooShort) {
  const std::string text = RandomText(3'000'000, 9);
  PutText("file", text);
  const std::string index = path("store/index/data.mdb");
  const size_t whole = ReadText(index).size();
  store_.reset();
  for (const size_t size : {size_t{0}, size_t{100}, size_t{4096}, size_t{8192},
                            size_t{12288}, whole - 4096}) {
    ASSERT_EQ(truncate(index.c_str(), static_cast<off_t>(size)), 0);
    store_ = Reopen();
    EXPECT_EQ(GetText(Latest("file")), text) << size;
    EXPECT_TRUE(CountStore(*store_)) << size;
    // A put rebuilds it, and finds all chunks by it.
    EXPECT_EQ(PutText("again", text).totals.new_bytes, 0u) << size;
    store_ = Reopen();
    EXPECT_TRUE(store_->catalog()->index()) << size;
    EXPECT_EQ(PutText("more", text + "x").totals.new_chunks, 1u) << size;
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("more")));
    ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
    store_.reset();
  }
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, DoesWithoutPagesOfAnIndex) {
  const std::string text = RandomText(3'000'000, 10);
  PutText("file", text);
  const std::string index = path("store/index/data.mdb");
  store_.reset();
  const std::string whole = ReadText(index);
  for (size_t page = 0; page < whole.size(); page += 4096) {
    std::string bytes = whole;
    bytes.replace(page, 4096, std::string(4096, '\0'));
    WriteText(index, bytes);
    store_ = Reopen();
    EXPECT_EQ(GetText(Latest("file")), text) << page;
    PutText("again", text);
    EXPECT_EQ(GetText(Latest("again")), text) << page;
    store_.reset();
  }
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, ReadsAFileByAnyShardWhoseXorbsAreWhole) {
  const std::string text = RandomText(300'000, 11);
  WriteText(path("in/a"), text);
  WriteText(path("in/b"), RandomText(300'000, 12));
  PutOptions options;
  options.name = "both";
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  store_.reset();
  const std::string xorb = OnlyPath("store/xorbs");
  const std::string bytes = ReadText(xorb);
  WriteText(xorb, bytes.substr(0, bytes.size() - 100));
  store_ = Reopen();
  EXPECT_EQ(PutText("again", text).totals.new_bytes, text.size());
  EXPECT_EQ(GetText(Latest("again")), text);
  // Whichever of the two shards the index names.
  Reindex();
  store_ = Reopen();
  EXPECT_EQ(GetText(Latest("again")), text);
  EXPECT_EQ(PutText("third", text).totals.new_bytes, 0u);
  for (const auto& [name, shard_bytes] : Shards()) {
    store_.reset();
    std::filesystem::remove_all(path("store/index"));
    store_ = Reopen();
    const auto hash = *HashOfFileName(name, ".mdb");
    ASSERT_TRUE(
        store_->catalog()->index()->Add(hash, (*store_->catalog()->Shard(hash))->view));
    EXPECT_EQ(GetText(Latest("again")), text) << name;
  }
  // And gc keeps the one that is whole.
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("both")));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
  EXPECT_EQ(GetText(Latest("again")), text);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, VerifyKeepsWhatItIsChecking) {
  for (const char* const name : {"a", "b", "c"}) {
    WriteText(path("in/") + name, RandomText(200'000, static_cast<uint64_t>(name[0])));
  }
  PutOptions options;
  options.name = "set";
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  Flip(OnlyPath("store/xorbs"), 100);  // In a chunk of `a`.
  store_ = Reopen();
  std::vector<std::string> damaged;
  const auto report = CheckStore(*store_, {.deep = true}, [&](const Finding& finding) {
    if (finding.kind != "damaged_file" && finding.kind != "manifest") return;
    damaged.push_back(finding.key);
    if (damaged.size() > 1) return;
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set")));
    const auto collected = CollectGarbage(*Reopen(), {.grace = seconds(0)});
    ASSERT_TRUE(collected) << collected.error().message;
  });
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(damaged, ElementsAre("a"));
  EXPECT_EQ(report->files, 3u);
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
  EXPECT_THAT(Xorbs(), IsEmpty());
}

TEST_F(DamageTest, SessionShardsTellOfWrittenXorbs) {
  const auto lease = *store_->TakeLease();
  ASSERT_TRUE(store_->catalog()->Refresh(lease->id()));
  constexpr size_t kXorbs = 9;
  constexpr size_t kChunks = 8192;  // of a xorb
  MemoryBudget budget(uint64_t{64} << 20);
  WorkerPool pool(1);
  {
    PutSession session(store_->catalog(), store_->xorbs(), *lease, pool, budget);
    const auto block = std::make_shared<const ChunkBlock>(
        ChunkBlock{budget.Take(kXorbs * kChunks * sizeof(uint64_t))});
    std::vector<HashedChunk> chunks;
    for (uint64_t i = 0; i < kXorbs * kChunks; ++i) {
      std::byte* const at = block->buffer.data() + i * sizeof i;
      std::memcpy(at, &i, sizeof i);
      const BytesView raw(at, sizeof i);
      chunks.push_back({xet::ChunkHash(raw), raw});
    }
    // All xorbs but the last are closed before one of them is taken from the pool.
    ASSERT_TRUE(session.TakeChunks(chunks, block));
    ASSERT_TRUE(pool.Wait());
    ASSERT_TRUE(session.Poll());
    while (Shards().size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(Shards().size(), 2u);
  for (const auto& [name, bytes] : Shards()) {
    const auto view = *xet::ShardView::Open(AsBytes(bytes));
    size_t count = 0;
    xet::ShardVisitor visitor;
    visitor.xorb = [&](const xet::XorbBlock&) {
      ++count;
      return Result<void>();
    };
    ASSERT_TRUE(view.Scan(visitor));
    EXPECT_EQ(count, 4u) << name;
  }
}

TEST_F(DamageTest, GcRemovesShardsThatTellOfNothing) {
  PutText("file", RandomText(100'000, 13));
  const ByteVector empty = *xet::WriteShard({}, {}, {});
  WriteText(Layout::Local(path("store"))->shard(xet::ChunkHash(empty)), AsText(empty));
  const auto report = CollectGarbage(*store_, {.grace = seconds(0)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->removed_shards, 1u);
  EXPECT_EQ(Shards().size(), 1u);
}

TEST_F(DamageTest, IsHealedByPuttingAgain) {
  const std::string hit = RandomText(300'000, 14);
  const std::string other = RandomText(300'000, 15);
  WriteText(path("in/hit"), hit);
  WriteText(path("in/other"), other);
  PutOptions options;
  options.name = "set";
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  store_.reset();
  Flip(OnlyPath("store/xorbs"), 100);
  CheckReport report;
  EXPECT_THAT(Findings({.deep = true}, &report),
              ElementsAre("chunk:chunk 0", "damaged_file:hit"));
  EXPECT_EQ(report.quarantined, 0u);
  EXPECT_EQ(Findings({.deep = true, .quarantine = true}, &report).size(), 4u);
  EXPECT_EQ(report.quarantined, 1u);
  EXPECT_THAT(Xorbs(), IsEmpty());
  // Now every file of the xorb is to be put again; the chunks that are whole can be read.
  EXPECT_THAT(Findings({}),
              ElementsAre("damaged_file:hit", "damaged_file:other", "manifest:"));
  store_ = Reopen();
  ExpectRefusal("a version has it");
  const auto lease = *store_->TakeLease();
  const auto file =
      store_->OpenFile(xet::FileHash(*xet::ChunkAndHash(AsBytes(other))), *lease);
  ASSERT_TRUE(file) << file.error().message;
  ByteVector bytes(other.size());
  ASSERT_TRUE((*file)->Read(0, bytes));
  EXPECT_EQ(AsText(bytes), other);

  // In another order, so that other xorbs come out.
  for (const char* const name : {"other", "hit"}) {
    PutOptions one;
    one.name = name;
    const auto version = Put(*store_, {path("in/") + name}, one);
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(version->totals.new_bytes, 300'000u);
    EXPECT_EQ(GetText(*version), ReadText(path("in/") + name));
  }
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  const auto restored = Restore(*Reopen(), Latest("set@1"), path("out"), {});
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(ReadText(path("out/hit")), hit);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
  EXPECT_EQ(FilesBelow(path("store/quarantine")).size(), 1u);
  const auto young = CollectGarbage(*Reopen(), {.grace = std::chrono::hours(1)});
  ASSERT_TRUE(young) << young.error().message;
  EXPECT_EQ(FilesBelow(path("store/quarantine")).size(), 1u);
  ASSERT_TRUE(CollectGarbage(*Reopen(), {.grace = seconds(0)}));
  EXPECT_THAT(FilesBelow(path("store/quarantine")), IsEmpty());
}

TEST_F(DamageTest, ReadsAndEmptiesTheQuarantineOfOlderStores) {
  const std::string text = RandomText(300'000, 17);
  PutText("file", text);
  store_.reset();
  Flip(OnlyPath("store/xorbs"), 100);
  EXPECT_EQ(Findings({.deep = true, .quarantine = true}).size(), 2u);
  std::filesystem::rename(path("store/quarantine"), path("store/damaged"));
  std::vector<std::string> messages;
  store_ = Reopen();
  ASSERT_TRUE(CheckStore(
      *store_, {}, [&](const Finding& finding) { messages.push_back(finding.message); }));
  EXPECT_THAT(messages, ElementsAre(HasSubstr("was quarantined as damaged")));
  PutText("file", text);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
  ASSERT_TRUE(CollectGarbage(*Reopen(), {.grace = seconds(0)}));
  EXPECT_THAT(FilesBelow(path("store/damaged")), IsEmpty());
}

TEST_F(DamageTest, QuarantinesDamagedShards) {
  const std::string text = RandomText(300'000, 16);
  PutText("file", text);
  store_.reset();
  Flip(OnlyPath("store/shards"), 101);
  CheckReport report;
  EXPECT_THAT(Findings({.quarantine = true}, &report),
              ElementsAre("shard:", "damaged_file:"));
  EXPECT_EQ(report.quarantined, 1u);
  EXPECT_THAT(Shards(), IsEmpty());
  ExpectRefusal("a version has it");
  store_ = Reopen();
  PutText("file", text);
  ASSERT_TRUE(CollectGarbage(*Reopen(), {.grace = seconds(0)}));
  EXPECT_EQ(GetText(Latest("file@1")), text);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, AFileWhoseTermsAreDamagedIsStoredAgain) {
  const std::string text = RandomText(300'000, 17);
  PutText("file", text);
  store_.reset();
  Flip(OnlyPath("store/shards"), 101);
  store_ = Reopen();
  const Version version = PutText("file", text);
  EXPECT_EQ(GetText(version), text);
  store_ = Reopen();
  EXPECT_EQ(GetText(version), text);
}

TEST_F(DamageTest, ImportReplacesDamagedXorbs) {
  const std::string text = RandomText(300'000, 18);
  PutText("file", text);
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  Flip(OnlyPath("store/xorbs"), 100);
  ExchangeReport report;
  const auto without = ImportShard(*store_, path("out.mdb"), {.name = "in"}, report);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(without.error().message, HasSubstr("or damaged"));
  report = {};
  ASSERT_TRUE(ImportShard(*store_, path("out.mdb"),
                          {.name = "in", .xorbs = path("xorbs")}, report));
  EXPECT_EQ(report.copied_xorbs, 1u);
  EXPECT_EQ(GetText(Latest("file")), text);
  EXPECT_THAT(Findings({.deep = true}), IsEmpty());
}

TEST_F(DamageTest, ExportCopiesNoDamage) {
  PutText("file", RandomText(300'000, 19));
  const std::string xorb = OnlyPath("store/xorbs");
  const std::string copy =
      path("xorbs/") + std::filesystem::path(xorb).filename().string();
  Flip(xorb, 100);
  const auto damaged = ExportShard(*Reopen(), path("a.mdb"), path("xorbs"));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr(xorb));
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_FALSE(std::filesystem::exists(path("a.mdb")));
  Flip(xorb, 100);

  const auto store = Reopen();
  auto report = ExportShard(*store, path("a.mdb"), path("xorbs"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->copied_xorbs, 1u);
  report = ExportShard(*store, path("b.mdb"), path("xorbs"));
  EXPECT_EQ(report->copied_xorbs, 0u);
  // What lies there is looked at.
  Flip(copy, 100);
  report = ExportShard(*store, path("c.mdb"), path("xorbs"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kExists);
  EXPECT_THAT(report.error().message, HasSubstr(copy));
  report = ExportShard(*store, path("c.mdb"), path("xorbs"), /*force=*/true);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->copied_xorbs, 1u);
  EXPECT_EQ(ReadText(copy), ReadText(xorb));
}

// Whatever bit of a shard is wrong: gc removes nothing, an index can be made, and a put
// of the same files gives them back.
TEST_F(DamageTest, NoBitOfAShardMakesAnyVerbLoseFiles) {
  WriteText(path("in/a"), RandomText(300, 20));
  WriteText(path("in/b"), std::string(500, 'x'));
  PutOptions options;
  options.name = "set";
  options.jobs = 1;
  usleep(200'000);  // So that the second put trusts what was seen.
  ASSERT_TRUE(Put(*store_, {path("in")}, options));
  store_.reset();
  const auto expected = Snapshot(path("in"));
  std::filesystem::rename(path("store"), path("whole"));
  const std::string shard = FilesBelow(path("whole/shards")).begin()->first;
  const size_t size = ReadText(path("whole/shards/") + shard).size();
  const auto begin_anew = [&] {
    std::filesystem::remove_all(path("store"));
    std::filesystem::copy(path("whole"), path("store"),
                          std::filesystem::copy_options::recursive);
  };
  begin_anew();
  const std::string file = path("store/shards/") + shard;
  for (size_t i = 0; i < size; ++i) {
    SCOPED_TRACE(i);
    const std::string whole = ReadText(file);
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i * 5 % 8)));
    WriteText(file, bytes);
    ExpectRefusal("");
    EXPECT_EQ(ReadText(file), bytes);
    if (i % 9 != 0) {
      WriteText(file, whole);
      continue;
    }
    if (i % 2 == 0) Reindex();
    const auto store = Reopen();
    const auto version = Put(*store, {path("in")}, options);
    ASSERT_TRUE(version) << version.error().message;
    std::filesystem::remove_all(path("out"));
    const auto restored = Restore(*store, *version, path("out"), {.jobs = 1});
    ASSERT_TRUE(restored) << restored.error().message;
    ASSERT_EQ(Snapshot(path("out")), expected);
    begin_anew();
  }
}

}  // namespace
}  // namespace dolium::cas
