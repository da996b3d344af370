#include "dolium/formats/neuroglancer/sharded_container.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/base/endian.h"
#include "dolium/container/read_entry.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/testing/shards.h"

namespace dolium::neuroglancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A manifest whose fragments take `bytes` bytes in all.
std::string Manifest(uint32_t bytes) {
  std::string manifest(28 + 20 + 16, '\0');
  manifest[24] = 1;  // num_lods
  manifest[44] = 1;  // num_fragments_per_lod
  StoreLE(reinterpret_cast<std::byte*>(manifest.data()) + 60, bytes);
  return manifest;
}

// A set in memory with an info of its own.
class ContainerTest : public testing::Test {
 protected:
  void PutInfo(const ShardingSpec& spec,
               std::string_view type = "neuroglancer_skeletons") {
    const nlohmann::json info{{"@type", type}, {"sharding", ToJson(spec)}};
    folder_.Put("info", AsBytes(info.dump()));
  }
  void Write(const ShardingSpec& spec, const Chunks& chunks) {
    PutInfo(spec);
    WriteChunks(folder_.location, spec, chunks);
  }
  std::unique_ptr<Container> OpenSet() {
    auto opened = Open(folder_.location, {});
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  std::vector<std::string> Kinds() {
    std::vector<std::string> kinds;
    for (const Finding& finding : CheckAll(*OpenSet())) {
      kinds.push_back((finding.severity == Severity::kError ? "error " : "warning ") +
                      finding.kind);
    }
    return kinds;
  }
  std::string Value(const Container& container, std::string_view key) {
    const auto entry = container.Find(key);
    EXPECT_TRUE(entry) << entry.error().message;
    if (!*entry) return "(absent)";
    const auto data = ReadEntry(container.store(), **entry);
    EXPECT_TRUE(data) << data.error().message;
    return std::string(AsText(data->value));
  }
  void Poke(std::string_view name, size_t offset, uint64_t word) {
    std::string bytes = folder_.Get(name);
    StoreLE(reinterpret_cast<std::byte*>(bytes.data()) + offset, word);
    folder_.Put(name, AsBytes(bytes));
  }

  TestFolder folder_;
};

TEST_F(ContainerTest, HasNothingToSayOfAGoodSet) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    folder_ = {};
    Write(RandomSpec(seed), RandomChunks(seed, 80));
    EXPECT_THAT(Kinds(), IsEmpty()) << seed;
  }
}

TEST_F(ContainerTest, FindsAnOverlap) {
  Write({}, {{1, "aaaa"}, {2, "bbbb"}});
  Poke("0.shard", 16 + 8 + 24, ~uint64_t{0});  // chunk 2 begins one byte early
  EXPECT_THAT(Kinds(), ElementsAre("error overlap", "warning gap"));
}

TEST_F(ContainerTest, FindsAChunkThatRunsIntoTheIndex) {
  Write({}, {{1, "aaaa"}});
  Poke("0.shard", 16 + 4 + 16, 5);
  const auto findings = CheckAll(*OpenSet());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(
      findings[0].message,
      "the index of minishard 0, bytes [20, 44) overlap the bytes [16, 21) of chunk 1");
}

TEST_F(ContainerTest, FindsAChunkBeyondTheEnd) {
  Write({}, {{7, "aaaa"}});
  Poke("0.shard", 16 + 4 + 16, uint64_t{1} << 63);
  const auto findings = CheckAll(*OpenSet());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "bounds");
  EXPECT_EQ(findings[0].key, "7");
  EXPECT_EQ(findings[0].object, "memory://test/set/0.shard");
}

TEST_F(ContainerTest, FindsAnIdThatHashesElsewhere) {
  Write({.minishard_bits = 1}, {{2, "aaaa"}});
  Poke("0.shard", 32 + 4, 3);
  const auto findings = CheckAll(*OpenSet());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "misplaced");
  EXPECT_THAT(findings[0].message, HasSubstr("belongs into shard 0, minishard 1"));
}

