#include "dolium/domain/dataset/imports/sample_json.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/text_values.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;
using shardpack::ArrayShape;
using shardpack::Compression;
using shardpack::File;
using shardpack::Metadata;
using shardpack::MetadataFormat;
using shardpack::Sample;

struct NamedFormat {
  std::string_view name;
  MetadataFormat format;
};
constexpr NamedFormat kFormats[] = {
    {"msgpack", MetadataFormat::kMsgPack},
    {"cbor", MetadataFormat::kCbor},
    {"opaque", MetadataFormat::kOpaque},
};

struct NamedCompression {
  std::string_view name;
  Compression compression;
};
constexpr NamedCompression kCompressions[] = {
    {"none", Compression::kNone},
    {"gzip", Compression::kGzip},
    {"lz4", Compression::kLz4},
    {"zstd", Compression::kZstd},
};

Bytes FromText(std::string_view text) { return Bytes::Copy(AsBytes(text)); }

// The member as text; nullopt if it is not there.
Result<std::optional<std::string>> TextMember(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if (!found->is_string()) {
    return Corrupt(fmt::format("\"{}\" is {}, not a string", name, found->type_name()));
  }
  return found->get<std::string>();
}

Result<std::string> NeededText(const json& object, const char* name) {
  DOLIUM_TRY(auto text, TextMember(object, name));
  if (!text || text->empty()) return Corrupt(fmt::format("no \"{}\"", name));
  return *std::move(text);
}

Result<Metadata> ParseMetadata(const json& object) {
  DOLIUM_TRY(const auto encoded, TextMember(object, "metadata_base64"));
  const auto value = object.find("metadata");
  if (encoded) {
    if (value != object.end()) {
      return Corrupt("both \"metadata\" and \"metadata_base64\"");
    }
    DOLIUM_TRY(const std::string name, NeededText(object, "metadata_format"));
    for (const NamedFormat& row : kFormats) {
      if (row.name != name) continue;
      DOLIUM_TRY(ByteVector bytes, FromBase64(*encoded));
      return Metadata{row.format, Bytes::FromVector(std::move(bytes))};
    }
    return Corrupt(
        fmt::format("\"metadata_format\" is \"{}\", not msgpack, cbor or opaque", name));
  }
  if (value == object.end() || value->is_null()) return Metadata{};
  return Metadata{MetadataFormat::kJson, FromText(value->dump())};
}

Result<std::optional<Compression>> ParseCompression(const json& object) {
  DOLIUM_TRY(const auto name, TextMember(object, "compression"));
  if (!name) return std::nullopt;
  for (const NamedCompression& row : kCompressions) {
    if (row.name == *name) return row.compression;
  }
  return Corrupt(
      fmt::format("\"compression\" is \"{}\", not none, gzip, lz4 or zstd", *name));
}

Result<std::optional<ArrayShape>> ParseArray(const json& object) {
  const auto found = object.find("array");
  if (found == object.end()) return std::nullopt;
  if (!found->is_object()) return Corrupt("\"array\" is not an object");
  ArrayShape array;
  DOLIUM_TRY(array.dtype, NeededText(*found, "dtype"));
  const auto shape = found->find("shape");
  if (shape == found->end() || !shape->is_array() ||
      !std::ranges::all_of(*shape,
                           [](const json& n) { return n.is_number_unsigned(); })) {
    return Corrupt("\"shape\" is not a list of lengths");
  }
  for (const json& length : *shape) array.lengths.push_back(length.get<uint64_t>());
  return array;
}

// All but name, type and bytes.
Result<File> ParseFile(const json& object) {
  if (!object.is_object()) return Corrupt("a file that is not an object");
  File file;
  DOLIUM_TRY(file.metadata, ParseMetadata(object));
  DOLIUM_TRY(file.compression, ParseCompression(object));
  DOLIUM_TRY(file.array, ParseArray(object));
  if (const auto modified = object.find("modified"); modified != object.end()) {
    if (!modified->is_number_integer()) return Corrupt("\"modified\" is no integer");
    file.modified = modified->get<int64_t>();
  }
  if (const auto mode = object.find("mode"); mode != object.end()) {
    if (!mode->is_number_unsigned() || mode->get<uint64_t>() > 07777) {
      return Corrupt("\"mode\" is not a number of at most 4095 (octal 7777)");
    }
    file.mode = mode->get<uint32_t>();
  }
  return file;
}

using FileVisitor = std::function<Result<void>(const json& object, File& file)>;

// Everything but names, types and bytes of the files, which `visit` adds.
Result<Sample> ParseSample(const json& value, const FileVisitor& visit) {
  if (!value.is_object()) {
    return Corrupt(fmt::format("{}, not an object", value.type_name()));
  }
  Sample sample;
  DOLIUM_TRY(sample.key, NeededText(value, "key"));
  DOLIUM_TRY(sample.metadata, ParseMetadata(value));
  const auto files = value.find("files");
  if (files == value.end() || !files->is_array() || files->empty()) {
    return Corrupt("no \"files\", or not a list of them");
  }
  for (const json& object : *files) {
    DOLIUM_TRY(File file, ParseFile(object));
    DOLIUM_TRY_VOID(visit(object, file));
    DOLIUM_TRY(auto type, TextMember(object, "content_type"));
    file.content_type =
        type ? *std::move(type) : std::string(ContentTypeOfName(file.name));
    sample.files.push_back(std::move(file));
  }
  std::vector<std::string_view> names;
  names.reserve(sample.files.size());
  for (const File& file : sample.files) names.push_back(file.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return Corrupt(fmt::format("two files are named \"{}\"", *twice));
  }
  return sample;
}

