#include "dolium/domain/dataset/imports/input_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

constexpr size_t kWindowBytes = size_t{1} << 20;
// What is larger gets memory of its own.
constexpr size_t kSharedBytes = size_t{256} << 10;
// Of compressed bytes: they become at most a thousand times as many.
constexpr size_t kStoredSegment = size_t{16} << 10;
constexpr uint64_t kPlainLimit = uint64_t{64} << 20;
// Memory taken for a segment before its bytes have been seen.
constexpr uint64_t kTrustedBytes = uint64_t{16} << 20;

struct MagicMark {
  std::string_view bytes;
  std::string_view name;
};
constexpr MagicMark kOtherCompressions[] = {
    {"BZh", "bzip2"},
    {"\xfd"
     "7zXZ",
     "xz"},
    {"\x28\xb5\x2f\xfd", "zstd"},
};

}  // namespace

Result<std::unique_ptr<InputStream>> InputStream::Open(Location location) {
  DOLIUM_TRY(auto info, location.store->Stat(location.path));
  if (!info) return NotFound(location.Describe() + ": not there");
  std::unique_ptr<InputStream> stream(new InputStream(location.Describe(), info->size));
  stream->location_ = std::move(location);
  stream->generation_ = std::move(info->generation);
  DOLIUM_TRY_VOID(stream->DetectCompression());
  return stream;
}

Result<std::unique_ptr<InputStream>> InputStream::Open(Bytes bytes, std::string name) {
  std::unique_ptr<InputStream> stream(new InputStream(std::move(name), bytes.size()));
  stream->memory_ = std::move(bytes);
  DOLIUM_TRY_VOID(stream->DetectCompression());
  return stream;
}

Result<void> InputStream::DetectCompression() {
  DOLIUM_TRY_VOID(Fill(6));
  const std::string_view head(reinterpret_cast<const char*>(window_.get()) + begin_,
                              std::min<size_t>(available(), 6));
  for (const MagicMark& mark : kOtherCompressions) {
    if (head.starts_with(mark.bytes)) {
      return Unsupported(fmt::format(
          "{}: compressed with {}; only gzip is undone on the way", name_, mark.name));
    }
  }
  if (!head.starts_with("\x1f\x8b\x08")) return {};
  gunzip_ = std::make_unique<GunzipStream>();
  // Start over: what the window has is compressed.
  window_ = nullptr;
  begin_ = end_ = 0;
  consumed_ = 0;
  return {};
}

Result<size_t> InputStream::ReadStored(MutableBytes into) {
  const size_t length =
      static_cast<size_t>(std::min<uint64_t>(into.size(), size_ - consumed_));
  if (length == 0) return size_t{0};
  if (location_) {
    DOLIUM_TRY_VOID(ReadObject(into.first(length)));
  } else {
    std::memcpy(into.data(), memory_.data() + consumed_, length);
  }
  consumed_ += length;
  return length;
}

Result<void> InputStream::ReadObject(MutableBytes into) {
  if (!spool_) {
    const ReadSlice slice{consumed_, into};
    auto read = location_->store->ReadInto(location_->path, {&slice, 1}, {generation_});
    if (read) return {};
    if (read.error().code != ErrorCode::kUnsupported) return std::move(read).error();
    // No ranges are to be had there: all of it at once, then.
    DOLIUM_TRY(spool_, Spool::Of(*location_->store, location_->path, generation_));
    if (spool_->size() != size_) return std::move(read).error();
  }
  return spool_->Read(consumed_, into);
}

Result<size_t> InputStream::ReadPlain(MutableBytes into) {
  if (!gunzip_) return ReadStored(into);
  while (plain_used_ == plain_.size()) {
    plain_.clear();
    plain_used_ = 0;
    std::array<std::byte, kStoredSegment> part;
    DOLIUM_TRY(const size_t stored, ReadStored(part));
    if (stored == 0) {
      if (!gunzip_->finished()) {
        return Corrupt(name_ + ": the gzip data is cut short");
      }
      return size_t{0};
    }
    DOLIUM_TRY_VOID(
        gunzip_->Write(BytesView(part).first(stored), plain_, kPlainLimit).Within(name_));
  }
  const size_t length = std::min(into.size(), plain_.size() - plain_used_);
  std::memcpy(into.data(), plain_.data() + plain_used_, length);
  plain_used_ += length;
  return length;
}

Result<void> InputStream::Fill(size_t length) {
  if (available() >= length) return {};
  if (!window_ || begin_ + length > kWindowBytes) {
    // Segments that were handed out share the old window: it is left to them.
    const size_t left = available();
    std::shared_ptr<std::byte[]> fresh(new std::byte[kWindowBytes]);
    if (left > 0) std::memcpy(fresh.get(), window_.get() + begin_, left);
    window_ = std::move(fresh);
    begin_ = 0;
    end_ = left;
  }
  while (available() < length) {
    DOLIUM_TRY(const size_t got, ReadPlain({window_.get() + end_, kWindowBytes - end_}));
    if (got == 0) return {};
    end_ += got;
  }
  return {};
}

Result<bool> InputStream::AtEnd() {
  DOLIUM_TRY_VOID(Fill(1));
  return available() == 0;
}

