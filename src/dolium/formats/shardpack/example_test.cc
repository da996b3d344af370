// The worked example of the format's document: written byte for byte, and every byte of
// it guarded.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/tail_builder.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

constexpr size_t kFirstEnd = 272;
constexpr size_t kRecordsEnd = 416;

std::vector<Sample> ExampleSamples() {
  return {{.key = "images17/image194",
           .files = {{.name = "left.jpg",
                      .content_type = "image/jpeg",
                      .data = Text("\xff\xd8LEFT\xff\xd9")},
                     {.name = "right.jpg",
                      .content_type = "image/jpeg",
                      .data = Text("\xff\xd8RIGHT\xff\xd9")},
                     {.name = "meta.json",
                      .content_type = "application/json",
                      .data = Text("{\"stereo\":true}")}}},
          {.key = "images17/image195",
           .metadata = {MetadataFormat::kJson, Text("{\"split\":\"train\"}")},
           .files = {{.name = "meta.json",
                      .content_type = "application/json",
                      .data = Text("{}")}}}};
}

TEST(Example, IsReproducedByteForByte) {
  TailBuilder tail({.stat = false, .entry_index = Wanted::kNo});
  std::string made;
  for (const Sample& sample : ExampleSamples()) {
    const EncodedRecord record = Must(EncodeRecord(sample, {}));
    for (const Bytes& segment : record.segments) made += AsText(segment);
    tail.Add(record);
  }
  made += AsText(tail.Build(3, R"({"shardpack":{"version":"1.0"},)"
                               R"("user":{"creator":"MyName","training":"true"}})"));
  const std::string example = TestFile("good/example.shardpack");
  ASSERT_EQ(example.size(), 704U);
  EXPECT_EQ(ToHex(AsBytes(made)), ToHex(AsBytes(example)));
}

TEST(Example, VerifyDetectsEveryAlteredByte) {
  const std::string example = TestFile("good/example.shardpack");
  size_t altered_files = 0;
  size_t warnings = 0;
  for (size_t at = 0; at < example.size(); ++at) {
    const auto byte = static_cast<uint8_t>(example[at]);
    const uint8_t one_bit = static_cast<uint8_t>(1U << (at % 8));
    for (const unsigned other : {byte ^ 0xFFU, byte + 1U, 0U, byte ^ unsigned{one_bit}}) {
      if (static_cast<uint8_t>(other) == byte) continue;
      std::string altered = example;
      altered[at] = static_cast<char>(other);
      ++altered_files;
      const auto verdicts = Verdicts(InMemory(altered));
      ASSERT_FALSE(verdicts.empty()) << "byte " << at;
      if (verdicts == std::vector<std::string>{"warning padding"}) ++warnings;
    }
  }
  EXPECT_GT(altered_files, 2300U);
  // Three patterns of each of the 63 bytes of padding that no checksum covers.
  EXPECT_EQ(warnings % 3, 0U);
  EXPECT_LT(warnings, 240U);
}

TEST(Example, EveryTruncationIsClassifiedByTheStream) {
  const std::string example = TestFile("good/example.shardpack");
  for (size_t size = 0; size <= example.size(); ++size) {
    SCOPED_TRACE(size);
    const Streamed streamed = Stream(example.substr(0, size));
    EXPECT_EQ(streamed.records.size(),
              (size >= kFirstEnd ? 1U : 0U) + (size >= kRecordsEnd ? 1U : 0U));
    EXPECT_EQ(streamed.verdict, size == example.size() ? "complete" : kind::kIncomplete);
  }
}

}  // namespace
}  // namespace dolium::shardpack
