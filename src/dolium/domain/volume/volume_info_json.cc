#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kVolumeType = "neuroglancer_multiscale_volume";

constexpr std::string_view kRootMembers[] = {
    "@type", "type",      "data_type",          "num_channels", "scales",
    "mesh",  "skeletons", "segment_properties", "redirect"};

constexpr std::string_view kScaleMembers[] = {"key",          "size",        "resolution",
                                              "voxel_offset", "chunk_sizes", "encoding",
                                              "sharding",     "hidden"};

constexpr std::string_view kBlockSize = "compressed_segmentation_block_size";

constexpr std::string_view kForeignEncodings[] = {"fpzip", "kempressed", "zfpc",
                                                  "crackle"};

// A setting of an encoding that is one number.
struct Setting {
  Encoding encoding;
  std::string_view member;
  int EncodingSpec::* value;
  // Whether numbers beyond `min` and `max` are taken for these, and fractions rounded.
  bool lenient;
  int min;
  int max;
};

constexpr Setting kSettings[] = {
    {Encoding::kJpeg, "jpeg_quality", &EncodingSpec::jpeg_quality, false, 0, 100},
    {Encoding::kPng, "png_level", &EncodingSpec::png_level, false, 0, 9},
    {Encoding::kJxl, "jxl_quality", &EncodingSpec::jxl_quality, true, 0, 100},
    {Encoding::kJxl, "jxl_effort", &EncodingSpec::jxl_effort, true, 1, 9},
    {Encoding::kJxl, "jxl_decodingspeed", &EncodingSpec::jxl_decoding_speed, true, 0, 4},
};

// What an info with another `@type` describes.
struct OtherKind {
  std::string_view type;
  std::string_view name;
};

constexpr OtherKind kOtherKinds[] = {
    {"neuroglancer_multilod_draco", "multi-resolution meshes"},
    {"neuroglancer_legacy_mesh", "single-resolution meshes"},
    {"neuroglancer_skeletons", "skeletons"},
    {"neuroglancer_segment_properties", "segment properties"},
    {"neuroglancer_annotations_v1", "annotations"},
    {neuroglancer::kShardingType, "a sharding spec"},
};

bool Has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string Lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

std::string JoinPath(std::string_view path, std::string_view member) {
  return path.empty() ? std::string(member) : fmt::format("{}.{}", path, member);
}

Error Unexpected(std::string_view path, const Json& found, std::string_view expected) {
  constexpr size_t kShown = 60;
  std::string text = found.dump(-1, ' ', /*ensure_ascii=*/true);
  if (text.size() > kShown) text.replace(kShown, std::string::npos, "...");
  return InvalidArgument(fmt::format("{}{}found {}, expected {}", path,
                                     path.empty() ? "" : ": ", text, expected));
}

// An optional member; nullptr if it is absent or null.
const Json* Find(const Json& object, std::string_view member) {
  const auto found = object.find(member);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<const Json*> Need(const Json& object, std::string_view path,
                         std::string_view member) {
  const auto found = object.find(member);
  if (found == object.end()) {
    return InvalidArgument(fmt::format("{}: is missing", JoinPath(path, member)));
  }
  return &*found;
}

// An integer that no other one is rounded to.
bool IsIntegral(double number) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53
  return std::trunc(number) == number && std::abs(number) < kLimit;
}

Result<int64_t> ParseInteger(const Json& value, std::string_view path) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return static_cast<int64_t>(number);
    }
  } else if (value.is_number_integer()) {
    return value.get<int64_t>();
  } else if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (IsIntegral(number)) return static_cast<int64_t>(number);
  }
  return Unexpected(path, value, "an integer below 2^63");
}

Result<std::string> ParseString(const Json& value, std::string_view path) {
  if (!value.is_string()) return Unexpected(path, value, "a string");
  return value.get<std::string>();
}

Result<Vec3> ParseVec3(const Json& value, std::string_view path) {
  Vec3 vector;
  if (!value.is_array() || value.size() != vector.size()) {
    return Unexpected(path, value, "three integers");
  }
  for (size_t d = 0; d < vector.size(); ++d) {
    DOLIUM_TRY(vector[d], ParseInteger(value[d], fmt::format("{}[{}]", path, d)));
  }
  return vector;
}

