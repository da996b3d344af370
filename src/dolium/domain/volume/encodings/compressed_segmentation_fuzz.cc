// Any bytes as a chunk of any small shape: all kernels must answer the same, within the
// bytes they are given. What they accept must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dolium/domain/volume/encodings/compressed_segmentation_internal.h"

using dolium::ByteVector;
using namespace dolium::volume;

namespace {

int64_t SideFrom(uint8_t byte) { return 1 + byte % 24; }
// Mostly blocks whose rows the fast kernels take, sometimes absurd ones.
int64_t BlockSideFrom(uint8_t byte) {
  if (byte == 255) return INT64_MAX;
  return byte < 128 ? 8 : 1 + byte % 30;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 7;
  if (size < kHeader) return 0;
  const ArrayShape shape{{SideFrom(data[1]), SideFrom(data[2]), SideFrom(data[3])},
                         1 + (data[0] >> 1) % 3,
                         (data[0] & 1) != 0 ? DataType::kUint64 : DataType::kUint32};
  const Vec3 block = {BlockSideFrom(data[4]), BlockSideFrom(data[5]),
                      BlockSideFrom(data[6])};
  // Copied, so that a sanitizer sees what is read behind its end.
  const auto input = std::as_bytes(std::span(data + kHeader, size - kHeader));
  const ByteVector stored(input.begin(), input.end());

  ByteVector voxels(static_cast<size_t>(*shape.bytes()));
  ByteVector best(voxels.size());
  const bool accepted =
      DecodeCompressedSegmentation(shape, block, stored, voxels, LabelKernels::kPortable)
          .has_value();
  if (accepted !=
      DecodeCompressedSegmentation(shape, block, stored, best, BestLabelKernels())
          .has_value()) {
    std::abort();
  }
  if (!accepted) return 0;
  if (voxels != best) std::abort();

  const auto portable =
      EncodeCompressedSegmentation(shape, block, voxels, LabelKernels::kPortable);
  const auto encoded =
      EncodeCompressedSegmentation(shape, block, voxels, BestLabelKernels());
  if (portable.has_value() != encoded.has_value()) std::abort();
  if (!encoded) return 0;
  if (*portable != *encoded) std::abort();
  if (!DecodeCompressedSegmentation(shape, block, *encoded, best, BestLabelKernels()) ||
      voxels != best) {
    std::abort();
  }
  return 0;
}
