// Manifest: which fragments a multi-resolution mesh has, at which level of detail, where.
//
// A mesh is an octree: the cell (x, y, z) of level l covers grid_origin + (x, y, z) *
// chunk_shape * 2^l, as much as chunk_shape * 2^l. The fragments of a mesh follow one
// another in the order of the manifest, finest level first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/objects/object_info.h"

namespace dolium::mesh {

using objects::Point;
using Cell = std::array<uint32_t, 3>;

struct FragmentEntry {
  Cell cell = {0, 0, 0};
  uint32_t size = 0;  // bytes; 0: a cell without triangles

  friend bool operator==(const FragmentEntry&, const FragmentEntry&) = default;
};

struct LevelOfDetail {
  float scale = 1;  // in stored-model units; 0: the level does not exist
  Point vertex_offset = {0, 0, 0};
  std::vector<FragmentEntry> fragments = {};

  friend bool operator==(const LevelOfDetail&, const LevelOfDetail&) = default;
};

struct Manifest {
  Point chunk_shape = {1, 1, 1};
  Point grid_origin = {0, 0, 0};
  std::vector<LevelOfDetail> levels = {};  // finest first

  // Bytes of all fragments.
  uint64_t fragment_bytes() const;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// More levels than there can be different cells in.
inline constexpr uint32_t kMaxLevels = 32;

// kCorrupt unless the manifest is exactly as long as its counts say, has from 1 to
// kMaxLevels levels, and all its numbers are finite. It may still be one of which clients
// draw only parts: see CheckManifest().
Result<Manifest> ParseManifest(BytesView bytes);

// What keeps clients from drawing a mesh as it is meant, as sentences; empty if nothing
// does. `preceding` is how many bytes there are for fragments, where that is known.
std::vector<std::string> CheckManifest(const Manifest& manifest,
                                       std::optional<uint64_t> preceding = {});

// kInvalidArgument, with the first of what CheckManifest() says.
Result<ByteVector> WriteManifest(const Manifest& manifest);

// The order in which cells of a level must be: that of a Z curve, x the lowest bit.
bool CellBefore(const Cell& a, const Cell& b);

// Where the fragments of a level lie among those of all, in the order of the level.
// Precondition: level < manifest.levels.size().
std::vector<ByteRange> FragmentRanges(const Manifest& manifest, size_t level);

}  // namespace dolium::mesh