TEST_F(ContainerTest, FindsDuplicatesAndDisorder) {
  Write({}, {{1, "a"}, {2, "b"}, {3, "c"}});
  Poke("0.shard", 16 + 3 + 8, 0);  // 1, 1, 2
  EXPECT_THAT(Kinds(), ElementsAre("error duplicate"));
  Poke("0.shard", 16 + 3 + 8, ~uint64_t{0});  // 1, 0, 1
  EXPECT_THAT(Kinds(), ElementsAre("warning order", "error duplicate"));
}

TEST_F(ContainerTest, WarnsOfTrailingBytes) {
  Write({}, {{1, "a"}});
  folder_.Put("0.shard", AsBytes(folder_.Get("0.shard") + "xyz"));
  EXPECT_THAT(Kinds(), ElementsAre("warning trailing"));
}

TEST_F(ContainerTest, FindsANameThatReadersNeverLookFor) {
  Write({.shard_bits = 5}, {{1, "a"}});
  folder_.Put("1.shard", AsBytes(folder_.Get("01.shard")));
  EXPECT_THAT(Kinds(), ElementsAre("error name"));
}

TEST_F(ContainerTest, ScansPastADamagedMinishard) {
  const ShardingSpec spec{.minishard_bits = 2,
                          .minishard_index_encoding = Encoding::kGzip};
  Write(spec, {{0, "zero"}, {1, "one"}, {2, "two"}, {3, "three"}});
  Poke("0.shard", 16, uint64_t{1} << 40);  // the index of minishard 1 begins past its end
  std::vector<std::string> keys;
  std::vector<std::string> damage;
  const auto scanned = Scan(*OpenSet(), {.entry =
                                             [&](const Entry& entry) {
                                               keys.push_back(entry.key);
                                               return true;
                                             },
                                         .damage =
                                             [&](const Finding& finding) {
                                               damage.push_back(finding.message);
                                               return true;
                                             }});
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_THAT(keys, ElementsAre("0", "2", "3"));
  EXPECT_THAT(damage, ElementsAre(HasSubstr("minishard 1: index ends at")));
}

TEST_F(ContainerTest, TakesAnEmptyMinishardWithinTheObjectForGood) {
  const ShardingSpec spec{.minishard_bits = 1};
  Write(spec, {{0, "zero"}});
  EXPECT_THAT(Kinds(), IsEmpty());  // (0, 0)
  const uint64_t end = folder_.Get("0.shard").size() - 2 * 16;
  for (const uint64_t at : {uint64_t{1}, end}) {
    Poke("0.shard", 16, at);
    Poke("0.shard", 24, at);
    EXPECT_THAT(Kinds(), IsEmpty()) << at;
  }
}

TEST_F(ContainerTest, FindsAnIndexOfNothingButOnes) {
  const ShardingSpec spec{.minishard_bits = 1};
  constexpr uint64_t kOnes = ~uint64_t{0};
  Write(spec, {{0, "zero"}, {1, "one"}});
  for (const size_t offset : {0, 8, 16, 24}) Poke("0.shard", offset, kOnes);
  EXPECT_THAT(Kinds(), ElementsAre("error index", "error index", "warning trailing"));
  const auto set = OpenSet();
  const auto scanned =
      Scan(*set, {.entry = [](const Entry&) { return true; }, .damage = {}});
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code, ErrorCode::kCorrupt);
  // A rewrite would lose what the index does not show.
  const Change change{.key = "2", .value = Bytes::Copy(AsBytes("two")), .preceding = {}};
  const auto applied = set->Apply({&change, 1});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kCorrupt);
}

TEST_F(ContainerTest, FindsAnIndexOfNothingButOnesInAnObsoletePair) {
  PutInfo({});
  folder_.Put("0.index", ByteVector(16, std::byte{0xff}));
  folder_.Put("0.data", ByteVector(10));
  EXPECT_THAT(Kinds(), ElementsAre("error index", "warning trailing"));
}

