#include "dolium/formats/shardpack/pack_writer.h"

#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PackOptions Options(Compression compression = Compression::kZstd) {
  PackOptions options;
  options.shard.encode.compression = compression;
  options.shard.reproducible = true;
  options.jobs = 1;
  return options;
}

// A place in a store of its own.
std::function<Location(uint64_t)> AnyDestination() {
  return [store = std::make_shared<MemoryStore>("packed")](uint64_t number) {
    return Location{store, fmt::format("{}.shardpack", number)};
  };
}

// The same text in many small files: what a dictionary is for.
std::vector<Sample> Annotations(size_t count) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    const std::string text = fmt::format(
        R"({{"id":{},"label":"{}","box":[{},{},{},{}],"source":"camera {}"}})", i,
        i % 3 == 0 ? "person" : "bicycle", i % 97, i % 89, i % 83, i % 79, i % 5);
    samples.push_back({.key = fmt::format("{:06}", i),
                       .files = {{.name = "a.json",
                                  .content_type = "application/json",
                                  .data = Text(text)}}});
  }
  return samples;
}

TEST(PackWriter, WritesTheSameWhateverTheThreadsAndTheMemory) {
  const auto samples = RandomSamples(1, 600);
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kLz4, Compression::kZstd}) {
    PackOptions options = Options(compression);
    options.shard_bytes = 200'000;
    const auto expected = Pack(samples, options);
    EXPECT_GT(expected.size(), 3U);
    EXPECT_EQ(Pack(samples, options), expected);
    for (const size_t jobs : {2, 7}) {
      for (const uint64_t memory : {uint64_t{0}, uint64_t{1} << 20, uint64_t{1} << 30}) {
        options.jobs = jobs;
        options.memory = memory;
        EXPECT_EQ(Pack(samples, options), expected) << jobs << " " << memory;
      }
    }
  }
}

TEST(PackWriter, RoundTripsThroughGoodShards) {
  const auto samples = RandomSamples(2, 300);
  PackOptions options = Options();
  options.jobs = 3;
  options.shard_records = 70;
  options.shard.tail.keys = true;
  options.shard.tail.entry_index = Wanted::kYes;
  PackSummary summary;
  const auto shards = Pack(samples, options, &summary);
  EXPECT_EQ(shards.size(), 5U);
  EXPECT_EQ(summary.records, 300U);
  size_t next = 0;
  for (const std::string& shard : shards) {
    EXPECT_THAT(Verdicts(InMemory(shard)), IsEmpty());
    for (const Sample& sample : ReadSamples(InMemory(shard))) {
      ExpectEqual(sample, samples[next++]);
    }
  }
  EXPECT_EQ(next, samples.size());
  const auto last = Must(Shard::Open(InMemory(shards.back())));
  EXPECT_EQ(last->size(), 20U);
  EXPECT_EQ(Must(last->metadata())["shardpack"]["shard_index"], 4);
}

TEST(PackWriter, RollsBeforeTheRecordThatWouldBeTooMuch) {
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) {
    samples.push_back({.key = std::to_string(i),
                       .files = {{.name = "a", .data = Text(std::string(1000, 'x'))}}});
  }
  const uint64_t size = Must(EncodeRecord(samples[0], {})).size;
  PackOptions options = Options(Compression::kNone);
  const auto counts = [&](uint64_t shard_bytes) {
    options.shard_bytes = shard_bytes;
    std::vector<uint64_t> records;
    for (const std::string& shard : Pack(samples, options)) {
      records.push_back(Must(Shard::Open(InMemory(shard)))->size());
    }
    return records;
  };
  EXPECT_THAT(counts(3 * size), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(counts(3 * size - 1), ElementsAre(2, 2, 2, 2, 2));
  EXPECT_THAT(counts(1), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(counts(0), ElementsAre(10));
}

TEST(PackWriter, WritesAnEmptyShardOfNothing) {
  const auto shards = Pack({}, Options());
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_EQ(Must(Shard::Open(InMemory(shards[0])))->size(), 0U);
  EXPECT_THAT(Verdicts(InMemory(shards[0])), IsEmpty());
}

TEST(PackWriter, SaysTheTimeUnlessItShallBeReproducible) {
  PackOptions options = Options();
  options.shard.reproducible = false;
  const auto meta = [&] {
    return Must(Must(Shard::Open(InMemory(Pack(RandomSamples(1, 1), options)[0])))
                    ->metadata())["shardpack"];
  };
  EXPECT_TRUE(meta().contains("created"));
  options.shard.reproducible = true;
  EXPECT_FALSE(meta().contains("created"));
}

TEST(PackWriter, TrainsADictionaryThatEveryShardCarries) {
  const auto samples = Annotations(3000);
  PackOptions options = Options();
  options.shard_records = 1000;
  const auto without = Pack(samples, options);
  options.dictionary_bytes = 4096;
  const auto with = Pack(samples, options);
  ASSERT_EQ(with.size(), 3U);
  size_t next = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    EXPECT_LT(with[i].size(), without[i].size() * 9 / 10);
    EXPECT_THAT(Verdicts(InMemory(with[i])), IsEmpty());
    const auto shard = Must(Shard::Open(InMemory(with[i])));
    EXPECT_EQ(shard->footer().features_optional, 1U);
    EXPECT_TRUE(shard->stat()->is_regular);  // The dictionary does not count.
    for (const Sample& sample : ReadSamples(InMemory(with[i]))) {
      ExpectEqual(sample, samples[next++]);
    }
    const Streamed streamed = Stream(with[i]);
    EXPECT_EQ(streamed.verdict, "complete");
    const Dictionaries dictionaries = DictionariesIn(streamed.records[0], {});
    ASSERT_EQ(dictionaries.size(), 1U);
    ExpectEqual(Must(streamed.records[500].Decode({.dictionaries = &dictionaries})),
                samples[1000 * i + 500]);
  }
  for (const size_t jobs : {2, 7}) {
    options.jobs = jobs;
    EXPECT_EQ(Pack(samples, options), with);
  }
}

