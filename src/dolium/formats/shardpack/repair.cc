#include "dolium/formats/shardpack/repair.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/guarded_map.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/record_finder.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::shardpack {

namespace {

// What is not a local file is read into memory; larger ones have to be copied first.
constexpr uint64_t kRemoteLimit = uint64_t{16} << 30;

Result<Bytes> WholeObject(const Location& location) {
  DOLIUM_TRY(std::optional<Bytes> map,
             location.store->Map(location.path, Store::MapGuard::kZeros));
  if (map) return *std::move(map);
  DOLIUM_TRY(auto whole, location.store->ReadWhole(location.path, kRemoteLimit));
  return std::move(whole.bytes);
}

class Repair {
 public:
  Repair(const Location& source, const Location& target, const RepairOptions& options,
         const FindingVisitor& visitor)
      : source_(source), target_(target), options_(options), visitor_(visitor) {}

  Result<RepairReport> Run() {
    DOLIUM_TRY(bytes_, WholeObject(source_));
    auto shard = Shard::Open(source_, {.check = Check::kHeaders});
    if (shard) {
      TakeAfter(**shard);
      report_.index_was_good = IsIndexTrue(**shard);
      if (report_.index_was_good) {
        DOLIUM_TRY_VOID(CopyByIndex(**shard));
      } else {
        Report({}, std::nullopt,
               Corrupt("the index has records with other sizes than they say")
                   .WithKind(kind::kIndex));
        DOLIUM_TRY_VOID(CopyByWalking());
      }
    } else if (shard.error().code == ErrorCode::kUnsupported) {
      return std::move(shard)
          .error();  // Not damaged: what we cannot do, we may not undo.
    } else {
      Report({}, std::nullopt, shard.error());
      DOLIUM_TRY_VOID(CopyByWalking());
    }
    if (HasLostBytes(bytes_)) {
      return Conflict(
          fmt::format("{}: has become shorter while it was read", source_.Describe()));
    }
    if (!writer_) {
      return Corrupt(fmt::format("{}: no record can be read", source_.Describe()))
          .WithKind(kind::kNotShardPack);
    }
    ReportDictionaries();
    DOLIUM_TRY(report_.written, writer_->Finish());
    return report_;
  }

 private:
  void Report(std::string key, std::optional<ByteRange> range, const Error& error) {
    std::string message = error.message;
    const std::string object = source_.Describe();
    if (message.starts_with(object + ": ")) message.erase(0, object.size() + 2);
    visitor_({Severity::kError, std::string(error.kind), object, std::move(key), range,
              std::move(message)});
  }

  void ReportLost(std::string key, ByteRange range, const Error& error) {
    Report(std::move(key), range, error);
    report_.bytes_skipped += range.length;
  }

  // What the tail said besides the places of records.
  void TakeAfter(const Shard& shard) {
    const auto metadata = shard.metadata();
    if (metadata && metadata->contains("user")) {
      writer_options_.user = metadata->at("user");
    }
    const auto has = [&](std::string_view tag) {
      return shard.sections() && FindSection(*shard.sections(), tag) != nullptr;
    };
    writer_options_.tail.keys = has("KEYS");
    if (has("ENTX")) writer_options_.tail.entry_index = Wanted::kYes;
  }

  // Whether the headers that are sound have the sizes that the index gives them.
  bool IsIndexTrue(const Shard& shard) const {
    for (uint64_t number = 0; number < shard.size(); ++number) {
      const ByteRange range = shard.range(number);
      const auto header = ParseRecordHeader(
          bytes_.view().subspan(static_cast<size_t>(range.offset)), Check::kHeaders);
      if (header && header->record_size != range.length) return false;
    }
    return true;
  }

  Result<void> Begin(unsigned align_log2) {
    if (writer_) return {};
    writer_options_.encode.align_log2 = align_log2;
    writer_options_.force = options_.force;
    DOLIUM_TRY(writer_, ShardWriter::Create(target_, writer_options_));
    return {};
  }

