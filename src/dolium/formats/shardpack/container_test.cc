#include "dolium/formats/shardpack/container.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/format.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/format.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr Format kFormats[] = {kFormat};

std::unique_ptr<Container> OpenPack(const Location& location) {
  return Must(OpenContainer(kFormats, location, "", {}));
}

using Values = std::map<std::string, std::string>;

// Every entry by scanning, and found again by its key.
Values ReadAll(const Container& container) {
  Values values;
  const auto visit = [&](const Entry& entry) {
    const auto data = ReadEntry(container.store(), entry);
    if (values.contains(entry.key)) return true;  // The first is the one that is found.
    values[entry.key] = data ? std::string(AsText(data->value)) : data.error().message;
    const auto found = container.Find(entry.key);
    EXPECT_TRUE(found) << found.error().message;
    if (!found || !*found) {
      ADD_FAILURE() << entry.key << " is not found";
      return true;
    }
    EXPECT_EQ((*found)->extents.size(), entry.extents.size());
    const auto again = ReadEntry(container.store(), **found);
    EXPECT_EQ(again ? std::string(AsText(again->value)) : again.error().message,
              values[entry.key]);
    return true;
  };
  Must(Scan(container, {.entry = visit, .damage = {}}));
  return values;
}

Values ValuesOf(const std::vector<Sample>& samples) {
  Values values;
  for (const Sample& sample : samples) {
    for (const File& file : sample.files) {
      values[sample.key + "/" + file.name] = AsText(file.data);
    }
  }
  return values;
}

TEST(PackContainer, HoldsTheFilesOfAllSamples) {
  const auto samples = RandomSamples(1, 100);
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kLz4, Compression::kZstd}) {
    ShardWriterOptions options;
    options.encode.compression = compression;
    options.encode.align_log2 = 6;
    const std::string bytes = MakeShard(samples, options);
    EXPECT_EQ(ReadAll(*OpenPack(InMemory(bytes))), ValuesOf(samples));
  }
}

TEST(PackContainer, ReadsGoodFilesOfAnotherImplementation) {
  for (const auto& [name, expected] : TestJson("good/expected.json")) {
    SCOPED_TRACE(name);
    const auto container = OpenPack(InMemory(TestFile("good/" + name)));
    Values sums;
    for (const auto& record : expected["records"]) {
      for (const auto& entry : record["entries"]) {
        if (entry["aux"]) continue;
        const std::string key = fmt::format("{}/{}", record["key"].get<std::string>(),
                                            entry["name"].get<std::string>());
        sums.try_emplace(key, entry["sha256"]);  // The first is the one that is found.
      }
    }
    Values found;
    for (const auto& [key, value] : ReadAll(*container)) {
      found[key] = Sha256(AsBytes(value));
    }
    EXPECT_EQ(found, sums);
    std::vector<Finding> findings;
    Must(container->CheckObject("a.shardpack",
                                [&](const Finding& f) { findings.push_back(f); }));
    EXPECT_THAT(findings, IsEmpty());
  }
}

TEST(PackContainer, IsAFolderOfShardsToo) {
  const TemporaryFolder folder;
  const auto store = Must(FileStore::Open(folder.path()));
  const auto first = RandomSamples(1, 20);
  const auto second = RandomSamples(2, 20);
  Must(store->Put("set/b.shardpack", AsBytes(MakeShard(second)), Precondition::None()));
  Must(store->Put("set/a.shardpack", AsBytes(MakeShard(first)), Precondition::None()));
  Must(store->Put("set/README", AsBytes("not a shard"), Precondition::None()));
  const auto container = OpenPack({store, "set"});
  EXPECT_THAT(Must(container->Objects()),
              ElementsAre("set/a.shardpack", "set/b.shardpack"));
  Values values = ValuesOf(first);
  values.merge(ValuesOf(second));
  EXPECT_EQ(ReadAll(*container), values);
  EXPECT_THAT(container->properties(), IsEmpty());
  // A shard that is replaced is seen.
  const std::vector<Sample> other = {
      {.key = "new", .files = {{.name = "a", .data = Text("x")}}}};
  Must(store->Put("set/b.shardpack", AsBytes(MakeShard(other)), Precondition::None()));
  EXPECT_TRUE(Must(container->Find("new/a")));
}

TEST(PackContainer, TriesTheSlashesFromTheRight) {
  const std::string bytes =
      MakeShard({{.key = "a", .files = {{.name = "b/c", .data = Text("b/c of a")}}},
                 {.key = "a/b",
                  .files = {{.name = "c", .data = Text("c of a/b")},
                            {.name = "d/e", .data = Text("d/e of a/b")}}}});
  const auto container = OpenPack(InMemory(bytes));
  const auto value = [&](std::string_view key) -> std::string {
    const auto entry = Must(container->Find(key));
    if (!entry) return "absent";
    return std::string(AsText(Must(ReadEntry(container->store(), *entry)).value));
  };
  EXPECT_EQ(value("a/b/c"), "c of a/b");
  EXPECT_EQ(value("a/b/d/e"), "d/e of a/b");
  for (const auto key : {"", "a", "a/", "/", "/a", "a/b", "a/b/", "a/b/x", "x/y"}) {
    EXPECT_EQ(value(key), "absent") << key;
  }
}

