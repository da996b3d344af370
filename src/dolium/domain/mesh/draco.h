// Draco: meshes as the fragments of multi-resolution meshes have them, and as some legacy
// fragments do.
//
// Decoding takes hostile input: counts, sizes and indices are checked before the library
// takes memory for them, and no exception leaves. All functions may be called from many
// threads.
#pragma once

#include <cstdint>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

struct DracoLimits {
  // Of one fragment. Faces and points are also limited by the number of bytes.
  uint64_t max_faces = uint64_t{1} << 24;
  uint64_t max_points = uint64_t{1} << 24;
};

// Whether the bytes begin as Draco's do.
bool IsDraco(BytesView bytes);

// A fragment of a multi-resolution mesh. What the client demands is demanded: a position
// for each point, of three integers, below 2^bits. Where positions were quantised by the
// library, they are left so, as the client leaves them. No bytes are a mesh without
// triangles. kCorrupt if it is not so; kUnsupported for Draco bitstreams before 2.2.
Result<QuantizedMesh> DecodeFragment(BytesView bytes, unsigned bits,
                                     const DracoLimits& limits = {});

// A mesh with positions of any type, where those that the library quantised are undone.
Result<Mesh> DecodeDracoMesh(BytesView bytes, const DracoLimits& limits = {});

// How much the encoder tries: 0 (fast) to 10 (small).
inline constexpr int kDracoLevel = 7;

// Encodes a fragment: CleanMesh() first, then Edgebreaker, which changes the order of
// vertices and triangles. The same mesh gives the same bytes. No bytes if no triangle is
// left. kInvalidArgument for a position of 2^bits or more, an index of no vertex, or
// `bits` other than 10 and 16.
Result<ByteVector> EncodeFragment(QuantizedMesh mesh, unsigned bits,
                                  int level = kDracoLevel);

}  // namespace dolium::mesh
