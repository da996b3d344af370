// Three ways to hold bytes: BytesView to look, Bytes to keep, ByteVector to build.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/byte_range.h"

namespace dolium {

using BytesView = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;
using ByteVector = std::vector<std::byte>;

inline BytesView AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view AsText(BytesView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Immutable bytes with one shared owner, whatever that is: heap, memory map, a larger
// Bytes. Copies share; they are cheap. Safe to use from many threads.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, BytesView view)
      : owner_(std::move(owner)), view_(view) {}

  static Bytes FromVector(ByteVector data) {
    auto owner = std::make_shared<const ByteVector>(std::move(data));
    const BytesView view(*owner);
    return {std::move(owner), view};
  }
  static Bytes Copy(BytesView view) {
    return FromVector(ByteVector(view.begin(), view.end()));
  }

  BytesView view() const { return view_; }
  operator BytesView() const { return view_; }  // NOLINT: a Bytes is a view that owns.
  const std::byte* data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

  // A part that shares the owner. Precondition: the part lies within.
  Bytes Slice(size_t offset, size_t length) const {
    return {owner_, view_.subspan(offset, length)};
  }

 private:
  std::shared_ptr<const void> owner_;
  BytesView view_;
};

// A heap buffer whose bytes are not cleared first: for data about to be read into it.
class Buffer {
 public:
  explicit Buffer(size_t size) : data_(new std::byte[size]), size_(size) {}
  MutableBytes view() { return {data_.get(), size_}; }
  Bytes Share() && {
    std::shared_ptr<std::byte[]> owner = std::move(data_);
    const BytesView view(owner.get(), size_);
    return {std::move(owner), view};
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_;
};

inline bool Equal(BytesView a, BytesView b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline void Append(ByteVector& to, BytesView bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace dolium
