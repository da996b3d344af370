#include "dolium/formats/xet/testing/made_store.h"

#include <algorithm>

#include "dolium/container/testing/must.h"
#include "dolium/formats/xet/chunker.h"

namespace dolium::xet {

std::string MadeStore::Add(BytesView data) {
  const auto chunks = ChunkAndHash(data).value();
  FileInfo file;
  file.hash = FileHash(chunks);
  file.is_verified = true;
  const size_t half = (chunks.size() + 1) / 2;
  size_t at = 0;
  for (size_t first = 0; first < chunks.size(); first += half) {
    const size_t end = std::min(chunks.size(), first + half);
    at += AddTerm(data.subspan(at), std::span(chunks).subspan(first, end - first), file);
  }
  files_.push_back(file);
  std::string name = ToString(file.hash);
  contents_[name] = std::string(AsText(data));
  return name;
}

Location MadeStore::Put(const Location& folder, const std::string& prefix) const {
  const ByteVector shard = Shard();
  const Location location = folder.Child("shards/" + ToString(ChunkHash(shard)) + ".mdb");
  Must(folder.store->Put(location.path, shard, Precondition::None()));
  for (const auto& [hash, object] : objects_) {
    Must(folder.store->Put(folder.Child("xorbs/" + prefix + hash).path, object,
                           Precondition::None()));
  }
  return location;
}

size_t MadeStore::AddTerm(BytesView data, std::span<const MerkleNode> chunks,
                          FileInfo& file) {
  XorbInfo info;
  std::vector<Hash> hashes;
  size_t at = 0;
  for (const MerkleNode& chunk : chunks) {
    const BytesView bytes = data.subspan(at, static_cast<size_t>(chunk.size));
    writer_.Add(chunk.hash, chunk.size, compressor_.Encode(bytes, ChooseScheme(bytes)));
    info.chunks.push_back({.hash = chunk.hash,
                           .offset = static_cast<uint32_t>(at),
                           .raw_bytes = static_cast<uint32_t>(chunk.size)});
    hashes.push_back(chunk.hash);
    at += bytes.size();
  }
  const XorbWriter::Xorb xorb = writer_.Finish(footer_);
  info.hash = xorb.index.hash;
  file.terms.push_back({.xorb = info.hash,
                        .raw_bytes = static_cast<uint32_t>(at),
                        .first = 0,
                        .end = static_cast<uint32_t>(chunks.size())});
  file.verification.push_back(TermHash(hashes));
  xorbs_.push_back(info);
  objects_[ToString(info.hash)] = xorb.object;
  return at;
}

}  // namespace dolium::xet
