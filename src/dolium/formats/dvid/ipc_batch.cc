// Record batches: their buffers, checked against the body and decompressed, and the rows
// in them.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/ipc_internal.h"
#include "dolium/formats/dvid/ipc_tables_internal.h"

namespace dolium::dvid {
namespace {

// What the compressed buffers of one batch may give: so much in all, and of a small body
// no more than so many times its size. Real ones are compressed a few times.
constexpr uint64_t kMaxBatchBytes = uint64_t{4} << 30;
constexpr uint64_t kMaxGrowth = 1024;
constexpr uint64_t kFreeGrowth = uint64_t{64} << 20;

// The buffers of one batch: checked against the body, decompressed where they are.
class Buffers {
 public:
  Buffers(const tables::RecordBatch& batch, const Body& body)
      : batch_(&batch),
        body_(body),
        left_(std::clamp(std::min(body.range.length, kMaxBatchBytes) * kMaxGrowth,
                         kFreeGrowth, kMaxBatchBytes)) {
    if (batch.compression() != nullptr) codec_ = batch.compression()->codec();
    if (batch.compression() != nullptr && batch.compression()->method() != 0) codec_ = -1;
  }

  struct Buffer {
    Bytes bytes;
    ByteRange stored;        // in the object
    bool is_remote = false;  // left where it is
    std::optional<CodecStep> undoes;

    uint64_t size() const { return is_remote ? stored.length : bytes.size(); }
  };

  Result<Bytes> Get(size_t number) {
    DOLIUM_TRY(Buffer buffer, Get(number, /*leave=*/false));
    return std::move(buffer.bytes);
  }

  // With `leave`, one that is not compressed may stay where it is.
  Result<Buffer> Get(size_t number, bool leave) {
    const tables::TwoLongs& raw =
        *batch_->buffers()->Get(static_cast<flatbuffers::uoffset_t>(number));
    const auto offset = flatbuffers::EndianScalar(raw.first);
    const auto length = flatbuffers::EndianScalar(raw.second);
    const uint64_t size = body_.range.length;
    if (offset < 0 || length < 0 || static_cast<uint64_t>(offset) > size ||
        static_cast<uint64_t>(length) > size - static_cast<uint64_t>(offset)) {
      return Corrupt(fmt::format("buffer {}: {} bytes at {} end past the body ({} bytes)",
                                 number, length, offset, size));
    }
    Buffer out;
    out.stored = {body_.range.offset + static_cast<uint64_t>(offset),
                  static_cast<uint64_t>(length)};
    if (length == 0) return out;
    auto opened = codec_ ? Decompress(out, leave) : Fill(out, leave);
    if (!opened) {
      return std::move(opened).error().Within(fmt::format("buffer {}", number));
    }
    return out;
  }

  // What was read or decompressed so far.
  uint64_t held() const { return held_; }

 private:
  Result<Bytes> Read(ByteRange range) {
    if (!body_.read) {
      return body_.whole.Slice(static_cast<size_t>(range.offset - body_.range.offset),
                               static_cast<size_t>(range.length));
    }
    DOLIUM_TRY(std::vector<Bytes> parts, body_.read({&range, 1}));
    return std::move(parts.front());
  }

  Result<void> Fill(Buffer& buffer, bool leave) {
    buffer.is_remote = leave && body_.read;
    if (buffer.is_remote) return {};
    DOLIUM_TRY(buffer.bytes, Read(buffer.stored));
    if (body_.read) held_ += buffer.bytes.size();
    return {};
  }

