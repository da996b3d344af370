#include "dolium/formats/shardpack/content.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/codec/gzip.h"
#include "dolium/codec/lz4_block.h"
#include "dolium/formats/shardpack/kinds.h"

namespace dolium::shardpack {

namespace {

Error Bad(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kEntry);
}

Error WrongCrc(std::string_view what, uint32_t found, uint32_t want) {
  return Bad(fmt::format("{} has CRC-32C {:08x}, {:08x} expected", what, found, want));
}

Result<void> CheckCrc(BytesView stored, uint32_t want, std::string_view what) {
  const uint32_t found = Crc32c(stored);
  if (found == want) return {};
  return WrongCrc(what, found, want);
}

Result<void> DecodeZstd(BytesView stored, MutableBytes into,
                        const ContentOptions& options) {
  const ZstdDictionary* dictionary = nullptr;
  if (const uint32_t id = ZstdDictionaryId(stored); id != 0) {
    const auto found = options.dictionaries != nullptr ? options.dictionaries->find(id)
                                                       : Dictionaries::const_iterator();
    if (options.dictionaries == nullptr || found == options.dictionaries->end()) {
      return Bad(fmt::format("zstd dictionary {} is not in the shard", id));
    }
    dictionary = found->second.get();
  }
  return ZstdDecodeInto(stored, into, dictionary);
}

Result<void> CheckRatio(uint64_t stored, uint64_t raw, const ContentOptions& options) {
  const auto most = CheckedMul(stored, options.ratio_limit);
  if (!most || raw <= *most) return {};
  return Corrupt(fmt::format("decodes from {} to {} bytes, more than {} times as many",
                             stored, raw, options.ratio_limit))
      .WithKind(kind::kLimit);
}

// Undoes the codec of one content or chunk.
Result<void> Decompress(uint8_t codec, BytesView stored, MutableBytes into,
                        const ContentOptions& options) {
  switch (static_cast<Compression>(codec)) {
    case Compression::kNone:
      if (stored.size() != into.size()) {
        return Bad(fmt::format("{} bytes, {} expected", stored.size(), into.size()));
      }
      if (!into.empty()) std::memcpy(into.data(), stored.data(), into.size());
      return {};
    case Compression::kGzip: {
      DOLIUM_TRY(const bool fits, GzipDecodeMemberInto(stored, into));
      if (!fits) return Bad(fmt::format("gzip does not decode to {} bytes", into.size()));
      return {};
    }
    case Compression::kLz4:
      return Lz4BlockDecodeInto(stored, into);
    case Compression::kZstd:
      return DecodeZstd(stored, into, options);
  }
  return Unsupported(fmt::format("codec {} is not known", codec))
      .WithKind(kind::kUnsupportedCodec);
}

Result<void> DecodeStored(uint8_t codec, BytesView stored, MutableBytes into,
                          const ContentOptions& options) {
  auto done = Decompress(codec, stored, into, options);
  if (done || !done.error().kind.empty()) return done;
  return std::move(done).error().WithKind(kind::kEntry);
}

// The bytes of a chunk. They lay within when the table was checked; a file that changes
// in place must not lead out of it all the same.
Result<BytesView> ChunkBytes(BytesView stored, const ContentChunk& chunk) {
  if (chunk.stored.offset > stored.size() ||
      chunk.stored.length > stored.size() - chunk.stored.offset) {
    return Bad("the chunk table has changed while it was read");
  }
  return stored.subspan(static_cast<size_t>(chunk.stored.offset),
                        static_cast<size_t>(chunk.stored.length));
}

Result<void> DecodeChunk(const EntryHeader& header, BytesView stored,
                         const ChunkTable& table, size_t index, MutableBytes into,
                         const ContentOptions& options) {
  const ContentChunk chunk = table[index];
  DOLIUM_TRY(const BytesView bytes, ChunkBytes(stored, chunk));
  if (options.check == Check::kFull) {
    DOLIUM_TRY_VOID(CheckCrc(bytes, chunk.crc32c, fmt::format("chunk {}", index)));
  }
  const uint8_t codec = chunk.is_compressed ? header.codec : uint8_t{0};
  return DecodeStored(codec, bytes, into, options).Within(fmt::format("chunk {}", index));
}

}  // namespace