TEST_F(ContainerTest, ScansAShardThatIsReplacedMeanwhile) {
  const ShardingSpec spec{.minishard_bits = 10};
  std::vector<std::string> expected;
  const auto write = [&](char letter) {
    Chunks chunks;
    expected.clear();
    for (uint64_t id = 0; id < 1024; ++id) {
      chunks[id] = std::string(1 + id % static_cast<uint64_t>(letter), letter);
      expected.push_back(std::to_string(id));
    }
    Write(spec, chunks);
  };
  write('a');
  const auto set = OpenSet();
  std::vector<std::string> keys;
  // Each batch of minishards that is read is of a shard that is gone after its first
  // entry.
  char letter = 'a';
  const auto scanned = Scan(*set, {.entry =
                                       [&](const Entry& entry) {
                                         keys.push_back(entry.key);
                                         if (keys.size() % 100 == 1) write(++letter);
                                         return true;
                                       },
                                   .damage =
                                       [&](const Finding& finding) {
                                         ADD_FAILURE() << finding.message;
                                         return true;
                                       }});
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(keys, expected);
}

TEST_F(ContainerTest, FindsNothingInAShardThatIsRemovedMeanwhile) {
  const ShardingSpec spec{.shard_bits = 1};
  Write(spec, {{0, "zero"}, {1, "one"}});
  const auto set = OpenSet();
  const auto objects = set->Objects();
  ASSERT_TRUE(objects);
  ASSERT_EQ(objects->size(), 2U);
  ASSERT_TRUE(folder_.store->Remove(objects->front(), Precondition::None()));
  const auto scanned = set->ScanObject(
      objects->front(), {.entry = [](const Entry&) { return false; }, .damage = {}});
  EXPECT_TRUE(scanned) << scanned.error().message;
  EXPECT_TRUE(set->CheckObject(objects->front(), [](const Finding& finding) {
    ADD_FAILURE() << finding.message;
  }));
}

TEST_F(ContainerTest, ChangesSingleChunks) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    folder_ = {};
    ShardingSpec spec = RandomSpec(seed);
    spec.preshift_bits %= 8;
    Chunks chunks = RandomChunks(seed, 60);
    Write(spec, chunks);
    const auto container = OpenSet();
    const uint64_t removed = chunks.begin()->first;
    const uint64_t replaced = std::next(chunks.begin())->first;
    const uint64_t added = 123456789;
    ASSERT_TRUE(container->Apply(
        std::vector<Change>{{std::to_string(removed), std::nullopt, {}},
                            {std::to_string(replaced), Bytes::Copy(AsBytes("new")), {}},
                            {std::to_string(added), Bytes::Copy(AsBytes("added")), {}}}));
    chunks.erase(removed);
    chunks[replaced] = "new";
    chunks[added] = "added";
    const ShardReader reader(folder_.location, spec, 1 << 20);
    std::vector<uint64_t> ids = IdsOf(chunks);
    ids.push_back(removed);
    EXPECT_EQ(ReadChunks(reader, ids), chunks) << seed;
    EXPECT_THAT(CheckAll(*container), IsEmpty());
    // The result is what writing it again would give.
    TestFolder fresh;
    WriteChunks(fresh.location, spec, chunks);
    for (const std::string& name : fresh.Names())
      EXPECT_EQ(folder_.Get(name), fresh.Get(name));
  }
}

TEST_F(ContainerTest, SeesNothingBeforeTheChunksOfATightSetOfUnknownKind) {
  const ShardingSpec spec{.minishard_bits = 3, .shard_bits = 1};
  Write(spec, RandomChunks(3, 100));
  folder_.Put("info", AsBytes(nlohmann::json{{"sharding", ToJson(spec)}}.dump()));
  size_t entries = 0;
  ASSERT_TRUE(Scan(*OpenSet(), {.entry =
                                    [&](const Entry& entry) {
                                      EXPECT_EQ(entry.preceding, 0U) << entry.key;
                                      ++entries;
                                      return true;
                                    },
                                .damage = {}}));
  EXPECT_EQ(entries, 100U);
}

