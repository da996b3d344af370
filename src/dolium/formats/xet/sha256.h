// SHA-256, which shards carry beside a file's own name so that Git LFS can find it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "dolium/base/bytes.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::xet {

// In the usual order of bytes; Sha256Field() (hash.h) makes the form of shards of it.
using Sha256Value = std::array<std::byte, 32>;

// The digest of bytes that come in segments. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(BytesView bytes);
  // Precondition: called once; nothing comes after it.
  Sha256Value Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dolium::xet
