#include "dolium/formats/shardpack/sections.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ParseStat, UndoesWriteStat) {
  const Stat stat{.entries = 1,
                  .raw_bytes = 2,
                  .stored_bytes = 3,
                  .min_record = 4,
                  .max_record = 5,
                  .keys_digest = 6,
                  .keys_unique = true,
                  .keys_ascending = false,
                  .all_plain = true,
                  .is_regular = false,
                  .has_parts = true,
                  .largest_raw = 7};
  const ByteVector body = WriteStat(stat);
  EXPECT_EQ(body.size(), 64U);
  EXPECT_EQ(Must(ParseStat(body)), stat);
  EXPECT_EQ(KindOf(ParseStat(BytesView(body).first(63))), kind::kSection);
}

TEST(VisitKeys, WantsAsManyKeysAsRecords) {
  const std::string body("\1\0a\2\0bc\0\0", 9);
  std::vector<std::pair<uint64_t, std::string>> keys;
  const auto visit = [&](uint64_t i, std::string_view key) { keys.emplace_back(i, key); };
  Must(VisitKeys(AsBytes(body), 3, visit));
  EXPECT_THAT(keys, ElementsAre(Pair(0, "a"), Pair(1, "bc"), Pair(2, "")));
  EXPECT_EQ(KindOf(VisitKeys(AsBytes(body), 2, visit)), kind::kSection);
  EXPECT_EQ(KindOf(VisitKeys(AsBytes(body), 4, visit)), kind::kSection);
  EXPECT_EQ(KindOf(VisitKeys(AsBytes(body).first(6), 2, visit)), kind::kSection);
  EXPECT_EQ(KindOf(VisitKeys({}, UINT64_MAX, visit)), kind::kSection);
}

std::vector<EntryLocation> Locations() {
  return {{.offset = 40, .length = 50, .column = 0},
          {.offset = 96, .length = 40, .column = 1},
          {.offset = 200, .length = 41, .column = 1}};
}
const std::vector<EntryColumn> kColumns = {{"a.jpg", "image/jpeg"}, {"b", ""}};

TEST(EntryIndex, UndoesWriteEntryIndex) {
  const ByteVector body = WriteEntryIndex(kColumns, false, {0, 2, 2, 3}, Locations());
  const EntryIndex index = Must(EntryIndex::Parse(Bytes::FromVector(body), 3));
  EXPECT_EQ(index.columns(), kColumns);
  ASSERT_EQ(index.EntriesOf(0).size(), 2U);
  EXPECT_EQ(index.EntriesOf(0)[1].offset, 96U);
  EXPECT_EQ(index.EntriesOf(0)[1].length, 40U);
  EXPECT_EQ(index.EntriesOf(0)[1].column, 1U);
  EXPECT_TRUE(index.EntriesOf(1).empty());
  EXPECT_EQ(index.EntriesOf(2)[0].offset, 200U);
}

TEST(EntryIndex, NeedsNoNumbersWhereAllRecordsAreAlike) {
  std::vector<EntryLocation> places = Locations();
  places.push_back({.offset = 300, .length = 2, .column = 1});
  const ByteVector body = WriteEntryIndex(kColumns, true, {0, 2, 4}, places);
  const EntryIndex index = Must(EntryIndex::Parse(Bytes::FromVector(body), 2));
  EXPECT_EQ(index.EntriesOf(1)[0].offset, 200U);
  EXPECT_EQ(index.EntriesOf(1)[1].offset, 300U);
}

TEST(EntryIndex, RefusesWhatDoesNotAddUp) {
  const ByteVector good = WriteEntryIndex(kColumns, false, {0, 2, 2, 3}, Locations());
  const auto kind_of = [](ByteVector body, uint64_t count) {
    return KindOf(EntryIndex::Parse(Bytes::FromVector(std::move(body)), count));
  };
  EXPECT_EQ(kind_of(good, 3), "ok");
  EXPECT_EQ(kind_of(good, 2), kind::kSection);
  EXPECT_EQ(kind_of(good, 4), kind::kSection);
  EXPECT_EQ(kind_of(good, UINT64_MAX), kind::kSection);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(
        kind_of(ByteVector(good.begin(), good.begin() + static_cast<ptrdiff_t>(size)), 3),
        kind::kSection)
        << size;
  }
  EXPECT_EQ(kind_of(WriteEntryIndex(kColumns, false, {0, 3, 2, 3}, Locations()), 3),
            kind::kSection);
  EXPECT_EQ(kind_of(WriteEntryIndex(kColumns, false, {1, 2, 2, 3}, Locations()), 3),
            kind::kSection);
  EXPECT_EQ(kind_of(WriteEntryIndex({kColumns[0]}, false, {0, 2, 2, 3}, Locations()), 3),
            kind::kSection);
  ByteVector many = good;
  StoreLE(many.data(), UINT32_MAX);
  EXPECT_EQ(kind_of(many, 3), kind::kSection);
}

TEST(ParseDictionaryLocations, UndoesWriteDictionaryLocations) {
  const ByteVector body = WriteDictionaryLocations({{7, {40, 100}}, {9, {200, 50}}});
  const auto places = Must(ParseDictionaryLocations(body));
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[1].id, 9U);
  EXPECT_EQ(places[1].range, (ByteRange{200, 50}));
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_EQ(KindOf(ParseDictionaryLocations(BytesView(body).first(size))),
              kind::kSection);
  }
}

}  // namespace
}  // namespace dolium::shardpack
