// ObjectInfo: what the infos of meshes and of skeletons have in common.
//
// Read as the client reads it: an absent transform is the identity, null will do for a
// member that is not there. What we do not know is kept and written again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "dolium/base/result.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::objects {

// Three rows of four: from stored-model units to nanometres.
using Transform = std::array<double, 12>;
inline constexpr Transform kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

using Point = std::array<float, 3>;

Point Apply(const Transform& transform, const Point& point);

// Members that we do not know: JSON texts by name.
using ExtraMembers = std::map<std::string, std::string>;

struct ObjectInfo {
  Transform transform = kIdentity;
  std::optional<neuroglancer::ShardingSpec> sharding = {};
  std::optional<std::string> segment_properties = {};  // a folder, relative to the info's
  ExtraMembers extra = {};

  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

// The object of an info whose `@type` is `type`. kCorrupt if it is none, or of another
// type. cloud-volume leaves it out where it was made so.
enum class TypeMember : uint8_t { kNeeded, kOptional };
Result<nlohmann::json> ParseInfoObject(std::string_view text, std::string_view type,
                                       TypeMember member = TypeMember::kNeeded);

// The common members; all others but those of `own` become extra ones. kCorrupt, as
// `transform: found [1,2], expected 12 numbers`.
Result<ObjectInfo> ParseObjectInfo(const nlohmann::json& object,
                                   std::span<const std::string_view> own);

// Adds them to an object.
void AddObjectInfo(const ObjectInfo& info, nlohmann::json& object);

// kInvalidArgument if the transform is not finite, or the sharding spec is none.
Result<void> ValidateObjectInfo(const ObjectInfo& info);

// `PATH: found VALUE, expected EXPECTED`.
Error UnexpectedMember(std::string_view path, const nlohmann::json& found,
                       std::string_view expected);

}  // namespace dolium::objects
