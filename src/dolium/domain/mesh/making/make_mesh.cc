#include "dolium/domain/mesh/making/make_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/mesh/making/cell_mesh.h"
#include "dolium/domain/mesh/making/level_fragments.h"
#include "dolium/domain/mesh/making/simplify.h"

namespace dolium::mesh {
namespace {

using volume::Box;
using volume::Vec3;

// What is larger is made in cubes of cells whose faces are at multiples of their side,
// and each is simplified before they are joined: numbers that are the same for every way
// to cut the volume into blocks.
constexpr int64_t kCubeSide = 512;
constexpr uint64_t kMostCells = uint64_t{1} << 23;
// Positions of the lattice stay exact in 32 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 23;

// The next level has no more than this share of the triangles of one: an area on the
// screen has as many, whatever the level.
constexpr double kShareOfLevel = 0.25;

// The side of the cubes in which a level is simplified, in positions. It grows with the
// levels, and the faces lie elsewhere each time, so that what was left on them goes.
SimplifyOptions OptionsOf(const MakeOptions& options, unsigned level) {
  SimplifyOptions simplify;
  for (size_t d = 0; d < 3; ++d) simplify.unit[d] = options.resolution[d] / 2;
  // The errors of all levels up to one add up to its own.
  const double scale = std::ldexp(1.0, static_cast<int>(level));
  simplify.error = level == 0 ? options.error : options.error * scale / 2;
  simplify.share = level == 0 ? 0 : kShareOfLevel;
  simplify.side = static_cast<float>(2 * kCubeSide * scale);
  simplify.shift = simplify.side / (level % 2 == 0 ? 2 : 3);
  simplify.jobs = options.jobs;
  return simplify;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The cells that triangles are made of: those between voxels of the data and, where
// surfaces are closed, those around it.
Box DomainOf(const MakeOptions& options) {
  Box domain = options.voxels;
  for (size_t d = 0; d < 3; ++d) {
    if (options.open) {
      --domain.end[d];
    } else {
      --domain.begin[d];
    }
  }
  return domain;
}

Box WithCellsBefore(Box part) {
  for (int64_t& begin : part.begin) --begin;
  return part;
}

Result<Mesh> MakePart(std::span<const LabelRun> runs, const Box& part) {
  CellList cells(part.begin);
  for (const LabelRun& run : runs) {
    DOLIUM_TRY_VOID(cells.Add(run.bytes, run.block, WithCellsBefore(part)));
  }
  cells.Sort();
  return MakeSurface(cells, part);
}

// In cubes, from first to last.
Result<Mesh> MakeInCubes(std::span<const LabelRun> runs, const Box& bounds,
                         const MakeOptions& options) {
  Box cubes;
  for (size_t d = 0; d < 3; ++d) {
    cubes.begin[d] = FloorDivide(bounds.begin[d], kCubeSide);
    cubes.end[d] = FloorDivide(bounds.end[d] - 1, kCubeSide) + 1;
  }
  // Those that a block of the label touches.
  std::set<Vec3> touched;  // z, y, x
  for (const LabelRun& run : runs) {
    const Box taken = run.block.Intersect(bounds);
    if (taken.empty()) continue;
    for (int64_t z = FloorDivide(taken.begin[2], kCubeSide);
         z <= FloorDivide(taken.end[2] - 1, kCubeSide); ++z) {
      for (int64_t y = FloorDivide(taken.begin[1], kCubeSide);
           y <= FloorDivide(taken.end[1] - 1, kCubeSide); ++y) {
        for (int64_t x = FloorDivide(taken.begin[0], kCubeSide);
             x <= FloorDivide(taken.end[0] - 1, kCubeSide); ++x) {
          touched.insert({z, y, x});
        }
      }
    }
  }
  const std::vector<Vec3> order(touched.begin(), touched.end());
  std::vector<Mesh> made(order.size());
  DOLIUM_TRY_VOID(ParallelFor(order.size(), options.jobs, [&](size_t i) -> Result<void> {
    Box part;
    for (size_t d = 0; d < 3; ++d) {
      part.begin[d] = order[i][2 - d] * kCubeSide;
      part.end[d] = part.begin[d] + kCubeSide;
    }
    part = part.Intersect(bounds);
    if (part.empty()) return {};
    std::vector<LabelRun> near;
    for (const LabelRun& run : runs) {
      if (!run.block.Intersect(WithCellsBefore(part)).empty()) near.push_back(run);
    }
    DOLIUM_TRY(Mesh mesh, MakePart(near, part));
    SimplifyOptions simplify = OptionsOf(options, 0);
    simplify.error /= 2;  // There is a second time.
    simplify.keep_borders = true;
    DOLIUM_TRY_VOID(Simplify(mesh, simplify));
    for (Point& vertex : mesh.vertices) {
      for (size_t d = 0; d < 3; ++d) {
        vertex[d] += static_cast<float>(2 * (part.begin[d] - bounds.begin[d]));
      }
    }
    made[i] = std::move(mesh);
    return {};
  }));
  Mesh all;
  for (Mesh& mesh : made) {
    DOLIUM_TRY_VOID(AppendMesh(all, mesh));
    mesh = {};
  }
  WeldVertices(all);
  return all;
}

// The cells of a level, those without triangles too: what is drawn needs all of its
// ancestors, and hides what is coarser where a finer one is listed.
void AddEmptyCells(Manifest& manifest, const std::vector<std::vector<Cell>>& finer) {
  const auto add = [](LevelOfDetail& level, const Cell& cell) {
    const auto at =
        std::ranges::lower_bound(level.fragments, cell, CellBefore, &FragmentEntry::cell);
    if (at == level.fragments.end() || at->cell != cell) {
      level.fragments.insert(at, {cell, 0});
    }
  };
  for (size_t i = 0; i + 1 < manifest.levels.size(); ++i) {
    for (const Cell& cell : finer[i + 1]) add(manifest.levels[i], cell);
  }
  for (size_t i = 0; i + 1 < manifest.levels.size(); ++i) {
    for (const FragmentEntry& fragment : manifest.levels[i].fragments) {
      add(manifest.levels[i + 1],
          {fragment.cell[0] >> 1, fragment.cell[1] >> 1, fragment.cell[2] >> 1});
    }
  }
}

// How many levels a mesh gets: until it is one cell.
unsigned LevelsOf(const std::array<float, 3>& extent, const std::array<float, 3>& cell,
                  unsigned most) {
  unsigned levels = 1;
  for (float scale = 1; levels < most; scale *= 2, ++levels) {
    bool is_one = true;
    for (size_t d = 0; d < 3; ++d) is_one = is_one && extent[d] <= cell[d] * scale;
    if (is_one) break;
  }
  return levels;
}

Result<void> AddLevel(LevelFragments made, float scale, EncodedMesh& encoded,
                      std::vector<std::vector<Cell>>& finer) {
  LevelOfDetail& level = encoded.manifest.levels.emplace_back();
  level.scale = scale;
  for (const LevelFragments::Fragment& fragment : made.fragments) {
    if (fragment.bytes.size() > std::numeric_limits<uint32_t>::max()) {
      return Unsupported("a fragment of more than 2^32 bytes");
    }
    level.fragments.push_back(
        {fragment.cell, static_cast<uint32_t>(fragment.bytes.size())});
    Append(encoded.fragments, fragment.bytes);
  }
  finer.push_back(std::move(made.finer_cells));
  return {};
}

// Moves a mesh so that its bounding box begins at 0, and returns its extent.
std::array<float, 3> MoveToZero(Surface& surface) {
  Point low = surface.mesh.vertices.front();
  Point high = low;
  for (const Point& vertex : surface.mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  // The origin is one of voxels, which have two steps each.
  for (size_t d = 0; d < 3; ++d) {
    low[d] = std::floor(low[d] / 2) * 2;
    surface.origin[d] += static_cast<int64_t>(low[d]) / 2;
  }
  for (Point& vertex : surface.mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) vertex[d] -= low[d];
  }
  return {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
}

}  // namespace

Result<Surface> MakeLabelSurface(std::span<const LabelRun> runs,
                                 const MakeOptions& options) {
  std::optional<Box> bounds;
  uint64_t cells = 0;
  for (const LabelRun& run : runs) {
    if (run.bytes.empty()) continue;
    DOLIUM_TRY(const Box found, BoundsOfRun(run.bytes, run.block));
    cells += run.cells;
    if (!bounds) bounds = found;
    for (size_t d = 0; d < 3; ++d) {
      bounds->begin[d] = std::min(bounds->begin[d], found.begin[d]);
      bounds->end[d] = std::max(bounds->end[d], found.end[d]);
    }
  }
  if (!bounds) return Surface{};
  const Box part = bounds->Intersect(DomainOf(options));
  if (part.empty()) return Surface{};
  int64_t extent = 0;
  for (const int64_t side : part.size()) extent = std::max(extent, side);
  if (extent >= kMaxExtent) {
    return Unsupported(
        fmt::format("cells {}, more than 2^23 in one direction", volume::ToString(part)));
  }
  Surface surface{part.begin, {}};
  SimplifyOptions simplify = OptionsOf(options, 0);
  if (cells > kMostCells || extent > 2 * kCubeSide) {
    DOLIUM_TRY(surface.mesh, MakeInCubes(runs, part, options));
    simplify.error /= 2;
  } else {
    DOLIUM_TRY(surface.mesh, MakePart(runs, part));
  }
  DOLIUM_TRY_VOID(Simplify(surface.mesh, simplify));
  return surface;
}

Result<std::optional<EncodedMesh>> EncodeLevels(Surface surface,
                                                const MakeOptions& options) {
  if (surface.mesh.triangles.empty()) return std::nullopt;
  const std::array<float, 3> extent = MoveToZero(surface);
  LevelGrid grid;
  grid.bits = options.bits;
  bool is_small = true;
  for (size_t d = 0; d < 3; ++d) {
    grid.cell[d] = static_cast<float>(2 * options.cell[d]);
    is_small = is_small && extent[d] <= grid.cell[d];
  }
  if (is_small) {
    // As exact as can be.
    for (size_t d = 0; d < 3; ++d) {
      grid.cell[d] = std::max(2.0F, std::ceil(extent[d] / 2) * 2);
    }
  }
  EncodedMesh encoded;
  for (size_t d = 0; d < 3; ++d) {
    const double unit = options.resolution[d] / 2;
    encoded.manifest.chunk_shape[d] = static_cast<float>(grid.cell[d] * unit);
    encoded.manifest.grid_origin[d] = static_cast<float>(
        static_cast<double>(surface.origin[d]) * options.resolution[d]);
  }
  const auto voxel = static_cast<float>(*std::ranges::max_element(options.resolution));
  std::vector<std::vector<Cell>> finer;
  const unsigned levels = LevelsOf(extent, grid.cell, options.levels);
  float scale = 1;
  for (unsigned level = 0; level < levels; ++level, scale *= 2) {
    if (level > 0) {
      DOLIUM_TRY_VOID(Simplify(surface.mesh, OptionsOf(options, level)));
      for (float& side : grid.cell) side *= 2;
      grid.halves = true;
    }
    const bool is_last = level + 1 == levels;
    DOLIUM_TRY(LevelFragments made,
               MakeFragments(is_last ? std::move(surface.mesh) : surface.mesh, grid,
                             options.jobs));
    // Coarser than that, it would vanish.
    if (made.fragments.empty()) break;
    DOLIUM_TRY_VOID(AddLevel(std::move(made), voxel * scale, encoded, finer));
  }
  if (encoded.manifest.levels.empty()) return std::nullopt;
  AddEmptyCells(encoded.manifest, finer);
  return encoded;
}

uint64_t MemoryToMake(uint64_t cells) {
  constexpr uint64_t kBytesOfCell = 400;
  return cells * kBytesOfCell;
}

}  // namespace dolium::mesh