  // Takes the record over if it is good. With a finder, which found it: the search goes
  // on within one that is not.
  Result<void> Copy(ByteRange range, Check check, RecordFinder* finder = nullptr) {
    const Bytes block = bytes_.Slice(static_cast<size_t>(range.offset),
                                     static_cast<size_t>(range.length));
    auto summary = SummarizeBlock(block, check);
    const auto record = Record::Parse(block, Check::kNone);
    if (summary && writer_ &&
        record->header().align_log2 != writer_options_.encode.align_log2) {
      summary = Corrupt("alignment differs from the shard's").WithKind(kind::kRecord);
    }
    if (!summary) {
      ++report_.records_lost;
      ReportLost(record ? std::string(record->key()) : "",
                 finder != nullptr ? finder->Distrust() : range, summary.error());
      return {};
    }
    DOLIUM_TRY_VOID(Begin(record->header().align_log2));
    CollectDictionaries(*record, *summary);
    return writer_->Append(*summary);
  }

  void CollectDictionaries(const Record& record, const EncodedRecord& summary) {
    for (const EntrySummary& entry : summary.entries) {
      if (writer_->records() == 0 && entry.is_aux) there_.insert(entry.dictionary_id);
    }
    for (const EntryHeader& entry : record.entries()) {
      if (auto needed = DictionariesNeeded(entry, record.Stored(entry))) {
        needed_.merge(*needed);
      }
    }
  }

  void ReportDictionaries() {
    for (const uint32_t id : needed_) {
      if (there_.contains(id)) continue;
      Report(
          {}, std::nullopt,
          Corrupt(fmt::format("zstd dictionary {} is lost: entries that were compressed "
                              "with it cannot be read",
                              id))
              .WithKind(kind::kEntry));
    }
  }

  Result<void> CopyByIndex(const Shard& shard) {
    DOLIUM_TRY_VOID(Begin(shard.footer().align_log2));
    for (uint64_t number = 0; number < shard.size(); ++number) {
      if (options_.stop.stop_requested()) return Cancelled();
      DOLIUM_TRY_VOID(Copy(shard.range(number), options_.check));
    }
    return {};
  }

  Result<void> CopyByWalking() {
    RecordFinder finder(bytes_);
    while (true) {
      if (options_.stop.stop_requested()) return Cancelled();
      const RecordFinder::Found found = finder.Next();
      const ByteRange range = found.range;
      switch (found.kind) {
        case RecordFinder::Kind::kRecord:
          // One that bytes are missing of seems whole by its headers.
          DOLIUM_TRY_VOID(
              Copy(range, finder.IsFollowed() ? options_.check : Check::kFull, &finder));
          break;
        case RecordFinder::Kind::kTail:
          break;
        case RecordFinder::Kind::kLost:
          ReportLost({}, range,
                     Corrupt(fmt::format("no record in bytes {}", ToString(range)))
                         .WithKind(kind::kRecord));
          break;
        case RecordFinder::Kind::kCutOff:
          ReportLost(
              {}, range,
              Corrupt(fmt::format("the record in bytes {} is cut off", ToString(range)))
                  .WithKind(kind::kIncomplete));
          break;
        case RecordFinder::Kind::kEnd:
          CountLost(finder.indexed_records());
          return {};
      }
    }
  }

  // Records of which nothing was found are lost as well.
  void CountLost(uint64_t indexed_records) {
    const uint64_t kept = writer_ ? writer_->records() : 0;
    if (indexed_records > kept) {
      report_.records_lost = std::max(report_.records_lost, indexed_records - kept);
    }
  }

  const Location& source_;
  const Location& target_;
  const RepairOptions& options_;
  const FindingVisitor& visitor_;
  Bytes bytes_;
  ShardWriterOptions writer_options_;
  std::unique_ptr<ShardWriter> writer_;
  std::set<uint32_t> there_;   // dictionaries in what was written
  std::set<uint32_t> needed_;  // by what was written
  RepairReport report_;
};

}  // namespace

Result<RepairReport> RepairShard(const Location& source, const Location& target,
                                 const RepairOptions& options,
                                 const FindingVisitor& visitor) {
  return Repair(source, target, options, visitor).Run();
}

}  // namespace dolium::shardpack
