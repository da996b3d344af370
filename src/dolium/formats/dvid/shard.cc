#include "dolium/formats/dvid/shard.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "dolium/bytes/file_store.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/wrapper.h"

namespace dolium::dvid {
namespace {

constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;
// What is read of an object that is not local, to salvage it.
constexpr uint64_t kMaxSalvageBytes = uint64_t{4} << 30;
// Read of a far message at first; more than the metadata of a batch take.
constexpr uint64_t kHeadBytes = 1024;
// At the begin of an IPC file: its magic, padded.
constexpr uint64_t kFileHeadBytes = 8;
// At its end: length of the footer, magic.
constexpr uint64_t kFileTailBytes = 10;
constexpr uint64_t kEndMarkBytes = 8;

}  // namespace

std::optional<Coordinates> ParseCoordinates(std::string_view word) {
  if (word == "auto") return Coordinates::kAuto;
  if (word == "block") return Coordinates::kBlock;
  if (word == "voxel") return Coordinates::kVoxel;
  return std::nullopt;
}

Result<Bytes> Row::Block() const { return Decode(wrapper, stored, kMaxBlockBytes); }

CodecChain Row::codecs() const {
  CodecChain chain = buffer;
  chain.insert(chain.end(), wrapper.begin(), wrapper.end());
  return chain;
}

Result<std::shared_ptr<const Shard>> Shard::Open(const Location& location,
                                                 const ShardOptions& options) {
  std::shared_ptr<Shard> shard(new Shard(location, options));
  const auto open = [&]() -> Result<void> {
    DOLIUM_TRY_VOID(shard->OpenObject());
    DOLIUM_TRY_VOID(shard->LearnEnds());
    DOLIUM_TRY_VOID(shard->LearnSchema());
    return shard->LearnRows();
  };
  auto opened = open();
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.message.starts_with(shard->Describe())) return error;
    return std::move(error).Within(shard->Describe());
  }
  return std::shared_ptr<const Shard>(std::move(shard));
}

Result<void> Shard::OpenObject() {
  DOLIUM_TRY(const auto info, location_.store->Stat(location_.path));
  if (!info) return NotFound("there is no such object");
  size_ = info->size;
  object_ = std::make_shared<const ObjectVersion>(
      ObjectVersion{location_.path, info->generation});
  const uint64_t map_limit = options_.salvage ? UINT64_MAX : options_.map_limit;
  if (size_ > 0 && size_ <= map_limit && IsLocal(location_)) {
    DOLIUM_TRY(map_, static_cast<const FileStore&>(*location_.store).Map(location_.path));
    size_ = map_.size();
  } else if (options_.salvage) {
    // It looks at every few bytes.
    DOLIUM_TRY(const WholeObject whole,
               location_.store->ReadWhole(location_.path, kMaxSalvageBytes));
    map_ = whole.bytes;
    size_ = map_.size();
  }
  return {};
}

Result<Bytes> Shard::ReadBytes(ByteRange range) const {
  if (range.offset > size_ || range.length > size_ - range.offset) {
    return Corrupt(
        fmt::format("bytes {} end past the object ({} bytes)", ToString(range), size_));
  }
  if (!map_.empty()) {
    return map_.Slice(static_cast<size_t>(range.offset),
                      static_cast<size_t>(range.length));
  }
  return location_.store->ReadRange(location_.path, range,
                                    {.if_generation = object_->generation});
}

// What is at both ends: which flavour it is, and the seed's footer.
Result<void> Shard::LearnEnds() {
  if (size_ < kFileHeadBytes) {
    return Corrupt(fmt::format("{} bytes are no Arrow data", size_));
  }
  DOLIUM_TRY(const Bytes head, ReadBytes({0, kFileHeadBytes}));
  is_file_ = AsText(head).starts_with(kFileMagic);
  if (!is_file_ && LoadLE<uint32_t>(head.data()) != ~uint32_t{0}) {
    const auto prefix = ParsePrefix(head);
    if (!prefix || prefix->metadata == 0) {
      return Corrupt("neither an Arrow stream nor an Arrow file");
    }
  }
  arrow_end_ = size_;
  if (size_ < kFooterTail) return {};
  DOLIUM_TRY(const Bytes tail, ReadBytes({size_ - kFooterTail, kFooterTail}));
  DOLIUM_TRY(footer_, FindFooter(tail, size_));
  if (footer_) arrow_end_ = footer_->offset;
  return {};
}

