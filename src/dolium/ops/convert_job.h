// The kind of job that converts one set into another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/source/source.h"

namespace dolium {

inline constexpr std::string_view kConvertKind = "convert";

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenConvertJob(Formats formats, const Location& folder,
                                            const JobRecord& record);
Result<void> CheckConvertReplaceable(Formats formats, const JobRecord& record,
                                     const Location& folder);

// The state of what a conversion to a format reads.
Result<std::string> FindConvertState(Formats formats, const Location& location,
                                     const SourceOptions& source, std::string_view format,
                                     const WriterOptions& options);

// What the record of a conversion says besides its request.
struct ConvertParameters {
  std::string format;       // of the target
  std::string description;  // Target::Describe()
  uint64_t lists = 0;       // work lists
  uint64_t entries = 0;     // in all of them
  uint64_t bytes = 0;
  // Entries are found by key when a part is made, because the source alone can read them
  // (chunks of xorbs, dictionaries).
  bool by_key = false;
};
Result<std::string> ToText(const ConvertParameters& parameters);
Result<ConvertParameters> ParseConvertParameters(std::string_view text);

}  // namespace dolium