TEST_F(ContainerTest, RemovesAShardWithItsLastChunk) {
  Write({.shard_bits = 1}, {{0, "a"}, {1, "b"}});
  ASSERT_TRUE(OpenSet()->Apply(std::vector<Change>{{"1", std::nullopt, {}}}));
  EXPECT_THAT(folder_.Names(), ElementsAre("0.shard", "info"));
}

TEST_F(ContainerTest, ChangesNothingIfAKeyToRemoveIsAbsent) {
  Write({.shard_bits = 1}, {{0, "a"}, {1, "b"}});
  const auto applied = OpenSet()->Apply(
      std::vector<Change>{{"1", std::nullopt, {}}, {"2", std::nullopt, {}}});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(applied.error().message, "memory://test/set: no chunk 2");
  EXPECT_EQ(Value(*OpenSet(), "1"), "b");
}

TEST_F(ContainerTest, TurnsAnObsoletePairIntoAShardWhenItChanges) {
  Write({.minishard_bits = 1}, {{0, "a"}, {1, "b"}});
  const std::string shard = folder_.Get("0.shard");
  folder_.Put("0.index", AsBytes(shard.substr(0, 32)));
  folder_.Put("0.data", AsBytes(shard.substr(32)));
  ASSERT_TRUE(folder_.store->Remove("set/0.shard", Precondition::None()));
  ASSERT_TRUE(
      OpenSet()->Apply(std::vector<Change>{{"1", Bytes::Copy(AsBytes("c")), {}}}));
  EXPECT_THAT(folder_.Names(), ElementsAre("0.shard", "info"));
  EXPECT_EQ(Value(*OpenSet(), "0"), "a");
  EXPECT_EQ(Value(*OpenSet(), "1"), "c");
}

TEST_F(ContainerTest, TakesTheShardWhereAKilledRewriteLeftThePair) {
  Write({.minishard_bits = 1}, {{0, "old"}, {1, "gone"}});
  const std::string old = folder_.Get("0.shard");
  Write({.minishard_bits = 1}, {{0, "new"}});
  folder_.Put("0.index", AsBytes(old.substr(0, 32)));
  folder_.Put("0.data", AsBytes(old.substr(32)));
  const auto container = OpenSet();
  EXPECT_THAT(*container->Objects(), ElementsAre("set/0.shard"));
  EXPECT_EQ(Value(*container, "0"), "new");
  EXPECT_EQ(Value(*container, "1"), "(absent)");
  EXPECT_THAT(Kinds(), ElementsAre("warning pair"));
  ASSERT_TRUE(container->Apply(std::vector<Change>{{"0", std::nullopt, {}}}));
  EXPECT_THAT(folder_.Names(), ElementsAre("info")) << "nothing comes back to life";
}

TEST_F(ContainerTest, AddsAChunkOnlyIfItIsAbsent) {
  Write({}, {{1, "one"}});
  const auto container = OpenSet();
  const auto applied = container->Apply(std::vector<Change>{
      {"1", Bytes::Copy(AsBytes("two")), {}, /*only_if_absent=*/true}});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kExists);
  EXPECT_EQ(Value(*container, "1"), "one");
}

TEST_F(ContainerTest, ChangesOnlyTheShardThatIsNamed) {
  Write({.shard_bits = 1}, {{0, "a"}, {1, "b"}});
  const auto shard = Open(folder_.location.Child("0.shard"), {});
  ASSERT_TRUE(shard) << shard.error().message;
  ASSERT_TRUE((*shard)->Apply(std::vector<Change>{{"2", Bytes::Copy(AsBytes("c")), {}}}));
  const auto elsewhere =
      (*shard)->Apply(std::vector<Change>{{"3", Bytes::Copy(AsBytes("d")), {}}});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message,
            "memory://test/set/0.shard: chunk 3 belongs into 1.shard");
  folder_.Put("copy.shard", AsBytes(folder_.Get("0.shard")));
  const auto copy = Open(folder_.location.Child("copy.shard"), {});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ((*copy)->Apply(std::vector<Change>{{"0", std::nullopt, {}}}).error().code,
            ErrorCode::kUnsupported);
}