void AddMetadata(const Metadata& metadata, json& object) {
  if (metadata.format == MetadataFormat::kNone) return;
  if (metadata.format == MetadataFormat::kJson) {
    if (auto value = ParseJson(AsText(metadata.bytes))) {
      object["metadata"] = *std::move(value);
      return;
    }
  }
  object["metadata_format"] = "opaque";
  for (const NamedFormat& row : kFormats) {
    if (row.format == metadata.format) object["metadata_format"] = row.name;
  }
  object["metadata_base64"] = ToBase64(metadata.bytes);
}

bool IsText(const File& file) {
  const std::string_view type = file.content_type;
  return (type.starts_with("text/") || type.starts_with("application/json") ||
          type == "application/xml" || type == "application/yaml") &&
         IsUtf8(file.data);
}

json FileObject(const File& file) {
  json object = {{"name", file.name}};
  if (!file.content_type.empty()) object["content_type"] = file.content_type;
  if (file.compression) {
    for (const NamedCompression& row : kCompressions) {
      if (row.compression == *file.compression) object["compression"] = row.name;
    }
  }
  if (file.modified) object["modified"] = *file.modified;
  if (file.mode) object["mode"] = *file.mode & 07777;
  if (file.array) {
    object["array"] = {{"dtype", file.array->dtype}, {"shape", file.array->lengths}};
  }
  AddMetadata(file.metadata, object);
  return object;
}

Result<std::string> Line(const Sample& sample, json files) {
  json object = {{"key", sample.key}, {"files", std::move(files)}};
  AddMetadata(sample.metadata, object);
  try {
    return DumpJson(object);
  } catch (const json::exception&) {  // The only thing that can be wrong with it.
    return InvalidArgument(
        fmt::format("sample {}: its key, or a name or type in it, is not UTF-8",
                    ToHex(AsBytes(sample.key))));
  }
}

}  // namespace

Result<ManifestLine> ParseManifestLine(std::string_view text) {
  DOLIUM_TRY(const json value, ParseJson(text));
  ManifestLine line;
  const auto visit = [&](const json& object, File& file) -> Result<void> {
    DOLIUM_TRY(std::string path, NeededText(object, "path"));
    DOLIUM_TRY(auto name, TextMember(object, "name"));
    file.name = name ? *std::move(name) : std::string(BaseName(path));
    if (file.name.empty()) return Corrupt("a file without a name");
    line.paths.push_back(std::move(path));
    return {};
  };
  DOLIUM_TRY(line.sample, ParseSample(value, visit));
  for (size_t i = 0; i < line.paths.size(); ++i) {
    File& file = line.sample.files[i];
    if (file.content_type.empty()) file.content_type = ContentTypeOfName(line.paths[i]);
  }
  return line;
}

bool IsSampleJson(const json& value) {
  if (!value.is_object()) return false;
  const auto key = value.find("key");
  const auto files = value.find("files");
  return key != value.end() && key->is_string() && files != value.end() &&
         files->is_array() && !files->empty() &&
         std::ranges::all_of(*files, [](const json& file) {
           return file.is_object() && file.contains("name") &&
                  file.contains("text") != file.contains("base64");
         });
}

Result<Sample> ParseSampleJson(const json& value) {
  return ParseSample(value, [](const json& object, File& file) -> Result<void> {
    DOLIUM_TRY(file.name, NeededText(object, "name"));
    DOLIUM_TRY(const auto text, TextMember(object, "text"));
    DOLIUM_TRY(const auto encoded, TextMember(object, "base64"));
    if (text) {
      file.data = FromText(*text);
    } else if (encoded) {
      DOLIUM_TRY(ByteVector bytes, FromBase64(*encoded));
      file.data = Bytes::FromVector(std::move(bytes));
    }
    return {};
  });
}

Result<std::string> SampleJsonLine(const Sample& sample) {
  json files = json::array();
  for (const File& file : sample.files) {
    json object = FileObject(file);
    if (IsText(file)) {
      object["text"] = AsText(file.data);
    } else {
      object["base64"] = ToBase64(file.data);
    }
    files.push_back(std::move(object));
  }
  return Line(sample, std::move(files));
}

Result<std::string> ManifestJsonLine(const Sample& sample,
                                     const std::vector<std::string>& paths) {
  json files = json::array();
  for (size_t i = 0; i < sample.files.size(); ++i) {
    files.push_back(FileObject(sample.files[i]));
    files.back()["path"] = paths[i];
  }
  return Line(sample, std::move(files));
}

}  // namespace dolium::dataset