TEST(PackWriter, GoesWithoutADictionaryWhereNoneCanBeHad) {
  PackOptions options = Options();
  options.dictionary_bytes = 4096;
  const auto shards = Pack(Annotations(2), options);
  EXPECT_EQ(Must(Shard::Open(InMemory(shards[0])))->footer().features_optional, 0U);
  EXPECT_EQ(ReadSamples(InMemory(shards[0])).size(), 2U);
}

TEST(PackWriter, KeepsTombstones) {
  std::vector<Sample> samples = RandomSamples(3, 5);
  samples.insert(samples.begin() + 2, Sample{.key = "gone", .tombstone = true});
  const auto shards = Pack(samples, Options());
  const auto read = ReadSamples(InMemory(shards[0]));
  ASSERT_EQ(read.size(), 6U);
  EXPECT_TRUE(read[2].tombstone);
  EXPECT_THAT(Verdicts(InMemory(shards[0])), IsEmpty());

  // A dictionary has no place in one.
  std::vector<Sample> overlay = Annotations(1000);
  overlay.insert(overlay.begin(), Sample{.key = "gone", .tombstone = true});
  PackOptions options = Options();
  options.dictionary_bytes = 4096;
  options.place = AnyDestination();
  const auto writer = Must(PackWriter::Create(options));
  Result<void> added;
  for (const Sample& sample : overlay) {
    if (added) added = writer->Add(sample);
  }
  const auto finished = writer->Finish();
  EXPECT_THAT(finished.error().message, HasSubstr("\"gone\": a tombstone cannot be"));
}

