// ChunkStorage: where the chunks of one scale are kept, by cell of its grid.
//
// Either in shards or one to an object. What comes out and goes in are encoded voxels
// (encoding.h); what is around them is this layer's matter. Const methods may be called
// from many threads; so may Update, also from many processes: it loses nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {

// One chunk to be changed.
struct ChunkUpdate {
  Vec3 cell = {0, 0, 0};
  // The new encoded voxels, made from those that are there (nullopt: none are, or
  // needs_old is false). May be called from any thread, and again if somebody else was
  // faster.
  std::function<Result<ByteVector>(const std::optional<Bytes>& old)> make;
  bool needs_old = false;
};

// Encoded voxels as they are stored.
struct StoredChunk {
  Bytes bytes;
  Wrapper wrapper = Wrapper::kNone;  // around the voxels' own encoding
  // Encoded when it was asked for, of what was checked then: it can be decoded.
  bool is_fresh = false;
};

// How the work on many chunks is done.
struct WorkOptions {
  size_t jobs = 0;            // threads; 0: as suits the store
  std::stop_token stop = {};  // ends it between two chunks, as kCancelled
  // For GetEach(): called with each chunk that could not be got, from several threads at
  // once; what it returns counts instead of the error. Empty: the error does.
  std::function<Result<void>(size_t index, Error error)> failed = {};
};

class ChunkStorage {
 public:
  virtual ~ChunkStorage() = default;

  // The object that holds, or would hold, a chunk, and which one it is: for messages.
  virtual std::string Describe(const Vec3& cell) const = 0;

  // The objects that can hold a chunk, there or not, by their paths in the store.
  virtual std::vector<std::string> ObjectsOf(const Vec3& cell) const = 0;

  // The cell whose chunk has this key: the number in shards, or the name of a file.
  // Nullopt if no cell of the grid has it.
  virtual std::optional<Vec3> CellOf(std::string_view key) const = 0;

  // The encoded voxels of a value that was found by its key: undoes what is around them
  // in files. Precondition: the key is that of a cell.
  virtual Result<Bytes> Unwrap(std::string_view key, const Bytes& value) const = 0;

  // Nullopt if the chunk is not there.
  virtual Result<std::optional<Bytes>> Get(const Vec3& cell) const = 0;

  // The same without undoing what is around it.
  virtual Result<std::optional<StoredChunk>> GetStored(const Vec3& cell) const = 0;

  // Reads many and hands each over as soon as it is there: in any order, from several
  // threads at once.
  using Visitor = std::function<Result<void>(size_t index, std::optional<Bytes> chunk)>;
  virtual Result<void> GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                               const Visitor& visit) const = 0;

  // Where chunks are, by names and indexes alone: boxes of cells outside of which there
  // is none. False, and nothing is visited, if only a look at each cell would do.
  using BoxVisitor = std::function<Result<void>(const Box& cells)>;
  // Takes an index that is damaged, with the cells that it may list: their chunks are not
  // found. What it returns counts instead of the error. Empty: the error does.
  using DamagedIndexVisitor =
      std::function<Result<void>(const Box& cells, const Error& error)>;
  virtual Result<bool> VisitOccupied(const BoxVisitor& visit,
                                     const DamagedIndexVisitor& damaged) const;

  // The cells of a box that have a chunk, each once, by indexes alone. Nullopt if it is
  // as well to look at each cell.
  virtual Result<std::optional<std::vector<Vec3>>> FindOccupied(
      const Box& within, const DamagedIndexVisitor& damaged) const;

  // Replaces or adds chunks: atomically for each shard, or for each chunk if there are no
  // shards. No cell may come twice. kUnsupported for read-only stores.
  virtual Result<void> Update(std::span<const ChunkUpdate> updates,
                              const WorkOptions& options) = 0;
};

struct StorageOptions {
  uint64_t cache_bytes = uint64_t{64} << 20;  // for the indexes of shards
  // Without shards: a chunk that is new is stored as `<name>.gz`, as cloud-volume does on
  // local disks. Chunks that are there keep their form; writers may differ in this.
  bool gzip_files = false;
};

// `shape` is that of the largest chunk. Touches nothing.
std::shared_ptr<ChunkStorage> OpenChunkStorage(const Location& folder,
                                               const ScaleInfo& scale, const Grid& grid,
                                               const ArrayShape& shape,
                                               const StorageOptions& options);

// How many cells a box has, at most 2^64 - 1; and the box of one cell.
uint64_t CellCount(const Box& cells);
Box CellBox(const Vec3& cell);

// GetEach() by Get(), a run of cells at a time: neighbours share pages of memory, which
// threads had better not fight for.
Result<void> GetInRuns(const ChunkStorage& storage, std::span<const Vec3> cells,
                       const WorkOptions& options, const ChunkStorage::Visitor& visit);

// The most that an encoded chunk of this shape can sensibly take. More is damage.
uint64_t MaxEncodedBytes(const EncodingSpec& spec, ArrayShape shape);

}  // namespace dolium::volume
