#include "dolium/formats/files/part_copier.h"

#include <algorithm>
#include <vector>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/read_entry.h"
#include "dolium/formats/files/write_file.h"

namespace dolium::files {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
constexpr size_t kBatchEntries = 256;
constexpr uint64_t kLargeBytes = uint64_t{4} << 20;

bool IsLargeAndRaw(const Entry& entry) {
  return entry.stored_size() >= kLargeBytes &&
         std::all_of(entry.extents.begin(), entry.extents.end(),
                     [](const Extent& extent) { return extent.codecs.empty(); });
}

// The preceding bytes of an entry as an entry of their own.
Entry PrecedingAlone(const Entry& entry) {
  Entry alone;
  alone.key = entry.key;
  alone.preceding = entry.preceding;
  alone.preceding_from = entry.preceding_from;
  Extent nothing = entry.extents.front();
  nothing.range.length = 0;
  alone.extents.push_back(std::move(nothing));
  return alone;
}

// An error that lies in the source: the target's would stop the next entry as well.
bool IsOfTheSource(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound ||
         error.code == ErrorCode::kConflict;
}

}  // namespace

Result<WriteSummary> PartCopier::Run() {
  const uint64_t limit = std::min(kBatchBytes, options_.memory);
  std::vector<Entry> batch;
  uint64_t bytes = 0;
  const auto flush = [&]() -> Result<void> {
    DOLIUM_TRY_VOID(CopyBatch(batch));
    if (source_.progress && !batch.empty()) source_.progress(batch.size(), bytes);
    batch.clear();
    bytes = 0;
    return {};
  };
  while (true) {
    DOLIUM_TRY(const std::span<const Entry> entries, source_.entries->Next());
    if (entries.empty()) break;
    for (const Entry& entry : entries) {
      if (options_.stop.stop_requested()) return Cancelled();
      const uint64_t size = entry.stored_size() + entry.preceding_size();
      if (IsLargeAndRaw(entry)) {
        DOLIUM_TRY_VOID(CopyLarge(entry));
        if (source_.progress) source_.progress(1, size);
        continue;
      }
      if (!batch.empty() && (batch.size() >= kBatchEntries || bytes + size > limit)) {
        DOLIUM_TRY_VOID(flush());
      }
      batch.push_back(entry);
      bytes += size;
    }
  }
  DOLIUM_TRY_VOID(flush());
  return summary_;
}

Result<void> PartCopier::CopyBatch(std::span<const Entry> entries) {
  std::vector<Result<EntryData>> read = ReadManyStored(*source_.store, entries);
  return ParallelFor(
      entries.size(), options_.jobs,
      [&](size_t i) -> Result<void> {
        if (!read[i]) return Damaged(entries[i], read[i].error());
        const auto data = DecodeStored(*source_.store, entries[i], *std::move(read[i]));
        if (!data) return Damaged(entries[i], data.error());
        DOLIUM_TRY(const WriteSummary written,
                   WriteFile(folder_, entries[i].key, data->value, data->preceding,
                             Precondition::None()));
        Count(written);
        return {};
      },
      options_.stop);
}

Result<void> PartCopier::CopyLarge(const Entry& entry) {
  const auto preceding = ReadStored(*source_.store, PrecedingAlone(entry));
  if (!preceding) return Damaged(entry, preceding.error());
  const auto written = CopyFile(folder_, *source_.store, entry, preceding->preceding,
                                Precondition::None());
  if (!written) {
    if (!IsOfTheSource(written.error())) return written.error();
    const std::string object =
        source_.store->Describe(entry.extents.front().object->name);
    return Damaged(entry, EntryError(object, entry.key, written.error()));
  }
  Count(*written);
  return {};
}

Result<void> PartCopier::Damaged(const Entry& entry, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (source_.skip_damaged && source_.skip_damaged(entry, error)) return {};
  return error;
}

void PartCopier::Count(const WriteSummary& written) {
  const std::lock_guard lock(mutex_);
  summary_ += written;
}

}  // namespace dolium::files
