// A label block: what parses decodes or fails, and encodes to the same voxels.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dolium/formats/dvid/label_block.h"

using namespace dolium;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView input = std::as_bytes(std::span(data, size));
  const auto block = dvid::LabelBlock::Parse(input);
  // Solid blocks of any size take 24 bytes.
  if (!block || block->voxels() > (uint64_t{1} << 20)) return 0;
  std::vector<uint64_t> voxels(static_cast<size_t>(block->voxels()));
  if (!dvid::DecodeBlock(*block, block->labels(), voxels)) return 0;
  const ByteVector again = dvid::EncodeBlock(block->grid(), voxels);
  const auto parsed = dvid::LabelBlock::Parse(again);
  if (!parsed) __builtin_trap();
  std::vector<uint64_t> same(voxels.size());
  if (!dvid::DecodeBlock(*parsed, parsed->labels(), same) || same != voxels) {
    __builtin_trap();
  }
  return 0;
}
