// Info files: which one describes a folder of shards, and what it says.
//
// The spec of a sharded set stands in an `info`: the folder's own (meshes, skeletons,
// sets that dolium made) or one above it that names the folder (a volume's scale, an
// index of annotations).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

// What the shards hold. It decides whether bytes may lie unindexed before an entry.
enum class Kind : uint8_t { kUnknown, kVolume, kMesh, kSkeletons, kAnnotations };

std::string_view ToString(Kind kind);

struct ShardingInfo {
  ShardingSpec spec;
  Kind kind = Kind::kUnknown;
  std::string
      own_info;  // text of the folder's own info; empty if the spec came from elsewhere
  std::string source;  // where the spec was found, for people
};

// One folder that an info describes.
struct ShardedFolder {
  std::string folder;  // relative to the info's folder; empty: that folder itself
  ShardingSpec spec;
  Kind kind = Kind::kUnknown;
};

// Every sharded folder that an info's text describes; empty if none is. Also takes a bare
// `sharding` object. kInvalidArgument if the text is not what it should be.
Result<std::vector<ShardedFolder>> ParseInfo(std::string_view text);

// Finds what describes the shards in `folder`: looks at its own info, then at those of up
// to three folders above it. kNotFound, with a hint, if nothing does; kInvalidArgument if
// the folder is a volume with several sharded scales, naming them.
Result<ShardingInfo> FindSharding(const Location& folder);

// The same from a text that the caller names of a file.
Result<ShardingInfo> ShardingFromText(std::string_view text, const Location& folder);

// The text of an info for a set like `own_info` (may be empty) with another spec.
std::string InfoText(std::string_view own_info, const ShardingSpec& spec);

}  // namespace dolium::neuroglancer
