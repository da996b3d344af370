// A store whose objects are not local files: everything works as in a folder, and what is
// local can be lost.
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/object_store_double.h"
#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/testing/export_shard.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kRoot = "bucket/cas";

struct RemoteCase {
  std::string name;
  std::function<std::shared_ptr<Store>(const std::string& folder)> make;
};

class RemoteStoreTest : public testing::TestWithParam<RemoteCase> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(path("objects"));
    objects_ = GetParam().make(path("objects"));
    const auto made = InitStore(LayoutIn("local"));
    ASSERT_TRUE(made) << made.error().message;
    store_ = Open("local");
  }

  std::string path(std::string_view name) const {
    return folder_.path() + "/" + std::string(name);
  }
  // As another machine has it, which shares the objects and nothing else.
  Layout LayoutIn(std::string_view local) const {
    return {objects_, std::string(kRoot), path(local)};
  }
  std::shared_ptr<CasStore> Open(std::string_view local) const {
    auto store = CasStore::Open(LayoutIn(local));
    EXPECT_TRUE(store) << store.error().message;
    return *store;
  }

  Version PutIn(const CasStore& store, const std::string& source,
                const std::string& name) {
    PutOptions options;
    options.name = name;
    const auto version = Put(store, {source}, options);
    EXPECT_TRUE(version) << version.error().message;
    return version ? *version : Version();
  }
  // A folder with two files, one of several chunks.
  std::string MakeTree(uint64_t seed) {
    const std::string tree = path(fmt::format("in-{}", seed));
    WriteText(tree + "/large", RandomText(700'000, seed));
    WriteText(tree + "/sub/small", "few bytes");
    return tree;
  }
  void ExpectTree(const CasStore& store, const std::string& name,
                  const std::string& tree) {
    const auto version = store.Find(*ParseReference(name));
    ASSERT_TRUE(version) << version.error().message;
    const std::string out = path("out");
    std::filesystem::remove_all(out);
    const auto got = Restore(store, *version, out, {});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(FilesBelow(out), FilesBelow(tree));
  }
  std::vector<std::string> Findings(const CasStore& store, CheckOptions options) {
    std::vector<std::string> kinds;
    const auto checked = CheckStore(
        store, options, [&](const Finding& finding) { kinds.push_back(finding.kind); });
    EXPECT_TRUE(checked) << checked.error().message;
    return kinds;
  }
  // Names of all objects below a folder of the store.
  std::vector<std::string> ObjectsBelow(const std::string& folder) const {
    std::vector<std::string> found;
    std::vector<std::string> folders;
    const std::string whole = JoinPath(kRoot, folder);
    const auto listed = objects_->List(whole, [&](std::string_view name, bool is_folder) {
      (is_folder ? folders : found).push_back(JoinPath(folder, name));
      return true;
    });
    EXPECT_TRUE(listed || listed.error().code == ErrorCode::kNotFound);
    for (const std::string& inner : folders) {
      const auto more = ObjectsBelow(inner);
      found.insert(found.end(), more.begin(), more.end());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  void Flip(const std::string& object, size_t at) {
    const std::string whole = JoinPath(kRoot, object);
    const auto read = objects_->ReadWhole(whole, uint64_t{1} << 30);
    ASSERT_TRUE(read) << read.error().message;
    ByteVector bytes(read->bytes.view().begin(), read->bytes.view().end());
    ASSERT_LT(at, bytes.size());
    bytes[at] ^= std::byte{1};
    ASSERT_TRUE(objects_->Put(whole, bytes, Precondition::None()));
  }
  void ForgetLocal(std::string_view local) {
    store_.reset();
    std::filesystem::remove_all(path(local));
  }

  TemporaryFolder folder_;
  std::shared_ptr<Store> objects_;
  std::shared_ptr<CasStore> store_;
};

TEST_P(RemoteStoreTest, PutsAndGetsAndChecks) {
  const std::string tree = MakeTree(1);
  const Version version = PutIn(*store_, tree, "set");
  EXPECT_EQ(version.sequence, 1u);
  ExpectTree(*store_, "set", tree);
  EXPECT_THAT(Findings(*store_, {.deep = true}), IsEmpty());
  EXPECT_THAT(ObjectsBelow("xorbs"), SizeIs(1));
  EXPECT_THAT(ObjectsBelow("shards"), SizeIs(1));
  EXPECT_THAT(ObjectsBelow("names"), SizeIs(1));
  // Nothing but caches and locks is local.
  EXPECT_FALSE(std::filesystem::exists(path("local/xorbs")));
  EXPECT_FALSE(std::filesystem::exists(path("local/shards")));
  EXPECT_FALSE(std::filesystem::exists(path("local/names")));
  EXPECT_TRUE(std::filesystem::is_empty(path("local/tmp")));
  const auto counts = CountStore(*store_);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->versions, 1u);
  EXPECT_EQ(counts->xorbs, 1u);
  EXPECT_GT(counts->stored_bytes, 700'000u);
}

TEST_P(RemoteStoreTest, LosesNothingWithTheLocalFolder) {
  const std::string tree = MakeTree(2);
  PutIn(*store_, tree, "set");
  ForgetLocal("local");
  const auto fresh = Open("local");
  ExpectTree(*fresh, "set", tree);
  // The index is rebuilt from the shards: nothing is stored twice.
  const Version again = PutIn(*fresh, tree, "set");
  EXPECT_EQ(again.sequence, 2u);
  EXPECT_EQ(again.totals.new_bytes, 0u);
  EXPECT_THAT(ObjectsBelow("xorbs"), SizeIs(1));
}

TEST_P(RemoteStoreTest, RebuildsTheIndexOnRequest) {
  PutIn(*store_, MakeTree(3), "a");
  PutIn(*store_, MakeTree(4), "b");
  ForgetLocal("local/index");
  const auto lease = Lease::Take(LayoutIn("local"));
  ASSERT_TRUE(lease) << lease.error().message;
  const auto shards = RebuildIndex(LayoutIn("local"), (*lease)->id());
  ASSERT_TRUE(shards) << shards.error().message;
  EXPECT_EQ(*shards, 2u);
  const auto catalog = Catalog::Open(LayoutIn("local"));
  ASSERT_TRUE(catalog && (*catalog)->index());
  EXPECT_THAT(*(*catalog)->index()->Shards(), SizeIs(2));
}

TEST_P(RemoteStoreTest, CollectsWhatNoVersionNeeds) {
  const std::string kept = MakeTree(5);
  PutIn(*store_, kept, "kept");
  PutIn(*store_, MakeTree(6), "gone");
  ASSERT_THAT(ObjectsBelow("xorbs"), SizeIs(2));
  const auto removed = RemoveVersions(store_->layout(), *ParseReference("gone"));
  ASSERT_TRUE(removed) << removed.error().message;
  // Young things stay.
  const auto first = CollectGarbage(*store_, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->removed_xorbs, 0u);
  EXPECT_EQ(first->kept_young, 1u);
  EXPECT_THAT(ObjectsBelow("names/gone"), ElementsAre("names/gone/00000001.last"));
  const auto second = CollectGarbage(*store_, {.grace = seconds(0)});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->removed_xorbs, 1u);
  EXPECT_GT(second->removed_bytes, 600'000u);
  EXPECT_THAT(ObjectsBelow("xorbs"), SizeIs(1));
  EXPECT_THAT(ObjectsBelow("names/gone"), IsEmpty());
  ExpectTree(*store_, "kept", kept);
  EXPECT_THAT(Findings(*store_, {.deep = true}), IsEmpty());
}

TEST_P(RemoteStoreTest, QuarantinesDamageAndIsHealedByAnotherPut) {
  const std::string tree = MakeTree(7);
  PutIn(*store_, tree, "set");
  const auto xorbs = ObjectsBelow("xorbs");
  ASSERT_THAT(xorbs, SizeIs(1));
  Flip(xorbs[0], 1000);
  const auto damaged = Open("local");
  EXPECT_THAT(Findings(*damaged, {.deep = true}), testing::Contains("chunk"));
  EXPECT_THAT(ObjectsBelow("quarantine"), IsEmpty());
  EXPECT_THAT(Findings(*Open("local"), {.deep = true, .quarantine = true}),
              testing::Contains("chunk"));
  EXPECT_THAT(ObjectsBelow("xorbs"), IsEmpty());
  EXPECT_THAT(ObjectsBelow("quarantine"), SizeIs(1));
  const auto healer = Open("local");
  PutOptions options;
  options.name = "set";
  options.reread = true;
  ASSERT_TRUE(Put(*healer, {tree}, options));
  EXPECT_THAT(ObjectsBelow("xorbs"), ElementsAre(xorbs[0]));
  ExpectTree(*Open("local"), "set@1", tree);
  const auto collected = CollectGarbage(*Open("local"), {.grace = seconds(0)});
  ASSERT_TRUE(collected) << collected.error().message;
  EXPECT_THAT(ObjectsBelow("quarantine"), IsEmpty());
  EXPECT_THAT(Findings(*Open("local"), {.deep = true}), IsEmpty());
}

TEST_P(RemoteStoreTest, NamesWhatDoesNotBelongThere) {
  for (const char* const object : {"xorbs/readme", "shards/readme", "names/readme"}) {
    ASSERT_TRUE(objects_->Put(JoinPath(kRoot, object), {}, Precondition::None()));
  }
  EXPECT_THAT(Findings(*store_, {}), ElementsAre("orphan", "orphan", "orphan"));
}

TEST_P(RemoteStoreTest, AShardThatIsDamagedKeepsGcFromRemovingAnything) {
  PutIn(*store_, MakeTree(8), "set");
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set")));
  const auto shards = ObjectsBelow("shards");
  ASSERT_THAT(shards, SizeIs(1));
  Flip(shards[0], 101);
  const auto refused = CollectGarbage(*Open("local"), {.grace = seconds(0)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing is removed"));
  EXPECT_THAT(refused.error().message,
              HasSubstr(objects_->Describe(JoinPath(kRoot, shards[0]))));
  EXPECT_THAT(ObjectsBelow("xorbs"), SizeIs(1));
}

// They share no lock: the objects alone decide who gets which number.
TEST_P(RemoteStoreTest, WritersOnSeveralMachinesGetDistinctNumbers) {
  constexpr size_t kWriters = 4;
  constexpr size_t kEach = 5;
  std::vector<std::vector<uint64_t>> numbers(kWriters);
  {
    std::vector<std::jthread> writers;
    for (size_t i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        const Layout layout = LayoutIn(fmt::format("machine-{}", i));
        ASSERT_TRUE(OpenLayout(layout));
        const auto lease = Lease::Take(layout);
        ASSERT_TRUE(lease) << lease.error().message;
        for (size_t n = 0; n < kEach; ++n) {
          Version version;
          version.name = "shared";
          version.mode = static_cast<uint32_t>(i);  // So that their bytes differ.
          const auto added = AddVersion(layout, **lease, version);
          ASSERT_TRUE(added) << added.error().message;
          numbers[i].push_back(version.sequence);
        }
      });
    }
  }
  std::set<uint64_t> all;
  for (const auto& own : numbers) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), kWriters * kEach);
  EXPECT_EQ(*all.begin(), 1u);
  const auto versions = ListVersions(store_->layout(), "shared");
  ASSERT_TRUE(versions) << versions.error().message;
  EXPECT_EQ(versions->size(), kWriters * kEach);
  // Claims are given back.
  EXPECT_THAT(ObjectsBelow("names/shared"), SizeIs(kWriters * kEach));
}

TEST_P(RemoteStoreTest, ANumberIsNotGivenAgainAfterItsVersionIsRemoved) {
  const std::string tree = MakeTree(9);
  PutIn(*store_, tree, "set");
  PutIn(*store_, tree, "set");
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set@2")));
  EXPECT_EQ(PutIn(*store_, tree, "set").sequence, 3u);
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set")));
  EXPECT_EQ(PutIn(*store_, tree, "set").sequence, 4u);
}

TEST_P(RemoteStoreTest, ImportsAndExportsShards) {
  const std::string tree = MakeTree(10);
  PutIn(*store_, tree, "set");
  const auto exported = ExportShard(*store_, path("out.mdb"), path("xorbs-out"));
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->copied_xorbs, 1u);
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("set")));
  ASSERT_TRUE(CollectGarbage(*store_, {.grace = seconds(0)}));
  ASSERT_THAT(ObjectsBelow("xorbs"), IsEmpty());
  ImportOptions in;
  in.name = "back";
  in.xorbs = path("xorbs-out");
  ExchangeReport report;
  const auto version = ImportShard(*Open("local"), path("out.mdb"), in, report);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(report.copied_xorbs, 1u);
  EXPECT_THAT(Findings(*Open("local"), {.deep = true}), IsEmpty());
}

