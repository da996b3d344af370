#include "dolium/formats/dvid/ipc.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/formats/dvid/ipc_tables_internal.h"

namespace dolium::dvid {
namespace {

constexpr int16_t kVersion4 = 3;
constexpr int16_t kVersion5 = 4;
constexpr int kMaxNesting = 16;
// Tables of one message: real ones have some tens.
constexpr uint32_t kMaxTables = 10'000;
constexpr size_t kAlignment = 8;
// What the compressed buffers of one batch may give: so much in all, and of a small body
// no more than so many times its size. Real ones are compressed a few times.
constexpr uint64_t kMaxBatchBytes = uint64_t{4} << 30;
constexpr uint64_t kMaxGrowth = 1024;
constexpr uint64_t kFreeGrowth = uint64_t{64} << 20;

// A flatbuffer at an address that suits it, verified.
template <typename Root>
class Verified {
 public:
  static Result<Verified> Make(BytesView bytes, std::string_view what) {
    Verified out;
    if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
      out.copy_.resize(bytes.size() / sizeof(uint64_t) + 1);
      std::memcpy(out.copy_.data(), bytes.data(), bytes.size());
      bytes = std::as_bytes(std::span(out.copy_)).first(bytes.size());
    }
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    flatbuffers::Verifier::Options options;
    options.max_depth = kMaxNesting * 2;
    options.max_tables = kMaxTables;
    flatbuffers::Verifier verifier(data, bytes.size(), options);
    if (bytes.size() > kMaxMetadataBytes || !verifier.VerifyBuffer<Root>()) {
      return Corrupt(
          fmt::format("{} of {} bytes is damaged: its flatbuffer does not "
                      "verify",
                      what, bytes.size()));
    }
    out.root_ = flatbuffers::GetRoot<Root>(data);
    return out;
  }

  const Root* operator->() const { return root_; }

 private:
  std::vector<uint64_t> copy_;
  const Root* root_ = nullptr;
};

Result<Verified<tables::Message>> VerifyMessage(BytesView metadata) {
  DOLIUM_TRY(auto message, Verified<tables::Message>::Make(metadata, "a message"));
  if (message->version() != kVersion4 && message->version() != kVersion5) {
    return Unsupported(fmt::format("Arrow metadata of version V{}, expected V4 or V5",
                                   message->version() + 1));
  }
  if (message->body() < 0) {
    return Corrupt(fmt::format("a message body of {} bytes", message->body()));
  }
  return message;
}

std::string_view TextOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(text->c_str(), text->size());
}

// Counts what a field takes in a record batch, children included.
class Layout {
 public:
  size_t nodes() const { return nodes_; }
  size_t buffers() const { return buffers_; }

  Result<void> Add(const tables::Field& field, int depth = 0) {
    if (depth > kMaxNesting) {
      return Unsupported("columns nested so deeply are not read");
    }
    if (field.has_dictionary()) {
      return Unsupported(
          fmt::format("column \"{}\" is dictionary-encoded, which is not "
                      "read",
                      TextOf(field.name())));
    }
    ++nodes_;
    using tables::TypeKind;
    switch (field.kind()) {
      case TypeKind::kNull:
        break;
      case TypeKind::kStruct:
      case TypeKind::kFixedSizeList:
        buffers_ += 1;
        break;
      case TypeKind::kInt:
      case TypeKind::kFloatingPoint:
      case TypeKind::kBool:
      case TypeKind::kDecimal:
      case TypeKind::kDate:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kInterval:
      case TypeKind::kDuration:
      case TypeKind::kFixedSizeBinary:
      case TypeKind::kList:
      case TypeKind::kLargeList:
      case TypeKind::kMap:
        buffers_ += 2;
        break;
      case TypeKind::kBinary:
      case TypeKind::kUtf8:
      case TypeKind::kLargeBinary:
      case TypeKind::kLargeUtf8:
        buffers_ += 3;
        break;
      default:
        return Unsupported(
            fmt::format("column \"{}\" has Arrow type {}, which is not "
                        "known",
                        TextOf(field.name()), static_cast<int>(field.kind())));
    }
    if (field.children() == nullptr) return {};
    for (const tables::Field* child : *field.children()) {
      DOLIUM_TRY_VOID(Add(*child, depth + 1));
    }
    return {};
  }

 private:
  size_t nodes_ = 0;
  size_t buffers_ = 0;
};

bool IsInt(const tables::Field& field, int32_t bits, bool is_signed) {
  return field.kind() == tables::TypeKind::kInt && field.type() != nullptr &&
         field.type()->bit_width() == bits && field.type()->is_signed() == is_signed;
}

bool IsListOfLabels(const tables::Field& field) {
  return field.kind() == tables::TypeKind::kList && field.children() != nullptr &&
         field.children()->size() == 1 && IsInt(*field.children()->Get(0), 64, false);
}

