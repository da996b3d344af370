// CSV: rows of text, as RFC 4180 has them: fields between commas, in quotes where they
// hold commas, quotes or line breaks; lines end in LF or CRLF. The first row names the
// columns. It is read front to back, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"

namespace dolium {

// One row; valid during the visit. The header is row 1.
using CsvVisitor =
    std::function<Result<void>(uint64_t row, std::span<const std::string> fields)>;

// Takes the text in segments. One thread at a time.
class CsvParser {
 public:
  explicit CsvParser(CsvVisitor visit) : visit_(std::move(visit)) {}

  // kInvalidArgument, with the row, for quotes that are not closed or in the wrong place,
  // and for a row with another number of fields than the first. Empty lines are skipped.
  Result<void> Take(std::string_view text);
  Result<void> Finish();

 private:
  enum class State : uint8_t { kBegin, kPlain, kQuoted, kQuoteInQuoted };

  Result<void> Step(char c);
  Result<void> EndRow();
  void EndField();

  CsvVisitor visit_;
  State state_ = State::kBegin;
  std::vector<std::string> fields_;
  size_t field_ = 0;  // that is being read; strings are used again
  size_t columns_ = 0;
  uint64_t row_ = 0;
};

// Reads an object row by row; errors name it. kUnavailable if it changed, or had to be
// read again from the beginning.
Result<void> ReadCsv(const Location& object, const std::stop_token& stop,
                     const CsvVisitor& visit);

// A field as it is written: in quotes if it must be.
void AppendCsvField(std::string_view field, std::string& line);

// A whole field as a number. kInvalidArgument if it is none.
Result<double> ParseCsvNumber(std::string_view field);
Result<uint64_t> ParseCsvId(std::string_view field);

}  // namespace dolium
