// Which shards a scale of an export can have, by the spec that it was made with: for
// stores that cannot list.
//
// A shard is named by the corner of a cube, whose side follows from the sharding: DVID
// takes the longest extent of a Neuroglancer shard, and before March 2026 took a cube of
// as many blocks. Ours have it in the spec, as `dolium_shard_side`. Plain functions of
// text; hostile input gives kCorrupt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/formats/dvid/ipc.h"

namespace dolium::dvid {

inline constexpr std::string_view kShardSideMember = "dolium_shard_side";

struct ShardNames {
  std::array<int64_t, 3> size = {0, 0, 0};  // of the scale, in voxels
  std::vector<int64_t> sides;               // of cubes, in voxels; none: it is not known

  // The corners of all shards that there can be, in order. kUnsupported if their side is
  // not known, or if they are more than can be asked for one by one.
  Result<std::vector<Key>> Corners() const;
};

// By scale. kCorrupt if the text is not such a spec.
Result<std::vector<ShardNames>> ParseSpecNames(std::string_view spec);

}  // namespace dolium::dvid
