// verify: read everything, believe nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/container/read_entry.h"

namespace dolium {

// How thoroughly something is checked.
enum class CheckDepth : uint8_t {
  kQuick,    // index and ranges only; no payload is read
  kDefault,  // everything is read once, and compared with the digests that there are
  kDeep,     // and what can be made again of what was read is compared with what is there
};

// Something that a domain found in what was read of an entry.
struct DataFinding {
  Severity severity = Severity::kError;
  std::string kind;
  Error error;
};

// What a domain has to say about an entry, and what it read for that besides.
struct DataCheck {
  std::vector<DataFinding> findings = {};
  uint64_t entries_read = 0;
  uint64_t bytes_read = 0;
};

struct VerifyOptions {
  CheckDepth depth = CheckDepth::kDefault;
  double sample = 1.0;  // the part of the payloads to read, at random, in (0, 1]
  uint64_t seed = 0;    // of that choice
  size_t jobs = 0;      // threads; 0: one per core
  ReadLimits limits = {};
  // What a domain has to say about an entry, whether or not its payload is read; its
  // error is a finding of kind "key". May be empty. From many threads.
  std::function<Result<void>(const Entry& entry)> check_entry = {};
  // What a domain expects and does not find is a finding, too: a warning of kind
  // "missing".
  bool report_missing = false;
  // What a domain has to say about a value that decoded well; its error is a finding of
  // kind `value_kind`. May be empty. From many threads.
  std::function<Result<void>(const Entry& entry, const Bytes& value)> check_value = {};
  std::string value_kind = "value";
  Severity value_severity = Severity::kError;
  // The same with what precedes the value, and as much as there is to say. May be empty.
  // From many threads.
  std::function<DataCheck(const Entry& entry, const EntryData& data)> check_data = {};
  // Entries that check_data reads with others, so that nobody else does. May be empty.
  std::function<bool(const Entry& entry)> is_read_with_others = {};
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct VerifyReport {
  uint64_t objects = 0;
  uint64_t entries = 0;       // in the index
  uint64_t entries_read = 0;  // whose payload was read
  uint64_t bytes_read = 0;    // stored
  uint64_t bytes_decoded = 0;
  uint64_t errors = 0;
  uint64_t unreadable = 0;  // errors of the way to the data, not of the data
  uint64_t warnings = 0;
};

// Counts an error: also as unreadable, if it is one of the way to the data.
void CountError(VerifyReport& report, ErrorCode code);

// Checks every object's index and reads every entry (or a sample), carrying on past
// damage. Each finding goes to `visitor`, one call at a time. The Result's error is for
// what kept verify from doing its work at all (or kCancelled), never for damage.
Result<VerifyReport> Verify(const Container& container, const VerifyOptions& options,
                            const FindingVisitor& visitor);

}  // namespace dolium
