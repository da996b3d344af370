// CellFile: what a block found, by groups of labels, for those who make the meshes.
//
//   "dolcell1"                                     8 bytes
//   the cells of the block: begin, end             6 x int64
//   number of groups                               uint64
//   first run of each group, and how many runs     (groups + 1) x uint64
//   runs: label, cells, voxels, offset, size       5 x uint64 each, by group and label
//   their bytes, in the same order
//
// All numbers are little-endian. It belongs to one job and goes with it, and is read like
// any other input.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::mesh {

inline constexpr uint64_t kMaxCellGroups = uint64_t{1} << 16;

// The file of a block. Precondition: `group_of` gives numbers below `groups`, which is at
// most kMaxCellGroups.
ByteVector WriteCellFile(const BlockCells& cells, const volume::Box& block,
                         uint64_t groups,
                         const std::function<uint64_t(uint64_t label)>& group_of);

// A value. May be used from many threads.
class CellFile {
 public:
  // kNotFound if there is no such object, kCorrupt if it is no such file.
  static Result<CellFile> Open(Location object, uint64_t groups);

  const volume::Box& block() const { return block_; }
  uint64_t groups() const { return first_runs_.size() - 1; }

  // The runs of a group, by label; offsets are those of the file. kCorrupt if bytes lie
  // outside of it, or labels are not in order. Precondition: group < groups().
  Result<std::vector<CellRun>> ReadRuns(uint64_t group) const;

  // The bytes from the beginning of one run to the end of another, which follows it or is
  // the same.
  Result<Bytes> ReadCells(const CellRun& first, const CellRun& last) const;

 private:
  Location object_;
  uint64_t size_ = 0;
  volume::Box block_;
  std::vector<uint64_t> first_runs_;
};

}  // namespace dolium::mesh
