#include "dolium/domain/mesh/mesh_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "dolium/domain/mesh/draco.h"
#include "dolium/domain/mesh/legacy_mesh.h"

namespace dolium::mesh {

Result<EncodedMesh> EncodeSingleLevel(const Mesh& mesh, unsigned bits) {
  DOLIUM_TRY_VOID(Validate(mesh));
  if (mesh.triangles.empty()) return InvalidArgument("a mesh without triangles");
  Point low = mesh.vertices.front();
  Point high = low;
  for (const Point& vertex : mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  EncodedMesh encoded;
  encoded.manifest.grid_origin = low;
  for (size_t d = 0; d < 3; ++d) {
    const float extent = high[d] - low[d];
    encoded.manifest.chunk_shape[d] = extent > 0 ? extent : 1;
  }
  const double steps = static_cast<double>((1U << bits) - 1);
  QuantizedMesh quantized;
  quantized.vertices.reserve(mesh.vertices.size());
  for (const Point& vertex : mesh.vertices) {
    auto& position = quantized.vertices.emplace_back();
    for (size_t d = 0; d < 3; ++d) {
      const double cells =
          (static_cast<double>(vertex[d]) - low[d]) / encoded.manifest.chunk_shape[d];
      position[d] =
          static_cast<uint32_t>(std::clamp(std::round(cells * steps), 0.0, steps));
    }
  }
  quantized.triangles = mesh.triangles;
  DOLIUM_TRY(encoded.fragments, EncodeFragment(std::move(quantized), bits));
  if (encoded.fragments.size() > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("a fragment of more than 2^32 bytes");
  }
  LevelOfDetail& level = encoded.manifest.levels.emplace_back();
  level.fragments = {{{0, 0, 0}, static_cast<uint32_t>(encoded.fragments.size())}};
  return encoded;
}

Result<MultiresWriter> MultiresWriter::Create(Location folder, MultiresInfo info,
                                              const WriterOptions& options) {
  DOLIUM_TRY_VOID(Validate(info));
  DOLIUM_TRY(auto writer, objects::ObjectWriter::Create(std::move(folder), info.sharding,
                                                        ".index", options));
  return MultiresWriter(std::move(info), std::move(writer));
}

Result<MultiresWriter> MultiresWriter::CreatePart(Location folder, MultiresInfo info,
                                                  const WriterOptions& options) {
  DOLIUM_TRY_VOID(Validate(info));
  DOLIUM_TRY(auto writer, objects::ObjectWriter::CreatePart(
                              std::move(folder), info.sharding, ".index", options));
  return MultiresWriter(std::move(info), std::move(writer));
}

Result<void> MultiresWriter::Add(uint64_t id, const EncodedMesh& mesh) {
  const auto context = [&] { return fmt::format("mesh {}", id); };
  auto manifest = WriteManifest(mesh.manifest);
  if (!manifest) return std::move(manifest).error().Within(context());
  const uint64_t listed = mesh.manifest.fragment_bytes();
  if (listed != mesh.fragments.size()) {
    return InvalidArgument(
        fmt::format("{}: fragments are {} bytes, its manifest lists {}", context(),
                    mesh.fragments.size(), listed));
  }
  return writer_.Add(id, *manifest, mesh.fragments);
}

Result<LegacyWriter> LegacyWriter::Create(Location folder) {
  DOLIUM_TRY(auto writer, objects::ObjectWriter::Create(folder, std::nullopt,
                                                        std::string(kLegacySuffix), {}));
  return LegacyWriter(std::move(folder), std::move(writer));
}

Result<void> LegacyWriter::Add(uint64_t id, const Mesh& mesh) {
  if (id == 0) return InvalidArgument("id 0 is no label");
  auto fragment = WriteLegacyFragment(mesh);
  if (!fragment) return std::move(fragment).error().Within(fmt::format("mesh {}", id));
  const std::string name = fmt::format("{}:0:0", id);
  DOLIUM_TRY(const std::string manifest, WriteLegacyManifest(std::span(&name, 1)));
  const Location object = folder_.Child(name);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, *fragment, Precondition::Absent()));
  return writer_.Add(id, AsBytes(manifest));
}

}  // namespace dolium::mesh
