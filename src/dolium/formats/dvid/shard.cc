#include "dolium/formats/dvid/shard.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "dolium/bytes/guarded_map.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/shard_internal.h"
#include "dolium/formats/dvid/wrapper.h"

namespace dolium::dvid {
namespace {

// What is read of an object that is not local, to salvage it.
constexpr uint64_t kMaxSalvageBytes = uint64_t{4} << 30;
// Read of a remote message at first; more than the metadata of a batch take.
constexpr uint64_t kHeaderBytes = 1024;
// Read of a remote object at first: its schema, as a rule.
constexpr uint64_t kHeadBytes = 2048;
// Larger bodies of several rows are read in parts, unless they are mapped.
constexpr uint64_t kWholeBodyBytes = uint64_t{1} << 20;
// The end mark of a stream, and that of before Arrow 0.15.
constexpr uint64_t kEndMarkBytes = 8;
constexpr uint64_t kOldEndMarkBytes = 4;
// The first message of a stream is its schema, some hundred bytes.
constexpr uint64_t kMaxSchemaBytes = uint64_t{1} << 20;

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
                                                 const ShardOptions& options,
                                                 std::shared_ptr<BatchCache> cache) {
  if (!cache) cache = std::make_shared<BatchCache>();
  std::shared_ptr<Shard> shard(new Shard(location, options, std::move(cache)));
  const auto open = [&]() -> Result<void> {
    DOLIUM_TRY_VOID(shard->OpenObject());
    DOLIUM_TRY_VOID(shard->LoadEnds());
    DOLIUM_TRY_VOID(shard->LoadSchema());
    return shard->LoadRows();
  };
  auto opened = open();
  if (auto whole = shard->CheckMap(); !whole) opened = std::move(whole);
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.message.starts_with(shard->Describe())) return error;
    return std::move(error).Within(shard->Describe());
  }
  return std::shared_ptr<const Shard>(std::move(shard));
}

Result<void> Shard::CheckMap() const {
  if (!HasLostBytes(map_)) return {};
  return Conflict("has become shorter, or cannot be read, since it was opened");
}

Result<void> Shard::OpenObject() {
  const Store& store = *location_.store;
  const auto found = [&](const ObjectInfo& info) {
    size_ = info.size;
    object_ = std::make_shared<const ObjectVersion>(
        ObjectVersion{location_.path, info.generation});
  };
  DOLIUM_TRY(const auto path, store.LocalPath(location_.path));
  if (path || options_.salvage) {
    DOLIUM_TRY(const auto info, store.Stat(location_.path));
    if (!info) return NotFound("there is no such object");
    found(*info);
    const uint64_t map_limit = options_.salvage ? UINT64_MAX : options_.map_limit;
    std::optional<Bytes> map;
    if (size_ > 0 && size_ <= map_limit) {
      DOLIUM_TRY(map, store.Map(location_.path, Store::MapGuard::kZeros));
    }
    if (map) {
      map_ = *std::move(map);
      size_ = map_.size();
    } else if (options_.salvage) {
      // It looks at every few bytes.
      DOLIUM_TRY(const WholeObject whole,
                 store.ReadWhole(location_.path, kMaxSalvageBytes));
      map_ = whole.bytes;
      size_ = map_.size();
    }
    return {};
  }
  // A request tells size and generation, too.
  auto tail = store.ReadSuffix(location_.path, kFooterTail);
  if (!tail && tail.error().code == ErrorCode::kNotFound) {
    return NotFound("there is no such object");
  }
  if (!tail) return std::move(tail).error();
  found(tail->info);
  tail_ = {size_ - tail->bytes.size(), tail->bytes};
  const ByteRange head{0, std::min(size_, kHeadBytes)};
  DOLIUM_TRY(Bytes bytes, ReadBytes(head));
  head_ = {0, std::move(bytes)};
  return {};
}

Result<Bytes> Shard::ReadBytes(ByteRange range, const Window* window) const {
  if (range.offset > size_ || range.length > size_ - range.offset) {
    return Corrupt(
        fmt::format("bytes {} end past the object ({} bytes)", ToString(range), size_));
  }
  if (!map_.empty()) {
    return map_.Slice(static_cast<size_t>(range.offset),
                      static_cast<size_t>(range.length));
  }
  for (const Window* const read : {window, &head_, &tail_}) {
    if (read != nullptr && read->Contains(range)) return read->Slice(range);
  }
  return location_.store->ReadRange(location_.path, range,
                                    {.if_generation = object_->generation});
}

Result<Bytes> Shard::ReadOwned(ByteRange range) const {
  DOLIUM_TRY(Bytes bytes, ReadBytes(range));
  return map_.empty() ? bytes : Bytes::Copy(bytes);
}

