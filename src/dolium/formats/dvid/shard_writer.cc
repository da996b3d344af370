#include "dolium/formats/dvid/shard_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "dolium/formats/dvid/ipc_tables_internal.h"
#include "dolium/formats/dvid/put_internal.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/stream_constants.h"

namespace dolium::dvid {
namespace {

constexpr size_t kBufferAlignment = 8;
constexpr int16_t kMetadataVersion5 = 4;
constexpr size_t kPrefixBytes = 8;
constexpr std::string_view kFileHeader("ARROW1\0\0", 8);
constexpr std::string_view kEndMark("\xff\xff\xff\xff\0\0\0\0", 8);
constexpr size_t kSeedNodes = 8;

ByteVector FromHex(std::string_view text) {
  ByteVector bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint8_t value = 0;
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, value, 16);
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

const ByteVector& SchemaMessage() {
  static const ByteVector message = FromHex(kSchemaMessageHex);
  return message;
}

const ByteVector& BatchMetadata() {
  static const ByteVector metadata = FromHex(kBatchMetadataHex);
  return metadata;
}

size_t Padded(size_t size) {
  return (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Prefix, metadata, padding.
ByteVector Framed(BytesView metadata) {
  ByteVector out;
  Put<uint32_t>(out, ~uint32_t{0});
  Put<uint32_t>(out, static_cast<uint32_t>(Padded(metadata.size())));
  Append(out, metadata);
  out.resize(kPrefixBytes + Padded(metadata.size()));
  return out;
}

BytesView Finished(const flatbuffers::FlatBufferBuilder& builder) {
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

using Offset = flatbuffers::Offset<void>;
using tables::FieldOffset;
using tables::TypeKind;

Offset IntType(flatbuffers::FlatBufferBuilder& builder, int32_t bits, bool is_signed) {
  const auto start = builder.StartTable();
  builder.AddElement<int32_t>(FieldOffset(0), bits, 0);
  builder.AddElement<uint8_t>(FieldOffset(1), is_signed ? 1 : 0, 0);
  return Offset(builder.EndTable(start));
}

Offset PlainType(flatbuffers::FlatBufferBuilder& builder) {
  const auto start = builder.StartTable();
  return Offset(builder.EndTable(start));
}

Offset MakeField(flatbuffers::FlatBufferBuilder& builder, const char* name, TypeKind kind,
                 Offset type, bool nullable, const std::vector<Offset>& children) {
  const auto text = builder.CreateString(name);
  const auto list = builder.CreateVector(children);
  const auto start = builder.StartTable();
  builder.AddOffset(FieldOffset(0), text);
  builder.AddElement<uint8_t>(FieldOffset(1), nullable ? 1 : 0, 0);
  builder.AddElement<uint8_t>(FieldOffset(2), static_cast<uint8_t>(kind), 0);
  builder.AddOffset(FieldOffset(3), type);
  builder.AddOffset(FieldOffset(5), list);
  return Offset(builder.EndTable(start));
}

// Six columns, as the seed has them.
Offset SeedSchema(flatbuffers::FlatBufferBuilder& builder) {
  std::vector<Offset> fields;
  for (const char* name : {"chunk_x", "chunk_y", "chunk_z"}) {
    fields.push_back(
        MakeField(builder, name, TypeKind::kInt, IntType(builder, 32, true), false, {}));
  }
  for (const char* name : {"labels", "supervoxels"}) {
    const Offset item =
        MakeField(builder, "item", TypeKind::kInt, IntType(builder, 64, false), true, {});
    fields.push_back(
        MakeField(builder, name, TypeKind::kList, PlainType(builder), false, {item}));
  }
  fields.push_back(MakeField(builder, "dvid_compressed_block", TypeKind::kBinary,
                             PlainType(builder), false, {}));
  const auto list = builder.CreateVector(fields);
  const auto start = builder.StartTable();
  builder.AddOffset(FieldOffset(1), list);
  return Offset(builder.EndTable(start));
}

void FinishMessage(flatbuffers::FlatBufferBuilder& builder, tables::HeaderKind kind,
                   Offset header, uint64_t body) {
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(FieldOffset(3), static_cast<int64_t>(body), 0);
  builder.AddOffset(FieldOffset(2), header);
  builder.AddElement<int16_t>(FieldOffset(0), kMetadataVersion5, 0);
  builder.AddElement<uint8_t>(FieldOffset(1), static_cast<uint8_t>(kind), 0);
  builder.Finish(Offset(builder.EndTable(start)));
}

}  // namespace

DvidShardWriter::DvidShardWriter(Location location, const DvidShardWriterOptions& options,
                                 std::unique_ptr<ObjectWriter> out)
    : location_(std::move(location)), options_(options), out_(std::move(out)) {}

DvidShardWriter::~DvidShardWriter() = default;

Result<std::unique_ptr<DvidShardWriter>> DvidShardWriter::Begin(
    const Location& location, const DvidShardWriterOptions& options) {
  if (!location.path.ends_with(kExtension) || options.rows_per_batch == 0) {
    return InvalidArgument(
        fmt::format("{}: shards are files *{}, with a row or more in "
                    "each batch",
                    location.Describe(), kExtension));
  }
  DOLIUM_TRY(auto out, location.store->Begin(location.path));
  std::unique_ptr<DvidShardWriter> writer(
      new DvidShardWriter(location, options, std::move(out)));
  DOLIUM_TRY_VOID(writer->WriteHeader());
  return writer;
}

Result<void> DvidShardWriter::WriteHeader() {
  if (options_.layout == ShardLayout::kStream) {
    DOLIUM_TRY_VOID(out_->Append(SchemaMessage()));
  } else {
    flatbuffers::FlatBufferBuilder builder;
    FinishMessage(builder, tables::HeaderKind::kSchema, SeedSchema(builder), 0);
    DOLIUM_TRY_VOID(out_->Append(AsBytes(kFileHeader)));
    DOLIUM_TRY_VOID(out_->Append(Framed(Finished(builder))));
  }
  schema_bytes_ = out_->size();
  return {};
}

Result<void> DvidShardWriter::Add(const NewRow& row) {
  if (row.labels.size() != row.supervoxels.size()) {
    return InvalidArgument(fmt::format("{}: block {}: {} labels for {} supervoxels",
                                       location_.Describe(), ToString(row.block),
                                       row.labels.size(), row.supervoxels.size()));
  }
  const size_t lists = labels_.size() / sizeof(uint64_t) + row.labels.size();
  if (stored_.size() + row.stored.size() > INT32_MAX || lists > INT32_MAX) {
    return InvalidArgument(fmt::format("{}: block {}: more than 2 GiB in one batch",
                                       location_.Describe(), ToString(row.block)));
  }
  // The seed counts voxels.
  const int64_t side = options_.layout == ShardLayout::kSeed ? kBlockSide : 1;
  IndexRow place;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t at = row.block[d] * side;
    if (at != static_cast<int32_t>(at)) {
      return InvalidArgument(fmt::format("{}: block {} lies beyond 32 bits of voxels",
                                         location_.Describe(), ToString(row.block)));
    }
    place.key[d] = static_cast<int32_t>(at);
    Put<uint32_t>(chunk_[d], static_cast<uint32_t>(place.key[d]));
  }
  if (pending_.empty()) {
    for (ByteVector* offsets : {&label_offsets_, &supervoxel_offsets_, &block_offsets_}) {
      Put<uint32_t>(*offsets, 0);
    }
  }
  Append(labels_, row.labels.bytes());
  Append(supervoxels_, row.supervoxels.bytes());
  Append(stored_, row.stored);
  const auto count = static_cast<uint32_t>(lists);
  Put<uint32_t>(label_offsets_, count);
  Put<uint32_t>(supervoxel_offsets_, count);
  Put<uint32_t>(block_offsets_, static_cast<uint32_t>(stored_.size()));
  Put<uint32_t>(sizes_, row.uncompressed_size);
  place.record = rows_++;
  place.row = static_cast<uint32_t>(pending_.size());
  pending_.push_back(place);
  value_bytes_ += row.uncompressed_size;
  return pending_.size() < options_.rows_per_batch ? Result<void>() : WriteBatch();
}

ByteVector DvidShardWriter::StreamMetadata(const std::vector<BytesView>& buffers,
                                           uint64_t body) const {
  ByteVector metadata = BatchMetadata();
  const auto store = [&](size_t at, uint64_t value) {
    StoreLE<uint64_t>(metadata.data() + at, value);
  };
  store(kBodyLengthAt, body);
  store(kRowsAt, pending_.size());
  uint64_t offset = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    store(kBuffersAt + 16 * i, offset);
    store(kBuffersAt + 16 * i + 8, buffers[i].size());
    offset += Padded(buffers[i].size());
  }
  const uint64_t rows = pending_.size();
  const uint64_t values = labels_.size() / sizeof(uint64_t);
  const uint64_t nodes[] = {rows, rows, rows, rows, values, rows, values, rows, rows};
  for (size_t i = 0; i < std::size(nodes); ++i) store(kNodesAt + 16 * i, nodes[i]);
  return metadata;
}

ByteVector DvidShardWriter::SeedMetadata(const std::vector<BytesView>& buffers,
                                         uint64_t body) const {
  std::vector<tables::TwoLongs> places;
  int64_t offset = 0;
  for (const BytesView buffer : buffers) {
    places.push_back({offset, static_cast<int64_t>(buffer.size())});
    offset += static_cast<int64_t>(Padded(buffer.size()));
  }
  const auto rows = static_cast<int64_t>(pending_.size());
  const auto values = static_cast<int64_t>(labels_.size() / sizeof(uint64_t));
  const std::array<tables::TwoLongs, kSeedNodes> nodes = {{{rows, 0},
                                                           {rows, 0},
                                                           {rows, 0},
                                                           {rows, 0},
                                                           {values, 0},
                                                           {rows, 0},
                                                           {values, 0},
                                                           {rows, 0}}};
  flatbuffers::FlatBufferBuilder builder;
  const auto buffer_list = builder.CreateVectorOfStructs(places);
  const auto node_list = builder.CreateVectorOfStructs(nodes.data(), nodes.size());
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(FieldOffset(0), rows, 0);
  builder.AddOffset(FieldOffset(1), node_list);
  builder.AddOffset(FieldOffset(2), buffer_list);
  const Offset batch(builder.EndTable(start));
  FinishMessage(builder, tables::HeaderKind::kRecordBatch, batch, body);
  const BytesView bytes = Finished(builder);
  return {bytes.begin(), bytes.end()};
}

Result<void> DvidShardWriter::WriteBatch() {
  if (pending_.empty()) return {};
  const BytesView none;
  std::vector<BytesView> buffers = {
      none, chunk_[0],      none, chunk_[1],      none,   chunk_[2],
      none, label_offsets_, none, labels_,        none,   supervoxel_offsets_,
      none, supervoxels_,   none, block_offsets_, stored_};
  const bool is_stream = options_.layout == ShardLayout::kStream;
  if (is_stream) {
    buffers.push_back(none);
    buffers.emplace_back(sizes_);
  }
  uint64_t body = 0;
  for (const BytesView buffer : buffers) body += Padded(buffer.size());
  const ByteVector message =
      Framed(is_stream ? StreamMetadata(buffers, body) : SeedMetadata(buffers, body));
  const uint64_t at = out_->size();
  DOLIUM_TRY_VOID(out_->Append(message));
  constexpr std::array<std::byte, kBufferAlignment> kZeros = {};
  for (const BytesView buffer : buffers) {
    if (buffer.empty()) continue;
    DOLIUM_TRY_VOID(out_->Append(buffer));
    DOLIUM_TRY_VOID(
        out_->Append(BytesView(kZeros).first(Padded(buffer.size()) - buffer.size())));
  }
  blocks_.push_back({at, message.size(), body});
  for (IndexRow& row : pending_) {
    row.range = {at, out_->size() - at};
    index_.push_back(row);
  }
  pending_.clear();
  for (ByteVector* column :
       {&chunk_[0], &chunk_[1], &chunk_[2], &label_offsets_, &labels_,
        &supervoxel_offsets_, &supervoxels_, &block_offsets_, &stored_, &sizes_}) {
    column->clear();
  }
  return {};
}

Result<void> DvidShardWriter::WriteStreamEnd() {
  DOLIUM_TRY_VOID(out_->Append(AsBytes(kEndMark)));
  return {};
}

Result<void> DvidShardWriter::WriteSeedEnd() {
  DOLIUM_TRY_VOID(out_->Append(AsBytes(kEndMark)));
  flatbuffers::FlatBufferBuilder builder;
  const Offset schema = SeedSchema(builder);
  std::vector<tables::FileBlock> blocks;
  blocks.reserve(blocks_.size());
  for (const FooterBlock& block : blocks_) {
    blocks.push_back({static_cast<int64_t>(block.offset),
                      static_cast<int32_t>(block.metadata), 0,
                      static_cast<int64_t>(block.body)});
  }
  const auto dictionaries =
      builder.CreateVectorOfStructs(std::vector<tables::FileBlock>());
  const auto batches = builder.CreateVectorOfStructs(blocks);
  const auto start = builder.StartTable();
  builder.AddElement<int16_t>(FieldOffset(0), kMetadataVersion5, 0);
  builder.AddOffset(FieldOffset(1), schema);
  builder.AddOffset(FieldOffset(2), dictionaries);
  builder.AddOffset(FieldOffset(3), batches);
  builder.Finish(Offset(builder.EndTable(start)));
  ByteVector end;
  Append(end, Finished(builder));
  Put<uint32_t>(end, static_cast<uint32_t>(builder.GetSize()));
  Append(end, AsBytes(kFileMagic));
  const std::string json = JsonText(index_);
  Append(end, AsBytes(json));
  Put<uint64_t>(end, json.size());
  Append(end, AsBytes(kFooterMagic));
  return out_->Append(end);
}

Result<WriteSummary> DvidShardWriter::Finish() {
  DOLIUM_TRY_VOID(WriteBatch());
  const bool is_stream = options_.layout == ShardLayout::kStream;
  DOLIUM_TRY_VOID(is_stream ? WriteStreamEnd() : WriteSeedEnd());
  WriteSummary summary{.entries = rows_,
                       .value_bytes = value_bytes_,
                       .stored_bytes = out_->size(),
                       .objects = 1};
  DOLIUM_TRY_VOID(out_->Commit(Precondition::None()));
  if (!is_stream) return summary;
  const std::string csv = CsvText(index_, schema_bytes_, options_.csv);
  const std::string object =
      location_.path.substr(0, location_.path.size() - kExtension.size()) + ".csv";
  DOLIUM_TRY_VOID(location_.store->Put(object, AsBytes(csv), Precondition::None()));
  summary.stored_bytes += csv.size();
  ++summary.objects;
  return summary;
}

}  // namespace dolium::dvid
