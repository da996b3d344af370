// SHA-256.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/error.h"

namespace dolium {

// In the usual order of bytes.
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

// As it is usually printed: 64 digits.
std::string ToString(const Sha256Value& value);

// The error for bytes whose digest is `found` and should be `expected`.
Error WrongSha256(const Sha256Value& found, const Sha256Value& expected);

}  // namespace dolium