TEST_P(RemoteStoreTest, AFileIsReadOnAfterItsXorbWasStoredAgain) {
  const std::string text = RandomText(300'000, 11);
  WriteText(path("file"), text);
  const Version version = PutIn(*store_, path("file"), "file");
  const auto lease = store_->TakeLease();
  ASSERT_TRUE(lease);
  const auto file = store_->OpenFile(version.hash, **lease);
  ASSERT_TRUE(file) << file.error().message;
  ByteVector bytes(text.size());
  ASSERT_TRUE((*file)->Read(0, bytes));
  const std::string xorb = JoinPath(kRoot, ObjectsBelow("xorbs").at(0));
  const auto read = objects_->ReadWhole(xorb, uint64_t{1} << 30);
  ASSERT_TRUE(read);
  ASSERT_TRUE(objects_->Put(xorb, read->bytes, Precondition::None()));
  const auto again = (*file)->Read(0, bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(AsText(bytes), text);
}

TEST_P(RemoteStoreTest, IsMadeOnlyWhereNothingIs) {
  const auto again = InitStore(LayoutIn("other"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
  const Layout nowhere(objects_, "nothing/here", path("nowhere"));
  const auto opened = CasStore::Open(nowhere);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(opened.error().message,
            objects_->Describe("nothing/here") + ": no store is there");
  EXPECT_FALSE(std::filesystem::exists(path("nowhere")));
}

INSTANTIATE_TEST_SUITE_P(
    Stores, RemoteStoreTest,
    testing::Values(
        RemoteCase{"Memory",
                   [](const std::string&) { return std::make_shared<MemoryStore>("m"); }},
        RemoteCase{
            "ObjectStore",
            [](const std::string&) { return std::make_shared<ObjectStoreDouble>(); }},
        RemoteCase{"Files",
                   [](const std::string& folder) { return *FileStore::Open(folder); }}),
    [](const auto& info) { return info.param.name; });

// What is refused on the way leaves no version, and the same put again makes it.
TEST(RemoteStoreFaultTest, AnUploadThatFailsLeavesNoVersion) {
  TemporaryFolder folder;
  const auto objects = std::make_shared<ObjectStoreDouble>();
  const Layout layout(objects, "cas", folder.path() + "/local");
  ASSERT_TRUE(InitStore(layout));
  WriteText(folder.path() + "/file", RandomText(200'000, 12));
  PutOptions options;
  options.name = "file";
  for (const std::string_view part : {"xorbs/", "shards/", "names/"}) {
    objects->set_fault_hook([&](std::string_view call, std::string_view key) {
      const bool writes = call == "Put" || call == "CreateUpload";
      return writes && key.find(part) != std::string_view::npos
                 ? ObjectService::Fault::kRefused
                 : ObjectService::Fault::kNone;
    });
    const auto store = CasStore::Open(layout);
    ASSERT_TRUE(store) << store.error().message;
    const auto failed = Put(**store, {folder.path() + "/file"}, options);
    ASSERT_FALSE(failed) << part;
    EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
    objects->set_fault_hook({});
    EXPECT_THAT(*ListNames(layout), IsEmpty());
    EXPECT_EQ(objects->pending_uploads(), 0u);
  }
  const auto store = CasStore::Open(layout);
  ASSERT_TRUE(store) << store.error().message;
  const auto version = Put(**store, {folder.path() + "/file"}, options);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(version->sequence, 1u);
}

}  // namespace
}  // namespace dolium::cas
