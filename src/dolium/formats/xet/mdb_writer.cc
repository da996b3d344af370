#include "dolium/formats/xet/mdb_writer.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

constexpr size_t kFlushSize = size_t{256} << 10;

void AppendBlockRow(ByteVector& rows, const Hash& hash, uint32_t index) {
  rows.resize(rows.size() + kBlockRowSize);
  std::byte* const to = rows.data() + rows.size() - kBlockRowSize;
  StoreLE(to, hash.truncated());
  StoreLE(to + 8, index);
}

Result<void> CheckOrder(std::string_view what, const std::optional<Hash>& last,
                        const Hash& hash) {
  if (!last || *last < hash) return {};
  return InvalidArgument(
      fmt::format("{} {} comes after {}", what, ToString(hash), ToString(*last)));
}

// Sorts by hash, and keeps the first of equal ones.
template <typename Info>
void SortOnce(std::vector<Info>& infos) {
  std::stable_sort(infos.begin(), infos.end(),
                   [](const Info& a, const Info& b) { return a.hash < b.hash; });
  const auto end =
      std::unique(infos.begin(), infos.end(),
                  [](const Info& a, const Info& b) { return a.hash == b.hash; });
  infos.erase(end, infos.end());
}

// Marks the first chunk of each file whose xorb is among `xorbs`. Precondition: these are
// in order.
void MarkFileStarts(std::span<const FileInfo> files, std::span<XorbInfo> xorbs) {
  for (const FileInfo& file : files) {
    if (file.terms.empty()) continue;
    const Term& first = file.terms.front();
    const auto xorb = std::ranges::lower_bound(xorbs, first.xorb, {}, &XorbInfo::hash);
    if (xorb == xorbs.end() || xorb->hash != first.xorb) continue;
    if (first.first < xorb->chunks.size()) {
      xorb->chunks[first.first].flags |= kGloballyEligible;
    }
  }
}

}  // namespace

MdbShardWriter::MdbShardWriter(ByteSink sink, ShardWriteOptions options)
    : sink_(std::move(sink)), options_(options) {
  if (!options_.with_footer) {
    options_.with_block_tables = options_.with_chunk_table = false;
  }
  AppendShardHeader({.footer_size = options_.with_footer ? kShardFooterSize : 0},
                    buffer_);
  position_ = buffer_.size();
  footer_.file_info = position_;
  footer_.key = options_.key;
  footer_.created = options_.created;
  footer_.expiry = options_.expiry;
}

Result<void> MdbShardWriter::Flush() {
  DOLIUM_TRY_VOID(sink_(buffer_));
  buffer_.clear();
  return {};
}

Result<void> MdbShardWriter::Put(BytesView bytes) {
  Append(buffer_, bytes);
  position_ += bytes.size();
  if (buffer_.size() >= kFlushSize) return Flush();
  return {};
}

Result<uint32_t> MdbShardWriter::IndexOfNext(uint64_t section) const {
  const uint64_t index = (position_ - section) / kRecordSize;
  if (index > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument("shard has more records than its tables can distinguish");
  }
  return static_cast<uint32_t>(index);
}

Result<void> MdbShardWriter::AddFile(const FileBlock& file) {
  const Hash hash = file.hash();
  if (in_xorbs_) {
    return InvalidArgument(fmt::format("file {} comes after xorbs", ToString(hash)));
  }
  DOLIUM_TRY_VOID(CheckOrder("file", last_file_, hash));
  if (!options_.with_footer) {
    const auto same = CheckSameVerification(is_verified_, file);
    if (!same) return InvalidArgument(same.error().message);
  }
  DOLIUM_TRY(const uint32_t index, IndexOfNext(footer_.file_info));
  if (options_.with_block_tables) AppendBlockRow(file_rows_, hash, index);
  last_file_ = hash;
  footer_.materialized += file.raw_bytes();
  return Put(file.bytes());
}

void MdbShardWriter::EndFiles() {
  if (in_xorbs_) return;
  in_xorbs_ = true;
  AppendBookend(buffer_);
  position_ += kRecordSize;
  footer_.xorb_info = position_;
}

Result<void> MdbShardWriter::AddXorb(const XorbBlock& xorb) {
  const Hash hash = xorb.hash();
  DOLIUM_TRY_VOID(CheckOrder("xorb", last_xorb_, hash));
  EndFiles();
  DOLIUM_TRY(const uint32_t index, IndexOfNext(footer_.xorb_info));
  if (options_.with_block_tables) AppendBlockRow(xorb_rows_, hash, index);
  if (options_.with_chunk_table) {
    for (size_t i = 0; i < xorb.size(); ++i) {
      chunk_rows_.push_back(
          {xorb.chunk_hash(i).truncated(), index, static_cast<uint32_t>(i)});
    }
  }
  last_xorb_ = hash;
  footer_.stored += xorb.raw_bytes();
  footer_.stored_on_disk += xorb.stored_bytes();
  return Put(xorb.bytes());
}