Result<uint64_t> ChunkTable::TableSize(const EntryHeader& header, BytesView first16) {
  if (first16.size() < kChunkTableHeaderBytes) {
    return Bad(fmt::format("a chunk table of {} bytes, {} are the least", first16.size(),
                           kChunkTableHeaderBytes));
  }
  const auto chunk_size = LoadLE<uint64_t>(first16.data());
  const auto count = LoadLE<uint32_t>(first16.data() + 8);
  if (!std::has_single_bit(chunk_size) || chunk_size < kMinChunkSize ||
      chunk_size > kMaxChunkSize) {
    return Bad(fmt::format("chunks of {} bytes, powers of two from {} to {} are possible",
                           chunk_size, kMinChunkSize, kMaxChunkSize));
  }
  const uint64_t want =
      header.raw_size / chunk_size + (header.raw_size % chunk_size != 0 ? 1 : 0);
  if (count != want) {
    return Bad(fmt::format("{} chunks of {} bytes, {} expected for {} bytes", count,
                           chunk_size, want, header.raw_size));
  }
  return kChunkTableHeaderBytes + uint64_t{count} * kChunkRowBytes;
}

Result<ChunkTable> ChunkTable::Parse(const EntryHeader& header, BytesView stored,
                                     Check check) {
  DOLIUM_TRY(const uint64_t size, TableSize(header, stored));
  if (size > stored.size() || size > header.stored_size) {
    return Bad(fmt::format("chunk table of {} bytes ends past the content's {}", size,
                           header.stored_size));
  }
  if (check == Check::kFull) {
    DOLIUM_TRY_VOID(
        CheckCrc(stored.first(static_cast<size_t>(size)), header.crc32c, "chunk table"));
  }
  ChunkTable table;
  table.rows_ = stored.subspan(kChunkTableHeaderBytes,
                               static_cast<size_t>(size) - kChunkTableHeaderBytes);
  table.count_ = table.rows_.size() / kChunkRowBytes;
  table.chunk_raw_size_ = LoadLE<uint64_t>(stored.data());
  table.raw_size_ = header.raw_size;
  table.table_size_ = size;
  table.has_codec_ = header.codec != 0;
  table.has_reserved_ = LoadLE<uint32_t>(stored.data() + 12) != 0;
  uint64_t begin = size;
  for (size_t i = 0; i < table.count_; ++i) {
    const auto end = LoadLE<uint64_t>(table.rows_.data() + i * kChunkRowBytes);
    if (end < begin || end > header.stored_size) {
      return Bad(fmt::format("chunk {} lies at [{}, {}) of a content of {} bytes", i,
                             begin, end, header.stored_size));
    }
    const ContentChunk chunk = table[i];
    if (!chunk.is_compressed && chunk.stored.length != chunk.raw_size) {
      return Bad(fmt::format("chunk {} has {} bytes, {} expected", i, chunk.stored.length,
                             chunk.raw_size));
    }
    const auto flags = LoadLE<uint32_t>(table.rows_.data() + i * kChunkRowBytes + 12);
    table.has_reserved_ |= (flags & ~kChunkStoredRaw) != 0;
    begin = end;
  }
  if (begin != header.stored_size) {
    return Bad(fmt::format("the chunks end at {}, the content at {}", begin,
                           header.stored_size));
  }
  return table;
}

ContentChunk ChunkTable::operator[](size_t index) const {
  const std::byte* row = rows_.data() + index * kChunkRowBytes;
  const uint64_t begin =
      index == 0 ? table_size_ : LoadLE<uint64_t>(row - kChunkRowBytes);
  ContentChunk chunk;
  chunk.stored = {begin, LoadLE<uint64_t>(row) - begin};
  chunk.raw_size = std::min(chunk_raw_size_, raw_size_ - index * chunk_raw_size_);
  chunk.crc32c = LoadLE<uint32_t>(row + 8);
  chunk.is_compressed = has_codec_ && (LoadLE<uint32_t>(row + 12) & kChunkStoredRaw) == 0;
  return chunk;
}

Result<void> CheckLimits(const EntryHeader& header, const ContentOptions& options) {
  if (header.raw_size > options.raw_limit) {
    return Corrupt(fmt::format("decodes to {} bytes, more than the limit of {}",
                               header.raw_size, options.raw_limit))
        .WithKind(kind::kLimit);
  }
  if (header.codec == 0) {
    // Chunks that are stored as they are take as much as they hold.
    if (header.raw_size <= header.stored_size) return {};
    return Bad(fmt::format("{} bytes stored as they are, yet {} raw", header.stored_size,
                           header.raw_size));
  }
  if (header.stored_size == 0 && header.raw_size > 0) {
    return Bad(fmt::format("no bytes that would decode to {}", header.raw_size));
  }
  return CheckRatio(header.stored_size, header.raw_size, options);
}

Result<void> CheckStored(const EntryHeader& header, BytesView stored) {
  if (!header.is_chunked()) return CheckCrc(stored, header.crc32c, "content");
  DOLIUM_TRY(const ChunkTable table, ChunkTable::Parse(header, stored, Check::kFull));
  for (size_t i = 0; i < table.size(); ++i) {
    const ContentChunk chunk = table[i];
    DOLIUM_TRY(const BytesView bytes, ChunkBytes(stored, chunk));
    DOLIUM_TRY_VOID(CheckCrc(bytes, chunk.crc32c, fmt::format("chunk {}", i)));
  }
  return {};
}

