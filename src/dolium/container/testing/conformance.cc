#include "dolium/container/testing/conformance.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/object_store_double.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/entry_list.h"
#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

constexpr uint64_t kTinyMemory = uint64_t{64} << 10;
constexpr size_t kLargestValue = 100'000;

ByteVector RandomBytes(std::mt19937_64& random, size_t size) {
  ByteVector bytes(size);
  // Half of each value is easy to compress, so that encodings have something to do.
  for (size_t i = 0; i < size / 2; ++i) bytes[i] = static_cast<std::byte>(random());
  return bytes;
}

size_t RandomSize(std::mt19937_64& random) {
  constexpr size_t kSmall = 2000;
  return static_cast<size_t>(random() % (random() % 8 == 0 ? kLargestValue : kSmall));
}

TestValue ToTestValue(const EntryData& data) {
  const BytesView value = data.value;
  const BytesView preceding = data.preceding;
  return {{value.begin(), value.end()}, {preceding.begin(), preceding.end()}};
}

// Puts all values into one object, every third one encoded, and returns where they are.
std::vector<Entry> PutIntoOneObject(Store& store, const TestSet& set) {
  const CodecChain gzip{{CodecId::kGzip}};
  ByteVector all;
  std::vector<Entry> entries;
  for (const auto& [key, value] : set) {
    const CodecChain codecs = entries.size() % 3 == 0 ? gzip : CodecChain{};
    const ByteVector stored = Must(Encode(codecs, value.value));
    Append(all, value.preceding);
    Entry entry;
    entry.key = key;
    entry.preceding = value.preceding.size();
    entry.extents.push_back({nullptr, {all.size(), stored.size()}, codecs});
    Append(all, stored);
    entries.push_back(std::move(entry));
  }
  const std::string name = "values";
  const auto version = std::make_shared<const ObjectVersion>(
      ObjectVersion{name, Must(store.Put(name, all, Precondition::Absent()))});
  for (Entry& entry : entries) entry.extents.front().object = version;
  return entries;
}

void CollectObjects(const Location& folder, const std::string& prefix, Objects& objects) {
  std::vector<std::string> folders;
  std::vector<std::string> names;
  Must(folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
    (is_folder ? folders : names).emplace_back(name);
    return true;
  }));
  for (const std::string& name : names) {
    const std::string path = JoinPath(folder.path, name);
    const WholeObject whole = Must(folder.store->ReadWhole(path, uint64_t{1} << 30));
    objects[prefix + name] = AsText(whole.bytes);
  }
  for (const std::string& name : folders) {
    CollectObjects(folder.Child(name), prefix + name + '/', objects);
  }
}

}  // namespace

FormatCase MakeFormatCase(std::string name, const Format& format,
                          std::function<Location()> new_location) {
  FormatCase made;
  made.name = std::move(name);
  made.format = format;
  made.new_location = std::move(new_location);
  made.key = [](uint64_t i) { return fmt::format("key-{}", i); };
  return made;
}

std::string FormatCaseName(const testing::TestParamInfo<FormatCase>& info) {
  return info.param.name;
}

void PrintTo(const FormatCase& format_case, std::ostream* out) {
  *out << format_case.name;
}

Location NewMemoryLocation() { return {std::make_shared<MemoryStore>("test"), "set"}; }

Location NewFileLocation() {
  struct Held {
    TemporaryFolder folder;
    std::shared_ptr<FileStore> store;
  };
  auto held = std::make_shared<Held>();
  FileStoreOptions options;
  options.sync = false;
  held->store = Must(FileStore::Open(held->folder.path(), options));
  Store* const store = held->store.get();
  return {std::shared_ptr<Store>(std::move(held), store), "set"};
}

Location NewObjectStoreLocation() {
  constexpr size_t kMinPart = 16384;
  constexpr size_t kPageSize = 50;
  return {std::make_shared<ObjectStoreDouble>(kMinPart, kPageSize), "set"};
}

TestSet ReadSuite::RandomSet(uint64_t seed) const {
  std::mt19937_64 random(seed);
  TestSet set;
  for (uint64_t i = 0; i < GetParam().entries; ++i) {
    // The first two: nothing, or as little as there can be, and the largest.
    const size_t size = i == 0 ? 0 : i == 1 ? kLargestValue : RandomSize(random);
    ByteVector value = RandomBytes(random, std::max(size, GetParam().smallest_value));
    if (!GetParam().key_of_value) {
      set[GetParam().key(i)].value = std::move(value);
      continue;
    }
    std::string key = GetParam().key_of_value(value);
    while (set.contains(key)) {
      value.push_back(std::byte{1});
      key = GetParam().key_of_value(value);
    }
    set[key].value = std::move(value);
  }
  EXPECT_EQ(set.size(), GetParam().entries) << "keys must differ";
  return set;
}