  Result<void> Decompress(Buffer& buffer, bool leave) {
    constexpr size_t kLengthBytes = 8;
    if (buffer.stored.length < kLengthBytes) {
      return Corrupt(fmt::format("{} bytes are too few for a compressed buffer",
                                 buffer.stored.length));
    }
    DOLIUM_TRY(const Bytes length, Read({buffer.stored.offset, kLengthBytes}));
    const auto size = static_cast<int64_t>(LoadLE<uint64_t>(length.data()));
    buffer.stored.offset += kLengthBytes;
    buffer.stored.length -= kLengthBytes;
    if (size == -1) return Fill(buffer, leave);
    if (size < 0) return Corrupt(fmt::format("decompresses to {} bytes", size));
    if (*codec_ != 0 && *codec_ != 1) {
      return Unsupported("compressed by a codec that is neither LZ4 frame nor ZSTD");
    }
    const auto bytes = static_cast<uint64_t>(size);
    if (bytes > left_) {
      return Corrupt(
          fmt::format("decompresses to {} bytes, of {} that are left to a batch with a "
                      "body of {}",
                      bytes, left_, body_.range.length));
    }
    left_ -= bytes;
    held_ += bytes;
    buffer.undoes = CodecStep{*codec_ == 0 ? CodecId::kLz4Frame : CodecId::kZstd, bytes};
    DOLIUM_TRY(const Bytes stored, Read(buffer.stored));
    DOLIUM_TRY(buffer.bytes, Decode({*buffer.undoes}, stored, kMaxBatchBytes));
    return {};
  }

  const tables::RecordBatch* batch_ = nullptr;
  const Body& body_;
  std::optional<int> codec_;
  uint64_t left_ = 0;
  uint64_t held_ = 0;
};

Result<void> CheckNoNulls(const tables::RecordBatch& batch, size_t node,
                          std::optional<uint64_t> rows, std::string_view name) {
  const tables::TwoLongs& raw =
      *batch.nodes()->Get(static_cast<flatbuffers::uoffset_t>(node));
  const auto length = flatbuffers::EndianScalar(raw.first);
  const auto nulls = flatbuffers::EndianScalar(raw.second);
  if (nulls != 0) {
    return Corrupt(fmt::format("column \"{}\" has {} nulls, expected none", name, nulls));
  }
  if (rows && (length < 0 || static_cast<uint64_t>(length) != *rows)) {
    return Corrupt(
        fmt::format("column \"{}\" has {} rows in a batch of {}", name, length, *rows));
  }
  return {};
}

// A number of any integer type; nullopt if 64 bits with a sign do not have it.
std::optional<int64_t> LoadNumber(const std::byte* at, const Schema::Column& column) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < column.width; ++i) {
    bits |= static_cast<uint64_t>(at[i]) << (8 * i);
  }
  const unsigned unused = 64 - 8 * column.width;
  // The shift back fills in the sign.
  if (column.is_signed) return static_cast<int64_t>(bits << unused) >> unused;
  if (bits > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(bits);
}

// Numbers of 32 bits; of T, whatever type they are stored as.
template <typename T>
Result<Bytes> FixedColumn(Buffers& buffers, const Schema::Column& column, uint64_t rows,
                          std::string_view name) {
  static_assert(sizeof(T) == sizeof(uint32_t));
  DOLIUM_TRY(Bytes values, buffers.Get(column.buffer + 1));
  if (values.size() / column.width < rows) {
    return Corrupt(
        fmt::format("column \"{}\" has {} bytes for {} rows", name, values.size(), rows));
  }
  if (column.width == sizeof(T) && column.is_signed == std::is_signed_v<T>) return values;
  ByteVector out(static_cast<size_t>(rows) * sizeof(T));
  for (uint64_t i = 0; i < rows; ++i) {
    const auto number = LoadNumber(values.data() + i * column.width, column);
    if (!number || *number < std::numeric_limits<T>::min() ||
        *number > std::numeric_limits<T>::max()) {
      return Corrupt(
          fmt::format("column \"{}\" has {} in row {}, which 32 bits do not "
                      "hold",
                      name, number ? fmt::format("{}", *number) : "more", i));
    }
    StoreLE<uint32_t>(out.data() + i * sizeof(T), static_cast<uint32_t>(*number));
  }
  return Bytes::FromVector(std::move(out));
}

uint64_t LoadOffset(const Bytes& offsets, uint32_t width, uint64_t number) {
  const std::byte* const at = offsets.data() + number * width;
  return width == sizeof(uint64_t) ? LoadLE<uint64_t>(at) : LoadLE<uint32_t>(at);
}

// Offsets that rise, and end within `values` elements.
Result<Bytes> OffsetsColumn(Buffers& buffers, const Schema::Column& column, uint64_t rows,
                            uint64_t values, std::string_view name) {
  DOLIUM_TRY(Bytes offsets, buffers.Get(column.buffer + 1));
  if (rows == 0) return Bytes();
  if (offsets.size() / column.width <= rows) {
    return Corrupt(fmt::format("column \"{}\" has {} bytes of offsets for {} rows", name,
                               offsets.size(), rows));
  }
  uint64_t previous = 0;
  for (uint64_t i = 0; i <= rows; ++i) {
    const uint64_t offset = LoadOffset(offsets, column.width, i);
    if (offset < previous || offset > values) {
      return Corrupt(
          fmt::format("column \"{}\": offset {} of row {} is not between {} "
                      "and {}",
                      name, offset, i, previous, values));
    }
    previous = offset;
  }
  return offsets;
}

// The columns as this batch has them: views have as many buffers as it says. kCorrupt if
// the batch is not one of the schema.
class BatchColumns {
 public:
  static Result<BatchColumns> Make(const Schema& schema, const tables::RecordBatch& raw) {
    const size_t nodes = raw.nodes() == nullptr ? 0 : raw.nodes()->size();
    const size_t count = raw.buffers() == nullptr ? 0 : raw.buffers()->size();
    const size_t views = raw.view_buffers() == nullptr ? 0 : raw.view_buffers()->size();
    BatchColumns columns;
    columns.before_.push_back(0);
    for (size_t i = 0; i < views && views == schema.views; ++i) {
      const int64_t more =
          raw.view_buffers()->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (more < 0 || static_cast<uint64_t>(more) > count) {
        return Corrupt(
            fmt::format("a column of views has {} buffers of {}", more, count));
      }
      columns.before_.push_back(columns.before_.back() + static_cast<size_t>(more));
    }
    if (nodes != schema.nodes || views != schema.views ||
        count != schema.buffers + columns.before_.back()) {
      return Corrupt(fmt::format(
          "a batch of {} nodes and {} buffers, the schema has {} "
          "and {}",
          nodes, count, schema.nodes, schema.buffers + columns.before_.back()));
    }
    return columns;
  }

