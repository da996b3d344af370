#include "dolium/formats/shardpack/repair.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::shardpack {

namespace {

// What is not a local file is read into memory; larger ones have to be copied first.
constexpr uint64_t kRemoteLimit = uint64_t{16} << 30;
// How many times the bytes there are, headers of records may be looked at in searches.
constexpr uint64_t kSearchCost = 64;

Result<Bytes> WholeObject(const Location& location) {
  DOLIUM_TRY(std::optional<Bytes> map, location.store->Map(location.path));
  if (map) return *std::move(map);
  DOLIUM_TRY(auto whole, location.store->ReadWhole(location.path, kRemoteLimit));
  return std::move(whole.bytes);
}

// The size of a record's header with all that belongs to it, by its first 32 bytes.
uint64_t HeaderSizeClaim(BytesView header) {
  return uint64_t{kRecordHeaderBytes} + LoadLE<uint32_t>(header.data() + 16) +
         LoadLE<uint16_t>(header.data() + 20) + LoadLE<uint16_t>(header.data() + 22);
}

// The record that `bytes` begin with, if they do with one whose header is sound. It may
// end past them.
std::optional<RecordHeader> SoundHeader(BytesView bytes) {
  if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
  const auto header = ParseRecordHeader(bytes, Check::kHeaders);
  if (!header) return std::nullopt;
  return *header;
}

// Finds records without an index.
class Walker {
 public:
  explicit Walker(BytesView bytes)
      : bytes_(bytes), budget_(kSearchCost * (bytes.size() + kFooterBytes)) {
    // A footer that is sound says where the records end, whatever became of the index.
    if (bytes.size() < kFooterBytes) return;
    const auto footer = ParseFooter(bytes.last(kFooterBytes), bytes.size());
    if (!footer) return;
    has_footer_ = true;
    bytes_ = bytes.first(static_cast<size_t>(footer->index_offset));
  }

  // The next record at or behind `at`; nullopt if there is none.
  std::optional<ByteRange> Next(uint64_t at) {
    is_at_end_ = IsEnd(at, last_);
    if (is_at_end_) return std::nullopt;
    const auto header = SoundHeader(From(at));
    if (header && header->record_size <= bytes_.size() - at &&
        header->align_log2 == align_log2_.value_or(header->align_log2)) {
      return Take(at, *header);
    }
    return Search(at);
  }

  // Whether the last search ended where records should, and not in damage.
  bool is_at_end() const { return is_at_end_; }

  // Whether a record begins at `at` whose end is missing.
  bool IsCutOff(uint64_t at) const {
    const BytesView rest = From(at);
    if (has_footer_ || rest.size() < 16) return false;
    const auto size = ClaimedRecordSize(rest.first(16));
    return size && *size && **size > rest.size();
  }

 private:
  BytesView From(uint64_t at) const { return bytes_.subspan(static_cast<size_t>(at)); }

  ByteRange Take(uint64_t at, const RecordHeader& header) {
    align_log2_ = header.align_log2;
    last_ = at;
    return {at, header.record_size};
  }

  // Bytes made to look like headers everywhere must not make it slow: when more were
  // looked at than make sense, nothing is a header any more.
  std::optional<RecordHeader> AffordableHeader(uint64_t at) {
    const BytesView rest = From(at);
    if (rest.size() < kRecordHeaderBytes) return std::nullopt;
    const uint64_t cost = std::min<uint64_t>(HeaderSizeClaim(rest), rest.size());
    if (cost > budget_) return std::nullopt;
    budget_ -= cost;
    return SoundHeader(rest);
  }

  // Whether the chain of records that begins at `at` leads to the end. Chains share their
  // ends, so that what was followed once is not followed again.
  bool LeadsToTheEnd(uint64_t at) {
    std::vector<uint64_t> chain;
    bool leads = false;
    while (!dead_ends_.contains(at)) {
      leads = IsEnd(at, chain.empty() ? std::nullopt : std::optional(chain.back()));
      if (leads) break;
      const auto header = AffordableHeader(at);
      if (!header || header->record_size > bytes_.size() - at) break;
      chain.push_back(at);
      at += header->record_size;
    }
    if (!leads) dead_ends_.insert(chain.begin(), chain.end());
    return leads;
  }

