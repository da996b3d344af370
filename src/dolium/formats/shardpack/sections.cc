#include "dolium/formats/shardpack/sections.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

namespace {

constexpr uint32_t kUniqueFlag = 1 << 0;
constexpr uint32_t kAscendingFlag = 1 << 1;
constexpr uint32_t kPlainFlag = 1 << 2;
constexpr uint32_t kRegularFlag = 1 << 3;
constexpr uint32_t kPartsFlag = 1 << 4;
constexpr uint32_t kEntriesRegularFlag = 1 << 0;
constexpr size_t kLocationBytes = 24;
// Columns are strings, which take more memory than their bytes in the section.
constexpr uint32_t kMaxColumns = 1 << 20;
constexpr size_t kLocationsHeaderBytes = 8;
constexpr size_t kDictionaryRowBytes = 24;

Error BadSection(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kSection);
}

template <std::unsigned_integral T>
void PutNumber(ByteVector& to, T value) {
  to.resize(to.size() + sizeof value);
  StoreLE(to.data() + to.size() - sizeof value, value);
}

}  // namespace

Result<Stat> ParseStat(BytesView body) {
  if (body.size() < kStatBytes) {
    return BadSection(
        fmt::format("STAT has {} bytes, {} expected", body.size(), kStatBytes));
  }
  const auto word = [&](size_t i) { return LoadLE<uint64_t>(body.data() + 8 * i); };
  const auto flags = LoadLE<uint32_t>(body.data() + 48);
  return Stat{.entries = word(0),
              .raw_bytes = word(1),
              .stored_bytes = word(2),
              .min_record = word(3),
              .max_record = word(4),
              .keys_digest = word(5),
              .keys_unique = (flags & kUniqueFlag) != 0,
              .keys_ascending = (flags & kAscendingFlag) != 0,
              .all_plain = (flags & kPlainFlag) != 0,
              .is_regular = (flags & kRegularFlag) != 0,
              .has_parts = (flags & kPartsFlag) != 0,
              .largest_raw = word(7)};
}

ByteVector WriteStat(const Stat& stat) {
  ByteVector body;
  for (const uint64_t word : {stat.entries, stat.raw_bytes, stat.stored_bytes,
                              stat.min_record, stat.max_record, stat.keys_digest}) {
    PutNumber(body, word);
  }
  PutNumber(body, static_cast<uint32_t>((stat.keys_unique ? kUniqueFlag : 0) |
                                        (stat.keys_ascending ? kAscendingFlag : 0) |
                                        (stat.all_plain ? kPlainFlag : 0) |
                                        (stat.is_regular ? kRegularFlag : 0) |
                                        (stat.has_parts ? kPartsFlag : 0)));
  PutNumber(body, uint32_t{0});
  PutNumber(body, stat.largest_raw);
  return body;
}

namespace {

// The same result; an error without a kind is about the section.
template <typename T>
Result<T> InSection(Result<T> result) {
  if (result || !result.error().kind.empty()) return result;
  return std::move(result).error().WithKind(kind::kSection);
}

Result<void> VisitKeysIn(BytesView body, uint64_t count,
                         const std::function<void(uint64_t, std::string_view)>& visit) {
  ByteReader reader(body);
  for (uint64_t i = 0; i < count; ++i) {
    DOLIUM_TRY(const auto length, reader.Read<uint16_t>("length of a key in KEYS"));
    DOLIUM_TRY(const BytesView key, reader.ReadBytes(length, "key in KEYS"));
    visit(i, AsText(key));
  }
  if (reader.remaining() > 0) {
    return BadSection(
        fmt::format("{} bytes follow the {} keys in KEYS", reader.remaining(), count));
  }
  return {};
}

}  // namespace

Result<void> VisitKeys(BytesView body, uint64_t count,
                       const std::function<void(uint64_t, std::string_view)>& visit) {
  return InSection(VisitKeysIn(body, count, visit));
}

Result<EntryIndex> EntryIndex::Parse(Bytes body, uint64_t count) {
  return InSection(ParseIn(std::move(body), count));
}

