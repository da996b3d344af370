// PackWriter: samples in, numbered shards out.
//
// Samples are encoded on worker threads and written in the order they were given, so that
// the number of threads does not show in the files. Memory is bounded by an option.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/base/worker_pool.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/shardpack/sample.h"
#include "dolium/formats/shardpack/shard_writer.h"

namespace dolium::shardpack {

// What becomes of a sample whose record exceeds the limit.
enum class Oversize : uint8_t {
  kError,
  kSplit,  // into records that readers join again, in the same shard; files are cut
           // where they do not fit
  kSkip,
};

struct PackOptions {
  ShardWriterOptions shard;
  // A new shard begins before the record that would make it larger, or after so many
  // records; 0: no limit. A shard has at least one record.
  uint64_t shard_bytes = 0;
  uint64_t shard_records = 0;
  // The place of shard `number`, from 0.
  std::function<Location(uint64_t number)> place;
  Oversize oversize = Oversize::kError;
  // zstd: train a dictionary of about this size from the first samples; 0: none.
  size_t dictionary_bytes = 0;
  // Where an earlier writer of the same samples stood after its last complete shard: how
  // many shards there are, and how many samples they took. Of those samples, the first
  // `samples_to_drop` to be added are the last ones, and count for the dictionary alone.
  uint64_t shards_before = 0;
  uint64_t samples_before = 0;
  uint64_t samples_to_drop = 0;
  // Called when a shard has appeared, with how many samples all shards so far took, and
  // how many of these were left out since the shard before. An error is that of the
  // writer.
  std::function<Result<void>(const ShardSummary& shard, uint64_t samples,
                             uint64_t skipped, bool is_last)>
      shard_done = {};
  size_t jobs = 0;                        // threads; 0: one per core
  uint64_t memory = uint64_t{256} << 20;  // bytes of samples held
  std::stop_token stop = {};
};

struct PackSummary {
  std::vector<ShardSummary> shards;
  uint64_t records = 0;
  uint64_t skipped = 0;    // samples that were too large
  uint64_t raw_bytes = 0;  // of all files

  uint64_t bytes() const;
};

// One thread at a time. Shards appear one by one, whole; destroyed without Finish, the
// last one does not appear.
//
// A sample that the format or the limit does not allow is refused by its own Add, on
// whatever threads others are encoded, and the writer goes on without it. All other
// errors are final: every later call returns the first of them, and the last shard does
// not appear. So a shard that appears holds every sample whose Add succeeded.
class PackWriter {
 public:
  static Result<std::unique_ptr<PackWriter>> Create(PackOptions options);
  ~PackWriter();

  Result<void> Add(Sample sample);
  // A block as it lies in another shard of the same alignment, which is checked by
  // `check`. kInvalidArgument if it needs a dictionary, or if one is wanted here.
  Result<void> AddBlock(const Bytes& block, Check check);

  // Writes an empty shard if there were no samples.
  Result<PackSummary> Finish();

 private:
  struct Batch;
  // What becomes of a sample.
  struct Encoded {
    std::optional<EncodedRecord> record = {};  // its record, if it has one
    // It is cut, part by part when it is written: all of them at once may be too large.
    bool is_split = false;
  };

  explicit PackWriter(PackOptions options);

  // Whether the sample itself would keep Encode from succeeding later.
  Result<void> CheckBefore(const Sample& sample) const;
  // The same result; an error becomes that of all calls to come.
  Result<void> Keep(Result<void> result);
  // Has it encoded on some thread, and written after those before it.
  Result<void> Enqueue(Sample sample);

  Result<void> SubmitBatch();
  Result<void> CommitFront();
  // Everything that waits for a dictionary or for a thread.
  Result<void> CommitRest();
  Result<void> Commit(const Sample& sample, Encoded encoded);
  Result<void> CommitParts(const Sample& sample);
  Result<void> AppendBlock(const EncodedRecord& record, bool may_roll);
  // Begins a new shard if so much would make this one too large.
  Result<void> MakeRoom(uint64_t records, uint64_t bytes);
  Result<void> BeginShard();
  Result<void> EndShard(bool is_last);
  Result<void> TrainDictionary();
  Result<Encoded> Encode(const Sample& sample) const;

  PackOptions options_;
  bool is_parallel_ = false;
  PackSummary summary_;
  uint64_t samples_done_ = 0;     // written or left out, by all writers
  uint64_t samples_to_drop_ = 0;  // of those still to come
  uint64_t skipped_in_shard_ = 0;
  std::unique_ptr<ShardWriter> shard_;
  std::unique_ptr<Batch> open_batch_;
  std::deque<std::shared_ptr<Batch>> in_flight_;
  uint64_t bytes_in_flight_ = 0;
  // Samples that wait for their dictionary.
  std::vector<Sample> training_;
  uint64_t training_bytes_ = 0;
  bool is_training_ = false;
  std::optional<Error> failure_;
  // Last: its threads use what is above.
  std::unique_ptr<WorkerPool> workers_;
};

}  // namespace dolium::shardpack