TestSet ReadSuite::SetWithPreceding() const {
  TestSet set;
  for (uint64_t i = 0; i < GetParam().entries; ++i) {
    set[GetParam().key(i)] = GetParam().with_preceding(i);
  }
  return set;
}

std::unique_ptr<Target> ReadSuite::NewTarget(const Location& location,
                                             const TestSet& set) const {
  CreateOptions options = GetParam().options;
  options.expected_entries = set.size();
  for (const auto& [key, value] : set) {
    const uint64_t size = value.value.size() + value.preceding.size();
    options.expected_bytes += size;
    options.largest_entry = std::max(options.largest_entry, size);
  }
  return Must(GetParam().format.create(location, options));
}

WriteSummary ReadSuite::Write(const Location& location, const TestSet& set,
                              Way way) const {
  if (GetParam().write) {
    GetParam().write(location, set);
    return {};
  }
  const auto target = NewTarget(location, set);
  WriterOptions options;
  options.jobs = way.jobs;
  options.memory = way.memory;
  const auto writer = Must(target->NewWriter(options));
  std::vector<const TestSet::value_type*> entries;
  for (const auto& entry : set) entries.push_back(&entry);
  if (way.order == Way::Order::kReversed) std::reverse(entries.begin(), entries.end());
  if (way.order == Way::Order::kShuffled) {
    std::shuffle(entries.begin(), entries.end(), std::mt19937_64(5));
  }
  for (const auto* entry : entries) {
    Must(
        writer->Add({entry->first, entry->second.value, entry->second.preceding, false}));
  }
  const WriteSummary summary = Must(writer->Finish());
  Must(target->Finish());
  return summary;
}

WriteSummary ReadSuite::WriteByParts(const Location& location, const TestSet& set) const {
  MemoryStore source("source");
  const std::vector<Entry> entries = PutIntoOneObject(source, set);
  const auto planner = NewTarget(location, set);
  std::map<uint64_t, std::vector<Entry>> parts;
  for (const Entry& entry : entries) {
    auto& part = parts[Must(planner->PartOf(entry.key))];
    part.insert(part.begin(), entry);
  }
  WriteSummary summary;
  for (const auto& [part, members] : parts) {
    // Each part by a target of its own, as in another process.
    const auto target = Must(GetParam().format.reopen(location, planner->Describe()));
    EntryList list(members);
    PartSource part_source;
    part_source.store = &source;
    part_source.entries = &list;
    WriterOptions options;
    options.jobs = 1;
    summary += Must(target->WritePart(part, part_source, options));
    const auto done = Must(location.store->Stat(target->PartObject(part)));
    EXPECT_TRUE(done) << "part " << part << " left no " << target->PartObject(part);
  }
  Must(planner->Finish());
  return summary;
}

std::unique_ptr<Container> ReadSuite::Open(const Location& location) const {
  return Must(GetParam().format.open(location, {}));
}

TestSet ReadSuite::ReadBySearch(const Container& container, const TestSet& keys_of) {
  TestSet found;
  for (const auto& [key, value] : keys_of) {
    const std::optional<Entry> entry = Must(container.Find(key));
    if (!entry) continue;
    EXPECT_EQ(entry->key, key);
    found[key] = ToTestValue(Must(ReadEntry(container.store(), *entry)));
  }
  return found;
}

TestSet ReadSuite::ReadByScan(const Container& container) {
  TestSet found;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    EXPECT_FALSE(found.contains(entry.key)) << "visited twice: " << entry.key;
    found[entry.key] = ToTestValue(Must(ReadEntry(container.store(), entry)));
    return true;
  };
  Must(Scan(container, visitor));
  return found;
}

Objects ReadSuite::ReadObjects(const Location& folder) {
  Objects objects;
  CollectObjects(folder, "", objects);
  return objects;
}

