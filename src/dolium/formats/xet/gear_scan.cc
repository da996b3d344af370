#include "dolium/formats/xet/gear_scan.h"

#include <algorithm>
#include <array>

#include "dolium/formats/xet/gear_kernels_internal.h"

namespace dolium::xet {

namespace {

constexpr size_t kMostLanes = 4;
// Segments below this are not worth the warming up of lanes.
constexpr size_t kLeastOfLane = 1024;
// A lane's segment: all lanes together stay in the second level cache.
constexpr size_t kMostOfLane = 16384;

void ScanOne(const std::byte* data, size_t length, uint64_t* states,
             std::vector<uint32_t>* marks) {
  states[0] = ScanChain(states[0], data, length, 0, marks[0]);
}

constexpr size_t kStepOfTwo = 8;

// Apart, so that the loop keeps its registers.
[[gnu::noinline, gnu::cold]] void AddMark(size_t at, std::vector<uint32_t>& marks) {
  marks.push_back(static_cast<uint32_t>(at));
}

void ScanTwo(const std::byte* data, size_t length, uint64_t* states,
             std::vector<uint32_t>* marks) {
  const std::byte* const other = data + length;
  uint64_t a = states[0];
  uint64_t b = states[1];
  for (size_t i = 0; i < length; i += kStepOfTwo) {
#pragma GCC unroll 8
    for (size_t j = i; j < i + kStepOfTwo; ++j) {
      a = GearStep(a, data[j]);
      b = GearStep(b, other[j]);
      if (a < kGearMatchEnd) [[unlikely]]
        AddMark(j + 1, marks[0]);
      if (b < kGearMatchEnd) [[unlikely]]
        AddMark(j + 1, marks[1]);
    }
  }
  states[0] = a;
  states[1] = b;
}

constexpr GearKernel kGearScalar = {.lanes = 1, .step = 1, .scan = ScanOne};
constexpr GearKernel kGearPortable = {.lanes = 2, .step = kStepOfTwo, .scan = ScanTwo};

const GearKernel* KernelOf(GearVariant variant) {
  switch (variant) {
    case GearVariant::kScalar:
      return &kGearScalar;
    case GearVariant::kPortable:
      break;
#if defined(__x86_64__)
    case GearVariant::kAvx2:
      return &kGearAvx2;
#else
    case GearVariant::kAvx2:
      break;
#endif
  }
  return &kGearPortable;
}

uint64_t WarmState(const std::byte* before) {
  uint64_t state = 0;
  for (const std::byte* at = before - kGearWindow; at < before; ++at) {
    state = GearStep(state, *at);
  }
  return state;
}

}  // namespace

std::string_view GearVariantName(GearVariant variant) {
  switch (variant) {
    case GearVariant::kScalar:
      return "scalar";
    case GearVariant::kPortable:
      return "portable";
    case GearVariant::kAvx2:
      return "avx2";
  }
  return "unknown";
}

std::vector<GearVariant> AvailableGearVariants() {
  std::vector<GearVariant> variants = {GearVariant::kScalar, GearVariant::kPortable};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) variants.push_back(GearVariant::kAvx2);
#endif
  return variants;
}

GearVariant BestGearVariant() {
  static const GearVariant best = AvailableGearVariants().back();
  return best;
}

GearScanner::GearScanner(GearVariant variant)
    : kernel_(KernelOf(variant)), lane_marks_(kernel_->lanes) {}

void GearScanner::ScanLanes(BytesView block, uint32_t base,
                            std::vector<uint32_t>& marks) {
  const size_t lanes = kernel_->lanes;
  const size_t length = block.size() / lanes;
  std::array<uint64_t, kMostLanes> states;
  states[0] = state_;
  for (size_t lane = 1; lane < lanes; ++lane) {
    states[lane] = WarmState(block.data() + lane * length);
  }
  kernel_->scan(block.data(), length, states.data(), lane_marks_.data());
  for (size_t lane = 0; lane < lanes; ++lane) {
    const auto first = base + static_cast<uint32_t>(lane * length);
    for (const uint32_t mark : lane_marks_[lane]) marks.push_back(first + mark);
    lane_marks_[lane].clear();
  }
  state_ = states[lanes - 1];
}

void GearScanner::Scan(BytesView segment, std::vector<uint32_t>& marks) {
  size_t at = 0;
  for (;;) {
    const size_t length = std::min((segment.size() - at) / kernel_->lanes, kMostOfLane) /
                          kernel_->step * kernel_->step;
    if (length < kLeastOfLane) break;
    ScanLanes(segment.subspan(at, length * kernel_->lanes), static_cast<uint32_t>(at),
              marks);
    at += length * kernel_->lanes;
  }
  state_ = ScanChain(state_, segment.data() + at, segment.size() - at, at, marks);
}

}  // namespace dolium::xet
