#include "dolium/domain/dataset/imports/tf_example.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/endian.h"
#include "dolium/domain/dataset/content_types.h"

namespace dolium::dataset {
namespace {

using shardpack::ArrayShape;
using shardpack::File;

enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint32_t kBytesList = 1;
constexpr uint32_t kFloatList = 2;
constexpr uint32_t kInt64List = 3;

constexpr std::string_view kFloatType = "<f4";
constexpr std::string_view kInt64Type = "<i8";

Result<uint64_t> ReadVarint(ByteReader& reader) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    DOLIUM_TRY(const uint8_t byte, reader.Read<uint8_t>("a varint"));
    const uint64_t bits = byte & 0x7fu;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if (byte < 0x80) return value;
  }
  return Corrupt(
      fmt::format("the varint that ends at {} has more than 64 bits", reader.position()));
}

struct ProtoField {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t varint = 0;
  BytesView bytes;  // of the other wire types
};

Result<ProtoField> ReadField(ByteReader& reader) {
  DOLIUM_TRY(const uint64_t tag, ReadVarint(reader));
  ProtoField field;
  if (tag >> 3 == 0 || tag >> 3 >= uint64_t{1} << 29) {
    return Corrupt(fmt::format("{} is no field number", tag >> 3));
  }
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0: {
      DOLIUM_TRY(field.varint, ReadVarint(reader));
      break;
    }
    case 1: {
      field.wire = Wire::kFixed64;
      DOLIUM_TRY(field.bytes, reader.ReadBytes(8, "a fixed number"));
      break;
    }
    case 2: {
      field.wire = Wire::kBytes;
      DOLIUM_TRY(const uint64_t length, ReadVarint(reader));
      DOLIUM_TRY(field.bytes, reader.ReadBytes(length, "a field"));
      break;
    }
    case 5: {
      field.wire = Wire::kFixed32;
      DOLIUM_TRY(field.bytes, reader.ReadBytes(4, "a fixed number"));
      break;
    }
    default:
      return Corrupt(fmt::format("wire type {} is unknown here", tag & 7));
  }
  return field;
}

Result<ProtoField> ReadKnown(ByteReader& reader, Wire wire, std::string_view what) {
  DOLIUM_TRY(ProtoField field, ReadField(reader));
  if (field.number == 1 && field.wire != wire) {
    return Corrupt(
        fmt::format("{} has wire type {}", what, static_cast<int>(field.wire)));
  }
  return field;
}

struct Feature {
  uint32_t kind = 0;  // 0: no list
  std::vector<BytesView> values = {};
  ByteVector numbers = {};
};

Result<void> AddFloats(ByteReader reader, ByteVector& out) {
  while (reader.remaining() > 0) {
    DOLIUM_TRY(const ProtoField field, ReadField(reader));
    if (field.number != 1) continue;
    if (field.wire != Wire::kFixed32 &&
        (field.wire != Wire::kBytes || field.bytes.size() % 4 != 0)) {
      return Corrupt("a list of floats that is not made of 4 bytes each");
    }
    Append(out, field.bytes);
  }
  return {};
}

void AppendInt64(uint64_t value, ByteVector& out) {
  out.resize(out.size() + 8);
  StoreLE(out.data() + out.size() - 8, value);
}

Result<void> AddIntegers(ByteReader reader, ByteVector& out) {
  while (reader.remaining() > 0) {
    DOLIUM_TRY(const ProtoField field, ReadField(reader));
    if (field.number != 1) continue;
    if (field.wire == Wire::kVarint) {
      AppendInt64(field.varint, out);
    } else if (field.wire == Wire::kBytes) {
      ByteReader packed(field.bytes);
      while (packed.remaining() > 0) {
        DOLIUM_TRY(const uint64_t value, ReadVarint(packed));
        AppendInt64(value, out);
      }
    } else {
      return Corrupt("a list of integers that are not varints");
    }
  }
  return {};
}

Result<Feature> ParseFeature(BytesView message) {
  Feature feature;
  ByteReader reader(message);
  while (reader.remaining() > 0) {
    DOLIUM_TRY(const ProtoField field, ReadField(reader));
    if (field.number > kInt64List) continue;
    if (field.wire != Wire::kBytes) return Corrupt("a list that is no message");
    // A list of another kind takes the place of the one before (oneof).
    if (field.number != feature.kind) feature = {.kind = field.number};
    ByteReader list(field.bytes);
    if (field.number == kFloatList) {
      DOLIUM_TRY_VOID(AddFloats(list, feature.numbers));
    } else if (field.number == kInt64List) {
      DOLIUM_TRY_VOID(AddIntegers(list, feature.numbers));
    } else {
      while (list.remaining() > 0) {
        DOLIUM_TRY(const ProtoField value, ReadKnown(list, Wire::kBytes, "a value"));
        if (value.number == 1) feature.values.push_back(value.bytes);
      }
    }
  }
  return feature;
}

using FeatureMap = std::map<std::string, Feature, std::less<>>;