Error InputStream::Ended(uint64_t length, std::string_view what, uint64_t left) const {
  return Corrupt(fmt::format("{}: {} needs {} bytes at {}, {} remain", name_, what,
                             length, position_, left));
}

Bytes InputStream::Take(size_t length) {
  Bytes out(window_, {window_.get() + begin_, length});
  begin_ += length;
  position_ += length;
  return out;
}

Result<Bytes> InputStream::Read(uint64_t length, std::string_view what) {
  if (length == 0) return Bytes();
  if (length <= kSharedBytes) {
    DOLIUM_TRY_VOID(Fill(static_cast<size_t>(length)));
    if (available() < length) return Ended(length, what, available());
    return Take(static_cast<size_t>(length));
  }
  const uint64_t plain_left = size_ - consumed_ + available();
  if (!gunzip_ && length > plain_left) {
    return Ended(length, what, plain_left);
  }
  const size_t wanted = static_cast<size_t>(length);
  // A size that the object is known to have is believed; one that compressed data claim
  // is not.
  size_t capacity = gunzip_ ? std::min<size_t>(wanted, kTrustedBytes) : wanted;
  std::shared_ptr<std::byte[]> out(new std::byte[capacity]);
  size_t done = std::min(available(), wanted);
  if (done > 0) std::memcpy(out.get(), window_.get() + begin_, done);
  begin_ += done;
  while (done < wanted) {
    if (done == capacity) {
      capacity = std::min(wanted, capacity * 2);
      std::shared_ptr<std::byte[]> larger(new std::byte[capacity]);
      std::memcpy(larger.get(), out.get(), done);
      out = std::move(larger);
    }
    DOLIUM_TRY(const size_t got, ReadPlain({out.get() + done, capacity - done}));
    if (got == 0) {
      return Ended(length, what, done);
    }
    done += got;
  }
  position_ += wanted;
  return Bytes(out, {out.get(), wanted});
}

Result<BytesView> InputStream::Peek(size_t length, std::string_view what) {
  DOLIUM_TRY_VOID(Fill(length));
  if (available() < length) return Ended(length, what, available());
  const BytesView out(window_.get() + begin_, length);
  begin_ += length;
  position_ += length;
  return out;
}

Result<void> InputStream::Skip(uint64_t length, std::string_view what) {
  const uint64_t from_window = std::min<uint64_t>(length, available());
  begin_ += static_cast<size_t>(from_window);
  position_ += from_window;
  uint64_t left = length - from_window;
  if (!gunzip_) {
    if (left > size_ - consumed_) return Ended(left, what, size_ - consumed_);
    consumed_ += left;
    position_ += left;
    return {};
  }
  while (left > 0) {
    DOLIUM_TRY_VOID(Fill(1));
    if (available() == 0) return Ended(left, what, 0);
    const uint64_t step = std::min<uint64_t>(left, available());
    begin_ += static_cast<size_t>(step);
    position_ += step;
    left -= step;
  }
  return {};
}

Result<std::optional<Bytes>> InputStream::ReadLine(uint64_t limit) {
  DOLIUM_TRY_VOID(Fill(1));
  if (available() == 0) return std::nullopt;
  ByteVector longer;  // what lines that do not fit the window have so far
  while (true) {
    const std::byte* const from = window_.get() + begin_;
    const void* const newline = std::memchr(from, '\n', available());
    const size_t length =
        newline == nullptr
            ? available()
            : static_cast<size_t>(static_cast<const std::byte*>(newline) - from);
    if (longer.size() + length > limit) {
      return Corrupt(
          fmt::format("{}: the line at byte {} has more than the limit of {} "
                      "bytes",
                      name_, position_ - longer.size(), limit));
    }
    if (newline != nullptr && longer.empty()) {
      Bytes line = Take(length);
      ++begin_;
      ++position_;
      return line;
    }
    if (newline == nullptr && longer.empty() && length < kSharedBytes) {
      DOLIUM_TRY_VOID(Fill(kSharedBytes));
      if (available() == length) return Take(length);  // the last, without a newline
      continue;
    }
    Append(longer, Take(length));
    if (newline != nullptr) {
      ++begin_;
      ++position_;
      return Bytes::FromVector(std::move(longer));
    }
    DOLIUM_TRY_VOID(Fill(1));
    if (available() == 0) return Bytes::FromVector(std::move(longer));
  }
}

Result<bool> InputStream::SkipZeros() {
  while (true) {
    DOLIUM_TRY_VOID(Fill(1));
    if (available() == 0) return true;
    const BytesView rest(window_.get() + begin_, available());
    const auto found =
        std::ranges::find_if(rest, [](std::byte value) { return value != std::byte{0}; });
    const auto zeros = static_cast<size_t>(found - rest.begin());
    position_ += zeros;
    begin_ += zeros;
    if (found != rest.end()) return false;
  }
}

Result<void> InputStream::Drain() {
  if (!gunzip_) return {};
  while (true) {
    DOLIUM_TRY_VOID(Fill(1));
    if (available() == 0) return {};
    position_ += available();
    begin_ = end_;
  }
}

}  // namespace dolium::dataset