  // Whether records end here, the last of which began at `last`: at the end of the bytes,
  // at the index, or at a record that was cut off. The index of a ShardPack inside a
  // record names places that are not those in this file.
  bool IsEnd(uint64_t at, std::optional<uint64_t> last) {
    if (at == bytes_.size()) return true;
    if (has_footer_) return false;
    const BytesView rest = From(at);
    if (rest.size() < kRecordHeaderBytes) return true;
    const auto size = ClaimedRecordSize(rest.first(16));
    if (!size) return false;
    if (*size) {
      return **size > rest.size() &&
             (HeaderSizeClaim(rest) > rest.size() || AffordableHeader(at));
    }
    const auto count = LoadLE<uint64_t>(rest.data());
    if (!last || count == 0 || count > at / kMinRecordBytes ||
        LoadLE<uint64_t>(rest.data() + 8) != 0) {
      return false;
    }
    if (count > rest.size() / 8 - 1) return true;  // It is cut off as well.
    return LoadLE<uint64_t>(rest.data() + 8 * count) == *last;
  }

  std::optional<ByteRange> Search(uint64_t at) {
    for (at = RoundUp(at + 1, kEntryAlignment); at + kRecordHeaderBytes <= bytes_.size();
         at += kEntryAlignment) {
      if (AsText(From(at).subspan(kRecordMagicAt, kRecordMagic.size())) != kRecordMagic) {
        continue;
      }
      const auto header = AffordableHeader(at);
      if (header && header->record_size <= bytes_.size() - at &&
          header->align_log2 == align_log2_.value_or(header->align_log2) &&
          LeadsToTheEnd(at)) {
        return Take(at, *header);
      }
    }
    return std::nullopt;
  }

  BytesView bytes_;  // those that may be records
  bool has_footer_ = false;
  bool is_at_end_ = false;
  std::optional<uint64_t> last_;
  std::optional<unsigned> align_log2_;
  std::set<uint64_t> dead_ends_;
  uint64_t budget_;  // bytes of headers that may still be looked at in searches
};

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
      const auto header =
          SoundHeader(bytes_.view().subspan(static_cast<size_t>(range.offset)));
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

  // Takes the record over if it is good.
  Result<void> Copy(ByteRange range) {
    const Bytes block = bytes_.Slice(static_cast<size_t>(range.offset),
                                     static_cast<size_t>(range.length));
    auto summary = SummarizeBlock(block, options_.check);
    const auto record = Record::Parse(block, Check::kNone);
    if (summary && writer_ &&
        record->header().align_log2 != writer_options_.encode.align_log2) {
      summary = Corrupt("alignment differs from the shard's").WithKind(kind::kRecord);
    }
    if (!summary) {
      ++report_.records_lost;
      ReportLost(record ? std::string(record->key()) : "", range, summary.error());
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
      DOLIUM_TRY_VOID(Copy(shard.range(number)));
    }
    return {};
  }

  Result<void> CopyByWalking() {
    Walker walker(bytes_);
    uint64_t at = 0;
    while (at < bytes_.size()) {
      if (options_.stop.stop_requested()) return Cancelled();
      const auto range = walker.Next(at);
      const uint64_t next = range ? range->offset : bytes_.size();
      if (next > at && !walker.is_at_end()) {
        const ByteRange gap{at, next - at};
        ReportLost({}, gap,
                   Corrupt(fmt::format("no record in bytes {}", ToString(gap)))
                       .WithKind(kind::kRecord));
      }
      if (!range && walker.is_at_end() && walker.IsCutOff(at)) {
        const ByteRange rest{at, next - at};
        ReportLost(
            {}, rest,
            Corrupt(fmt::format("the record in bytes {} is cut off", ToString(rest)))
                .WithKind(kind::kIncomplete));
      }
      if (!range) break;
      DOLIUM_TRY_VOID(Copy(*range));
      at = range->end();
    }
    return {};
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
