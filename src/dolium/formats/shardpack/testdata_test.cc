// The files of testdata/, which another implementation made, read as it says they read.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using nlohmann::json;
using testing::IsEmpty;

std::string MetadataName(MetadataFormat format) {
  constexpr std::string_view kNames[] = {"none", "json", "msgpack", "opaque", "cbor"};
  return std::string(kNames[static_cast<size_t>(format)]);
}

json ToJson(const Metadata& metadata) {
  if (metadata.format == MetadataFormat::kNone) return nullptr;
  return {{"format", MetadataName(metadata.format)}, {"hex", ToHex(metadata.bytes)}};
}

// An entry in the words of expected.json.
json ToJson(const Record& record, const EntryHeader& entry, uint64_t header_at,
            const ContentOptions& contents) {
  const auto content = record.Content(entry, contents);
  const EntryExtras extras = Must(ParseExtras(entry));
  json array = nullptr;
  if (extras.array) {
    array = {{"dtype", extras.array->dtype}, {"shape", extras.array->lengths}};
  }
  return {
      {"name", entry.name},
      {"type", entry.content_type},
      {"size", entry.raw_size},
      {"stored_size", entry.stored_size},
      {"codec", CompressionName(static_cast<Compression>(entry.codec))},
      {"chunked", entry.is_chunked()},
      {"aux", entry.is_aux()},
      {"offset", header_at},
      {"crc32c", fmt::format("{:08x}", entry.crc32c)},
      {"sha256", content ? Sha256(*content) : content.error().message},
      {"metadata", ToJson(extras.metadata)},
      {"mtime", extras.modified ? json(*extras.modified) : json(nullptr)},
      {"mode", extras.mode ? json(*extras.mode) : json(nullptr)},
      {"array", array},
  };
}

json ToJson(const Record& record, uint64_t offset, const ContentOptions& contents) {
  json entries = json::array();
  uint64_t header_at = record.header().first_entry_at;
  for (const EntryHeader& entry : record.entries()) {
    entries.push_back(ToJson(record, entry, offset + header_at, contents));
    header_at = RoundUp(entry.content_end(), kEntryAlignment);
  }
  const auto part = Must(ParsePart(record.header()));
  return {
      {"offset", offset},
      {"size", record.block().size()},
      {"key", record.key()},
      {"tombstone", record.is_tombstone()},
      {"part", part ? json{part->index, part->count} : json(nullptr)},
      {"metadata", ToJson(record.metadata())},
      {"entries", entries},
  };
}

json ToJson(const Stat& stat) {
  return {
      {"entries", stat.entries},
      {"raw_bytes", stat.raw_bytes},
      {"stored_bytes", stat.stored_bytes},
      {"min_record_size", stat.min_record},
      {"max_record_size", stat.max_record},
      {"keys_digest", fmt::format("{:016x}", stat.keys_digest)},
      {"flags", (stat.keys_unique ? 1 : 0) | (stat.keys_ascending ? 2 : 0) |
                    (stat.all_plain ? 4 : 0) | (stat.is_regular ? 8 : 0) |
                    (stat.has_parts ? 16 : 0)},
      {"largest_raw_entry", stat.largest_raw},
  };
}

json ToJson(const Shard& shard) {
  json sections = json::array();
  for (const Section& section : Must(shard.sections())) {
    const auto codec = static_cast<Compression>(section.codec);
    sections.push_back({{"tag", section.name()},
                        {"codec", CompressionName(codec)},
                        {"size", section.raw_size}});
  }
  json records = json::array();
  const ContentOptions contents = Must(shard.content_options());
  for (uint64_t i = 0; i < shard.size(); ++i) {
    records.push_back(ToJson(Must(shard.Read(i)), shard.offset(i), contents));
  }
  const Footer& footer = shard.footer();
  const json meta = json::parse(Must(shard.metadata()).dump());
  return {
      {"size", footer.file_size},
      {"align", 1 << footer.align_log2},
      {"index_offset", footer.index_offset},
      {"features_optional", footer.features_optional},
      {"minor_version", footer.minor},
      {"sections", sections},
      {"meta", meta.empty() ? json(nullptr) : meta},
      {"stat", shard.stat() ? ToJson(*shard.stat()) : json(nullptr)},
      {"records", records},
  };
}

TEST(GoodFiles, ReadAsAnotherImplementationSays) {
  for (auto [name, expected] : TestJson("good/expected.json")) {
    SCOPED_TRACE(name);
    expected.erase("about");
    expected.erase("footer_crc32c");
    const std::string path =
        DOLIUM_SOURCE_DIR "/src/dolium/formats/shardpack/testdata/good/" + name;
    // Mapped, by ranges, with an end that is read in segments, and from memory.
    const Location file = Must(ParseLocation(path));
    EXPECT_EQ(ToJson(*Must(Shard::Open(file))), expected);
    EXPECT_EQ(ToJson(*Must(Shard::Open(file, {.map = false}))), expected);
    EXPECT_EQ(ToJson(*Must(Shard::Open(file, {.map = false, .tail_bytes = 80}))),
              expected);
    EXPECT_EQ(ToJson(*Must(Shard::Open(InMemory(TestFile("good/" + name))))), expected);
  }
}

