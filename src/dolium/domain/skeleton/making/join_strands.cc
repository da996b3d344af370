#include "dolium/domain/skeleton/making/join_strands.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/skeleton/making/distance.h"
#include "dolium/domain/skeleton/making/line_graph.h"
#include "dolium/domain/skeleton/making/line_paths.h"

namespace dolium::skeleton {
namespace {

constexpr std::string_view kRadius = "radius";
// As other programs name it.
constexpr std::string_view kArea = "cross_sectional_area";

void AddNumber(float number, ByteVector& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(uint32_t));
  StoreLE(&bytes[at], std::bit_cast<uint32_t>(number));
}

}  // namespace

SkeletonInfo InfoOfMade(bool cross_sections) {
  SkeletonInfo info;
  info.attributes.push_back({.id = std::string(kRadius)});
  if (cross_sections) info.attributes.push_back({.id = std::string(kArea)});
  return info;
}

Skeleton JoinStrands(std::span<const SkeletonStrand> strands,
                     const JoinOptions& options) {
  LineGraph lines = LineGraph::Of(strands, options.resolution);
  const bool is_cut = std::ranges::any_of(strands, &SkeletonStrand::is_cut);
  if (is_cut) lines = ChoosePaths(lines, options);
  if (options.tick > 0) lines = WithoutTicks(lines, options.tick);
  if (options.dust > 0) lines = WithoutDust(lines, options.dust);
  Skeleton skeleton;
  skeleton.edges = lines.edges();
  const bool has_areas = !strands.empty() && !strands.front().areas.empty();
  skeleton.attributes.resize(has_areas ? 2 : 1);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    const LineVertex& vertex = lines.vertices()[i];
    skeleton.vertices.push_back(lines.PositionOf(i));
    AddNumber(vertex.radius < kNoBoundary ? vertex.radius : 0, skeleton.attributes[0]);
    if (has_areas) AddNumber(vertex.area, skeleton.attributes[1]);
  }
  return skeleton;
}

Result<std::vector<NamedSkeleton>> MakeSkeletons(const LabelBlock& block,
                                                 const StrandOptions& options,
                                                 const JoinOptions& join) {
  const BlockCore core = {.box = {{0, 0, 0}, block.size}};
  DOLIUM_TRY(auto strands, MakeStrands(block, core, options));
  std::ranges::stable_sort(strands, {}, &SkeletonStrand::id);
  std::vector<std::span<const SkeletonStrand>> labels;
  for (size_t i = 0; i < strands.size();) {
    const size_t begin = i;
    while (i < strands.size() && strands[i].id == strands[begin].id) ++i;
    labels.push_back(std::span<const SkeletonStrand>(strands).subspan(begin, i - begin));
  }
  std::vector<NamedSkeleton> skeletons(labels.size());
  DOLIUM_TRY_VOID(ParallelFor(
      labels.size(), options.jobs,
      [&](size_t i) -> Result<void> {
        skeletons[i] = {labels[i].front().id, JoinStrands(labels[i], join)};
        return {};
      },
      options.stop));
  std::erase_if(skeletons, [](const NamedSkeleton& named) {
    return named.skeleton.vertices.empty();
  });
  return skeletons;
}

}  // namespace dolium::skeleton
