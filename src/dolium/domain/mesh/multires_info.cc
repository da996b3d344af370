#include "dolium/domain/mesh/multires_info.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium::mesh {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBits = "vertex_quantization_bits";
constexpr std::string_view kMultiplier = "lod_scale_multiplier";
constexpr std::string_view kOwnMembers[] = {kBits, kMultiplier};

bool AreBits(double bits) { return bits == 10 || bits == 16; }
bool IsMultiplier(double multiplier) {
  return std::isfinite(multiplier) && multiplier > 0;
}

Result<double> ParseNumber(const Json& object, std::string_view member,
                           bool (*is_good)(double), std::string_view expected) {
  const auto found = object.find(member);
  if (found == object.end()) return Corrupt(fmt::format("{}: is missing", member));
  if (!found->is_number() || !is_good(found->get<double>())) {
    return objects::UnexpectedMember(member, *found, expected);
  }
  return found->get<double>();
}

}  // namespace

Result<MultiresInfo> ParseMultiresInfo(std::string_view text) {
  DOLIUM_TRY(const Json object, objects::ParseInfoObject(text, kMultiresType));
  MultiresInfo info;
  DOLIUM_TRY(static_cast<objects::ObjectInfo&>(info),
             objects::ParseObjectInfo(object, kOwnMembers));
  DOLIUM_TRY(const double bits, ParseNumber(object, kBits, AreBits, "10 or 16"));
  info.vertex_quantization_bits = static_cast<unsigned>(bits);
  DOLIUM_TRY(info.lod_scale_multiplier,
             ParseNumber(object, kMultiplier, IsMultiplier, "a number above 0"));
  return info;
}

Result<void> Validate(const MultiresInfo& info) {
  if (!AreBits(info.vertex_quantization_bits)) {
    return InvalidArgument(fmt::format("{}: found {}, expected 10 or 16", kBits,
                                       info.vertex_quantization_bits));
  }
  if (!IsMultiplier(info.lod_scale_multiplier)) {
    return InvalidArgument(fmt::format("{}: found {}, expected a number above 0",
                                       kMultiplier, info.lod_scale_multiplier));
  }
  return objects::ValidateObjectInfo(info);
}

std::string ToJson(const MultiresInfo& info) {
  Json object = Json::object();
  objects::AddObjectInfo(info, object);
  object["@type"] = kMultiresType;
  object[kBits] = info.vertex_quantization_bits;
  object[kMultiplier] = info.lod_scale_multiplier;
  return DumpJson(object, 2) + "\n";
}

std::string LegacyInfoText() { return DumpJson(Json{{"@type", kLegacyType}}, 2) + "\n"; }

}  // namespace dolium::mesh
