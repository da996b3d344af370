// The manifest or a fragment of a legacy mesh, of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/mesh/legacy_mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  if (const auto names = dolium::mesh::ParseLegacyManifest(dolium::AsText(bytes))) {
    const auto text = dolium::mesh::WriteLegacyManifest(*names);
    Require(text.has_value());
    const auto again = dolium::mesh::ParseLegacyManifest(*text);
    Require(again.has_value() && *again == *names);
  }
  if (dolium::mesh::IsDraco(bytes)) return 0;  // draco_fragment_fuzz has these.
  auto mesh = dolium::mesh::ParseLegacyFragment(bytes);
  if (!mesh) return 0;
  const auto written = dolium::mesh::WriteLegacyFragment(*mesh);
  Require(written.has_value() && dolium::Equal(*written, bytes));
  const size_t vertices = mesh->vertices.size();
  dolium::mesh::WeldVertices(*mesh);
  Require(mesh->vertices.size() <= vertices && dolium::mesh::Validate(*mesh).has_value());
  return 0;
}
