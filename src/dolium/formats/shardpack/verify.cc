#include "dolium/formats/shardpack/verify.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/spool.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/names.h"
#include "dolium/formats/shardpack/part_check.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/tail_check.h"

namespace dolium::shardpack {

namespace {

// Records that one thread takes at a time.
constexpr uint64_t kRecordsAtOnce = 256;
// So many groups of them for each thread may wait for one before them.
constexpr size_t kGroupsAhead = 4;
// The tail of a stream is kept in memory up to the first, and refused beyond the second.
constexpr size_t kTailInMemory = size_t{16} << 20;
constexpr uint64_t kTailLimit = uint64_t{16} << 30;

bool IsZero(BytesView bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

class Verifier {
 public:
  Verifier(std::string object, const VerifyOptions& options,
           const FindingVisitor& visitor)
      : object_(std::move(object)), options_(options), visitor_(visitor) {}

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
    for (const std::string& name : {object_, tail_name_}) {
      if (!name.empty() && message.starts_with(name + ": ")) {
        message.erase(0, name.size() + 2);
      }
    }
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

  // What is wrong with how the parts of samples follow one another.
  void CheckParts(const EncodedRecord& record, uint64_t number, ByteRange range) {
    if (const auto good = parts_.Add(record); !good) {
      Report(good.error().Within(fmt::format("record {}", number)), kind::kRecord,
             record.key, range);
    }
  }
  void EndParts() {
    if (const auto good = parts_.Finish(); !good) Report(good.error(), kind::kRecord);
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
  // Another name that errors of the same shard may begin with.
  void SetTailName(std::string name) { tail_name_ = std::move(name); }

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
  std::string tail_name_;
  const VerifyOptions& options_;
  const FindingVisitor& visitor_;
  std::mutex mutex_;
  VerifySummary summary_;
  uint64_t done_bytes_ = 0;
  PartCheck parts_;  // used in the order of the records
};

// What means nothing in the tail and should be zero.
Result<void> CheckPaddings(const Shard& shard, Verifier& verifier) {
  const auto warn = [&](std::string message) {
    verifier.Report(Severity::kWarning, kind::kPadding, {}, std::nullopt,
                    std::move(message));
  };
  const Footer& footer = shard.footer();
  DOLIUM_TRY(const Bytes last,
             shard.ReadBytes({footer.file_size - kFooterBytes, kFooterBytes}));
  if (!IsZero(last.view().subspan(39, 1)) || !IsZero(last.view().subspan(48, 4))) {
    warn("reserved bytes of the footer are not zero");
  }
  if (!shard.sections()) return {};
  DOLIUM_TRY(const Bytes directory, shard.ReadBytes(footer.directory()));
  for (size_t at = 0; at < directory.size(); at += kDirectoryRowBytes) {
    if (!IsZero(directory.view().subspan(at + 36, 4))) {
      warn("reserved bytes of the directory are not zero");
      break;
    }
  }
  std::vector<ByteRange> ranges{footer.index(), footer.directory()};
  for (const Section& section : *shard.sections()) ranges.push_back(section.range);
  std::ranges::sort(ranges, {}, &ByteRange::offset);
  uint64_t end = footer.index_offset;
  for (const ByteRange& range : ranges) {
    if (range.offset > end) {
      const ByteRange gap{end, range.offset - end};
      DOLIUM_TRY(const Bytes bytes, shard.ReadBytes(gap));
      if (!IsZero(bytes)) {
        warn(fmt::format("bytes {} between the sections are not zero", ToString(gap)));
      }
    }
    end = std::max(end, range.end());
  }
  return {};
}

// Takes what threads made of groups of records, in the order of the groups. Those that
// are ahead wait, so that few are held.
class GroupsInOrder {
 public:
  using Group = std::vector<EncodedRecord>;

  GroupsInOrder(size_t most, std::function<void(const Group&)> take)
      : most_(most), take_(std::move(take)) {}

  void Put(size_t index, Group group) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || index < next_ + most_; });
    if (is_stopped_) return;
    waiting_.emplace(index, std::move(group));
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      take_(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    changed_.notify_all();
  }

  // One will not come: nobody waits for it any more.
  void Stop() {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  const size_t most_;
  const std::function<void(const Group&)> take_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, Group> waiting_;
  size_t next_ = 0;
  bool is_stopped_ = false;
};

// Checks records [begin, end), and says what they are; less of them if one is not what it
// should be.
Result<std::vector<EncodedRecord>> CheckRecords(const Shard& shard, uint64_t begin,
                                                uint64_t end,
                                                const ContentOptions& contents,
                                                Verifier& verifier) {
  std::vector<EncodedRecord> summaries;
  summaries.reserve(static_cast<size_t>(end - begin));
  uint64_t entries = 0;
  const auto visit = [&](uint64_t number, const Bytes& block) -> Result<void> {
    const ByteRange range = shard.range(number);
    auto record = Record::Parse(block, Check::kHeaders);
    if (record && record->header().align_log2 != shard.footer().align_log2) {
      record = Corrupt("alignment differs from the shard's").WithKind(kind::kRecord);
    }
    DOLIUM_TRY_VOID(shard.CheckMap());
    if (!record) {
      verifier.Report(record.error().Within(fmt::format("record {}", number)),
                      kind::kRecord, {}, range);
      return {};
    }
    verifier.CheckRecord(*record, number, range, contents);
    entries += record->entries().size();
    auto summary = SummarizeBlock(block, Check::kHeaders);
    if (summary) {
      summary->segments.clear();
      summaries.push_back(*std::move(summary));
    }
    return shard.CheckMap();
  };
  DOLIUM_TRY_VOID(shard.VisitBlocks(begin, end, visit));
  verifier.Count(end - begin, entries, shard.range(end - 1).end() - shard.offset(begin),
                 shard.size(), shard.footer().index_offset);
  return summaries;
}

// What is wrong with the tail.
Result<void> ReportTail(const Shard& shard, bool are_all_good, TailCheck& tail,
                        Verifier& verifier) {
  if (shard.sections()) {
    DOLIUM_TRY_VOID(
        tail.Report(shard, are_all_good, [&](const Section& section, const Error& error) {
          verifier.Report(error.message.find(section.name()) == std::string::npos
                              ? error.Within(fmt::format("section {}", section.name()))
                              : error,
                          kind::kSection, {}, section.range);
        }));
  } else {
    verifier.Report(shard.sections().error(), kind::kSection);
  }
  return CheckPaddings(shard, verifier);
}

Result<void> VerifyOpen(const Shard& shard, const VerifyOptions& options,
                        Verifier& verifier) {
  verifier.SetBytes(shard.footer().file_size);
  DOLIUM_TRY(ContentOptions contents, shard.content_options());
  contents.check = Check::kFull;
  DOLIUM_TRY(const bool needs_hashes, TailCheck::NeedsHashes(shard));
  TailCheck tail(needs_hashes);
  std::atomic<bool> are_all_good = true;
  const auto groups =
      static_cast<size_t>((shard.size() + kRecordsAtOnce - 1) / kRecordsAtOnce);
  uint64_t number = 0;
  GroupsInOrder in_order(kGroupsAhead * ThreadCount(options.jobs, groups),
                         [&](const std::vector<EncodedRecord>& records) {
                           if (!are_all_good) return;
                           for (const EncodedRecord& record : records) {
                             verifier.CheckParts(record, number, shard.range(number));
                             ++number;
                             if (shard.sections()) tail.Add(record);
                           }
                         });
  const auto check = [&](size_t group) -> Result<void> {
    const uint64_t begin = group * kRecordsAtOnce;
    const uint64_t end = std::min(shard.size(), begin + kRecordsAtOnce);
    DOLIUM_TRY(auto records, CheckRecords(shard, begin, end, contents, verifier));
    if (records.size() < end - begin) are_all_good = false;
    in_order.Put(group, std::move(records));
    return {};
  };
  DOLIUM_TRY_VOID(ParallelFor(
      groups, options.jobs,
      [&](size_t group) {
        // However it ends, nobody may wait for it in vain.
        struct StopUnlessDone {
          GroupsInOrder& in_order;
          bool is_done = false;
          ~StopUnlessDone() {
            if (!is_done) in_order.Stop();
          }
        } guard{in_order};
        auto checked = check(group);
        guard.is_done = checked.has_value();
        return checked;
      },
      options.stop));
  if (are_all_good) verifier.EndParts();
  DOLIUM_TRY_VOID(ReportTail(shard, are_all_good, tail, verifier));
  return shard.CheckMap();
}

// What comes behind the records of a stream: in memory if it is small, else in a
// temporary file.
class TailBuffer {
 public:
  Result<void> Append(BytesView bytes) {
    if (!spool_ && bytes_.size() + bytes.size() <= kTailInMemory) {
      dolium::Append(bytes_, bytes);
      return {};
    }
    if (!spool_) {
      DOLIUM_TRY(spool_, Spool::Make());
      DOLIUM_TRY_VOID(spool_->Append(bytes_));
      bytes_ = {};
    }
    if (spool_->size() + bytes.size() > kTailLimit) {
      return Corrupt(fmt::format("more than {} bytes behind the records", kTailLimit))
          .WithKind(kind::kLimit);
    }
    return spool_->Append(bytes);
  }

  Result<Bytes> Share() && {
    if (spool_) return spool_->Map();
    return Bytes::FromVector(std::move(bytes_));
  }

 private:
  ByteVector bytes_;
  std::optional<Spool> spool_;
};

// Front to back, as far as records go. The records go to `tail` too, if there is one.
// Whether the stream was complete, and all its records were good.
struct Walked {
  bool is_complete = false;
  bool are_all_good = true;
};
Result<Walked> Walk(StreamReader& reader, const VerifyOptions& options,
                    std::string_view reported, TailCheck* tail, Verifier& verifier) {
  Walked walked;
  while (true) {
    if (options.stop.stop_requested()) return Cancelled();
    const uint64_t offset = reader.bytes();
    auto record = reader.Next();
    if (!record) {
      if (!IsDamage(record.error())) return std::move(record).error();
      walked.are_all_good = false;
      // Why it ends may have been reported already.
      if (record.error().kind != reported) verifier.Report(record.error(), kind::kRecord);
      if (reader.is_done()) return walked;
      continue;
    }
    if (!*record) {
      if (walked.are_all_good) verifier.EndParts();
      walked.is_complete = true;
      return walked;
    }
    const ByteRange range{offset, (*record)->block().size()};
    ContentOptions contents = reader.content_options();
    contents.check = Check::kFull;
    verifier.CheckRecord(**record, reader.records() - 1, range, contents);
    verifier.Count(1, (*record)->entries().size(), range.length, 0, 0);
    if (!walked.are_all_good) continue;
    const auto summary = SummarizeBlock((*record)->block(), Check::kHeaders);
    walked.are_all_good = summary.has_value();
    if (!summary) continue;
    verifier.CheckParts(*summary, reader.records() - 1, range);
    if (tail != nullptr) tail->Add(*summary);
  }
}

StreamOptions WalkOptions(const VerifyOptions& options) {
  return {.check = Check::kHeaders,
          .raw_limit = options.raw_limit,
          .ratio_limit = options.ratio_limit};
}

}  // namespace

Result<VerifySummary> VerifyShard(const Location& location, const VerifyOptions& options,
                                  const FindingVisitor& visitor) {
  Verifier verifier(location.Describe(), options, visitor);
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
    DOLIUM_TRY(auto input, ObjectInput(location));
    StreamReader reader(std::move(input), WalkOptions(options));
    DOLIUM_TRY_VOID(Walk(reader, options, error.kind, nullptr, verifier));
  }
  return verifier.summary();
}

Result<VerifySummary> VerifyStream(std::unique_ptr<ByteInput> input,
                                   const std::string& name, const VerifyOptions& options,
                                   const FindingVisitor& visitor) {
  Verifier verifier(name, options, visitor);
  TailBuffer buffer;
  StreamOptions stream = WalkOptions(options);
  stream.take_tail = [&](BytesView bytes) { return buffer.Append(bytes); };
  StreamReader reader(std::move(input), std::move(stream));
  TailCheck tail(/*keeps_hashes=*/true);
  DOLIUM_TRY(const Walked walked,
             Walk(reader, options, /*reported=*/{}, &tail, verifier).Within(name));
  const uint64_t size = reader.bytes() + reader.tail_bytes();
  verifier.SetBytes(size);
  if (!walked.is_complete) return verifier.summary();
  DOLIUM_TRY(Bytes bytes, std::move(buffer).Share().Within(name));
  const auto shard = Shard::OpenTail(name, size, std::move(bytes));
  if (!shard) {
    if (!IsDamage(shard.error())) return shard.error();
    verifier.Report(shard.error(), kind::kIndex);
    return verifier.summary();
  }
  verifier.SetTailName((*shard)->Describe());
  DOLIUM_TRY_VOID(ReportTail(**shard, walked.are_all_good, tail, verifier).Within(name));
  return verifier.summary();
}

}  // namespace dolium::shardpack
