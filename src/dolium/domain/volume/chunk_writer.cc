#include "dolium/domain/volume/chunk_writer.h"

#include <utility>

#include "dolium/codec/gzip.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::volume {
namespace {

// The chunk's bytes with gzip around them, or without.
Result<Bytes> AsWanted(const StoredChunk& chunk, bool gzip) {
  if (chunk.is_gzip == gzip) return chunk.bytes;
  if (gzip) return Bytes::FromVector(GzipEncode(chunk.bytes));
  return Decode({{CodecId::kGzip}}, chunk.bytes, kDefaultDecodeLimit);
}

class ShardChunkWriter : public ChunkWriter {
 public:
  ShardChunkWriter(const Scale& scale, const WriterOptions& options)
      : morton_(*MortonCode::Make(scale.grid().shape())),
        gzip_(scale.info().sharding->data_encoding == neuroglancer::Encoding::kGzip),
        writer_(scale.folder(), *scale.info().sharding, options,
                neuroglancer::ShardedWriter::Appear::kOnce) {}

  bool wants_gzip() const override { return gzip_; }

  Result<void> Add(const Vec3& cell, const StoredChunk& chunk) override {
    DOLIUM_TRY(const Bytes bytes, AsWanted(chunk, gzip_));
    return writer_.AddChunk(morton_.Encode(cell), bytes, {}, /*encoded=*/true);
  }

  Result<WriteSummary> Finish() override { return writer_.Finish(); }

 private:
  const MortonCode morton_;
  const bool gzip_;
  neuroglancer::ShardedWriter writer_;
};

class FileChunkWriter : public ChunkWriter {
 public:
  FileChunkWriter(const Scale& scale, bool gzip)
      : folder_(scale.folder()), grid_(scale.grid()), gzip_(gzip) {}

  bool wants_gzip() const override { return gzip_; }

  Result<void> Add(const Vec3& cell, const StoredChunk& chunk) override {
    DOLIUM_TRY(const Bytes bytes, AsWanted(chunk, gzip_));
    const Location object = folder_.Child(grid_.NameOf(cell) + (gzip_ ? ".gz" : ""));
    DOLIUM_TRY_VOID(object.store->Put(object.path, bytes, Precondition::None()));
    ++summary_.entries;
    ++summary_.objects;
    summary_.value_bytes += bytes.size();
    summary_.stored_bytes += bytes.size();
    return {};
  }

  Result<WriteSummary> Finish() override { return summary_; }

 private:
  const Location folder_;
  const Grid grid_;
  const bool gzip_;
  WriteSummary summary_;
};

}  // namespace

std::unique_ptr<ChunkWriter> NewChunkWriter(const Scale& scale, bool gzip_files,
                                            const WriterOptions& options) {
  if (scale.info().sharding) return std::make_unique<ShardChunkWriter>(scale, options);
  return std::make_unique<FileChunkWriter>(scale, gzip_files);
}

}  // namespace dolium::volume
