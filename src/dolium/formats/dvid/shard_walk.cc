// Going through all messages of a shard: what readers without an index do, what verify
// does, and what is left to do with files that exports have damaged.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/shard.h"

namespace dolium::dvid {
namespace {

constexpr uint64_t kFileHeadBytes = 8;
constexpr uint64_t kFileTailBytes = 10;
// Where writers of one file get in each other's way, messages begin at multiples of this.
constexpr uint64_t kSalvageStep = 4;
constexpr uint32_t kContinuation = 0xffffffff;

}  // namespace

Result<void> Shard::AddRows(const Message& message, std::vector<Place>& places) const {
  DOLIUM_TRY(const auto batch, ParseBatch(message));
  for (uint64_t row = 0; row < batch->rows(); ++row) {
    places.push_back({batch->key(row), static_cast<uint32_t>(row), message.range});
  }
  return {};
}

Shard::Walk Shard::WalkStream() const {
  Walk walk;
  walk.end = schema_end_;
  const auto fail = [&](const Error& error) {
    walk.problem = error.Within(fmt::format("the message at {}", walk.end));
    return walk;
  };
  while (walk.end < arrow_end_) {
    const auto message = ReadMessage(walk.end);
    if (!message) return fail(message.error());
    if (message->is_end) {
      walk.has_end = true;
      walk.end = message->range.end();
      if (walk.end < arrow_end_) walk.problem = ExplainRest(walk.end);
      return walk;
    }
    if (message->head.kind == MessageKind::kSchema) {
      walk.problem = ExplainSecondSchema(walk.end);
      return walk;
    }
    if (message->head.kind == MessageKind::kDictionary) {
      return fail(Unsupported("a dictionary, which is not read"));
    }
    if (message->head.kind == MessageKind::kRecordBatch) {
      const auto added = AddRows(*message, walk.places);
      if (!added) return fail(added.error());
    }
    walk.end = message->range.end();
  }
  return walk;
}

Shard::Walk Shard::WalkFile() const {
  Walk walk;
  walk.has_end = true;
  walk.end = arrow_end_;
  const auto go = [&]() -> Result<void> {
    if (arrow_end_ < kFileHeadBytes + kFileTailBytes) {
      return Corrupt("an Arrow file without its footer");
    }
    DOLIUM_TRY(const Bytes tail,
               ReadBytes({arrow_end_ - kFileTailBytes, kFileTailBytes}));
    const auto length = LoadLE<uint32_t>(tail.data());
    if (!AsText(tail).ends_with(kFileMagic) ||
        length > arrow_end_ - kFileHeadBytes - kFileTailBytes) {
      return Corrupt("an Arrow file without its footer; was its writer stopped?");
    }
    DOLIUM_TRY(const Bytes footer,
               ReadBytes({arrow_end_ - kFileTailBytes - length, length}));
    DOLIUM_TRY(const std::vector<FooterBlock> blocks, ParseFooter(footer));
    for (const FooterBlock& block : blocks) {
      if (block.offset >= arrow_end_) {
        return Corrupt(fmt::format("the footer has a batch at {}, of {} bytes",
                                   block.offset, arrow_end_));
      }
      auto message = ReadMessage(block.offset);
      if (!message) {
        return std::move(message).error().Within(
            fmt::format("the message at {}", block.offset));
      }
      if (message->is_end || message->head.kind != MessageKind::kRecordBatch) {
        return Corrupt(
            fmt::format("the message at {} is not a record batch", block.offset));
      }
      auto added = AddRows(*message, walk.places);
      if (!added) {
        return std::move(added).error().Within(
            fmt::format("the message at {}", block.offset));
      }
    }
    return {};
  };
  auto done = go();
  if (!done) walk.problem = std::move(done).error();
  return walk;
}

Error Shard::ExplainRest(uint64_t end) const {
  const ByteRange rest{end, arrow_end_ - end};
  const auto next = ReadMessage(end);
  if (!next) {
    return Corrupt(fmt::format("bytes {} behind the end of the stream are no Arrow data",
                               ToString(rest)))
        .WithKind("trailing");
  }
  return Corrupt(fmt::format(
                     "bytes {} are behind the end of the stream: it was exported into "
                     "a folder that had an export already, and DVID appends; the CSV "
                     "is of the last one. --salvage takes the last of each block; "
                     "better export again into an empty folder",
                     ToString(rest)))
      .WithKind("rerun");
}

Error Shard::ExplainSecondSchema(uint64_t at) const {
  return Corrupt(fmt::format(
                     "a second schema at {} within the stream: several shards were "
                     "written into this file at once, as DVID does where shards are "
                     "not cubes. --salvage takes the blocks that are whole; better "
                     "export again with preshift_bits + minishard_bits divisible by 3",
                     at))
      .WithKind("noncubic");
}

Result<std::vector<Shard::Place>> Shard::SalvageRows() const {
  std::map<Key, Place> rows;
  uint64_t at = 0;
  while (at + kMaxPrefixBytes <= arrow_end_) {
    DOLIUM_TRY(const Bytes head, ReadBytes({at, kMaxPrefixBytes}));
    if (LoadLE<uint32_t>(head.data()) != kContinuation) {
      at += kSalvageStep;
      continue;
    }
    const auto message = ReadMessage(at);
    if (!message || message->is_end) {
      at += kSalvageStep;
      continue;
    }
    if (message->head.kind == MessageKind::kSchema) {
      at = message->range.end();
      continue;
    }
    // What another writer got into shows in the block: in its checksum, as a rule.
    const auto batch = ParseBatch(*message);
    bool whole = batch.has_value();
    for (uint64_t i = 0; whole && i < (*batch)->rows(); ++i) {
      const auto row = MakeRow(**batch, i);
      const auto bytes = row ? row->Block() : Result<Bytes>(row.error());
      const auto block =
          bytes ? LabelBlock::Parse(*bytes) : Result<LabelBlock>(bytes.error());
      whole = block && Equal(block->labels().bytes(), row->supervoxels);
    }
    if (!whole) {
      at += kSalvageStep;
      continue;
    }
    for (uint64_t i = 0; i < (*batch)->rows(); ++i) {
      const Key key = (*batch)->key(i);
      rows[key] = {key, static_cast<uint32_t>(i), message->range};
    }
    at = message->range.end();
  }
  std::vector<Place> places;
  places.reserve(rows.size());
  for (const auto& [key, place] : rows) places.push_back(place);
  std::ranges::sort(places, {}, [](const Place& place) { return place.range.offset; });
  return places;
}

Result<void> Shard::Check(const std::function<void(const Finding&)>& visit) const {
  const auto report = [&](std::string kind, const std::string& key,
                          std::optional<ByteRange> range, const Error& error,
                          Severity severity = Severity::kError) {
    Finding finding = ErrorFinding(std::move(kind), Describe(), key, range, error);
    finding.severity = severity;
    visit(finding);
  };
  for (const Finding& warning : warnings_) visit(warning);
  if (options_.salvage) return {};
  const Walk walk = WalkMessages();
  if (walk.problem) {
    report(walk.problem->kind.empty() ? "stream" : std::string(walk.problem->kind), {},
           ByteRange{walk.end, arrow_end_ - walk.end}, *walk.problem);
    return {};
  }
  if (index_form_ == "none") {
    report("index", {}, std::nullopt,
           Corrupt("there is no index beside it; readers go through all messages"),
           Severity::kWarning);
  }
  // The index against the columns.
  std::map<Key, const Place*> in_columns;
  for (const Place& place : walk.places) in_columns[place.key] = &place;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    Key block = BlockOf(i);
    auto found = in_columns.find(place.key);
    if (found == in_columns.end()) found = in_columns.find(block);
    if (found == in_columns.end()) {
      report("index", ToString(place.key), place.range,
             Corrupt("is in the index, but in no record"));
      continue;
    }
    const Place& there = *found->second;
    if (there.range.end() != place.range.end() || there.row != place.row) {
      report("index", ToString(place.key), place.range,
             Corrupt(fmt::format("the index has it at {} row {}, it is at {} row {}",
                                 ToString(place.range), place.row, ToString(there.range),
                                 there.row)));
    }
    in_columns.erase(found);
  }
  for (const auto& [key, place] : in_columns) {
    report("index", ToString(key), place->range, Corrupt("is not in the index"));
  }
  // File names are corners in voxels.
  std::string_view name = BaseName(location_.path);
  if (name.ends_with(kExtension)) name.remove_suffix(kExtension.size());
  const auto corner = ParseKey(name);
  if (!corner) return {};
  for (size_t i = 0; i < places_.size(); ++i) {
    const Key block = BlockOf(i);
    for (size_t d = 0; d < 3; ++d) {
      if (int64_t{block[d]} * kBlockSide >= (*corner)[d]) continue;
      report("name", ToString(places_[i].key), places_[i].range,
             Corrupt(fmt::format("lies before {}, the corner that the file's name tells",
                                 ToString(*corner))));
      break;
    }
  }
  return {};
}

}  // namespace dolium::dvid
