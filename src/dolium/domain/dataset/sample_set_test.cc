#include "dolium/domain/dataset/sample_set.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/dataset/catalog.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;
using ::testing::ElementsAre;
using Set = std::shared_ptr<const SampleSet>;

// Records and bytes of each extent.
std::vector<std::pair<uint64_t, uint64_t>> ExtentsOf(const SampleSet& set) {
  std::vector<std::pair<uint64_t, uint64_t>> extents;
  for (const ShardExtent& extent : set.extents()) {
    extents.emplace_back(extent.records, extent.bytes);
  }
  return extents;
}

class SampleSetTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", folder_.path(), name);
  }

  // Samples of one file of some 1000 bytes, packed.
  std::string Write(std::string_view name, const std::vector<std::string>& keys,
                    bool are_tombstones = false) const {
    shardpack::PackOptions options;
    options.shard.force = true;
    options.shard.reproducible = true;
    options.place = [&](uint64_t) { return Must(ParseLocation(Path(name))); };
    const auto writer = Must(shardpack::PackWriter::Create(options));
    for (const std::string& key : keys) {
      Sample sample{.key = key, .tombstone = are_tombstones};
      if (!are_tombstones) {
        const std::string text(1000, key.front());
        sample.files = {{.name = std::string(name), .data = shardpack::Text(text)}};
      }
      Must(writer->Add(std::move(sample)));
    }
    Must(writer->Finish());
    return Path(name);
  }

  static Set Open(const std::vector<std::string>& paths) {
    return Must(OpenSampleSet(paths));
  }

  const TemporaryFolder folder_;
};

TEST_F(SampleSetTest, KeepsTheExtentsOfTheBaseUnderAnOverlay) {
  const auto base =
      Open({Write("a", {"a0", "a1", "a2", "a3"}), Write("b", {"b0", "b1"})});
  const auto extents = ExtentsOf(*base);
  ASSERT_THAT(extents, ElementsAre(std::pair(4, extents[0].second),
                                   std::pair(2, extents[1].second)));
  EXPECT_GT(extents[0].second, 4000U);

  const auto without = Must(Overlay(base, {Open({Write("gone", {"a2", "b0"}, true)})}));
  EXPECT_THAT(ExtentsOf(*without), ElementsAre(std::pair(3, extents[0].second / 4 * 3),
                                               std::pair(1, extents[1].second / 2)));
  EXPECT_EQ(without->size(), 4U);

  const auto layer = Open({Write("more", {"a1", "x", "y"})});
  const auto with = Must(Overlay(base, {layer}));
  EXPECT_THAT(ExtentsOf(*with),
              ElementsAre(extents[0], extents[1],
                          std::pair(2, ExtentsOf(*layer)[0].second / 3 * 2)));
}

TEST_F(SampleSetTest, KeepsTheExtentsOfTheFirstColumn) {
  const auto first =
      Open({Write("a", {"a0", "a1", "a2", "a3"}), Write("b", {"b0", "b1"})});
  const auto extents = ExtentsOf(*first);
  const auto joined = Must(JoinColumns({first, Open({Write("c", {"a1", "a3", "z"})})},
                                       {.nonmatch = Nonmatch::kSkip}));
  EXPECT_THAT(ExtentsOf(*joined),
              ElementsAre(std::pair(2, extents[0].second / 2), std::pair(0, 0)));
}

class CatalogSetTest : public SampleSetTest {
 protected:
  // A catalog of these shards as they are now.
  std::string WriteCatalog(const std::vector<std::string>& shards) const {
    SetCatalog catalog;
    for (const std::string& name : shards) {
      const auto shard = Must(shardpack::Shard::Open(Must(ParseLocation(Path(name)))));
      catalog.shards.push_back(
          {.path = name,
           .size = shard->footer().file_size,
           .records = shard->size(),
           .index_offset = shard->footer().index_offset,
           .footer_crc32c = shard->footer().crc32c,
           .min_key = std::string(Must(shard->Read(0)).key()),
           .max_key = std::string(Must(shard->Read(shard->size() - 1)).key())});
    }
    const Location location = Must(ParseLocation(Path("catalog.json")));
    Must(location.store->Put(location.path, AsBytes(Must(CatalogText(catalog))),
                             Precondition::None()));
    return Path("catalog.json");
  }
};

TEST_F(CatalogSetTest, FindsKeysByTheirRange) {
  Write("a.shardpack", {"a0", "a1"});
  Write("b.shardpack", {"b0", "b1"});
  const std::string catalog = WriteCatalog({"a.shardpack", "b.shardpack"});
  // A shard that need not be looked at need not be there.
  const Location gone = Must(ParseLocation(Path("a.shardpack")));
  const auto set = Open({catalog});
  Must(gone.store->Remove(gone.path, Precondition::None()));
  EXPECT_EQ(Must(set->Find("b1")), 3U);
  EXPECT_FALSE(set->Find("c"));
  Write("a.shardpack", {"a0", "a1"});
  EXPECT_EQ(Must(set->Find("c")), std::nullopt);
}

TEST_F(CatalogSetTest, NoticesAShardThatWasReplaced) {
  Write("a.shardpack", {"k0", "k1"});
  Write("b.shardpack", {"m0", "m1"});
  const std::string catalog = WriteCatalog({"a.shardpack", "b.shardpack"});
  Write("a.shardpack", {"x0", "x1"});  // of the same size
  for (const char* const key : {"k0", "x0", "nowhere"}) {
    const auto found = Open({catalog})->Find(key);
    ASSERT_FALSE(found) << key;
    EXPECT_EQ(found.error().code, ErrorCode::kConflict);
    EXPECT_THAT(
        found.error().message,
        ::testing::ContainsRegex("a.shardpack: footer has CRC-32C [0-9a-f]*, the "
                                 "catalog says [0-9a-f]*; write the catalog again"));
  }
  EXPECT_EQ(Open({catalog})->Read(1).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Must(Open({catalog})->Find("m1")), 3U);
}

}  // namespace
}  // namespace dolium::dataset
