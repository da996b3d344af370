// Entries of a container, a batch at a time; their values are read by ops/read_key.h.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "dolium/container/container.h"

namespace dolium::python {

// A scan, turned inside out: a thread scans ahead, a few batches at most, and Next()
// takes them. One thread at a time.
class EntryStream {
 public:
  explicit EntryStream(std::shared_ptr<const Container> container);
  // Ends the scan, be it waiting for a server, and waits for its thread.
  ~EntryStream();

  // Some entries; none at the end. kCancelled if the stop is requested that waits of this
  // thread follow.
  Result<std::vector<Entry>> Next();

 private:
  void Run();
  // Returns false to end the scan.
  bool Take(const Entry& entry);
  bool Push(std::vector<Entry> batch);

  const std::shared_ptr<const Container> container_;
  // Used by the thread alone.
  std::vector<Entry> batch_;
  uint64_t batch_bytes_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::deque<std::vector<Entry>> batches_;
  bool stopping_ = false;
  bool ended_ = false;
  Result<void> result_;

  std::jthread thread_;  // last: it uses the members above
};

}  // namespace dolium::python
