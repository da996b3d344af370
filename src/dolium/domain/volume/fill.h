// FillCells: makes the chunks of many cells and writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

struct FillOptions {
  WriterOptions writer;
  Wrapper wrapper = Wrapper::kNone;  // without shards: what is around a chunk
  // Called with how many more cells are done, and their bytes of voxels. May be
  // empty. From this thread.
  std::function<void(uint64_t cells, uint64_t bytes)> progress = {};
};

// The cells must be whole shards, if there are shards; nobody else may write them
// meanwhile. Doing it again does no harm.
Result<WriteSummary> FillCells(const Scale& target, std::span<const Vec3> cells,
                               const ChunkSource& source, const FillOptions& options);

// The same for all cells of a box, from an array of which whole pages must be read: goes
// through it page by page, and holds those of one layer of cells.
Result<WriteSummary> FillLayers(const Scale& target, const Box& cells,
                                const ArraySource& array, const FillOptions& options);

}  // namespace dolium::volume
