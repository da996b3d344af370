#include "dolium/domain/mesh/mesh_source.h"

#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/mesh/legacy_mesh.h"

namespace dolium::mesh {
namespace {

using objects::ObjectStorage;
using objects::StoredValue;

constexpr uint64_t kMaxInfoBytes = uint64_t{64} << 20;
constexpr std::string_view kManifestSuffix = ".index";

// The `@type` of an info; empty if it has none.
Result<std::string> TypeOf(std::string_view text) {
  const auto info = ParseJson(text);
  if (!info) return Corrupt(info.error().message);
  if (!info->is_object()) {
    return Corrupt(fmt::format("found {}, expected a JSON object", info->type_name()));
  }
  const auto type = info->find("@type");
  if (type == info->end()) return std::string();
  if (!type->is_string()) return objects::UnexpectedMember("@type", *type, "a string");
  return type->get<std::string>();
}

// The level that a caller means.
Result<size_t> LevelOf(const Manifest& manifest, int level) {
  const auto count = static_cast<int>(manifest.levels.size());
  const int chosen = level < 0 ? level + count : level;
  if (chosen < 0 || chosen >= count) {
    return InvalidArgument(
        fmt::format("level {} was asked for, it has {}", level, count));
  }
  return static_cast<size_t>(chosen);
}

}  // namespace

Result<void> AddFragment(const Manifest& manifest, size_t level, const Cell& cell,
                         unsigned bits, const QuantizedMesh& fragment, Mesh& mesh) {
  const Point& offset = manifest.levels[level].vertex_offset;
  const double steps = static_cast<double>((1U << bits) - 1);
  const double scale = std::ldexp(1.0, static_cast<int>(level));
  Mesh part;
  part.vertices.resize(fragment.vertices.size());
  for (size_t i = 0; i < part.vertices.size(); ++i) {
    for (size_t d = 0; d < 3; ++d) {
      // A whole cell first: equal for the last step of one and the first of the next.
      const double cells = cell[d] + fragment.vertices[i][d] / steps;
      part.vertices[i][d] =
          static_cast<float>(static_cast<double>(manifest.grid_origin[d]) + offset[d] +
                             manifest.chunk_shape[d] * scale * cells);
      if (!std::isfinite(part.vertices[i][d])) {
        return Corrupt(
            fmt::format("level {}: a vertex of the cell ({}, {}, {}) is beyond "
                        "the range of float32",
                        level, cell[0], cell[1], cell[2]));
      }
    }
  }
  part.triangles = fragment.triangles;
  return AppendMesh(mesh, part);
}

Result<Bytes> ReadLegacyFragmentFile(const Location& folder, const std::string& name,
                                     uint64_t limit) {
  DOLIUM_TRY(auto bytes, objects::ReadWrapped(folder.Child(name), limit));
  if (!bytes && name.starts_with(std::string(BaseName(folder.path)) + "/")) {
    DOLIUM_TRY(bytes, objects::ReadWrapped(folder.Parent().Child(name), limit));
  }
  if (!bytes) {
    return Corrupt(fmt::format("fragment {} is missing", folder.Child(name).Describe()));
  }
  return *std::move(bytes);
}

MeshSource::MeshSource(std::optional<MultiresInfo> info,
                       std::unique_ptr<ObjectStorage> storage)
    : info_(std::move(info)), storage_(std::move(storage)) {}

Result<MeshSource> MeshSource::Open(Location folder, uint64_t cache_bytes) {
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxInfoBytes));
  std::string type;
  if (bytes) {
    auto found = TypeOf(AsText(*bytes));
    if (!found) return std::move(found).error().Within(at.Describe());
    type = *std::move(found);
  }
  if (type == kMultiresType) {
    auto info = ParseMultiresInfo(AsText(*bytes));
    if (!info) return std::move(info).error().Within(at.Describe());
    std::optional<neuroglancer::ShardingInfo> sharding;
    if (info->sharding) {
      sharding = neuroglancer::ShardingInfo{*info->sharding, neuroglancer::Kind::kMesh,
                                            std::string(AsText(*bytes)), at.Describe()};
    }
    auto storage =
        std::make_unique<ObjectStorage>(std::move(folder), std::move(sharding),
                                        std::string(kManifestSuffix), cache_bytes);
    return MeshSource(*std::move(info), std::move(storage));
  }
  // Infos of igneous have no type where meshes are legacy ones.
  if (!type.empty() && type != kLegacyType) {
    return Corrupt(fmt::format("{}: @type: found {}, expected {} or {}", at.Describe(),
                               type, kMultiresType, kLegacyType));
  }
  if (!bytes) {
    const auto listed =
        folder.store->List(folder.path, [](std::string_view, bool) { return false; });
    if (!listed && listed.error().code == ErrorCode::kNotFound) return listed.error();
  }
  auto storage = std::make_unique<ObjectStorage>(std::move(folder), std::nullopt,
                                                 std::string(kLegacySuffix), cache_bytes);
  return MeshSource(std::nullopt, std::move(storage));
}

Result<std::optional<Manifest>> MeshSource::GetManifest(uint64_t id) const {
  if (!info_) {
    return InvalidArgument(fmt::format("{}: legacy meshes have no levels of detail",
                                       storage_->folder().Describe()));
  }
  std::optional<Manifest> manifest;
  const auto visit = [&](size_t, const StoredValue* value) -> Result<void> {
    if (value == nullptr) return {};
    auto parsed = ParseManifest(value->value);
    if (!parsed) return std::move(parsed).error().Within(storage_->Describe(id));
    manifest = *std::move(parsed);
    return {};
  };
  DOLIUM_TRY_VOID(storage_->ReadEach(std::span(&id, 1), {.jobs = 1}, visit));
  return manifest;
}

