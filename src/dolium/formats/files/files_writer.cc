#include "dolium/formats/files/files_writer.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/formats/files/write_file.h"

namespace dolium::files {
namespace {

// Enough to keep the threads busy; more would only take memory.
constexpr uint64_t kHeldBytes = uint64_t{8} << 20;
constexpr size_t kHeldEntries = 1024;

}  // namespace

Result<void> FilesWriter::Add(const NewEntry& entry) {
  if (failure_) return *failure_;
  auto result = AddUnlessFailed(entry);
  if (!result) failure_ = result.error();
  return result;
}

Result<void> FilesWriter::AddUnlessFailed(const NewEntry& entry) {
  DOLIUM_TRY_VOID(CheckKey(entry.key));
  const uint64_t limit = std::min(options_.memory, kHeldBytes);
  const uint64_t size = entry.value.size() + entry.preceding.size();
  if (size >= limit) {
    DOLIUM_TRY(const WriteSummary written,
               Write(entry.key, entry.value, entry.preceding));
    summary_ += written;
    return {};
  }
  if (held_bytes_ + size > limit || held_.size() >= kHeldEntries)
    DOLIUM_TRY_VOID(Flush());
  held_.push_back({std::string(entry.key),
                   ByteVector(entry.value.begin(), entry.value.end()),
                   ByteVector(entry.preceding.begin(), entry.preceding.end())});
  held_bytes_ += size;
  return {};
}

Result<void> FilesWriter::Flush() {
  std::mutex mutex;
  DOLIUM_TRY_VOID(ParallelFor(
      held_.size(), options_.jobs,
      [&](size_t i) -> Result<void> {
        const Held& held = held_[i];
        DOLIUM_TRY(const WriteSummary written,
                   Write(held.key, held.value, held.preceding));
        const std::lock_guard lock(mutex);
        summary_ += written;
        return {};
      },
      options_.stop));
  held_.clear();
  held_bytes_ = 0;
  return {};
}

Result<WriteSummary> FilesWriter::Write(std::string_view key, BytesView value,
                                        BytesView preceding) {
  auto written = WriteFile(folder_, key, value, preceding, Precondition::Absent());
  if (!written && written.error().code == ErrorCode::kExists) {
    return InvalidArgument(fmt::format(
        "{}: key \"{}\" is given twice, or its file is there", folder_.Describe(), key));
  }
  return written;
}

Result<WriteSummary> FilesWriter::Finish() {
  if (failure_) return *failure_;
  DOLIUM_TRY_VOID(Flush());
  return summary_;
}

}  // namespace dolium::files
