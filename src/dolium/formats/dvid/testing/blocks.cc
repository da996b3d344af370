#include "dolium/formats/dvid/testing/blocks.h"

#include <random>

#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {

std::vector<uint64_t> TestVoxels(uint64_t seed, size_t labels) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> names(labels);
  for (uint64_t& name : names) name = random() >> random() % 60;
  std::vector<uint64_t> voxels(kTestVoxels);
  for (size_t z = 0; z < 64; ++z) {
    for (size_t y = 0; y < 64; ++y) {
      for (size_t x = 0; x < 64; ++x) {
        // Noise in one octant, slabs in another, clumps elsewhere.
        const size_t octant = x / 32 + 2 * (y / 32) + 4 * (z / 32);
        const size_t number = octant == 7   ? random()
                              : octant == 3 ? x / 3 + y / 5
                                            : x / 12 + y / 11 + z / 13;
        voxels[x + 64 * (y + 64 * z)] = names[number % labels];
      }
    }
  }
  return voxels;
}

void WriteTestShard(const Location& location, const std::vector<TestBlock>& blocks,
                    const DvidShardWriterOptions& options) {
  const auto writer = Must(DvidShardWriter::Begin(location, options));
  for (const TestBlock& block : blocks) {
    const ByteVector bytes = EncodeBlock(kTestGrid, block.voxels);
    const LabelBlock parsed = Must(LabelBlock::Parse(bytes));
    ByteVector labels(parsed.labels().bytes().size());
    for (size_t i = 0; i < parsed.labels().size(); ++i) {
      StoreLE<uint64_t>(labels.data() + 8 * i, LabelOf(parsed.labels()[i]));
    }
    const ByteVector stored =
        options.layout == ShardLayout::kSeed ? bytes : ZstdEncodeChecked(bytes);
    Must(writer->Add({.block = block.key,
                      .labels = LabelList(labels),
                      .supervoxels = parsed.labels(),
                      .stored = stored,
                      .uncompressed_size = static_cast<uint32_t>(bytes.size())}));
  }
  Must(writer->Finish());
}

}  // namespace dolium::dvid
