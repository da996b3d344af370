#include "dolium/domain/dataset/sample_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::dataset {
namespace {

// What a key is for. Windows have the streams from kFirstWindowStream on.
constexpr uint64_t kOrderStream = 0;
constexpr uint64_t kFirstWindowStream = 1;

using Starts = std::vector<uint64_t>;

Result<void> CheckRuns(const SampleOrderOptions& options) {
  const Starts& starts = options.run_starts;
  if (options.window_runs == 0) {
    return InvalidArgument("a window of 0 runs; at least 1 is needed");
  }
  if (starts.size() > kMaxRuns) {
    return InvalidArgument(
        fmt::format("{} runs, more than the limit of {}", starts.size(), kMaxRuns));
  }
  if (options.total == 0 && starts.empty()) return {};
  if (starts.empty() || starts.front() != 0) {
    return InvalidArgument("the first run does not begin at sample 0");
  }
  for (size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] <= starts[i - 1]) {
      return InvalidArgument(
          fmt::format("run {} begins at sample {}, not after run {}, which begins at {}",
                      i, starts[i], i - 1, starts[i - 1]));
    }
  }
  if (starts.back() >= options.total) {
    return InvalidArgument(fmt::format("the last run begins at sample {}, of {} samples",
                                       starts.back(), options.total));
  }
  return {};
}

// The slot whose positions hold `position`, of those in [first, last).
size_t SlotOf(const Starts& starts, size_t first, size_t last, uint64_t position) {
  const auto begin = starts.begin();
  const auto after =
      std::upper_bound(begin + static_cast<std::ptrdiff_t>(first),
                       begin + static_cast<std::ptrdiff_t>(last), position);
  return static_cast<size_t>(after - begin) - 1;
}

}  // namespace

Result<SampleOrder> SampleOrder::Make(SampleOrderOptions options) {
  if (options.total > Permutation::kMaxTotal) {
    return InvalidArgument(fmt::format("{} samples, more than the limit of {}",
                                       options.total, Permutation::kMaxTotal));
  }
  std::shared_ptr<const Starts> runs;
  if (options.shuffle == Shuffle::kWindow) {
    DOLIUM_TRY_VOID(CheckRuns(options));
    options.run_starts.push_back(options.total);
    runs = std::make_shared<const Starts>(std::move(options.run_starts));
  }
  return SampleOrder(options, std::move(runs));
}

SampleOrder::SampleOrder(const SampleOrderOptions& options,
                         std::shared_ptr<const Starts> run_starts)
    : total_(options.total),
      shuffle_(options.shuffle),
      seed_(options.seed),
      epoch_(options.epoch),
      window_runs_(options.window_runs),
      order_(run_starts ? run_starts->size() - 1 : options.total,
             OrderKey(options.seed, options.epoch, kOrderStream)),
      run_starts_(std::move(run_starts)) {
  if (!run_starts_) return;
  const size_t runs = run_starts_->size() - 1;
  Starts slots(runs);
  order_.Fill(0, slots);
  uint64_t position = 0;
  for (uint64_t& slot : slots) {
    const uint64_t run = std::exchange(slot, position);
    position += (*run_starts_)[run + 1] - (*run_starts_)[run];
  }
  slots.push_back(position);
  slot_starts_ = std::make_shared<const Starts>(std::move(slots));
}

SampleOrder SampleOrder::WithEpoch(uint64_t epoch) const {
  const SampleOrderOptions options{.total = total_,
                                   .shuffle = shuffle_,
                                   .seed = seed_,
                                   .epoch = epoch,
                                   .window_runs = window_runs_};
  return SampleOrder(options, run_starts_);
}

SampleRun SampleOrder::RunIn(size_t slot) const {
  const uint64_t run = order_.At(slot);
  return {(*run_starts_)[run], (*run_starts_)[run + 1] - (*run_starts_)[run]};
}

