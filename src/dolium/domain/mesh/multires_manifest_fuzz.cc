// The manifest of a multi-resolution mesh, or the info of a folder of them, of arbitrary
// bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/mesh/multires_info.h"
#include "dolium/domain/mesh/multires_manifest.h"
#include "dolium/formats/neuroglancer/mesh_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  if (const auto info = dolium::mesh::ParseMultiresInfo(dolium::AsText(bytes))) {
    Require(dolium::mesh::Validate(*info).has_value());
    const auto again = dolium::mesh::ParseMultiresInfo(dolium::mesh::ToJson(*info));
    Require(again.has_value() && *again == *info);
  }
  const auto manifest = dolium::mesh::ParseManifest(bytes);
  if (!manifest) return 0;
  // The sharded format reads the same sizes.
  const auto preceding = dolium::neuroglancer::FragmentBytes(bytes);
  Require(preceding.has_value() && *preceding == manifest->fragment_bytes());
  uint64_t sum = 0;
  for (size_t level = 0; level < manifest->levels.size(); ++level) {
    for (const dolium::ByteRange& range :
         dolium::mesh::FragmentRanges(*manifest, level)) {
      Require(range.offset == sum);
      sum += range.length;
    }
  }
  Require(sum == *preceding);
  const auto problems = dolium::mesh::CheckManifest(*manifest);
  const auto written = dolium::mesh::WriteManifest(*manifest);
  Require(written.has_value() == problems.empty());
  if (!written) return 0;
  const auto again = dolium::mesh::ParseManifest(*written);
  Require(again.has_value() && *again == *manifest && written->size() == size);
  return 0;
}
