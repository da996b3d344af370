// JoinColumns and Overlay of sample_set.h.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/dataset/sample_set.h"
#include "dolium/formats/shardpack/kinds.h"

namespace dolium::dataset {

namespace {

using shardpack::Shard;
using SetPointer = std::shared_ptr<const SampleSet>;

// Adds all parts of one sample to another.
Result<void> AddParts(LoadedSample& to, const LoadedSample& from, bool replaces) {
  for (const SamplePart& part : from.parts()) {
    DOLIUM_TRY_VOID(to.Add(part, replaces));
  }
  return {};
}

// So many samples of an extent, with their share of its bytes.
ShardExtent ShareOf(const ShardExtent& extent, uint64_t records) {
  if (extent.records == 0) return {records, 0};
  const auto bytes =
      static_cast<unsigned __int128>(extent.bytes) * records / extent.records;
  return {records, static_cast<uint64_t>(bytes)};
}

// How many of these numbers, which ascend, lie in [begin, end).
uint64_t CountWithin(const std::vector<uint64_t>& numbers, uint64_t begin, uint64_t end) {
  return static_cast<uint64_t>(std::ranges::lower_bound(numbers, end) -
                               std::ranges::lower_bound(numbers, begin));
}

// The shard and record that a sample begins with.
std::string DescribeLocation(const LoadedSample& sample) {
  const SamplePart& part = sample.parts().front();
  return fmt::format("{}: record {}", part.shard->Describe(), part.number);
}

// What stays of extents: samples, by count_within(begin, end) of their numbers, and their
// share of the bytes.
template <typename Count>
std::vector<ShardExtent> Thinned(std::vector<ShardExtent> extents,
                                 const Count& count_within) {
  uint64_t begin = 0;
  for (ShardExtent& extent : extents) {
    const uint64_t end = begin + extent.records;
    extent = ShareOf(extent, count_within(begin, end));
    begin = end;
  }
  return extents;
}

class ColumnSet final : public SampleSet {
 public:
  ColumnSet(std::vector<SetPointer> sets, ColumnOptions options)
      : sets_(std::move(sets)), options_(options) {}

  Result<void> Prepare() {
    for (size_t i = 1; i < sets_.size(); ++i) {
      bool is_aligned = false;
      if (!options_.by_key) {
        DOLIUM_TRY(is_aligned, AreAligned(*sets_[0], *sets_[i]));
      }
      are_aligned_.push_back(is_aligned);
    }
    if (options_.nonmatch != Nonmatch::kSkip ||
        std::ranges::all_of(are_aligned_, [](bool is_aligned) { return is_aligned; })) {
      return {};
    }
    // Only those that every column has.
    kept_.emplace();
    Result<void> failed;
    DOLIUM_TRY_VOID(sets_[0]->VisitKeys([&](uint64_t number, std::string_view key) {
      for (size_t i = 1; i < sets_.size(); ++i) {
        if (are_aligned_[i - 1]) continue;
        const auto found = sets_[i]->Find(key);
        if (!found) {
          failed = found.error();
          return false;
        }
        if (!*found) return true;
      }
      kept_->push_back(number);
      return true;
    }));
    return failed;
  }

  uint64_t size() const override { return kept_ ? kept_->size() : sets_[0]->size(); }

  Result<LoadedSample> Read(uint64_t number) const override {
    const uint64_t own = OwnNumber(number);
    DOLIUM_TRY(LoadedSample sample, sets_[0]->Read(own));
    for (size_t i = 1; i < sets_.size(); ++i) {
      DOLIUM_TRY(const auto other, NumberIn(i, own, sample));
      if (!other) continue;
      DOLIUM_TRY(const LoadedSample column, sets_[i]->Read(*other));
      DOLIUM_TRY_VOID(AddColumn(number, i, column, sample));
    }
    return sample;
  }

