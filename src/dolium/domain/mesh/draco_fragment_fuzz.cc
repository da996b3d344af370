// A Draco fragment of arbitrary bytes; and if it is one, what comes of writing it again.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/mesh/draco.h"
#include "dolium/domain/mesh/testing/shapes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  constexpr dolium::mesh::DracoLimits kLimits = {.max_faces = 1U << 14,
                                                 .max_points = 1U << 14};
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  const auto floats = dolium::mesh::DecodeDracoMesh(bytes, kLimits);
  if (floats) Require(dolium::mesh::Validate(*floats).has_value());
  for (const unsigned bits : {10U, 16U}) {
    auto mesh = dolium::mesh::DecodeFragment(bytes, bits, kLimits);
    if (!mesh) continue;
    Require(mesh->triangles.size() <= kLimits.max_faces);
    for (const auto& vertex : mesh->vertices) {
      Require(std::ranges::max(vertex) < 1U << bits);
    }
    const auto written = dolium::mesh::EncodeFragment(*mesh, bits);
    if (!written) continue;  // Draco has its own idea of what a surface is.
    const auto again = dolium::mesh::DecodeFragment(*written, bits);
    Require(again.has_value());
    dolium::mesh::CleanMesh(*mesh);
    Require(again->triangles.size() == mesh->triangles.size());
    Require(dolium::mesh::Corners(*again) == dolium::mesh::Corners(*mesh));
  }
  return 0;
}
