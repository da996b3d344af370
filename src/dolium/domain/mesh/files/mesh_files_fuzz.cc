// A file of one mesh, of arbitrary bytes, as each kind that is read.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/mesh/files/mesh_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  using dolium::mesh::MeshFile;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  for (const MeshFile kind : {MeshFile::kPly, MeshFile::kObj, MeshFile::kStl}) {
    const auto mesh = dolium::mesh::ParseMeshFile(kind, bytes);
    if (!mesh) continue;
    Require(dolium::mesh::Validate(*mesh).has_value());
    const auto written = dolium::mesh::WriteMeshFile(MeshFile::kPly, *mesh);
    Require(written.has_value());
    const auto again = dolium::mesh::ParseMeshFile(MeshFile::kPly, *written);
    // Indices of 2^31 are beyond what PLY holds, and there are never as many vertices.
    Require(again.has_value() && *again == *mesh);
    Require(dolium::mesh::WriteMeshFile(MeshFile::kGlb, *mesh).has_value());
    const auto triangles = dolium::mesh::WriteMeshFile(MeshFile::kStl, *mesh);
    Require(triangles.has_value() &&
            triangles->size() == 84 + 50 * mesh->triangles.size());
  }
  return 0;
}