Result<EntryIndex> EntryIndex::ParseIn(Bytes body, uint64_t count) {
  EntryIndex index;
  ByteReader reader(body);
  DOLIUM_TRY(const auto columns, reader.Read<uint32_t>("number of columns in ENTX"));
  DOLIUM_TRY(const auto flags, reader.Read<uint32_t>("flags of ENTX"));
  index.is_regular_ = (flags & kEntriesRegularFlag) != 0;
  if (columns > kMaxColumns) {
    return BadSection(
        fmt::format("ENTX has {} columns, {} are the most", columns, kMaxColumns));
  }
  for (uint32_t i = 0; i < columns; ++i) {
    DOLIUM_TRY(const auto name_length, reader.Read<uint16_t>("name of a column"));
    DOLIUM_TRY(const auto type_length, reader.Read<uint16_t>("type of a column"));
    DOLIUM_TRY(const BytesView name, reader.ReadBytes(name_length, "name of a column"));
    DOLIUM_TRY(const BytesView type, reader.ReadBytes(type_length, "type of a column"));
    index.columns_.push_back({std::string(AsText(name)), std::string(AsText(type))});
  }
  const uint64_t pad = RoundUp(reader.position(), 8) - reader.position();
  DOLIUM_TRY([[maybe_unused]] const BytesView padding, reader.ReadBytes(pad, "padding"));
  uint64_t entries = 0;
  if (index.is_regular_) {
    const auto product = CheckedMul(count, columns);
    if (!product) return BadSection("ENTX has more entries than can be");
    entries = *product;
  } else {
    const auto numbers = CheckedAdd(count, 1);
    const auto bytes = numbers ? CheckedMul(*numbers, 8) : std::nullopt;
    if (!bytes) return BadSection("ENTX has more records than can be");
    DOLIUM_TRY(index.first_, reader.ReadBytes(*bytes, "first entries in ENTX"));
    uint64_t last = 0;
    for (uint64_t i = 0; i <= count; ++i) {
      const auto first = LoadLE<uint64_t>(index.first_.data() + 8 * i);
      if (first < last || (i == 0 && first != 0)) {
        return BadSection(
            fmt::format("ENTX: record {} begins with entry {} after {}", i, first, last));
      }
      last = first;
    }
    entries = last;
  }
  const auto bytes = CheckedMul(entries, kLocationBytes);
  if (!bytes || *bytes != reader.remaining()) {
    return BadSection(fmt::format("ENTX has {} bytes for {} entries, {} each expected",
                                  reader.remaining(), entries, kLocationBytes));
  }
  DOLIUM_TRY(index.rows_, reader.ReadBytes(*bytes, "entries in ENTX"));
  for (uint64_t i = 0; i < entries; ++i) {
    const auto column = LoadLE<uint32_t>(index.rows_.data() + i * kLocationBytes + 16);
    if (column >= columns) {
      return BadSection(fmt::format("ENTX: entry {} is of column {}, there are {}", i,
                                    column, columns));
    }
  }
  index.body_ = std::move(body);
  return index;
}

std::vector<EntryLocation> EntryIndex::EntriesOf(uint64_t record) const {
  uint64_t begin = record * columns_.size();
  uint64_t end = begin + columns_.size();
  if (!is_regular_) {
    begin = LoadLE<uint64_t>(first_.data() + 8 * record);
    end = LoadLE<uint64_t>(first_.data() + 8 * (record + 1));
  }
  std::vector<EntryLocation> places;
  for (uint64_t i = begin; i < end; ++i) {
    const std::byte* row = rows_.data() + i * kLocationBytes;
    places.push_back({.offset = LoadLE<uint64_t>(row),
                      .length = LoadLE<uint64_t>(row + 8),
                      .column = LoadLE<uint32_t>(row + 16)});
  }
  return places;
}

ByteVector WriteEntryIndex(const std::vector<EntryColumn>& columns, bool is_regular,
                           const std::vector<uint64_t>& first,
                           const std::vector<EntryLocation>& places) {
  ByteVector body;
  PutNumber(body, static_cast<uint32_t>(columns.size()));
  PutNumber(body, is_regular ? kEntriesRegularFlag : uint32_t{0});
  for (const EntryColumn& column : columns) {
    PutNumber(body, static_cast<uint16_t>(column.name.size()));
    PutNumber(body, static_cast<uint16_t>(column.content_type.size()));
    Append(body, AsBytes(column.name));
    Append(body, AsBytes(column.content_type));
  }
  body.resize(static_cast<size_t>(RoundUp(body.size(), 8)));
  if (!is_regular) {
    for (const uint64_t number : first) PutNumber(body, number);
  }
  for (const EntryLocation& place : places) {
    PutNumber(body, place.offset);
    PutNumber(body, place.length);
    PutNumber(body, place.column);
    PutNumber(body, uint32_t{0});
  }
  return body;
}

Result<std::vector<DictionaryLocation>> ParseDictionaryLocations(BytesView body) {
  const uint64_t count =
      body.size() < kLocationsHeaderBytes ? 0 : LoadLE<uint32_t>(body.data());
  if (body.size() != kLocationsHeaderBytes + count * kDictionaryRowBytes) {
    return BadSection(
        fmt::format("ZDIC has {} bytes for {} dictionaries, {} each expected",
                    body.size(), count, kDictionaryRowBytes));
  }
  std::vector<DictionaryLocation> places(static_cast<size_t>(count));
  for (size_t i = 0; i < places.size(); ++i) {
    const std::byte* row = body.data() + kLocationsHeaderBytes + i * kDictionaryRowBytes;
    places[i] = {.id = LoadLE<uint32_t>(row),
                 .range = {LoadLE<uint64_t>(row + 8), LoadLE<uint64_t>(row + 16)}};
  }
  return places;
}

ByteVector WriteDictionaryLocations(const std::vector<DictionaryLocation>& places) {
  ByteVector body;
  PutNumber(body, static_cast<uint32_t>(places.size()));
  PutNumber(body, uint32_t{0});
  for (const DictionaryLocation& place : places) {
    PutNumber(body, place.id);
    PutNumber(body, uint32_t{0});
    PutNumber(body, place.range.offset);
    PutNumber(body, place.range.length);
  }
  return body;
}

}  // namespace dolium::shardpack
