// Files of one mesh as other programs have them: PLY, OBJ, STL and GLB (glTF 2.0).
//
// Reading takes hostile input: counts are limits to check against the bytes that there
// are, and positions and indices are checked. Faces of more than three corners become
// fans of triangles. Colours, normals and the like are passed over. All functions may be
// called from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

enum class MeshFile : uint8_t { kPly, kObj, kStl, kGlb };

// "ply", "obj", "stl" and "glb", which are also the endings of names.
std::string_view ToString(MeshFile kind);
std::optional<MeshFile> ParseMeshFileKind(std::string_view text);

// kCorrupt, naming the line or the byte; kUnsupported for GLB.
Result<Mesh> ParseMeshFile(MeshFile kind, BytesView bytes);

// PLY and STL are binary, little-endian. kInvalidArgument unless Validate() holds;
// kUnsupported for more vertices or triangles than the file can count.
Result<ByteVector> WriteMeshFile(MeshFile kind, const Mesh& mesh);

}  // namespace dolium::mesh
