// What a plan keeps as text (JSON): the marker, tasks, and reports of what they did.
//
// All of it is written by dolium and read back later, maybe by another process or
// version, so it is parsed like any other input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/entry.h"
#include "dolium/ops/convert.h"

namespace dolium {

// The text of the marker (unfinished.h): all that a task or a rerun needs to know.
struct PlanRecord {
  ConvertRequest request;   // locations as every process knows them; without `force`
  std::string format;       // of the target
  std::string description;  // Target::Describe()
  std::string replaces;     // path of the folder that the finished set takes the place of
  uint64_t lists = 0;       // work lists
  uint64_t entries = 0;     // in all of them
  uint64_t bytes = 0;
};

// kInvalidArgument if a location is not UTF-8, which JSON cannot hold.
Result<std::string> ToText(const PlanRecord& record);
// kCorrupt if the text is no record, kUnsupported if it is of another version. `text` may
// also be what FinishedText() gave.
Result<PlanRecord> ParsePlanRecord(std::string_view text);

// The difference that makes `wanted` another conversion than `found`, for a message:
// `target_spec differs`, `source is "a", not "b"`. nullopt if they are the same
// conversion.
std::optional<std::string> DifferenceOf(const ConvertRequest& found,
                                        const ConvertRequest& wanted);

// The record of a plan whose set is complete, with its report.
Result<std::string> FinishedText(const PlanRecord& record, const ConvertReport& report);
Result<ConvertReport> ParseFinishedReport(std::string_view text);

struct Task {
  std::string target;  // location
  uint64_t part = 0;
};
Result<std::string> ToText(const Task& task);
Result<Task> ParseTask(std::string_view text);

// What a task made of its part. The part is done once its report is there. A report
// without a part is that of the scan.
struct PartReport {
  std::optional<uint64_t> part;
  WriteSummary written;
  std::vector<Finding> skipped;
};
std::string ToText(const PartReport& report);
Result<PartReport> ParsePartReport(std::string_view text);

}  // namespace dolium
