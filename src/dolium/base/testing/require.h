// Require: what must hold in a fuzz target, whatever the input.
#pragma once

#include <cstdlib>

namespace dolium {

inline void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace dolium
