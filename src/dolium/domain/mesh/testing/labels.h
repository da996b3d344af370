// Labels for tests of what is made of them, and what holds for surfaces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/making/make_mesh.h"
#include "dolium/domain/mesh/mesh.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::mesh {

// The label of a voxel, by the position of its centre.
using LabelAt = std::function<uint32_t(double x, double y, double z)>;

inline LabelAt Ball(const std::array<double, 3>& centre, double radius,
                    uint32_t label = 1) {
  return [=](double x, double y, double z) -> uint32_t {
    return std::hypot(x - centre[0], y - centre[1], z - centre[2]) < radius ? label : 0;
  };
}

// Around the z axis through the centre.
inline LabelAt Torus(const std::array<double, 3>& centre, double ring, double tube,
                     uint32_t label = 1) {
  return [=](double x, double y, double z) -> uint32_t {
    const double from_ring = std::hypot(x - centre[0], y - centre[1]) - ring;
    return std::hypot(from_ring, z - centre[2]) < tube ? label : 0;
  };
}

// A block's cells, and where they are.
struct FoundBlock {
  volume::Box cells;
  BlockCells found;
};

// What blocks of a side find of a box of voxels, zeros around it.
inline std::vector<FoundBlock> FindInBlocks(const LabelAt& label, const volume::Box& data,
                                            int64_t side) {
  std::vector<FoundBlock> blocks;
  volume::Vec3 at;
  for (at[2] = data.begin[2] - 1; at[2] < data.end[2]; at[2] += side) {
    for (at[1] = data.begin[1] - 1; at[1] < data.end[1]; at[1] += side) {
      for (at[0] = data.begin[0] - 1; at[0] < data.end[0]; at[0] += side) {
        FoundBlock& block = blocks.emplace_back();
        for (size_t d = 0; d < 3; ++d) {
          block.cells.begin[d] = at[d];
          block.cells.end[d] = std::min(at[d] + side, data.end[d]);
        }
        volume::Vec3 size = block.cells.size();
        for (int64_t& voxels : size) ++voxels;
        std::vector<uint32_t> voxels;
        for (int64_t z = at[2]; z < at[2] + size[2]; ++z) {
          for (int64_t y = at[1]; y < at[1] + size[1]; ++y) {
            for (int64_t x = at[0]; x < at[0] + size[0]; ++x) {
              const bool is_inside = data.Contains({{x, y, z}, {x + 1, y + 1, z + 1}});
              voxels.push_back(is_inside ? label(static_cast<double>(x) + 0.5,
                                                 static_cast<double>(y) + 0.5,
                                                 static_cast<double>(z) + 0.5)
                                         : 0);
            }
          }
        }
        const auto view =
            volume::VoxelView::Dense({size, 1, volume::DataType::kUint32},
                                     reinterpret_cast<const std::byte*>(voxels.data()));
        auto found = FindLabelCells(view, block.cells.begin);
        if (found) block.found = *std::move(found);
      }
    }
  }
  return blocks;
}

// What they found of a label.
inline std::vector<LabelRun> RunsOf(const std::vector<FoundBlock>& blocks,
                                    uint64_t label) {
  std::vector<LabelRun> runs;
  for (const FoundBlock& block : blocks) {
    for (const CellRun& run : block.found.runs) {
      if (run.label != label) continue;
      runs.push_back({block.cells, run.cells,
                      BytesView(block.found.bytes).subspan(run.offset, run.size)});
    }
  }
  return runs;
}

struct Topology {
  // Sides of triangles, with a direction, that no other triangle has the other way round.
  size_t open_sides = 0;
  size_t repeated_sides = 0;  // that two triangles have in one direction
  int64_t euler = 0;          // vertices - edges + triangles
  double volume = 0;          // in cubic units of positions; outside is where triangles
                              // are counterclockwise
};

inline Topology TopologyOf(const Mesh& mesh) {
  Topology topology;
  std::map<std::pair<uint32_t, uint32_t>, size_t> sides;
  std::set<std::pair<uint32_t, uint32_t>> edges;
  std::set<uint32_t> used;
  for (const Triangle& t : mesh.triangles) {
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t from = t[i];
      const uint32_t to = t[(i + 1) % 3];
      ++sides[{from, to}];
      edges.insert(std::minmax(from, to));
      used.insert(from);
    }
    const Point& a = mesh.vertices[t[0]];
    const Point& b = mesh.vertices[t[1]];
    const Point& c = mesh.vertices[t[2]];
    topology.volume += (double{a[0]} * (double{b[1]} * c[2] - double{b[2]} * c[1]) -
                        double{a[1]} * (double{b[0]} * c[2] - double{b[2]} * c[0]) +
                        double{a[2]} * (double{b[0]} * c[1] - double{b[1]} * c[0])) /
                       6;
  }
  for (const auto& [side, count] : sides) {
    const auto back = sides.find({side.second, side.first});
    if (back == sides.end() || back->second != count) ++topology.open_sides;
    if (count > 1) ++topology.repeated_sides;
  }
  topology.euler = static_cast<int64_t>(used.size()) -
                   static_cast<int64_t>(edges.size()) +
                   static_cast<int64_t>(mesh.triangles.size());
  return topology;
}

}  // namespace dolium::mesh
