#include "python/src/entry_reads.h"

#include <utility>

#include "dolium/base/stop.h"

namespace dolium::python {
namespace {

// A batch ends when it has as many entries or bytes.
constexpr size_t kBatchEntries = 1024;
constexpr uint64_t kBatchBytes = uint64_t{8} << 20;
constexpr size_t kBatchesAhead = 4;

}  // namespace

EntryStream::EntryStream(std::shared_ptr<const Container> container)
    : container_(std::move(container)), thread_([this](std::stop_token stop) {
        const StopScope waits(std::move(stop));
        Run();
      }) {}

EntryStream::~EntryStream() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void EntryStream::Run() {
  Result<void> result =
      Scan(*container_,
           {.entry = [this](const Entry& entry) { return Take(entry); }, .damage = {}});
  if (!batch_.empty()) Push(std::move(batch_));
  const std::lock_guard lock(mutex_);
  result_ = std::move(result);
  ended_ = true;
  changed_.notify_all();
}

bool EntryStream::Take(const Entry& entry) {
  batch_.push_back(entry);
  batch_bytes_ += entry.stored_size();
  if (batch_.size() < kBatchEntries && batch_bytes_ < kBatchBytes) return true;
  batch_bytes_ = 0;
  return Push(std::exchange(batch_, {}));
}

bool EntryStream::Push(std::vector<Entry> batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || batches_.size() < kBatchesAhead; });
  if (stopping_) return false;
  batches_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

Result<std::vector<Entry>> EntryStream::Next() {
  std::unique_lock lock(mutex_);
  const bool is_ready =
      changed_.wait(lock, CurrentStop(), [&] { return ended_ || !batches_.empty(); });
  if (!is_ready) return Cancelled();
  if (batches_.empty()) {
    if (!result_) return result_.error();
    return std::vector<Entry>();
  }
  std::vector<Entry> batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace dolium::python
