#include "dolium/formats/shardpack/split_sample.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/container.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kLimit = 10'000;

std::string Noise(size_t size) {
  std::string text(size, ' ');
  uint64_t state = size;
  for (char& c : text) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(state >> 56);
  }
  return text;
}

Sample Giant() {
  return {.key = "giant",
          .metadata = {MetadataFormat::kJson, Text("{}")},
          .files = {{.name = "first", .data = Text("before")},
                    {.name = "large.bin",
                     .content_type = "application/octet-stream",
                     .data = Text(Noise(95'000)),
                     .modified = 7},
                    {.name = "last", .data = Text("behind")}}};
}

PackOptions SplitOptions(Compression compression = Compression::kNone) {
  PackOptions options;
  options.shard.encode.compression = compression;
  options.shard.encode.record_limit = kLimit;
  options.oversize = Oversize::kSplit;
  return options;
}

std::string PackGiant(Compression compression = Compression::kNone) {
  const std::vector<Sample> samples = {{.key = "a", .files = {{.name = "x"}}},
                                       Giant(),
                                       {.key = "z", .files = {{.name = "x"}}}};
  const auto shards = Pack(samples, SplitOptions(compression));
  EXPECT_EQ(shards.size(), 1U);
  return shards[0];
}

TEST(SplitSample, FillsRecordsToTheLimit) {
  const EncodeOptions options{.record_limit = kLimit};
  const auto parts = Must(SplitSample(Giant(), options));
  ASSERT_EQ(parts.size(), 10U);
  uint64_t end = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto record =
        Must(EncodePart(parts[i], {static_cast<uint32_t>(i), 10}, options));
    EXPECT_LE(record.size, kLimit);
    const bool is_last = i + 1 == parts.size();
    EXPECT_TRUE(is_last || record.size > kLimit - 200) << record.size;
    for (const File& file : parts[i].files) {
      if (file.name != "large.bin") continue;
      EXPECT_EQ(file.segment, (FileSegment{end, 95'000}));
      EXPECT_EQ(file.modified.has_value(), end == 0);
      end += file.data.size();
    }
  }
  EXPECT_EQ(end, 95'000U);
  EXPECT_EQ(parts.back().files.back().name, "last");
}

TEST(SplitSample, CutsNoFileThatFitsIntoARecord) {
  const EncodeOptions options{.record_limit = kLimit};
  Sample sample{.key = "k"};
  for (int i = 0; i < 5; ++i) {
    sample.files.push_back({.name = fmt::format("{}", i), .data = Text(Noise(4000))});
  }
  const auto parts = Must(SplitSample(sample, options));
  ASSERT_EQ(parts.size(), 3U);
  for (const Sample& part : parts) {
    for (const File& file : part.files) EXPECT_FALSE(file.segment);
  }
}

TEST(SplitSample, NeedsRoomForContents) {
  Sample sample = Giant();
  sample.metadata.bytes = Text(std::string(9'500, ' '));
  const auto parts = SplitSample(sample, {.record_limit = kLimit});
  ASSERT_TRUE(parts) << parts.error().message;  // The first holds a small file.
  sample.files.erase(sample.files.begin());
  const auto none = SplitSample(sample, {.record_limit = kLimit});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, "record-size");
  EXPECT_THAT(none.error().message,
              HasSubstr("\"giant\": entry \"large.bin\" of 95000 bytes cannot be cut"));
}

TEST(SampleJoiner, UndoesSplitSample) {
  for (const auto compression : {Compression::kNone, Compression::kZstd}) {
    const std::string bytes = PackGiant(compression);
    const Streamed streamed = Stream(bytes);
    EXPECT_EQ(streamed.verdict, "complete");
    SampleJoiner joiner;
    std::vector<Sample> samples;
    for (const Record& record : streamed.records) {
      auto sample =
          Must(joiner.Add(Must(record.Decode({})), Must(ParsePart(record.header()))));
      if (sample) samples.push_back(*std::move(sample));
    }
    Must(joiner.Finish());
    ASSERT_EQ(samples.size(), 3U);
    ExpectEqual(samples[1], Giant());
  }
}

TEST(SampleJoiner, MissesWhatIsNotThere) {
  const Streamed streamed = Stream(PackGiant());
  const auto join = [&](size_t left_out) -> Result<void> {
    SampleJoiner joiner;
    for (size_t i = 0; i < streamed.records.size(); ++i) {
      const Record& record = streamed.records[i];
      if (i == left_out) continue;
      DOLIUM_TRY(auto sample, record.Decode({}));
      DOLIUM_TRY(const auto part, ParsePart(record.header()));
      DOLIUM_TRY([[maybe_unused]] const auto joined, joiner.Add(sample, part));
    }
    return joiner.Finish();
  };
  EXPECT_THAT(join(1).error().message, HasSubstr("part 1 of 10 without the parts"));
  EXPECT_THAT(join(4).error().message, HasSubstr("part 3 of 10 is missing"));
  EXPECT_THAT(join(10).error().message, HasSubstr("part 9 of 10 is missing"));
  EXPECT_EQ(join(4).error().kind, kind::kRecord);
  EXPECT_TRUE(join(99));
}

TEST(SplitSamples, AreGood) {
  for (const auto compression : {Compression::kNone, Compression::kLz4}) {
    const std::string bytes = PackGiant(compression);
    EXPECT_THAT(Verdicts(InMemory(bytes)), IsEmpty());
    const auto shard = Must(Shard::Open(InMemory(bytes)));
    EXPECT_EQ(shard->size(), 12U);
    EXPECT_EQ(Must(shard->FindAll("giant")).size(), 10U);
  }
}

TEST(SplitSamples, HaveWholeFilesAsEntries) {
  const PackContainer container(InMemory(PackGiant(Compression::kZstd)), false);
  const auto entry = Must(container.Find("giant/large.bin"));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->size, 95'000U);
  EXPECT_EQ(AsText(Must(ReadEntry(container.store(), *entry)).value), Noise(95'000));
  std::vector<std::string> keys;
  Must(container.ScanObject("a.shardpack", {.entry =
                                                [&](const Entry& found) {
                                                  keys.push_back(found.key);
                                                  return true;
                                                },
                                            .damage = {}}));
  EXPECT_THAT(keys,
              ElementsAre("a/x", "giant/first", "giant/large.bin", "giant/last", "z/x"));
}

// A shard of some of the records of another.
std::string Without(const std::string& bytes, uint64_t left_out) {
  const auto shard = Must(Shard::Open(InMemory(bytes)));
  PackOptions options;
  const Location target = InMemory("", "other");
  options.place = [&](uint64_t) { return target.Parent().Child("b.shardpack"); };
  const auto writer = Must(PackWriter::Create(options));
  for (uint64_t i = 0; i < shard->size(); ++i) {
    if (i != left_out) {
      Must(writer->AddBlock(Must(shard->ReadBlock(i)), Check::kFull));
    }
  }
  return BytesAt(Must(writer->Finish()).shards[0].location);
}

TEST(SplitSamples, AreReportedIfAPartIsMissing) {
  const std::string bytes = PackGiant();
  for (const uint64_t left_out : {1, 5, 10}) {
    const std::string cut = Without(bytes, left_out);
    EXPECT_THAT(Verdicts(InMemory(cut)), ElementsAre("error record")) << left_out;
    const PackContainer container(InMemory(cut), false);
    const auto entry = container.Find("giant/large.bin");
    ASSERT_FALSE(entry);
    EXPECT_EQ(entry.error().kind, kind::kRecord);
    size_t entries = 0;
    std::vector<std::string> damage;
    Must(container.ScanObject("a.shardpack", {.entry =
                                                  [&](const Entry&) {
                                                    ++entries;
                                                    return true;
                                                  },
                                              .damage =
                                                  [&](const Finding& finding) {
                                                    damage.push_back(finding.message);
                                                    return true;
                                                  }}));
    EXPECT_GE(entries, 2U);
    EXPECT_FALSE(damage.empty());
  }
}

// Who does not know the extension refuses the entry: a reader of version 1 from before.
TEST(SplitSamples, AreCutByACriticalExtension) {
  EXPECT_NE(kEntryExtensionSegment & kExtensionCritical, 0);
  const auto shard = Must(Shard::Open(InMemory(PackGiant())));
  const Record record = Must(shard->Read(3));
  ASSERT_EQ(record.entries().size(), 1U);
  EXPECT_TRUE(record.entries()[0].is_partial());
  const std::string names[] = {"large.bin"};
  EntryHeader found;
  EXPECT_THAT(
      PickEntries(record.block(), names, Check::kFull, {&found, 1}).error().message,
      HasSubstr("of a file of 95000 are here alone"));
}

TEST(EntryHeader, RefusesSegmentsThatCannotBe) {
  const auto encode = [](FileSegment segment) {
    const Sample sample{
        .key = "k", .files = {{.name = "f", .data = Text("1234"), .segment = segment}}};
    return Must(EncodePart(sample, {0, 2}, {}));
  };
  const auto damage = [&](FileSegment segment) {
    ByteVector block;
    for (const Bytes& bytes : encode(segment).segments) Append(block, bytes);
    return Must(Record::Parse(Bytes::FromVector(block), Check::kFull)).damage();
  };
  EXPECT_FALSE(damage({0, 4}));
  EXPECT_FALSE(damage({5, 9}));
  EXPECT_TRUE(damage({5, 8}));
  EXPECT_THAT(damage({UINT64_MAX, UINT64_MAX})->message,
              HasSubstr("a segment of 4 bytes at 18446744073709551615"));
}

}  // namespace
}  // namespace dolium::shardpack
