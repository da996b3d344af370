// What a check finds, as it is shown: each finding on a line; of many of a kind the first
// ones, and then how many more there were.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cli/context.h"
#include "dolium/container/container.h"

namespace dolium::cli {

// May be called from many threads. With --json or --all-findings, nothing is held back.
class FindingPrinter {
 public:
  // Where lines go: standard output as results, or standard error as reports.
  enum class Output : uint8_t { kResults, kReports };

  FindingPrinter(const Context& context, Output output, std::string_view label = "")
      : context_(context), output_(output), label_(label) {}
  // Shows how many were held back, if Finish() was not called.
  ~FindingPrinter() { Finish(); }
  FindingPrinter(const FindingPrinter&) = delete;
  FindingPrinter& operator=(const FindingPrinter&) = delete;

  // `label` stands before the message. With --quiet, warnings are not shown.
  void Add(const Finding& finding);
  // Shows how many were held back, of each kind.
  void Finish();

 private:
  bool IsShown(const Finding& finding);
  void Show(const Finding& finding) const;

  const Context& context_;
  const Output output_;
  const std::string label_;
  std::mutex mutex_;
  // Guarded by mutex_. Objects are counted until enough of the kind were shown.
  std::map<std::pair<std::string, std::string>, uint64_t> of_object_;
  std::map<std::string, uint64_t> shown_;  // by kind
  std::map<std::string, uint64_t> held_back_;
};

// What a check of any kind comes to, as its closing line of JSON has it: members of one
// name mean the same for all kinds, and `counts` has what only one kind counts.
struct CheckSummary {
  std::string location;
  bool is_good = true;
  uint64_t objects = 0;
  uint64_t entries = 0;
  uint64_t bytes_read = 0;
  uint64_t errors = 0;
  uint64_t unreadable = 0;  // errors of the way to the data, not of the data
  uint64_t warnings = 0;
  Json counts = Json::object();
};

// What errors and nothing else of it come to: data that could not be reached are not
// therefore bad.
ExitStatus StatusOfErrors(uint64_t errors, uint64_t unreadable);

Json SummaryMembers(const CheckSummary& summary);

}  // namespace dolium::cli
