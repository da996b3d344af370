// WholeScale: one scale of a volume with all the copies that it has of its data.
//
// The info of a scale in files may list several chunk sizes, each a complete copy. A read
// takes the copy of which it needs least, a write goes to all of them. May be used from
// many threads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::volume {

class WholeScale {
 public:
  static Result<WholeScale> Open(const Volume& volume, size_t index,
                                 const StorageOptions& options = {});

  // The copy of the first chunk size.
  const Scale& first() const { return *copies_.front(); }

  // The copy of which a read of the box needs least.
  const std::shared_ptr<Scale>& BestFor(const Box& box) const;

  // As Scale::Read(), from the best copy.
  Result<uint64_t> Read(const Box& box, const MutableVoxelView& into,
                        const BoxOptions& options = {}) const;
  // As Scale::Write(), to all copies, a part of the box at a time: no more than about
  // 256 MiB, or a shard, is held encoded. Each part is atomic for itself.
  Result<void> Write(const Box& box, const VoxelView& from,
                     const BoxOptions& options = {});

  // Bytes of the voxels in the chunks that Read() of a box goes through.
  double BytesTouchedBy(const Box& box) const;

  // The size of the boxes, side by side from the first voxel on, that are best written
  // each by one writer: of shards, or else of blocks of chunks. kUnsupported if the
  // shards are no boxes.
  Result<Vec3> WriteUnit() const;

 private:
  explicit WholeScale(std::vector<std::shared_ptr<Scale>> copies)
      : copies_(std::move(copies)) {}

  std::vector<std::shared_ptr<Scale>> copies_;  // one for each chunk size
};

}  // namespace dolium::volume
