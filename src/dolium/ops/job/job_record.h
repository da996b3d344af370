// What a job keeps as text (JSON): its record, tasks, and reports of what they did.
//
// All of it is written by dolium and read back later, maybe by another process or
// version, so it is parsed like any other input. A record is the text of the marker:
//
//   {"dolium_job": 1, "kind": "convert", "request": {...}, "source": "...",
//    "parameters": {...}, "replaces": "set"}
//
// `request` and `parameters` are objects of the kind's own. In the C++ values they are
// JSON text without spaces and with sorted names, so that equal ones are equal texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/entry.h"
#include "dolium/ops/job/job.h"

namespace dolium {

// All that a task or a rerun needs to know.
struct JobRecord {
  std::string kind;
  std::string request;     // what was asked for: a rerun that asks the same resumes it
  std::string source;      // state of what is read, as far as it was noted
  std::string parameters;  // what the kind made of the request
  std::string replaces;    // name of the folder that the finished set takes the place of
};

// kInvalidArgument if a name is not UTF-8, which JSON cannot hold.
Result<std::string> ToText(const JobRecord& record);
// kCorrupt if the text is no record, kUnsupported if it is of another version. `text` may
// also be what FinishedText() gave.
Result<JobRecord> ParseJobRecord(std::string_view text);

// The difference that makes `wanted` another job than `found`, for a message:
// `its target_spec differs`, `its source is "a", not "b"`. nullopt if both have the same
// kind and request.
std::optional<std::string> DifferenceOf(const JobRecord& found, const JobRecord& wanted);

// A short text that distinguishes one job from another, from the text of its marker.
std::string JobId(std::string_view marker);

// The record of a job whose parts are all done, with its report.
Result<std::string> FinishedText(const JobRecord& record, const JobReport& report);
Result<JobReport> ParseFinishedReport(std::string_view text);

// A task: a part of the job in a folder.
struct JobTask {
  std::string kind;
  std::string folder;  // location
  std::string job;     // JobId()
  uint64_t part = 0;
  size_t stage = 0;
  std::string detail;
};
Result<std::string> ToText(const JobTask& task);
// kInvalidArgument if it is none.
Result<JobTask> ParseTask(std::string_view text);

// What a task made of its part. The part is done once its report is there. A report
// without a part is that of the scan.
struct PartReport {
  std::optional<uint64_t> part;
  WriteSummary written;
  std::vector<Finding> skipped;
  std::string detail = {};
  bool is_last = false;  // of a stream
};
std::string ToText(const PartReport& report);
Result<PartReport> ParsePartReport(std::string_view text);

}  // namespace dolium
