#include "dolium/domain/mesh/legacy_mesh.h"

#include <bit>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/byte_reader.h"
#include "dolium/bytes/store.h"
#include "dolium/container/json.h"

namespace dolium::mesh {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kNumberBytes = 4;
constexpr uint64_t kTripleBytes = 3 * kNumberBytes;

// Whether a name stays in the folder.
bool IsInside(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != name.npos) return false;
  const std::string normal = NormalizePath(name);
  return !normal.empty() && normal != "." && normal != ".." && !normal.starts_with("../");
}

}  // namespace

Result<std::vector<std::string>> ParseLegacyManifest(std::string_view text) {
  auto manifest = ParseJson(text);
  if (!manifest) return Corrupt(manifest.error().message);
  const auto fragments =
      manifest->is_object() ? manifest->find("fragments") : manifest->end();
  if (!manifest->is_object() || fragments == manifest->end() || !fragments->is_array()) {
    return Corrupt("no array \"fragments\" in it");
  }
  std::vector<std::string> names;
  for (const Json& name : *fragments) {
    if (!name.is_string()) return objects::UnexpectedMember("fragments", name, "names");
    names.push_back(name.get<std::string>());
    if (IsInside(names.back())) continue;
    return objects::UnexpectedMember("fragments", name, "a name within the folder");
  }
  return names;
}

Result<std::string> WriteLegacyManifest(std::span<const std::string> fragments) {
  for (const std::string& name : fragments) {
    if (IsInside(name)) continue;
    return InvalidArgument(
        fmt::format("fragment \"{}\": expected a name within the folder", name));
  }
  Json manifest;
  manifest["fragments"] = std::vector<std::string>(fragments.begin(), fragments.end());
  return DumpJsonLossy(manifest);
}

Result<Mesh> ParseLegacyFragment(BytesView bytes, const DracoLimits& limits) {
  if (IsDraco(bytes)) return DecodeDracoMesh(bytes, limits);
  ByteReader reader(bytes);
  DOLIUM_TRY(const uint32_t count, reader.Read<uint32_t>("num_vertices"));
  DOLIUM_TRY(const BytesView vertices,
             reader.ReadBytes(count * kTripleBytes, "vertex positions"));
  if (reader.remaining() % kTripleBytes != 0) {
    return Corrupt(fmt::format("{} bytes of triangles, not a multiple of {}",
                               reader.remaining(), kTripleBytes));
  }
  DOLIUM_TRY(const BytesView triangles,
             reader.ReadBytes(reader.remaining(), "triangles"));
  Mesh mesh;
  mesh.vertices.resize(count);
  const auto word = [](BytesView from, size_t row, size_t d) {
    return LoadLE<uint32_t>(from.data() + row * kTripleBytes + d * kNumberBytes);
  };
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    for (size_t d = 0; d < 3; ++d) {
      mesh.vertices[i][d] = std::bit_cast<float>(word(vertices, i, d));
    }
  }
  mesh.triangles.resize(triangles.size() / kTripleBytes);
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    for (size_t d = 0; d < 3; ++d) mesh.triangles[i][d] = word(triangles, i, d);
  }
  auto valid = Validate(mesh);
  if (!valid) return Corrupt(valid.error().message);
  return mesh;
}

Result<ByteVector> WriteLegacyFragment(const Mesh& mesh) {
  DOLIUM_TRY_VOID(Validate(mesh));
  if (mesh.vertices.size() > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument("a mesh of more than 2^32 vertices");
  }
  ByteVector bytes(kNumberBytes +
                   kTripleBytes * (mesh.vertices.size() + mesh.triangles.size()));
  StoreLE(bytes.data(), static_cast<uint32_t>(mesh.vertices.size()));
  size_t at = kNumberBytes;
  const auto add = [&](uint32_t word) {
    StoreLE(&bytes[at], word);
    at += kNumberBytes;
  };
  for (const Point& vertex : mesh.vertices) {
    for (const float number : vertex) add(std::bit_cast<uint32_t>(number));
  }
  for (const Triangle& triangle : mesh.triangles) {
    for (const uint32_t index : triangle) add(index);
  }
  return bytes;
}

}  // namespace dolium::mesh
