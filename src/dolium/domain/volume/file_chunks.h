// Unsharded chunks: one object each, named by the voxels it covers.
//
// Local folders may hold a chunk as `<name>`, as `<name>.gz` (cloud-volume's way), or as
// gzip under its plain name (copies of what servers store). All are read, and a chunk
// that is changed keeps its form. Where both names exist, `.gz` counts, as it does for
// cloud-volume, and a change removes the other. Writers that want different names for new
// chunks do not make both: the second one finds what the first has made. Over HTTP a
// server is expected to know its names; `.gz` is asked for only until a chunk was found
// by its plain name.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "dolium/domain/volume/chunk_storage.h"

namespace dolium::volume {

class FileChunks : public ChunkStorage {
 public:
  FileChunks(Location folder, Encoding encoding, const Grid& grid,
             const ArrayShape& shape, uint64_t max_bytes, bool gzip_new);

  std::string Describe(const Vec3& cell) const override;
  std::vector<std::string> ObjectsOf(const Vec3& cell) const override;
  std::optional<Vec3> CellOf(std::string_view key) const override;
  Result<Bytes> Unwrap(std::string_view key, const Bytes& value) const override;
  Result<std::optional<Bytes>> Get(const Vec3& cell) const override;
  Result<std::optional<StoredChunk>> GetStored(const Vec3& cell) const override;
  Result<void> GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                       const Visitor& visit) const override;
  Result<void> Update(std::span<const ChunkUpdate> updates,
                      const WorkOptions& options) override;

 private:
  // How a chunk is stored: its bytes under its name, gzip under its name, or gzip as
  // `<name>.gz`.
  enum class Form : uint8_t { kPlain, kGzip, kGz };
  struct Found {
    StoredChunk chunk;
    Generation generation;
    Form form = Form::kPlain;
  };
  Location ObjectOf(const Vec3& cell, Form form) const;
  // `both`: asks for both names, where a server would be taken to know its own.
  Result<std::optional<Found>> Find(const Vec3& cell, bool both = false) const;
  // The form of a chunk, without reading all of it.
  Result<std::optional<Form>> FindForm(const Vec3& cell) const;
  Result<std::optional<WholeObject>> ReadObject(const Location& object) const;
  // Whether what is stored under a plain name has gzip around it, by its first bytes and
  // its length.
  bool IsGzip(const Vec3& cell, BytesView head, uint64_t size) const;
  Result<Bytes> VoxelsOf(const Vec3& cell, const StoredChunk& stored) const;
  Result<void> UpdateOne(const ChunkUpdate& update, const std::stop_token& stop);
  // One try. kConflict or kExists if somebody else was faster.
  Result<void> TryUpdate(const ChunkUpdate& update);
  Result<void> PutNew(const Vec3& cell, BytesView voxels);
  Result<void> RemoveDuplicate(const Vec3& cell);

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
