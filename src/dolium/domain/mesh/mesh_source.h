// MeshSource: the meshes of a folder, by id, however they are stored.
//
//   auto source = MeshSource::Open(folder);        multi-resolution or legacy, sharded or
//   not source->Get(720575940)                         its finest level, in nanometres
//
// All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/mesh/draco.h"
#include "dolium/domain/mesh/mesh.h"
#include "dolium/domain/mesh/multires_info.h"
#include "dolium/domain/mesh/multires_manifest.h"
#include "dolium/domain/objects/object_storage.h"

namespace dolium::mesh {

enum class MeshKind : uint8_t { kMultires, kLegacy };

struct MeshReadOptions {
  // 0 is the finest level, -1 the coarsest, -2 the one before that. Legacy meshes have
  // one.
  int level = 0;
  // Positions as stored, in the units of the stored model, and not in nanometres. Those
  // of legacy meshes are in nanometres anyhow.
  bool stored_units = false;
  // Joins the fragments at their borders.
  bool weld = true;
  DracoLimits draco = {};
  objects::ReadManyOptions read = {};
};

class MeshSource {
 public:
  static constexpr uint64_t kCacheBytes = uint64_t{64} << 20;

  // A folder without an info is one of legacy meshes. kCorrupt if the info is of neither
  // kind, or damaged; kNotFound if there is no such folder, where that can be seen.
  static Result<MeshSource> Open(Location folder, uint64_t cache_bytes = kCacheBytes);

  MeshKind kind() const { return info_ ? MeshKind::kMultires : MeshKind::kLegacy; }
  // Null for legacy meshes.
  const MultiresInfo* info() const { return info_ ? &*info_ : nullptr; }
  const objects::ObjectStorage& storage() const { return *storage_; }

  Result<std::vector<uint64_t>> ListIds(const std::stop_token& stop = {}) const {
    return storage_->ListIds(stop);
  }

  // The manifest of a multi-resolution mesh; nullopt if there is no such mesh.
  // kInvalidArgument for legacy meshes.
  Result<std::optional<Manifest>> GetManifest(uint64_t id) const;

  // Nullopt if there is no such mesh. kInvalidArgument if it has no such level.
  Result<std::optional<Mesh>> Get(uint64_t id, const MeshReadOptions& options = {}) const;
  Result<std::vector<std::optional<Mesh>>> GetMany(
      std::span<const uint64_t> ids, const MeshReadOptions& options = {}) const;

  // As GetMany(), without keeping them: `visit(index, mesh)` is called in any order, from
  // several threads at once. An error of one ends it.
  using Visitor = std::function<Result<void>(size_t index, std::optional<Mesh> mesh)>;
  Result<void> GetEach(std::span<const uint64_t> ids, const MeshReadOptions& options,
                       const Visitor& visit) const;

 private:
  MeshSource(std::optional<MultiresInfo> info,
             std::unique_ptr<objects::ObjectStorage> storage);

  Result<Mesh> ReadMultires(const objects::StoredValue& value,
                            const MeshReadOptions& options) const;
  Result<std::vector<Bytes>> ReadFragments(const objects::StoredValue& value,
                                           const Manifest& manifest, size_t level,
                                           uint64_t limit) const;
  Result<Mesh> ReadLegacy(const objects::StoredValue& value,
                          const MeshReadOptions& options) const;

  std::optional<MultiresInfo> info_;
  std::unique_ptr<objects::ObjectStorage> storage_;
};

// Adds a fragment to a mesh in units of the stored model: what a client makes of its
// positions. Precondition: level < manifest.levels.size().
Result<void> AddFragment(const Manifest& manifest, size_t level, const Cell& cell,
                         unsigned bits, const QuantizedMesh& fragment, Mesh& mesh);

// A fragment of legacy meshes, whatever is around it: beside the manifest, or as named
// from the folder above, as some of cloud-volume's are. kCorrupt if it is missing.
Result<Bytes> ReadLegacyFragmentFile(const Location& folder, const std::string& name,
                                     uint64_t limit);

}  // namespace dolium::mesh
