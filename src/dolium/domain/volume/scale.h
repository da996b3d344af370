// Scale: one scale of a volume, as an array of voxels.
//
// Reads and writes any box, whatever chunks it touches. Coordinates are absolute: the
// voxel offset is included. Const methods may be called from many threads; Write too, and
// from many processes: where boxes share a chunk or a shard, nothing is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::volume {

// Whether the error of a chunk means that it is damaged, and not absent or out of reach.
bool IsChunkDamage(const Error& error);

class Scale;

// Takes a chunk that is damaged; the message says which voxels it has.
using DamageVisitor =
    std::function<void(const Scale& scale, const Vec3& cell, const Error& error)>;

struct BoxOptions {
  bool missing_is_error = false;  // kNotFound where a chunk is not there; else zeros
  size_t jobs = 0;                // threads; 0: as suits the store
  // Those that the view has; nullopt: all.
  std::optional<ChannelRange> channels = std::nullopt;
  // For reads: the view has every step'th voxel of the box, from its first one on.
  Vec3 step = {1, 1, 1};
  // Ends it between two chunks, as kCancelled. Shards that are written by then stay.
  std::stop_token stop = {};
  // For reads: takes chunks that are damaged, from any thread; their voxels are zero
  // then. Empty: damage is an error.
  DamageVisitor skip_damaged = {};
  // For writes: of the view, those voxels alone whose number here, of uint8, is not 0; of
  // the view's shape. Chunks without one are left alone.
  std::optional<VoxelView> mask = std::nullopt;
};

class Scale {
 public:
  // `folder` is that of the info. `chunking` chooses among the chunk sizes of an
  // unsharded scale. kUnsupported if its encoding cannot be read. Touches nothing.
  static Result<std::shared_ptr<Scale>> Open(const Location& folder,
                                             const VolumeInfo& info, size_t index,
                                             size_t chunking = 0,
                                             const StorageOptions& options = {});

  // One whose chunks are kept elsewhere, as those of an export are.
  using MakeStorage = std::function<std::shared_ptr<ChunkStorage>(const Grid& grid)>;
  static Result<std::shared_ptr<Scale>> OpenWith(const Location& folder,
                                                 const VolumeInfo& info, size_t index,
                                                 const MakeStorage& make);

  const ScaleInfo& info() const { return info_; }
  const Grid& grid() const { return grid_; }
  const Box& bounds() const { return grid_.bounds(); }
  const Location& folder() const { return folder_; }
  const ChunkStorage& storage() const { return *storage_; }
  DataType type() const { return type_; }
  int64_t channels() const { return channels_; }
  ArrayShape ShapeOf(const Box& box) const { return {box.size(), channels_, type_}; }
  // That of the view for a box with these channels and steps, which must be 1 or more.
  ArrayShape ShapeOf(const Box& box, const BoxOptions& options) const;

  // Returns how many of the chunks that have a voxel of the view were there; the others'
  // voxels are zero. Chunks without one are not looked at. kInvalidArgument if the box is
  // not within the bounds, the channels are not those of the scale, a step is below 1, or
  // the view has another shape.
  Result<uint64_t> Read(const Box& box, const MutableVoxelView& into,
                        const BoxOptions& options = {}) const;

  // Chunks that the box covers with all channels are replaced, others are read, changed
  // and written again, all atomically for each shard (or chunk, without shards). Lossy
  // encodings change the voxels around the box, too. Errors as for Read(); there are no
  // steps.
  Result<void> Write(const Box& box, const VoxelView& from,
                     const BoxOptions& options = {});

  // One chunk, dense.
  Result<void> DecodeChunk(const Vec3& cell, BytesView encoded,
                           MutableBytes voxels) const;
  Result<ByteVector> EncodeChunk(const Vec3& cell, BytesView voxels) const;

  // The error with the object, the chunk and its voxels in front.
  Error AboutChunk(const Vec3& cell, const Error& error) const;

 private:
  Scale(Location folder, ScaleInfo info, Grid grid, DataType type, int64_t channels,
        std::shared_ptr<ChunkStorage> storage);

  // What a read takes of one chunk.
  struct ChunkIntersection {
    Vec3 cell = {0, 0, 0};
    Box voxels;              // from the first that is taken to the last
    Vec3 count = {1, 1, 1};  // of those that are taken
    Vec3 at = {0, 0, 0};     // place of the first in the view
  };
  ChannelRange ChannelsOf(const BoxOptions& options) const;
  Result<void> CheckBox(const Box& box, const ArrayShape& shape,
                        const BoxOptions& options) const;
  std::vector<ChunkIntersection> IntersectionsOf(const Box& box, const Vec3& step) const;
  Result<void> CopyIntersection(const ChunkIntersection& taken,
                                const std::optional<Bytes>& chunk,
                                const MutableVoxelView& into,
                                const BoxOptions& options) const;
  Result<ByteVector> Merge(const Vec3& cell, const std::optional<Bytes>& old,
                           const Box& box, const VoxelView& from,
                           const BoxOptions& options) const;
  // The part of the view that the voxels of one chunk go to.
  static MutableVoxelView ViewOf(const ChunkIntersection& taken,
                                 const MutableVoxelView& into);
  Error MissingChunk(const Vec3& cell) const;

  const Location folder_;
  const ScaleInfo info_;
  const Grid grid_;
  const DataType type_;
  const int64_t channels_;
  const std::shared_ptr<ChunkStorage> storage_;
};

// The cells of a box, x fastest.
std::vector<Vec3> CellsOf(const Box& cells);

}  // namespace dolium::volume