Result<Resolution> ParseResolution(const Json& value, std::string_view path) {
  Resolution resolution;
  if (!value.is_array() || value.size() != resolution.size()) {
    return Unexpected(path, value, "three numbers");
  }
  for (size_t d = 0; d < resolution.size(); ++d) {
    if (!value[d].is_number()) {
      return Unexpected(fmt::format("{}[{}]", path, d), value[d], "a number");
    }
    resolution[d] = value[d].get<double>();
  }
  return resolution;
}

Result<std::vector<Vec3>> ParseChunkSizes(const Json& value, std::string_view path) {
  if (!value.is_array()) return Unexpected(path, value, "an array of chunk sizes");
  std::vector<Vec3> sizes;
  for (size_t i = 0; i < value.size(); ++i) {
    DOLIUM_TRY(const Vec3 size, ParseVec3(value[i], fmt::format("{}[{}]", path, i)));
    sizes.push_back(size);
  }
  return sizes;
}

Result<int> ParseSetting(const Json& value, std::string_view path,
                         const Setting& setting) {
  if (setting.lenient && value.is_number()) {
    const double number = std::round(value.get<double>());
    return static_cast<int>(std::clamp<double>(number, setting.min, setting.max));
  }
  DOLIUM_TRY(const int64_t number, ParseInteger(value, path));
  if (number < setting.min || number > setting.max) {
    return Unexpected(path, value,
                      fmt::format("an integer from {} to {}", setting.min, setting.max));
  }
  return static_cast<int>(number);
}

Result<void> ParseScaleEncoding(const Json& object, std::string_view path,
                                ScaleInfo& scale) {
  const std::string at = JoinPath(path, "encoding");
  DOLIUM_TRY(const Json* const value, Need(object, path, "encoding"));
  DOLIUM_TRY(const std::string name, ParseString(*value, at));
  const auto encoding = ParseEncoding(name);
  if (!encoding) {
    scale.foreign_encoding = Lowered(name);
    if (Has(kForeignEncodings, scale.foreign_encoding)) return {};
    return Unexpected(at, *value,
                      "raw, jpeg, png, jxl, compressed_segmentation or compresso");
  }
  scale.encoding.encoding = *encoding;
  if (*encoding == Encoding::kCompressedSegmentation) {
    DOLIUM_TRY(const Json* const block, Need(object, path, kBlockSize));
    DOLIUM_TRY(scale.encoding.block_size, ParseVec3(*block, JoinPath(path, kBlockSize)));
  }
  for (const Setting& setting : kSettings) {
    const Json* const given = Find(object, setting.member);
    if (setting.encoding != *encoding || given == nullptr) continue;
    DOLIUM_TRY(scale.encoding.*setting.value,
               ParseSetting(*given, JoinPath(path, setting.member), setting));
  }
  return {};
}

// As ParseSharding() of the format, with the liberties that an info has.
Result<neuroglancer::ShardingSpec> ParseScaleSharding(const Json& value,
                                                      std::string_view path) {
  Json sharding = value;
  if (sharding.is_object()) {
    for (auto member = sharding.begin(); member != sharding.end();) {
      if (member->is_null()) {
        member = sharding.erase(member);
        continue;
      }
      if (member->is_number_float()) {
        if (const auto integer = ParseInteger(*member, path)) *member = *integer;
      }
      ++member;
    }
  }
  return neuroglancer::ParseSharding(sharding).Within(path);
}

bool IsSettingOfAnyEncoding(std::string_view name) {
  return name == kBlockSize ||
         std::ranges::find(kSettings, name, &Setting::member) != std::end(kSettings);
}

// The names that mean something in a scale of this encoding.
bool IsScaleMember(std::string_view name, const ScaleInfo& scale) {
  if (Has(kScaleMembers, name)) return true;
  if (!scale.foreign_encoding.empty()) return false;
  const Encoding encoding = scale.encoding.encoding;
  if (name == kBlockSize) return encoding == Encoding::kCompressedSegmentation;
  return std::ranges::any_of(kSettings, [&](const Setting& setting) {
    return setting.member == name && setting.encoding == encoding;
  });
}

