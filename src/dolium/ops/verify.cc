#include "dolium/ops/verify.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/parallel.h"
#include "dolium/base/sha256.h"
#include "dolium/base/stable_hash.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/unfinished.h"
#include "dolium/ops/read_key.h"

namespace dolium {
namespace {

// What one thread reads at a time.
constexpr size_t kBatchEntries = 256;
constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
constexpr size_t kQueuedBatchesPerThread = 2;
// How often an object that is replaced while it is checked is checked again.
constexpr int kCheckAttempts = 64;

// Entries of many extents and more than this are read segment by segment.
constexpr uint64_t kLargeEntry = uint64_t{64} << 20;

using Batch = std::vector<Entry>;

bool IsLarge(const Entry& entry) {
  return entry.extents.size() > 1 && entry.preceding_size() == 0 &&
         std::max(entry.stored_size(), entry.size.value_or(0)) > kLargeEntry;
}

uint64_t FindingHash(const Finding& finding) {
  const ByteRange range = finding.range.value_or(ByteRange{});
  return StableHash(fmt::format("{}\n{}\n{}\n{}\n{}", finding.kind, finding.key,
                                range.offset, range.length, finding.message));
}

// "gzip" for a chain of gzip alone; "decode" where more than one codec may be to blame.
std::string DecodeKind(const Entry& entry) {
  std::optional<CodecId> codec;
  for (const Extent& extent : entry.extents) {
    for (const CodecStep& step : extent.codecs) {
      if (codec && *codec != step.codec) return "decode";
      codec = step.codec;
    }
  }
  return codec ? std::string(CodecName(*codec)) : "decode";
}

// Every thread does what there is to do: batches of payload first, then objects to scan.
// A scan hands its batches to the others through a queue, or reads them itself when the
// queue is full; so one large object keeps all threads busy, and memory stays bounded.
class Verifier {
 public:
  Verifier(const Container& container, const VerifyOptions& options,
           const FindingVisitor& visitor)
      : container_(container),
        options_(options),
        visitor_(visitor),
        threads_(ThreadCount(options.jobs, std::numeric_limits<size_t>::max())) {}

  Result<VerifyReport> Run() {
    DOLIUM_TRY_VOID(LookForMarker());
    DOLIUM_TRY(objects_, container_.Objects());
    report_.objects = objects_.size();
    DOLIUM_TRY_VOID(ParallelFor(
        threads_, threads_, [this](size_t) { return Work(); }, options_.stop));
    if (options_.stop.stop_requested()) return Cancelled();
    return report_;
  }

 private:
  Result<void> LookForMarker() {
    const Location& folder = container_.folder();
    DOLIUM_TRY(const auto unfinished, FindUnfinished(folder));
    if (unfinished) {
      Report(ErrorFinding("unfinished", folder.Describe(), {}, {}, *unfinished));
    }
    return {};
  }

  // One thread's part of the work, until all is done.
  Result<void> Work() {
    std::unique_lock lock(work_mutex_);
    while (!options_.stop.stop_requested()) {
      if (!queue_.empty()) {
        Batch batch = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        ReadBatch(std::move(batch));
        lock.lock();
      } else if (next_object_ < objects_.size()) {
        const std::string& object = objects_[next_object_++];
        ++scanning_;
        lock.unlock();
        CheckOne(object);
        lock.lock();
        --scanning_;
        wake_.notify_all();
      } else if (scanning_ > 0) {
        wake_.wait(lock);
      } else {
        return {};
      }
    }
    wake_.notify_all();
    return Cancelled();
  }

  void CheckOne(const std::string& object) {
    // Of an object that is replaced meanwhile, what was found first does not count.
    std::vector<Finding> findings;
    Result<void> checked;
    for (int attempt = 0; attempt < kCheckAttempts; ++attempt) {
      findings.clear();
      checked = container_.CheckObject(
          object, [&](const Finding& finding) { findings.push_back(finding); });
      if (checked || checked.error().code != ErrorCode::kConflict) break;
    }
    // A scan meets some of the damage that the check has reported already.
    std::unordered_set<uint64_t> reported;
    for (const Finding& finding : findings) {
      reported.insert(FindingHash(finding));
      Report(finding);
    }
    if (!checked) ReportObject(object, checked.error());
    const auto scanned = ScanOne(object, reported);
    if (!scanned && (checked || checked.error().message != scanned.error().message)) {
      ReportObject(object, scanned.error());
    }
  }

