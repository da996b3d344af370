#include "dolium/formats/xet/mdb_records.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

namespace {

constexpr std::array<uint8_t, 32> kTag = {'H',  'F',  'R',  'e',  'p',  'o',  'M',  'e',
                                          't',  'a',  'D',  'a',  't',  'a',  0x00, 0x55,
                                          0x69, 0x67, 0x45, 0x6a, 0x7b, 0x81, 0x57, 0x83,
                                          0xa5, 0xbd, 0xd9, 0x5c, 0xcd, 0xd1, 0x4a, 0xa9};

// Fields of a footer, by their place.
constexpr size_t kKeyField = 72;
constexpr size_t kTotalsField = 168;

std::byte* Extend(ByteVector& out, uint64_t bytes) {
  out.resize(out.size() + static_cast<size_t>(bytes));
  return out.data() + out.size() - bytes;
}

void StoreHash(std::byte* to, const Hash& hash) {
  std::memcpy(to, hash.bytes.data(), Hash::kSize);
}

// A record: a hash and four numbers.
void AppendRecord(ByteVector& out, const Hash& hash, uint32_t a = 0, uint32_t b = 0,
                  uint32_t c = 0, uint32_t d = 0) {
  std::byte* const to = Extend(out, kRecordSize);
  StoreHash(to, hash);
  StoreLE(to + 32, a);
  StoreLE(to + 36, b);
  StoreLE(to + 40, c);
  StoreLE(to + 44, d);
}

// Where a table ends; nullopt if that does not fit 64 bits.
std::optional<uint64_t> EndOf(const Table& table, uint64_t row) {
  const auto size = CheckedMul(table.count, row);
  return size ? CheckedAdd(table.offset, *size) : std::nullopt;
}

Error OutOfOrder(std::string_view what, uint64_t found, uint64_t least, uint64_t most) {
  return Corrupt(fmt::format("{} of a shard footer is {}, {} to {} expected", what, found,
                             least, most));
}

Result<void> CheckTable(std::string_view what, const Table& table, uint64_t row,
                        uint64_t least, uint64_t most) {
  if (table.offset < least || table.offset > most) {
    return OutOfOrder(fmt::format("offset of the {} table", what), table.offset, least,
                      most);
  }
  const auto end = EndOf(table, row);
  if (!end || *end > most) {
    return Corrupt(fmt::format("{} table of a shard has {} rows at {}, which end past {}",
                               what, table.count, table.offset, most));
  }
  return {};
}

Result<void> CheckOffsets(const ShardFooter& footer, uint64_t shard_size) {
  if (shard_size < kRecordSize + kShardFooterSize ||
      footer.footer_offset != shard_size - kShardFooterSize) {
    return Corrupt(
        fmt::format("shard footer says it begins at {}, in a shard of {} bytes",
                    footer.footer_offset, shard_size));
  }
  if (footer.file_info != kRecordSize) {
    return OutOfOrder("offset of files", footer.file_info, kRecordSize, kRecordSize);
  }
  const uint64_t end = footer.xorbs_end();
  const uint64_t limit = footer.footer_offset;
  if (end > limit) return OutOfOrder("end of xorbs", end, kRecordSize, limit);
  if (footer.xorb_info < 2 * kRecordSize || footer.xorb_info > end) {
    return OutOfOrder("offset of xorbs", footer.xorb_info, 2 * kRecordSize, end);
  }
  if (footer.xorb_info % kRecordSize != 0 || end % kRecordSize != 0) {
    return Corrupt(fmt::format("sections of a shard end at {} and {}, not at records",
                               footer.xorb_info, end));
  }
  if (end < footer.xorb_info + kRecordSize) {
    return OutOfOrder("end of xorbs", end, footer.xorb_info + kRecordSize, limit);
  }
  if (footer.lacks_tables()) return {};
  DOLIUM_TRY_VOID(CheckTable("file", footer.files, kBlockRowSize, end, limit));
  DOLIUM_TRY_VOID(CheckTable("xorb", footer.xorbs, kBlockRowSize,
                             *EndOf(footer.files, kBlockRowSize), limit));
  return CheckTable("chunk", footer.chunks, kChunkRowSize,
                    *EndOf(footer.xorbs, kBlockRowSize), limit);
}

}  // namespace

bool HasShardTag(BytesView bytes) {
  return std::memcmp(bytes.data(), kTag.data(), kTag.size()) == 0;
}

