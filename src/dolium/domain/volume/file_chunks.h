// Unsharded chunks: one object each, named by the voxels it covers.
//
// Local folders may hold a chunk under its name, with an ending (kChunkForms), or as gzip
// or zstd under its plain name (copies of what servers store). All are read, and a chunk
// that is changed keeps its form. Where several names exist, the first of kChunkForms
// counts, as it does for cloud-volume, and a change removes the others. Writers that want
// different names for new chunks do not make both: the second one finds what the first
// has made. A chunk that is there with another ending, and not by a name that we know, is
// kUnsupported: nothing of the box is written.
//
// Over HTTP a server is expected to know its names; endings are asked for only until a
// chunk was found by its plain name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dolium/base/once.h"
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
  Result<bool> VisitOccupied(const BoxVisitor& visit,
                             const DamagedIndexVisitor& damaged) const override;
  Result<std::optional<std::vector<Vec3>>> FindOccupied(
      const Box& within, const DamagedIndexVisitor& damaged) const override;
  Result<void> Update(std::span<const ChunkUpdate> updates,
                      const WorkOptions& options) override;

 private:
  // Visits the cells whose names are in the folder, with any ending and perhaps more than
  // once, until `visit` fails. False if names do not suffice: it cannot be listed, has
  // more than `max_names`, or chunks in folders within folders.
  Result<bool> VisitNames(uint64_t max_names,
                          const std::function<Result<void>(const Vec3&)>& visit) const;
  struct Found {
    StoredChunk chunk;
    Generation generation;
    ChunkForm form;  // its wrapper is that of the chunk, also under the plain name
  };
  Location ObjectOf(const Vec3& cell, std::string_view suffix) const;
  Result<std::optional<Found>> Load(const Vec3& cell, ChunkForm form) const;
  // `all`: asks for all names, where a server would be taken to know its own.
  Result<std::optional<Found>> Find(const Vec3& cell, bool all = false) const;
  Result<std::optional<Found>> FindRemote(const Vec3& cell) const;
  // The form of a chunk, without reading all of it.
  Result<std::optional<ChunkForm>> FindForm(const Vec3& cell) const;
  // What stands around the voxels that are stored under a plain name, by their first
  // bytes and their length.
  Wrapper PlainWrapper(const Vec3& cell, BytesView head, uint64_t size) const;
  Result<Bytes> VoxelsOf(const Vec3& cell, const StoredChunk& stored) const;

  // kUnsupported if the chunk is there with one of these endings, or where
  // neuroglancer-scripts puts it: in folders within folders.
  Result<void> CheckNotForeign(const Vec3& cell,
                               std::span<const std::string> suffixes) const;
  // Endings of names in the folder that follow those of chunks, and that we do not know;
  // and those that we know to be foreign.
  Result<std::vector<std::string>> ListForeignSuffixes() const;
  Result<void> CheckWritable(std::span<const ChunkUpdate> updates,
                             const WorkOptions& options) const;

  Result<void> UpdateOne(const ChunkUpdate& update, const std::stop_token& stop);
  // One try. kConflict or kExists if somebody else was faster.
  Result<void> TryUpdate(const ChunkUpdate& update);
  Result<void> PutNew(const Vec3& cell, BytesView stored);

  const Location folder_;
  const Encoding encoding_;
  const Grid grid_;
  const ArrayShape shape_;
  const uint64_t max_bytes_;
  const ChunkForm new_form_;
  const bool is_local_;
  // Of a server, the form that the last chunk was found in; none: kChunkForms.size().
  mutable std::atomic<size_t> last_form_ = kChunkForms.size();
  mutable Once<std::vector<std::string>> foreign_suffixes_;
};

// Removes the chunk's objects under other names than that of `kept`: all of them, or
// those that do not count beside it.
enum class OtherForms : uint8_t { kAll, kShadowed };
Result<void> RemoveOtherForms(const Location& folder, const std::string& chunk,
                              const ChunkForm& kept, OtherForms which);

}  // namespace dolium::volume
