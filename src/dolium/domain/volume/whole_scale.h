// WholeScale: one scale of a volume, with all the copies that it has of its data.
//
// What Volume::OpenScale() gives. The info of a scale in files may list several chunk
// sizes, each a complete copy. A read takes the copy of which it needs least, a write
// goes to all of them. May be used from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

// The cells of what is written at once where there are no shards.
inline constexpr Vec3 kBlockCells = {8, 8, 8};

// The cells in x, y and z of what is best written at once, whether or not the grid is as
// large: of a shard, or of a block. kUnsupported if the shards are no boxes of cells.
Result<Vec3> PartSize(const Scale& scale);

class WholeScale {
 public:
  // One for each chunk size, in the order of the info. Precondition: there is one.
  explicit WholeScale(std::vector<std::shared_ptr<Scale>> copies)
      : copies_(std::move(copies)) {}

  // The copy of the first chunk size.
  const Scale& first() const { return *copies_.front(); }

  // What all copies have in common.
  const ScaleInfo& info() const { return first().info(); }
  const Box& bounds() const { return first().bounds(); }
  DataType type() const { return first().type(); }
  int64_t channels() const { return first().channels(); }
  ArrayShape ShapeOf(const Box& box, const BoxOptions& options = {}) const {
    return first().ShapeOf(box, options);
  }

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
  std::vector<std::shared_ptr<Scale>> copies_;
};

}  // namespace dolium::volume
