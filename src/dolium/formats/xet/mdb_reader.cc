#include "dolium/formats/xet/mdb_reader.h"

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/formats/xet/mdb_check.h"

namespace dolium::xet {

namespace {

template <typename Block>
constexpr std::string_view kNameOf = "file";
template <>
constexpr std::string_view kNameOf<XorbBlock> = "xorb";

// The size of the block that begins with `record`, which has to lie in `room` bytes and
// leave place for a bookend.
template <typename Block>
Result<uint64_t> CheckedSize(BytesView record, uint64_t room) {
  uint64_t size = 0;
  if constexpr (std::is_same_v<Block, FileBlock>) {
    DOLIUM_TRY(size, FileBlockSize(record));
  } else {
    size = XorbBlockSize(record);
  }
  if (size > room || room - size < kRecordSize) {
    return Corrupt(fmt::format("{} {} says it has {} bytes of records, {} remain",
                               kNameOf<Block>, ToString(Hash::Load(record.data())), size,
                               room));
  }
  return size;
}

// The bytes of the section at the beginning of `bytes`, with its bookend.
template <typename Block>
Result<uint64_t> FindEnd(BytesView bytes) {
  uint64_t at = 0;
  for (;;) {
    if (bytes.size() - at < kRecordSize) {
      return Corrupt(fmt::format("{}s of a shard have no bookend", kNameOf<Block>));
    }
    const BytesView rest = bytes.subspan(static_cast<size_t>(at));
    if (IsBookend(rest)) return at + kRecordSize;
    DOLIUM_TRY(const uint64_t size, CheckedSize<Block>(rest, rest.size()));
    at += size;
  }
}

Result<void> CheckBookend(BytesView section, std::string_view what) {
  if (IsBookend(section.last(kRecordSize))) return {};
  return Corrupt(fmt::format("{}s of a shard do not end with a bookend", what));
}

}  // namespace

template <typename Block>
Result<std::optional<Block>> BlockCursor<Block>::Next() {
  if (IsBookend(rest_)) {
    if (rest_.size() == kRecordSize) return std::nullopt;
    return Corrupt(fmt::format("{}s of a shard end {} bytes before they should",
                               kNameOf<Block>, rest_.size() - kRecordSize));
  }
  DOLIUM_TRY(const uint64_t size, CheckedSize<Block>(rest_, rest_.size()));
  const Block block(rest_.first(static_cast<size_t>(size)));
  if constexpr (std::is_same_v<Block, FileBlock>) {
    if (!allow_mixed_) DOLIUM_TRY_VOID(CheckSameVerification(is_verified_, block));
  }
  rest_ = rest_.subspan(static_cast<size_t>(size));
  return block;
}

template class BlockCursor<FileBlock>;
template class BlockCursor<XorbBlock>;

template <typename Block>
Result<Block> BlockAt(BytesView section, uint64_t at) {
  const auto offset = CheckedMul(at, kRecordSize);
  if (!offset || *offset >= section.size() ||
      section.size() - *offset < 2 * kRecordSize) {
    return Corrupt(fmt::format("no {} can begin {} records into {} bytes", kNameOf<Block>,
                               at, section.size()));
  }
  const BytesView rest = section.subspan(static_cast<size_t>(*offset));
  DOLIUM_TRY(const uint64_t size, CheckedSize<Block>(rest, rest.size()));
  return Block(rest.first(static_cast<size_t>(size)));
}

template Result<FileBlock> BlockAt<FileBlock>(BytesView section, uint64_t at);
template Result<XorbBlock> BlockAt<XorbBlock>(BytesView section, uint64_t at);

Result<BytesView> ShardView::WalkSections(BytesView shard, ShardView& view) {
  const BytesView rest = shard.subspan(kRecordSize);
  DOLIUM_TRY(const uint64_t files, FindEnd<FileBlock>(rest));
  view.file_section_ = rest.first(static_cast<size_t>(files));
  const BytesView behind = rest.subspan(static_cast<size_t>(files));
  DOLIUM_TRY(const uint64_t xorbs, FindEnd<XorbBlock>(behind));
  view.xorb_section_ = behind.first(static_cast<size_t>(xorbs));
  return behind.subspan(static_cast<size_t>(xorbs));
}

Result<ShardView> ShardView::OpenUpload(BytesView shard) {
  ShardView view;
  DOLIUM_TRY(const BytesView rest, WalkSections(shard, view));
  if (rest.empty()) return view;
  return Corrupt(
      fmt::format("{} bytes follow a shard that says it has no footer", rest.size()));
}

Result<ShardView> ShardView::Open(BytesView shard) {
  if (shard.size() < kRecordSize) {
    return Corrupt(fmt::format("{} bytes are no shard", shard.size()));
  }
  DOLIUM_TRY(const ShardHeader header, ParseShardHeader(shard));
  if (header.footer_size == 0) return OpenUpload(shard);
  auto parsed = shard.size() < kRecordSize + kShardFooterSize
                    ? Result<ShardFooter>(Corrupt(fmt::format(
                          "shard with a footer has {} bytes, at least {} expected",
                          shard.size(), kRecordSize + kShardFooterSize)))
                    : ParseShardFooter(shard.last(kShardFooterSize), shard.size());
  ShardView view;
  if (!parsed) {
    // An upload whose header is wrong, or a shard that is cut short or damaged.
    const auto rest = WalkSections(shard, view);
    if (!rest) {
      return Corrupt(fmt::format("{}; {}", parsed.error().message, rest.error().message));
    }
    if (!rest->empty()) return std::move(parsed).error();
    DOLIUM_TRY(const auto first, view.xorbs().Next());
    DOLIUM_TRY_VOID(CheckUpload(view.file_section_.size() > kRecordSize, first));
    DOLIUM_TRY_VOID(CheckLastBookend(shard.last(kRecordSize)));
    return view;
  }
  const ShardFooter footer = *parsed;
  const auto part = [&](uint64_t begin, uint64_t end) {
    return shard.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  view.file_section_ = part(footer.file_info, footer.xorb_info);
  view.xorb_section_ = part(footer.xorb_info, footer.xorbs_end());
  DOLIUM_TRY_VOID(CheckBookend(view.file_section_, "file"));
  DOLIUM_TRY_VOID(CheckBookend(view.xorb_section_, "xorb"));
  // ParseShardFooter() has made sure that these products and sums fit.
  const auto table = [&](const Table& where, uint64_t row) {
    return part(where.offset, where.offset + where.count * row);
  };
  view.file_table_ = table(footer.files, kBlockRowSize);
  view.xorb_table_ = table(footer.xorbs, kBlockRowSize);
  view.chunk_table_ = table(footer.chunks, kChunkRowSize);
  view.footer_ = footer;
  return view;
}

Result<void> ShardView::Scan(const ShardVisitor& visitor) const {
  for (FileCursor cursor = files();;) {
    DOLIUM_TRY(const auto file, cursor.Next());
    if (!file) break;
    if (visitor.file) DOLIUM_TRY_VOID(visitor.file(*file));
  }
  for (XorbCursor cursor = xorbs();;) {
    DOLIUM_TRY(const auto xorb, cursor.Next());
    if (!xorb) break;
    if (visitor.xorb) DOLIUM_TRY_VOID(visitor.xorb(*xorb));
  }
  return {};
}

}  // namespace dolium::xet