  Result<void> ScanOne(const std::string& object,
                       const std::unordered_set<uint64_t>& reported) {
    Batch batch;
    uint64_t bytes = 0;
    uint64_t passed_by = 0;  // entries that are not read, since the last hand-over
    const auto hand_over = [&] {
      CountScanned(batch.size() + passed_by, passed_by);
      if (!batch.empty()) HandOver(std::exchange(batch, {}));
      bytes = 0;
      passed_by = 0;
    };
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      if (options_.check_entry) {
        const auto checked = options_.check_entry(entry);
        if (!checked) ReportEntry("key", entry, checked.error());
      }
      const bool is_passed_by =
          options_.is_read_with_others && options_.is_read_with_others(entry);
      if (!is_passed_by && IsSampled(entry.key)) {
        const uint64_t size = CheckedAdd(entry.stored_size(), entry.preceding_size())
                                  .value_or(~uint64_t{0});
        const auto sum = CheckedAdd(bytes, size);
        const bool alone = IsLarge(entry);
        if (!batch.empty() && (alone || !sum || *sum > kBatchBytes)) hand_over();
        batch.push_back(entry);
        bytes = CheckedAdd(bytes, size).value_or(~uint64_t{0});
        if (alone) hand_over();
      } else {
        ++passed_by;
      }
      if (batch.size() + passed_by >= kBatchEntries) hand_over();
      return !options_.stop.stop_requested();
    };
    visitor.damage = [&](const Finding& finding) {
      if (!reported.contains(FindingHash(finding))) Report(finding);
      return !options_.stop.stop_requested();
    };
    auto scanned = container_.ScanObject(object, visitor);
    hand_over();
    return scanned;
  }

  bool IsSampled(std::string_view key) const {
    if (options_.depth == CheckDepth::kQuick) return false;
    if (options_.sample >= 1.0) return true;
    const auto hash = static_cast<double>(StableHash(key, options_.seed));
    return hash < std::ldexp(options_.sample, 64);
  }

  void HandOver(Batch batch) {
    {
      const std::lock_guard lock(work_mutex_);
      if (threads_ > 1 && queue_.size() < threads_ * kQueuedBatchesPerThread) {
        queue_.push_back(std::move(batch));
        wake_.notify_one();
        return;
      }
    }
    ReadBatch(std::move(batch));
  }

  void ReadBatch(Batch batch) {
    if (options_.stop.stop_requested()) return;
    const bool is_whole = options_.check_value || options_.check_data;
    if (batch.size() == 1 && IsLarge(batch.front()) && !is_whole) {
      ReadLarge(batch.front());
      return;
    }
    const Store& store = container_.store();
    std::vector<Result<EntryData>> read = ReadManyStored(store, batch, options_.limits);
    uint64_t bytes_read = 0;
    uint64_t bytes_decoded = 0;
    uint64_t read_with_others = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      Entry& entry = batch[i];
      if (!read[i] && IsReplaced(read[i].error())) {
        ForgetKey(container_, entry.key);
        const auto again = WithEntry(container_, entry.key, [&](const Entry& now) {
          entry = now;
          read[i] = ReadStored(store, now, options_.limits);
          return read[i] ? Result<void>() : read[i].error();
        });
        if (again && !*again) continue;  // Removed since it was listed.
        if (!again) read[i] = again.error();
      }
      if (!read[i]) {
        ReportEntry("read", entry, read[i].error());
        continue;
      }
      bytes_read += read[i]->value.size() + read[i]->preceding.size();
      const auto data = DecodeStored(store, entry, *std::exchange(read[i], EntryData{}),
                                     options_.limits);
      if (!data) {
        ReportEntry(DecodeKind(entry), entry, data.error());
        continue;
      }
      bytes_decoded += data->value.size();
      if (const auto fits = container_.CheckValue(entry, data->value); !fits) {
        ReportEntry("value", entry, fits.error());
        continue;
      }
      if (entry.sha256) {
        Sha256 digest;
        digest.Update(data->value);
        if (!CheckDigest(entry, digest)) continue;
      }
      if (options_.check_data) {
        const DataCheck checked = options_.check_data(entry, *data);
        for (const DataFinding& found : checked.findings) {
          ReportEntry(found.kind, entry, found.error, found.severity);
        }
        read_with_others += checked.entries_read;
        bytes_read += checked.bytes_read;
      }
      if (!options_.check_value) continue;
      const auto checked = options_.check_value(entry, data->value);
      if (!checked) {
        ReportEntry(options_.value_kind, entry, checked.error(), options_.value_severity);
      }
    }
    const std::lock_guard lock(report_mutex_);
    report_.entries_read += batch.size() + read_with_others;
    report_.bytes_read += bytes_read;
    report_.bytes_decoded += bytes_decoded;
    Advance(batch.size(), bytes_read);
  }

