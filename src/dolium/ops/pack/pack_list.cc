#include "dolium/ops/pack/pack_list.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

// Samples that are read at once: few requests for those far away.
constexpr size_t kReadAtOnce = 64;

std::optional<uint64_t> ParseHashNumber(std::string_view text) {
  if (!text.starts_with('#')) return std::nullopt;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string NamesOf(const LoadedSample& sample) {
  std::string names;
  for (const LoadedSample::FileRef file : sample.files()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", sample.header(file).name);
  }
  return names;
}

}  // namespace

Result<void> ListSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                         const SampleVisitor& visitor) {
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(kReadAtOnce, numbers.size()));
    numbers = numbers.subspan(some.size());
    const auto samples = set.ReadMany(some);
    for (size_t i = 0; i < some.size(); ++i) {
      if (!samples[i]) {
        if (!visitor.damage(samples[i].error())) return {};
        continue;
      }
      if (!visitor.sample(FactsOf(some[i], *samples[i]))) return {};
      if (const Error* const damage = samples[i]->damage()) {
        const SamplePart& part = samples[i]->parts().front();
        if (!visitor.damage(damage->Within(
                fmt::format("{}: record {}", part.shard->Describe(), part.number)))) {
          return {};
        }
      }
    }
  }
  return {};
}

Result<uint64_t> FindSample(const SampleSet& set, std::string_view key) {
  DOLIUM_TRY(const auto found, set.Find(key));
  if (found) return *found;
  const auto number = ParseHashNumber(key);
  if (!number) return NotFound(fmt::format("no sample \"{}\"", key));
  if (*number >= set.size()) {
    return NotFound(fmt::format("no sample {}; there are {}", key, set.size()));
  }
  return *number;
}

Result<uint64_t> SampleAtOffset(const SampleSet& set, uint64_t offset) {
  if (set.shard_count() != 1) {
    return InvalidArgument(
        fmt::format("an offset is one of a shard; here are {}", set.shard_count()));
  }
  DOLIUM_TRY(const auto shard, set.shard(0));
  const auto record = shard->NumberAt(offset);
  if (record && shard->size() == set.size()) return *record;
  // Samples of several records are numbered otherwise.
  if (record) {
    for (uint64_t number = 0; number < set.size(); ++number) {
      DOLIUM_TRY(const LoadedSample sample, set.Read(number));
      if (sample.parts().front().number == *record) return number;
    }
  }
  return NotFound(fmt::format("{}: no sample begins at {}", shard->Describe(), offset));
}

Result<Bytes> ReadFileOf(const LoadedSample& sample,
                         const std::optional<std::string>& name) {
  const SamplePart& part = sample.parts().front();
  const std::string record =
      fmt::format("{}: record {}", part.shard->Describe(), part.number);
  const auto context = [&] { return fmt::format("{}: \"{}\"", record, sample.key()); };
  if (!name) {
    if (sample.files().size() == 1 && sample.damage() == nullptr) {
      return sample.Content(sample.files().front());
    }
    return InvalidArgument(fmt::format("{}: name one of its {} files: {}", context(),
                                       sample.files().size(), NamesOf(sample)));
  }
  const auto file = sample.Find(*name);
  if (file) return sample.Content(*file);
  if (const Error* const damage = sample.damage()) return damage->Within(record);
  return NotFound(fmt::format("{}: no entry \"{}\"; there are: {}", context(), *name,
                              NamesOf(sample)));
}

}  // namespace dolium::dataset
