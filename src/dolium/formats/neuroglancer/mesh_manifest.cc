#include "dolium/formats/neuroglancer/mesh_manifest.h"

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kManifestWord = 4;
constexpr uint64_t kChunkShapeAndOriginBytes = 6 * kManifestWord;
constexpr uint64_t kLodBytes = 4 * kManifestWord;       // lod_scale and vertex_offset
constexpr uint64_t kPositionBytes = 3 * kManifestWord;  // x, y and z of a fragment

}  // namespace

Result<uint64_t> FragmentBytes(BytesView manifest) {
  ByteReader reader(manifest);
  DOLIUM_TRY_VOID(
      reader.ReadBytes(kChunkShapeAndOriginBytes, "chunk_shape and grid_origin"));
  DOLIUM_TRY(const uint32_t lods, reader.Read<uint32_t>("num_lods"));
  DOLIUM_TRY_VOID(reader.ReadBytes(lods * kLodBytes, "lod_scales and vertex_offsets"));
  DOLIUM_TRY(const BytesView counts,
             reader.ReadBytes(lods * kManifestWord, "num_fragments_per_lod"));
  uint64_t sum = 0;  // At most manifest.size() / 4 sizes of 32 bits: cannot wrap.
  for (uint64_t lod = 0; lod < lods; ++lod) {
    const uint64_t count = LoadLE<uint32_t>(counts.data() + lod * kManifestWord);
    DOLIUM_TRY_VOID(reader.ReadBytes(count * kPositionBytes, "fragment_positions"));
    DOLIUM_TRY(const BytesView sizes,
               reader.ReadBytes(count * kManifestWord, "fragment sizes"));
    for (uint64_t i = 0; i < count; ++i)
      sum += LoadLE<uint32_t>(sizes.data() + i * kManifestWord);
  }
  if (reader.remaining() != 0) {
    return Corrupt(fmt::format("manifest is {} bytes, its counts make {}",
                               manifest.size(), reader.position()));
  }
  return sum;
}

}  // namespace dolium::neuroglancer
