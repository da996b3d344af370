// The strands that one block found, as bytes, by groups of labels.
//
//   "DSKP", u32 version, u64 number of groups, u64 where each group begins, u64 the end
//   each strand: u64 id, u64 voxels, u8 flags (1: cut, 2: has areas), u32 vertices,
//   u32 edges, i64[3] each vertex, u32[2] each edge, f32 each radius, f32 each area
//
// All numbers are little-endian. It is kept in the folder of a job, and read like any
// other input.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/skeleton/making/block_skeletons.h"

namespace dolium::skeleton {

// `group_of(id)` is below `groups`. Strands of a group are in ascending order of id.
ByteVector WriteStrandFile(std::span<const SkeletonStrand> strands, uint64_t groups,
                           const std::function<uint64_t(uint64_t id)>& group_of);

// The bytes of a file that say where a group is, and what they say: kCorrupt if that is
// not within a file of so many bytes.
ByteRange StrandEntryRange(uint64_t group);
Result<ByteRange> ParseStrandEntry(BytesView entry, uint64_t file_size);

// Adds the strands of a group. kCorrupt if they are none.
Result<void> ParseStrands(BytesView bytes, std::vector<SkeletonStrand>& strands);

}  // namespace dolium::skeleton
