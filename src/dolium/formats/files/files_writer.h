// Entries in any order into a plain folder that does not have them yet.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dolium/container/writer.h"

namespace dolium::files {

// Gathers entries and writes them on several threads. A file that is there already counts
// as a key given twice: nothing is replaced.
class FilesWriter final : public Writer {
 public:
  FilesWriter(Location folder, WriterOptions options)
      : folder_(std::move(folder)), options_(std::move(options)) {}

  Result<void> Add(const NewEntry& entry) override;
  Result<WriteSummary> Finish() override;

 private:
  struct Held {
    std::string key;
    ByteVector value;
    ByteVector preceding;
  };

  Result<void> AddUnlessFailed(const NewEntry& entry);
  Result<void> Flush();
  Result<WriteSummary> Write(std::string_view key, BytesView value, BytesView preceding);

  const Location folder_;
  const WriterOptions options_;
  std::vector<Held> held_;
  uint64_t held_bytes_ = 0;
  WriteSummary summary_;
  std::optional<Error> failure_;  // the first; every later call returns it
};

}  // namespace dolium::files