uint64_t MdbShardWriter::size() const {
  return position_ + (in_xorbs_ ? kRecordSize : 2 * kRecordSize) + file_rows_.size() +
         xorb_rows_.size() + chunk_rows_.size() * kChunkRowSize +
         (options_.with_footer ? kShardFooterSize : 0);
}

uint64_t MdbShardWriter::SizeWith(const FileBlock& file) const {
  return size() + file.bytes().size() + (options_.with_block_tables ? kBlockRowSize : 0);
}

uint64_t MdbShardWriter::SizeWith(const XorbBlock& xorb) const {
  return size() + xorb.bytes().size() + (options_.with_block_tables ? kBlockRowSize : 0) +
         (options_.with_chunk_table ? xorb.size() * kChunkRowSize : 0);
}

void MdbShardWriter::AppendTables() {
  footer_.files = {position_, file_rows_.size() / kBlockRowSize};
  footer_.xorbs = {footer_.files.offset + file_rows_.size(),
                   xorb_rows_.size() / kBlockRowSize};
  footer_.chunks = {footer_.xorbs.offset + xorb_rows_.size(), chunk_rows_.size()};
  // Rows with the same number stay in the order of xorbs and chunks.
  std::stable_sort(chunk_rows_.begin(), chunk_rows_.end(),
                   [](const ChunkRow& a, const ChunkRow& b) { return a.key < b.key; });
  Append(buffer_, file_rows_);
  Append(buffer_, xorb_rows_);
  const size_t begin = buffer_.size();
  buffer_.resize(begin + chunk_rows_.size() * kChunkRowSize);
  std::byte* to = buffer_.data() + begin;
  for (const ChunkRow& row : chunk_rows_) {
    StoreLE(to, row.key);
    StoreLE(to + 8, row.xorb);
    StoreLE(to + 12, row.chunk);
    to += kChunkRowSize;
  }
  footer_.footer_offset = footer_.chunks.offset + chunk_rows_.size() * kChunkRowSize;
}

Result<ShardFooter> MdbShardWriter::Finish() {
  EndFiles();
  AppendBookend(buffer_);
  position_ += kRecordSize;
  if (options_.with_footer) {
    AppendTables();
    AppendShardFooter(footer_, buffer_);
  }
  DOLIUM_TRY_VOID(Flush());
  return footer_;
}

Result<ByteVector> WriteShard(std::vector<FileInfo> files, std::vector<XorbInfo> xorbs,
                              const ShardWriteOptions& options) {
  SortOnce(files);
  SortOnce(xorbs);
  if (options.mark_file_starts) MarkFileStarts(files, xorbs);
  ByteVector shard;
  MdbShardWriter writer(
      [&](BytesView bytes) -> Result<void> {
        Append(shard, bytes);
        return {};
      },
      options);
  ByteVector block;
  for (const FileInfo& file : files) {
    block.clear();
    AppendFile(file, block);
    DOLIUM_TRY_VOID(writer.AddFile(FileBlock(block)));
  }
  for (const XorbInfo& xorb : xorbs) {
    block.clear();
    AppendXorb(xorb, block);
    DOLIUM_TRY_VOID(writer.AddXorb(XorbBlock(block)));
  }
  DOLIUM_TRY_VOID(writer.Finish());
  return shard;
}

Result<void> WriteKeyed(const ShardView& shard, const Hash& key,
                        ShardWriteOptions options, ByteSink sink) {
  if (!shard.key().is_zero()) return InvalidArgument("the shard is keyed already");
  options.key = key;
  MdbShardWriter writer(std::move(sink), options);
  ByteVector block;
  for (XorbCursor cursor = shard.xorbs();;) {
    DOLIUM_TRY(const auto xorb, cursor.Next());
    if (!xorb) break;
    block.assign(xorb->bytes().begin(), xorb->bytes().end());
    for (size_t i = 0; i < xorb->size(); ++i) {
      const Hash keyed = KeyedChunkHash(key, xorb->chunk_hash(i));
      std::memcpy(block.data() + (1 + i) * kRecordSize, keyed.bytes.data(), Hash::kSize);
    }
    DOLIUM_TRY_VOID(writer.AddXorb(XorbBlock(block)));
  }
  DOLIUM_TRY_VOID(writer.Finish());
  return {};
}

}  // namespace dolium::xet