void ReadSuite::ExpectEqual(const TestSet& found, const TestSet& expected) {
  for (const auto& [key, value] : expected) {
    const auto at = found.find(key);
    if (at == found.end()) {
      ADD_FAILURE() << "no entry " << key;
    } else {
      EXPECT_TRUE(at->second.value == value.value) << "another value at " << key;
      EXPECT_TRUE(at->second.preceding == value.preceding) << "another start at " << key;
    }
  }
  EXPECT_EQ(found.size(), expected.size());
}

void ReadSuite::ExpectEqual(const Objects& found, const Objects& expected) {
  for (const auto& [name, bytes] : expected) {
    const auto at = found.find(name);
    if (at == found.end()) {
      ADD_FAILURE() << "no object " << name;
    } else {
      EXPECT_TRUE(at->second == bytes) << "other bytes in " << name;
    }
  }
  EXPECT_EQ(found.size(), expected.size());
}

TEST_P(ReadSuite, FindsEveryEntryAndNoOther) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(1);
  Write(location, set, {Way::Order::kShuffled});
  const auto container = Open(location);
  EXPECT_EQ(container->format_name(), GetParam().format.name);
  EXPECT_EQ(container->location().path, location.path);
  ExpectEqual(ReadBySearch(*container, set), set);
  for (uint64_t i = 0; i < 20; ++i) {
    const std::string absent = GetParam().key(GetParam().entries + i);
    EXPECT_EQ(Must(container->Find(absent)), std::nullopt) << absent;
  }
}

TEST_P(ReadSuite, ScansEveryEntryOnce) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(2);
  Write(location, set, {});
  const auto container = Open(location);
  ExpectEqual(ReadByScan(*container), set);
}

TEST_P(ReadSuite, EndsAScanOnRequest) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(2), {});
  const auto container = Open(location);
  size_t visited = 0;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry&) { return ++visited < 3; };
  Must(Scan(*container, visitor));
  EXPECT_EQ(visited, 3U);
}

TEST_P(ReadSuite, FindsNothingWrongWithWhatItWrote) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(3), {});
  const auto container = Open(location);
  const std::vector<std::string> objects = Must(container->Objects());
  EXPECT_FALSE(objects.empty());
  EXPECT_TRUE(std::is_sorted(objects.begin(), objects.end()));
  for (const std::string& object : objects) {
    Must(container->CheckObject(object, [](const Finding& finding) {
      ADD_FAILURE() << finding.object << ": " << finding.key << ": " << finding.message;
    }));
  }
}

TEST_P(ReadSuite, RecognisesWhatItWrote) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(3), {});
  EXPECT_GT(Must(GetParam().format.probe(location)), 0);
}

TEST_P(ReadSuite, FindsNothingUnderABadKey) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(4), {});
  const auto found = Open(location)->Find(GetParam().bad_key);
  if (!GetParam().refuses_bad_keys) {
    EXPECT_EQ(Must(found), std::nullopt);
    return;
  }
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
}

TEST_P(FormatSuite, RejectsABadKey) {
  const std::string& bad = GetParam().bad_key;
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(4);
  const auto target = NewTarget(location, set);
  const auto part = target->PartOf(bad);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, ErrorCode::kInvalidArgument);
  const auto writer = Must(target->NewWriter({}));
  const auto added = writer->Add({bad, {}, {}, false});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
}

TEST_P(FormatSuite, RejectsAKeyGivenTwice) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(5);
  const auto target = NewTarget(location, set);
  const auto writer = Must(target->NewWriter({}));
  for (const auto& [key, value] : set) Must(writer->Add({key, value.value, {}, false}));
  const auto again =
      writer->Add({set.begin()->first, AsBytes("another value"), {}, false});
  if (again) {
    const auto finished = writer->Finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(finished.error().message, testing::HasSubstr(set.begin()->first));
  } else {
    EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(again.error().message, testing::HasSubstr(set.begin()->first));
  }
}

