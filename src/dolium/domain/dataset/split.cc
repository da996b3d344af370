#include "dolium/domain/dataset/split.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {
namespace {

// Far more than there are, and small enough that no product overflows.
constexpr uint64_t kMaxParts = uint64_t{1} << 24;
constexpr uint64_t kMaxBatchSize = uint64_t{1} << 36;

Result<void> CheckPart(const char* part, uint64_t number, const char* whole,
                       uint64_t count) {
  if (count == 0 || count > kMaxParts) {
    return InvalidArgument(
        fmt::format("{} is {}, expected 1 to {}", whole, count, kMaxParts));
  }
  if (number >= count) {
    return InvalidArgument(
        fmt::format("{} is {}, expected less than {} ({})", part, number, count, whole));
  }
  return {};
}

// The share of `rank` in the `rest` positions from `first` on.
PositionRange LastBatch(const SplitOptions& options, uint64_t first, uint64_t rest) {
  const uint64_t rank = options.rank;
  const uint64_t each = rest / options.world;
  const uint64_t odd = rest % options.world;
  switch (options.remainder) {
    case Remainder::kDrop:
      break;
    case Remainder::kPad: {
      const uint64_t padded = each + (odd > 0 ? 1 : 0);
      return {first + rank * padded, padded};
    }
    case Remainder::kKeep:
      return {first + rank * each + std::min(rank, odd), each + (rank < odd ? 1 : 0)};
  }
  return {first, 0};
}

}  // namespace

Result<Split> Split::Make(const SplitOptions& options) {
  DOLIUM_TRY_VOID(CheckPart("rank", options.rank, "world", options.world));
  DOLIUM_TRY_VOID(CheckPart("worker", options.worker, "workers", options.workers));
  if (options.batch_size == 0 || options.batch_size > kMaxBatchSize) {
    return InvalidArgument(fmt::format("batch size is {}, expected 1 to {}",
                                       options.batch_size, kMaxBatchSize));
  }
  if (options.total > Permutation::kMaxTotal) {
    return InvalidArgument(fmt::format("{} samples, more than the limit of {}",
                                       options.total, Permutation::kMaxTotal));
  }
  if (options.start > options.total) {
    return InvalidArgument(fmt::format("start is {}, past the end of the order ({})",
                                       options.start, options.total));
  }
  return Split(options);
}

Split::Split(const SplitOptions& options)
    : options_(options), global_batch_(options.world * options.batch_size) {
  const uint64_t left = options.total - options.start;
  full_batches_ = left / global_batch_;
  const uint64_t rest = left % global_batch_;
  const bool keeps_rest = rest > 0 && options.remainder != Remainder::kDrop;
  steps_ = full_batches_ + (keeps_rest ? 1 : 0);
  last_ = LastBatch(options, options.total - rest, rest);
  batches_ = full_batches_ + (last_.count > 0 ? 1 : 0);
  samples_ = full_batches_ * options.batch_size + last_.count;
}

uint64_t Split::worker_batches() const {
  if (options_.worker >= batches_) return 0;
  return (batches_ - options_.worker - 1) / options_.workers + 1;
}

PositionRange Split::Batch(uint64_t batch) const {
  if (batch == full_batches_) return last_;
  return {options_.start + batch * global_batch_ + options_.rank * options_.batch_size,
          options_.batch_size};
}

uint64_t Split::PositionAfter(uint64_t batches) const {
  if (batches >= steps_) return options_.total;
  return options_.start + batches * global_batch_;
}

std::vector<uint64_t> Split::Positions(PositionRange range) const {
  std::vector<uint64_t> positions(range.count);
  for (uint64_t i = 0; i < range.count; ++i) {
    positions[i] = (range.first + i) % options_.total;
  }
  return positions;
}

}  // namespace dolium::dataset
