// Going through all messages of a shard: what readers without an index do, and what
// verify does.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/shard.h"

namespace dolium::dvid {

Result<void> Shard::AddRows(const Message& message,
                            std::vector<BlockLocation>& places) const {
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
    if (message->header.kind == MessageKind::kSchema) {
      walk.problem = ExplainSecondSchema(walk.end);
      return walk;
    }
    // Of a column that is not ours.
    if (message->header.kind == MessageKind::kDictionary && schema_.has_dictionaries) {
      walk.end = message->range.end();
      continue;
    }
    if (message->header.kind != MessageKind::kRecordBatch) {
      return fail(Corrupt("is of a type that streams do not have; its rows are unknown")
                      .WithKind("message")
                      .WithHint(Hint::kSalvage));
    }
    const auto added = AddRows(*message, walk.places);
    if (!added) return fail(added.error());
    walk.end = message->range.end();
  }
  return walk;
}

Result<std::vector<FooterBlock>> Shard::ReadFooter() const {
  if (arrow_end_ < kFileHeaderBytes + kFileTailBytes) {
    return Corrupt("an Arrow file without its footer");
  }
  DOLIUM_TRY(const Bytes tail, ReadBytes({arrow_end_ - kFileTailBytes, kFileTailBytes}));
  const auto length = LoadLE<uint32_t>(tail.data());
  if (!AsText(tail).ends_with(kFileMagic) ||
      length > arrow_end_ - kFileHeaderBytes - kFileTailBytes) {
    return Corrupt("an Arrow file without its footer; was its writer stopped?");
  }
  DOLIUM_TRY(const Bytes footer,
             ReadOwned({arrow_end_ - kFileTailBytes - length, length}));
  return ParseFooter(footer);
}

Shard::Walk Shard::WalkFile() const {
  Walk walk;
  walk.has_end = true;
  walk.end = schema_end_;
  const auto add = [&](uint64_t at) -> Result<void> {
    DOLIUM_TRY(const Message message, ReadMessage(at));
    if (message.is_end || message.header.kind != MessageKind::kRecordBatch) {
      return Corrupt("not a record batch");
    }
    walk.end = message.range.end();
    return AddRows(message, walk.places);
  };
  const auto go = [&]() -> Result<void> {
    DOLIUM_TRY(const std::vector<FooterBlock> blocks, ReadFooter());
    for (const FooterBlock& block : blocks) {
      // One batch listed many times would be many rows.
      if (block.offset < walk.end || block.offset >= arrow_end_) {
        return Corrupt(fmt::format("the footer has a batch at {}, expected one in {}",
                                   block.offset,
                                   ToString(ByteRange{walk.end, arrow_end_ - walk.end})));
      }
      auto added = add(block.offset);
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
                     "is of the last one. Salvaging takes the last of each block; "
                     "better export again into an empty folder",
                     ToString(rest)))
      .WithKind("rerun")
      .WithHint(Hint::kSalvage);
}

Error Shard::ExplainSecondSchema(uint64_t at) const {
  return Corrupt(fmt::format(
                     "a second schema at {} within the stream: several shards were "
                     "written into this file at once, as DVID does where shards are "
                     "not cubes. Salvaging takes the blocks that are whole; better "
                     "export again with preshift_bits + minishard_bits divisible by 3",
                     at))
      .WithKind("noncubic")
      .WithHint(Hint::kSalvage);
}

Result<void> Shard::Check(const std::function<void(const Finding&)>& visit,
                          int64_t side) const {
  const auto report = [&](std::string kind, const std::string& key,
                          std::optional<ByteRange> range, const Error& error,
                          Severity severity = Severity::kError) {
    Finding finding = ErrorFinding(std::move(kind), Describe(), key, range, error);
    finding.severity = severity;
    visit(finding);
  };
  for (Finding finding : warnings_) {
    if (finding.kind == kLostKind) finding.severity = Severity::kError;
    visit(finding);
  }
  if (options_.salvage) return {};
  const Walk walk = WalkMessages();
  DOLIUM_TRY_VOID(CheckMap().Within(Describe()));
  if (walk.problem) {
    report(walk.problem->kind.empty() ? "stream" : std::string(walk.problem->kind), {},
           ByteRange{walk.end, arrow_end_ - walk.end}, *walk.problem);
    return {};
  }
  // Readers by an index do not come to the end.
  if (!walk.has_end && by_ranges_) {
    report(std::string(kEndKind), {}, ByteRange{walk.end, 0},
           Corrupt(std::string(kNoEndMark)), Severity::kWarning);
  }
  if (index_form_ == "none") {
    report("index", {}, std::nullopt,
           Corrupt("there is no index beside it: readers go through all messages")
               .WithHint(Hint::kReindex),
           Severity::kWarning);
  }
  if (index_unfit_) {
    report("index", {}, std::nullopt,
           Corrupt("the ranges of its index are not those of the messages: readers go "
                   "through all of them")
               .WithHint(Hint::kRewriteIndex),
           Severity::kWarning);
  }
  // The index against the columns.
  std::map<Key, const BlockLocation*> in_columns;
  std::vector<bool> is_there(places_.size());
  for (const BlockLocation& place : walk.places) in_columns[place.key] = &place;
  for (size_t i = 0; i < places_.size(); ++i) {
    const BlockLocation& place = places_[i];
    Key block = BlockOf(i);
    auto found = in_columns.find(place.key);
    if (found == in_columns.end()) found = in_columns.find(block);
    if (found == in_columns.end()) {
      report("index", ToString(place.key), place.range,
             Corrupt("is in the index, but in no record"));
      continue;
    }
    is_there[i] = true;
    const BlockLocation& there = *found->second;
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
    if (!is_there[i]) continue;
    const Key block = BlockOf(i);
    bool before = false;
    bool beyond = false;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t at = int64_t{block[d]} * kBlockSide - (*corner)[d];
      before = before || at < 0;
      beyond = beyond || (side > 0 && at >= side);
    }
    if (!before && !beyond) continue;
    const std::string_view where = before ? "before" : "a shard or more behind";
    report("name", ToString(places_[i].key), places_[i].range,
           Corrupt(fmt::format("lies {} {}, the corner that the file's name gives: "
                               "readers look for it in another file",
                               where, ToString(*corner))));
  }
  return {};
}

}  // namespace dolium::dvid