TEST_P(FormatSuite, WritesTheSameBytesWhateverTheOrderThreadsAndMemory) {
  const TestSet set = RandomSet(6);
  const Location location = GetParam().new_location();
  const WriteSummary expected_summary = Write(location, set, {});
  const Objects expected = ReadObjects(location);
  ASSERT_FALSE(expected.empty());
  uint64_t value_bytes = 0;
  for (const auto& [key, value] : set) value_bytes += value.value.size();
  EXPECT_EQ(expected_summary.entries, set.size());
  EXPECT_EQ(expected_summary.value_bytes, value_bytes);

  using enum Way::Order;
  for (const Way& way :
       {Way{kReversed, 1}, Way{kShuffled, 4}, Way{kByKey, 4},
        Way{kShuffled, 1, kTinyMemory}, Way{kShuffled, 4, kTinyMemory}}) {
    SCOPED_TRACE(fmt::format("order {}, {} jobs, {} bytes of memory",
                             static_cast<int>(way.order), way.jobs, way.memory));
    const Location other = GetParam().new_location();
    const WriteSummary summary = Write(other, set, way);
    ExpectEqual(ReadObjects(other), expected);
    EXPECT_EQ(summary.entries, expected_summary.entries);
    EXPECT_EQ(summary.value_bytes, expected_summary.value_bytes);
    EXPECT_EQ(summary.stored_bytes, expected_summary.stored_bytes);
    EXPECT_EQ(summary.objects, expected_summary.objects);
  }
}

TEST_P(FormatSuite, WritesTheSameBytesPartByPart) {
  const TestSet set = RandomSet(7);
  const Location whole = GetParam().new_location();
  const WriteSummary expected = Write(whole, set, {});
  const Location by_parts = GetParam().new_location();
  const WriteSummary summary = WriteByParts(by_parts, set);
  ExpectEqual(ReadObjects(by_parts), ReadObjects(whole));
  EXPECT_EQ(summary.entries, expected.entries);
  EXPECT_EQ(summary.objects, expected.objects);

  // Once more, over what is there: no harm.
  WriteByParts(by_parts, set);
  ExpectEqual(ReadObjects(by_parts), ReadObjects(whole));
}

TEST_P(FormatSuite, LeavesOutDamagedEntriesOnRequestOnly) {
  TestSet set = RandomSet(8);
  MemoryStore source("source");
  std::vector<Entry> entries = PutIntoOneObject(source, set);
  const Location location = GetParam().new_location();
  const auto target = NewTarget(location, set);
  const uint64_t part = Must(target->PartOf(entries.front().key));
  std::erase_if(entries,
                [&](const Entry& e) { return Must(target->PartOf(e.key)) != part; });
  entries.front().extents.front().range = {uint64_t{1} << 40, 10};

  EntryList list(entries);
  PartSource part_source;
  part_source.store = &source;
  part_source.entries = &list;
  const auto failed = target->WritePart(part, part_source, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(failed.error().message, testing::HasSubstr(entries.front().key));

  std::set<std::string> skipped;
  Must(list.Rewind());
  part_source.skip_damaged = [&](const Entry& entry, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    return skipped.insert(entry.key).second;
  };
  const WriteSummary summary = Must(target->WritePart(part, part_source, {}));
  EXPECT_EQ(skipped, std::set<std::string>{entries.front().key});
  EXPECT_EQ(summary.entries, entries.size() - 1);
}

TEST_P(FormatSuite, DescribesATargetCompletely) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(9);
  const auto target = NewTarget(location, set);
  const auto again = Must(GetParam().format.reopen(location, target->Describe()));
  EXPECT_EQ(again->Describe(), target->Describe());
  EXPECT_EQ(again->format_name(), GetParam().format.name);
  EXPECT_EQ(again->codecs(), target->codecs());
  for (const auto& [key, value] : set) {
    const uint64_t part = Must(target->PartOf(key));
    EXPECT_EQ(Must(again->PartOf(key)), part);
    EXPECT_EQ(again->PartObject(part), target->PartObject(part));
  }
  const auto nonsense = GetParam().format.reopen(location, "not a description");
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().code, ErrorCode::kInvalidArgument);
}

TEST_P(ChangeSuite, AppliesChanges) {
  const Location location = GetParam().new_location();
  TestSet set = RandomSet(10);
  Write(location, set, {});
  const auto container = Open(location);

  const std::string fresh = GetParam().key(GetParam().entries + 1);
  const std::string replaced = GetParam().key(1);
  const std::string removed = GetParam().key(2);
  set[fresh].value = ByteVector(777, std::byte{7});
  set[replaced].value = ByteVector(5, std::byte{5});
  set.erase(removed);
  const std::vector<Change> changes = {
      {fresh, Bytes::Copy(set[fresh].value), {}},
      {replaced, Bytes::Copy(set[replaced].value), {}},
      {removed, std::nullopt, {}},
  };
  Must(container->Apply(changes));
  ExpectEqual(ReadByScan(*container), set);
  const auto reopened = Open(location);
  ExpectEqual(ReadBySearch(*reopened, set), set);
  EXPECT_EQ(Must(reopened->Find(removed)), std::nullopt);
}

