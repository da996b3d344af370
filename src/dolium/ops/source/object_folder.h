// What a folder of meshes or skeletons is recognised by, and where those of a volume are.
#pragma once

#include <cstdint>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"

namespace dolium {

enum class ObjectKind : uint8_t { kNone, kMeshes, kSkeletons };

// By its info, however damaged the rest of that is; without one, meshes are known by
// files `ID:0` (legacy meshes), for which some names are looked at. kNone where there is
// nothing of the kind, or nothing that can be read.
ObjectKind KindOfObjects(const Location& folder);

// The folder of the meshes or skeletons at a location: that location, or what the info of
// a volume there names. kNotFound, saying what is there instead, if there is none.
Result<Location> FindObjectFolder(const Location& location, ObjectKind kind);

}  // namespace dolium
