#include "dolium/formats/xet/testing/shards.h"

#include <map>

#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {

namespace {

Hash NumberHash(uint64_t number) { return ChunkHash(AsBytes(std::to_string(number))); }

}  // namespace

ByteVector ShardVector(const std::string& name) {
  static const std::map<std::string, std::pair<std::string, std::string>> kWhere = {
      {"upload", {"shard", "upload_footerless_hex"}},
      {"full", {"shard", "full_with_lookup_tables_hex"}},
      {"keyed", {"shard", "dedup_response_keyed_hex"}},
      {"minimal upload", {"shard_minimal", "upload_footerless_hex"}},
      {"minimal full", {"shard_minimal", "full_hex"}},
      {"empty", {"shard_minimal", "empty_shard_full_hex"}},
  };
  const auto& [group, member] = kWhere.at(name);
  return FromHex(Vectors()[group][member].get<std::string>());
}

std::vector<std::string> ShardVectorNames() {
  return {"upload", "full", "keyed", "minimal upload", "minimal full", "empty"};
}

std::vector<FileInfo> FilesOfShardVector() {
  std::vector<FileInfo> files;
  for (const auto& v : Vectors()["shard"]["files"]) {
    FileInfo file;
    file.hash = HashOf(v["file_str"]);
    file.is_verified = true;
    file.sha256 = HashOf(v["sha256_hex"]);  // the text of the field is the usual one
    for (const auto& term : v["terms"]) {
      file.terms.push_back({.xorb = HashOf(Vectors()["shard"]["xorb_str"]),
                            .raw_bytes = term["bytes"].get<uint32_t>(),
                            .first = term["start"].get<uint32_t>(),
                            .end = term["end"].get<uint32_t>()});
      file.verification.push_back(HashOf(term["range_str"]));
    }
    files.insert(files.begin(), std::move(file));
  }
  return files;
}

std::vector<XorbInfo> XorbsOfShardVector() {
  XorbInfo xorb;
  xorb.hash = HashOf(Vectors()["shard"]["xorb_str"]);
  uint32_t offset = 0;
  for (const ByteVector& chunk : ChunksOfShardVector()) {
    const auto size = static_cast<uint32_t>(chunk.size());
    xorb.chunks.push_back(
        {.hash = ChunkHash(chunk), .offset = offset, .raw_bytes = size});
    offset += size;
  }
  return {xorb};
}

ByteVector WithoutTables(BytesView shard) {
  auto footer = ParseShardFooter(shard.last(kShardFooterSize), shard.size()).value();
  const uint64_t end = footer.xorbs_end();
  ByteVector out(shard.begin(), shard.begin() + static_cast<ptrdiff_t>(end));
  footer.files = footer.xorbs = footer.chunks = {};
  footer.footer_offset = end;
  AppendShardFooter(footer, out);
  return out;
}

XorbInfo MadeUpXorb(uint64_t number) { return MadeUpXorb(number, 1 + number % 7); }

XorbInfo MadeUpXorb(uint64_t number, size_t chunks) {
  XorbInfo xorb;
  MerkleBuilder tree;
  for (size_t i = 0; i < chunks; ++i) {
    const auto offset = static_cast<uint32_t>(tree.size());
    const auto size = static_cast<uint32_t>(1000 + i);
    xorb.chunks.push_back(
        {.hash = NumberHash(number * 100000 + i), .offset = offset, .raw_bytes = size});
    tree.Add(xorb.chunks.back().hash, size);
  }
  xorb.hash = tree.Root();
  xorb.stored_bytes = static_cast<uint32_t>(tree.size());
  return xorb;
}

FileInfo MadeUpFile(uint64_t number) {
  const XorbInfo xorb = MadeUpXorb(number);
  const MerkleNode chunk = {xorb.chunks[0].hash, xorb.chunks[0].raw_bytes};
  return {.hash = FileHash(std::span(&chunk, 1)),
          .terms = {{.xorb = xorb.hash,
                     .raw_bytes = xorb.chunks[0].raw_bytes,
                     .first = 0,
                     .end = 1}},
          .verification = {TermHash(std::span(&chunk.hash, 1))},
          .is_verified = true,
          .sha256 = chunk.hash};
}

}  // namespace dolium::xet
