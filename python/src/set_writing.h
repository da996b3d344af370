// Writing a sharded set from Python, chunk by chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/base/bytes.h"
#include "dolium/ops/write.h"

namespace dolium::python {

namespace nb = nanobind;

// A set being written. Small chunks are gathered first, so that the GIL is let go of once
// for many of them: getting it back may take milliseconds if other threads want it. An
// error of one may thus show with a later one. All methods need the GIL; any thread may
// call them.
class SetWriting {
 public:
  // Raises FileExistsError if the set is there and may not be replaced (request.force).
  SetWriting(const WriteRequest& request, WriterOptions options);
  // As Abandon().
  ~SetWriting();

  // Copies the bytes. Raises ValueError after Finish() or Abandon().
  void Add(uint64_t id, BytesView value, BytesView preceding);

  // Many at once, `stride` bytes each, without the GIL and until `stop` is asked.
  using Report = std::function<void(uint64_t entries, uint64_t bytes)>;
  void AddRows(std::span<const uint64_t> ids, const std::byte* rows, size_t row_bytes,
               const Report& report);

  WriteSummary Finish();
  // Leaves the set unfinished. Does nothing after Finish().
  void Abandon();

  bool is_open() const { return set_ != nullptr; }
  std::stop_source stop() const { return stop_; }
  uint64_t entries() const { return entries_; }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Staged {
    uint64_t id = 0;
    size_t value = 0;      // bytes in staged_bytes_, after those that precede
    size_t preceding = 0;  // bytes
  };

  // Locks mutex_ without holding up others who need the GIL.
  std::unique_lock<std::mutex> Lock();
  void CheckOpen() const;
  Result<void> AddStaged();
  // Under the lock.
  void Flush();

  std::stop_source stop_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::unique_ptr<SetWriter> set_;  // nullptr: finished or abandoned
  std::vector<Staged> staged_;
  ByteVector staged_bytes_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace dolium::python