TEST_P(ChangeSuite, ChangesNothingIfAKeyToRemoveIsAbsent) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(11);
  Write(location, set, {});
  const Objects before = ReadObjects(location);
  const std::vector<Change> changes = {
      {GetParam().key(0), Bytes::Copy(AsBytes("new")), {}},
      {GetParam().key(GetParam().entries + 1), std::nullopt, {}},
  };
  const auto applied = Open(location)->Apply(changes);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kNotFound);
  ExpectEqual(ReadObjects(location), before);
}

TEST_P(ChangeSuite, ReportsTheProgressOfChanges) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(13), {});
  std::vector<Change> changes = {{GetParam().key(0), std::nullopt, {}}};
  for (uint64_t i = 1; i < 4; ++i) {
    changes.push_back(
        {GetParam().key(i), Bytes::Copy(ByteVector(1000, std::byte{1})), {}});
  }
  std::vector<Progress> reported;
  Must(Open(location)->Apply(
      changes,
      {.progress = [&](const Progress& progress) { reported.push_back(progress); },
       .stop = {}}));
  ASSERT_FALSE(reported.empty());
  EXPECT_GE(reported.back().total_bytes, 3000U);
  EXPECT_EQ(reported.back().bytes, reported.back().total_bytes);
  for (size_t i = 1; i < reported.size(); ++i) {
    EXPECT_EQ(reported[i].total_bytes, reported[0].total_bytes);
    EXPECT_GE(reported[i].bytes, reported[i - 1].bytes);
  }
}

TEST_P(ChangeSuite, ChangesNothingOnceItIsStopped) {
  const Location location = GetParam().new_location();
  Write(location, RandomSet(14), {});
  const Objects before = ReadObjects(location);
  const std::vector<Change> changes = {
      {GetParam().key(0), Bytes::Copy(AsBytes("new")), {}},
      {GetParam().key(1), std::nullopt, {}},
  };
  std::stop_source stop;
  stop.request_stop();
  const auto applied =
      Open(location)->Apply(changes, {.progress = {}, .stop = stop.get_token()});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kCancelled);
  ExpectEqual(ReadObjects(location), before);
}

TEST_P(ReadSuite, ServesManyThreadsAtOnce) {
  const Location location = GetParam().new_location();
  const TestSet set = RandomSet(12);
  Write(location, set, {});
  const auto container = Open(location);
  constexpr size_t kThreads = 8;
  std::atomic<size_t> equal = 0;
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<const TestSet::value_type*> order;
        for (const auto& entry : set) order.push_back(&entry);
        std::shuffle(order.begin(), order.end(), std::mt19937_64(t));
        for (const auto* expected : order) {
          const auto entry = container->Find(expected->first);
          if (!entry || !*entry) continue;
          const auto data = ReadEntry(container->store(), **entry);
          if (data && Equal(data->value, expected->second.value)) ++equal;
        }
      });
    }
  }
  EXPECT_EQ(equal, kThreads * set.size());
}

TEST_P(PrecedingSuite, CarriesPrecedingBytes) {
  const TestSet set = SetWithPreceding();
  const Location location = GetParam().new_location();
  Write(location, set, {Way::Order::kShuffled, 4, kTinyMemory});
  const auto container = Open(location);
  ExpectEqual(ReadBySearch(*container, set), set);
  ExpectEqual(ReadByScan(*container), set);

  const Location by_parts = GetParam().new_location();
  WriteByParts(by_parts, set);
  ExpectEqual(ReadObjects(by_parts), ReadObjects(location));
}

TEST_P(PrecedingSuite, ChangesPrecedingBytes) {
  TestSet set = SetWithPreceding();
  const Location location = GetParam().new_location();
  Write(location, set, {});
  const std::string key = GetParam().key(3);
  set[key] = GetParam().with_preceding(GetParam().entries + 3);
  const Change change{key, Bytes::Copy(set[key].value), Bytes::Copy(set[key].preceding)};
  const auto container = Open(location);
  Must(container->Apply({&change, 1}));
  ExpectEqual(ReadByScan(*container), set);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReadSuite);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FormatSuite);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ChangeSuite);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PrecedingSuite);

}  // namespace dolium
