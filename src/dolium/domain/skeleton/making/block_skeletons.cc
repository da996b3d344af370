#include "dolium/domain/skeleton/making/block_skeletons.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/domain/skeleton/making/block_contacts.h"
#include "dolium/domain/skeleton/making/cross_section.h"
#include "dolium/domain/skeleton/making/distance.h"

namespace dolium::skeleton {
namespace {

// Components are handed out in groups with at least so many voxels.
constexpr uint64_t kGroupVoxels = uint64_t{1} << 16;

// Tracers that wait for work, each with its memory.
class TracerPool {
 public:
  explicit TracerPool(const StrandOptions& options) : options_(options) {}

  CenterLineTracer Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {options_.resolution, options_.teasar};
    CenterLineTracer tracer = std::move(idle_.back());
    idle_.pop_back();
    return tracer;
  }
  void Return(CenterLineTracer tracer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(tracer));
  }

 private:
  const StrandOptions& options_;
  std::mutex mutex_;
  std::vector<CenterLineTracer> idle_;
};

// The voxels of a component that no other block counts.
uint64_t CountOwn(const Component& component, const BlockCore& core) {
  Vec3 end = core.box.end;
  for (size_t d = 0; d < 3; ++d) end[d] -= core.shares[d][1] ? 1 : 0;
  uint64_t count = 0;
  for (const Run& run : component.runs) {
    if (run.y >= end[1] || run.z >= end[2]) continue;
    count += static_cast<uint64_t>(
        std::max<int64_t>(std::min<int64_t>(run.end, end[0]) - run.begin, 0));
  }
  return count;
}

// Numbers of components, large ones first, in groups.
std::vector<std::vector<uint32_t>> GroupsOf(std::span<const Component> components) {
  std::vector<uint32_t> order(components.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](uint32_t number) { return components[number].voxels; });
  std::vector<std::vector<uint32_t>> groups;
  uint64_t voxels = kGroupVoxels;
  for (const uint32_t number : order) {
    if (voxels >= kGroupVoxels) {
      groups.emplace_back();
      voxels = 0;
    }
    groups.back().push_back(number);
    voxels += components[number].voxels;
  }
  return groups;
}

}  // namespace

Result<std::vector<SkeletonStrand>> MakeStrands(const LabelBlock& block,
                                                const BlockCore& core,
                                                const StrandOptions& options) {
  DOLIUM_TRY(const auto distances,
             DistanceToBoundary(block, options.resolution, options.jobs, options.stop));
  const ComponentSet found = FindComponents(block, core.box);
  DOLIUM_TRY(const auto contacts, FindContacts(block, core, options.resolution));
  std::map<uint32_t, std::vector<Vec3>> targets;
  for (const Vec3& contact : contacts) {
    targets[found.ComponentAt(contact)].push_back(contact);
  }
  const auto components = found.components();
  std::vector<SkeletonStrand> strands(components.size());
  const auto groups = GroupsOf(components);
  TracerPool tracers(options);
  const auto make = [&](uint32_t number, CenterLineTracer& tracer) {
    const Component& component = components[number];
    const auto ends = targets.find(number);
    const bool is_cut = ends != targets.end();
    if (component.voxels < options.min_voxels && !is_cut) return;
    SkeletonStrand& strand = strands[number];
    strand.id = block.ids[component.label];
    strand.voxels = CountOwn(component, core);
    strand.is_cut = is_cut;
    strand.line = tracer.Trace(
        block, distances, component,
        is_cut ? std::span<const Vec3>(ends->second) : std::span<const Vec3>());
    if (options.cross_sections) {
      strand.areas = MeasureCrossSections(block, strand.line, options.resolution);
    }
  };
  DOLIUM_TRY_VOID(ParallelFor(
      groups.size(), options.jobs,
      [&](size_t group) -> Result<void> {
        CenterLineTracer tracer = tracers.Take();
        for (const uint32_t number : groups[group]) make(number, tracer);
        tracers.Return(std::move(tracer));
        return {};
      },
      options.stop));
  std::erase_if(strands, [](const SkeletonStrand& strand) { return strand.id == 0; });
  return strands;
}

}  // namespace dolium::skeleton
