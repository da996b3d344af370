// Arrays of labels that look random and are the same everywhere, so that tests can hold
// digests of what other programs make of them.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Cubes of `grain` voxels, each of one of `labels` labels: 0, or base + k * stride.
struct LabelPattern {
  uint64_t grain = 1;
  uint64_t labels = 2;
  uint64_t base = 0;
  uint64_t stride = 1;
};

inline ByteVector MakeLabels(const ArrayShape& shape, const LabelPattern& pattern) {
  ByteVector out(static_cast<size_t>(*shape.bytes()));
  const size_t width = SizeOf(shape.type);
  std::byte* to = out.data();
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t z = 0; z < shape.size[2]; ++z) {
      for (int64_t y = 0; y < shape.size[1]; ++y) {
        for (int64_t x = 0; x < shape.size[0]; ++x, to += width) {
          uint64_t mixed = static_cast<uint64_t>(x) / pattern.grain * 0x9e3779b97f4a7c15 +
                           static_cast<uint64_t>(y) / pattern.grain * 0xc2b2ae3d27d4eb4f +
                           static_cast<uint64_t>(z) / pattern.grain * 0x165667b19e3779f9 +
                           static_cast<uint64_t>(c) * 0x27d4eb2f165667c5;
          mixed ^= mixed >> 29;
          mixed *= 0xbf58476d1ce4e5b9;
          mixed ^= mixed >> 32;
          const uint64_t k = mixed % pattern.labels;
          const uint64_t label = k == 0 ? 0 : pattern.base + k * pattern.stride;
          for (size_t i = 0; i < width; ++i) {
            to[i] = static_cast<std::byte>(label >> (8 * i));
          }
        }
      }
    }
  }
  return out;
}

}  // namespace dolium::volume