Result<ShardHeader> ParseShardHeader(BytesView bytes) {
  if (!HasShardTag(bytes)) {
    return Corrupt("not a shard: it does not begin with the tag of one");
  }
  const auto version = LoadLE<uint64_t>(bytes.data() + 32);
  if (version != kShardHeaderVersion) {
    return Unsupported(fmt::format("shard header has version {}, {} expected", version,
                                   kShardHeaderVersion));
  }
  const ShardHeader header = {.footer_size = LoadLE<uint64_t>(bytes.data() + 40)};
  if (header.footer_size != 0 && header.footer_size != kShardFooterSize) {
    return Corrupt(
        fmt::format("shard header says the footer has {} bytes, 0 or {} expected",
                    header.footer_size, kShardFooterSize));
  }
  return header;
}

void AppendShardHeader(const ShardHeader& header, ByteVector& out) {
  std::byte* const to = Extend(out, kRecordSize);
  std::memcpy(to, kTag.data(), kTag.size());
  StoreLE(to + 32, kShardHeaderVersion);
  StoreLE(to + 40, header.footer_size);
}

Result<ShardFooter> ParseShardFooter(BytesView bytes, uint64_t shard_size) {
  const auto number = [&](size_t at) { return LoadLE<uint64_t>(bytes.data() + at); };
  if (number(0) != kShardFooterVersion) {
    if (shard_size < kShardFooterSize || number(192) != shard_size - kShardFooterSize) {
      return Corrupt(
          fmt::format("the last {} bytes of a shard of {} bytes are no footer; is it "
                      "complete?",
                      kShardFooterSize, shard_size));
    }
    return Unsupported(fmt::format("shard footer has version {}, {} expected", number(0),
                                   kShardFooterVersion));
  }
  const ShardFooter footer = {
      .file_info = number(8),
      .xorb_info = number(16),
      .files = {number(24), number(32)},
      .xorbs = {number(40), number(48)},
      .chunks = {number(56), number(64)},
      .key = Hash::Load(bytes.data() + kKeyField),
      .created = number(104),
      .expiry = number(112),
      .stored_on_disk = number(kTotalsField),
      .materialized = number(kTotalsField + 8),
      .stored = number(kTotalsField + 16),
      .footer_offset = number(192),
  };
  DOLIUM_TRY_VOID(CheckOffsets(footer, shard_size));
  return footer;
}

void AppendShardFooter(const ShardFooter& footer, ByteVector& out) {
  std::byte* const to = Extend(out, kShardFooterSize);
  size_t at = 0;
  const auto put = [&](std::initializer_list<uint64_t> numbers) {
    for (const uint64_t number : numbers) {
      StoreLE(to + at, number);
      at += 8;
    }
  };
  put({kShardFooterVersion, footer.file_info, footer.xorb_info, footer.files.offset,
       footer.files.count, footer.xorbs.offset, footer.xorbs.count, footer.chunks.offset,
       footer.chunks.count});
  StoreHash(to + kKeyField, footer.key);
  at = kKeyField + Hash::kSize;
  put({footer.created, footer.expiry});
  at = kTotalsField;
  put({footer.stored_on_disk, footer.materialized, footer.stored, footer.footer_offset});
}

bool IsBookend(BytesView record) {
  return std::all_of(record.begin(), record.begin() + Hash::kSize,
                     [](std::byte byte) { return byte == std::byte{0xFF}; });
}

bool IsPlainBookend(BytesView record) {
  return IsBookend(record) &&
         std::all_of(record.begin() + Hash::kSize, record.begin() + kRecordSize,
                     [](std::byte byte) { return byte == std::byte{0}; });
}

Result<uint64_t> FileBlockSize(BytesView record) {
  const auto flags = LoadLE<uint32_t>(record.data() + 32);
  if ((flags & ~(kWithVerification | kWithMetadata)) != 0) {
    return Unsupported(fmt::format("file has flags {:#x}, of which only {:#x} are known",
                                   flags, kWithVerification | kWithMetadata));
  }
  // 2^33 + 2 records fit 64 bits.
  const uint64_t terms = LoadLE<uint32_t>(record.data() + 36);
  uint64_t records = 1 + terms;
  if ((flags & kWithVerification) != 0) records += terms;
  if ((flags & kWithMetadata) != 0) ++records;
  return records * kRecordSize;
}

uint64_t XorbBlockSize(BytesView record) {
  return (1 + uint64_t{LoadLE<uint32_t>(record.data() + 36)}) * kRecordSize;
}

Term FileBlock::term(size_t i) const {
  const std::byte* from = record(1 + i);
  return {.xorb = Hash::Load(from),
          .raw_bytes = LoadLE<uint32_t>(from + 36),
          .first = LoadLE<uint32_t>(from + 40),
          .end = LoadLE<uint32_t>(from + 44)};
}

