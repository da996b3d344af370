#include "dolium/ops/csv.h"

#include <charconv>

#include <fmt/format.h>

namespace dolium {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

template <typename T>
bool ParseWhole(std::string_view field, T& number) {
  const char* const end = field.data() + field.size();
  const auto [stopped, error] = std::from_chars(field.data(), end, number);
  return !field.empty() && error == std::errc() && stopped == end;
}

}  // namespace

Result<void> CsvParser::Take(std::string_view text) {
  for (const char c : text) DOLIUM_TRY_VOID(Step(c));
  return {};
}

Result<void> CsvParser::Step(char c) {
  if (fields_.empty()) fields_.emplace_back();
  std::string& field = fields_[field_];
  if (state_ == State::kQuoted) {
    if (c == '"') {
      state_ = State::kQuoteInQuoted;
    } else {
      field += c;
    }
    return {};
  }
  if (c == '"') {
    const bool is_first = row_ == 0 && field_ == 0;
    if (state_ == State::kPlain && is_first && field == kByteOrderMark) {
      field.clear();
    } else if (state_ == State::kPlain) {
      return InvalidArgument(
          fmt::format("row {}: a quote within \"{}\"", row_ + 1, field));
    }
    if (state_ == State::kQuoteInQuoted) field += c;
    state_ = State::kQuoted;
    return {};
  }
  if (c == ',') {
    EndField();
  } else if (c == '\n') {
    return EndRow();
  } else if (c != '\r') {
    if (state_ == State::kQuoteInQuoted) {
      return InvalidArgument(fmt::format(
          "row {}: \"{}\" goes on behind its closing quote", row_ + 1, field));
    }
    state_ = State::kPlain;
    field += c;
  }
  return {};
}

void CsvParser::EndField() {
  ++field_;
  if (field_ == fields_.size()) fields_.emplace_back();
  fields_[field_].clear();
  state_ = State::kBegin;
}

Result<void> CsvParser::EndRow() {
  const bool is_empty = field_ == 0 && state_ == State::kBegin && fields_[0].empty();
  ++row_;
  state_ = State::kBegin;
  const size_t count = field_ + 1;
  field_ = 0;
  if (is_empty) return {};
  if (columns_ == 0) {
    columns_ = count;
    if (fields_[0].starts_with(kByteOrderMark)) {
      fields_[0].erase(0, kByteOrderMark.size());
    }
  }
  if (count != columns_) {
    return InvalidArgument(
        fmt::format("row {}: {} fields, expected {}", row_, count, columns_));
  }
  auto visited = visit_(row_, std::span(fields_).first(count));
  fields_[0].clear();
  if (!visited) return std::move(visited).error().Within(fmt::format("row {}", row_));
  return {};
}

Result<void> CsvParser::Finish() {
  if (state_ == State::kQuoted) {
    return InvalidArgument(fmt::format("row {}: a quote that is not closed", row_ + 1));
  }
  const bool has_more = field_ > 0 || state_ != State::kBegin;
  if (has_more) return EndRow();
  return {};
}

Result<void> ReadCsv(const Location& object, const std::stop_token& stop,
                     const CsvVisitor& visit) {
  CsvParser parser(visit);
  uint64_t next = 0;
  auto read = object.store->ReadThrough(
      object.path,
      {.begin = [&](const ObjectInfo&) -> Result<void> {
         if (next == 0) return {};
         return Unavailable("the connection was lost, and its rows cannot be taken back");
       },
       .take = [&](uint64_t offset, BytesView bytes) -> Result<void> {
         if (stop.stop_requested()) return Cancelled();
         next = offset + bytes.size();
         return parser.Take(AsText(bytes));
       }});
  Result<void> done;
  if (read) {
    done = parser.Finish();
  } else {
    done = std::move(read).error();
  }
  if (done || done.error().code == ErrorCode::kCancelled) return done;
  const std::string name = object.Describe();
  if (done.error().message.starts_with(name)) return done;
  return std::move(done).error().Within(name);
}

void AppendCsvField(std::string_view field, std::string& line) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += c;
    line += c;
  }
  line += '"';
}

Result<double> ParseCsvNumber(std::string_view field) {
  double number = 0;
  if (ParseWhole(field, number)) return number;
  return InvalidArgument(fmt::format("\"{}\" is no number", field));
}

Result<uint64_t> ParseCsvId(std::string_view field) {
  uint64_t id = 0;
  if (ParseWhole(field, id)) return id;
  return InvalidArgument(
      fmt::format("\"{}\" is no whole number from 0 to 18446744073709551615", field));
}

}  // namespace dolium