// What is at both ends: which flavour it is, and the seed's footer.
Result<void> Shard::LoadEnds() {
  if (size_ < kFileHeaderBytes) {
    return Corrupt(fmt::format("{} bytes are no Arrow data", size_));
  }
  DOLIUM_TRY(const Bytes header, ReadBytes({0, kFileHeaderBytes}));
  is_file_ = AsText(header).starts_with(kFileMagic);
  if (!is_file_ && LoadLE<uint32_t>(header.data()) != kContinuation) {
    const auto prefix = ParsePrefix(header);
    if (!prefix || prefix->metadata == 0) {
      return Corrupt("neither an Arrow stream nor an Arrow file");
    }
  }
  arrow_end_ = size_;
  if (size_ < kFooterTail) return {};
  DOLIUM_TRY(const Bytes tail, ReadBytes({size_ - kFooterTail, kFooterTail}));
  auto footer = FindFooter(tail, size_);
  if (!footer) {
    if (!options_.salvage) return std::move(footer).error();
    Warn("index", footer.error().message, std::nullopt);
    return {};
  }
  footer_ = *footer;
  if (footer_) arrow_end_ = footer_->offset;
  return {};
}

Result<Shard::Message> Shard::ReadMessage(uint64_t at, const Window* window) const {
  const uint64_t rest = arrow_end_ - at;
  uint64_t first = map_.empty() ? std::min(kHeaderBytes, rest) : rest;
  if (window != nullptr)
    first = std::min(first, window->offset + window->bytes.size() - at);
  DOLIUM_TRY(Bytes header, ReadBytes({at, first}, window));
  DOLIUM_TRY(const MessagePrefix prefix, ParsePrefix(header));
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
  if (body > header.size()) {
    DOLIUM_TRY(header, ReadBytes({at, body}, window));
  }
  message.metadata = header.Slice(prefix.bytes, prefix.metadata);
  DOLIUM_TRY(message.header, ParseMessage(message.metadata));
  // What is parsed further must stay as it is.
  if (!map_.empty()) message.metadata = Bytes::Copy(message.metadata);
  if (message.header.body > rest - body) {
    return Corrupt(fmt::format("a body of {} bytes ends past the data ({} bytes)",
                               message.header.body, rest - body))
        .WithKind("cut");
  }
  message.body = {at + body, message.header.body};
  message.range = {at, body + message.header.body};
  return message;
}

Result<void> Shard::LoadSchema() {
  const uint64_t at = is_file_ ? kFileHeaderBytes : 0;
  if (at >= arrow_end_) return Corrupt("no Arrow data before the footer");
  auto message = ReadMessage(at);
  if (!message) return std::move(message).error().Within("the first message");
  if (message->is_end || message->header.kind != MessageKind::kSchema) {
    return Corrupt("the first message is not a schema");
  }
  DOLIUM_TRY(schema_, ParseSchema(message->metadata));
  schema_end_ = message->range.end();
  // The dictionaries of columns that are not ours are mostly next.
  while (schema_.has_dictionaries && !is_file_ && schema_end_ < arrow_end_) {
    const auto next = ReadMessage(schema_end_);
    if (!next || next->is_end || next->header.kind != MessageKind::kDictionary) break;
    schema_end_ = next->range.end();
  }
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
  if (!options_.use_index) return std::nullopt;
  if (footer_) {
    DOLIUM_TRY(const Bytes json, ReadOwned(*footer_));
    auto index = ParseJsonIndex(AsText(json));
    if (!index) {
      if (!options_.salvage) return std::move(index).error();
      Warn("index", index.error().message, footer_);
      return std::nullopt;
    }
    index_form_ = "footer";
    return *std::move(index);
  }
  DOLIUM_TRY(auto csv, LoadSidecar(".csv", false));
  if (csv && !csv->has_ranges) {
    DOLIUM_TRY(auto offsets, LoadSidecar("-offsets.csv", false));
    if (offsets && offsets->has_ranges) return offsets;
  }
  if (csv) return csv;
  return LoadSidecar(".json", true);
}

Result<bool> Shard::TakeRanges(const ShardIndex& index) {
  std::vector<BlockLocation> places;
  places.reserve(index.rows.size());
  for (const IndexRow& row : index.rows) places.push_back({row.key, row.row, row.range});
  std::ranges::sort(places, {}, [](const BlockLocation& place) {
    return std::tuple(place.range.end(), place.range.offset, place.row);
  });
  std::vector<ByteRange> messages;
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_new = i == 0 || places[i].range != places[i - 1].range;
    if (places[i].row != (is_new ? 0 : places[i - 1].row + 1)) return false;
    if (is_new) messages.push_back(places[i].range);
  }
  if (is_file_) {
    DOLIUM_TRY(const std::vector<FooterBlock> blocks, ReadFooter());
    const bool same =
        std::ranges::equal(messages, blocks, {}, {}, [](const FooterBlock& block) {
          return ByteRange{block.offset, block.metadata + block.body};
        });
    if (!same) return false;
  } else {
    uint64_t end = schema_end_;
    for (const ByteRange& message : messages) {
      // DVID counts the schema to the first batch.
      const bool is_first = end == schema_end_ && message.offset == 0;
      if ((message.offset != end && !is_first) || message.end() <= end) return false;
      end = message.end();
    }
    const bool is_end = end == arrow_end_ || end + kEndMarkBytes == arrow_end_ ||
                        end + kOldEndMarkBytes == arrow_end_;
    if (!is_end) return false;
  }
  places_ = std::move(places);
  return true;
}

