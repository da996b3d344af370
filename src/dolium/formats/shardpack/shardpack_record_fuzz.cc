// A record of arbitrary bytes: what is read of it can be written and read again.
#include <cstddef>
#include <cstdint>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/record.h"

using namespace dolium;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView input = std::as_bytes(std::span(data, size));
  ByteVector bytes(input.begin(), input.end());
  if (size >= shardpack::kRecordHeaderBytes) {
    // Sizes that lie are tried by other targets.
    StoreLE(bytes.data(), uint64_t{size});
  }
  const shardpack::ContentOptions contents{
      .check = shardpack::Check::kNone, .raw_limit = 1 << 20, .ratio_limit = 100};
  const auto record =
      shardpack::Record::Parse(Bytes::FromVector(bytes), shardpack::Check::kNone);
  if (!record) return 0;
  for (const shardpack::EntryHeader& entry : record->entries()) {
    if (entry.content_end() > size) __builtin_trap();
    static_cast<void>(record->Content(entry, contents).has_value());
    static_cast<void>(shardpack::ParseExtras(entry).has_value());
    static_cast<void>(record->Find(entry.name));
  }
  static_cast<void>(shardpack::ParsePart(record->header()).has_value());
  static_cast<void>(record->metadata());
  const auto sample = record->Decode(contents);
  if (!sample) return 0;
  const auto again = shardpack::EncodeRecord(*sample, {});
  if (!again) return 0;
  ByteVector block;
  for (const Bytes& segment : again->segments) Append(block, segment);
  const auto read =
      shardpack::Record::Parse(Bytes::FromVector(block), shardpack::Check::kFull);
  if (!read || read->damage() || read->key() != record->key()) __builtin_trap();
  const auto decoded = read->Decode({});
  if (!decoded || decoded->files.size() != sample->files.size()) __builtin_trap();
  for (size_t i = 0; i < decoded->files.size(); ++i) {
    if (!Equal(decoded->files[i].data, sample->files[i].data)) __builtin_trap();
  }
  return 0;
}
