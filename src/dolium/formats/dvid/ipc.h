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
#include <functional>
#include <optional>
#include <span>
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
// Before the length, since Arrow 0.15.
inline constexpr uint32_t kContinuation = 0xffffffff;
// A schema takes some hundred bytes; more than this is not metadata.
inline constexpr uint32_t kMaxMetadataBytes = uint32_t{16} << 20;

// `bytes` are the first 8, or as many as there are. kCorrupt if they begin no message.
Result<MessagePrefix> ParsePrefix(BytesView bytes);

enum class MessageKind : uint8_t { kSchema, kDictionary, kRecordBatch, kOther };

struct MessageHeader {
  MessageKind kind = MessageKind::kOther;
  uint64_t body = 0;  // bytes
  uint64_t rows = 0;  // of a record batch
};

// kCorrupt if the metadata do not verify, kUnsupported for a version before V4.
Result<MessageHeader> ParseMessage(BytesView metadata);

// Where the buffers of the columns are in every record batch of a stream.
struct Schema {
  struct Column {
    size_t node = 0;
    size_t buffer = 0;  // of the validity bits; the next ones have the values
    size_t views = 0;   // columns of views before it, which have further buffers
    uint32_t width = sizeof(uint32_t);  // bytes of a number, or of an offset of a list
    bool is_signed = false;             // a number
  };
  std::array<Column, 3> chunk;  // chunk_x, chunk_y, chunk_z
  Column labels;                // a list; the child is the next node
  Column supervoxels;
  Column block;
  std::optional<Column> uncompressed_size;
  std::string codec;   // as the block column's metadata name it; mostly "zstd" or ""
  size_t columns = 0;  // that the schema has
  size_t nodes = 0;    // of a record batch
  size_t buffers = 0;  // without the further ones of views
  size_t views = 0;    // columns of them
  bool has_dictionaries = false;  // of columns that are not ours
};

// Maps columns by name. Lists and blocks may have offsets of 64 bits, numbers any integer
// type; others may have any type. kCorrupt if one is missing or has another type,
// kUnsupported if it is a dictionary, or if another has a type that we do not know.
Result<Schema> ParseSchema(BytesView metadata);

// A block of the file flavour's footer.
struct FooterBlock {
  uint64_t offset = 0;
  uint64_t metadata = 0;  // with the prefix
  uint64_t body = 0;
};

inline constexpr std::string_view kFileMagic = "ARROW1";
// At the begin of an IPC file: its magic, padded.
inline constexpr uint64_t kFileHeaderBytes = 8;
// At its end: length of the footer, magic.
inline constexpr uint64_t kFileTailBytes = 10;
// `footer` is the flatbuffer between its length and the messages.
Result<std::vector<FooterBlock>> ParseFooter(BytesView footer);

// As stored in the columns.
using Key = std::array<int32_t, 3>;

// The body of a message: at hand, or left where it is until a part of it is needed.
struct Body {
  ByteRange range;    // in the object
  Bytes whole;        // unless there is `read`
  uint64_t held = 0;  // bytes of `whole`, which take memory
  // Gives ranges of the object that lie within `range`. For as long as the batch is
  // there, from many threads.
  std::function<Result<std::vector<Bytes>>(std::span<const ByteRange>)> read = {};
};

// One record batch. Keeps its body, or what reads it. Of a body that is not at hand it
// reads keys and offsets, and lists and blocks only if they are compressed.
class Batch {
 public:
  // kCorrupt if a buffer leaves the body, a list is not in order, a value is null, there
  // are more rows than such a body can hold, or buffers decompress to more than it can.
  static Result<Batch> Parse(const Schema& schema, BytesView metadata, Body body);

  uint64_t rows() const { return rows_; }
  // Precondition of all below: row < rows().
  Key key(uint64_t row) const;
  struct Cells {
    Bytes labels;
    Bytes supervoxels;
    Bytes block;
  };
  Result<Cells> Read(uint64_t row) const;
  // nullopt if there is no such column.
  std::optional<uint32_t> uncompressed_size(uint64_t row) const;

  // How to get at the stored block without the batch: bytes of the object, and what
  // undoes the compression of buffers.
  struct BlockLocation {
    ByteRange range;
    CodecChain codecs;
  };
  BlockLocation block_location(uint64_t row) const;

  // The memory that it takes.
  uint64_t held_bytes() const { return held_; }

 private:
  struct List {
    Bytes offsets;
    uint32_t offset_width = sizeof(uint32_t);
    Bytes values;
    std::optional<ByteRange> remote;  // in the object, if the values were not read
    uint64_t width = 1;
  };
  // In bytes of the values.
  static ByteRange Part(const List& list, uint64_t row);

  uint64_t rows_ = 0;
  uint64_t held_ = 0;
  Body body_;
  std::array<Bytes, 3> chunk_;
  List labels_;
  List supervoxels_;
  List blocks_;
  std::optional<Bytes> sizes_;
  ByteRange blocks_at_;              // of the stored bytes of that buffer, in the object
  std::optional<CodecStep> undoes_;  // its compression
};

}  // namespace dolium::dvid
