#include "dolium/formats/xet/mdb_check.h"

#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/formats/xet/merkle.h"

namespace dolium::xet {

namespace {

// Chunks of all terms that are hashed in any case, and for each record of the shard:
// files that hold the same long runs of chunks 64 times over are fine.
constexpr uint64_t kFreeChunks = uint64_t{1} << 20;
constexpr uint64_t kChunksPerRecord = 64;

using XorbMap = std::unordered_map<Hash, XorbBlock, HashOfHash>;

Error WithoutFooter(std::string_view why) {
  return Corrupt(fmt::format(
      "shard ends where its xorbs end, without its footer: {}; is it complete?", why));
}

// That a table has a row for each of its blocks, in order.
template <typename Block>
Result<void> CheckTableBytes(std::string_view what, BytesView table, BytesView section,
                             size_t blocks) {
  const size_t rows = table.size() / kBlockRowSize;
  if (rows == 0) return {};
  if (rows != blocks) {
    return Corrupt(fmt::format("table of {}s has {} rows for {}", what, rows, blocks));
  }
  uint64_t last = 0;
  for (size_t i = 0; i < rows; ++i) {
    const std::byte* row = table.data() + i * kBlockRowSize;
    const auto key = LoadLE<uint64_t>(row);
    DOLIUM_TRY(const Block block, BlockAt<Block>(section, LoadLE<uint32_t>(row + 8)));
    if (key < last || block.hash().truncated() != key) {
      return Corrupt(
          fmt::format("row {} of the table of {}s is {:016x}, after {:016x}, and "
                      "names {}",
                      i, what, key, last, ToString(block.hash())));
    }
    last = key;
  }
  return {};
}

Result<void> CheckChunkTable(const ShardView& shard, uint64_t chunks) {
  const BytesView table = shard.chunk_table();
  const size_t rows = table.size() / kChunkRowSize;
  if (rows == 0) return {};
  if (rows != chunks) {
    return Corrupt(fmt::format("table of chunks has {} rows for {}", rows, chunks));
  }
  uint64_t last = 0;
  for (size_t i = 0; i < rows; ++i) {
    const std::byte* row = table.data() + i * kChunkRowSize;
    const auto key = LoadLE<uint64_t>(row);
    DOLIUM_TRY(const XorbBlock xorb,
               BlockAt<XorbBlock>(shard.xorb_section(), LoadLE<uint32_t>(row + 8)));
    const size_t chunk = LoadLE<uint32_t>(row + 12);
    if (key < last || chunk >= xorb.size() || xorb.chunk_hash(chunk).truncated() != key) {
      return Corrupt(
          fmt::format("row {} of the table of chunks is {:016x}, after {:016x}, "
                      "and names chunk {} of {}",
                      i, key, last, chunk, ToString(xorb.hash())));
    }
    last = key;
  }
  return {};
}

// The chunks of a term, or nullopt if its xorb is not described.
Result<std::optional<std::vector<MerkleNode>>> ChunksOf(const Term& term,
                                                        const XorbMap& xorbs) {
  const auto found = xorbs.find(term.xorb);
  if (found == xorbs.end()) return std::nullopt;
  const XorbBlock& xorb = found->second;
  if (term.end > xorb.size()) {
    return Corrupt(fmt::format("chunks [{}, {}) of xorb {}, which has {}", term.first,
                               term.end, ToString(term.xorb), xorb.size()));
  }
  std::vector<MerkleNode> chunks;
  uint64_t raw = 0;
  for (size_t i = term.first; i < term.end; ++i) {
    const ChunkEntry chunk = xorb.chunk(i);
    chunks.push_back({chunk.hash, chunk.raw_bytes});
    raw += chunk.raw_bytes;
  }
  if (raw != term.raw_bytes) {
    return Corrupt(fmt::format("chunks [{}, {}) of xorb {} have {} bytes, {} expected",
                               term.first, term.end, ToString(term.xorb), raw,
                               term.raw_bytes));
  }
  return chunks;
}

Result<void> CheckVerification(std::span<const MerkleNode> chunks, const Hash& expected) {
  KeyedHasher hasher(kVerificationKey);
  for (const MerkleNode& chunk : chunks) hasher.Update(chunk.hash.view());
  if (const Hash found = hasher.Finish(); found != expected) {
    return Corrupt(fmt::format("verification is {}, {} expected", ToString(expected),
                               ToString(found)));
  }
  return {};
}

Result<void> CheckTerms(const FileBlock& file, const XorbMap& xorbs, bool is_keyed) {
  MerkleBuilder tree;
  bool is_whole = true;
  for (size_t i = 0; i < file.size(); ++i) {
    const auto within = fmt::format("term {}", i);
    DOLIUM_TRY(const auto chunks, ChunksOf(file.term(i), xorbs).Within(within));
    if (!chunks) {
      is_whole = false;
      continue;
    }
    if (is_keyed) continue;
    for (const MerkleNode& chunk : *chunks) tree.Add(chunk.hash, chunk.size);
    if (file.has_verification()) {
      DOLIUM_TRY_VOID(CheckVerification(*chunks, file.verification(i)).Within(within));
    }
  }
  if (!is_whole || is_keyed) return {};
  if (const Hash found = FileHash(tree); found != file.hash()) {
    return Corrupt(fmt::format("chunks give the hash {}", ToString(found)));
  }
  return {};
}

// How many chunks terms have whose xorbs are described, and have them.
uint64_t DescribedChunks(const FileBlock& file, const XorbMap& xorbs) {
  uint64_t sum = 0;  // Less than 2^32 terms of less than 2^32 chunks.
  for (size_t i = 0; i < file.size(); ++i) {
    const Term term = file.term(i);
    const auto found = xorbs.find(term.xorb);
    if (found == xorbs.end() || term.end > found->second.size()) continue;
    sum += term.end - term.first;
  }
  return sum;
}

}  // namespace

Result<void> CheckXorbName(const XorbBlock& xorb) {
  MerkleBuilder tree;
  for (size_t i = 0; i < xorb.size(); ++i) {
    const ChunkEntry chunk = xorb.chunk(i);
    tree.Add(chunk.hash, chunk.raw_bytes);
  }
  if (const Hash found = tree.Root(); found != xorb.hash()) {
    return Corrupt(fmt::format("xorb {}: chunks give the hash {}", ToString(xorb.hash()),
                               ToString(found)));
  }
  return {};
}

Result<void> CheckUpload(bool has_files, const std::optional<XorbBlock>& first) {
  if (!has_files && !first) return WithoutFooter("it holds nothing");
  if (first && !CheckXorbName(*first)) return WithoutFooter("its hashes may be keyed");
  return {};
}

Result<void> CheckLastBookend(BytesView bookend) {
  if (IsPlainBookend(bookend)) return {};
  return WithoutFooter("its last record has more than an end");
}

Result<void> CheckShard(const ShardView& shard) {
  XorbMap xorbs;
  size_t xorb_count = 0;
  uint64_t chunk_count = 0;
  size_t file_count = 0;
  const bool is_keyed = !shard.key().is_zero();
  const auto see_xorb = [&](const XorbBlock& xorb) -> Result<void> {
    DOLIUM_TRY_VOID(CheckXorbBlock(xorb));
    if (!is_keyed) DOLIUM_TRY_VOID(CheckXorbName(xorb));
    xorbs.emplace(xorb.hash(), xorb);
    ++xorb_count;
    chunk_count += xorb.size();
    return {};
  };
  DOLIUM_TRY_VOID(shard.Scan({.xorb = see_xorb}));
  const uint64_t records =
      (shard.file_section().size() + shard.xorb_section().size()) / kRecordSize;
  const uint64_t most_chunks = kFreeChunks + kChunksPerRecord * records;
  uint64_t hashed = 0;
  const auto count_file = [&](const FileBlock& file) -> Result<void> {
    DOLIUM_TRY_VOID(CheckFileBlock(file));
    ++file_count;
    const auto sum = CheckedAdd(hashed, DescribedChunks(file, xorbs));
    if (!sum || *sum > most_chunks) {
      return Unsupported(fmt::format(
          "file {}: terms up to it have more than {} chunks, in a shard of {} records",
          ToString(file.hash()), most_chunks, records));
    }
    hashed = *sum;
    return {};
  };
  DOLIUM_TRY_VOID(shard.Scan({.file = count_file}));
  const auto see_file = [&](const FileBlock& file) -> Result<void> {
    return CheckTerms(file, xorbs, is_keyed)
        .Within(fmt::format("file {}", ToString(file.hash())));
  };
  DOLIUM_TRY_VOID(shard.Scan({.file = see_file}));
  DOLIUM_TRY_VOID(CheckTableBytes<FileBlock>("file", shard.file_table(),
                                             shard.file_section(), file_count));
  DOLIUM_TRY_VOID(CheckTableBytes<XorbBlock>("xorb", shard.xorb_table(),
                                             shard.xorb_section(), xorb_count));
  return CheckChunkTable(shard, chunk_count);
}

}  // namespace dolium::xet
