// Mixture: several sets as one, in given proportions.
//
// The order is made of blocks of `block_size` positions. Each block holds the same number
// of positions of every source, in proportion to the weights (largest remainders, at
// least one), shuffled again in every block. A source's own positions follow each other,
// so each source is read in its own order (see sample_order.h).
//
// Where a run is, is again (seed, epoch, position): nothing is remembered between steps,
// and what a position means costs one look at its block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::dataset {

struct MixtureSource {
  uint64_t total = 0;  // samples; at least 1
  double weight = 1;   // above 0; only the proportions matter
};

// How long an epoch of the mixture is.
enum class MixtureStop : uint8_t {
  kFirstExhausted,  // until some source has been visited whole
  kAllExhausted,    // until every one has; those that end earlier begin again, reshuffled
  kSamples,         // a given number; the next epoch goes on where this one ended
};

struct MixtureOptions {
  std::vector<MixtureSource> sources = {};
  MixtureStop stop = MixtureStop::kFirstExhausted;
  uint64_t samples = 0;  // for kSamples
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t block_size = 1024;  // at least one position per source; at most kMaxBlockSize
};

// What one position of the mixture stands for.
struct MixtureStep {
  uint64_t source = 0;
  uint64_t epoch = 0;     // the source's own: another one whenever it begins again
  uint64_t position = 0;  // in the source's order of that epoch

  friend bool operator==(const MixtureStep&, const MixtureStep&) = default;
};

// Immutable: all methods may be called from many threads.
class Mixture {
 public:
  static constexpr uint64_t kMaxBlockSize = 65536;

  // kInvalidArgument if a source is empty, a weight is not a number above 0, there are
  // more sources than positions in a block, or an epoch would exceed
  // Permutation::kMaxTotal positions.
  static Result<Mixture> Make(MixtureOptions options);

  // Positions in this epoch.
  uint64_t total() const { return total_; }
  // Positions of each source in every block: the proportions as they are kept.
  const std::vector<uint64_t>& block_counts() const { return counts_; }

  // Precondition: position < total().
  MixtureStep At(uint64_t position) const;
  // steps[i] = At(begin + i), block by block: far faster. Precondition: begin +
  // steps.size() <= total().
  void Fill(uint64_t begin, std::span<MixtureStep> steps) const;

  // The seed for the order of a source: sources of equal length are shuffled differently.
  uint64_t SourceSeed(uint64_t source) const;

 private:
  explicit Mixture(MixtureOptions options);

  // The source of each position of a block.
  std::vector<uint16_t> BlockSources(uint64_t block) const;
  // One past the position of the `count`-th sample of `source`, count >= 1, counted from
  // the first block.
  Result<uint64_t> EndOf(uint64_t source, uint64_t count) const;
  Result<void> SetTotal();
  void SetRounds();

  MixtureOptions options_;
  std::vector<uint64_t> counts_;
  std::vector<uint64_t> ends_;    // running sums of counts_
  std::vector<uint64_t> rounds_;  // own epochs of each source in an epoch, or more; empty
                                  // for kSamples
  uint64_t key_epoch_ = 0;        // what the blocks are shuffled by
  uint64_t first_ = 0;            // position of this epoch's start, counted from block 0
  uint64_t total_ = 0;
};

}  // namespace dolium::dataset
