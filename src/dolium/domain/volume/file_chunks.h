// Unsharded chunks: one object each, named by the voxels it covers.
//
// Local folders may hold a chunk as `<name>`, as `<name>.gz` (cloud-volume's way), or as
// gzip under its plain name (copies of what servers store). All are read; where both
// names exist, `.gz` counts, as it does for cloud-volume. Over HTTP a server is expected
// to know its names; `.gz` is asked for only until a chunk was found by its plain name.
#pragma once

#include <atomic>
#include <string>

#include "dolium/domain/volume/chunk_storage.h"

namespace dolium::volume {

class FileChunks : public ChunkStorage {
 public:
  FileChunks(Location folder, Encoding encoding, const Grid& grid,
             const ArrayShape& shape, uint64_t max_bytes, bool gzip_new);

  std::string Describe(const Vec3& cell) const override;
  std::optional<Vec3> CellOf(std::string_view key) const override;
  Result<Bytes> Unwrap(std::string_view key, const Bytes& value) const override;
  Result<std::optional<Bytes>> Get(const Vec3& cell) const override;
  Result<std::optional<StoredChunk>> GetStored(const Vec3& cell) const override;
  Result<void> GetEach(std::span<const Vec3> cells, size_t jobs,
                       const Visitor& visit) const override;
  Result<void> Update(std::span<const ChunkUpdate> updates, size_t jobs) override;

 private:
  // A chunk as it is stored.
  struct Found {
    StoredChunk chunk;
    Generation generation;
    bool is_gz = false;  // by name
  };
  Result<std::optional<Found>> Find(const Vec3& cell) const;
  Result<std::optional<WholeObject>> ReadObject(const Location& object) const;
  // Whether what is stored under a plain name has gzip around it.
  bool IsGzip(const Vec3& cell, BytesView stored) const;
  Result<Bytes> VoxelsOf(const Vec3& cell, const StoredChunk& stored) const;
  // The form that a chunk has, or that a new one gets.
  Result<bool> IsKeptAsGz(const std::string& name) const;
  Result<void> UpdateOne(const ChunkUpdate& update);

  const Location folder_;
  const Encoding encoding_;
  const Grid grid_;
  const ArrayShape shape_;
  const uint64_t max_bytes_;
  const bool gzip_new_;
  const bool is_local_;
  mutable std::atomic<bool> plain_seen_{false};
};

}  // namespace dolium::volume
