#include "python/src/set_writing.h"

#include <span>
#include <utility>

#include "dolium/formats/builtin.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

// As much is gathered before it is handed over; larger chunks are not gathered.
constexpr size_t kStagedBytes = size_t{1} << 20;
constexpr size_t kLargeChunk = size_t{64} << 10;
constexpr size_t kStagedChunks = 4096;

// Rows between two looks at the stop token.
constexpr size_t kRowsAtOnce = 1024;

}  // namespace

SetWriting::SetWriting(const WriteRequest& request, WriterOptions options) {
  options.stop = stop_.get_token();
  Result<std::unique_ptr<SetWriter>> set = std::unique_ptr<SetWriter>();
  {
    const nb::gil_scoped_release release;
    set = SetWriter::Begin(BuiltinFormats(), request, options);
  }
  set_ = Must(std::move(set));
  staged_bytes_.reserve(kStagedBytes);
}

SetWriting::~SetWriting() { Abandon(); }

std::unique_lock<std::mutex> SetWriting::Lock() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    const nb::gil_scoped_release release;
    lock.lock();
  }
  return lock;
}

void SetWriting::CheckOpen() const {
  if (set_ == nullptr) throw nb::value_error("this writer is finished");
}

void SetWriting::Add(uint64_t id, BytesView value, BytesView preceding) {
  const auto lock = Lock();
  CheckOpen();
  const size_t size = value.size() + preceding.size();
  ++entries_;
  bytes_ += size;
  if (size < kLargeChunk) {
    if (staged_bytes_.size() + size > kStagedBytes || staged_.size() == kStagedChunks) {
      Flush();
    }
    Append(staged_bytes_, preceding);
    Append(staged_bytes_, value);
    staged_.push_back({id, value.size(), preceding.size()});
    return;
  }
  Result<void> added;
  {
    const nb::gil_scoped_release release;
    added = AddStaged();
    if (added) added = set_->AddChunk(id, value, preceding);
  }
  Must(added);
}

void SetWriting::Flush() {
  Result<void> added;
  {
    const nb::gil_scoped_release release;
    added = AddStaged();
  }
  Must(added);
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Result<void> SetWriting::AddStaged() {
  BytesView rest = staged_bytes_;
  Result<void> result;
  for (const Staged& chunk : staged_) {
    const BytesView preceding = rest.first(chunk.preceding);
    const BytesView value = rest.subspan(chunk.preceding, chunk.value);
    rest = rest.subspan(chunk.preceding + chunk.value);
    result = set_->AddChunk(chunk.id, value, preceding);
    if (!result) break;
  }
  staged_.clear();
  staged_bytes_.clear();
  return result;
}

void SetWriting::AddRows(std::span<const uint64_t> ids, const std::byte* rows,
                         size_t row_bytes, const Report& report) {
  const auto lock = Lock();
  CheckOpen();
  Flush();
  Result<void> added;
  RunInterruptible(stop_, [&] {
    for (size_t i = 0; added && i < ids.size(); ++i) {
      if (i % kRowsAtOnce == 0) {
        if (stop_.stop_requested()) {
          added = Cancelled();
          break;
        }
        if (report) report(entries_, bytes_);
      }
      added = set_->AddChunk(ids[i], {rows + i * row_bytes, row_bytes}, {});
      ++entries_;
      bytes_ += row_bytes;
    }
  });
  Must(added);
}

WriteSummary SetWriting::Finish() {
  const auto lock = Lock();
  CheckOpen();
  Result<WriteSummary> summary = WriteSummary();
  RunInterruptible(stop_, [&] {
    const Result<void> added = AddStaged();
    if (added) {
      summary = set_->Finish();
    } else {
      summary = added.error();
    }
    set_.reset();
  });
  return Must(std::move(summary));
}

void SetWriting::Abandon() {
  const auto lock = Lock();
  if (set_ == nullptr) return;
  const nb::gil_scoped_release release;
  set_.reset();
}

}  // namespace dolium::python