TEST(GoodFiles, StreamAsAnotherImplementationSays) {
  for (const auto& [name, expected] : TestJson("good/expected.json")) {
    SCOPED_TRACE(name);
    const Streamed streamed = Stream(TestFile("good/" + name));
    EXPECT_EQ(streamed.verdict, "complete");
    ASSERT_EQ(streamed.records.size(), expected["records"].size());
    ContentOptions contents;
    Dictionaries dictionaries;
    if (!streamed.records.empty()) {
      dictionaries = DictionariesIn(streamed.records.front(), {});
    }
    contents.dictionaries = &dictionaries;
    uint64_t offset = 0;
    for (size_t i = 0; i < streamed.records.size(); ++i) {
      EXPECT_EQ(ToJson(streamed.records[i], offset, contents), expected["records"][i]);
      offset += streamed.records[i].block().size();
    }
  }
}

TEST(GoodFiles, VerifyWithoutFindings) {
  for (const auto& [name, expected] : TestJson("good/expected.json")) {
    SCOPED_TRACE(name);
    EXPECT_THAT(Verdicts(InMemory(TestFile("good/" + name))), IsEmpty());
  }
}

TEST(GoodFiles, FindEveryRecordByItsKey) {
  for (const auto& [name, expected] : TestJson("good/expected.json")) {
    SCOPED_TRACE(name);
    const auto shard = Must(Shard::Open(InMemory(TestFile("good/" + name))));
    std::map<std::string, std::vector<uint64_t>> numbers;
    for (uint64_t i = 0; i < expected["records"].size(); ++i) {
      numbers[expected["records"][i]["key"]].push_back(i);
    }
    for (const auto& [key, want] : numbers) {
      EXPECT_EQ(Must(shard->FindAll(key)), want);
      EXPECT_EQ(Must(shard->Find(key)), want.front());
    }
    EXPECT_EQ(Must(shard->Find("not there")), std::nullopt);
  }
}

// The other implementation's names of kinds.
std::string Kind(const std::string& name) {
  static const std::map<std::string, std::string_view> kKinds = {
      {"Incomplete", kind::kIncomplete},
      {"NotShardPack", kind::kNotShardPack},
      {"TrailingData", kind::kTrailingData},
      {"IndexCorrupt", kind::kIndex},
      {"SectionCorrupt", kind::kSection},
      {"RecordCorrupt", kind::kRecord},
      {"EntryCorrupt", kind::kEntry},
      {"UnsupportedCodec", kind::kUnsupportedCodec},
      {"UnsupportedFeature", kind::kUnsupportedFeature},
      {"UnsupportedVersion", kind::kUnsupportedVersion},
      {"LimitExceeded", kind::kLimit},
      {"Padding", kind::kPadding},
      {"Complete", "complete"},
      {"ok", "ok"},
  };
  return std::string(kKinds.at(name));
}

// Where the format leaves open what to call it, and we call it something else.
json WithOurWords(const std::string& name, json expected) {
  // Our stream has a limit for records.
  if (name == "record_size_huge.shardpack") {
    expected["stream"]["verdict"] = "LimitExceeded";
  }
  return expected;
}

TEST(BadFiles, GiveTheKindsThatAnotherImplementationSays) {
  for (const auto& [name, theirs] : TestJson("bad/expected.json")) {
    SCOPED_TRACE(name + ": " + theirs["about"].get<std::string>());
    const json expected = WithOurWords(name, theirs);
    const std::string bytes = TestFile("bad/" + name);
    const auto shard = Shard::Open(InMemory(bytes));
    EXPECT_EQ(KindOf(shard), Kind(expected["open"]));
    const auto by_ranges = Shard::Open(InMemory(bytes), {.tail_bytes = 64});
    EXPECT_EQ(KindOf(by_ranges), Kind(expected["open"]));

    const Streamed streamed = Stream(bytes);
    EXPECT_EQ(streamed.verdict, Kind(expected["stream"]["verdict"]));
    EXPECT_EQ(streamed.count, expected["stream"]["records"].get<uint64_t>());

    std::set<std::string> findings;
    for (const json& finding : expected["findings"]) {
      const std::string kind = Kind(finding[1]);
      // What is damaged is an error to us, though records can be read without it.
      const bool is_warning = finding[0] == "warning" && kind == kind::kPadding;
      findings.insert((is_warning ? "warning " : "error ") + kind);
    }
    EXPECT_THAT(Verdicts(InMemory(bytes)), testing::ElementsAreArray(findings));

    if (!shard || expected["readable_records"].is_null()) continue;
    const ContentOptions contents = Must((*shard)->content_options());
    std::vector<uint64_t> readable;
    for (uint64_t i = 0; i < (*shard)->size(); ++i) {
      const auto record = (*shard)->Read(i);
      if (record && record->Decode(contents)) readable.push_back(i);
    }
    EXPECT_EQ(readable, expected["readable_records"].get<std::vector<uint64_t>>());
  }
}

TEST(BadFiles, AreFoundByTheirHeadersAloneUnlessItIsTheContents) {
  for (const auto& [name, expected] : TestJson("bad/expected.json")) {
    SCOPED_TRACE(name);
    const bool is_about_contents =
        expected["row"].get<std::string>().find("chunk CRC") != std::string::npos ||
        expected["row"].get<std::string>().find("decompressor") != std::string::npos ||
        expected["row"].get<std::string>().find("limit") != std::string::npos ||
        expected["row"] == "unknown codec" || name.starts_with("reserved_chunk");
    if (is_about_contents) continue;
    EXPECT_FALSE(Verdicts(InMemory(TestFile("bad/" + name)), false).empty());
  }
}

}  // namespace
}  // namespace dolium::shardpack