  std::vector<Result<LoadedSample>> ReadMany(
      std::span<const uint64_t> numbers) const override {
    std::vector<uint64_t> own;
    for (const uint64_t number : numbers) own.push_back(OwnNumber(number));
    auto samples = sets_[0]->ReadMany(own);
    for (size_t i = 1; i < sets_.size(); ++i) {
      std::vector<size_t> wanted;
      std::vector<uint64_t> others;
      for (size_t j = 0; j < samples.size(); ++j) {
        if (!samples[j]) continue;
        const auto other = NumberIn(i, own[j], *samples[j]);
        if (!other) {
          samples[j] = other.error();
        } else if (*other) {
          wanted.push_back(j);
          others.push_back(**other);
        }
      }
      const auto columns = sets_[i]->ReadMany(others);
      for (size_t k = 0; k < wanted.size(); ++k) {
        auto& sample = samples[wanted[k]];
        auto added = columns[k] ? AddColumn(numbers[wanted[k]], i, *columns[k], *sample)
                                : Result<void>(columns[k].error());
        if (!added) sample = std::move(added).error();
      }
    }
    return samples;
  }

  Result<std::optional<uint64_t>> Find(std::string_view key) const override {
    DOLIUM_TRY(const auto own, sets_[0]->Find(key));
    if (!own || !kept_) return own;
    const auto found = std::ranges::lower_bound(*kept_, *own);
    if (found == kept_->end() || *found != *own) return std::nullopt;
    return static_cast<uint64_t>(found - kept_->begin());
  }

  Result<void> VisitKeys(
      const std::function<bool(uint64_t, std::string_view)>& visit) const override {
    size_t next = 0;
    return sets_[0]->VisitKeys([&](uint64_t number, std::string_view key) {
      if (!kept_) return visit(number, key);
      if (next == kept_->size()) return false;
      if ((*kept_)[next] != number) return true;
      return visit(next++, key);
    });
  }

  std::vector<ShardExtent> extents() const override {
    if (!kept_) return sets_[0]->extents();
    return Thinned(sets_[0]->extents(), [&](uint64_t begin, uint64_t end) {
      return CountWithin(*kept_, begin, end);
    });
  }

  size_t shard_count() const override { return sets_[0]->shard_count(); }
  Result<std::shared_ptr<const Shard>> shard(size_t index) const override {
    return sets_[0]->shard(index);
  }
  bool is_whole() const override { return !kept_ && sets_[0]->is_whole(); }
  bool is_mapped() const override {
    return std::ranges::all_of(sets_, [](const auto& set) { return set->is_mapped(); });
  }

 private:
  // The number in the first set.
  uint64_t OwnNumber(uint64_t number) const {
    return kept_ ? (*kept_)[static_cast<size_t>(number)] : number;
  }

  // The number in another column of a sample of the first; nullopt if it may be missing
  // there.
  Result<std::optional<uint64_t>> NumberIn(size_t column, uint64_t own,
                                           const LoadedSample& sample) const {
    if (are_aligned_[column - 1]) return own;
    DOLIUM_TRY(const auto found, sets_[column]->Find(sample.key()));
    if (!found && options_.nonmatch != Nonmatch::kNone) {
      return NotFound(fmt::format("{}: \"{}\": is not in column {}",
                                  DescribeLocation(sample), sample.key(), column))
          .WithKind(shardpack::kind::kNoSample);
    }
    return found;
  }

  static Result<void> AddColumn(uint64_t number, size_t index, const LoadedSample& column,
                                LoadedSample& sample) {
    if (column.key() != sample.key()) {
      return Corrupt(fmt::format(
          "{}: the key of sample {} is \"{}\", in column {} \"{}\"",
          DescribeLocation(sample), number, sample.key(), index, column.key()));
    }
    return AddParts(sample, column, /*replaces=*/false);
  }

  // Whether both have the same keys in the same order, by the digests of their shards.
  static Result<bool> AreAligned(const SampleSet& a, const SampleSet& b) {
    if (!a.is_whole() || !b.is_whole() || a.size() != b.size() ||
        a.shard_count() != b.shard_count()) {
      return false;
    }
    for (size_t i = 0; i < a.shard_count(); ++i) {
      DOLIUM_TRY(const auto one, a.shard(i));
      DOLIUM_TRY(const auto other, b.shard(i));
      if (one->size() != other->size() || !one->stat() || !other->stat() ||
          one->stat()->keys_digest != other->stat()->keys_digest) {
        return false;
      }
    }
    return true;
  }

