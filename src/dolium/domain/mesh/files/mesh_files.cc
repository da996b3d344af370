#include "dolium/domain/mesh/files/mesh_files.h"

#include <fmt/format.h>

#include "dolium/domain/mesh/files/mesh_files_internal.h"

namespace dolium::mesh {

std::string_view ToString(MeshFile kind) {
  switch (kind) {
    case MeshFile::kPly:
      return "ply";
    case MeshFile::kObj:
      return "obj";
    case MeshFile::kStl:
      return "stl";
    case MeshFile::kGlb:
      return "glb";
  }
  return "";
}

std::optional<MeshFile> ParseMeshFileKind(std::string_view text) {
  for (const MeshFile kind :
       {MeshFile::kPly, MeshFile::kObj, MeshFile::kStl, MeshFile::kGlb}) {
    if (ToString(kind) == text) return kind;
  }
  return std::nullopt;
}

Result<Mesh> ParseMeshFile(MeshFile kind, BytesView bytes) {
  Result<Mesh> mesh = Unsupported("glb files are written and not read");
  if (kind == MeshFile::kPly) mesh = ParsePly(bytes);
  if (kind == MeshFile::kObj) mesh = ParseObj(AsText(bytes));
  if (kind == MeshFile::kStl) mesh = ParseStl(bytes);
  if (!mesh) return mesh;
  const auto valid = Validate(*mesh);
  if (!valid) return Corrupt(valid.error().message);
  return mesh;
}

Result<ByteVector> WriteMeshFile(MeshFile kind, const Mesh& mesh) {
  DOLIUM_TRY_VOID(Validate(mesh));
  switch (kind) {
    case MeshFile::kPly:
      return WritePly(mesh);
    case MeshFile::kObj:
      return WriteObj(mesh);
    case MeshFile::kStl:
      return WriteStl(mesh);
    case MeshFile::kGlb:
      return WriteGlb(mesh);
  }
  return InvalidArgument("no kind of file");
}

}  // namespace dolium::mesh
