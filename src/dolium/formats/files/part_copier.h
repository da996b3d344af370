// Entries of another set into a plain folder.
#pragma once

#include <mutex>
#include <span>

#include "dolium/container/writer.h"

namespace dolium::files {

// Reads in batches and writes on `options.jobs` threads. Large raw values are copied
// without passing through memory. Keys have been checked.
class PartCopier {
 public:
  PartCopier(const Location& folder, const PartSource& source,
             const WriterOptions& options)
      : folder_(folder), source_(source), options_(options) {}

  Result<WriteSummary> Run();

 private:
  Result<void> CopyBatch(std::span<const Entry> entries);
  Result<void> CopyLarge(const Entry& entry);
  // What to make of an entry that cannot be read: OK to leave it out.
  Result<void> Damaged(const Entry& entry, const Error& error);
  void Count(const WriteSummary& written);

  const Location& folder_;
  const PartSource& source_;
  const WriterOptions& options_;
  std::mutex mutex_;
  WriteSummary summary_;  // guarded by mutex_
};

}  // namespace dolium::files
