#include "dolium/formats/shardpack/verify.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/names.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/tail_builder.h"

namespace dolium::shardpack {

namespace {

// Records that one thread takes at a time.
constexpr uint64_t kRecordsAtOnce = 256;

bool IsZero(BytesView bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

class Verifier {
 public:
  Verifier(const Location& location, const VerifyOptions& options,
           const FindingVisitor& visitor)
      : object_(location.Describe()), options_(options), visitor_(visitor) {}

  VerifySummary summary() const { return summary_; }

  void Report(Severity severity, std::string_view kind, std::string_view key,
              std::optional<ByteRange> range, std::string message) {
    const std::scoped_lock lock(mutex_);
    ++(severity == Severity::kError ? summary_.errors : summary_.warnings);
    visitor_({severity, std::string(kind), object_, std::string(key), range,
              std::move(message)});
  }

  void Report(const Error& error, std::string_view otherwise, std::string_view key = {},
              std::optional<ByteRange> range = std::nullopt) {
    std::string message = error.message;
    if (message.starts_with(object_ + ": ")) message.erase(0, object_.size() + 2);
    Report(Severity::kError, error.kind.empty() ? otherwise : error.kind, key, range,
           std::move(message));
  }

  // One record with all that is in it.
  void CheckRecord(const Record& record, uint64_t number, ByteRange range,
                   const ContentOptions& contents) {
    const std::string key(record.key());
    if (record.damage()) {
      Report(Severity::kError, record.damage()->kind, key, range,
             fmt::format("record {}: {}", number, record.damage()->message));
    }
    std::set<std::string_view> names;
    bool has_dirt = false;
    uint64_t end = kRecordHeaderBytes + record.key().size() +
                   record.header().extensions.size() + record.header().metadata.size();
    uint64_t next = record.header().first_entry_at;
    for (const EntryHeader& entry : record.entries()) {
      has_dirt |= !IsZero(Part(record, end, next));
      const uint64_t header_end = next + kEntryHeaderBytes + entry.name.size() +
                                  entry.content_type.size() + entry.extensions.size();
      has_dirt |= !IsZero(Part(record, header_end, entry.content_at));
      end = entry.content_end();
      next = RoundUp(end, kEntryAlignment);
      CheckEntry(record, entry, number, range, contents);
      if (!names.insert(entry.name).second) {
        Report(Severity::kError, kind::kEntry, key, range,
               fmt::format("record {}: entry \"{}\" is there twice", number, entry.name));
      }
    }
    if (!record.damage()) has_dirt |= !IsZero(Part(record, end, record.block().size()));
    if (has_dirt) {
      Report(Severity::kWarning, kind::kPadding, key, range,
             fmt::format("record {}: bytes between its parts are not zero", number));
    }
  }

  void Count(uint64_t records, uint64_t entries, uint64_t bytes, uint64_t total_records,
             uint64_t total_bytes) {
    const std::scoped_lock lock(mutex_);
    summary_.records += records;
    summary_.entries += entries;
    done_bytes_ += bytes;
    if (options_.progress) {
      options_.progress({summary_.records, total_records, done_bytes_, total_bytes});
    }
  }
  void SetBytes(uint64_t bytes) { summary_.bytes = bytes; }

 private:
  static BytesView Part(const Record& record, uint64_t begin, uint64_t end) {
    return record.block().view().subspan(static_cast<size_t>(begin),
                                         static_cast<size_t>(end - begin));
  }

  void CheckEntry(const Record& record, const EntryHeader& entry, uint64_t number,
                  ByteRange range, const ContentOptions& contents) {
    const auto report = [&](const Error& error) {
      Report(
          Severity::kError, error.kind.empty() ? kind::kEntry : error.kind, record.key(),
          ByteRange{range.offset + entry.content_at, entry.stored_size},
          fmt::format("record {}: entry \"{}\": {}", number, entry.name, error.message));
    };
    if (auto valid = CheckEntryName(entry.name); !valid) report(valid.error());
    if (auto extras = ParseExtras(entry); !extras) report(extras.error());
    if (!options_.contents) return;
    const Bytes stored = record.Stored(entry);
    if (auto content = DecodeContent(entry, stored, contents); !content) {
      report(content.error());
    } else if (entry.is_chunked() &&
               ChunkTable::Parse(entry, stored, Check::kNone)->has_reserved()) {
      Report(
          Severity::kWarning, kind::kPadding, record.key(), range,
          fmt::format("record {}: entry \"{}\": reserved bits of its chunk table are not "
                      "zero",
                      number, entry.name));
    }
  }

  const std::string object_;
  const VerifyOptions& options_;
  const FindingVisitor& visitor_;
  std::mutex mutex_;
  VerifySummary summary_;
  uint64_t done_bytes_ = 0;
};

// What the tail says against what the records are. `records` have no segments.
class TailCheck {
 public:
  TailCheck(const Shard& shard, Verifier& verifier)
      : shard_(shard), verifier_(verifier) {}

  // Each section by itself; against the records, if all of those were good.
  void CheckSections(const std::vector<EncodedRecord>* records) {
    if (!shard_.sections()) {
      verifier_.Report(shard_.sections().error(), kind::kSection);
      return;
    }
    for (const Section& section : *shard_.sections()) {
      const auto body = shard_.ReadSection(section.name());
      Result<void> checked;
      if (!body) {
        checked = body.error();
      } else if (&section != FindSection(*shard_.sections(), section.name())) {
        checked = Corrupt("is there twice");
      } else {
        checked = CheckSection(section, **body, records);
      }
      if (checked) continue;
      const Error& error = checked.error();
      verifier_.Report(error.message.find(section.name()) == std::string::npos
                           ? error.Within(fmt::format("section {}", section.name()))
                           : error,
                       kind::kSection, {}, section.range);
    }
  }

  // What means nothing and should be zero.
  Result<void> CheckPaddings() {
    const Footer& footer = shard_.footer();
    DOLIUM_TRY(const Bytes last,
               shard_.ReadBytes({footer.file_size - kFooterBytes, kFooterBytes}));
    if (!IsZero(last.view().subspan(39, 1)) || !IsZero(last.view().subspan(48, 4))) {
      Warn("reserved bytes of the footer are not zero");
    }
    if (!shard_.sections()) return {};
    DOLIUM_TRY(const Bytes directory, shard_.ReadBytes(footer.directory()));
    for (size_t at = 0; at < directory.size(); at += kDirectoryRowBytes) {
      if (!IsZero(directory.view().subspan(at + 36, 4))) {
        Warn("reserved bytes of the directory are not zero");
        break;
      }
    }
    std::vector<ByteRange> ranges{footer.index(), footer.directory()};
    for (const Section& section : *shard_.sections()) ranges.push_back(section.range);
    std::ranges::sort(ranges, {}, &ByteRange::offset);
    uint64_t end = footer.index_offset;
    for (const ByteRange& range : ranges) {
      if (range.offset > end) {
        const ByteRange gap{end, range.offset - end};
        DOLIUM_TRY(const Bytes bytes, shard_.ReadBytes(gap));
        if (!IsZero(bytes)) {
          Warn(fmt::format("bytes {} between the sections are not zero", ToString(gap)));
        }
      }
      end = std::max(end, range.end());
    }
    return {};
  }

 private:
  void Warn(std::string message) {
    verifier_.Report(Severity::kWarning, kind::kPadding, {}, std::nullopt,
                     std::move(message));
  }

  Result<void> CheckSection(const Section& section, const Bytes& body,
                            const std::vector<EncodedRecord>* records) const {
    const std::string_view tag = section.name();
    if (tag == "META") {
      const auto metadata = shard_.metadata();
      if (!metadata) return metadata.error();
    }
    if (tag == "STAT") return CheckStat(body, records);
    if (tag == "KEYS") return CheckKeys(body, records);
    if (tag == "KEYX") return CheckKeyIndex(body, records);
    if (tag == "ENTX") return CheckEntryIndex(body, records);
    if (tag == "ZDIC") return CheckDictionaries(body, records);
    return {};
  }

  static Result<void> CheckStat(const Bytes& body,
                                const std::vector<EncodedRecord>* records) {
    DOLIUM_TRY(const Stat said, ParseStat(body));
    if (records == nullptr) return {};
    TailBuilder built({.entry_index = Wanted::kNo});
    for (const EncodedRecord& record : *records) built.Add(record);
    [[maybe_unused]] const ByteVector tail = built.Build(kMinAlignLog2, "{}");
    Stat is = built.stat();
    // Who does not say that keys are unique may not have known.
    if (!said.keys_unique) is.keys_unique = false;
    if (said != is) return Corrupt("STAT does not agree with the records");
    return {};
  }

  Result<void> CheckKeys(const Bytes& body,
                         const std::vector<EncodedRecord>* records) const {
    uint64_t wrong = 0;
    DOLIUM_TRY_VOID(VisitKeys(body, shard_.size(), [&](uint64_t i, auto key) {
      if (records != nullptr) wrong += (*records)[i].key != key ? 1 : 0;
    }));
    if (wrong == 0) return {};
    return Corrupt(fmt::format("KEYS: {} keys are not those of the records", wrong));
  }

  Result<void> CheckKeyIndex(const Bytes& body,
                             const std::vector<EncodedRecord>* records) const {
    const auto index = KeyIndex::FromBody(body, shard_.size());
    if (!index) return index.error();
    if (records == nullptr) return {};
    std::vector<KeyHash> hashes;
    hashes.reserve(records->size());
    for (size_t i = 0; i < records->size(); ++i) {
      hashes.push_back({HashKey((*records)[i].key), static_cast<uint32_t>(i)});
    }
    std::ranges::sort(hashes);
    if (Equal(body, WriteKeyIndex(hashes))) return {};
    return Corrupt("KEYX does not agree with the keys of the records");
  }

  Result<void> CheckEntryIndex(const Bytes& body,
                               const std::vector<EncodedRecord>* records) const {
    DOLIUM_TRY(const EntryIndex index, EntryIndex::Parse(body, shard_.size()));
    if (records == nullptr) return {};
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < shard_.size(); ++i) {
      const auto places = index.EntriesOf(i);
      size_t next = 0;
      bool is_good = true;
      for (const EntrySummary& want : (*records)[i].entries) {
        if (want.is_aux) continue;
        is_good = is_good && next < places.size() &&
                  places[next].offset == shard_.offset(i) + want.header_at &&
                  places[next].length == want.end - want.header_at &&
                  index.columns()[places[next].column] ==
                      EntryColumn{want.name, want.content_type};
        ++next;
      }
      wrong += is_good && next == places.size() ? 0 : 1;
    }
    if (wrong == 0) return {};
    return Corrupt(fmt::format("ENTX is wrong about {} records", wrong));
  }

  Result<void> CheckDictionaries(const Bytes& body,
                                 const std::vector<EncodedRecord>* records) const {
    DOLIUM_TRY(const auto places, ParseDictionaryLocations(body));
    if ((shard_.footer().features_optional & kFeatureDictionaries) == 0) {
      return Corrupt("ZDIC in a shard that is said to have no dictionaries");
    }
    if (records == nullptr || records->empty()) return {};
    for (const DictionaryLocation& place : places) {
      const auto is_there = [&](const EntrySummary& entry) {
        return entry.is_aux && entry.dictionary_id == place.id && place.id != 0 &&
               place.range == ByteRange{entry.header_at, entry.end - entry.header_at};
      };
      if (std::ranges::none_of(records->front().entries, is_there)) {
        return Corrupt(
            fmt::format("ZDIC: dictionary {} is not in the first record, {} "
                        "bytes at {}",
                        place.id, place.range.length, place.range.offset));
      }
    }
    return {};
  }

  const Shard& shard_;
  Verifier& verifier_;
};

// Checks records [begin, end), and says in `summaries` what they are. False if one of
// them is not what it should be.
Result<bool> CheckRecords(const Shard& shard, uint64_t begin, uint64_t end,
                          const ContentOptions& contents, Verifier& verifier,
                          std::vector<EncodedRecord>& summaries) {
  bool are_good = true;
  uint64_t entries = 0;
  const auto visit = [&](uint64_t number, const Bytes& block) -> Result<void> {
    const ByteRange range = shard.range(number);
    auto record = Record::Parse(block, Check::kHeaders);
    if (record && record->header().align_log2 != shard.footer().align_log2) {
      record = Corrupt("alignment differs from the shard's").WithKind(kind::kRecord);
    }
    if (!record) {
      are_good = false;
      verifier.Report(record.error().Within(fmt::format("record {}", number)),
                      kind::kRecord, {}, range);
      return {};
    }
    verifier.CheckRecord(*record, number, range, contents);
    entries += record->entries().size();
    auto summary = SummarizeBlock(block, Check::kHeaders);
    if (summary) {
      summary->segments.clear();
      summaries[static_cast<size_t>(number)] = *std::move(summary);
    } else {
      are_good = false;
    }
    return {};
  };
  DOLIUM_TRY_VOID(shard.VisitBlocks(begin, end, visit));
  verifier.Count(end - begin, entries, shard.range(end - 1).end() - shard.offset(begin),
                 shard.size(), shard.footer().index_offset);
  return are_good;
}

Result<void> VerifyOpen(const Shard& shard, const VerifyOptions& options,
                        Verifier& verifier) {
  verifier.SetBytes(shard.footer().file_size);
  DOLIUM_TRY(ContentOptions contents, shard.content_options());
  contents.check = Check::kFull;
  std::vector<EncodedRecord> summaries(static_cast<size_t>(shard.size()));
  std::atomic<bool> are_all_good = true;
  const uint64_t groups = (shard.size() + kRecordsAtOnce - 1) / kRecordsAtOnce;
  DOLIUM_TRY_VOID(ParallelFor(
      static_cast<size_t>(groups), options.jobs,
      [&](size_t group) -> Result<void> {
        const uint64_t begin = group * kRecordsAtOnce;
        const uint64_t end = std::min(shard.size(), begin + kRecordsAtOnce);
        DOLIUM_TRY(const bool are_good,
                   CheckRecords(shard, begin, end, contents, verifier, summaries));
        if (!are_good) are_all_good = false;
        return {};
      },
      options.stop));
  TailCheck tail(shard, verifier);
  tail.CheckSections(are_all_good ? &summaries : nullptr);
  return tail.CheckPaddings();
}

// Front to back, as far as records go.
Result<void> Walk(const Location& location, const VerifyOptions& options,
                  std::string_view reported, Verifier& verifier) {
  DOLIUM_TRY(auto input, ObjectInput(location));
  StreamReader reader(std::move(input), {.check = Check::kHeaders,
                                         .raw_limit = options.raw_limit,
                                         .ratio_limit = options.ratio_limit});
  while (true) {
    if (options.stop.stop_requested()) return Cancelled();
    const uint64_t offset = reader.bytes();
    auto record = reader.Next();
    if (!record) {
      if (record.error().code != ErrorCode::kCorrupt &&
          record.error().code != ErrorCode::kUnsupported) {
        return std::move(record).error();
      }
      // Why it ends may have been reported already.
      if (record.error().kind != reported) verifier.Report(record.error(), kind::kRecord);
      if (reader.is_done()) return {};
      continue;
    }
    if (!*record) return {};
    const ByteRange range{offset, (*record)->block().size()};
    ContentOptions contents = reader.content_options();
    contents.check = Check::kFull;
    verifier.CheckRecord(**record, reader.records() - 1, range, contents);
    verifier.Count(1, (*record)->entries().size(), range.length, 0, 0);
  }
}

}  // namespace

Result<VerifySummary> VerifyShard(const Location& location, const VerifyOptions& options,
                                  const FindingVisitor& visitor) {
  Verifier verifier(location, options, visitor);
  auto shard = Shard::Open(location, {.check = Check::kHeaders,
                                      .raw_limit = options.raw_limit,
                                      .ratio_limit = options.ratio_limit});
  if (shard) {
    DOLIUM_TRY_VOID(VerifyOpen(**shard, options, verifier));
    return verifier.summary();
  }
  const Error& error = shard.error();
  if (error.code != ErrorCode::kCorrupt && error.code != ErrorCode::kUnsupported) {
    return error;
  }
  verifier.Report(error, kind::kIndex);
  if (error.kind != kind::kNotShardPack && error.code == ErrorCode::kCorrupt) {
    DOLIUM_TRY_VOID(Walk(location, options, error.kind, verifier));
  }
  return verifier.summary();
}

}  // namespace dolium::shardpack