Result<Shard::Message> Shard::ReadMessage(uint64_t at) const {
  const uint64_t rest = arrow_end_ - at;
  DOLIUM_TRY(Bytes head,
             ReadBytes({at, map_.empty() ? std::min(kHeadBytes, rest) : rest}));
  DOLIUM_TRY(const MessagePrefix prefix, ParsePrefix(head));
  Message message;
  if (prefix.metadata == 0) {
    message.is_end = true;
    message.range = {at, prefix.bytes};
    return message;
  }
  const uint64_t body = uint64_t{prefix.bytes} + prefix.metadata;
  if (body > rest) {
    return Corrupt(fmt::format("metadata of {} bytes end past the data ({} bytes)",
                               prefix.metadata, rest));
  }
  if (body > head.size()) {
    DOLIUM_TRY(head, ReadBytes({at, body}));
  }
  message.metadata = head.Slice(prefix.bytes, prefix.metadata);
  DOLIUM_TRY(message.head, ParseMessage(message.metadata));
  if (message.head.body > rest - body) {
    return Corrupt(fmt::format("a body of {} bytes ends past the data ({} bytes)",
                               message.head.body, rest - body));
  }
  message.body = {at + body, message.head.body};
  message.range = {at, body + message.head.body};
  return message;
}

Result<void> Shard::LearnSchema() {
  const uint64_t at = is_file_ ? kFileHeadBytes : 0;
  if (at >= arrow_end_) return Corrupt("no Arrow data before the footer");
  auto message = ReadMessage(at);
  if (!message) return std::move(message).error().Within("the first message");
  if (message->is_end || message->head.kind != MessageKind::kSchema) {
    return Corrupt("the first message is not a schema");
  }
  DOLIUM_TRY(schema_, ParseSchema(message->metadata));
  schema_end_ = message->range.end();
  return {};
}

Result<std::optional<ShardIndex>> Shard::LoadSidecar(std::string_view suffix,
                                                     bool is_json) {
  if (!location_.path.ends_with(kExtension)) return std::nullopt;
  const std::string object =
      location_.path.substr(0, location_.path.size() - kExtension.size()).append(suffix);
  auto whole = location_.store->ReadWhole(object, kMaxIndexBytes);
  if (!whole && whole.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!whole) return std::move(whole).error();
  auto index = is_json ? ParseJsonIndex(AsText(whole->bytes))
                       : ParseCsvIndex(AsText(whole->bytes));
  if (!index) {
    Error error = std::move(index).error().Within(location_.store->Describe(object));
    if (!options_.salvage) return error;
    Warn("index", error.message, std::nullopt);
    return std::nullopt;
  }
  index_form_ = is_json ? "json" : "csv";
  return *std::move(index);
}

Result<std::optional<ShardIndex>> Shard::LoadIndex() {
  if (footer_) {
    DOLIUM_TRY(const Bytes json, ReadBytes(*footer_));
    DOLIUM_TRY(ShardIndex index, ParseJsonIndex(AsText(json)));
    index_form_ = "footer";
    return index;
  }
  DOLIUM_TRY(auto csv, LoadSidecar(".csv", false));
  if (csv && !csv->has_ranges) {
    DOLIUM_TRY(auto offsets, LoadSidecar("-offsets.csv", false));
    if (offsets && offsets->has_ranges) return offsets;
  }
  if (csv) return csv;
  return LoadSidecar(".json", true);
}

bool Shard::Covers(const ShardIndex& index) const {
  uint64_t end = schema_end_;
  for (const IndexRow& row : index.rows) end = std::max(end, row.range.end());
  return end == arrow_end_ || end + kEndMarkBytes == arrow_end_;
}

