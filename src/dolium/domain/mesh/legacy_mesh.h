// Legacy meshes: one resolution, in fragments that a JSON manifest `ID:0` names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/draco.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

// The suffix of manifests' names.
inline constexpr std::string_view kLegacySuffix = ":0";

// The names of the fragments that a manifest lists, relative to the folder. kCorrupt if
// it is none, or a name leads out of the folder.
Result<std::vector<std::string>> ParseLegacyManifest(std::string_view text);

// kInvalidArgument for names that ParseLegacyManifest() refuses.
Result<std::string> WriteLegacyManifest(std::span<const std::string> fragments);

// A fragment: count, positions in nanometres, triangles; or Draco, as cloud-volume writes
// it, which the client cannot show. kCorrupt if counts or indices do not fit, or a
// position is not finite.
Result<Mesh> ParseLegacyFragment(BytesView bytes, const DracoLimits& limits = {});

// kInvalidArgument unless Validate() holds.
Result<ByteVector> WriteLegacyFragment(const Mesh& mesh);

}  // namespace dolium::mesh