bool Shard::CountsVoxels() const {
  if (options_.coordinates != Coordinates::kAuto) {
    return options_.coordinates == Coordinates::kVoxel;
  }
  return is_file_ && std::ranges::all_of(places_, [](const BlockLocation& place) {
           return std::ranges::all_of(place.key,
                                      [](int32_t at) { return at % kBlockSide == 0; });
         });
}

Result<void> Shard::LoadRows() {
  DOLIUM_TRY(const std::optional<ShardIndex> index, LoadIndex());
  // Salvage has all of the data at hand and goes by the columns.
  if (index && index->has_ranges && !options_.salvage) {
    const auto taken = TakeRanges(*index);
    by_ranges_ = taken && *taken;
    index_unfit_ = !by_ranges_;
    if (by_ranges_) {
      in_voxels_ = CountsVoxels();
      return SortRows();
    }
  }
  Walk walk = WalkMessages();
  if (walk.problem) {
    if (!options_.salvage) return *std::move(walk.problem);
    Warn("salvage", walk.problem->message, std::nullopt);
    TakeSalvaged();
    if (index) CompareSalvaged(*index, /*is_whole=*/false);
    return SortRows();
  }
  places_ = std::move(walk.places);
  if (!walk.has_end)
    Warn(std::string(kEndKind), std::string(kNoEndMark), ByteRange{walk.end, 0});
  in_voxels_ = CountsVoxels();
  if (index) {
    auto named = NameRows(*index);
    if (!named) {
      if (!options_.salvage) return named;
      Warn("index", named.error().message, std::nullopt);
    }
    if (options_.salvage) CompareSalvaged(*index, walk.has_end);
  }
  return SortRows();
}

// The keys of the index are those that people know. Where they are voxels of blocks that
// the columns count, the columns decide.
Result<void> Shard::NameRows(const ShardIndex& index) {
  if (index.rows.size() != places_.size()) {
    return Corrupt(fmt::format(
                       "its index has {} rows, the Arrow data {}; salvaging goes by the "
                       "data",
                       index.rows.size(), places_.size()))
        .WithHint(Hint::kSalvageOrReindex);
  }
  // Where ranges are not those of the messages, the columns say all.
  if (index.has_ranges) return {};
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
    if (options_.coordinates == Coordinates::kBlock || !IsScaled(row.key, column)) {
      return Corrupt(fmt::format("record {} is {} in the index and {} in the columns",
                                 row.record, ToString(row.key), ToString(column)));
    }
    ++scaled;
  }
  for (size_t i = 0; i < places_.size(); ++i) places_[i].key = keys[i];
  if (scaled > 0) in_voxels_ = true;
  return {};
}