  void ReadLarge(const Entry& entry) {
    uint64_t bytes_decoded = 0;
    Sha256 digest;
    const auto read = ReadInSegments(
        container_.store(), entry,
        [&](const Bytes& segment) -> Result<void> {
          bytes_decoded += segment.size();
          if (entry.sha256) digest.Update(segment);
          if (options_.stop.stop_requested()) return Cancelled();
          return {};
        },
        options_.limits);
    if (!read && read.error().code == ErrorCode::kCancelled) return;
    if (!read) ReportEntry(DecodeKind(entry), entry, read.error());
    if (read) CheckDigest(entry, digest);
    const uint64_t bytes_read = read ? entry.stored_size() : 0;
    const std::lock_guard lock(report_mutex_);
    ++report_.entries_read;
    report_.bytes_read += bytes_read;
    report_.bytes_decoded += bytes_decoded;
    Advance(1, bytes_read);
  }

  // Whether `digest` of the whole value is what the index says, if it says anything.
  bool CheckDigest(const Entry& entry, Sha256& digest) {
    if (!entry.sha256) return true;
    const Sha256Value found = digest.Finish();
    if (found == *entry.sha256) return true;
    ReportEntry("sha256", entry, WrongSha256(found, *entry.sha256));
    return false;
  }

  void CountScanned(uint64_t entries, uint64_t passed_by) {
    const std::lock_guard lock(report_mutex_);
    report_.entries += entries;
    if (passed_by > 0) Advance(passed_by, 0);
  }

  // Under report_mutex_.
  void Advance(uint64_t entries, uint64_t bytes) {
    progress_.entries += entries;
    progress_.bytes += bytes;
    if (options_.progress) options_.progress(progress_);
  }

  void ReportEntry(std::string kind, const Entry& entry, const Error& error,
                   Severity severity = Severity::kError) {
    std::string object;
    std::optional<ByteRange> range;
    if (!entry.extents.empty()) {
      object = container_.store().Describe(entry.extents.front().object->name);
      range = entry.extents.front().range;
    }
    Finding finding =
        ErrorFinding(std::move(kind), std::move(object), entry.key, range, error);
    finding.severity = severity;
    Report(finding, error.code);
  }

  void ReportObject(const std::string& object, const Error& error) {
    const bool damaged = error.code == ErrorCode::kCorrupt;
    Report(ErrorFinding(damaged ? "index" : "read", container_.store().Describe(object),
                        {}, {}, error),
           error.code);
  }

  void Report(const Finding& finding, ErrorCode code = ErrorCode::kCorrupt) {
    // A stop makes reads fail: those are no findings.
    if (options_.stop.stop_requested()) return;
    const std::lock_guard lock(report_mutex_);
    if (finding.severity == Severity::kError) {
      CountError(report_, code);
    } else {
      ++report_.warnings;
    }
    if (visitor_) visitor_(finding);
  }

  const Container& container_;
  const VerifyOptions& options_;
  const FindingVisitor& visitor_;
  const size_t threads_;
  std::vector<std::string> objects_;

  std::mutex work_mutex_;
  std::condition_variable wake_;
  std::deque<Batch> queue_;  // guarded by work_mutex_, like the next two
  size_t next_object_ = 0;
  size_t scanning_ = 0;

  std::mutex report_mutex_;
  VerifyReport report_;  // guarded by report_mutex_, like the next
  Progress progress_;
};

}  // namespace

void CountError(VerifyReport& report, ErrorCode code) {
  ++report.errors;
  if (code == ErrorCode::kUnavailable || code == ErrorCode::kIo) ++report.unreadable;
}

Result<VerifyReport> Verify(const Container& container, const VerifyOptions& options,
                            const FindingVisitor& visitor) {
  if (!(options.sample > 0.0 && options.sample <= 1.0)) {
    return InvalidArgument(
        fmt::format("a sample of {} is not a part in (0, 1]", options.sample));
  }
  return Verifier(container, options, visitor).Run();
}

}  // namespace dolium
