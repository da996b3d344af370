#include "dolium/domain/dataset/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {
namespace {

// What a key is for. Blocks have the streams from kFirstBlockStream on.
constexpr uint64_t kSourceStream = 0;
constexpr uint64_t kFirstBlockStream = 1;

Result<void> CheckMixture(const MixtureOptions& options) {
  if (options.sources.empty()) return InvalidArgument("a mixture of no sources");
  if (options.block_size < options.sources.size() ||
      options.block_size > Mixture::kMaxBlockSize) {
    return InvalidArgument(
        fmt::format("block size is {}, expected {} (a position for every source) to {}",
                    options.block_size, options.sources.size(), Mixture::kMaxBlockSize));
  }
  for (size_t i = 0; i < options.sources.size(); ++i) {
    const MixtureSource& source = options.sources[i];
    if (!std::isfinite(source.weight) || source.weight <= 0) {
      return InvalidArgument(fmt::format(
          "the weight of source {} is {}, expected a number above 0", i, source.weight));
    }
    if (source.total == 0) return InvalidArgument(fmt::format("source {} is empty", i));
    if (source.total > Permutation::kMaxTotal) {
      return InvalidArgument(fmt::format("source {} has {} samples, more than {}", i,
                                         source.total, Permutation::kMaxTotal));
    }
  }
  return {};
}

// `block_size` positions divided by weight: the whole part of each share, at least one,
// then one more to the largest fractions. Where the ones for small shares are too many,
// the largest counts give them back.
std::vector<uint64_t> Apportion(std::span<const MixtureSource> sources,
                                uint64_t block_size) {
  // Scaled first, so that the sum of huge weights is finite.
  double largest = 0;
  for (const MixtureSource& source : sources) largest = std::max(largest, source.weight);
  double sum = 0;
  for (const MixtureSource& source : sources) sum += source.weight / largest;
  std::vector<uint64_t> counts;
  std::vector<double> fractions;
  for (const MixtureSource& source : sources) {
    const double share = source.weight / largest * static_cast<double>(block_size) / sum;
    const double whole = std::floor(share);
    counts.push_back(std::max<uint64_t>(1, static_cast<uint64_t>(whole)));
    fractions.push_back(share < 1 ? 0 : share - whole);
  }
  uint64_t given = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  while (given > block_size) {
    --*std::max_element(counts.begin(), counts.end());
    --given;
  }
  std::vector<size_t> by_fraction(counts.size());
  std::iota(by_fraction.begin(), by_fraction.end(), size_t{0});
  std::stable_sort(by_fraction.begin(), by_fraction.end(),
                   [&](size_t a, size_t b) { return fractions[a] > fractions[b]; });
  for (size_t i = 0; given < block_size; ++i, ++given) {
    ++counts[by_fraction[i % by_fraction.size()]];
  }
  return counts;
}

}  // namespace

Result<Mixture> Mixture::Make(MixtureOptions options) {
  DOLIUM_TRY_VOID(CheckMixture(options));
  Mixture mixture(std::move(options));
  DOLIUM_TRY_VOID(mixture.SetTotal());
  return mixture;
}

Mixture::Mixture(MixtureOptions options)
    : options_(std::move(options)),
      counts_(Apportion(options_.sources, options_.block_size)),
      ends_(counts_.size()) {
  std::partial_sum(counts_.begin(), counts_.end(), ends_.begin());
  if (options_.stop != MixtureStop::kSamples) key_epoch_ = options_.epoch;
}

std::vector<uint16_t> Mixture::BlockSources(uint64_t block) const {
  const uint64_t size = options_.block_size;
  const Permutation order(size,
                          OrderKey(options_.seed, key_epoch_, kFirstBlockStream + block));
  std::vector<uint64_t> places(size);
  order.Fill(0, places);
  std::vector<uint16_t> slots(size);
  for (size_t source = 0; source < counts_.size(); ++source) {
    const uint64_t end = ends_[source];
    std::fill(slots.begin() + static_cast<std::ptrdiff_t>(end - counts_[source]),
              slots.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<uint16_t>(source));
  }
  std::vector<uint16_t> sources(size);
  for (size_t i = 0; i < size; ++i) sources[i] = slots[places[i]];
  return sources;
}

