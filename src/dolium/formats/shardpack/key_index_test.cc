#include "dolium/formats/shardpack/key_index.h"

#include <algorithm>
#include <map>
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
using testing::IsEmpty;

// A body whose reads are counted.
struct RemoteIndex {
  Bytes body;
  uint64_t count = 0;
  uint64_t reads = 0;
  uint64_t bytes = 0;

  explicit RemoteIndex(std::vector<KeyHash> hashes) : count(hashes.size()) {
    std::ranges::sort(hashes);
    body = Bytes::FromVector(WriteKeyIndex(hashes));
  }
  KeyIndex Open() {
    return Must(KeyIndex::Open(body.size(), count, [this](ByteRange range) {
      ++reads;
      bytes += range.length;
      return Result<Bytes>(body.Slice(range.offset, range.length));
    }));
  }
};

std::vector<KeyHash> HashesOf(uint32_t count) {
  std::vector<KeyHash> hashes;
  for (uint32_t i = 0; i < count; ++i) {
    hashes.push_back({HashKey("key" + std::to_string(i)), i});
  }
  return hashes;
}

TEST(KeyIndex, FindsEveryKeyAndNoOther) {
  for (const uint32_t count : {0, 1, 2, 511, 512, 513, 5000}) {
    RemoteIndex remote(HashesOf(count));
    const KeyIndex index = remote.Open();
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_THAT(Must(index.Candidates(HashKey("key" + std::to_string(i)))),
                  ElementsAre(i));
    }
    for (uint32_t i = 0; i < 100; ++i) {
      EXPECT_THAT(Must(index.Candidates(HashKey("other" + std::to_string(i)))),
                  IsEmpty());
    }
    EXPECT_THAT(Must(index.Candidates(0)), IsEmpty());
    EXPECT_THAT(Must(index.Candidates(UINT64_MAX)), IsEmpty());
  }
}

TEST(KeyIndex, TakesTwoSmallReadsPerKeyNearlyAlways) {
  constexpr uint32_t kCount = 1'000'000;
  constexpr uint64_t kLookups = 500;
  RemoteIndex remote(HashesOf(kCount));
  const KeyIndex index = remote.Open();
  remote.reads = remote.bytes = 0;
  for (uint64_t i = 0; i < kLookups; ++i) {
    const uint64_t number = i * 1999;
    EXPECT_THAT(Must(index.Candidates(HashKey("key" + std::to_string(number)))),
                ElementsAre(number));
  }
  EXPECT_LE(remote.reads, kLookups * 2 + kLookups / 20);
  EXPECT_LE(remote.bytes, kLookups * 25'000);
}

TEST(KeyIndex, GivesAllRecordsOfAHashInOrder) {
  std::vector<KeyHash> hashes;
  for (uint32_t i = 0; i < 3000; ++i) hashes.push_back({i % 3 == 0 ? 77U : i * 1000U, i});
  RemoteIndex remote(hashes);
  const KeyIndex index = remote.Open();
  const auto records = Must(index.Candidates(77));
  ASSERT_EQ(records.size(), 1000U);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(records[i], 3 * i);
}

TEST(KeyIndex, StaysFastWhenHashesAreNotSpreadEvenly) {
  std::vector<KeyHash> hashes;
  for (uint32_t i = 0; i < 1'000'000; ++i) hashes.push_back({i, i});
  hashes.push_back({UINT64_MAX - 1, 1'000'000});
  RemoteIndex remote(hashes);
  const KeyIndex index = remote.Open();
  for (const uint64_t hash : {0, 1, 500'000, 999'999}) {
    remote.reads = 0;
    EXPECT_THAT(Must(index.Candidates(hash)), ElementsAre(hash));
    EXPECT_LE(remote.reads, 20U);
  }
}

TEST(KeyIndex, SurvivesHashesInAnyOrder) {
  ByteVector body = WriteKeyIndex(HashesOf(5000));  // not sorted
  const KeyIndex index = Must(KeyIndex::FromBody(Bytes::FromVector(body), 5000));
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(index.Candidates(i * 0x9E3779B97F4A7C15));
  }
}

TEST(KeyIndex, RefusesWhatIsNotOne) {
  const ByteVector good = WriteKeyIndex(HashesOf(3));
  const auto kind_of = [](ByteVector body, uint64_t count) {
    return KindOf(KeyIndex::FromBody(Bytes::FromVector(std::move(body)), count));
  };
  EXPECT_EQ(kind_of(good, 3), "ok");
  EXPECT_EQ(kind_of(good, 2), kind::kSection);
  EXPECT_EQ(kind_of({}, 0), kind::kSection);
  EXPECT_EQ(kind_of(good, UINT64_MAX), kind::kSection);
  ByteVector other = good;
  other[8] = std::byte{2};
  EXPECT_EQ(kind_of(other, 3), kind::kSection);
  StoreLE(other.data(), uint64_t{4});
  EXPECT_EQ(kind_of(other, 3), kind::kSection);
  ByteVector beyond = good;
  StoreLE(beyond.data() + 16 + 3 * 8, uint32_t{3});
  const KeyIndex index = Must(KeyIndex::FromBody(Bytes::FromVector(beyond), 3));
  EXPECT_EQ(KindOf(index.Candidates(LoadLE<uint64_t>(beyond.data() + 16))),
            kind::kSection);
}

}  // namespace
}  // namespace dolium::shardpack