Result<ScaleInfo> ParseScale(const Json& object, const std::string& path) {
  if (!object.is_object()) return Unexpected(path, object, "an object");
  ScaleInfo scale;
  DOLIUM_TRY(const Json* const key, Need(object, path, "key"));
  DOLIUM_TRY(scale.key, ParseString(*key, JoinPath(path, "key")));
  DOLIUM_TRY(const Json* const size, Need(object, path, "size"));
  DOLIUM_TRY(scale.size, ParseVec3(*size, JoinPath(path, "size")));
  DOLIUM_TRY(const Json* const resolution, Need(object, path, "resolution"));
  DOLIUM_TRY(scale.resolution,
             ParseResolution(*resolution, JoinPath(path, "resolution")));
  if (const Json* const offset = Find(object, "voxel_offset")) {
    DOLIUM_TRY(scale.voxel_offset, ParseVec3(*offset, JoinPath(path, "voxel_offset")));
  }
  DOLIUM_TRY(const Json* const chunk_sizes, Need(object, path, "chunk_sizes"));
  DOLIUM_TRY(scale.chunk_sizes,
             ParseChunkSizes(*chunk_sizes, JoinPath(path, "chunk_sizes")));
  DOLIUM_TRY_VOID(ParseScaleEncoding(object, path, scale));
  if (const Json* const sharding = Find(object, "sharding")) {
    DOLIUM_TRY(scale.sharding, ParseScaleSharding(*sharding, path));
  }
  if (const Json* const hidden = Find(object, "hidden")) {
    if (!hidden->is_boolean()) {
      return Unexpected(JoinPath(path, "hidden"), *hidden, "true or false");
    }
    scale.hidden = hidden->get<bool>();
  }
  for (const auto& [name, value] : object.items()) {
    const bool unset = value.is_null() && IsSettingOfAnyEncoding(name);
    if (!unset && !IsScaleMember(name, scale)) scale.extra[name] = DumpJson(value);
  }
  return scale;
}

Result<std::vector<ScaleInfo>> ParseScales(const Json& value) {
  if (!value.is_array()) return Unexpected("scales", value, "an array");
  std::vector<ScaleInfo> scales;
  for (size_t i = 0; i < value.size(); ++i) {
    DOLIUM_TRY(ScaleInfo scale, ParseScale(value[i], fmt::format("scales[{}]", i)));
    scales.push_back(std::move(scale));
  }
  return scales;
}

Result<VolumeType> ParseVolumeType(const Json& value) {
  DOLIUM_TRY(const std::string name, ParseString(value, "type"));
  for (const VolumeType type :
       {VolumeType::kUnknown, VolumeType::kImage, VolumeType::kSegmentation}) {
    if (Lowered(name) == ToString(type)) return type;
  }
  return Unexpected("type", value, "image, segmentation or unknown");
}

Result<DataType> ParseDataTypeMember(const Json& value) {
  DOLIUM_TRY(const std::string name, ParseString(value, "data_type"));
  if (const auto type = ParseDataType(name)) return *type;
  return Unexpected("data_type", value,
                    "uint8, int8, uint16, int16, uint32, int32, uint64 or float32");
}

// kInvalidArgument if it describes something else, and well.
Result<void> CheckNotAnotherKind(const Json& root) {
  const Json* const type = root.is_object() ? Find(root, "@type") : nullptr;
  if (type == nullptr) return {};
  for (const OtherKind& kind : kOtherKinds) {
    if (*type == kind.type) {
      return InvalidArgument(fmt::format("@type: found {}, that is {}, expected {}",
                                         kind.type, kind.name, kVolumeType));
    }
  }
  return {};
}

Result<void> NeedVolume(const Json& root) {
  if (!root.is_object()) return Unexpected("", root, "an object");
  const Json* const type = Find(root, "@type");
  if (type == nullptr || *type == kVolumeType) return {};
  return Unexpected("@type", *type, kVolumeType);
}

Result<std::optional<std::string>> ParseOptionalString(const Json& root,
                                                       std::string_view member) {
  const Json* const value = Find(root, member);
  if (value == nullptr) return std::nullopt;
  DOLIUM_TRY(std::string text, ParseString(*value, member));
  return text;
}

Result<VolumeInfo> ParseRoot(const Json& root) {
  DOLIUM_TRY_VOID(NeedVolume(root));
  VolumeInfo info;
  DOLIUM_TRY(info.redirect, ParseOptionalString(root, "redirect"));
  const auto has = [&](std::string_view member) {
    return !info.redirect || root.contains(member);
  };
  if (has("type")) {
    DOLIUM_TRY(const Json* const type, Need(root, "", "type"));
    DOLIUM_TRY(info.type, ParseVolumeType(*type));
  }
  if (has("data_type")) {
    DOLIUM_TRY(const Json* const data_type, Need(root, "", "data_type"));
    DOLIUM_TRY(info.data_type, ParseDataTypeMember(*data_type));
  }
  if (has("num_channels")) {
    DOLIUM_TRY(const Json* const channels, Need(root, "", "num_channels"));
    DOLIUM_TRY(info.num_channels, ParseInteger(*channels, "num_channels"));
  }
  if (has("scales")) {
    DOLIUM_TRY(const Json* const scales, Need(root, "", "scales"));
    DOLIUM_TRY(info.scales, ParseScales(*scales));
  }
  DOLIUM_TRY(info.mesh, ParseOptionalString(root, "mesh"));
  DOLIUM_TRY(info.skeletons, ParseOptionalString(root, "skeletons"));
  DOLIUM_TRY(info.segment_properties, ParseOptionalString(root, "segment_properties"));
  for (const auto& [name, value] : root.items()) {
    if (!Has(kRootMembers, name)) info.extra[name] = DumpJson(value);
  }
  return info;
}

