// PartCheck: whether the records of samples that were cut follow one another as they
// must.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/headers.h"

namespace dolium::shardpack {

// Holds the names of the files of one sample. One thread at a time. Errors are kCorrupt
// of kind kRecord; what comes next is judged all the same.
class PartCheck {
 public:
  // The next record, by what its header says.
  Result<void> Add(std::string_view key, std::optional<PartNumber> part);
  // The same, with its entries: names are unique, segments follow one another.
  Result<void> Add(const EncodedRecord& record);
  // There are no more records.
  Result<void> Finish();

 private:
  struct OpenFile {
    std::string name;
    std::string content_type;
    FileSegment next;  // what must come
  };

  bool is_open() const { return part_ && part_->index + 1 < part_->count; }
  Result<void> AddEntries(std::span<const EntrySummary> entries);
  // Whether the entry is what must follow a file that is cut.
  bool Continues(const EntrySummary& entry) const;
  Error MissingSegment();

  std::string key_;
  std::optional<PartNumber> part_;  // the last record, if it was one
  std::set<std::string, std::less<>> names_;
  std::optional<OpenFile> file_;
};

}  // namespace dolium::shardpack