TEST_F(ContainerTest, RefusesMinishardsThatShareTheirIndex) {
  Write({.minishard_bits = 4, .minishard_index_encoding = Encoding::kGzip}, {{0, "a"}});
  std::string shard = folder_.Get("0.shard");
  for (size_t row = 1; row < 16; ++row) {
    StoreLE(reinterpret_cast<std::byte*>(shard.data()) + row * 16 + 8, uint64_t{40});
  }
  folder_.Put("0.shard", AsBytes(shard));
  const auto findings = CheckAll(*OpenSet());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("the minishard indexes overlap"));
}

TEST_F(ContainerTest, FindsPairsBesideShards) {
  Write({.minishard_bits = 1, .shard_bits = 1}, {{0, "a"}, {2, "b"}});
  const std::string shard = folder_.Get("1.shard");
  folder_.Put("1.index", AsBytes(shard.substr(0, 32)));
  folder_.Put("1.data", AsBytes(shard.substr(32)));
  ASSERT_TRUE(folder_.store->Remove("set/1.shard", Precondition::None()));
  const auto container = OpenSet();
  EXPECT_EQ(Value(*container, "0"), "a");
  EXPECT_EQ(Value(*container, "2"), "b");
}

TEST_F(ContainerTest, ReportsBytesWhileItRewritesAMinishard) {
  Write({}, {{1, std::string(100, 'a')}, {2, "b"}, {3, std::string(200, 'c')}});
  const uint64_t old_size = folder_.Get("0.shard").size();
  std::vector<uint64_t> reported;
  ASSERT_TRUE(
      OpenSet()->Apply(std::vector<Change>{{"2", Bytes::Copy(AsBytes("new")), {}}},
                       {.progress =
                            [&](const Progress& progress) {
                              EXPECT_EQ(progress.total_bytes, old_size + 3);
                              reported.push_back(progress.bytes);
                            },
                        .stop = {}}));
  // The shard index; the chunks before the new one, itself, and those behind it; the
  // minishard index; all.
  EXPECT_THAT(reported, ElementsAre(16, 116, 119, 319, 391, old_size + 3));
}

TEST_F(ContainerTest, LeavesAShardAloneIfItsRewriteIsStopped) {
  Write({}, {{1, "a"}, {2, "b"}});
  const std::string old = folder_.Get("0.shard");
  std::stop_source stop;
  const auto applied =
      OpenSet()->Apply(std::vector<Change>{{"2", Bytes::Copy(AsBytes("new")), {}}},
                       {.progress = [&](const Progress&) { stop.request_stop(); },
                        .stop = stop.get_token()});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(folder_.Get("0.shard"), old);
  EXPECT_THAT(folder_.Names(), ElementsAre("0.shard", "info"));
}

TEST_F(ContainerTest, LosesNoneOfTheChangesThatThreadsMakeAtOnce) {
  Write({.minishard_bits = 1}, {{0, "start"}});
  std::vector<std::jthread> writers;
  for (uint64_t t = 0; t < 8; ++t) {
    writers.emplace_back([&, t] {
      const auto container = OpenSet();
      for (uint64_t i = 0; i < 10; ++i) {
        const std::string key = std::to_string(1 + t * 10 + i);
        const auto applied = container->Apply(
            std::vector<Change>{{key, Bytes::Copy(AsBytes("v" + key)), {}}});
        EXPECT_TRUE(applied) << applied.error().message;
      }
    });
  }
  writers.clear();
  const auto container = OpenSet();
  for (uint64_t id = 1; id <= 80; ++id) {
    EXPECT_EQ(Value(*container, std::to_string(id)), "v" + std::to_string(id));
  }
}