Result<std::set<uint32_t>> DictionariesNeeded(const EntryHeader& header,
                                              BytesView stored) {
  std::set<uint32_t> ids;
  if (header.codec != static_cast<uint8_t>(Compression::kZstd)) return ids;
  if (!header.is_chunked()) {
    ids.insert(ZstdDictionaryId(stored));
  } else {
    DOLIUM_TRY(const ChunkTable table, ChunkTable::Parse(header, stored, Check::kNone));
    for (size_t i = 0; i < table.size(); ++i) {
      const ContentChunk chunk = table[i];
      if (!chunk.is_compressed) continue;
      DOLIUM_TRY(const BytesView bytes, ChunkBytes(stored, chunk));
      ids.insert(ZstdDictionaryId(bytes));
    }
  }
  ids.erase(0);
  return ids;
}

Result<void> DecodeContentInto(const EntryHeader& header, BytesView stored,
                               MutableBytes into, const ContentOptions& options) {
  DOLIUM_TRY_VOID(CheckLimits(header, options));
  if (!header.is_chunked()) {
    if (options.check == Check::kFull && header.codec == 0 &&
        stored.size() == into.size()) {
      const uint32_t found = CopyWithCrc32c(stored, into.data());
      if (found != header.crc32c) return WrongCrc("content", found, header.crc32c);
      return {};
    }
    if (options.check == Check::kFull) {
      DOLIUM_TRY_VOID(CheckCrc(stored, header.crc32c, "content"));
    }
    return DecodeStored(header.codec, stored, into, options);
  }
  DOLIUM_TRY(const ChunkTable table, ChunkTable::Parse(header, stored, options.check));
  size_t at = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto size = static_cast<size_t>(table[i].raw_size);
    DOLIUM_TRY_VOID(
        DecodeChunk(header, stored, table, i, into.subspan(at, size), options));
    at += size;
  }
  return {};
}

Result<Bytes> DecodeContent(const EntryHeader& header, const Bytes& stored,
                            const ContentOptions& options) {
  DOLIUM_TRY_VOID(CheckLimits(header, options));
  if (!header.is_chunked() && header.codec == 0) {
    if (options.check == Check::kFull) {
      DOLIUM_TRY_VOID(CheckCrc(stored, header.crc32c, "content"));
    }
    return stored;
  }
  // A table that lies about its size is found out before memory is taken.
  if (header.is_chunked()) {
    const auto table = ChunkTable::Parse(header, stored, options.check);
    if (!table) return table.error();
  }
  Buffer buffer(static_cast<size_t>(header.raw_size));
  DOLIUM_TRY_VOID(DecodeContentInto(header, stored, buffer.view(), options));
  return std::move(buffer).Share();
}

Result<Bytes> DecodeContentRange(const EntryHeader& header, const Bytes& stored,
                                 ByteRange range, const ContentOptions& options) {
  const auto end = CheckedAdd(range.offset, range.length);
  if (!end || *end > header.raw_size) {
    return InvalidArgument(fmt::format("bytes [{}, +{}) end past the {} there are",
                                       range.offset, range.length, header.raw_size));
  }
  if (!header.is_chunked()) {
    DOLIUM_TRY(const Bytes whole, DecodeContent(header, stored, options));
    return whole.Slice(static_cast<size_t>(range.offset),
                       static_cast<size_t>(range.length));
  }
  if (range.length > options.raw_limit) {
    return Corrupt(fmt::format("{} bytes, more than the limit of {}", range.length,
                               options.raw_limit))
        .WithKind(kind::kLimit);
  }
  DOLIUM_TRY(const ChunkTable table, ChunkTable::Parse(header, stored, options.check));
  Buffer buffer(static_cast<size_t>(range.length));
  ByteVector scratch;
  for (uint64_t at = range.offset; at < *end;) {
    const auto index = static_cast<size_t>(at / table.chunk_raw_size());
    const uint64_t begin = index * table.chunk_raw_size();
    const ContentChunk chunk = table[index];
    if (chunk.is_compressed) {
      DOLIUM_TRY_VOID(CheckRatio(chunk.stored.length, chunk.raw_size, options));
    }
    scratch.resize(static_cast<size_t>(chunk.raw_size));
    DOLIUM_TRY_VOID(DecodeChunk(header, stored, table, index, scratch, options));
    const uint64_t until = std::min(*end, begin + chunk.raw_size);
    std::memcpy(buffer.view().data() + (at - range.offset), scratch.data() + (at - begin),
                static_cast<size_t>(until - at));
    at = until;
  }
  return std::move(buffer).Share();
}

}  // namespace dolium::shardpack