Result<void> Shard::LearnRows() {
  DOLIUM_TRY(const std::optional<ShardIndex> index, LoadIndex());
  if (index && index->has_ranges && !is_file_ && Covers(*index)) {
    places_.reserve(index->rows.size());
    for (const IndexRow& row : index->rows) {
      places_.push_back({row.key, row.row, row.range});
    }
    in_voxels_ = options_.coordinates == Coordinates::kVoxel;
    return SortRows();
  }
  Walk walk = WalkMessages();
  if (!walk.problem && index && index->has_ranges &&
      index->rows.size() != walk.places.size()) {
    walk.problem = Corrupt(fmt::format("its CSV has {} rows, the stream {}",
                                       index->rows.size(), walk.places.size()));
  }
  if (walk.problem) {
    if (!options_.salvage) return *std::move(walk.problem);
    Warn("salvage", walk.problem->message, std::nullopt);
    DOLIUM_TRY(places_, SalvageRows());
  } else {
    places_ = std::move(walk.places);
    if (!walk.has_end) {
      Warn("end",
           "the stream has no end mark; if its writer was stopped, blocks are missing",
           ByteRange{walk.end, 0});
    }
  }
  in_voxels_ = options_.coordinates == Coordinates::kVoxel ||
               (options_.coordinates == Coordinates::kAuto && is_file_ &&
                std::ranges::all_of(places_, [](const Place& place) {
                  return std::ranges::all_of(
                      place.key, [](int32_t at) { return at % kBlockSide == 0; });
                }));
  if (index && !index->has_ranges && !walk.problem) DOLIUM_TRY_VOID(NameRows(*index));
  return SortRows();
}

// The keys of the index are those that people know. Where they are voxels of blocks that
// the columns count, the columns decide.
Result<void> Shard::NameRows(const ShardIndex& index) {
  if (index.rows.size() != places_.size()) {
    return Corrupt(fmt::format("its index has {} rows, the Arrow data {}",
                               index.rows.size(), places_.size()));
  }
  std::vector<Key> keys(places_.size());
  std::vector<bool> named(places_.size());
  size_t scaled = 0;
  for (const IndexRow& row : index.rows) {
    if (row.record >= places_.size() || named[static_cast<size_t>(row.record)]) {
      return Corrupt(fmt::format("its index gives record {} to {}, of {} records",
                                 row.record, ToString(row.key), places_.size()));
    }
    const auto number = static_cast<size_t>(row.record);
    named[number] = true;
    keys[number] = row.key;
    const Key& column = places_[number].key;
    if (row.key == column) continue;
    for (size_t d = 0; d < 3; ++d) {
      if (int64_t{column[d]} * kBlockSide != row.key[d]) {
        return Corrupt(fmt::format("record {} is {} in the index and {} in the columns",
                                   row.record, ToString(row.key), ToString(column)));
      }
    }
    ++scaled;
  }
  for (size_t i = 0; i < places_.size(); ++i) places_[i].key = keys[i];
  if (scaled > 0 && options_.coordinates != Coordinates::kBlock) in_voxels_ = true;
  return {};
}

Result<void> Shard::SortRows() {
  sorted_.resize(places_.size());
  std::iota(sorted_.begin(), sorted_.end(), uint32_t{0});
  std::ranges::sort(sorted_, {}, [&](uint32_t i) { return places_[i].key; });
  const auto twice =
      std::ranges::adjacent_find(sorted_, {}, [&](uint32_t i) { return places_[i].key; });
  if (twice == sorted_.end()) return {};
  return Corrupt(fmt::format("block {} is there twice; --salvage takes the last of them",
                             ToString(places_[*twice].key)));
}

Key Shard::BlockOf(size_t number) const {
  Key block = places_[number].key;
  if (!in_voxels_) return block;
  for (int32_t& at : block) at = at / kBlockSide - (at % kBlockSide < 0 ? 1 : 0);
  return block;
}

std::optional<size_t> Shard::Find(const Key& key) const {
  const auto by_key = [&](uint32_t i) -> const Key& { return places_[i].key; };
  const auto at = std::ranges::lower_bound(sorted_, key, {}, by_key);
  if (at == sorted_.end() || places_[*at].key != key) return std::nullopt;
  return *at;
}