class MeshTest : public ContainerTest {
 protected:
  static constexpr ShardingSpec kSpec{.minishard_bits = 1,
                                      .data_encoding = Encoding::kGzip};

  void SetUp() override {
    PutInfo(kSpec, "neuroglancer_multilod_draco");
    ShardedWriter writer(folder_.location, kSpec, {});
    for (uint32_t id = 1; id <= 6; ++id) {
      const std::string fragments(id * 10, static_cast<char>('a' + id));
      ASSERT_TRUE(
          writer.AddChunk(id, AsBytes(Manifest(id * 10)), AsBytes(fragments), false));
    }
    ASSERT_TRUE(writer.Finish());
  }

  std::string Fragments(const Container& container, std::string_view key) {
    const auto entry = container.Find(key);
    EXPECT_TRUE(entry && *entry);
    const auto data = ReadEntry(container.store(), **entry);
    EXPECT_TRUE(data) << data.error().message;
    return std::string(AsText(data->preceding));
  }
};

TEST_F(MeshTest, KnowsTheFragmentsBeforeAManifest) {
  const auto container = OpenSet();
  EXPECT_EQ(Fragments(*container, "3"), std::string(30, 'd'));
  EXPECT_THAT(CheckAll(*container), IsEmpty());
}

TEST_F(MeshTest, CarriesFragmentsThroughChanges) {
  const auto container = OpenSet();
  ASSERT_TRUE(container->Apply(std::vector<Change>{
      {"2", std::nullopt, {}},
      {"4", Bytes::Copy(AsBytes(Manifest(5))), Bytes::Copy(AsBytes("12345"))}}));
  EXPECT_EQ(Fragments(*container, "1"), std::string(10, 'b'));
  EXPECT_EQ(Fragments(*container, "4"), "12345");
  EXPECT_EQ(Fragments(*container, "6"), std::string(60, 'g'));
  EXPECT_THAT(CheckAll(*container), IsEmpty());
}

TEST_F(MeshTest, RefusesFragmentsThatTheManifestDoesNotList) {
  const auto applied = OpenSet()->Apply(std::vector<Change>{
      {"4", Bytes::Copy(AsBytes(Manifest(5))), Bytes::Copy(AsBytes("123"))}});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message,
            "chunk 4: the manifest lists 5 bytes of fragments, 3 bytes are given to "
            "precede it");
}

TEST_F(MeshTest, LosesNothingToSomebodyWhoDoesNotKnowThatItIsOne) {
  const std::string mesh_info = folder_.Get("info");
  folder_.Put("info", AsBytes(nlohmann::json{{"sharding", ToJson(kSpec)}}.dump()));
  ASSERT_TRUE(OpenSet()->Apply(std::vector<Change>{{"4", std::nullopt, {}}}));
  std::map<std::string, uint64_t> preceding;
  ASSERT_TRUE(Scan(*OpenSet(), {.entry =
                                    [&](const Entry& entry) {
                                      preceding[entry.key] = entry.preceding;
                                      return true;
                                    },
                                .damage = {}}));
  EXPECT_EQ(preceding, (std::map<std::string, uint64_t>{
                           {"1", 10}, {"2", 20}, {"3", 30}, {"5", 50}, {"6", 60}}));
  folder_.Put("info", AsBytes(mesh_info));
  EXPECT_EQ(Fragments(*OpenSet(), "6"), std::string(60, 'g'));
  EXPECT_THAT(CheckAll(*OpenSet()), IsEmpty());
}

TEST_F(MeshTest, FindsAManifestThatLies) {
  const auto entry = OpenSet()->Find("1");
  ASSERT_TRUE(entry && *entry);
  std::string shard = folder_.Get("0.shard");
  shard[(*entry)->extents[0].range.offset + 12] ^= 0x55;
  folder_.Put("0.shard", AsBytes(shard));
  const auto findings = CheckAll(*OpenSet());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "manifest");
  EXPECT_EQ(findings[0].key, "1");
}

}  // namespace
}  // namespace dolium::neuroglancer