  Schema::Column Place(Schema::Column column) const {
    column.buffer += before_[column.views];
    return column;
  }

 private:
  std::vector<size_t> before_;  // buffers of views, by how many columns of them
};

}  // namespace

Result<Batch> Batch::Parse(const Schema& schema, BytesView metadata, Body body) {
  DOLIUM_TRY(const auto message, VerifyMessage(metadata));
  const tables::RecordBatch* raw = message->record_batch();
  if (raw == nullptr) return Corrupt("the message is not a record batch");
  DOLIUM_TRY(const auto columns, BatchColumns::Make(schema, *raw));
  // Offsets alone take some bytes of every row, compressed or not.
  if (raw->length() < 0 || static_cast<uint64_t>(raw->length()) > body.range.length) {
    return Corrupt(
        fmt::format("a batch of {} rows in {} bytes", raw->length(), body.range.length));
  }
  Batch batch;
  batch.body_ = std::move(body);
  batch.rows_ = static_cast<uint64_t>(raw->length());
  Buffers buffers(*raw, batch.body_);
  for (size_t d = 0; d < 3; ++d) {
    const std::string_view name = kColumnNames[d];
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, schema.chunk[d].node, batch.rows_, name));
    DOLIUM_TRY(
        batch.chunk_[d],
        FixedColumn<int32_t>(buffers, columns.Place(schema.chunk[d]), batch.rows_, name));
  }
  for (const bool is_labels : {true, false}) {
    const Schema::Column column =
        columns.Place(is_labels ? schema.labels : schema.supervoxels);
    List& list = is_labels ? batch.labels_ : batch.supervoxels_;
    const std::string_view name =
        kColumnNames[is_labels ? kLabelsColumn : kSupervoxelsColumn];
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, column.node, batch.rows_, name));
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, column.node + 1, std::nullopt, name));
    DOLIUM_TRY(auto values, buffers.Get(column.buffer + 3, /*leave=*/true));
    list.width = sizeof(uint64_t);
    list.offset_width = column.width;
    DOLIUM_TRY(list.offsets, OffsetsColumn(buffers, column, batch.rows_,
                                           values.size() / sizeof(uint64_t), name));
    list.values = std::move(values.bytes);
    if (values.is_remote) list.remote = values.stored;
  }
  const std::string_view name = kColumnNames[kBlockColumn];
  DOLIUM_TRY_VOID(CheckNoNulls(*raw, schema.block.node, batch.rows_, name));
  const Schema::Column block = columns.Place(schema.block);
  DOLIUM_TRY(auto blocks, buffers.Get(block.buffer + 2, /*leave=*/true));
  if (batch.rows_ > blocks.size()) {
    return Corrupt(fmt::format("column \"{}\" has {} bytes for {} rows", name,
                               blocks.size(), batch.rows_));
  }
  batch.blocks_at_ = blocks.stored;
  batch.blocks_.offset_width = block.width;
  DOLIUM_TRY(batch.blocks_.offsets,
             OffsetsColumn(buffers, block, batch.rows_, blocks.size(), name));
  batch.blocks_.values = std::move(blocks.bytes);
  if (blocks.is_remote) batch.blocks_.remote = blocks.stored;
  batch.undoes_ = std::move(blocks.undoes);
  if (schema.uncompressed_size) {
    const std::string_view size_name = kColumnNames[kSizeColumn];
    DOLIUM_TRY_VOID(
        CheckNoNulls(*raw, schema.uncompressed_size->node, batch.rows_, size_name));
    DOLIUM_TRY(batch.sizes_,
               FixedColumn<uint32_t>(buffers, columns.Place(*schema.uncompressed_size),
                                     batch.rows_, size_name));
  }
  batch.held_ = batch.body_.held + buffers.held();
  return batch;
}

