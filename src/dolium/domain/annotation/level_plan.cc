#include "dolium/domain/annotation/level_plan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/annotation/cell_grid.h"

namespace dolium::annotation {
namespace {

// Counts take 4 bytes for each cell. A level of more cells is not made: the last one
// takes all that is left, however much that is for a cell.
constexpr uint64_t kMaxCells = uint64_t{1} << 24;

// Sides shorter than the longest by more than this stay whole when cells are halved, so
// that cells come close to cubes.
constexpr double kHalvedAbove = 0.7071067811865476;

double PartOf(uint64_t random) {
  return std::ldexp(static_cast<double>(random >> 11), -53);
}

// Sides of a cell in metres, seconds, ... if all dimensions have the same unit, and else
// as they are.
std::vector<double> SidesOf(const AnnotationInfo& info, const SpatialLevel& level) {
  const std::vector<Dimension>& dimensions = info.dimensions;
  const bool is_same = std::ranges::all_of(dimensions, [&](const Dimension& one) {
    return one.unit == dimensions.front().unit;
  });
  std::vector<double> sides = level.chunk_size;
  for (size_t d = 0; d < sides.size() && is_same; ++d) sides[d] *= dimensions[d].scale;
  return sides;
}

SpatialLevel HalveCells(const AnnotationInfo& info, const SpatialLevel& level) {
  SpatialLevel finer = level;
  std::vector<double> sides = SidesOf(info, level);
  for (size_t d = 0; d < sides.size(); ++d) {
    // All are at one place in this dimension.
    if (info.lower_bound[d] == info.upper_bound[d]) sides[d] = 0;
  }
  const double longest = *std::ranges::max_element(sides);
  for (size_t d = 0; d < sides.size(); ++d) {
    if (sides[d] == 0 || sides[d] <= longest * kHalvedAbove) continue;
    finer.grid_shape[d] *= 2;
    finer.chunk_size[d] /= 2;
  }
  return finer;
}

// Where annotations are in more cells than this, each, smaller cells would have no fewer
// of them: such a level is the last.
constexpr uint64_t kMaxCellsOfEach = 8;

struct CellCounts {
  uint64_t most = 0;         // in a cell
  uint64_t cells = 0;        // that have any
  uint64_t in_cells = 0;     // of all cells together
  uint64_t annotations = 0;  // that were counted
};

// How many of those at or above the threshold are in each cell.
Result<CellCounts> CountCells(const AnnotationInfo& info, const SpatialLevel& level,
                              double threshold, const RecordLog& log,
                              const LevelOptions& options) {
  const CellGrid grid(info.lower_bound, level);
  // Codes have holes where sides are no powers of two; ours are.
  const uint64_t cells = grid.cell_count();
  std::vector<std::atomic<uint32_t>> counts(static_cast<size_t>(cells));
  std::atomic<uint64_t> annotations = 0;
  const auto count = [&](uint64_t code) {
    counts[static_cast<size_t>(code)].fetch_add(1, std::memory_order_relaxed);
  };
  DOLIUM_TRY_VOID(ParallelFor(
      log.block_count(), options.jobs,
      [&](size_t block) -> Result<void> {
        uint64_t counted = 0;
        auto read = log.Read(block, [&](const LoggedRecord& record) -> Result<void> {
          if (PartOf(RandomOf(record.id, options.seed)) < threshold) return {};
          ++counted;
          if (info.type == AnnotationType::kPoint) {
            count(grid.CodeOfPoint(record.geometry));
          } else {
            grid.VisitCells(
                info.type, record.geometry,
                [&](std::span<const uint64_t> cell) { count(grid.Encode(cell)); });
          }
          return {};
        });
        annotations += counted;
        return read;
      },
      options.stop));
  CellCounts sum{.annotations = annotations};
  for (const auto& number : counts) {
    const uint32_t there = number.load(std::memory_order_relaxed);
    sum.most = std::max<uint64_t>(sum.most, there);
    sum.cells += there > 0 ? 1 : 0;
    sum.in_cells += there;
  }
  return sum;
}

}  // namespace

uint64_t RandomOf(uint64_t id, uint64_t seed) {
  // The mixing of SplitMix64: a bijection of ids for each seed.
  uint64_t x = id + 0x9e3779b97f4a7c15 * (seed + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

size_t LevelPlan::LevelOf(uint64_t random) const {
  const double part = PartOf(random);
  size_t level = 0;
  while (level + 1 < levels.size() && part >= levels[level].threshold) ++level;
  return level;
}

Result<LevelPlan> PlanLevels(const AnnotationInfo& info, const RecordLog& log,
                             const LevelOptions& options) {
  const auto limit = static_cast<double>(std::max<uint64_t>(options.limit, 1));
  SpatialLevel next;
  for (size_t d = 0; d < info.rank(); ++d) {
    const double side = info.upper_bound[d] - info.lower_bound[d];
    next.grid_shape.push_back(1);
    next.chunk_size.push_back(side > 0 ? side : 1);
  }
  LevelPlan plan;
  double threshold = 0;
  while (true) {
    next.key = fmt::format("spatial{}", plan.levels.size());
    DOLIUM_TRY(const CellCounts counts, CountCells(info, next, threshold, log, options));
    LevelPlan::Level level{next, 1, counts.cells};
    const SpatialLevel finer = HalveCells(info, next);
    const bool is_last = counts.most <= options.limit || finer == next ||
                         counts.in_cells / kMaxCellsOfEach > counts.annotations ||
                         CellGrid(info.lower_bound, finer).cell_count() > kMaxCells;
    level.level.limit = std::max<uint64_t>(
        1, is_last ? counts.most : std::min<uint64_t>(counts.most, options.limit));
    if (!is_last) {
      threshold += (1 - threshold) * limit / static_cast<double>(counts.most);
      level.threshold = threshold;
    }
    plan.levels.push_back(std::move(level));
    if (is_last) return plan;
    next = finer;
  }
}

}  // namespace dolium::annotation
