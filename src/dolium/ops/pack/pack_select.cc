#include "dolium/ops/pack/pack_select.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {
namespace {

Result<std::vector<uint64_t>> SelectByKey(const SampleSet& set,
                                          const PackSelection& selection, uint64_t end) {
  std::unordered_map<std::string_view, bool> wanted;  // whether it was met
  if (selection.keys) {
    for (const std::string& key : *selection.keys) wanted.emplace(key, false);
  }
  std::vector<uint64_t> numbers;
  DOLIUM_TRY_VOID(set.VisitKeys([&](uint64_t number, std::string_view key) {
    if (selection.keys) {
      const auto found = wanted.find(key);
      if (found == wanted.end()) return true;
      found->second = true;
    }
    if (number >= selection.begin && number < end && key.starts_with(selection.prefix)) {
      numbers.push_back(number);
    }
    return true;
  }));
  if (!selection.keys || selection.ignore_missing) return numbers;
  for (const std::string& key : *selection.keys) {
    if (!wanted.at(key)) return NotFound(fmt::format("no sample \"{}\"", key));
  }
  return numbers;
}

// Those that stand first in a random order.
std::vector<uint64_t> Draw(const std::vector<uint64_t>& numbers, uint64_t count,
                           uint64_t seed) {
  const Permutation order(numbers.size(), OrderKey(seed, 0));
  std::vector<uint64_t> drawn;
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    if (order.PositionOf(i) < count) drawn.push_back(numbers[static_cast<size_t>(i)]);
  }
  return drawn;
}

}  // namespace

Result<std::vector<uint64_t>> SelectSamples(const SampleSet& set,
                                            const PackSelection& selection) {
  const uint64_t end = std::min(selection.end, set.size());
  if (selection.begin > set.size()) {
    return InvalidArgument(fmt::format("the set has {} samples, none from number {} on",
                                       set.size(), selection.begin));
  }
  std::vector<uint64_t> numbers;
  if (selection.keys || !selection.prefix.empty()) {
    DOLIUM_TRY(numbers, SelectByKey(set, selection, end));
  } else {
    numbers.resize(static_cast<size_t>(end - std::min(selection.begin, end)));
    std::iota(numbers.begin(), numbers.end(), selection.begin);
  }
  if (selection.every > 1) {
    size_t kept = 0;
    for (size_t i = 0; i < numbers.size(); i += static_cast<size_t>(selection.every)) {
      numbers[kept++] = numbers[i];
    }
    numbers.resize(kept);
  }
  if (selection.sample_count) {
    return Draw(numbers, *selection.sample_count, selection.seed);
  }
  if (selection.sample_fraction) {
    const auto count = static_cast<uint64_t>(
        std::llround(*selection.sample_fraction * static_cast<double>(numbers.size())));
    return Draw(numbers, count, selection.seed);
  }
  return numbers;
}

Result<std::vector<uint64_t>> OrderByKey(const SampleSet& set) {
  // All keys one behind the other, and where each begins.
  std::string keys;
  std::vector<uint64_t> starts;
  starts.reserve(static_cast<size_t>(set.size()) + 1);
  DOLIUM_TRY_VOID(set.VisitKeys([&](uint64_t, std::string_view key) {
    starts.push_back(keys.size());
    keys += key;
    return true;
  }));
  starts.push_back(keys.size());
  const auto key = [&](uint64_t number) {
    const auto i = static_cast<size_t>(number);
    return std::string_view(keys).substr(static_cast<size_t>(starts[i]),
                                         static_cast<size_t>(starts[i + 1] - starts[i]));
  };
  std::vector<uint64_t> order(starts.size() - 1);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::ranges::sort(order, [&](uint64_t a, uint64_t b) {
    const int compared = key(a).compare(key(b));
    return compared < 0 || (compared == 0 && a < b);
  });
  return order;
}

std::vector<uint64_t> OrderAtRandom(uint64_t size, uint64_t seed) {
  std::vector<uint64_t> order(static_cast<size_t>(size));
  Permutation(size, OrderKey(seed, 0)).Fill(0, order);
  return order;
}

}  // namespace dolium::dataset
