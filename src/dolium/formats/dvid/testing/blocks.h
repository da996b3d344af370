// Small exports for tests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/shard_writer.h"

namespace dolium::dvid {

inline constexpr std::array<uint32_t, 3> kTestGrid = {8, 8, 8};
inline constexpr size_t kTestVoxels = size_t{64} * 64 * 64;

// Voxels of one 64x64x64 block, the same for the same seed. `labels` distinct ones at
// most, in clumps: some sub-blocks have one label, some very many. 1: solid.
std::vector<uint64_t> TestVoxels(uint64_t seed, size_t labels);

// A label for a supervoxel, several of which have the same.
inline uint64_t LabelOf(uint64_t supervoxel) {
  return supervoxel == 0 ? 0 : supervoxel | 3;
}

struct TestBlock {
  Key key;
  std::vector<uint64_t> voxels;  // supervoxels
};

// Writes a shard of these blocks, with labels by LabelOf().
void WriteTestShard(const Location& location, const std::vector<TestBlock>& blocks,
                    const DvidShardWriterOptions& options = {});

}  // namespace dolium::dvid