Result<uint64_t> Mixture::EndOf(uint64_t source, uint64_t count) const {
  const uint64_t block = (count - 1) / counts_[source];
  const auto begin = CheckedMul(block, options_.block_size);
  if (!begin || *begin > Permutation::kMaxTotal - options_.block_size) {
    return InvalidArgument(fmt::format(
        "an epoch would be longer than {} positions: source {} has {} samples, but {} of "
        "{} positions",
        Permutation::kMaxTotal, source, options_.sources[source].total, counts_[source],
        options_.block_size));
  }
  uint64_t wanted = (count - 1) % counts_[source] + 1;
  const std::vector<uint16_t> sources = BlockSources(block);
  uint64_t place = 0;
  for (; wanted > 0; ++place) {
    if (sources[place] == source) --wanted;
  }
  return *begin + place;
}

Result<void> Mixture::SetTotal() {
  if (options_.stop == MixtureStop::kSamples) {
    const auto first = CheckedMul(options_.samples, options_.epoch);
    const auto end = first ? CheckedAdd(*first, options_.samples) : std::nullopt;
    if (!end || *end > Permutation::kMaxTotal) {
      return InvalidArgument(fmt::format("epoch {} of {} samples ends past {} positions",
                                         options_.epoch, options_.samples,
                                         Permutation::kMaxTotal));
    }
    first_ = *first;
    total_ = options_.samples;
    return {};
  }
  const bool all = options_.stop == MixtureStop::kAllExhausted;
  for (uint64_t source = 0; source < counts_.size(); ++source) {
    DOLIUM_TRY(const uint64_t end, EndOf(source, options_.sources[source].total));
    total_ = source == 0 ? end : (all ? std::max(total_, end) : std::min(total_, end));
  }
  SetRounds();
  return {};
}

// From the number of blocks and not from the total, which differs a little from epoch to
// epoch: the own epochs of two epochs must not overlap.
void Mixture::SetRounds() {
  rounds_.assign(counts_.size(), 1);
  if (options_.stop == MixtureStop::kFirstExhausted) return;
  uint64_t blocks = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    blocks = std::max(blocks, (options_.sources[i].total - 1) / counts_[i] + 1);
  }
  for (size_t i = 0; i < counts_.size(); ++i) {
    rounds_[i] = (blocks * counts_[i] - 1) / options_.sources[i].total + 1;
  }
}

void Mixture::Fill(uint64_t begin, std::span<MixtureStep> steps) const {
  uint64_t position = first_ + begin;
  std::vector<uint64_t> seen(counts_.size());
  while (!steps.empty()) {
    const uint64_t block = position / options_.block_size;
    const size_t place = position % options_.block_size;
    const std::vector<uint16_t> sources = BlockSources(block);
    for (size_t i = 0; i < counts_.size(); ++i) seen[i] = block * counts_[i];
    for (size_t i = 0; i < place; ++i) ++seen[sources[i]];
    const auto part = steps.first(std::min(steps.size(), sources.size() - place));
    for (size_t i = 0; i < part.size(); ++i) {
      const uint64_t source = sources[place + i];
      const uint64_t number = seen[source]++;
      const uint64_t total = options_.sources[source].total;
      // Own epochs of earlier epochs come first; those of kSamples run on by themselves.
      const uint64_t begun = rounds_.empty() ? 0 : options_.epoch * rounds_[source];
      part[i] = {source, begun + number / total, number % total};
    }
    position += part.size();
    steps = steps.subspan(part.size());
  }
}

MixtureStep Mixture::At(uint64_t position) const {
  MixtureStep step;
  Fill(position, {&step, 1});
  return step;
}

uint64_t Mixture::SourceSeed(uint64_t source) const {
  return OrderKey(options_.seed, source, kSourceStream);
}

}  // namespace dolium::dataset
