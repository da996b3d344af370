// SplitSample: a sample that is too large for one record, cut into parts for several; and
// SampleJoiner, which makes one of them again.
#pragma once

#include <optional>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/encode.h"
#include "dolium/formats/shardpack/part_check.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::shardpack {

// Parts whose records do not exceed options.record_limit, however little compression
// gains, filled one after another in the order of the files. A file that fits into a
// record of its own stays whole; a larger one is cut into segments. Shares the bytes of
// the sample. kInvalidArgument, with the kind "record-size", if the limit leaves no room
// for contents beside key, metadata and headers.
Result<std::vector<Sample>> SplitSample(const Sample& sample,
                                        const EncodeOptions& options);

// Takes the decoded records of a stream, one after another. One thread at a time.
class SampleJoiner {
 public:
  // The sample, once it is whole; nullopt if more of it is to come. kCorrupt of kind
  // kRecord if a part or a segment is missing before this one.
  Result<std::optional<Sample>> Add(const Sample& part, std::optional<PartNumber> number);
  // No more records come.
  Result<void> Finish() { return parts_.Finish(); }

 private:
  Result<void> AddFile(const File& file);
  Result<void> CheckWhole() const;

  PartCheck parts_;
  Sample open_;
  ByteVector segments_;  // of the last file of open_, while it is not whole
};

}  // namespace dolium::shardpack