  const std::vector<SetPointer> sets_;
  const ColumnOptions options_;
  std::vector<bool> are_aligned_;              // of all but the first
  std::optional<std::vector<uint64_t>> kept_;  // numbers in the first set
};

class OverlaySet final : public SampleSet {
 public:
  OverlaySet(SetPointer base, std::vector<SetPointer> layers)
      : base_(std::move(base)), layers_(std::move(layers)) {}

  // Goes through the keys of all layers once.
  Result<void> Prepare() {
    for (size_t layer = 0; layer < layers_.size(); ++layer) {
      DOLIUM_TRY_VOID(
          VisitLayer(layer, [&](uint64_t i, const LoadedSample& sample) -> Result<void> {
            const std::string key(sample.key());
            const bool is_tombstone = sample.parts().front().record.is_tombstone();
            auto [change, is_new] = changes_.try_emplace(key);
            if (is_new) {
              DOLIUM_TRY(change->second.base, base_->Find(key));
            }
            if (is_tombstone) {
              change->second.places.clear();
              change->second.is_cut = true;
            } else {
              change->second.places.push_back({layer, i});
            }
            if (is_new && !change->second.base) added_.push_back(key);
            return {};
          }));
    }
    for (const auto& [key, change] : changes_) {
      if (change.base && change.is_removed()) removed_.push_back(*change.base);
      if (change.base) by_base_[*change.base] = &change;
    }
    std::ranges::sort(removed_);
    std::erase_if(added_,
                  [&](const std::string& key) { return changes_.at(key).is_removed(); });
    for (size_t i = 0; i < added_.size(); ++i) added_numbers_[added_[i]] = i;
    return {};
  }

  uint64_t size() const override { return base_count() + added_.size(); }

  Result<LoadedSample> Read(uint64_t number) const override {
    if (number >= base_count()) {
      const std::string& key = added_[static_cast<size_t>(number - base_count())];
      return ReadChange(changes_.at(key), std::nullopt);
    }
    const uint64_t own = BaseNumber(number);
    const auto change = by_base_.find(own);
    if (change == by_base_.end()) return base_->Read(own);
    if (change->second->is_cut) return ReadChange(*change->second, std::nullopt);
    DOLIUM_TRY(LoadedSample sample, base_->Read(own));
    return ReadChange(*change->second, std::move(sample));
  }

  std::vector<Result<LoadedSample>> ReadMany(
      std::span<const uint64_t> numbers) const override {
    // What is as it is in the base, at once; what layers change, one by one.
    std::vector<uint64_t> plain;
    std::vector<bool> is_plain;
    for (const uint64_t number : numbers) {
      is_plain.push_back(number < base_count() && !by_base_.contains(BaseNumber(number)));
      if (is_plain.back()) plain.push_back(BaseNumber(number));
    }
    auto found = base_->ReadMany(plain);
    std::vector<Result<LoadedSample>> samples;
    samples.reserve(numbers.size());
    auto next = found.begin();
    for (size_t i = 0; i < numbers.size(); ++i) {
      samples.push_back(is_plain[i] ? std::move(*next++) : Read(numbers[i]));
    }
    return samples;
  }

  Result<std::optional<uint64_t>> Find(std::string_view key) const override {
    if (const auto change = changes_.find(key); change != changes_.end()) {
      if (change->second.is_removed()) return std::nullopt;
      if (!change->second.base) {
        return base_count() + added_numbers_.at(std::string(key));
      }
      return VisibleNumber(*change->second.base);
    }
    DOLIUM_TRY(const auto own, base_->Find(key));
    if (!own) return std::nullopt;
    return VisibleNumber(*own);
  }

  Result<void> VisitKeys(
      const std::function<bool(uint64_t, std::string_view)>& visit) const override {
    bool goes_on = true;
    DOLIUM_TRY_VOID(base_->VisitKeys([&](uint64_t number, std::string_view key) {
      if (std::ranges::binary_search(removed_, number)) return true;
      goes_on = visit(VisibleNumber(number), key);
      return goes_on;
    }));
    for (size_t i = 0; goes_on && i < added_.size(); ++i) {
      goes_on = visit(base_count() + i, added_[i]);
    }
    return {};
  }

