// DvidShardWriter: writes one shard, front to back.
//
// By default as DVID does it: an Arrow stream with one row to a batch and a CSV beside
// it. For the same rows the .arrow file is the same, byte for byte. The seed's layout is
// an Arrow file of six columns with JSON, its length and `CHUNKIDX` behind it. One thread
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/shard_index.h"

namespace dolium::dvid {

enum class ShardLayout : uint8_t { kStream, kSeed };

struct DvidShardWriterOptions {
  ShardLayout layout = ShardLayout::kStream;
  CsvForm csv = CsvForm::kDocumented;
  size_t rows_per_batch = 1;
};

struct NewRow {
  Key block = {0, 0, 0};
  LabelList labels;
  LabelList supervoxels;  // as many
  BytesView stored;       // the block: kStream with zstd around it, kSeed without
  uint32_t uncompressed_size = 0;
};

class DvidShardWriter {
 public:
  // `location` is that of the .arrow file. Nothing appears before Finish().
  static Result<std::unique_ptr<DvidShardWriter>> Begin(
      const Location& location, const DvidShardWriterOptions& options);
  ~DvidShardWriter();

  // Copies what it is given. kInvalidArgument if the lists differ in length, or are too
  // long for one batch.
  Result<void> Add(const NewRow& row);

  uint64_t rows() const { return rows_; }

  // Makes the .arrow file appear, then its index. Replaces what is there.
  Result<WriteSummary> Finish();

 private:
  DvidShardWriter(Location location, const DvidShardWriterOptions& options,
                  std::unique_ptr<ObjectWriter> out);

  Result<void> WriteHeader();
  Result<void> WriteBatch();
  ByteVector StreamMetadata(const std::vector<BytesView>& buffers, uint64_t body) const;
  ByteVector SeedMetadata(const std::vector<BytesView>& buffers, uint64_t body) const;
  Result<void> WriteStreamEnd();
  Result<void> WriteSeedEnd();

  const Location location_;
  const DvidShardWriterOptions options_;
  std::unique_ptr<ObjectWriter> out_;
  uint64_t rows_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t schema_bytes_ = 0;
  std::vector<FooterBlock> blocks_;
  std::vector<IndexRow> index_;

  // The batch under way.
  std::vector<IndexRow> pending_;
  std::array<ByteVector, 3> chunk_;
  ByteVector label_offsets_, labels_;
  ByteVector supervoxel_offsets_, supervoxels_;
  ByteVector block_offsets_, stored_;
  ByteVector sizes_;
};

}  // namespace dolium::dvid