Result<void> ParseMapEntry(BytesView message, FeatureMap& features) {
  ByteReader reader(message);
  std::string name;
  Feature feature;
  while (reader.remaining() > 0) {
    DOLIUM_TRY(const ProtoField field, ReadField(reader));
    if (field.number > 2) continue;
    if (field.wire != Wire::kBytes) return Corrupt("a feature that is no message");
    if (field.number == 1) {
      name = AsText(field.bytes);
    } else {
      auto parsed = ParseFeature(field.bytes);
      if (!parsed) {
        return std::move(parsed).error().Within(fmt::format("feature \"{}\"", name));
      }
      feature = *std::move(parsed);
    }
  }
  if (name.empty()) return Corrupt("a feature without a name");
  features.insert_or_assign(std::move(name), std::move(feature));
  return {};
}

Result<void> CheckNames(const std::vector<File>& files) {
  std::vector<std::string_view> names;
  names.reserve(files.size());
  for (const File& file : files) names.push_back(file.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return {};
  return Corrupt(fmt::format("two values would be the file \"{}\"", *twice));
}

Bytes Share(const Bytes& record, BytesView part) {
  if (part.empty()) return {};
  return record.Slice(static_cast<size_t>(part.data() - record.data()), part.size());
}

File BytesFile(std::string name, const Bytes& data) {
  const std::string type(GuessContentType(name, data));
  return {.name = std::move(name), .content_type = type, .data = data};
}

void AppendVarint(uint64_t value, ByteVector& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<std::byte>(value));
}

void AppendField(uint32_t number, BytesView bytes, ByteVector& out) {
  AppendVarint(uint64_t{number} << 3 | static_cast<uint64_t>(Wire::kBytes), out);
  AppendVarint(bytes.size(), out);
  Append(out, bytes);
}

// The list that stands for the file, and its number in Feature.
std::pair<uint32_t, ByteVector> MakeList(const File& file) {
  ByteVector list;
  const BytesView data = file.data;
  const bool is_row = file.array && IsFeatureArray(*file.array);
  if (is_row && file.array->dtype == kFloatType && data.size() % 4 == 0) {
    if (!data.empty()) AppendField(1, data, list);
    return {kFloatList, std::move(list)};
  }
  if (is_row && file.array->dtype == kInt64Type && data.size() % 8 == 0) {
    ByteVector packed;
    for (size_t at = 0; at < data.size(); at += 8) {
      AppendVarint(LoadLE<uint64_t>(data.data() + at), packed);
    }
    if (!packed.empty()) AppendField(1, packed, list);
    return {kInt64List, std::move(list)};
  }
  AppendField(1, data, list);
  return {kBytesList, std::move(list)};
}

void AppendFeature(std::string_view name, uint32_t kind, BytesView list,
                   ByteVector& out) {
  ByteVector feature;
  AppendField(kind, list, feature);
  ByteVector entry;
  AppendField(1, AsBytes(name), entry);
  AppendField(2, feature, entry);
  AppendField(1, entry, out);
}

}  // namespace

bool IsFeatureArray(const ArrayShape& array) {
  return array.lengths.size() == 1 &&
         (array.dtype == kFloatType || array.dtype == kInt64Type);
}

Result<ParsedExample> ParseExample(const Bytes& record) {
  FeatureMap features;
  ByteReader example(record.view());
  while (example.remaining() > 0) {
    DOLIUM_TRY(const ProtoField field, ReadKnown(example, Wire::kBytes, "features"));
    if (field.number != 1) continue;
    ByteReader map(field.bytes);
    while (map.remaining() > 0) {
      DOLIUM_TRY(const ProtoField entry, ReadKnown(map, Wire::kBytes, "a feature"));
      if (entry.number == 1) DOLIUM_TRY_VOID(ParseMapEntry(entry.bytes, features));
    }
  }
  ParsedExample out;
  for (auto& [name, feature] : features) {
    if (feature.kind == kFloatList || feature.kind == kInt64List) {
      const bool is_float = feature.kind == kFloatList;
      const uint64_t count = feature.numbers.size() / (is_float ? 4 : 8);
      out.files.push_back(
          {.name = name,
           .content_type = "application/octet-stream",
           .data = Bytes::FromVector(std::move(feature.numbers)),
           .array =
               ArrayShape{std::string(is_float ? kFloatType : kInt64Type), {count}}});
    } else if (name == kKeyName && feature.values.size() == 1) {
      out.key = AsText(feature.values.front());
    } else {
      const bool several = feature.values.size() > 1;
      for (size_t i = 0; i < feature.values.size(); ++i) {
        out.files.push_back(BytesFile(several ? fmt::format("{}.{}", name, i) : name,
                                      Share(record, feature.values[i])));
      }
    }
  }
  DOLIUM_TRY_VOID(CheckNames(out.files));
  return out;
}

ByteVector MakeExample(const std::vector<File>& files,
                       std::optional<std::string_view> key) {
  ByteVector features;
  if (key) {
    ByteVector list;
    AppendField(1, AsBytes(*key), list);
    AppendFeature(kKeyName, kBytesList, list, features);
  }
  for (const File& file : files) {
    const auto [kind, list] = MakeList(file);
    AppendFeature(file.name, kind, list, features);
  }
  ByteVector example;
  AppendField(1, features, example);
  return example;
}

}  // namespace dolium::dataset
