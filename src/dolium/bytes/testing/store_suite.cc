#include "dolium/bytes/testing/store_suite.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "dolium/bytes/memory_store.h"

namespace dolium {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreSuite);

StoreCase MakeStoreCase(std::string name, std::function<std::shared_ptr<Store>()> make) {
  return {std::move(name), std::move(make)};
}

std::string StoreCaseName(const testing::TestParamInfo<StoreCase>& info) {
  return info.param.name;
}

Generation StoreSuite::Put(std::string_view object, std::string_view text) {
  auto generation = store().Put(object, AsBytes(text), Precondition::None());
  EXPECT_TRUE(generation) << generation.error().message;
  return generation ? *generation : Generation{};
}

std::string StoreSuite::Get(std::string_view object) {
  const auto whole = store().ReadWhole(object, uint64_t{1} << 30);
  if (!whole) return "error: " + whole.error().message;
  return std::string(AsText(whole->bytes));
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

// Bytes that differ everywhere within 16 MiB, so that a wrong offset shows.
ByteVector Pattern(size_t size) {
  ByteVector bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 2654435761U) >> 16);
  }
  return bytes;
}

std::map<std::string, bool> Names(const Store& store, std::string_view folder) {
  std::map<std::string, bool> names;
  const auto listed = store.List(folder, [&](std::string_view name, bool is_folder) {
    EXPECT_TRUE(names.emplace(name, is_folder).second) << name << " is listed twice";
    return true;
  });
  EXPECT_TRUE(listed) << listed.error().message;
  return names;
}

template <typename T>
void ExpectError(const Result<T>& result, ErrorCode code, std::string_view text) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr(std::string(text)));
}

TEST_P(StoreSuite, ReadsTheLastBytes) {
  const Generation generation = Put("o", "0123456789");
  for (const auto& [length, want] :
       {std::pair<uint64_t, std::string_view>{0, ""}, {4, "6789"}, {99, "0123456789"}}) {
    const auto suffix = store().ReadSuffix("o", length);
    ASSERT_TRUE(suffix) << suffix.error().message;
    EXPECT_EQ(AsText(suffix->bytes), want);
    EXPECT_EQ(suffix->info.size, 10U);
    EXPECT_EQ(suffix->info.generation, generation);
  }
  EXPECT_EQ(store().ReadSuffix("absent", 4).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreSuite, ShowsAnObjectOnlyOnceCommitted) {
  auto writer = store().Begin("set/one");
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->Append(AsBytes("hello, ")));
  ASSERT_TRUE((*writer)->Append(AsBytes("world")));
  EXPECT_EQ((*writer)->size(), 12U);
  auto before = store().Stat("set/one");
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_FALSE(before->has_value());

  const auto generation = (*writer)->Commit(Precondition::None());
  ASSERT_TRUE(generation) << generation.error().message;
  const auto after = store().Stat("set/one");
  ASSERT_TRUE(after && after->has_value());
  EXPECT_EQ((*after)->size, 12U);
  EXPECT_EQ((*after)->generation, *generation);
  EXPECT_EQ(Get("set/one"), "hello, world");
}

TEST_P(StoreSuite, TellsWhenAnObjectWasCommitted) {
  Put("one", "first");
  const auto info = store().Stat("one");
  ASSERT_TRUE(info && info->has_value());
  ASSERT_TRUE((*info)->modified.has_value());
  EXPECT_GT(*(*info)->modified, 0);
}

TEST_P(StoreSuite, KeepsTheOldBytesWhileNewOnesAreWritten) {
  Put("one", "old");
  auto writer = store().Begin("one");
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->Append(Pattern(3'000'000)));
  EXPECT_EQ(Get("one"), "old");
  writer->reset();
  EXPECT_EQ(Get("one"), "old");
}

TEST_P(StoreSuite, LeavesNothingWhenAWriterGivesUp) {
  Put("set/kept", "x");
  {
    auto writer = store().Begin("set/dropped");
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->Append(Pattern(3'000'000)));
    EXPECT_THAT(Names(store(), "set"), ElementsAre(Pair("kept", false)));
  }
  EXPECT_THAT(Names(store(), "set"), ElementsAre(Pair("kept", false)));
  EXPECT_FALSE(store().Stat("set/dropped")->has_value());
}

