// MultiresInfo: the info of a folder of multi-resolution meshes.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/objects/object_info.h"

namespace dolium::mesh {

inline constexpr std::string_view kMultiresType = "neuroglancer_multilod_draco";
inline constexpr std::string_view kLegacyType = "neuroglancer_legacy_mesh";

struct MultiresInfo : objects::ObjectInfo {
  unsigned vertex_quantization_bits = 16;  // 10 or 16
  double lod_scale_multiplier = 1;

  friend bool operator==(const MultiresInfo&, const MultiresInfo&) = default;
};

// kCorrupt, naming the member, if it is not what the format says.
Result<MultiresInfo> ParseMultiresInfo(std::string_view text);

// What ParseMultiresInfo() demands of the numbers; kInvalidArgument.
Result<void> Validate(const MultiresInfo& info);

// The text that we write: members sorted, indented by two. Precondition: Validate()
// holds.
std::string ToJson(const MultiresInfo& info);

// The info of a folder of legacy meshes.
std::string LegacyInfoText();

}  // namespace dolium::mesh