Json Number(double value) {
  if (IsIntegral(value)) return static_cast<int64_t>(value);
  return value;
}

// Leaves out names that have come to mean something, say by a change of the encoding.
template <typename IsKnown>
void AddExtra(const ExtraMembers& extra, const IsKnown& is_known, Json& object) {
  for (const auto& [name, text] : extra) {
    if (is_known(name)) continue;
    if (auto value = ParseJson(text)) object[name] = *std::move(value);
  }
}

void AddEncoding(const ScaleInfo& scale, Json& object) {
  if (!scale.foreign_encoding.empty()) {
    object["encoding"] = scale.foreign_encoding;
    return;
  }
  const EncodingSpec defaults;
  object["encoding"] = ToString(scale.encoding.encoding);
  if (scale.encoding.encoding == Encoding::kCompressedSegmentation) {
    object[std::string(kBlockSize)] = scale.encoding.block_size;
  }
  for (const Setting& setting : kSettings) {
    const int value = scale.encoding.*setting.value;
    if (setting.encoding == scale.encoding.encoding && value != defaults.*setting.value) {
      object[std::string(setting.member)] = value;
    }
  }
}

Json ScaleToJson(const ScaleInfo& scale) {
  Json object = Json::object();
  AddExtra(
      scale.extra, [&](std::string_view name) { return IsScaleMember(name, scale); },
      object);
  object["key"] = scale.key;
  object["size"] = scale.size;
  object["resolution"] = {Number(scale.resolution[0]), Number(scale.resolution[1]),
                          Number(scale.resolution[2])};
  object["voxel_offset"] = scale.voxel_offset;
  object["chunk_sizes"] = scale.chunk_sizes;
  AddEncoding(scale, object);
  if (scale.sharding) object["sharding"] = neuroglancer::ToJson(*scale.sharding);
  if (scale.hidden) object["hidden"] = true;
  return object;
}

}  // namespace

Result<VolumeInfo> ParseVolumeInfo(std::string_view text) {
  // Whoever gives a text as an argument says so himself: as a rule it is what is stored
  // that is wrong.
  const auto broken = [](const Error& error) { return Corrupt(error.message); };
  const auto root = ParseJson(text);
  if (!root) return broken(root.error());
  DOLIUM_TRY_VOID(CheckNotAnotherKind(*root));
  auto info = ParseRoot(*root);
  if (!info) return broken(info.error());
  if (const auto valid = Validate(*info); !valid) return broken(valid.error());
  return info;
}

void DropForeignSettings(ScaleInfo& scale) {
  std::erase_if(scale.extra, [&](const auto& member) {
    return IsSettingOfAnyEncoding(member.first) && !IsScaleMember(member.first, scale);
  });
}

std::string ToJson(const VolumeInfo& info) {
  Json root = Json::object();
  AddExtra(
      info.extra, [](std::string_view name) { return Has(kRootMembers, name); }, root);
  root["@type"] = kVolumeType;
  root["type"] = ToString(info.type);
  root["data_type"] = ToString(info.data_type);
  root["num_channels"] = info.num_channels;
  Json& scales = root["scales"] = Json::array();
  for (const ScaleInfo& scale : info.scales) scales.push_back(ScaleToJson(scale));
  const std::pair<const char*, const std::optional<std::string>*> optional_members[] = {
      {"mesh", &info.mesh},
      {"skeletons", &info.skeletons},
      {"segment_properties", &info.segment_properties},
      {"redirect", &info.redirect}};
  for (const auto& [name, value] : optional_members) {
    if (*value) root[name] = **value;
  }
  return DumpJsonLossy(root, 2) + "\n";
}

}  // namespace dolium::volume
