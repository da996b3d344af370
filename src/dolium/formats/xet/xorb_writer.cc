#include "dolium/formats/xet/xorb_writer.h"

#include <utility>

namespace dolium::xet {

void XorbWriter::Add(const Hash& hash, uint64_t raw, const EncodedChunk& encoded) {
  const ChunkHeader header = {.stored = static_cast<uint32_t>(encoded.bytes.size()),
                              .scheme = encoded.scheme,
                              .raw = static_cast<uint32_t>(raw)};
  records_.resize(records_.size() + kChunkHeaderSize);
  StoreChunkHeader(header, records_.data() + records_.size() - kChunkHeaderSize);
  Append(records_, encoded.bytes);
  tree_.Add(hash, raw);
  index_.chunks.push_back(hash);
  index_.record_ends.push_back(static_cast<uint32_t>(records_.size()));
  index_.raw_ends.push_back(static_cast<uint32_t>(tree_.size()));
}

XorbWriter::Xorb XorbWriter::Finish(Footer footer) {
  index_.hash = tree_.Root();
  if (footer == Footer::kVersion1) AppendXorbFooter(index_, records_);
  tree_ = MerkleBuilder();
  return {.index = std::exchange(index_, {}), .object = std::exchange(records_, {})};
}

}  // namespace dolium::xet