std::optional<size_t> Shard::FindBlock(const Key& block) const {
  if (!in_voxels_) return Find(block);
  Key key;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t at = int64_t{block[d]} * kBlockSide;
    if (at != static_cast<int32_t>(at)) return std::nullopt;
    key[d] = static_cast<int32_t>(at);
  }
  return Find(key);
}

Result<std::shared_ptr<const Batch>> Shard::ParseBatch(const Message& message) const {
  DOLIUM_TRY(const Bytes body, ReadBytes(message.body));
  DOLIUM_TRY(Batch batch,
             Batch::Parse(schema_, message.metadata, body, message.body.offset));
  return std::make_shared<const Batch>(std::move(batch));
}

Result<std::shared_ptr<const Batch>> Shard::ReadBatch(ByteRange range) const {
  {
    const std::lock_guard lock(mutex_);
    if (last_batch_ != nullptr && last_batch_at_ == range.offset) return last_batch_;
  }
  DOLIUM_TRY(Message message, ReadMessage(range.offset));
  // DVID counts the schema to the first batch.
  while (!message.is_end && message.head.kind == MessageKind::kSchema &&
         message.range.end() < range.end()) {
    DOLIUM_TRY(message, ReadMessage(message.range.end()));
  }
  if (message.is_end || message.head.kind != MessageKind::kRecordBatch ||
      message.range.end() != range.end()) {
    return Corrupt(fmt::format("bytes {} are not a record batch", ToString(range)));
  }
  DOLIUM_TRY(auto batch, ParseBatch(message));
  if (batch->rows() > 1) {
    const std::lock_guard lock(mutex_);
    last_batch_ = batch;
    last_batch_at_ = range.offset;
  }
  return batch;
}

Result<Row> Shard::MakeRow(const Batch& batch, uint64_t number) const {
  Row row;
  row.key = batch.key(number);
  row.labels = batch.labels(number);
  row.supervoxels = batch.supervoxels(number);
  row.stored = batch.block(number);
  Batch::Place place = batch.block_place(number);
  row.range = place.range;
  row.buffer = std::move(place.codecs);
  DOLIUM_TRY(row.wrapper,
             WrapperOf(row.stored, batch.uncompressed_size(number), schema_.codec));
  return row;
}

Result<Row> Shard::Read(size_t number) const {
  const Place& place = places_[number];
  const auto read = [&]() -> Result<Row> {
    DOLIUM_TRY(const auto batch, ReadBatch(place.range));
    if (place.row >= batch->rows()) {
      return Corrupt(fmt::format("row {} of a batch of {}", place.row, batch->rows()));
    }
    DOLIUM_TRY(Row row, MakeRow(*batch, place.row));
    const bool same = row.key == place.key;
    bool scaled = true;
    for (size_t d = 0; d < 3; ++d) {
      scaled = scaled && int64_t{row.key[d]} * kBlockSide == place.key[d];
    }
    if (!same && !scaled) {
      return Corrupt(fmt::format("the columns have it as {}", ToString(row.key)));
    }
    return row;
  };
  auto row = read();
  if (!row) return EntryError(Describe(), ToString(place.key), row.error());
  return row;
}

void Shard::Warn(std::string kind, std::string message, std::optional<ByteRange> range) {
  warnings_.push_back({.severity = Severity::kWarning,
                       .kind = std::move(kind),
                       .object = Describe(),
                       .key = {},
                       .range = range,
                       .message = std::move(message)});
}

Result<bool> LooksLikeShard(const Location& location) {
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  if (!info || info->size < kFileHeadBytes + kFileTailBytes) return false;
  const auto head = location.store->ReadRange(location.path, {0, kFileHeadBytes});
  if (!head) return head.error();
  if (AsText(*head).starts_with(kFileMagic)) return true;
  return LoadLE<uint32_t>(head->data()) == ~uint32_t{0} &&
         LoadLE<uint32_t>(head->data() + sizeof(uint32_t)) <= kMaxMetadataBytes;
}

}  // namespace dolium::dvid
