#include "dolium/base/npy.h"

#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"

namespace dolium {
namespace {

constexpr size_t kNpyAlignment = 64;

}  // namespace

std::string NpyHeaderFor(std::string_view dtype, std::span<const uint64_t> shape,
                         bool fortran_order) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", dtype,
                  fortran_order ? "True" : "False", fmt::join(shape, ", "),
                  shape.size() == 1 ? "," : "");
  const size_t prefix = kNpyMagic.size() + 4;
  while ((prefix + text.size() + 1) % kNpyAlignment != 0) text += ' ';
  text += '\n';

  std::byte length[2];
  StoreLE(length, static_cast<uint16_t>(text.size()));
  std::string header(kNpyMagic);
  header += '\x01';
  header += '\x00';
  header += AsText(length);
  return header + text;
}

}  // namespace dolium
