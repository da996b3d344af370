#include "dolium/ops/verify.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/ops/testing/fake_container.h"

namespace dolium {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Outcome {
  VerifyReport report;
  std::vector<Finding> findings;
};

Outcome RunVerify(const Container& container, const VerifyOptions& options) {
  Outcome outcome;
  outcome.report = Must(Verify(container, options, [&](const Finding& finding) {
    outcome.findings.push_back(finding);
  }));
  return outcome;
}

TEST(Verify, ReadsEveryEntryWhateverTheNumberOfThreads) {
  FakeContainer container;
  container.AddObject("one", 3000);
  container.AddObject("two", 1);
  container.AddObject("zero", 0);
  for (const size_t jobs : {1, 2, 8}) {
    VerifyOptions options;
    options.jobs = jobs;
    Progress last;
    options.progress = [&](const Progress& progress) { last = progress; };
    const Outcome outcome = RunVerify(container, options);
    EXPECT_THAT(outcome.findings, IsEmpty());
    EXPECT_EQ(outcome.report.objects, 3U);
    EXPECT_EQ(outcome.report.entries, 3001U);
    EXPECT_EQ(outcome.report.entries_read, 3001U);
    EXPECT_EQ(outcome.report.bytes_read, Must(container.store().Stat("one"))->size +
                                             Must(container.store().Stat("two"))->size);
    // "one-0" ... "one-2999" and "two-0".
    EXPECT_EQ(outcome.report.bytes_decoded, 10U * 5 + 90 * 6 + 900 * 7 + 2000 * 8 + 5);
    EXPECT_EQ(last.entries, 3001U);
    EXPECT_EQ(last.bytes, outcome.report.bytes_read);
  }
}

// A store whose reads wait until several threads are in them at once.
class MeetingStore final : public Store {
 public:
  MeetingStore(std::shared_ptr<Store> base, size_t wanted)
      : base_(std::move(base)), wanted_(wanted) {}

  std::string Describe(std::string_view object) const override {
    return base_->Describe(object);
  }
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override {
    return base_->Stat(object);
  }
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override {
    return base_->List(folder, visit);
  }
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    arrived_.notify_all();
    arrived_.wait_for(lock, std::chrono::seconds(10), [&] { return most_ >= wanted_; });
    --inside_;
    lock.unlock();
    return base_->ReadInto(object, slices, options);
  }
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override {
    return base_->ReadWhole(object, limit);
  }
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override {
    return base_->Begin(object);
  }
  Result<void> Remove(std::string_view object,
                      const Precondition& precondition) override {
    return base_->Remove(object, precondition);
  }
  size_t most_at_once() const { return most_; }

 private:
  const std::shared_ptr<Store> base_;
  const size_t wanted_;
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  mutable size_t inside_ = 0;
  mutable size_t most_ = 0;
};

// The same index over another store.
class OverStore final : public Container {
 public:
  OverStore(const Container& base, std::shared_ptr<Store> store)
      : base_(base), location_{std::move(store), base.location().path} {}
  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return base_.format_name(); }
  Properties properties() const override { return {}; }
  Result<std::optional<Entry>> Find(std::string_view key) const override {
    return base_.Find(key);
  }
  Result<std::vector<std::string>> Objects() const override { return base_.Objects(); }
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override {
    return base_.ScanObject(object, visitor);
  }
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override {
    return base_.CheckObject(object, visitor);
  }

 private:
  const Container& base_;
  const Location location_;
};

TEST(Verify, UsesAllThreadsForOneObject) {
  FakeContainer container;
  container.AddObject("one", 4000);
  const auto store = std::make_shared<MeetingStore>(container.location().store, 4);
  const OverStore over(container, store);
  VerifyOptions options;
  options.jobs = 4;
  const Outcome outcome = RunVerify(over, options);
  EXPECT_EQ(outcome.report.entries_read, 4000U);
  EXPECT_EQ(store->most_at_once(), 4U);
}

