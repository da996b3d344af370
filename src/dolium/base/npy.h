// The header that NumPy's .npy files begin with.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dolium {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Of version 1.0, for numbers of NumPy's type `dtype` ("<f4"), which has no quotes in it,
// and fewer than 256 lengths. The numbers follow it, aligned to 64 bytes.
std::string NpyHeaderFor(std::string_view dtype, std::span<const uint64_t> shape,
                         bool fortran_order);

}  // namespace dolium
