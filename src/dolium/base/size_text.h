// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "dolium/base/result.h"

namespace dolium {

// "4096", "512k", "1.5GB" (powers of 1000), "64MiB", "2Gi" (powers of 1024); letters in
// any case, a final B as you like. kInvalidArgument for anything else and for what
// exceeds 64 bits.
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace dolium
