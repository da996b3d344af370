// InputStream: an object read front to back, uncompressed on the way.
//
// Reads a window of a MiB at a time, all from one generation of the object. What is
// handed out shares the window; large segments have memory of their own. One thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/gunzip_stream.h"
#include "dolium/bytes/location.h"
#include "dolium/bytes/spool.h"

namespace dolium::dataset {

class InputStream {
 public:
  // Undoes gzip if the object begins with its mark. kUnsupported for the marks of bzip2,
  // xz and zstd, which would only be met as garbage later.
  static Result<std::unique_ptr<InputStream>> Open(Location location);
  // The same of bytes at hand.
  static Result<std::unique_ptr<InputStream>> Open(Bytes bytes, std::string name);

  // The name that a person would type, for messages.
  const std::string& name() const { return name_; }
  // Of the object; none of bytes at hand.
  const Generation& generation() const { return generation_; }

  // True after the last byte.
  Result<bool> AtEnd();

  // The next `length` bytes; kCorrupt if the stream ends before (`what` names them).
  // Never allocates much more than there is.
  Result<Bytes> Read(uint64_t length, std::string_view what);
  Result<void> Skip(uint64_t length, std::string_view what);
  // As Read, but a view that is valid until the next call. `length` is at most 64 KiB.
  Result<BytesView> Peek(size_t length, std::string_view what);

  // Up to the next newline, which is passed and not handed out; nullopt at the end.
  // kCorrupt for a line of more than `limit` bytes.
  Result<std::optional<Bytes>> ReadLine(uint64_t limit);

  // Goes to the next byte that is not zero; true if there is none.
  Result<bool> SkipZeros();

  // Reads what is left, so that the checksum of compressed data is checked.
  Result<void> Drain();

  // Bytes handed out or skipped; bytes of the object used up, and its size.
  uint64_t position() const { return position_; }
  uint64_t consumed() const { return consumed_; }
  uint64_t size() const { return size_; }

 private:
  InputStream(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}

  Result<void> DetectCompression();
  // Reads stored bytes; 0 at the end.
  Result<size_t> ReadStored(MutableBytes into);
  // All of `into`, from the location.
  Result<void> ReadObject(MutableBytes into);
  // Reads uncompressed bytes, some at least; 0 at the end.
  Result<size_t> ReadPlain(MutableBytes into);
  // Makes the window hold `length` bytes if the stream has them.
  Result<void> Fill(size_t length);
  size_t available() const { return end_ - begin_; }
  Error Ended(uint64_t length, std::string_view what, uint64_t left) const;
  Bytes Take(size_t length);

  const std::string name_;
  const uint64_t size_;
  std::optional<Location> location_;
  Generation generation_;
  std::optional<Spool> spool_;  // in place of a location that answers no ranges
  Bytes memory_;                // if there is no location

  std::shared_ptr<std::byte[]> window_;
  size_t begin_ = 0;  // what is left of the window
  size_t end_ = 0;
  uint64_t position_ = 0;
  uint64_t consumed_ = 0;

  std::unique_ptr<GunzipStream> gunzip_;
  ByteVector plain_;  // uncompressed, not yet in the window
  size_t plain_used_ = 0;
};

}  // namespace dolium::dataset