SampleOrder::Inner SampleOrder::InnerAt(uint64_t position) const {
  const size_t runs = slot_starts_->size() - 1;
  const size_t slot = SlotOf(*slot_starts_, 0, runs, position);
  const uint64_t window = slot / window_runs_;
  const size_t first = slot - slot % window_runs_;
  const size_t end = first + std::min<uint64_t>(window_runs_, runs - first);
  const uint64_t begin_position = (*slot_starts_)[first];
  const uint64_t end_position = (*slot_starts_)[end];
  return {begin_position, end_position, first, end,
          Permutation(end_position - begin_position,
                      OrderKey(seed_, epoch_, kFirstWindowStream + window))};
}

uint64_t SampleOrder::Stored(const Inner& inner, uint64_t place) const {
  const uint64_t position = inner.begin + place;
  const size_t slot = SlotOf(*slot_starts_, inner.first_slot, inner.end_slot, position);
  return RunIn(slot).first + (position - (*slot_starts_)[slot]);
}

uint64_t SampleOrder::At(uint64_t position) const {
  switch (shuffle_) {
    case Shuffle::kNone:
      return position;
    case Shuffle::kGlobal:
      return order_.At(position);
    case Shuffle::kWindow:
      break;
  }
  const Inner inner = InnerAt(position);
  return Stored(inner, inner.order.At(position - inner.begin));
}

void SampleOrder::Fill(uint64_t begin, std::span<uint64_t> samples) const {
  switch (shuffle_) {
    case Shuffle::kNone:
      std::iota(samples.begin(), samples.end(), begin);
      return;
    case Shuffle::kGlobal:
      order_.Fill(begin, samples);
      return;
    case Shuffle::kWindow:
      break;
  }
  while (!samples.empty()) {
    const Inner inner = InnerAt(begin);
    const auto part =
        samples.first(std::min<uint64_t>(samples.size(), inner.end - begin));
    inner.order.Fill(begin - inner.begin, part);
    for (uint64_t& sample : part) sample = Stored(inner, sample);
    begin += part.size();
    samples = samples.subspan(part.size());
  }
}

std::optional<OrderWindow> SampleOrder::WindowAt(uint64_t position) const {
  if (shuffle_ != Shuffle::kWindow) return std::nullopt;
  const Inner inner = InnerAt(position);
  OrderWindow window{inner.begin, inner.end, {}};
  for (size_t slot = inner.first_slot; slot < inner.end_slot; ++slot) {
    window.runs.push_back(RunIn(slot));
  }
  return window;
}

Result<std::vector<uint64_t>> EvenRuns(std::span<const ShardExtent> shards,
                                       uint64_t run_bytes) {
  if (run_bytes == 0) return InvalidArgument("runs of 0 bytes");
  Starts starts;
  uint64_t first = 0;
  for (const ShardExtent& shard : shards) {
    if (shard.records == 0) continue;
    // Rounded, so that a shard of a few bytes more does not get a run for them.
    const uint64_t wanted =
        shard.bytes / run_bytes + (shard.bytes % run_bytes > run_bytes / 2 ? 1 : 0);
    const uint64_t runs = std::clamp<uint64_t>(wanted, 1, shard.records);
    if (runs > kMaxRuns - starts.size()) {
      return InvalidArgument(fmt::format(
          "more than {} runs of {} bytes; make the runs longer", kMaxRuns, run_bytes));
    }
    const uint64_t each = shard.records / runs;
    const uint64_t longer = shard.records % runs;  // These have one sample more.
    for (uint64_t run = 0; run < runs; ++run) {
      starts.push_back(first + run * each + std::min(run, longer));
    }
    const auto next = CheckedAdd(first, shard.records);
    if (!next || *next > Permutation::kMaxTotal) {
      return InvalidArgument(
          fmt::format("more than {} samples in all", Permutation::kMaxTotal));
    }
    first = *next;
  }
  return starts;
}

}  // namespace dolium::dataset
