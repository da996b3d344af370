// XXH64 with seed 0: where to look for a key, and whether two lists of keys are equal.
#pragma once

#include <cstdint>
#include <memory>

#include "dolium/base/bytes.h"

namespace dolium {

uint64_t Xxh64(BytesView data);

// The same of bytes that come segment by segment.
class Xxh64Stream {
 public:
  Xxh64Stream();
  ~Xxh64Stream();
  Xxh64Stream(Xxh64Stream&&) noexcept;
  Xxh64Stream& operator=(Xxh64Stream&&) noexcept;

  void Add(BytesView data);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dolium