TEST(Verify, FindsEachDamagedEntryAndCarriesOn) {
  FakeContainer container;
  container.AddObject("one", 600);
  container.AddObject("two", 600);
  container.entry("one", 7).extents[0].range = {uint64_t{1} << 40, 10};
  container.entry("one", 8).extents[0].range.length -= 1;
  container.entry("two", 599).extents[0].range.offset += 1;
  for (const size_t jobs : {1, 4}) {
    VerifyOptions options;
    options.jobs = jobs;
    Outcome outcome = RunVerify(container, options);
    EXPECT_EQ(outcome.report.entries_read, 1200U);
    EXPECT_EQ(outcome.report.errors, 3U);
    std::sort(outcome.findings.begin(), outcome.findings.end(),
              [](const Finding& a, const Finding& b) { return a.key < b.key; });
    ASSERT_EQ(outcome.findings.size(), 3U);
    const Finding& past_end = outcome.findings[0];
    EXPECT_EQ(past_end.kind, "read");
    EXPECT_EQ(past_end.object, "memory://m/one");
    EXPECT_EQ(past_end.key, "one-7");
    EXPECT_EQ(past_end.range, (ByteRange{uint64_t{1} << 40, 10}));
    EXPECT_THAT(past_end.message,
                testing::StartsWith("bytes [1099511627776, 1099511627786)"));
    EXPECT_EQ(outcome.findings[1].kind, "gzip");
    EXPECT_EQ(outcome.findings[1].key, "one-8");
    EXPECT_EQ(outcome.findings[1].message, "gzip stream is cut short");
    EXPECT_EQ(outcome.findings[2].key, "two-599");
  }
}

TEST(Verify, TellsDamageOfAnIndexOnce) {
  FakeContainer container;
  container.AddObject("bad", 10);
  container.AddObject("gone", 10);
  container.AddObject("odd", 10);
  container.damaged = "bad";
  container.unreadable = "gone";
  container.odd = "odd";
  VerifyOptions options;
  options.jobs = 1;
  const Outcome outcome = RunVerify(container, options);
  ASSERT_EQ(outcome.findings.size(), 3U);
  EXPECT_EQ(outcome.findings[0].message, "a damaged block");
  EXPECT_EQ(outcome.findings[1].kind, "index");
  EXPECT_EQ(outcome.findings[1].object, "memory://m/gone");
  EXPECT_EQ(outcome.findings[1].message, "no index");
  EXPECT_EQ(outcome.findings[2].kind, "gap");
  EXPECT_EQ(outcome.report.errors, 2U);
  EXPECT_EQ(outcome.report.warnings, 1U);
  EXPECT_EQ(outcome.report.entries_read, 20U);
}

TEST(Verify, ChecksAnObjectAgainThatIsReplacedMeanwhile) {
  FakeContainer container;
  container.AddObject("one", 3);
  container.replacements = 10;
  const Outcome outcome = RunVerify(container, {});
  EXPECT_THAT(outcome.findings, IsEmpty());
  EXPECT_EQ(outcome.report.entries_read, 3U);
  EXPECT_EQ(container.replacements, 0);
}

TEST(Verify, ReadsEntriesAgainThatAreReplacedMeanwhile) {
  const Location folder{std::make_shared<MemoryStore>("test"), "set"};
  const auto put = [&](std::string_view key, std::string_view text) {
    Must(folder.store->Put(folder.Child(key).path, AsBytes(text), Precondition::None()));
  };
  for (const char* key : {"a", "b", "c"}) put(key, "old");
  const files::FilesContainer container(folder);
  VerifyOptions options;
  options.jobs = 1;
  options.check_entry = [&](const Entry& entry) -> Result<void> {
    if (entry.key == "a") put("a", "new and longer");
    if (entry.key == "b") {
      Must(folder.store->Remove(folder.Child("b").path, Precondition::None()));
    }
    return {};
  };
  std::vector<std::string> values;
  options.check_value = [&](const Entry& entry, const Bytes& value) -> Result<void> {
    values.push_back(entry.key + " " + std::string(AsText(value)));
    return {};
  };
  const Outcome outcome = RunVerify(container, options);
  EXPECT_THAT(outcome.findings, IsEmpty());
  EXPECT_THAT(values, ElementsAre("a new and longer", "c old"));
}