Result<void> Shard::SortRows() {
  sorted_.resize(places_.size());
  std::iota(sorted_.begin(), sorted_.end(), uint32_t{0});
  const auto by_key = [&](uint32_t i) -> const Key& { return places_[i].key; };
  std::ranges::stable_sort(sorted_, {}, by_key);
  const auto twice = std::ranges::adjacent_find(sorted_, {}, by_key);
  if (twice == sorted_.end()) return {};
  if (!options_.salvage) {
    return Corrupt(
               fmt::format("block {} is there twice; salvaging takes the last of them",
                           ToString(places_[*twice].key)))
        .WithHint(Hint::kSalvage);
  }
  DropRepeated();
  return SortRows();
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

Result<std::shared_ptr<const Batch>> Shard::ParseBatch(const Message& message,
                                                       const Window* window) const {
  Body body;
  body.range = message.body;
  const bool in_parts = message.header.rows > 1 && message.body.length > kWholeBodyBytes;
  if (!map_.empty()) {
    // Copies: the map may lose its bytes at any time.
    body.read =
        [map = map_](std::span<const ByteRange> ranges) -> Result<std::vector<Bytes>> {
      std::vector<Bytes> parts;
      for (const ByteRange& range : ranges) {
        parts.push_back(Bytes::Copy(map.view().subspan(
            static_cast<size_t>(range.offset), static_cast<size_t>(range.length))));
      }
      return parts;
    };
  } else if (in_parts) {
    body.read = [location = location_, object = object_](
                    std::span<const ByteRange> ranges) -> Result<std::vector<Bytes>> {
      DOLIUM_TRY(auto read,
                 location.store->ReadRanges(location.path, ranges,
                                            {.if_generation = object->generation}));
      return std::move(read.parts);
    };
  } else {
    DOLIUM_TRY(body.whole, ReadBytes(message.body, window));
    body.held = message.body.length;
  }
  DOLIUM_TRY(Batch batch, Batch::Parse(schema_, message.metadata, std::move(body)));
  return std::make_shared<const Batch>(std::move(batch));
}

Result<std::shared_ptr<const Batch>> Shard::ReadBatch(ByteRange range) const {
  if (auto kept = cache_->Find(cache_owner_, range.offset)) return kept;
  // The index says where it ends, so that one request will do.
  Window window;
  if (map_.empty() && range.length <= kWholeBodyBytes) {
    DOLIUM_TRY(Bytes bytes, ReadBytes(range));
    window = {range.offset, std::move(bytes)};
  }
  const Window* const read = window.bytes.empty() ? nullptr : &window;
  DOLIUM_TRY(Message message, ReadMessage(range.offset, read));
  // DVID counts the schema to the first batch.
  while (!message.is_end && message.header.kind == MessageKind::kSchema &&
         message.range.end() < range.end()) {
    DOLIUM_TRY(message, ReadMessage(message.range.end(), read));
  }
  if (message.is_end || message.header.kind != MessageKind::kRecordBatch ||
      message.range.end() != range.end()) {
    return Corrupt(fmt::format("bytes {} are not a record batch", ToString(range)));
  }
  DOLIUM_TRY(auto batch, ParseBatch(message, read));
  if (batch->rows() > 1) cache_->Keep(cache_owner_, range.offset, batch);
  return batch;
}

Result<Row> Shard::MakeRow(const Batch& batch, uint64_t number) const {
  DOLIUM_TRY(Batch::Cells cells, batch.Read(number));
  Row row;
  row.key = batch.key(number);
  row.labels = std::move(cells.labels);
  row.supervoxels = std::move(cells.supervoxels);
  row.stored = std::move(cells.block);
  Batch::BlockLocation place = batch.block_location(number);
  row.range = place.range;
  row.buffer = std::move(place.codecs);
  DOLIUM_TRY(row.wrapper,
             WrapperOf(row.stored, batch.uncompressed_size(number), schema_.codec));
  return row;
}

Result<Row> Shard::Read(size_t number) const {
  const BlockLocation& place = places_[number];
  const auto read = [&]() -> Result<Row> {
    DOLIUM_TRY(const auto batch, ReadBatch(place.range));
    if (place.row >= batch->rows()) {
      return Corrupt(fmt::format("row {} of a batch of {}", place.row, batch->rows()));
    }
    // The ranges of a CSV do not say how many rows a batch has.
    if (by_ranges_ && !options_.salvage) {
      const uint64_t last = number + (batch->rows() - 1 - place.row);
      if (last >= places_.size() ||
          places_[static_cast<size_t>(last)].range != place.range) {
        return Corrupt(fmt::format("its batch has {} rows, the index not as many",
                                   batch->rows()))
            .WithHint(Hint::kRewriteIndex);
      }
    }
    DOLIUM_TRY(Row row, MakeRow(*batch, place.row));
    if (row.key != place.key && !(in_voxels_ && IsScaled(place.key, row.key))) {
      return Corrupt(fmt::format("the columns have it as {}", ToString(row.key)));
    }
    return row;
  };
  auto row = read();
  if (auto whole = CheckMap(); !whole) row = std::move(whole).error();
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
  const auto read = [&](ByteRange range) -> Result<std::optional<Bytes>> {
    auto bytes = location.store->ReadRange(location.path, range);
    if (bytes) return *std::move(bytes);
    // It is not there, or not as long.
    const ErrorCode code = bytes.error().code;
    if (code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt) return std::nullopt;
    return std::move(bytes).error();
  };
  DOLIUM_TRY(const auto header, read({0, kFileHeaderBytes + kFileTailBytes}));
  if (!header) return false;
  if (AsText(*header).starts_with(kFileMagic)) return true;
  const auto prefix = ParsePrefix(*header);
  if (!prefix || prefix->metadata == 0) return false;
  if (LoadLE<uint32_t>(header->data()) == kContinuation) return true;
  // Before Arrow 0.15 a stream began with a length, as many another file does.
  if (prefix->metadata > kMaxSchemaBytes) return false;
  DOLIUM_TRY(const auto metadata, read({prefix->bytes, prefix->metadata}));
  if (!metadata) return false;
  const auto message = ParseMessage(*metadata);
  return message && message->kind == MessageKind::kSchema;
}

}  // namespace dolium::dvid
