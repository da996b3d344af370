// ChunkWriter: fills a scale, or some of its shards, that nobody else writes meanwhile.
#pragma once

#include <memory>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

// Chunks in any order, in the memory that the options allow. Shards appear whole, in
// Finish(), and replace those that are there; without shards, each chunk appears with its
// Add(). One thread at a time. Destroyed without Finish(), it leaves no shard behind.
class ChunkWriter {
 public:
  virtual ~ChunkWriter() = default;

  // Whether chunks are stored with gzip around them; those that come without it get it in
  // Add(), so give them with it, from many threads.
  virtual bool wants_gzip() const = 0;

  // Encoded voxels. No cell may come twice.
  virtual Result<void> Add(const Vec3& cell, const StoredChunk& chunk) = 0;

  virtual Result<WriteSummary> Finish() = 0;
};

std::unique_ptr<ChunkWriter> NewChunkWriter(const Scale& scale, bool gzip_files,
                                            const WriterOptions& options);

}  // namespace dolium::volume
