// SampleOrder: in which order an epoch visits the samples of a set.
//
// The order is a function of the set, the seed and the epoch; it knows nothing of ranks,
// workers and batches (see split.h). Where a training run is, is a position in it.
//
//   kNone      as they are stored
//   kGlobal    any sample anywhere (see permutation.h); memory: none
//   kWindow    for sets that are read over the network: runs of neighbouring samples are
//              shuffled, then the samples within every `window_runs` runs that follow
//              each other. A reader that goes through the order needs that many runs in
//              memory, and each run only once; memory here: 16 bytes per run
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {

enum class Shuffle : uint8_t { kNone, kGlobal, kWindow };

struct SampleOrderOptions {
  uint64_t total = 0;  // samples in the set
  Shuffle shuffle = Shuffle::kGlobal;
  uint64_t seed = 0;
  uint64_t epoch = 0;

  // For kWindow. The first sample of each run, from 0, ascending; see EvenRuns().
  std::vector<uint64_t> run_starts = {};
  uint64_t window_runs = 16;
};

// Samples that are stored one after another.
struct SampleRun {
  uint64_t first = 0;
  uint64_t count = 0;

  friend bool operator==(const SampleRun&, const SampleRun&) = default;
};

// Positions that visit the same few runs, and these runs.
struct OrderWindow {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<SampleRun> runs = {};
};

// Immutable: all methods may be called from many threads. Copies share the list of runs.
class SampleOrder {
 public:
  // kInvalidArgument if there are more than Permutation::kMaxTotal samples, or if the
  // runs do not make up the set.
  static Result<SampleOrder> Make(SampleOrderOptions options);

  // The same set in another epoch.
  SampleOrder WithEpoch(uint64_t epoch) const;

  uint64_t total() const { return total_; }
  Shuffle shuffle() const { return shuffle_; }
  uint64_t seed() const { return seed_; }
  uint64_t epoch() const { return epoch_; }

  // The number of the sample at `position`; in windows, O(log runs).
  // Precondition: position < total().
  uint64_t At(uint64_t position) const;

  // samples[i] = At(begin + i), faster. Precondition: they lie within the order.
  void Fill(uint64_t begin, std::span<uint64_t> samples) const;

  // What a reader must have to deliver the positions around `position`: the window it
  // belongs to; without windows, nullopt. The next window begins at `end`.
  // Precondition: position < total().
  std::optional<OrderWindow> WindowAt(uint64_t position) const;

 private:
  // A window, ready to be asked.
  struct Inner {
    uint64_t begin;
    uint64_t end;
    size_t first_slot;
    size_t end_slot;
    Permutation order;
  };

  SampleOrder(const SampleOrderOptions& options,
              std::shared_ptr<const std::vector<uint64_t>> run_starts);

  SampleRun RunIn(size_t slot) const;
  Inner InnerAt(uint64_t position) const;
  // The sample of place `place` in `inner`, before its shuffling.
  uint64_t Stored(const Inner& inner, uint64_t place) const;

  uint64_t total_;
  Shuffle shuffle_;
  uint64_t seed_;
  uint64_t epoch_;
  uint64_t window_runs_;
  Permutation order_;                                        // of samples, or of runs
  std::shared_ptr<const std::vector<uint64_t>> run_starts_;  // and the total at the end
  // Where the i-th run in the order of this epoch begins, and the total at the end.
  std::shared_ptr<const std::vector<uint64_t>> slot_starts_;
};

// Runs of about `run_bytes` bytes (at least one sample) that do not cross from shard to
// shard, from what footers and catalogs say: for SampleOrderOptions::run_starts. Empty
// shards have no runs. kInvalidArgument if there would be more than kMaxRuns.
struct ShardExtent {
  uint64_t records = 0;
  uint64_t bytes = 0;
  uint64_t keys_digest = 0;  // of their keys in order, for others; 0: not known
};
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 24;
inline constexpr uint64_t kDefaultRunBytes = uint64_t{8} << 20;
Result<std::vector<uint64_t>> EvenRuns(std::span<const ShardExtent> shards,
                                       uint64_t run_bytes = kDefaultRunBytes);

}  // namespace dolium::dataset