Key Batch::key(uint64_t row) const {
  Key key;
  for (size_t d = 0; d < 3; ++d) {
    key[d] =
        static_cast<int32_t>(LoadLE<uint32_t>(chunk_[d].data() + row * sizeof(uint32_t)));
  }
  return key;
}

ByteRange Batch::Part(const List& list, uint64_t row) {
  const uint64_t begin = LoadOffset(list.offsets, list.offset_width, row);
  const uint64_t end = LoadOffset(list.offsets, list.offset_width, row + 1);
  return {begin * list.width, (end - begin) * list.width};
}

Result<Batch::Cells> Batch::Read(uint64_t row) const {
  Cells cells;
  std::vector<ByteRange> ranges;
  std::vector<Bytes*> places;
  const auto take = [&](const List& list, Bytes& cell) {
    const ByteRange part = Part(list, row);
    if (!list.remote) {
      cell = list.values.Slice(static_cast<size_t>(part.offset),
                               static_cast<size_t>(part.length));
    } else if (part.length > 0) {
      ranges.push_back({list.remote->offset + part.offset, part.length});
      places.push_back(&cell);
    }
  };
  take(labels_, cells.labels);
  take(supervoxels_, cells.supervoxels);
  take(blocks_, cells.block);
  if (ranges.empty()) return cells;
  DOLIUM_TRY(std::vector<Bytes> parts, body_.read(ranges));
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(parts[i]);
  return cells;
}

std::optional<uint32_t> Batch::uncompressed_size(uint64_t row) const {
  if (!sizes_) return std::nullopt;
  return LoadLE<uint32_t>(sizes_->data() + row * sizeof(uint32_t));
}

Batch::BlockLocation Batch::block_location(uint64_t row) const {
  const ByteRange part = Part(blocks_, row);
  if (!undoes_) return {{blocks_at_.offset + part.offset, part.length}, {}};
  CodecStep slice{CodecId::kSlice, part.length};
  slice.slice_offset = part.offset;
  return {blocks_at_, {*undoes_, slice}};
}

}  // namespace dolium::dvid
