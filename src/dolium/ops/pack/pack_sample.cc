#include "dolium/ops/pack/pack_sample.h"

#include <utility>

#include <fmt/format.h>

#include "dolium/formats/shardpack/shard_writer.h"

namespace dolium::dataset {

using nlohmann::ordered_json;

uint64_t SampleFacts::size() const {
  uint64_t sum = 0;
  for (const FileFacts& file : files) sum += file.size;
  return sum;
}

uint64_t SampleFacts::stored_size() const {
  uint64_t sum = 0;
  for (const FileFacts& file : files) sum += file.stored_size;
  return sum;
}

std::string CodecName(uint8_t codec) {
  if (codec <= static_cast<uint8_t>(shardpack::Compression::kZstd)) {
    return std::string(CompressionName(static_cast<shardpack::Compression>(codec)));
  }
  return fmt::format("codec {}", codec);
}

SampleFacts FactsOf(uint64_t number, const LoadedSample& sample) {
  const SamplePart& first = sample.parts().front();
  SampleFacts facts{
      .number = number,
      .key = std::string(sample.key()),
      .shard = first.shard->Describe(),
      .record = first.number,
      .offset = first.shard->offset(first.number),
      .is_tombstone = sample.parts().size() == 1 && first.record.is_tombstone(),
      .files = {}};
  facts.files.reserve(sample.files().size());
  for (const LoadedSample::FileRef ref : sample.files()) {
    const shardpack::EntryHeader& head = sample.header(ref);
    facts.files.push_back({.name = std::string(head.name),
                           .content_type = std::string(head.content_type),
                           .size = head.raw_size,
                           .stored_size = head.stored_size,
                           .compression = CodecName(head.codec),
                           .is_chunked = head.is_chunked()});
  }
  return facts;
}

ordered_json ToJson(const FileFacts& file) {
  ordered_json json = {{"name", file.name},
                       {"content_type", file.content_type},
                       {"size", file.size},
                       {"stored_size", file.stored_size},
                       {"compression", file.compression}};
  if (file.is_chunked) json["chunked"] = true;
  return json;
}

ordered_json ToJson(const SampleFacts& sample) {
  ordered_json json = {{"number", sample.number}, {"key", sample.key},
                       {"shard", sample.shard},   {"record", sample.record},
                       {"offset", sample.offset}, {"size", sample.size()}};
  if (sample.is_tombstone) json["tombstone"] = true;
  json["files"] = ordered_json::array();
  for (const FileFacts& file : sample.files) json["files"].push_back(ToJson(file));
  return json;
}

}  // namespace dolium::dataset
