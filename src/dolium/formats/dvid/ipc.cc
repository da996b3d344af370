#include "dolium/formats/dvid/ipc.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/formats/dvid/ipc_internal.h"
#include "dolium/formats/dvid/ipc_tables_internal.h"

namespace dolium::dvid {
namespace {

std::string_view TextOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(text->c_str(), text->size());
}

// Counts what a field takes in a record batch, children included.
class Layout {
 public:
  explicit Layout(bool is_version4) : is_version4_(is_version4) {}

  size_t nodes() const { return nodes_; }
  size_t buffers() const { return buffers_; }
  size_t views() const { return views_; }

  Result<void> Add(const tables::Field& field, int depth = 0) {
    if (depth > kMaxNesting) {
      return Unsupported("columns nested so deeply are not read");
    }
    ++nodes_;
    if (field.has_dictionary()) {
      // Batches have numbers alone; the values are in messages of their own.
      buffers_ += 2;
      return {};
    }
    using tables::TypeKind;
    switch (field.kind()) {
      case TypeKind::kNull:
      case TypeKind::kRunEndEncoded:
        break;
      case TypeKind::kUnion: {
        const bool is_dense = field.type() != nullptr && field.type()->is_dense();
        buffers_ += (is_dense ? 2 : 1) + (is_version4_ ? 1 : 0);
        break;
      }
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
      case TypeKind::kBinaryView:
      case TypeKind::kUtf8View:
        buffers_ += 2;
        ++views_;
        break;
      case TypeKind::kBinary:
      case TypeKind::kUtf8:
      case TypeKind::kLargeBinary:
      case TypeKind::kLargeUtf8:
      case TypeKind::kListView:
      case TypeKind::kLargeListView:
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
  const bool is_version4_;
  size_t nodes_ = 0;
  size_t buffers_ = 0;
  size_t views_ = 0;
};

// Whether a column that is no child, or one of its children, is dictionary-encoded.
bool HasDictionary(const tables::Field& field, int depth = 0) {
  if (field.has_dictionary()) return true;
  if (field.children() == nullptr || depth > kMaxNesting) return false;
  for (const tables::Field* child : *field.children()) {
    if (HasDictionary(*child, depth + 1)) return true;
  }
  return false;
}

bool IsInt(const tables::Field& field) {
  if (field.kind() != tables::TypeKind::kInt || field.type() == nullptr) return false;
  const int32_t bits = field.type()->bit_width();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

bool IsListOfLabels(const tables::Field& field) {
  const bool is_list = field.kind() == tables::TypeKind::kList ||
                       field.kind() == tables::TypeKind::kLargeList;
  if (!is_list || field.children() == nullptr || field.children()->size() != 1) {
    return false;
  }
  const tables::Field& item = *field.children()->Get(0);
  return IsInt(item) && item.type()->bit_width() == 64 && !item.type()->is_signed();
}

bool IsBinary(const tables::Field& field) {
  return field.kind() == tables::TypeKind::kBinary ||
         field.kind() == tables::TypeKind::kLargeBinary;
}

// By the number of the column's name.
struct Wanted {
  std::string_view type;
  bool (*fits)(const tables::Field&);
};
constexpr Wanted kWanted[] = {
    {"int32", IsInt},
    {"int32", IsInt},
    {"int32", IsInt},
    {"list<uint64>", IsListOfLabels},
    {"list<uint64>", IsListOfLabels},
    {"binary", IsBinary},
    {"uint32", IsInt},
};
constexpr size_t kWantedCount = std::size(kWanted);
static_assert(kWantedCount == std::size(kColumnNames));

// How a column of ours is stored; its field fits.
void SetWidth(const tables::Field& field, Schema::Column& column) {
  using tables::TypeKind;
  if (field.kind() == TypeKind::kInt) {
    column.width = static_cast<uint32_t>(field.type()->bit_width() / 8);
    column.is_signed = field.type()->is_signed();
  }
  const bool is_large =
      field.kind() == TypeKind::kLargeList || field.kind() == TypeKind::kLargeBinary;
  if (is_large) column.width = sizeof(uint64_t);
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
  Layout layout(message->version() == kVersion4);
  std::array<std::optional<Schema::Column>, kWantedCount> columns;
  for (const tables::Field* field : *found->fields()) {
    Schema::Column column{layout.nodes(), layout.buffers(), layout.views()};
    DOLIUM_TRY_VOID(layout.Add(*field));
    bool is_ours = false;
    const std::string_view name = TextOf(field->name());
    for (size_t i = 0; i < kWantedCount; ++i) {
      if (name != kColumnNames[i]) continue;
      if (columns[i]) return Corrupt(fmt::format("column \"{}\" is there twice", name));
      if (HasDictionary(*field)) {
        return Unsupported(
            fmt::format("column \"{}\" is dictionary-encoded, which is not "
                        "read",
                        name));
      }
      if (!kWanted[i].fits(*field)) {
        return Corrupt(fmt::format("column \"{}\" is not {}", name, kWanted[i].type));
      }
      is_ours = true;
      SetWidth(*field, column);
      columns[i] = column;
      if (i != kBlockColumn || field->metadata() == nullptr) continue;
      for (const tables::KeyValue* pair : *field->metadata()) {
        if (TextOf(pair->key()) == "codec") schema.codec = TextOf(pair->value());
      }
    }
    if (!is_ours && HasDictionary(*field)) schema.has_dictionaries = true;
  }
  for (size_t i = 0; i < kSizeColumn; ++i) {
    if (!columns[i]) {
      return Corrupt(
          fmt::format("there is no column \"{}\" ({}); is it an export of "
                      "DVID?",
                      kColumnNames[i], kWanted[i].type));
    }
  }
  schema.chunk = {*columns[0], *columns[1], *columns[2]};
  schema.labels = *columns[kLabelsColumn];
  schema.supervoxels = *columns[kSupervoxelsColumn];
  schema.block = *columns[kBlockColumn];
  schema.uncompressed_size = columns[kSizeColumn];
  schema.columns = found->fields()->size();
  schema.nodes = layout.nodes();
  schema.buffers = layout.buffers();
  schema.views = layout.views();
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

}  // namespace dolium::dvid