TEST(PackContainer, GivesOneExtentPerChunk) {
  ShardWriterOptions options;
  options.encode.compression = Compression::kZstd;
  options.encode.chunk_threshold = 1000;
  options.encode.chunk_size = kMinChunkSize;
  std::string text(200'000, 'x');
  text.replace(70'000, 5, "hello");
  const std::string bytes =
      MakeShard({{.key = "k", .files = {{.name = "a", .data = Text(text)}}}}, options);
  const auto container = OpenPack(InMemory(bytes));
  const Entry entry = *Must(container->Find("k/a"));
  ASSERT_EQ(entry.extents.size(), 4U);
  EXPECT_EQ(entry.size, 200'000U);
  EXPECT_EQ(entry.extents[0].codecs,
            (CodecChain{{CodecId::kZstd, uint64_t{kMinChunkSize}}}));
  EXPECT_EQ(ReadAll(*container)["k/a"], text);
}

TEST(PackContainer, ReadsLargeRemoteRecordsByTheirHeaders) {
  std::vector<Sample> samples;
  for (int i = 0; i < 3; ++i) {
    samples.push_back(
        {.key = std::to_string(i),
         .metadata = {MetadataFormat::kOpaque, Text(std::string(i == 1 ? 9000 : 0, 'm'))},
         .files = {
             {.name = "large", .data = Text(std::string(700'000, 'x'))},
             {.name = std::string(i == 2 ? 50'000 : 1, 'n'), .data = Text("small")}}});
  }
  samples[0].metadata = samples[2].metadata = {};
  const Location location = InMemory(MakeShard(samples));
  const auto container = OpenPack(location);
  EXPECT_EQ(ReadAll(*container), ValuesOf(samples));
}

TEST(PackContainer, ChecksTheChecksumsOfWhatIsRead) {
  std::string bytes =
      MakeShard({{.key = "k", .files = {{.name = "a", .data = Text("some data")}}}});
  bytes[bytes.find("some data")] = 'S';
  const auto container = OpenPack(InMemory(bytes));
  const Entry entry = *Must(container->Find("k/a"));
  for (const auto& read :
       {ReadEntry(container->store(), entry), ReadStored(container->store(), entry)}) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().message, HasSubstr("a.shardpack: k/a: bytes ["));
    EXPECT_THAT(read.error().message, HasSubstr(" have CRC-32C "));
  }
}

TEST(PackContainer, PassesDamageAndReportsItOnce) {
  for (const auto& [name, expected] : TestJson("bad/expected.json")) {
    SCOPED_TRACE(name);
    const PackContainer container(InMemory(TestFile("bad/" + name)), false);
    std::set<std::string> checked;
    Must(container.CheckObject("a.shardpack", [&](const Finding& finding) {
      checked.insert(finding.kind + finding.message);
    }));
    uint64_t entries = 0;
    std::vector<Finding> met;
    Must(container.ScanObject("a.shardpack", {.entry =
                                                  [&](const Entry&) {
                                                    ++entries;
                                                    return true;
                                                  },
                                              .damage =
                                                  [&](const Finding& finding) {
                                                    met.push_back(finding);
                                                    return true;
                                                  }}));
    for (const Finding& finding : met) {
      // What only contents show, the check did not look at.
      if (finding.kind == kind::kUnsupportedCodec ||
          finding.message.find("chunk") != std::string::npos ||
          finding.message.find("dictionary") != std::string::npos) {
        continue;
      }
      EXPECT_TRUE(checked.contains(finding.kind + finding.message)) << finding.message;
    }
    if (!expected["readable_records"].is_null()) {
      EXPECT_GE(entries, expected["readable_records"].size());
    }
  }
}

TEST(PackContainer, FindsTheOtherFilesOfADamagedRecord) {
  const auto container = OpenPack(InMemory(TestFile("bad/codec_200.shardpack")));
  std::vector<std::string> keys;
  Must(container->ScanObject("a.shardpack",
                             {.entry =
                                  [&](const Entry& entry) {
                                    keys.push_back(entry.key);
                                    return true;
                                  },
                              .damage = [](const Finding&) { return true; }}));
  for (const std::string& key : keys) EXPECT_TRUE(Must(container->Find(key))) << key;
}

TEST(Format, IsSureOfWhatItKnows) {
  const std::string bytes = MakeShard(RandomSamples(1, 2));
  EXPECT_EQ(Must(Probe(InMemory(bytes))), 90);
  EXPECT_EQ(Must(Probe(InMemory("some text", "a.shardpack"))), 0);
  const Location shard = InMemory(bytes, "set/a.shardpack");
  EXPECT_EQ(Must(Probe(shard.Parent())), 60);
  EXPECT_EQ(Must(Probe(shard.Parent().Parent())), 0);
  const TemporaryFolder folder;
  const auto store = Must(FileStore::Open(folder.path()));
  Must(store->Put("any_name", AsBytes(bytes), Precondition::None()));
  EXPECT_EQ(Must(Probe({store, "any_name"})), 90);
}

TEST(Format, SaysHowShardsAreMade) {
  const Location location = InMemory("");
  EXPECT_EQ(Create(location, {}).error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(Create(location, {}).error().message,
              HasSubstr("shards are made of samples, not of entries"));
  EXPECT_EQ(Create(location, {}).error().hint, Hint::kPackSamples);
  EXPECT_EQ(Open({location.store, "nowhere"}, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Open(location, {.spec = "{}"}).error().code, ErrorCode::kInvalidArgument);
}

TEST(PackContainer, HasProperties) {
  const auto container = OpenPack(InMemory(TestFile("good/example.shardpack")));
  EXPECT_THAT(container->properties(),
              ElementsAre(Pair("version", "1.0"), Pair("records", 2U),
                          Pair("alignment", 8U), Pair("sections", "KEYX META"),
                          Pair("user.creator", "MyName"), Pair("user.training", "true")));
}

}  // namespace
}  // namespace dolium::shardpack
