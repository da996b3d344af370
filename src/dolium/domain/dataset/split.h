// Split: which positions of a global order go to which rank, worker and batch.
//
// The order (see sample_order.h) is cut into global batches of world x batch_size
// positions; rank r takes the r-th slice of each. Within a rank, worker w of K takes
// whole batches w, w + K, w + 2K, ...: a loader that takes a batch from every worker in
// turn, as torch's DataLoader does, delivers them in order. So what a step trains on
// depends only on the order and on where it began, and a run may go on from any position
// with another number of ranks and workers and another batch size: no sample comes twice,
// none is lost.
#pragma once

#include <cstdint>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::dataset {

// What becomes of the positions that do not fill a last global batch.
enum class Remainder : uint8_t {
  kDrop,  // left out: every batch of every rank is full
  kPad,   // a last, shorter batch, as long for every rank; fewer than `world` positions
          // are visited again, from the start of the order, to make it even
  kKeep,  // a last, shorter batch; all once, so that a rank may have one sample more than
          // another, or one batch: for evaluation, where ranks need not keep step
};

struct SplitOptions {
  uint64_t total = 0;  // positions in the order
  uint64_t start = 0;  // the first one to deliver: 0, or where a run was interrupted
  uint64_t batch_size = 1;
  uint64_t rank = 0;
  uint64_t world = 1;
  uint64_t worker = 0;
  uint64_t workers = 1;
  Remainder remainder = Remainder::kDrop;
};

// Neighbouring positions. Those past the end of the order (padding) count from its start
// again; Positions() does that.
struct PositionRange {
  uint64_t first = 0;
  uint64_t count = 0;

  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

// Immutable: all methods may be called from many threads.
class Split {
 public:
  // kInvalidArgument if a number is out of its range.
  static Result<Split> Make(const SplitOptions& options);

  const SplitOptions& options() const { return options_; }

  // Of this rank, all its workers together.
  uint64_t batches() const { return batches_; }
  uint64_t samples() const { return samples_; }
  // Of this worker.
  uint64_t worker_batches() const;

  // The rank's `batch`-th batch. Precondition: batch < batches().
  PositionRange Batch(uint64_t batch) const;
  // The `index`-th batch of this worker. Precondition: index < worker_batches().
  PositionRange WorkerBatch(uint64_t index) const {
    return Batch(options_.worker + index * options_.workers);
  }

  // The position to go on from when every rank has had `batches` batches, or all that it
  // has: what a checkpoint keeps, the same for all ranks. The end of the order if nothing
  // is left for any of them; what is dropped counts as visited.
  uint64_t PositionAfter(uint64_t batches) const;

  // The positions of `range`, wrapped: all below the total.
  std::vector<uint64_t> Positions(PositionRange range) const;

 private:
  explicit Split(const SplitOptions& options);

  SplitOptions options_;
  uint64_t global_batch_;  // positions
  uint64_t full_batches_;
  uint64_t steps_;      // batches of the rank that has the most
  PositionRange last_;  // what this rank has of the last, shorter batch; may be empty
  uint64_t batches_;
  uint64_t samples_;
};

}  // namespace dolium::dataset
