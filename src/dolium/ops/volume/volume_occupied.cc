#include "dolium/ops/volume/volume_occupied.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "dolium/domain/volume/chunk_source.h"

namespace dolium::volume {
namespace {

// Parts by number, each once.
class PartSet {
 public:
  PartSet(const ScalePair& pair, PartLayout layout) : pair_(pair), layout_(layout) {}

  Result<void> Add(const Box& source_cells) {
    const Box cells = pair_.TargetCells(source_cells);
    // Neighbours mostly belong to the part that was added last.
    if (cells.empty() || last_.Contains(cells)) return {};
    DOLIUM_TRY(const auto parts, PartsTouching(pair_.target, layout_, cells));
    for (const Part& part : parts) parts_.emplace(part.number, part.cells);
    if (!parts.empty()) last_ = parts.back().cells;
    return {};
  }

  std::vector<Part> Take() const {
    std::vector<Part> parts;
    parts.reserve(parts_.size());
    for (const auto& [number, cells] : parts_) parts.push_back({number, cells});
    return parts;
  }

 private:
  const ScalePair& pair_;
  const PartLayout layout_;
  std::map<uint64_t, Box> parts_;
  Box last_;
};

}  // namespace

Box ScalePair::TargetCells(const Box& source_cells) const {
  const Box voxels = source.grid().VoxelsOf(source_cells);
  return target.grid().CellsTouching(DownsampledBounds(voxels, factor));
}

Box ScalePair::SourceCells(const Box& target_cells) const {
  const Box voxels = FinerVoxels(target.grid().VoxelsOf(target_cells), factor);
  return source.grid().CellsTouching(voxels);
}

Result<std::optional<std::vector<Part>>> FindOccupiedParts(
    const ScalePair& pair, PartLayout layout,
    const ChunkStorage::DamagedIndexVisitor& damaged) {
  PartSet parts(pair, layout);
  DOLIUM_TRY(const bool is_known,
             pair.source.storage().VisitOccupied(
                 [&](const Box& cells) { return parts.Add(cells); }, damaged));
  if (!is_known) return std::nullopt;
  return parts.Take();
}

Result<std::vector<Part>> PartsFrom(std::span<const Part> source, const ScalePair& pair,
                                    PartLayout layout) {
  PartSet parts(pair, layout);
  for (const Part& part : source) DOLIUM_TRY_VOID(parts.Add(part.cells));
  return parts.Take();
}

void SortCells(std::vector<Vec3>& cells) {
  std::ranges::sort(
      cells, {}, [](const Vec3& cell) { return std::tuple(cell[2], cell[1], cell[0]); });
  const auto repeated = std::ranges::unique(cells);
  cells.erase(repeated.begin(), repeated.end());
}

Result<std::vector<Vec3>> FindOccupiedCells(
    const ScalePair& pair, const Box& cells,
    const ChunkStorage::DamagedIndexVisitor& damaged) {
  DOLIUM_TRY(const auto occupied,
             pair.source.storage().FindOccupied(pair.SourceCells(cells), damaged));
  if (!occupied) return CellsOf(cells);
  std::vector<Vec3> found;
  for (const Vec3& cell : *occupied) {
    const Box one = {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
    std::ranges::copy(CellsOf(pair.TargetCells(one).Intersect(cells)),
                      std::back_inserter(found));
  }
  SortCells(found);
  return found;
}

}  // namespace dolium::volume
