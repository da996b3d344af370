// Making the multi-resolution mesh of one label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/mesh.h"
#include "dolium/domain/mesh/mesh_writer.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::mesh {

struct MakeOptions {
  volume::Resolution resolution = {1, 1, 1};  // of a voxel, in nanometres
  volume::Box voxels;                         // of all data
  // Surfaces end where the data does; else they are closed there.
  bool open = false;
  // The bound of the finest level, in nanometres; twice as much for each that follows. 0:
  // the finest is not simplified.
  double error = 0;
  unsigned levels = 1;  // at most
  // A cell of the finest level, in voxels.
  volume::Vec3 cell = {128, 128, 128};
  unsigned bits = 16;  // of positions: 10 or 16
  size_t jobs = 1;     // threads
};

// What blocks found of a label. The bytes outlive it.
struct LabelRun {
  volume::Box block;  // its cells
  uint64_t cells = 0;
  BytesView bytes;
};

// The mesh of a label at its finest level, simplified. Positions are on the lattice of
// MakeSurface(), from twice `origin` on. It is the same however the cells are spread over
// blocks.
struct Surface {
  volume::Vec3 origin = {0, 0, 0};
  Mesh mesh;
};
Result<Surface> MakeLabelSurface(std::span<const LabelRun> runs,
                                 const MakeOptions& options);

// All levels of a mesh, in nanometres from the origin of the volume; nullopt if it has no
// triangles.
Result<std::optional<EncodedMesh>> EncodeLevels(Surface surface,
                                                const MakeOptions& options);

// Bytes that making a mesh of so many cells takes, about.
uint64_t MemoryToMake(uint64_t cells);

}  // namespace dolium::mesh
