// Contents of entries: from bytes as stored to bytes as given, checked and within limits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/zstd.h"
#include "dolium/formats/shardpack/headers.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

// By id.
using Dictionaries = std::map<uint32_t, std::shared_ptr<const ZstdDictionary>>;

struct ContentOptions {
  Check check = Check::kFull;
  uint64_t raw_limit = kDefaultRawLimit;  // kLimit beyond, before anything is allocated
  uint64_t ratio_limit = kDefaultRatioLimit;  // raw to stored
  const Dictionaries* dictionaries = nullptr;
};

// One chunk of a chunked content.
struct ContentChunk {
  ByteRange stored;  // in the content area
  uint64_t raw_size = 0;
  uint32_t crc32c = 0;
  bool is_compressed = false;
};

// The chunks of a chunked content, whose checked table `stored` begins with.
class ChunkTable {
 public:
  // `stored`: the content area, or at least its table.
  static Result<ChunkTable> Parse(const EntryHeader& header, BytesView stored,
                                  Check check);

  // How many bytes the table takes: what must be read of a content to parse it.
  static Result<uint64_t> TableSize(const EntryHeader& header, BytesView first16);

  uint64_t chunk_raw_size() const { return chunk_raw_size_; }
  size_t size() const { return count_; }
  // Checked by Parse.
  ContentChunk operator[](size_t index) const;
  // Whether bits are set that mean nothing.
  bool has_reserved() const { return has_reserved_; }

 private:
  BytesView rows_;
  size_t count_ = 0;
  uint64_t chunk_raw_size_ = 0;
  uint64_t raw_size_ = 0;
  uint64_t table_size_ = 0;
  bool has_codec_ = false;
  bool has_reserved_ = false;
};

// Whether the limits allow to decode it at all. kCorrupt of kind kLimit.
Result<void> CheckLimits(const EntryHeader& header, const ContentOptions& options);

// Whether the stored bytes are those that were written, by their checksums alone: nothing
// is decoded. kCorrupt of kind kEntry.
Result<void> CheckStored(const EntryHeader& header, BytesView stored);

// The dictionaries that a content cannot be decoded without.
Result<std::set<uint32_t>> DictionariesNeeded(const EntryHeader& header,
                                              BytesView stored);

// Fills `into`, which has header.raw_size bytes.
Result<void> DecodeContentInto(const EntryHeader& header, BytesView stored,
                               MutableBytes into, const ContentOptions& options);

// The whole content. Shares `stored` where it is stored as it is.
Result<Bytes> DecodeContent(const EntryHeader& header, const Bytes& stored,
                            const ContentOptions& options);

// Raw bytes [range) of a content; of a chunked one, only the chunks it touches are
// decoded and checked. kInvalidArgument if they end past it.
Result<Bytes> DecodeContentRange(const EntryHeader& header, const Bytes& stored,
                                 ByteRange range, const ContentOptions& options);

}  // namespace dolium::shardpack