// Such a one is read in segments, and never whole.
TEST(Verify, ComparesTheSha256OfALargeEntry) {
  FakeContainer container;
  container.AddObject("one", 1);
  constexpr size_t kHalf = size_t{33} << 20;
  ByteVector half(kHalf);
  for (size_t i = 0; i < kHalf; ++i) half[i] = static_cast<std::byte>(i % 251);
  const auto version = std::make_shared<const ObjectVersion>(ObjectVersion{
      "half", Must(container.location().store->Put("half", half, Precondition::None()))});
  Entry& entry = container.entry("one", 0);
  entry.extents = {{version, {0, kHalf}, {}}, {version, {0, kHalf}, {}}};
  Sha256 digest;
  digest.Update(half);
  digest.Update(half);
  entry.sha256 = digest.Finish();
  const Outcome good = RunVerify(container, {});
  EXPECT_THAT(good.findings, IsEmpty());
  EXPECT_EQ(good.report.bytes_decoded, 2 * kHalf);
  (*entry.sha256)[0] ^= std::byte{1};
  const Outcome bad = RunVerify(container, {});
  ASSERT_EQ(bad.findings.size(), 1U);
  EXPECT_EQ(bad.findings[0].kind, "sha256");
  EXPECT_EQ(bad.findings[0].key, "one-0");
}

TEST(Verify, QuickReadsNoPayload) {
  FakeContainer container;
  container.AddObject("one", 1000);
  container.damaged = "one";
  container.entry("one", 0).extents[0].range.offset = 1;
  auto& store = static_cast<MemoryStore&>(*container.location().store);
  VerifyOptions options;
  options.depth = CheckDepth::kQuick;
  const uint64_t before = store.reads();
  const Outcome outcome = RunVerify(container, options);
  EXPECT_EQ(store.reads() - before, 1U);  // for the marker
  EXPECT_EQ(outcome.report.entries, 1000U);
  EXPECT_EQ(outcome.report.entries_read, 0U);
  EXPECT_EQ(outcome.report.errors, 1U);
}

TEST(Verify, ReadsASampleChosenBySeed) {
  FakeContainer container;
  container.AddObject("one", 2000);
  // All are damaged, so that the findings show which were read.
  for (size_t i = 0; i < 2000; ++i)
    container.entry("one", i).extents[0].range.length -= 1;
  const auto sampled = [&](uint64_t seed) {
    VerifyOptions options;
    options.sample = 0.1;
    options.seed = seed;
    const Outcome outcome = RunVerify(container, options);
    EXPECT_EQ(outcome.report.entries, 2000U);
    std::set<std::string> keys;
    for (const Finding& finding : outcome.findings) keys.insert(finding.key);
    EXPECT_EQ(keys.size(), outcome.report.entries_read);
    return keys;
  };
  const auto first = sampled(1);
  EXPECT_GT(first.size(), 120U);
  EXPECT_LT(first.size(), 280U);
  EXPECT_EQ(sampled(1), first);
  EXPECT_NE(sampled(2), first);
}

TEST(Verify, RejectsASenselessSample) {
  const FakeContainer container;
  for (const double sample : {0.0, -1.0, 1.5}) {
    VerifyOptions options;
    options.sample = sample;
    const auto verified = Verify(container, options, {});
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Verify, CallsASetWithAMarkerUnfinished) {
  FakeContainer container;
  container.AddObject("one", 3);
  Must(WriteMarker(container.location(), "{}"));
  const Outcome outcome = RunVerify(container, {});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, "unfinished");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kError);
  EXPECT_EQ(outcome.report.entries_read, 3U);
}

TEST(Verify, StopsOnRequest) {
  FakeContainer container;
  container.AddObject("one", 5000);
  for (const size_t jobs : {1, 4}) {
    std::stop_source stop;
    VerifyOptions options;
    options.jobs = jobs;
    options.stop = stop.get_token();
    options.progress = [&](const Progress&) { stop.request_stop(); };
    const auto verified = Verify(container, options, {});
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace dolium
