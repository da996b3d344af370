#include "dolium/domain/dataset/imports/mds_shard.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;
using shardpack::ArrayShape;
using shardpack::File;
using shardpack::MetadataFormat;

constexpr int kMdsVersion = 2;

Result<const json*> Member(const json& object, const char* name, json::value_t type) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    return Corrupt(fmt::format("no \"{}\"", name));
  }
  if (found->type() != type) {
    return Corrupt(fmt::format("\"{}\" is {}, not {}", name, found->type_name(),
                               json(type).type_name()));
  }
  return &*found;
}

Result<std::string> MdsText(const json& object, const char* name) {
  DOLIUM_TRY(const json* const text, Member(object, name, json::value_t::string));
  return text->get<std::string>();
}

Result<uint64_t> NumberMember(const json& object, const char* name) {
  DOLIUM_TRY(const json* const number,
             Member(object, name, json::value_t::number_unsigned));
  return number->get<uint64_t>();
}

bool LeadsOut(std::string_view path) {
  if (path.empty() || path.starts_with('/') || path.ends_with('/')) return true;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

Result<MdsFile> ParseMdsFile(const json& object) {
  MdsFile file;
  DOLIUM_TRY(file.basename, MdsText(object, "basename"));
  if (LeadsOut(file.basename) || file.basename.find('\0') != std::string::npos) {
    return Corrupt(
        fmt::format("\"basename\" is \"{}\", no file of the folder", file.basename));
  }
  DOLIUM_TRY(file.bytes, NumberMember(object, "bytes"));
  const auto hashes = object.find("hashes");
  if (hashes == object.end() || !hashes->is_object()) return file;
  for (const auto& [name, digits] : hashes->items()) {
    if (digits.is_string()) file.hashes.emplace(name, digits.get<std::string>());
  }
  return file;
}

Result<std::vector<MdsColumn>> ParseColumns(const json& shard) {
  DOLIUM_TRY(const json* const names,
             Member(shard, "column_names", json::value_t::array));
  DOLIUM_TRY(const json* const encodings,
             Member(shard, "column_encodings", json::value_t::array));
  DOLIUM_TRY(const json* const sizes,
             Member(shard, "column_sizes", json::value_t::array));
  if (names->size() != encodings->size() || names->size() != sizes->size()) {
    return Corrupt(fmt::format("{} column names, {} encodings, {} sizes", names->size(),
                               encodings->size(), sizes->size()));
  }
  std::vector<MdsColumn> columns;
  std::set<std::string> seen;
  for (size_t i = 0; i < names->size(); ++i) {
    const json& name = (*names)[i];
    const json& encoding = (*encodings)[i];
    const json& size = (*sizes)[i];
    if (!name.is_string() || !encoding.is_string() || name.get<std::string>().empty() ||
        !(size.is_null() || size.is_number_unsigned())) {
      return Corrupt(
          fmt::format("column {} has no name, encoding or size that is one", i));
    }
    MdsColumn column{name.get<std::string>(), encoding.get<std::string>()};
    if (!seen.insert(column.name).second) {
      return Corrupt(fmt::format("two columns named \"{}\"", column.name));
    }
    // As Streaming reads it, a size of 0 is none.
    if (!size.is_null() && size.get<uint64_t>() > 0) {
      if (size.get<uint64_t>() > UINT32_MAX) {
        return Corrupt(
            fmt::format("column \"{}\" has {} bytes", column.name, size.get<uint64_t>()));
      }
      column.size = size.get<uint32_t>();
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

Result<MdsShardInfo> ParseMdsShard(const json& object) {
  DOLIUM_TRY(const std::string format, MdsText(object, "format"));
  DOLIUM_TRY(const uint64_t version, NumberMember(object, "version"));
  if (format != "mds" || version != kMdsVersion) {
    return Unsupported(
        fmt::format("a shard of format \"{}\", version {}; only \"mds\", "
                    "version {}, is known",
                    format, version, kMdsVersion));
  }
  MdsShardInfo info;
  DOLIUM_TRY(info.columns, ParseColumns(object));
  if (const auto found = object.find("compression");
      found != object.end() && found->is_string()) {
    info.compression = found->get<std::string>();
  }
  DOLIUM_TRY(info.samples, NumberMember(object, "samples"));
  DOLIUM_TRY(const json* const raw, Member(object, "raw_data", json::value_t::object));
  DOLIUM_TRY(info.raw, ParseMdsFile(*raw));
  if (const auto zip = object.find("zip_data"); zip != object.end() && zip->is_object()) {
    DOLIUM_TRY(info.zip, ParseMdsFile(*zip));
  }
  return info;
}

// The members that describe columns, in the index and in every shard.
json ColumnsObject(const std::vector<MdsColumn>& columns) {
  json names = json::array();
  json encodings = json::array();
  json sizes = json::array();
  for (const MdsColumn& column : columns) {
    names.push_back(column.name);
    encodings.push_back(column.encoding);
    sizes.push_back(column.size ? json(*column.size) : json());
  }
  return {{"column_names", std::move(names)},
          {"column_encodings", std::move(encodings)},
          {"column_sizes", std::move(sizes)},
          {"compression", nullptr},
          {"format", "mds"},
          {"hashes", json::array()},
          {"size_limit", nullptr},
          {"version", kMdsVersion}};
}

struct ScalarType {
  std::string_view name;
  std::string_view dtype;
  uint32_t size;
};
// Of several names for a type, the one to write comes first.
constexpr ScalarType kScalars[] = {
    {"int", "<i8", 8},     {"uint8", "|u1", 1},   {"uint16", "<u2", 2},
    {"uint32", "<u4", 4},  {"uint64", "<u8", 8},  {"int8", "|i1", 1},
    {"int16", "<i2", 2},   {"int32", "<i4", 4},   {"int64", "<i8", 8},
    {"float16", "<f2", 2}, {"float32", "<f4", 4}, {"float64", "<f8", 8},
};

struct EncodingType {
  std::string_view encoding;
  std::string_view type;
};
// Of several encodings for a type, the one to write comes first.
constexpr EncodingType kTypes[] = {
    {"str", "text/plain"},        {"str_int", "text/plain"},
    {"str_float", "text/plain"},  {"str_decimal", "text/plain"},
    {"json", "application/json"}, {"jpeg", "image/jpeg"},
    {"png", "image/png"},         {"pkl", "application/x-pickle"},
};
constexpr std::string_view kOwnType = "application/x-mds; encoding=";

// Numbers of pixels in the modes of Pillow that say what they are.
struct PilMode {
  std::string_view mode;
  std::string_view dtype;
  uint64_t bands;
};
// A bit for each pixel, the highest first; rows begin with a byte.
constexpr std::string_view kPilBits = "|b1";
constexpr PilMode kPilModes[] = {
    {"L", "|u1", 1},    {"P", "|u1", 1},     {"LA", "|u1", 2},   {"PA", "|u1", 2},
    {"RGB", "|u1", 3},  {"YCbCr", "|u1", 3}, {"LAB", "|u1", 3},  {"HSV", "|u1", 3},
    {"RGBA", "|u1", 4}, {"RGBa", "|u1", 4},  {"RGBX", "|u1", 4}, {"CMYK", "|u1", 4},
    {"I", "<i4", 1},    {"F", "<f4", 1},     {"I;16", "<u2", 1}, {"1", kPilBits, 1},
};

// The types of `ndarray` by number.
constexpr std::pair<uint8_t, std::string_view> kNdarrayTypes[] = {
    {8, "uint8"},    {9, "int8"},    {16, "uint16"},  {17, "int16"},
    {18, "float16"}, {32, "uint32"}, {33, "int32"},   {34, "float32"},
    {64, "uint64"},  {65, "int64"},  {66, "float64"},
};

const ScalarType* FindScalar(std::string_view ScalarType::* member,
                             std::string_view value) {
  const auto* const found = std::ranges::find(kScalars, value, member);
  return found == std::end(kScalars) ? nullptr : found;
}

// That so many numbers are what is left of a value.
Result<void> CheckNumbers(const ArrayShape& array, uint64_t left) {
  std::optional<uint64_t> bytes = FindScalar(&ScalarType::dtype, array.dtype)->size;
  for (const uint64_t length : array.lengths) {
    if (bytes) bytes = CheckedMul(*bytes, length);
  }
  if (bytes != left) {
    return Corrupt(fmt::format("{} bytes for an array of {} x ({})", left, array.dtype,
                               fmt::join(array.lengths, ", ")));
  }
  return {};
}

// ndarray[:<type>[:<length>,<length>,...]]; what the name leaves open comes first in the
// value: u8 type | u8 4 x dimensions + log2 of the bytes of a length | lengths.
Result<ArrayShape> ReadNdarray(std::string_view parameters, ByteReader& value) {
  const size_t colon = parameters.find(':');
  std::string_view name = parameters.substr(0, colon);
  if (name.empty()) {
    DOLIUM_TRY(const uint8_t number, value.Read<uint8_t>("the type of an array"));
    for (const auto& [known, type] : kNdarrayTypes) {
      if (known == number) name = type;
    }
    if (name.empty()) return Corrupt(fmt::format("an array of type {}", number));
  }
  const ScalarType* const type = FindScalar(&ScalarType::name, name);
  if (type == nullptr) return Unsupported(fmt::format("an array of \"{}\"", name));
  ArrayShape array{std::string(type->dtype), {}};
  if (colon == std::string_view::npos) {
    DOLIUM_TRY(const uint8_t shape, value.Read<uint8_t>("the dimensions of an array"));
    const size_t bytes = size_t{1} << (shape & 3);
    for (int i = 0; i < shape >> 2; ++i) {
      DOLIUM_TRY(const BytesView length, value.ReadBytes(bytes, "a length of an array"));
      std::byte whole[8] = {};
      std::ranges::copy(length, whole);
      array.lengths.push_back(LoadLE<uint64_t>(whole));
    }
    return array;
  }
  const std::string_view lengths = parameters.substr(colon + 1);
  const char* at = lengths.data();
  const char* const end = at + lengths.size();
  while (true) {
    uint64_t length = 0;
    const auto [next, error] = std::from_chars(at, end, length);
    if (error != std::errc() || (next != end && *next != ',')) {
      return Unsupported(fmt::format("an array of lengths \"{}\"", lengths));
    }
    array.lengths.push_back(length);
    if (next == end) return array;
    at = next + 1;
  }
}

// u32 width | u32 height | u32 size of the mode | mode | pixels. nullopt for modes that
// do not say what the numbers are.
Result<std::optional<ArrayShape>> ReadPil(ByteReader& value, std::string& mode) {
  DOLIUM_TRY(const uint32_t width, value.Read<uint32_t>("the width"));
  DOLIUM_TRY(const uint32_t height, value.Read<uint32_t>("the height"));
  DOLIUM_TRY(const uint32_t size, value.Read<uint32_t>("the size of the mode"));
  DOLIUM_TRY(const BytesView text, value.ReadBytes(size, "the mode"));
  mode = AsText(text);
  const auto* const found = std::ranges::find(kPilModes, mode, &PilMode::mode);
  if (found == std::end(kPilModes)) return std::nullopt;
  ArrayShape array{std::string(found->dtype), {height, width}};
  if (found->bands > 1) array.lengths.push_back(found->bands);
  return array;
}

// A byte for each pixel of an image of bits, as arrays of Pillow have it.
Result<Bytes> UnpackPilBits(const ArrayShape& array, BytesView bits) {
  constexpr uint64_t kBits = 8;
  const uint64_t height = array.lengths[0];
  const uint64_t width = array.lengths[1];
  const uint64_t row_bytes = (width + kBits - 1) / kBits;
  // Sides are of 32 bits.
  if (height * row_bytes != bits.size()) {
    return Corrupt(fmt::format("{} bytes for {} x {} bits", bits.size(), width, height));
  }
  Buffer pixels(static_cast<size_t>(height * width));
  size_t at = 0;
  for (uint64_t y = 0; y < height; ++y) {
    const BytesView row = bits.subspan(y * row_bytes, row_bytes);
    for (uint64_t x = 0; x < width; ++x) {
      pixels.view()[at++] = row[x / kBits] >> (kBits - 1 - x % kBits) & std::byte{1};
    }
  }
  return std::move(pixels).Share();
}

void AppendWord(uint64_t value, ByteVector& out) {
  out.resize(out.size() + 4);
  StoreLE(out.data() + out.size() - 4, static_cast<uint32_t>(value));
}

}  // namespace

Result<std::vector<MdsShardInfo>> ParseMdsIndex(std::string_view text) {
  auto parsed = ParseJson(text);
  if (!parsed) return Corrupt(parsed.error().message);
  DOLIUM_TRY(const uint64_t version, NumberMember(*parsed, "version"));
  if (version != kMdsVersion) {
    return Unsupported(
        fmt::format("an index of version {}; only {} is known", version, kMdsVersion));
  }
  DOLIUM_TRY(const json* const shards, Member(*parsed, "shards", json::value_t::array));
  std::vector<MdsShardInfo> out;
  for (size_t i = 0; i < shards->size(); ++i) {
    auto shard = ParseMdsShard((*shards)[i]);
    if (!shard) return std::move(shard).error().Within(fmt::format("shard {}", i));
    out.push_back(*std::move(shard));
  }
  return out;
}

Result<std::vector<MdsColumn>> ParseMdsColumns(std::string_view text) {
  auto parsed = ParseJson(text);
  if (!parsed) return Corrupt(parsed.error().message);
  return ParseColumns(*parsed);
}

std::string MdsIndexText(const std::vector<MdsShardInfo>& shards) {
  json list = json::array();
  for (const MdsShardInfo& shard : shards) {
    json object = ColumnsObject(shard.columns);
    object["raw_data"] = {{"basename", shard.raw.basename},
                          {"bytes", shard.raw.bytes},
                          {"hashes", json::object()}};
    object["samples"] = shard.samples;
    object["zip_data"] = nullptr;
    list.push_back(std::move(object));
  }
  return DumpJson(json{{"version", kMdsVersion}, {"shards", std::move(list)}});
}

uint32_t MdsShard::Offset(uint32_t index) const {
  return LoadLE<uint32_t>(bytes_.data() + 4 + 4 * uint64_t{index});
}

Result<MdsShard> MdsShard::Open(Bytes shard, const MdsShardInfo& info) {
  ByteReader reader(shard.view());
  DOLIUM_TRY(const uint32_t count, reader.Read<uint32_t>("the number of samples"));
  if (count != info.samples) {
    return Corrupt(fmt::format("{} samples, but the index says {}", count, info.samples));
  }
  DOLIUM_TRY(const BytesView table,
             reader.ReadBytes(4 * (uint64_t{count} + 1), "the table of offsets"));
  const uint64_t header = 4 + table.size();
  const uint64_t size = shard.size();
  MdsShard out(std::move(shard), info, count);
  uint64_t last = header;
  for (uint32_t i = 0; i <= count; ++i) {
    const uint64_t offset = out.Offset(i);
    if (offset < last || offset > size) {
      return Corrupt(fmt::format("sample {} begins at {}, not within [{}, {}]", i, offset,
                                 last, size));
    }
    last = offset;
  }
  if (last != size) {
    return Corrupt(fmt::format("its samples end at {}, but it has {} bytes", last, size));
  }
  return out;
}

Result<std::vector<Bytes>> MdsShard::Read(uint32_t number) const {
  const uint32_t begin = Offset(number);
  const Bytes sample = bytes_.Slice(begin, Offset(number + 1) - begin);
  ByteReader reader(sample.view());
  std::vector<uint32_t> sizes;
  for (const MdsColumn& column : info_->columns) {
    if (column.size) {
      sizes.push_back(*column.size);
    } else {
      DOLIUM_TRY(const uint32_t size, reader.Read<uint32_t>("the size of a column"));
      sizes.push_back(size);
    }
  }
  std::vector<Bytes> out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t at = reader.position();
    DOLIUM_TRY(const BytesView data, reader.ReadBytes(sizes[i], info_->columns[i].name));
    out.push_back(sample.Slice(at, data.size()));
  }
  if (reader.remaining() > 0) {
    return Corrupt(fmt::format("{} bytes after its last column", reader.remaining()));
  }
  return out;
}

ByteVector EncodeMdsSample(const std::vector<MdsColumn>& columns,
                           const std::vector<Bytes>& values) {
  ByteVector out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].size) AppendWord(values[i].size(), out);
  }
  for (const Bytes& value : values) Append(out, value);
  return out;
}