TEST_P(StoreSuite, WritesAnEmptyObject) {
  Put("empty", "");
  const auto info = store().Stat("empty");
  ASSERT_TRUE(info && info->has_value());
  EXPECT_EQ((*info)->size, 0U);
  EXPECT_EQ(Get("empty"), "");
}

TEST_P(StoreSuite, WritesLargeAndSmallPiecesInOrder) {
  const ByteVector whole = Pattern(5'000'000);
  auto writer = store().Begin("large");
  ASSERT_TRUE(writer) << writer.error().message;
  size_t done = 0;
  for (const size_t segment :
       {1U, 1023U, 4096U, 1'048'576U, 7U, 2'500'000U, 0U, 100'000U}) {
    ASSERT_TRUE((*writer)->Append(BytesView(whole).subspan(done, segment)));
    done += segment;
    ASSERT_EQ((*writer)->size(), done);
  }
  ASSERT_TRUE((*writer)->Append(BytesView(whole).subspan(done)));
  ASSERT_TRUE((*writer)->Commit(Precondition::Absent()));
  const auto read = store().ReadWhole("large", 5'000'000);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(Equal(read->bytes, whole));
}

TEST_P(StoreSuite, CommitsIfAbsentOnlyOnce) {
  ASSERT_TRUE(store().Put("one", AsBytes("first"), Precondition::Absent()));
  ExpectError(store().Put("one", AsBytes("second"), Precondition::Absent()),
              ErrorCode::kExists, store().Describe("one") + ": exists already");
  EXPECT_EQ(Get("one"), "first");
}

TEST_P(StoreSuite, CommitsOnlyOverTheGenerationNamed) {
  const Generation first = Put("one", "first");
  const auto second = store().Put("one", AsBytes("second"), Precondition::At(first));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(*second, first);
  ExpectError(store().Put("one", AsBytes("third"), Precondition::At(first)),
              ErrorCode::kConflict, store().Describe("one") + ": changed since");
  EXPECT_EQ(Get("one"), "second");
  ExpectError(store().Put("two", AsBytes("x"), Precondition::At(first)),
              ErrorCode::kConflict, store().Describe("two") + ": removed since");
  EXPECT_FALSE(store().Stat("two")->has_value());
}

TEST_P(StoreSuite, CallsDifferentBytesDifferentGenerations) {
  std::vector<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    // The same length, and in quick succession: a coarse clock must not hide the change.
    seen.push_back(Put("one", std::to_string(100 + i)).token);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST_P(StoreSuite, FillsUnsortedAndOverlappingSlices) {
  const ByteVector whole = Pattern(200'000);
  ASSERT_TRUE(store().Put("one", whole, Precondition::None()));
  std::vector<ByteRange> ranges = {{199'999, 1}, {0, 10},       {5, 10},     {5, 10},
                                   {0, 200'000}, {100'000, 0},  {15, 4096},  {4111, 3},
                                   {4114, 9000}, {150'000, 50}, {200'000, 0}};
  for (uint64_t i = 0; i < 300; ++i) ranges.push_back({(i * 7919) % 190'000, i * 11});
  const auto read = store().ReadRanges("one", ranges);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->parts.size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    const BytesView expected =
        BytesView(whole).subspan(ranges[i].offset, ranges[i].length);
    EXPECT_TRUE(Equal(read->parts[i], expected)) << ToString(ranges[i]);
  }
  EXPECT_EQ(read->info.generation, (*store().Stat("one"))->generation);
}

TEST_P(StoreSuite, ReadsNothingFromAnObjectThatIsThere) {
  const Generation generation = Put("one", "abc");
  const auto read = store().ReadInto("one", {}, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->generation, generation);
}

TEST_P(StoreSuite, RefusesARangeThatEndsPastTheObject) {
  Put("one", "0123456789");
  const std::string name = store().Describe("one");
  ExpectError(store().ReadRange("one", {8, 3}), ErrorCode::kCorrupt,
              name + ": bytes [8, 11) end past the object (10 bytes)");
  ExpectError(store().ReadRange("one", {11, 0}), ErrorCode::kCorrupt,
              name + ": bytes [11, 11) end past the object (10 bytes)");
  ExpectError(store().ReadRange("one", {uint64_t{1} << 63, 4}), ErrorCode::kCorrupt,
              name);
  ExpectError(store().ReadRange("one", {UINT64_MAX, 4}), ErrorCode::kCorrupt,
              "[18446744073709551615, 18446744073709551615 + 4)");
  const ByteRange good_and_bad[] = {{0, 1}, {2, 2}, {9, 2}};
  ExpectError(store().ReadRanges("one", good_and_bad), ErrorCode::kCorrupt, "[9, 11)");
}

TEST_P(StoreSuite, SaysThatAnObjectIsMissing) {
  const std::string message = store().Describe("no/such") + ": no such object";
  EXPECT_FALSE(store().Stat("no/such")->has_value());
  ExpectError(store().ReadRange("no/such", {0, 1}), ErrorCode::kNotFound, message);
  ExpectError(store().ReadInto("no/such", {}, {}), ErrorCode::kNotFound, message);
  ExpectError(store().ReadWhole("no/such", 10), ErrorCode::kNotFound, message);
  ExpectError(store().Remove("no/such", Precondition::None()), ErrorCode::kNotFound,
              store().Describe("no/such"));
}

TEST_P(StoreSuite, TakesAFolderForNoObject) {
  Put("set/one", "x");
  EXPECT_FALSE(store().Stat("set")->has_value());
  ExpectError(store().ReadWhole("set", 10), ErrorCode::kNotFound,
              store().Describe("set"));
}

TEST_P(StoreSuite, ReadsOnlyTheGenerationNamed) {
  const Generation first = Put("one", "first");
  const auto same = store().ReadRange("one", {0, 5}, {first});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(AsText(*same), "first");

  Put("one", "other");
  ExpectError(store().ReadRange("one", {0, 5}, {first}), ErrorCode::kConflict,
              store().Describe("one") + ": changed since");
  const ByteRange two[] = {{0, 1}, {3, 1}};
  ExpectError(store().ReadRanges("one", two, {first}), ErrorCode::kConflict,
              "changed since");
}

TEST_P(StoreSuite, ListsAFolderOneLevelDeep) {
  Put("top", "1");
  Put("set/a", "1");
  Put("set/b", "1");
  Put("set/c", "1");
  Put("set/deep/x", "1");
  Put("set/deep/y", "1");
  Put("set/e", "1");
  Put("settle", "1");
  EXPECT_THAT(Names(store(), "set"),
              ElementsAre(Pair("a", false), Pair("b", false), Pair("c", false),
                          Pair("deep", true), Pair("e", false)));
  EXPECT_THAT(Names(store(), ""),
              ElementsAre(Pair("set", true), Pair("settle", false), Pair("top", false)));
  ExpectError(store().List("absent", [](std::string_view, bool) { return true; }),
              ErrorCode::kNotFound, store().Describe("absent"));
}

TEST_P(StoreSuite, StopsListingWhenTold) {
  for (int i = 0; i < 10; ++i) Put("set/" + std::to_string(i), "x");
  int visits = 0;
  ASSERT_TRUE(store().List("set", [&](std::string_view, bool) { return ++visits < 4; }));
  EXPECT_EQ(visits, 4);
}

TEST_P(StoreSuite, RemovesIfThePreconditionHolds) {
  const Generation first = Put("one", "first");
  const Generation second = Put("one", "second");
  ExpectError(store().Remove("one", Precondition::At(first)), ErrorCode::kConflict,
              store().Describe("one") + ": changed since");
  EXPECT_EQ(Get("one"), "second");
  const auto removed = store().Remove("one", Precondition::At(second));
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(store().Stat("one")->has_value());
  ExpectError(store().ReadRange("one", {0, 1}), ErrorCode::kNotFound, "no such object");
}

TEST_P(StoreSuite, ReadsAWholeObjectWithinALimit) {
  const Generation generation = Put("one", "0123456789");
  const auto read = store().ReadWhole("one", 10);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(AsText(read->bytes), "0123456789");
  EXPECT_EQ(read->generation, generation);
  ExpectError(store().ReadWhole("one", 9), ErrorCode::kCorrupt,
              store().Describe("one") + ": 10 bytes, more than the limit of 9");
}

TEST_P(StoreSuite, AppendsFromObjectsOfItsOwnAndOfOthers) {
  const ByteVector whole = Pattern(6'000'000);
  MemoryStore other;
  const auto elsewhere = other.Put("from", whole, Precondition::None());
  const auto here = store().Put("from", whole, Precondition::None());
  ASSERT_TRUE(elsewhere && here);

  auto writer = store().Begin("to");
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->Append(AsBytes("begin")));
  ByteVector expected;
  Append(expected, AsBytes("begin"));
  // Short ones, one longer than any buffer, an empty one, in turn from both.
  for (const ByteRange range :
       {ByteRange{3, 100}, {1, 5'500'000}, {7, 0}, {9, 300'001}}) {
    const auto first = (*writer)->AppendFrom(store(), "from", range, *here);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = (*writer)->AppendFrom(other, "from", range, *elsewhere);
    ASSERT_TRUE(second) << second.error().message;
    for (int i = 0; i < 2; ++i) {
      Append(expected, BytesView(whole).subspan(range.offset, range.length));
    }
    ASSERT_EQ((*writer)->size(), expected.size());
  }
  ASSERT_TRUE((*writer)->Append(AsBytes("end")));
  Append(expected, AsBytes("end"));
  ASSERT_TRUE((*writer)->Commit(Precondition::None()));
  const auto read = store().ReadWhole("to", expected.size());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(Equal(read->bytes, expected));
}

TEST_P(StoreSuite, AppendsFromOneGenerationOnly) {
  const Generation first = Put("from", "first");
  Put("from", "other");
  auto writer = store().Begin("to");
  ASSERT_TRUE(writer) << writer.error().message;
  ExpectError((*writer)->AppendFrom(store(), "from", {0, 5}, first), ErrorCode::kConflict,
              store().Describe("from") + ": changed since");
  const Generation now = (*store().Stat("from"))->generation;
  ExpectError((*writer)->AppendFrom(store(), "from", {3, 3}, now), ErrorCode::kCorrupt,
              "bytes [3, 6) end past the object (5 bytes)");
  ExpectError((*writer)->AppendFrom(store(), "gone", {0, 1}, now), ErrorCode::kNotFound,
              store().Describe("gone"));
}

TEST_P(StoreSuite, LosesNoUpdateOfEightThreads) {
  constexpr int kThreads = 8;
  constexpr int kIncrements = 25;
  Put("counter", "0");
  std::atomic<int> unexpected = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int done = 0; done < kIncrements;) {
          const auto now = store().ReadWhole("counter", 100);
          if (!now) {
            ++unexpected;
            return;
          }
          const int value = std::stoi(std::string(AsText(now->bytes)));
          const auto put = store().Put("counter", AsBytes(std::to_string(value + 1)),
                                       Precondition::At(now->generation));
          if (put) {
            ++done;
          } else if (put.error().code != ErrorCode::kConflict) {
            ++unexpected;
            return;
          }
        }
      });
    }
  }
  EXPECT_EQ(unexpected, 0);
  EXPECT_EQ(Get("counter"), std::to_string(kThreads * kIncrements));
}

TEST_P(StoreSuite, ReadsWholeStatesWhileAWriterReplacesThem) {
  // Every state is one letter over and over; a torn read would show two.
  const auto state = [](int i) {
    return std::string(50'000, static_cast<char>('a' + i % 26));
  };
  Put("one", state(0));
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    for (int i = 1; i <= 40; ++i) {
      if (!store().Put("one", AsBytes(state(i)), Precondition::None())) break;
    }
    stop = true;
  });
  const ByteRange ranges[] = {{49'999, 1}, {0, 1}, {20'000, 100}, {30'000, 1}};
  int reads = 0;
  while (!stop || reads == 0) {
    const auto read = store().ReadRanges("one", ranges);
    ASSERT_TRUE(read) << read.error().message;
    for (const Bytes& part : read->parts) {
      ASSERT_EQ(part.data()[0], read->parts.front().data()[0]);
    }
    ++reads;
  }
}

TEST_P(StoreSuite, LocksForARewriteOrHasNoLocks) {
  const auto absent = store().LockForRewrite("absent");
  ASSERT_TRUE(absent) << absent.error().message;
  EXPECT_EQ(*absent, nullptr);
  Put("one", "x");
  const auto lock = store().LockForRewrite("one");
  ASSERT_TRUE(lock) << lock.error().message;
  Put("one", "a lock keeps nobody from committing");
  EXPECT_THAT(Get("one"), StartsWith("a lock"));
}

}  // namespace
}  // namespace dolium