  std::vector<ShardExtent> extents() const override {
    auto extents = Thinned(base_->extents(), [&](uint64_t begin, uint64_t end) {
      return end - begin - CountWithin(removed_, begin, end);
    });
    if (added_.empty()) return extents;
    // How large they are, what the layers have of each sample shows well enough.
    ShardExtent layers;
    for (const SetPointer& layer : layers_) {
      for (const ShardExtent& extent : layer->extents()) {
        layers.records += extent.records;
        layers.bytes += extent.bytes;
      }
    }
    extents.push_back(ShareOf(layers, added_.size()));
    return extents;
  }

  size_t shard_count() const override { return base_->shard_count(); }
  Result<std::shared_ptr<const Shard>> shard(size_t index) const override {
    return base_->shard(index);
  }
  bool is_whole() const override {
    return removed_.empty() && added_.empty() && base_->is_whole();
  }
  bool is_mapped() const override {
    return base_->is_mapped() &&
           std::ranges::all_of(layers_, [](const auto& set) { return set->is_mapped(); });
  }

 private:
  struct SampleLocation {
    size_t layer = 0;
    uint64_t number = 0;
  };
  // What the layers say of one key.
  struct Change {
    std::optional<uint64_t> base;        // its number there
    bool is_cut = false;                 // a tombstone hides what lies below
    std::vector<SampleLocation> places;  // what comes on top, in order

    bool is_removed() const { return is_cut && places.empty(); }
  };

  uint64_t base_count() const { return base_->size() - removed_.size(); }

  // All samples of a layer, many at a time.
  template <typename Visit>
  Result<void> VisitLayer(size_t layer, const Visit& visit) const {
    constexpr uint64_t kAtOnce = 256;
    std::vector<uint64_t> numbers;
    for (uint64_t begin = 0; begin < layers_[layer]->size(); begin += kAtOnce) {
      numbers.resize(std::min(kAtOnce, layers_[layer]->size() - begin));
      std::iota(numbers.begin(), numbers.end(), begin);
      const auto samples = layers_[layer]->ReadMany(numbers);
      for (size_t i = 0; i < samples.size(); ++i) {
        if (!samples[i]) return samples[i].error();
        DOLIUM_TRY_VOID(visit(begin + i, *samples[i]));
      }
    }
    return {};
  }

  // The number in the base of what is `number` here: `removed_` are left out.
  uint64_t BaseNumber(uint64_t number) const {
    size_t begin = 0;
    size_t end = removed_.size();
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      if (removed_[middle] - middle <= number) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return number + begin;
  }

  uint64_t VisibleNumber(uint64_t own) const {
    const auto before = std::ranges::lower_bound(removed_, own) - removed_.begin();
    return own - static_cast<uint64_t>(before);
  }

  Result<LoadedSample> ReadChange(const Change& change,
                                  std::optional<LoadedSample> sample) const {
    for (const SampleLocation& place : change.places) {
      DOLIUM_TRY(LoadedSample layer, layers_[place.layer]->Read(place.number));
      if (!sample) {
        sample = std::move(layer);
      } else {
        DOLIUM_TRY_VOID(AddParts(*sample, layer, /*replaces=*/true));
      }
    }
    return *std::move(sample);
  }

  const SetPointer base_;
  const std::vector<SetPointer> layers_;
  std::map<std::string, Change, std::less<>> changes_;
  std::unordered_map<uint64_t, const Change*> by_base_;
  std::vector<uint64_t> removed_;   // numbers in the base, ascending
  std::vector<std::string> added_;  // keys, in order of appearance
  std::unordered_map<std::string, uint64_t> added_numbers_;
};

}  // namespace

Result<SetPointer> JoinColumns(std::vector<SetPointer> sets,
                               const ColumnOptions& options) {
  if (sets.empty()) return InvalidArgument("no columns to join");
  auto joined = std::make_shared<ColumnSet>(std::move(sets), options);
  DOLIUM_TRY_VOID(joined->Prepare());
  return SetPointer(std::move(joined));
}

Result<SetPointer> Overlay(SetPointer base, std::vector<SetPointer> layers) {
  auto overlaid = std::make_shared<OverlaySet>(std::move(base), std::move(layers));
  DOLIUM_TRY_VOID(overlaid->Prepare());
  return SetPointer(std::move(overlaid));
}

}  // namespace dolium::dataset
