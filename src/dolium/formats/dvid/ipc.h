// Arrow IPC: messages, the schema of a shard, and record batches, as far as exports need
// them.
//
// Metadata are flatbuffers; they are verified before anything is read from them. Bodies
// are used where they lie, unless their buffers are compressed. Stream and file flavours
// have the same messages; a file has a footer that lists them. Plain values throughout;
// all functions may be called from many threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/codec.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {

// Where and how long the metadata of a message are: 8 bytes, or 4 before Arrow 0.15.
struct MessagePrefix {
  uint32_t bytes = 8;     // of the prefix itself
  uint32_t metadata = 0;  // 0: the end of the stream
};
inline constexpr size_t kMaxPrefixBytes = 8;
// A schema takes some hundred bytes; more than this is not metadata.
inline constexpr uint32_t kMaxMetadataBytes = uint32_t{16} << 20;

// `bytes` are the first 8, or as many as there are. kCorrupt if they begin no message.
Result<MessagePrefix> ParsePrefix(BytesView bytes);

enum class MessageKind : uint8_t { kSchema, kDictionary, kRecordBatch, kOther };

struct MessageHead {
  MessageKind kind = MessageKind::kOther;
  uint64_t body = 0;  // bytes
};

// kCorrupt if the metadata do not verify, kUnsupported for a version before V4.
Result<MessageHead> ParseMessage(BytesView metadata);

// Where the buffers of the columns are in every record batch of a stream.
struct Schema {
  struct Column {
    size_t node = 0;
    size_t buffer = 0;  // of the validity bits; the next ones have the values
  };
  std::array<Column, 3> chunk;  // chunk_x, chunk_y, chunk_z
  Column labels;                // a list; the child is the next node
  Column supervoxels;
  Column block;
  std::optional<Column> uncompressed_size;
  std::string codec;   // as the block column's metadata name it; mostly "zstd" or ""
  size_t columns = 0;  // that the schema has
  size_t nodes = 0;    // of a record batch
  size_t buffers = 0;
};

// Maps columns by name. kCorrupt if one is missing or has another type, kUnsupported for
// types that we do not know and for dictionaries.
Result<Schema> ParseSchema(BytesView metadata);

// A block of the file flavour's footer.
struct FooterBlock {
  uint64_t offset = 0;
  uint64_t metadata = 0;  // with the prefix
  uint64_t body = 0;
};

inline constexpr std::string_view kFileMagic = "ARROW1";
// `footer` is the flatbuffer between its length and the messages.
Result<std::vector<FooterBlock>> ParseFooter(BytesView footer);

// As stored in the columns.
using Key = std::array<int32_t, 3>;

// One record batch. Keeps its body alive.
class Batch {
 public:
  // `at` is where the body lies in its object. kCorrupt if a buffer leaves the body, a
  // list is not in order, or a value is null.
  static Result<Batch> Parse(const Schema& schema, BytesView metadata, const Bytes& body,
                             uint64_t at);

  uint64_t rows() const { return rows_; }
  // Precondition of all below: row < rows().
  Key key(uint64_t row) const;
  Bytes labels(uint64_t row) const { return Part(labels_, row, sizeof(uint64_t)); }
  Bytes supervoxels(uint64_t row) const {
    return Part(supervoxels_, row, sizeof(uint64_t));
  }
  Bytes block(uint64_t row) const { return Part(blocks_, row, 1); }
  // nullopt if there is no such column.
  std::optional<uint32_t> uncompressed_size(uint64_t row) const;

  // How to get at the stored block without the batch: bytes of the object, and what
  // undoes the compression of buffers.
  struct Place {
    ByteRange range;
    CodecChain codecs;
  };
  Place block_place(uint64_t row) const;

 private:
  struct List {
    Bytes offsets;
    Bytes values;
  };
  Bytes Part(const List& list, uint64_t row, uint64_t width) const;

  uint64_t rows_ = 0;
  std::array<Bytes, 3> chunk_;
  List labels_;
  List supervoxels_;
  List blocks_;
  std::optional<Bytes> sizes_;
  ByteRange blocks_at_;              // of the stored bytes of that buffer, in the object
  std::optional<CodecStep> undoes_;  // its compression
};

}  // namespace dolium::dvid
