#include "dolium/domain/volume/chunk_writer.h"

#include <utility>

#include "dolium/codec/codec.h"
#include "dolium/domain/volume/file_chunks.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::volume {
namespace {

Wrapper WrapperOfShards(const Scale& scale) {
  const bool is_gzip =
      scale.info().sharding->data_encoding == neuroglancer::Encoding::kGzip;
  return is_gzip ? Wrapper::kGzip : Wrapper::kNone;
}

class ShardChunkWriter : public ChunkWriter {
 public:
  ShardChunkWriter(const Scale& scale, const WriterOptions& options)
      : ChunkWriter(WrapperOfShards(scale)),
        morton_(*MortonCode::Make(scale.grid().shape())),
        writer_(scale.folder(), *scale.info().sharding, options,
                neuroglancer::ShardedWriter::Appear::kOnce) {}

  Result<void> Add(const Vec3& cell, const StoredChunk& chunk) override {
    DOLIUM_TRY(const StoredChunk stored, Prepare(chunk));
    return writer_.AddChunk(morton_.Encode(cell), stored.bytes, {}, /*encoded=*/true);
  }

  Result<WriteSummary> Finish() override { return writer_.Finish(); }

 private:
  const MortonCode morton_;
  neuroglancer::ShardedWriter writer_;
};

class FileChunkWriter : public ChunkWriter {
 public:
  FileChunkWriter(const Scale& scale, const ChunkForm& form)
      : ChunkWriter(form.wrapper),
        folder_(scale.folder()),
        grid_(scale.grid()),
        form_(form) {}

  Result<void> Add(const Vec3& cell, const StoredChunk& chunk) override {
    DOLIUM_TRY(const StoredChunk stored, Prepare(chunk));
    const Location object = folder_.Child(grid_.NameOf(cell) + std::string(form_.suffix));
    DOLIUM_TRY_VOID(object.store->Put(object.path, stored.bytes, Precondition::None()));
    DOLIUM_TRY_VOID(
        RemoveOtherForms(folder_, grid_.NameOf(cell), form_, OtherForms::kAll));
    ++summary_.entries;
    ++summary_.objects;
    summary_.value_bytes += stored.bytes.size();
    summary_.stored_bytes += stored.bytes.size();
    return {};
  }

  Result<WriteSummary> Finish() override { return summary_; }

 private:
  const Location folder_;
  const Grid grid_;
  const ChunkForm form_;
  WriteSummary summary_;
};

}  // namespace

Result<StoredChunk> ChunkWriter::Prepare(StoredChunk chunk) const {
  if (chunk.wrapper == wrapper_) return chunk;
  DOLIUM_TRY(const Bytes encoded,
             Unwrap(chunk.wrapper, chunk.bytes, kDefaultDecodeLimit));
  if (wrapper_ == Wrapper::kNone) return StoredChunk{encoded, wrapper_};
  return StoredChunk{Bytes::FromVector(Wrap(wrapper_, encoded)), wrapper_};
}

std::unique_ptr<ChunkWriter> NewChunkWriter(const Scale& scale, Wrapper wrapper,
                                            const WriterOptions& options) {
  if (scale.info().sharding) return std::make_unique<ShardChunkWriter>(scale, options);
  return std::make_unique<FileChunkWriter>(scale, NewChunkForm(wrapper));
}

}  // namespace dolium::volume
