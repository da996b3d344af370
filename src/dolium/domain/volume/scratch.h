// Memory for a moment: buffers that are kept and used again.
//
// Large buffers that come from the system and go back to it cost a page fault for each
// page, every time, which is more than decoding a chunk into them.
#pragma once

#include <cstddef>
#include <memory>

#include "dolium/base/bytes.h"

namespace dolium::volume {

// A buffer of at least the size asked for, until it is destroyed. Its bytes mean nothing
// at first. Taking one may be done from any thread; what lies idle is bounded.
class Scratch {
 public:
  explicit Scratch(size_t size);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  MutableBytes view() { return {block_.get(), size_}; }
  std::byte* data() { return block_.get(); }

 private:
  std::unique_ptr<std::byte[]> block_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

}  // namespace dolium::volume
