// LabelCells: the cells that the surfaces of labels go through, found in one pass over a
// block.
//
// A cell (x, y, z) lies between the centres of the voxels (x, y, z) and (x + 1, y + 1,
// z + 1). Blocks of cells side by side share no cell, so that their lists are joined as
// they are. What a cell has of a surface follows from which of its corners are inside
// (cell_table.h), so that a list of cells is all there is to know, in two bytes or so for
// each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxel_view.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::mesh {

// Cells of one label in one block.
struct CellRun {
  uint64_t label = 0;
  uint64_t cells = 0;
  // Voxels of the label, as far as its runs of voxels in x end in this block, less those
  // of runs that begin in it: what the blocks say adds up to the number of voxels. Wraps.
  uint64_t voxels = 0;
  uint64_t offset = 0;  // of its bytes among all
  uint64_t size = 0;
};

struct BlockCells {
  std::vector<CellRun> runs;  // by label
  ByteVector bytes;
};

// More cells than a block may have.
inline constexpr uint64_t kMaxBlockCells = uint64_t{1} << 28;

// Finds the cells of all labels but 0. `voxels` has one channel of an unsigned type, x
// fastest and dense, and one voxel more in each direction than there are cells; `first`
// is the cell at its beginning. kInvalidArgument unless it is so, and for kMaxBlockCells
// or more; kUnsupported for 2^28 labels or more.
Result<BlockCells> FindLabelCells(const volume::VoxelView& voxels,
                                  const volume::Vec3& first);

// Cells of a label, wherever they are, in scan order.
class CellList {
 public:
  // In each direction, from `origin` on.
  static constexpr int64_t kMaxSide = (int64_t{1} << 18) - 2;

  explicit CellList(const volume::Vec3& origin) : origin_(origin) {}

  const volume::Vec3& origin() const { return origin_; }
  // Coordinates from one before the origin, and the corners that are inside; ascending.
  //   case: bits 0 to 7; x: 8 to 25; y: 26 to 43; z: 44 to 61
  const std::vector<uint64_t>& packed() const { return packed_; }

  static constexpr unsigned kXShift = 8;
  static constexpr unsigned kYShift = 26;
  static constexpr unsigned kZShift = 44;

  // Adds those cells of a run that lie in `part`. `block` are the cells of the block.
  // kCorrupt if the bytes are no run of cells in it. Precondition: `part` begins one
  // before the origin or after that, and ends at most kMaxSide cells behind it.
  Result<void> Add(BytesView run, const volume::Box& block, const volume::Box& part);
  // After the last of them.
  void Sort();

 private:
  volume::Vec3 origin_;
  std::vector<uint64_t> packed_;
  std::vector<size_t> begins_;  // of each run
};

// The least box that has all cells of a run. kCorrupt as above.
Result<volume::Box> BoundsOfRun(BytesView run, const volume::Box& block);

}  // namespace dolium::mesh
