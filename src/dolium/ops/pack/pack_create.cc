#include "dolium/ops/pack/pack_create.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "dolium/base/worker_pool.h"
#include "dolium/ops/pack/pack_output.h"

namespace dolium::dataset {
namespace {

using shardpack::PackOptions;
using shardpack::PackSummary;
using shardpack::PackWriter;
using shardpack::Sample;

// What the reader hands over at once.
constexpr size_t kBatchSamples = 64;
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
// How much the reader may be ahead: this, and no more than a part of the memory.
constexpr uint64_t kMostAhead = uint64_t{64} << 20;
constexpr uint64_t kAheadPart = 4;
constexpr size_t kMostBatches = 64;

uint64_t BytesOf(const Sample& sample) {
  uint64_t bytes = 0;
  for (const shardpack::File& file : sample.files) bytes += file.data.size();
  return bytes;
}

// Reads a source on a thread of its own, a little ahead of whoever takes its samples.
class ReadAhead {
 public:
  struct Batch {
    std::vector<Sample> samples;
    uint64_t bytes = 0;
    Progress progress;
  };

  ReadAhead(SampleSource& source, uint64_t most_bytes)
      : source_(source), most_bytes_(most_bytes) {
    reader_.Submit([this] { return Read(); });
  }
  ~ReadAhead() {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next samples; none after the last.
  Result<Batch> Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || end_; });
    if (batches_.empty()) {
      if (!*end_) return end_->error();
      return Batch();
    }
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    bytes_ -= batch.bytes;
    changed_.notify_all();
    return batch;
  }

 private:
  // Errors are handed over in their place, behind the samples before them.
  Result<void> Read() {
    std::optional<Result<void>> end;
    while (!end) {
      Batch batch;
      while (!end && batch.samples.size() < kBatchSamples && batch.bytes < kBatchBytes) {
        auto sample = source_.Next();
        if (!sample) {
          end = Result<void>(sample.error());
        } else if (!*sample) {
          end = Result<void>();
        } else {
          batch.bytes += BytesOf(**sample);
          batch.samples.push_back(**std::move(sample));
        }
      }
      batch.progress = source_.progress();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return is_stopped_ || batches_.empty() ||
               (bytes_ + batch.bytes <= most_bytes_ && batches_.size() < kMostBatches);
      });
      if (is_stopped_) return {};
      bytes_ += batch.bytes;
      if (!batch.samples.empty()) batches_.push_back(std::move(batch));
      end_ = end;
      changed_.notify_all();
    }
    return {};
  }

  SampleSource& source_;
  const uint64_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  uint64_t bytes_ = 0;  // of those batches
  bool is_stopped_ = false;
  std::optional<Result<void>> end_;
  // Last: its thread uses what is above.
  WorkerPool reader_{1};
};

Result<PackSummary> WriteAll(SampleSource& source, PackOptions options,
                             const ProgressFunction& progress) {
  const uint64_t ahead = std::min(kMostAhead, options.memory / kAheadPart);
  DOLIUM_TRY(const auto writer, PackWriter::Create(std::move(options)));
  ReadAhead reader(source, ahead);
  while (true) {
    DOLIUM_TRY(ReadAhead::Batch batch, reader.Next());
    if (batch.samples.empty()) break;
    for (Sample& sample : batch.samples) DOLIUM_TRY_VOID(writer->Add(std::move(sample)));
    if (progress) progress(batch.progress);
  }
  return writer->Finish();
}

}  // namespace

Result<PackReport> CreatePack(SampleSource& source, const CreateRequest& request) {
  PackOptions options = request.pack;
  const bool force = options.shard.force;
  DOLIUM_TRY(
      const PackOutput output,
      PackOutput::Make(request.output,
                       options.shard_bytes > 0 || options.shard_records > 0, force));
  uint64_t begun = 0;
  options.place = [&](uint64_t number) {
    begun = number + 1;
    return output.At(number);
  };
  auto summary = WriteAll(source, std::move(options), request.progress);
  if (!summary) {
    // The last one that was begun has not appeared.
    for (uint64_t number = 0; !force && number + 1 < begun; ++number) {
      output.Withdraw(number);
    }
    return std::move(summary).error();
  }
  PackReport report{.summary = *std::move(summary), .leftover = {}};
  DOLIUM_TRY(report.leftover, output.Leftover(report.summary.shards.size()));
  return report;
}

}  // namespace dolium::dataset
