#include "dolium/domain/mesh/making/label_meshes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/mesh/making/label_cells.h"

namespace dolium::mesh {
namespace {

using volume::Box;
using volume::Vec3;

constexpr int64_t kArrayBlock = 256;

struct ArrayBlock {
  Box cells;
  BlockCells found;
};

std::vector<ArrayBlock> BlocksOf(const Box& data) {
  std::vector<ArrayBlock> blocks;
  Vec3 at;
  for (at[2] = data.begin[2] - 1; at[2] < data.end[2]; at[2] += kArrayBlock) {
    for (at[1] = data.begin[1] - 1; at[1] < data.end[1]; at[1] += kArrayBlock) {
      for (at[0] = data.begin[0] - 1; at[0] < data.end[0]; at[0] += kArrayBlock) {
        Box cells{at, at};
        for (size_t d = 0; d < 3; ++d) {
          cells.end[d] = std::min(at[d] + kArrayBlock, data.end[d]);
        }
        blocks.push_back({cells, {}});
      }
    }
  }
  return blocks;
}

Result<void> FindIn(const volume::VoxelView& labels, const Box& data, ArrayBlock& block) {
  Box whole = block.cells;
  for (int64_t& end : whole.end) ++end;
  const volume::ArrayShape shape{whole.size(), 1, labels.shape.type};
  const auto bytes = shape.bytes();
  if (!bytes) return InvalidArgument("a block of more bytes than there are");
  ByteVector voxels(*bytes);
  const Box inside = whole.Intersect(data);
  CopyVoxels(labels.Part(data, inside),
             volume::MutableVoxelView::Dense(shape, voxels.data()).Part(whole, inside));
  DOLIUM_TRY(block.found, FindLabelCells(volume::VoxelView::Dense(shape, voxels.data()),
                                         block.cells.begin));
  return {};
}

}  // namespace

Result<void> MeshLabels(const volume::VoxelView& labels, const MakeOptions& options,
                        const LabelMeshVisitor& visit, const std::stop_token& stop) {
  const Box& data = options.voxels;
  if (labels.shape.size != data.size() || labels.shape.channels != 1 || data.empty()) {
    return InvalidArgument(
        fmt::format("an array of {} voxels with {} channels, expected "
                    "those of {}, and one",
                    volume::ToString(labels.shape.size), labels.shape.channels,
                    volume::ToString(data)));
  }
  std::vector<ArrayBlock> blocks = BlocksOf(data);
  DOLIUM_TRY_VOID(ParallelFor(
      blocks.size(), options.jobs,
      [&](size_t i) { return FindIn(labels, data, blocks[i]); }, stop));
  std::map<uint64_t, std::vector<LabelRun>> runs;
  for (const ArrayBlock& block : blocks) {
    for (const CellRun& run : block.found.runs) {
      runs[run.label].push_back(
          {block.cells, run.cells,
           BytesView(block.found.bytes).subspan(run.offset, run.size)});
    }
  }
  // The largest first, so that no thread is left with one at the end.
  std::vector<std::pair<uint64_t, uint64_t>> order;  // cells, label
  for (const auto& [label, parts] : runs) {
    uint64_t cells = 0;
    for (const LabelRun& run : parts) cells += run.cells;
    order.emplace_back(cells, label);
  }
  std::ranges::sort(order, std::greater<>());
  MakeOptions one = options;
  one.jobs = 1;
  return ParallelFor(
      order.size(), options.jobs,
      [&](size_t i) -> Result<void> {
        const uint64_t label = order[i].second;
        DOLIUM_TRY(Surface surface, MakeLabelSurface(runs.find(label)->second, one));
        for (Point& vertex : surface.mesh.vertices) {
          for (size_t d = 0; d < 3; ++d) {
            const double voxels = static_cast<double>(surface.origin[d]) +
                                  static_cast<double>(vertex[d]) / 2;
            vertex[d] = static_cast<float>(voxels * options.resolution[d]);
          }
        }
        return visit(label, std::move(surface.mesh));
      },
      stop);
}

}  // namespace dolium::mesh
