// The distinct labels of one block after another: numbered as they appear, then sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dolium::volume {

// A hash table that is emptied at the cost of what is in it.
template <typename Label>
class LabelIndex {
 public:
  LabelIndex() : slots_(kFirstCapacity) {}

  // Sets ids[i] to the number of labels[i] among the distinct labels, for all `count`.
  void Number(const Label* labels, size_t count, uint32_t* ids) {
    Clear();
    // Copies, which the compiler can keep in registers.
    const Slot* slots = slots_.data();
    uint64_t multiplier = multiplier_;
    unsigned shift = shift_;
    for (size_t i = 0; i < count; ++i) {
      const Label label = labels[i];
      const Slot slot = slots[(uint64_t{label} * multiplier) >> shift];
      if (slot.label == label && slot.id_plus_one != 0) {
        ids[i] = slot.id_plus_one - 1;
        continue;
      }
      ids[i] = FindOrInsert(label);
      slots = slots_.data();
      multiplier = multiplier_;
      shift = shift_;
    }
  }

  // In the order of their numbers.
  const std::vector<Label>& distinct() const { return distinct_; }

 private:
  static constexpr size_t kFirstCapacity = 1024;
  // A table at most a quarter full has chains as long only if the labels are made for it.
  static constexpr size_t kMaxProbes = 64;

  struct Slot {
    Label label;
    uint32_t id_plus_one;  // 0: empty
  };

  size_t Hash(Label label) const {
    return static_cast<size_t>((uint64_t{label} * multiplier_) >> shift_);
  }

  __attribute__((noinline)) uint32_t FindOrInsert(Label label) {
    size_t at = Hash(label);
    for (size_t probes = 0;; ++probes) {
      const Slot& slot = slots_[at];
      if (slot.id_plus_one == 0) break;
      if (slot.label == label) return slot.id_plus_one - 1;
      if (probes == kMaxProbes) break;
      at = (at + 1) & (slots_.size() - 1);
    }
    return Insert(label, at);
  }

  uint32_t Insert(Label label, size_t at) {
    const auto id = static_cast<uint32_t>(distinct_.size());
    distinct_.push_back(label);
    if (slots_[at].id_plus_one != 0 || distinct_.size() > slots_.size() / 4) {
      Grow();
    } else {
      slots_[at] = {label, id + 1};
      places_.push_back(static_cast<uint32_t>(at));
    }
    return id;
  }

  // Doubles the table, and hashes in another way.
  void Grow() {
    std::vector<Slot>(slots_.size() * 2).swap(slots_);
    --shift_;
    multiplier_ = (multiplier_ * 0x5851f42d4c957f2d + 0x14057b7ef767814f) | 1;
    places_.clear();
    for (size_t i = 0; i < distinct_.size(); ++i) {
      size_t at = Hash(distinct_[i]);
      while (slots_[at].id_plus_one != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {distinct_[i], static_cast<uint32_t>(i) + 1};
      places_.push_back(static_cast<uint32_t>(at));
    }
  }

  void Clear() {
    for (const uint32_t at : places_) slots_[at].id_plus_one = 0;
    places_.clear();
    distinct_.clear();
  }

  std::vector<Slot> slots_;
  unsigned shift_ = 64 - static_cast<unsigned>(std::countr_zero(kFirstCapacity));
  uint64_t multiplier_ = 0x9e3779b97f4a7c15;
  std::vector<uint32_t> places_;
  std::vector<Label> distinct_;
};

// Sorts distinct labels, and says for each of them where it went.
template <typename Label>
class LabelSorter {
 public:
  void Sort(const std::vector<Label>& labels, std::vector<Label>& sorted,
            std::vector<uint32_t>& ranks) {
    const size_t count = labels.size();
    sorted.resize(count);
    ranks.resize(count);
    if (!SortIntoBuckets(labels)) {
      keyed_.resize(count);
      for (size_t i = 0; i < count; ++i)
        keyed_[i] = {labels[i], static_cast<uint32_t>(i)};
      std::sort(keyed_.begin(), keyed_.end());
    }
    for (size_t i = 0; i < count; ++i) {
      sorted[i] = keyed_[i].first;
      ranks[keyed_[i].second] = static_cast<uint32_t>(i);
    }
  }

 private:
  static constexpr uint32_t kMaxBucket = 16;

  // By the leading bits of the distance to the smallest, then by insertion. False if too
  // many labels are in one bucket.
  bool SortIntoBuckets(const std::vector<Label>& labels) {
    const size_t count = labels.size();
    const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
    const Label base = *low;
    const auto range_bits = static_cast<unsigned>(std::bit_width(*high - base));
    const auto bucket_bits = static_cast<unsigned>(std::bit_width(count));
    const unsigned shift = range_bits - std::min(range_bits, bucket_bits);
    ends_.assign((size_t{1} << bucket_bits) + 1, 0);
    for (size_t i = 0; i < count; ++i) {
      if (++ends_[((labels[i] - base) >> shift) + 1] > kMaxBucket) return false;
    }
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    keyed_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const uint32_t at = ends_[(labels[i] - base) >> shift]++;
      keyed_[at] = {labels[i], static_cast<uint32_t>(i)};
    }
    for (size_t i = 1; i < count; ++i) {
      const auto moved = keyed_[i];
      size_t at = i;
      for (; at > 0 && moved.first < keyed_[at - 1].first; --at)
        keyed_[at] = keyed_[at - 1];
      keyed_[at] = moved;
    }
    return true;
  }

  std::vector<std::pair<Label, uint32_t>> keyed_;
  std::vector<uint32_t> ends_;
};

}  // namespace dolium::volume
