#include "dolium/formats/dvid/shard_index.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/endian.h"
#include "dolium/container/json.h"

namespace dolium::dvid {
namespace {

constexpr size_t kMaxColumns = 16;
// A header that names one column more than rows have.
constexpr std::string_view kUnwritten = "morton";

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The text up to `separator`, which is taken away with it.
std::string_view Take(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return field;
}

// Without the spaces around it, which people and spreadsheets leave.
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::string_view TakeLine(std::string_view& text) { return Trimmed(Take(text, '\n')); }

// One value of a line, perhaps in quotes. No value has a comma or a quote within.
std::string_view TakeField(std::string_view& line) {
  std::string_view field = Trimmed(Take(line, ','));
  const bool is_quoted = field.size() >= 2 && field.front() == '"' && field.back() == '"';
  return is_quoted ? Trimmed(field.substr(1, field.size() - 2)) : field;
}

// Where each column is, by the header; -1: nowhere.
struct CsvColumns {
  int x = -1;
  int y = -1;
  int z = -1;
  int record = -1;
  int offset = -1;
  int size = -1;
  int row = -1;
  size_t count = 0;
  size_t least = 0;  // values in a row
};

Result<CsvColumns> ParseHeader(std::string_view line) {
  CsvColumns columns;
  std::string_view rest = line;
  std::string_view last;
  while (!rest.empty()) {
    last = TakeField(rest);
    const int at = static_cast<int>(columns.count++);
    if (last == "x") columns.x = at;
    if (last == "y") columns.y = at;
    if (last == "z") columns.z = at;
    if (last == "rec") columns.record = at;
    if (last == "offset") columns.offset = at;
    if (last == "size") columns.size = at;
    if (last == "batch_idx") columns.row = at;
  }
  columns.least = columns.count - (last == kUnwritten ? 1 : 0);
  const bool has_place =
      (columns.offset >= 0 && columns.size >= 0) || columns.record >= 0;
  if (columns.x < 0 || columns.y < 0 || columns.z < 0 || !has_place ||
      columns.count > kMaxColumns) {
    return Corrupt(fmt::format(
        "not the index of a shard: its header is \"{}\", expected x,y,z with offset,size "
        "or rec",
        line.substr(0, 80)));
  }
  return columns;
}

Result<IndexRow> ParseRow(std::string_view line, const CsvColumns& columns) {
  std::array<std::string_view, kMaxColumns> fields;
  size_t count = 0;
  std::string_view rest = line;
  while (!rest.empty() && count < kMaxColumns) fields[count++] = TakeField(rest);
  if (!rest.empty() || count < columns.least || count > columns.count) {
    return Corrupt(fmt::format("{} values, expected {}", count, columns.count));
  }
  IndexRow row;
  const std::array<int, 3> axes = {columns.x, columns.y, columns.z};
  for (size_t d = 0; d < 3; ++d) {
    const auto value = ParseNumber<int32_t>(fields[static_cast<size_t>(axes[d])]);
    if (!value) return Corrupt("a coordinate is not a number of 32 bits");
    row.key[d] = *value;
  }
  const auto number = [&](int column) -> Result<uint64_t> {
    if (column < 0) return 0;
    const auto value = ParseNumber<uint64_t>(fields[static_cast<size_t>(column)]);
    if (value) return *value;
    return Corrupt(fmt::format("\"{}\" is not a number",
                               fields[static_cast<size_t>(column)].substr(0, 40)));
  };
  DOLIUM_TRY(row.record, number(columns.record));
  DOLIUM_TRY(const uint64_t offset, number(columns.offset));
  DOLIUM_TRY(const uint64_t size, number(columns.size));
  const auto range = ByteRange::Make(offset, size);
  if (!range) return Corrupt(fmt::format("{} bytes at {} end past 2^64", size, offset));
  row.range = *range;
  DOLIUM_TRY(const uint64_t in_batch, number(columns.row));
  if (in_batch > UINT32_MAX) return Corrupt(fmt::format("row {} of a batch", in_batch));
  row.row = static_cast<uint32_t>(in_batch);
  return row;
}

}  // namespace

Result<ShardIndex> ParseCsvIndex(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  size_t line_number = 1;
  std::string_view line = TakeLine(text);
  // What it says of the schema's size has never been reliable.
  while (line.starts_with('#') || line.starts_with("\"#")) {
    line = TakeLine(text);
    ++line_number;
  }
  DOLIUM_TRY(const CsvColumns columns, ParseHeader(line));
  ShardIndex index;
  index.has_ranges = columns.offset >= 0 && columns.size >= 0;
  while (!text.empty()) {
    line = TakeLine(text);
    ++line_number;
    // Only at the end.
    if (line.empty() && text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      break;
    auto row = ParseRow(line, columns);
    if (!row) return std::move(row).error().Within(fmt::format("line {}", line_number));
    index.rows.push_back(*row);
  }
  return index;
}

Result<ShardIndex> ParseJsonIndex(std::string_view text) {
  const auto json = ParseJson(text);
  if (!json)
    return Corrupt(fmt::format("not the index of a shard: {}", json.error().message));
  if (!json->is_object()) {
    return Corrupt("not the index of a shard: expected an object of \"x_y_z\": record");
  }
  ShardIndex index;
  for (const auto& [name, value] : json->items()) {
    const auto key = ParseKey(name);
    if (!key || !value.is_number_unsigned()) {
      return Corrupt(
          fmt::format("not the index of a shard: \"{}\": {}, expected "
                      "\"x_y_z\" and the number of a record",
                      name.substr(0, 40), DumpJson(value).substr(0, 40)));
    }
    index.rows.push_back({.key = *key, .record = value.get<uint64_t>(), .range = {}});
  }
  std::ranges::sort(index.rows, {}, &IndexRow::record);
  return index;
}

std::optional<Key> ParseKey(std::string_view text) {
  Key key;
  std::string_view rest = text;
  for (size_t d = 0; d < 3; ++d) {
    if (rest.empty()) return std::nullopt;
    const auto value = ParseNumber<int32_t>(Take(rest, '_'));
    if (!value) return std::nullopt;
    key[d] = *value;
  }
  // One text for one key.
  if (ToString(key) != text) return std::nullopt;
  return key;
}

std::string ToString(const Key& key) {
  return fmt::format("{}_{}_{}", key[0], key[1], key[2]);
}

Result<std::optional<ByteRange>> FindFooter(BytesView tail, uint64_t size) {
  if (tail.size() < kFooterTail) return std::nullopt;
  tail = tail.last(kFooterTail);
  constexpr size_t kHalf = kFooterTail / 2;
  uint64_t length = 0;
  if (AsText(tail.last(kHalf)) == kFooterMagic) {
    length = LoadLE<uint64_t>(tail.data());
  } else if (AsText(tail.first(kHalf)) == kFooterMagic) {
    length = LoadLE<uint64_t>(tail.data() + kHalf);
  } else {
    return std::nullopt;
  }
  if (length > size - kFooterTail) {
    return Corrupt(fmt::format("the footer claims {} bytes of JSON in an object of {}",
                               length, size));
  }
  return ByteRange{size - kFooterTail - length, length};
}

std::string CsvText(std::span<const IndexRow> rows, uint64_t schema_bytes, CsvForm form) {
  const bool as_dvid = form == CsvForm::kDvid;
  std::string text = fmt::format("# schema_size={}\nx,y,z,offset,size,batch_idx\n",
                                 as_dvid ? 0 : schema_bytes);
  for (const IndexRow& row : rows) {
    ByteRange range = row.range;
    // DVID counts the schema to the first batch.
    if (as_dvid && range.offset == schema_bytes) range = {0, range.end()};
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", row.key[0],
                   row.key[1], row.key[2], range.offset, range.length, row.row);
  }
  return text;
}

std::string JsonText(std::span<const IndexRow> rows) {
  std::vector<std::pair<std::string, uint64_t>> sorted;
  sorted.reserve(rows.size());
  for (const IndexRow& row : rows) sorted.emplace_back(ToString(row.key), row.record);
  std::ranges::sort(sorted);
  std::string text = "{";
  for (const auto& [name, record] : sorted) {
    fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", text.size() == 1 ? "" : ",",
                   name, record);
  }
  return text + "}";
}

}  // namespace dolium::dvid