std::vector<Sample> OneLarge() {
  std::vector<Sample> samples = RandomSamples(4, 3);
  Sample large{.key = "large", .metadata = {MetadataFormat::kJson, Text("{}")}};
  for (int i = 0; i < 4; ++i) {
    large.files.push_back(
        {.name = std::to_string(i), .data = Text(std::string(30'000, 'x'))});
  }
  samples.insert(samples.begin() + 1, large);
  return samples;
}

TEST(PackWriter, SplitsSamplesThatAreTooLarge) {
  PackOptions options = Options(Compression::kNone);
  options.shard.encode.record_limit = 40'000;
  options.oversize = Oversize::kSplit;
  options.shard_bytes = 60'000;  // Parts stay together all the same.
  const auto samples = OneLarge();
  const auto shards = Pack(samples, options);
  ASSERT_EQ(shards.size(), 3U);
  EXPECT_THAT(Verdicts(InMemory(shards[1])), IsEmpty());
  const auto shard = Must(Shard::Open(InMemory(shards[1])));
  ASSERT_EQ(shard->size(), 4U);
  EXPECT_TRUE(shard->stat()->has_parts);
  EXPECT_THAT(Must(shard->FindAll("large")), ElementsAre(0, 1, 2, 3));
  for (uint32_t i = 0; i < 4; ++i) {
    const Record record = Must(shard->Read(i));
    const auto part = Must(ParsePart(record.header()));
    ASSERT_TRUE(part);
    EXPECT_EQ(part->index, i);
    EXPECT_EQ(part->count, 4U);
    EXPECT_EQ(record.metadata().bytes.size(), i == 0 ? 2U : 0U);
    EXPECT_EQ(record.entries()[0].name, std::to_string(i));
  }
}

// What is refused and what appears if 2,000 samples are added, three of them bad and one
// too large, and the caller goes on after each error.
struct Survivors {
  std::vector<std::string> refused;  // keys
  std::vector<std::string> errors;
  std::vector<std::string> kept;
};

Survivors AddInSpiteOfErrors(PackOptions options) {
  options.place = AnyDestination();
  options.shard.encode.record_limit = 40'000;
  const auto writer = Must(PackWriter::Create(options));
  Survivors survivors;
  for (Sample& sample : Annotations(2000)) {
    File& file = sample.files[0];
    if (sample.key == "000010") file.name = "../evil";
    if (sample.key == "000700") sample.files.push_back(file);
    if (sample.key == "001200") file.array = ArrayShape{std::string(300, 'x'), {}};
    if (sample.key == "001300") {
      std::mt19937_64 random(1);
      std::string noise(50'000, ' ');
      for (char& letter : noise) letter = static_cast<char>(random());
      file.data = Text(noise);
    }
    // Large, but only until it is compressed.
    if (sample.key == "001400" &&
        options.shard.encode.compression != Compression::kNone) {
      file.data = Text(std::string(50'000, 'x'));
    }
    const std::string key = sample.key;
    const auto added = writer->Add(std::move(sample));
    if (added) continue;
    survivors.refused.push_back(key);
    survivors.errors.push_back(added.error().message);
  }
  const auto summary = Must(writer->Finish());
  for (const Sample& sample : ReadSamples(summary.shards[0].location)) {
    survivors.kept.push_back(sample.key);
  }
  EXPECT_THAT(Verdicts(summary.shards[0].location), IsEmpty());
  return survivors;
}

TEST(PackWriter, RefusesWhatIsWrongWithASampleAtOnceAndKeepsTheOthers) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    for (const size_t jobs : {1, 4}) {
      for (const size_t dictionary : {0, 4096}) {
        if (dictionary > 0 && compression != Compression::kZstd) continue;
        PackOptions options = Options(compression);
        options.jobs = jobs;
        options.dictionary_bytes = dictionary;
        const Survivors survivors = AddInSpiteOfErrors(options);
        EXPECT_THAT(survivors.refused,
                    ElementsAre("000010", "000700", "001200", "001300"));
        EXPECT_THAT(
            survivors.errors,
            ElementsAre(
                "\"000010\": entry \"../evil\": the name leads upwards",
                "\"000700\": entry \"a.json\" is there twice",
                "\"001200\": entry \"a.json\": array with too long a dtype or too "
                "many dimensions",
                HasSubstr("\"001300\": a record of 50")));
        EXPECT_EQ(survivors.kept.size(), 1996U) << jobs << " " << dictionary;
      }
    }
  }
}

TEST(PackWriter, RefusesPartsThatAreTooLargeAtOnce) {
  for (const size_t jobs : {1, 3}) {
    PackOptions options = Options(Compression::kLz4);
    options.jobs = jobs;
    options.oversize = Oversize::kSplit;
    options.shard.encode.record_limit = 100;
    options.shard.encode.worth_compressing = [](std::string_view) { return false; };
    options.place = AnyDestination();
    const auto writer = Must(PackWriter::Create(options));
    EXPECT_THAT(writer->Add(OneLarge()[1]).error().message,
                HasSubstr("\"large\": entry \"0\" of 30000 bytes cannot be cut into "
                          "records of 100"));
    Must(writer->Add({.key = "a", .files = {{.name = "b", .data = Text("c")}}}));
    EXPECT_EQ(Must(writer->Finish()).records, 1U);
  }
}

TEST(PackWriter, FailsForGoodOnceItCannotWrite) {
  for (const size_t jobs : {1, 4}) {
    PackOptions options = Options();
    options.jobs = jobs;
    options.memory = 0;
    options.shard_records = 100;
    const auto place = AnyDestination();
    // The third shard is there already.
    options.place = [&](uint64_t number) { return place(number == 2 ? 0 : number); };
    const auto writer = Must(PackWriter::Create(options));
    size_t failed = 0;
    for (const Sample& sample : RandomSamples(7, 1000)) {
      const auto added = writer->Add(sample);
      if (added) {
        EXPECT_EQ(failed, 0U);
        continue;
      }
      ++failed;
      EXPECT_EQ(added.error().code, ErrorCode::kExists);
    }
    EXPECT_GT(failed, 0U);
    EXPECT_EQ(writer->Finish().error().code, ErrorCode::kExists);
    EXPECT_EQ(Must(Shard::Open(place(1)))->size(), 100U);
    EXPECT_EQ(BytesAt(place(3)), "");
  }
}

TEST(PackWriter, SkipsThemOrFailsAsAsked) {
  PackOptions options = Options(Compression::kNone);
  options.shard.encode.record_limit = 40'000;
  options.oversize = Oversize::kSkip;
  PackSummary summary;
  const auto shards = Pack(OneLarge(), options, &summary);
  EXPECT_EQ(summary.skipped, 1U);
  EXPECT_EQ(summary.records, 3U);
  EXPECT_EQ(ReadSamples(InMemory(shards[0])).size(), 3U);

  options.oversize = Oversize::kError;
  options.place = AnyDestination();
  const auto writer = Must(PackWriter::Create(options));
  Must(writer->Add(OneLarge()[0]));
  EXPECT_THAT(writer->Add(OneLarge()[1]).error().message,
              HasSubstr("\"large\": a record of 12"));
}

TEST(PackWriter, CopiesBlocksAsTheyAre) {
  const auto samples = RandomSamples(5, 20);
  PackOptions options = Options();
  const std::string source = Pack(samples, options)[0];
  const auto shard = Must(Shard::Open(InMemory(source)));
  options.place = AnyDestination();
  const auto writer = Must(PackWriter::Create(options));
  for (uint64_t i = 0; i < 20; ++i) {
    Must(writer->AddBlock(Must(shard->ReadBlock(i)), Check::kFull));
  }
  const auto summary = Must(writer->Finish());
  EXPECT_EQ(BytesAt(summary.shards[0].location), source);
}

TEST(PackWriter, RefusesBlocksThatWouldNotBeReadable) {
  const std::string source = TestFile("good/dictionary.shardpack");
  const auto shard = Must(Shard::Open(InMemory(source)));
  PackOptions options = Options();
  options.place = AnyDestination();
  auto writer = Must(PackWriter::Create(options));
  EXPECT_THAT(writer->AddBlock(Must(shard->ReadBlock(1)), Check::kFull).error().message,
              HasSubstr("\"sample1\": entry \"with.json\": needs dictionary"));
  const std::string plain = MakeShard(RandomSamples(1, 1));
  const auto other = Must(Shard::Open(InMemory(plain)));
  options.shard.encode.align_log2 = 6;
  options.place = AnyDestination();
  writer = Must(PackWriter::Create(options));
  EXPECT_EQ(writer->AddBlock(Must(other->ReadBlock(0)), Check::kFull).error().code,
            ErrorCode::kInvalidArgument);
  options.shard.encode.align_log2 = 3;
  options.dictionary_bytes = 4096;
  options.place = AnyDestination();
  writer = Must(PackWriter::Create(options));
  EXPECT_EQ(writer->AddBlock(Must(other->ReadBlock(0)), Check::kFull).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(PackWriter, LeavesWhatIsThereUnlessToldToReplaceIt) {
  PackOptions options = Options();
  options.place = AnyDestination();
  Must(Must(PackWriter::Create(options))->Finish());
  EXPECT_EQ(PackWriter::Create(options).error().code, ErrorCode::kExists);
  options.shard.force = true;
  EXPECT_TRUE(PackWriter::Create(options));
}

TEST(PackWriter, LeavesNothingBehindIfItIsNotFinished) {
  PackOptions options = Options();
  options.jobs = 3;
  options.place = AnyDestination();
  auto writer = Must(PackWriter::Create(options));
  for (const Sample& sample : RandomSamples(6, 500)) Must(writer->Add(sample));
  writer.reset();
  EXPECT_EQ(BytesAt(options.place(0)), "");
}

TEST(PackWriter, StopsOnRequest) {
  std::stop_source stop;
  PackOptions options = Options();
  options.place = AnyDestination();
  options.stop = stop.get_token();
  const auto writer = Must(PackWriter::Create(options));
  Must(writer->Add(RandomSample(1)));
  stop.request_stop();
  EXPECT_EQ(writer->Add(RandomSample(2)).error().code, ErrorCode::kCancelled);
}

TEST(ParseCompression, KnowsTheNames) {
  EXPECT_EQ(Must(ParseCompression("lz4")), Compression::kLz4);
  EXPECT_EQ(CompressionName(Compression::kZstd), "zstd");
  EXPECT_EQ(ParseCompression("brotli").error().message,
            "no compression \"brotli\"; there are none, gzip, lz4, zstd");
}

}  // namespace
}  // namespace dolium::shardpack