Hash FileBlock::verification(size_t i) const {
  return Hash::Load(record(1 + size() + i));
}

std::optional<Hash> FileBlock::sha256() const {
  if (!has_metadata()) return std::nullopt;
  const Hash field = Hash::Load(record(1 + size() * (has_verification() ? 2 : 1)));
  if (field.is_zero()) return std::nullopt;
  return field;
}

uint64_t FileBlock::raw_bytes() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < size(); ++i) sum += LoadLE<uint32_t>(record(1 + i) + 36);
  return sum;
}

ChunkEntry XorbBlock::chunk(size_t i) const {
  const std::byte* from = record(1 + i);
  return {.hash = Hash::Load(from),
          .offset = LoadLE<uint32_t>(from + 32),
          .raw_bytes = LoadLE<uint32_t>(from + 36),
          .flags = LoadLE<uint32_t>(from + 40)};
}

Result<void> CheckFileBlock(const FileBlock& file) {
  for (size_t i = 0; i < file.size(); ++i) {
    const Term term = file.term(i);
    if (term.first >= term.end) {
      return Corrupt(fmt::format("file {}: term {} has chunks [{}, {})",
                                 ToString(file.hash()), i, term.first, term.end));
    }
  }
  return {};
}

Result<void> CheckXorbBlock(const XorbBlock& xorb) {
  if (xorb.size() > kMaxXorbChunks || xorb.raw_bytes() > kMaxXorbRaw) {
    return Corrupt(
        fmt::format("xorb {}: {} chunks of {} bytes, expected at most {} and {}",
                    ToString(xorb.hash()), xorb.size(), xorb.raw_bytes(), kMaxXorbChunks,
                    kMaxXorbRaw));
  }
  uint64_t raw = 0;
  for (size_t i = 0; i < xorb.size(); ++i) {
    const ChunkEntry chunk = xorb.chunk(i);
    if (chunk.offset != raw || chunk.raw_bytes == 0) {
      return Corrupt(
          fmt::format("xorb {}: chunk {} has {} bytes at {}, more than 0 at {} expected",
                      ToString(xorb.hash()), i, chunk.raw_bytes, chunk.offset, raw));
    }
    raw += chunk.raw_bytes;
  }
  if (xorb.size() == 0 || raw != xorb.raw_bytes()) {
    return Corrupt(fmt::format("xorb {}: {} chunks have {} bytes, {} expected",
                               ToString(xorb.hash()), xorb.size(), raw,
                               xorb.raw_bytes()));
  }
  return {};
}

FileInfo InfoOf(const FileBlock& file) {
  FileInfo info;
  info.hash = file.hash();
  info.is_verified = file.has_verification();
  info.sha256 = file.sha256();
  for (size_t i = 0; i < file.size(); ++i) {
    info.terms.push_back(file.term(i));
    if (info.is_verified) info.verification.push_back(file.verification(i));
  }
  return info;
}

XorbInfo InfoOf(const XorbBlock& xorb) {
  XorbInfo info;
  info.hash = xorb.hash();
  info.stored_bytes = xorb.stored_bytes();
  for (size_t i = 0; i < xorb.size(); ++i) info.chunks.push_back(xorb.chunk(i));
  return info;
}

void AppendFile(const FileInfo& file, ByteVector& out) {
  const uint32_t flags = (file.is_verified ? kWithVerification : 0) |
                         (file.sha256.has_value() ? kWithMetadata : 0);
  AppendRecord(out, file.hash, flags, static_cast<uint32_t>(file.terms.size()));
  for (const Term& term : file.terms) {
    AppendRecord(out, term.xorb, 0, term.raw_bytes, term.first, term.end);
  }
  if (file.is_verified) {
    for (const Hash& hash : file.verification) AppendRecord(out, hash);
  }
  if (file.sha256) AppendRecord(out, *file.sha256);
}

void AppendXorb(const XorbInfo& xorb, ByteVector& out) {
  uint32_t raw = 0;
  for (const ChunkEntry& chunk : xorb.chunks) raw += chunk.raw_bytes;
  AppendRecord(out, xorb.hash, 0, static_cast<uint32_t>(xorb.chunks.size()), raw,
               xorb.stored_bytes);
  for (const ChunkEntry& chunk : xorb.chunks) {
    AppendRecord(out, chunk.hash, chunk.offset, chunk.raw_bytes, chunk.flags);
  }
}

void AppendBookend(ByteVector& out) { AppendRecord(out, Hash::Ones()); }

}  // namespace dolium::xet
