#ifndef DOLIUM_BASE_TESTING_REQUIRE_H_
#define DOLIUM_BASE_TESTING_REQUIRE_H_

#include <cstdlib>

namespace dolium {

// What must hold in a fuzz target, whatever the input.
inline void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace dolium

#endif  // DOLIUM_BASE_TESTING_REQUIRE_H_
