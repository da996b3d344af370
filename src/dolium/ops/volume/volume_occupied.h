// What of a scale that is written can have voxels, by where its source has chunks.
//
// Volumes are sparse: an export may have two blocks in a space of many million. So work
// goes by the lists that storages have (ChunkStorage::VisitOccupied), as far as they have
// any, and not by the cells of the grid.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/ops/volume/volume_parts.h"

namespace dolium::volume {

// A scale that is written, from one whose voxels are the same (factor 1,1,1) or finer.
struct ScalePair {
  const Scale& source;
  const Scale& target;
  Vec3 factor = {1, 1, 1};

  // The cells of the target that voxels of these cells of the source belong to.
  Box TargetCells(const Box& source_cells) const;
  // The cells of the source that these cells of the target are made of.
  Box SourceCells(const Box& target_cells) const;
};

// The parts of the target that can have a chunk, by number. Nullopt if only a look at
// each cell of the source would do. `damaged` is as in ChunkStorage, here and below.
Result<std::optional<std::vector<Part>>> FindOccupiedParts(
    const ScalePair& pair, PartLayout layout,
    const ChunkStorage::DamagedIndexVisitor& damaged = {});
// The same if just these parts of the source can have chunks.
Result<std::vector<Part>> PartsFrom(std::span<const Part> source, const ScalePair& pair,
                                    PartLayout layout);

// The cells within a box of the target's that can have a chunk, x fastest.
Result<std::vector<Vec3>> FindOccupiedCells(
    const ScalePair& pair, const Box& cells,
    const ChunkStorage::DamagedIndexVisitor& damaged = {});

// Sorts cells, x fastest, and drops repeated ones.
void SortCells(std::vector<Vec3>& cells);

}  // namespace dolium::volume