struct Wanted {
  std::string_view name;
  std::string_view type;
  bool (*fits)(const tables::Field&);
};
constexpr Wanted kWanted[] = {
    {"chunk_x", "int32", [](const tables::Field& f) { return IsInt(f, 32, true); }},
    {"chunk_y", "int32", [](const tables::Field& f) { return IsInt(f, 32, true); }},
    {"chunk_z", "int32", [](const tables::Field& f) { return IsInt(f, 32, true); }},
    {"labels", "list<uint64>", IsListOfLabels},
    {"supervoxels", "list<uint64>", IsListOfLabels},
    {"dvid_compressed_block", "binary",
     [](const tables::Field& f) { return f.kind() == tables::TypeKind::kBinary; }},
    {"uncompressed_size", "uint32",
     [](const tables::Field& f) { return IsInt(f, 32, false); }},
};
constexpr size_t kWantedCount = std::size(kWanted);
enum WantedColumn : uint8_t { kLabels = 3, kSupervoxels, kBlock, kUncompressedSize };

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

Result<Bytes> FixedColumn(Buffers& buffers, const Schema::Column& column, uint64_t rows,
                          std::string_view name) {
  DOLIUM_TRY(Bytes values, buffers.Get(column.buffer + 1));
  if (values.size() / sizeof(uint32_t) < rows) {
    return Corrupt(
        fmt::format("column \"{}\" has {} bytes for {} rows", name, values.size(), rows));
  }
  return values;
}

