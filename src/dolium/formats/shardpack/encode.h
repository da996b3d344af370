// EncodeRecord: a sample as one block. A pure function: equal samples and options give
// equal blocks, on whatever thread, and a block holds no position in its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/zstd.h"
#include "dolium/formats/shardpack/headers.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::shardpack {

// Whether compression is worth a try on contents of this type. May be empty: always.
using WorthCompressing = std::function<bool(std::string_view content_type)>;

struct EncodeOptions {
  unsigned align_log2 = kMinAlignLog2;
  Compression compression = Compression::kNone;
  int level = -1;  // -1: the codec's usual one
  // Contents to compress that are larger than this are chunked; 0: never (those that lz4
  // cannot take in one block are chunked all the same).
  uint64_t chunk_threshold = uint64_t{4} << 20;
  uint64_t chunk_size = uint64_t{1} << 20;  // a power of two, 64 KiB to 1 GiB
  bool chunk_uncompressed = false;          // those above the threshold, too
  WorthCompressing worth_compressing = {};
  std::shared_ptr<const ZstdDictionary> dictionary = {};  // for zstd
  uint64_t record_limit = 0;                              // bytes; 0: none
};

// kInvalidArgument if they make no sense.
Result<void> CheckOptions(const EncodeOptions& options);

// What the tail of a shard has to know of an entry.
struct EntrySummary {
  std::string name = {};
  std::string content_type = {};
  uint64_t header_at = 0;  // in the block
  uint64_t end = 0;        // of its content, in the block
  uint64_t raw_size = 0;
  uint64_t stored_size = 0;
  bool is_plain = true;  // neither compressed nor chunked
  bool is_aux = false;
  uint32_t dictionary_id = 0;  // of the dictionary that it is; 0: none
  std::optional<FileSegment> segment = {};
};

// A block in segments, so that contents which are stored as they are need not be copied.
struct EncodedRecord {
  std::string key;
  std::vector<Bytes> segments = {};
  uint64_t size = 0;  // of all segments
  std::optional<PartNumber> part = {};
  std::vector<EntrySummary> entries = {};
};

// kInvalidArgument for a sample that the format cannot hold: an empty or too long key, a
// name that is empty, twice there, absolute or with a `..`, too many bytes of metadata.
Result<void> CheckSample(const Sample& sample);

// What the record of a sample can have at most, however little compression gains.
uint64_t MostBytes(const Sample& sample, const EncodeOptions& options);
// What one file adds to that.
uint64_t MostBytes(const File& file, const EncodeOptions& options);

// Fails as CheckSample does; else only, with the kind "record-size", if the record would
// exceed the limit of `options`.
Result<EncodedRecord> EncodeRecord(const Sample& sample, const EncodeOptions& options);

// The same, as part `part` of a sample that was cut (split_sample.h).
Result<EncodedRecord> EncodePart(const Sample& sample, PartNumber part,
                                 const EncodeOptions& options);

// A dictionary as an aux entry of the record that carries it (the first of its shard).
File DictionaryFile(const ZstdDictionary& dictionary);

// What the tail has to know of a block that is copied as it is.
Result<EncodedRecord> SummarizeBlock(Bytes block, Check check);

}  // namespace dolium::shardpack
