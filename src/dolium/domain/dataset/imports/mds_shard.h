// The files of an MDS data set (mosaicml-streaming): its index and its shards, as bytes.
//
// index.json lists the shards, their columns and sizes. A shard, all numbers
// little-endian:
//
//   u32 count | u32 offset[count + 1] | JSON of the columns | samples
//
// and a sample: a u32 size for each column without a fixed one, then the columns' bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

struct MdsFile {
  std::string basename;  // path from the index's folder; never leads out of it
  uint64_t bytes = 0;
  std::map<std::string, std::string> hashes = {};  // name -> hexadecimal digits
};

struct MdsColumn {
  std::string name;
  std::string encoding;
  std::optional<uint32_t> size = {};  // nullopt: each value has its own

  friend bool operator==(const MdsColumn&, const MdsColumn&) = default;
};

struct MdsShardInfo {
  std::vector<MdsColumn> columns;
  std::string compression;  // empty: none; "zstd:7" and the like
  MdsFile raw;
  std::optional<MdsFile> zip;  // the compressed one
  uint64_t samples = 0;
};

// kCorrupt if it is no index, kUnsupported for another version or kind of shards.
Result<std::vector<MdsShardInfo>> ParseMdsIndex(std::string_view text);
// Those of a shard, from the text in it.
Result<std::vector<MdsColumn>> ParseMdsColumns(std::string_view text);
std::string MdsIndexText(const std::vector<MdsShardInfo>& shards);

// A shard to read. Const methods may be called from many threads.
class MdsShard {
 public:
  // Checks the table of offsets. kCorrupt if it contradicts `info`, which must outlive
  // this.
  static Result<MdsShard> Open(Bytes shard, const MdsShardInfo& info);

  uint32_t size() const { return count_; }

  // The columns of sample `number`, which share the shard's bytes: one for each, in
  // their order.
  Result<std::vector<Bytes>> Read(uint32_t number) const;

 private:
  MdsShard(Bytes bytes, const MdsShardInfo& info, uint32_t count)
      : bytes_(std::move(bytes)), info_(&info), count_(count) {}
  uint32_t Offset(uint32_t index) const;

  Bytes bytes_;
  const MdsShardInfo* info_;
  uint32_t count_;
};

// A shard of these samples, each encoded by EncodeMdsSample.
ByteVector MakeMdsShard(const std::vector<MdsColumn>& columns,
                        const std::vector<ByteVector>& samples);
// What a shard of so many samples and bytes of them has before the samples.
uint64_t MdsShardHeader(const std::vector<MdsColumn>& columns, uint64_t samples);
// Values have the columns' fixed sizes, where there are any, and less than 4 GiB.
ByteVector EncodeMdsSample(const std::vector<MdsColumn>& columns,
                           const std::vector<Bytes>& values);

// A value as a file. Numbers and arrays (`int`, `float32`, `ndarray` with or without type
// and shape) have their array type; so have images of `pil` with a mode that says what
// their numbers are, height x width (x bands), and that mode as metadata. Bytes of
// encodings that only Streaming knows have the type `application/x-mds; encoding=<its
// name>`. kCorrupt if a value contradicts its encoding.
Result<shardpack::File> MdsFileOf(const MdsColumn& column, Bytes value);
// The reverse: the column that a file is stored in. Arrays but numbers have none
// (KeepsMdsArray), and are stored as bytes.
MdsColumn MdsColumnFor(const shardpack::File& file);
bool KeepsMdsArray(const shardpack::ArrayShape& array);

}  // namespace dolium::dataset