Result<std::vector<Bytes>> MeshSource::ReadFragments(const StoredValue& value,
                                                     const Manifest& manifest,
                                                     size_t level, uint64_t limit) const {
  const uint64_t total = manifest.fragment_bytes();
  std::vector<ByteRange> ranges = FragmentRanges(manifest, level);
  uint64_t wanted = 0;
  for (const ByteRange& range : ranges) wanted += range.length;
  if (wanted > limit) {
    return Corrupt(
        fmt::format("level {}: fragments of {} bytes, more than the limit of {}", level,
                    wanted, limit));
  }
  if (wanted == 0) return std::vector<Bytes>(ranges.size());
  const Location& folder = storage_->folder();
  std::string object = JoinPath(folder.path, std::to_string(value.id));
  dolium::ReadOptions options;
  if (value.chunk != nullptr) {
    // They end where the manifest begins, in the same generation of the shard.
    const uint64_t end = value.chunk->range.offset;
    const uint64_t index_bytes = info_->sharding->shard_index_bytes();
    const uint64_t room = end > index_bytes ? end - index_bytes : 0;
    if (total > room) {
      return Corrupt(fmt::format(
          "fragments take {} bytes, before the manifest there are {}", total, room));
    }
    object = value.chunk->object->name;
    options.if_generation = value.chunk->object->generation;
    for (ByteRange& range : ranges) range.offset += end - total;
  } else {
    // What the manifest claims is checked before there is memory for it.
    DOLIUM_TRY(const auto info, folder.store->Stat(object));
    if (!info) {
      return Corrupt(
          fmt::format("{}: fragments are missing", folder.store->Describe(object)));
    }
    if (info->size != 0 && total > info->size) {
      return Corrupt(fmt::format("fragments take {} bytes, {} has {}", total,
                                 folder.store->Describe(object), info->size));
    }
    options.if_generation = info->generation;
  }
  DOLIUM_TRY(auto read, folder.store->ReadRanges(object, ranges, options));
  return std::move(read.parts);
}

Result<Mesh> MeshSource::ReadMultires(const StoredValue& value,
                                      const MeshReadOptions& options) const {
  DOLIUM_TRY(const Manifest manifest, ParseManifest(value.value));
  DOLIUM_TRY(const size_t level, LevelOf(manifest, options.level));
  DOLIUM_TRY(const auto parts, ReadFragments(value, manifest, level, options.read.limit));
  const auto& fragments = manifest.levels[level].fragments;
  Mesh mesh;
  for (size_t i = 0; i < fragments.size(); ++i) {
    auto decoded =
        DecodeFragment(parts[i], info_->vertex_quantization_bits, options.draco);
    if (!decoded) {
      return std::move(decoded).error().Within(
          fmt::format("level {}, fragment {}", level, i));
    }
    DOLIUM_TRY_VOID(AddFragment(manifest, level, fragments[i].cell,
                                info_->vertex_quantization_bits, *decoded, mesh));
  }
  if (options.weld) WeldVertices(mesh);
  if (!options.stored_units) Transform(info_->transform, mesh);
  return mesh;
}

Result<Mesh> MeshSource::ReadLegacy(const StoredValue& value,
                                    const MeshReadOptions& options) const {
  if (options.level != 0 && options.level != -1) {
    return InvalidArgument(
        fmt::format("level {} was asked for, it has 1", options.level));
  }
  DOLIUM_TRY(const auto names, ParseLegacyManifest(AsText(value.value)));
  Mesh mesh;
  for (const std::string& name : names) {
    DOLIUM_TRY(const Bytes bytes,
               ReadLegacyFragmentFile(storage_->folder(), name, options.read.limit));
    auto part = ParseLegacyFragment(bytes, options.draco);
    if (!part) {
      return std::move(part).error().Within(storage_->folder().Child(name).Describe());
    }
    DOLIUM_TRY_VOID(AppendMesh(mesh, *part));
  }
  if (options.weld) WeldVertices(mesh);
  return mesh;
}

Result<void> MeshSource::GetEach(std::span<const uint64_t> ids,
                                 const MeshReadOptions& options,
                                 const Visitor& visit) const {
  return storage_->ReadEach(
      ids, options.read, [&](size_t index, const StoredValue* value) -> Result<void> {
        if (value == nullptr) return visit(index, std::nullopt);
        auto mesh = info_ ? ReadMultires(*value, options) : ReadLegacy(*value, options);
        if (!mesh) return std::move(mesh).error().Within(storage_->Describe(value->id));
        return visit(index, *std::move(mesh));
      });
}

Result<std::vector<std::optional<Mesh>>> MeshSource::GetMany(
    std::span<const uint64_t> ids, const MeshReadOptions& options) const {
  std::vector<std::optional<Mesh>> meshes(ids.size());
  DOLIUM_TRY_VOID(
      GetEach(ids, options, [&](size_t index, std::optional<Mesh> mesh) -> Result<void> {
        meshes[index] = std::move(mesh);
        return {};
      }));
  return meshes;
}

Result<std::optional<Mesh>> MeshSource::Get(uint64_t id,
                                            const MeshReadOptions& options) const {
  DOLIUM_TRY(auto meshes, GetMany(std::span(&id, 1), options));
  return std::move(meshes.front());
}

}  // namespace dolium::mesh