// Offsets that rise, and end within `values` elements.
Result<Bytes> OffsetsColumn(Buffers& buffers, size_t number, uint64_t rows,
                            uint64_t values, std::string_view name) {
  DOLIUM_TRY(Bytes offsets, buffers.Get(number));
  if (rows == 0) return Bytes();
  if (offsets.size() / sizeof(uint32_t) <= rows) {
    return Corrupt(fmt::format("column \"{}\" has {} bytes of offsets for {} rows", name,
                               offsets.size(), rows));
  }
  uint32_t previous = 0;
  for (uint64_t i = 0; i <= rows; ++i) {
    const auto offset = LoadLE<uint32_t>(offsets.data() + i * sizeof(uint32_t));
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

}  // namespace

Result<MessagePrefix> ParsePrefix(BytesView bytes) {
  if (bytes.size() < sizeof(uint32_t)) {
    return Corrupt(fmt::format("{} bytes are too few for a message", bytes.size()));
  }
  MessagePrefix prefix;
  auto length = LoadLE<uint32_t>(bytes.data());
  if (length == kContinuation) {
    if (bytes.size() < 2 * sizeof(uint32_t)) {
      return Corrupt(fmt::format("{} bytes are too few for a message", bytes.size()));
    }
    length = LoadLE<uint32_t>(bytes.data() + sizeof(uint32_t));
  } else {
    prefix.bytes = sizeof(uint32_t);
  }
  if (length > kMaxMetadataBytes) {
    return Corrupt(
        fmt::format("no Arrow message: metadata of {} bytes, at most {} are "
                    "possible",
                    length, kMaxMetadataBytes));
  }
  prefix.metadata = length;
  return prefix;
}

Result<MessageHeader> ParseMessage(BytesView metadata) {
  DOLIUM_TRY(const auto message, VerifyMessage(metadata));
  MessageHeader header;
  header.body = static_cast<uint64_t>(message->body());
  if (message->schema() != nullptr) {
    header.kind = MessageKind::kSchema;
  } else if (message->record_batch() != nullptr) {
    header.kind = MessageKind::kRecordBatch;
    const int64_t rows = message->record_batch()->length();
    if (rows < 0) return Corrupt(fmt::format("a batch of {} rows", rows));
    header.rows = static_cast<uint64_t>(rows);
  } else if (message->kind() == tables::HeaderKind::kDictionaryBatch) {
    header.kind = MessageKind::kDictionary;
  }
  return header;
}

Result<Schema> ParseSchema(BytesView metadata) {
  DOLIUM_TRY(const auto message, VerifyMessage(metadata));
  const tables::Schema* found = message->schema();
  if (found == nullptr || found->fields() == nullptr) {
    return Corrupt("the first message is not a schema");
  }
  if (found->endianness() != 0) return Unsupported("big-endian Arrow data");
  Schema schema;
  Layout layout;
  std::array<std::optional<Schema::Column>, kWantedCount> columns;
  for (const tables::Field* field : *found->fields()) {
    const Schema::Column column{layout.nodes(), layout.buffers()};
    DOLIUM_TRY_VOID(layout.Add(*field));
    const std::string_view name = TextOf(field->name());
    for (size_t i = 0; i < kWantedCount; ++i) {
      if (name != kWanted[i].name) continue;
      if (columns[i]) return Corrupt(fmt::format("column \"{}\" is there twice", name));
      if (!kWanted[i].fits(*field)) {
        return Corrupt(fmt::format("column \"{}\" is not {}", name, kWanted[i].type));
      }
      columns[i] = column;
      if (i != kBlock || field->metadata() == nullptr) continue;
      for (const tables::KeyValue* pair : *field->metadata()) {
        if (TextOf(pair->key()) == "codec") schema.codec = TextOf(pair->value());
      }
    }
  }
  for (size_t i = 0; i < kUncompressedSize; ++i) {
    if (!columns[i]) {
      return Corrupt(
          fmt::format("there is no column \"{}\" ({}); is it an export of "
                      "DVID?",
                      kWanted[i].name, kWanted[i].type));
    }
  }
  schema.chunk = {*columns[0], *columns[1], *columns[2]};
  schema.labels = *columns[kLabels];
  schema.supervoxels = *columns[kSupervoxels];
  schema.block = *columns[kBlock];
  schema.uncompressed_size = columns[kUncompressedSize];
  schema.columns = found->fields()->size();
  schema.nodes = layout.nodes();
  schema.buffers = layout.buffers();
  return schema;
}

Result<std::vector<FooterBlock>> ParseFooter(BytesView bytes) {
  DOLIUM_TRY(const auto footer,
             Verified<tables::Footer>::Make(bytes, "the footer of an Arrow file"));
  std::vector<FooterBlock> blocks;
  if (footer->batches() == nullptr) return blocks;
  blocks.reserve(footer->batches()->size());
  for (const tables::FileBlock* raw : *footer->batches()) {
    const auto offset = flatbuffers::EndianScalar(raw->offset);
    const auto metadata = flatbuffers::EndianScalar(raw->metadata);
    const auto body = flatbuffers::EndianScalar(raw->body);
    if (offset < 0 || metadata < 0 || body < 0) {
      return Corrupt(fmt::format("the footer has a batch of {} and {} bytes at {}",
                                 metadata, body, offset));
    }
    blocks.push_back({static_cast<uint64_t>(offset), static_cast<uint64_t>(metadata),
                      static_cast<uint64_t>(body)});
  }
  return blocks;
}

Result<Batch> Batch::Parse(const Schema& schema, BytesView metadata, Body body) {
  DOLIUM_TRY(const auto message, VerifyMessage(metadata));
  const tables::RecordBatch* raw = message->record_batch();
  if (raw == nullptr) return Corrupt("the message is not a record batch");
  const size_t nodes = raw->nodes() == nullptr ? 0 : raw->nodes()->size();
  const size_t count = raw->buffers() == nullptr ? 0 : raw->buffers()->size();
  if (nodes != schema.nodes || count != schema.buffers) {
    return Corrupt(
        fmt::format("a batch of {} nodes and {} buffers, the schema has {} "
                    "and {}",
                    nodes, count, schema.nodes, schema.buffers));
  }
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
    const std::string_view name = kWanted[d].name;
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, schema.chunk[d].node, batch.rows_, name));
    DOLIUM_TRY(batch.chunk_[d], FixedColumn(buffers, schema.chunk[d], batch.rows_, name));
  }
  for (const bool is_labels : {true, false}) {
    const Schema::Column& column = is_labels ? schema.labels : schema.supervoxels;
    List& list = is_labels ? batch.labels_ : batch.supervoxels_;
    const std::string_view name = kWanted[is_labels ? kLabels : kSupervoxels].name;
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, column.node, batch.rows_, name));
    DOLIUM_TRY_VOID(CheckNoNulls(*raw, column.node + 1, std::nullopt, name));
    DOLIUM_TRY(auto values, buffers.Get(column.buffer + 3, /*leave=*/true));
    list.width = sizeof(uint64_t);
    DOLIUM_TRY(list.offsets, OffsetsColumn(buffers, column.buffer + 1, batch.rows_,
                                           values.size() / sizeof(uint64_t), name));
    list.values = std::move(values.bytes);
    if (values.is_remote) list.remote = values.stored;
  }
  const std::string_view name = kWanted[kBlock].name;
  DOLIUM_TRY_VOID(CheckNoNulls(*raw, schema.block.node, batch.rows_, name));
  DOLIUM_TRY(auto blocks, buffers.Get(schema.block.buffer + 2, /*leave=*/true));
  if (batch.rows_ > blocks.size()) {
    return Corrupt(fmt::format("column \"{}\" has {} bytes for {} rows", name,
                               blocks.size(), batch.rows_));
  }
  batch.blocks_at_ = blocks.stored;
  DOLIUM_TRY(batch.blocks_.offsets, OffsetsColumn(buffers, schema.block.buffer + 1,
                                                  batch.rows_, blocks.size(), name));
  batch.blocks_.values = std::move(blocks.bytes);
  if (blocks.is_remote) batch.blocks_.remote = blocks.stored;
  batch.undoes_ = std::move(blocks.undoes);
  if (schema.uncompressed_size) {
    const std::string_view size_name = kWanted[kUncompressedSize].name;
    DOLIUM_TRY_VOID(
        CheckNoNulls(*raw, schema.uncompressed_size->node, batch.rows_, size_name));
    DOLIUM_TRY(batch.sizes_,
               FixedColumn(buffers, *schema.uncompressed_size, batch.rows_, size_name));
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
  const std::byte* at = list.offsets.data() + row * sizeof(uint32_t);
  const uint64_t begin = LoadLE<uint32_t>(at);
  const uint64_t end = LoadLE<uint32_t>(at + sizeof(uint32_t));
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
