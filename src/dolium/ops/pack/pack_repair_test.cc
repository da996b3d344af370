#include "dolium/ops/pack/pack_repair.h"

#include <fcntl.h>
#include <sys/file.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/ops/pack/pack_catalog.h"
#include "dolium/ops/testing/pack_fixture.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using PackRepairTest = PackFixture;

TEST_F(PackRepairTest, FindsWhatAKilledWriterLeft) {
  const Location shard = Must(ParseLocation(Path("t.shardpack")));
  EXPECT_EQ(Must(FindAbandoned(shard)), std::nullopt);
  EXPECT_EQ(FindRepairSource(shard).error().message,
            shard.Describe() + ": no such file, and no temporary of a writer of it");
  const std::string name = ".t.shardpack.dolium-tmp-0123456789abcdef";
  for (const std::string& other : {std::string(".u.shardpack.dolium-tmp-01"), name}) {
    const UniqueFd fd(open(Path(other).c_str(), O_CREAT | O_WRONLY, 0644));
    ASSERT_TRUE(fd);
  }
  const auto found = Must(FindAbandoned(shard));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->Describe(), Path(name));
  const RepairSource source = Must(FindRepairSource(shard));
  EXPECT_EQ(source.location.Describe(), Path(name));
  EXPECT_TRUE(source.is_abandoned);

  const UniqueFd writer(open(Path(name).c_str(), O_RDONLY));
  ASSERT_EQ(flock(writer.get(), LOCK_EX), 0);
  const auto busy = FindAbandoned(shard);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(busy.error().message, HasSubstr("its writer is still at work"));

  Pack("t.shardpack", NumberedSamples(3));
  EXPECT_FALSE(Must(FindRepairSource(shard)).is_abandoned);
}

TEST_F(PackRepairTest, CatalogTellsWhatShardsDo) {
  shardpack::PackOptions options;
  options.shard_records = 4;
  Pack("t-0.shardpack", NumberedSamples(10), options);
  const auto shards = Must(ResolveSet(folder_.path()));
  const Location folder = Must(ParseLocation(folder_.path()));
  const SetCatalog catalog = Must(MakeCatalog(shards, folder, {}));
  ASSERT_EQ(catalog.shards.size(), 3U);
  EXPECT_EQ(catalog.shards[1].path, "t-1.shardpack");
  EXPECT_EQ(catalog.shards[1].records, 4U);
  EXPECT_EQ(catalog.shards[1].size, BytesOf(Path("t-1.shardpack")).size());
  EXPECT_EQ(catalog.shards[1].min_key, "s004");
  EXPECT_EQ(catalog.shards[1].max_key, "s007");
  EXPECT_THAT(catalog.columns, ElementsAre(CatalogColumn{"text", "text/plain"},
                                           CatalogColumn{"number", "text/plain"}));
  const std::string text = Must(CatalogText(catalog));
  const Location file = folder.Child("catalog.json");
  Must(file.store->Put(file.path, AsBytes(text), Precondition::Absent()));
  const auto set = Open({Path("catalog.json")});
  EXPECT_EQ(set->size(), 10U);
  EXPECT_EQ(Must(set->Find("s009")), 9U);

  const auto elsewhere = MakeCatalog(shards, folder.Child("below"), {});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace dolium::dataset
