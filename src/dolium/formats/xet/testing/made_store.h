// MadeStore: files as a store keeps them: their new chunks in xorbs, a shard that lists
// all.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/xet/compression.h"
#include "dolium/formats/xet/mdb_records.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_writer.h"

namespace dolium::xet {

class MadeStore {
 public:
  explicit MadeStore(XorbWriter::Footer footer = XorbWriter::Footer::kVersion1)
      : footer_(footer) {}

  // Each file has two terms, if it has two chunks: the second half of its chunks is in
  // another xorb. Returns its hash.
  std::string Add(BytesView data);

  ByteVector Shard(const ShardWriteOptions& options = {}) const {
    return WriteShard(files_, xorbs_, options).value();
  }
  // By hash.
  const std::map<std::string, ByteVector>& objects() const { return objects_; }
  const std::map<std::string, std::string>& contents() const { return contents_; }

  // Puts all into the folders `shards` and `xorbs` of `folder`, names of xorbs with this
  // prefix. Returns where the shard is.
  Location Put(const Location& folder, const std::string& prefix = "") const;

 private:
  // A term over a new xorb of these chunks; returns their bytes.
  size_t AddTerm(BytesView data, std::span<const MerkleNode> chunks, FileInfo& file);

  const XorbWriter::Footer footer_;
  XorbWriter writer_;
  ChunkCompressor compressor_;
  std::vector<FileInfo> files_;
  std::vector<XorbInfo> xorbs_;
  std::map<std::string, ByteVector> objects_;
  std::map<std::string, std::string> contents_;
};

}  // namespace dolium::xet
