// ChunkWriter: fills a scale, or some of its shards, that nobody else writes meanwhile.
#pragma once

#include <memory>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

// Chunks in any order, in the memory that the options allow. Shards appear whole, in
// Finish(), and replace those that are there; without shards, each chunk appears with its
// Add(). One thread at a time. Destroyed without Finish(), it leaves no shard behind.
class ChunkWriter {
 public:
  explicit ChunkWriter(Wrapper wrapper) : wrapper_(wrapper) {}
  virtual ~ChunkWriter() = default;

  // The chunk with that around it which chunks are stored with. Add() does the same; this
  // one may be called from many threads.
  Result<StoredChunk> Prepare(StoredChunk chunk) const;

  // Encoded voxels. No cell may come twice.
  virtual Result<void> Add(const Vec3& cell, const StoredChunk& chunk) = 0;

  virtual Result<WriteSummary> Finish() = 0;

 private:
  const Wrapper wrapper_;
};

// `wrapper`: around new chunks of a scale without shards.
std::unique_ptr<ChunkWriter> NewChunkWriter(const Scale& scale, Wrapper wrapper,
                                            const WriterOptions& options);

}  // namespace dolium::volume