uint64_t MdsShardHeader(const std::vector<MdsColumn>& columns, uint64_t samples) {
  return 4 + 4 * (samples + 1) + DumpJson(ColumnsObject(columns)).size();
}

ByteVector MakeMdsShard(const std::vector<MdsColumn>& columns,
                        const std::vector<ByteVector>& samples) {
  const std::string config = DumpJson(ColumnsObject(columns));
  ByteVector out;
  AppendWord(samples.size(), out);
  uint64_t offset = 4 + 4 * (samples.size() + 1) + config.size();
  AppendWord(offset, out);
  for (const ByteVector& sample : samples) {
    offset += sample.size();
    AppendWord(offset, out);
  }
  out.reserve(static_cast<size_t>(offset));
  Append(out, AsBytes(config));
  for (const ByteVector& sample : samples) Append(out, sample);
  return out;
}

Result<File> MdsFileOf(const MdsColumn& column, Bytes value) {
  const std::string_view encoding = column.encoding;
  File file{.name = column.name};
  constexpr std::string_view kNdarray = "ndarray";
  std::string_view parameters = encoding;
  ByteReader reader(value.view());
  if (const ScalarType* scalar = FindScalar(&ScalarType::name, encoding)) {
    file.array = ArrayShape{std::string(scalar->dtype), {}};
  } else if (encoding == kNdarray || encoding.starts_with("ndarray:")) {
    parameters.remove_prefix(std::min(kNdarray.size() + 1, parameters.size()));
    DOLIUM_TRY(file.array, ReadNdarray(parameters, reader));
  } else if (encoding == "pil") {
    std::string mode;
    DOLIUM_TRY(file.array, ReadPil(reader, mode));
    if (file.array) {
      const std::string metadata = DumpJson(json{{"pil_mode", mode}});
      file.metadata = {MetadataFormat::kJson, Bytes::Copy(AsBytes(metadata))};
    }
  }
  if (file.array) {
    file.content_type = "application/octet-stream";
    if (file.array->dtype == kPilBits) {
      DOLIUM_TRY(file.data,
                 UnpackPilBits(*file.array, value.view().subspan(reader.position())));
      return file;
    }
    DOLIUM_TRY_VOID(CheckNumbers(*file.array, reader.remaining()));
    file.data = value.Slice(reader.position(), reader.remaining());
    return file;
  }
  const auto* const found = std::ranges::find(kTypes, encoding, &EncodingType::encoding);
  if (found != std::end(kTypes)) {
    file.content_type = found->type;
  } else if (encoding == "bytes") {
    file.content_type = GuessContentType(file.name, value);
  } else {
    file.content_type = fmt::format("{}{}", kOwnType, encoding);
  }
  file.data = std::move(value);
  return file;
}

bool KeepsMdsArray(const ArrayShape& array) {
  return array.lengths.empty() && FindScalar(&ScalarType::dtype, array.dtype) != nullptr;
}

MdsColumn MdsColumnFor(const shardpack::File& file) {
  if (file.array && KeepsMdsArray(*file.array)) {
    const ScalarType& scalar = *FindScalar(&ScalarType::dtype, file.array->dtype);
    if (scalar.size == file.data.size()) {
      return {file.name, std::string(scalar.name), scalar.size};
    }
  }
  const std::string_view type = file.content_type;
  if (type.starts_with(kOwnType)) {
    return {file.name, std::string(type.substr(kOwnType.size()))};
  }
  const auto* const found = std::ranges::find(kTypes, type, &EncodingType::type);
  return {file.name, found == std::end(kTypes) ? "bytes" : std::string(found->encoding)};
}

}  // namespace dolium::dataset
