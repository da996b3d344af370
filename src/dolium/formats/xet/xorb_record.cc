#include "dolium/formats/xet/xorb_record.h"

#include <fmt/format.h>

namespace dolium::xet {

namespace {

uint32_t Load24(const std::byte* from) {
  return std::to_integer<uint32_t>(from[0]) | std::to_integer<uint32_t>(from[1]) << 8 |
         std::to_integer<uint32_t>(from[2]) << 16;
}

void Store24(std::byte* to, uint32_t value) {
  for (size_t i = 0; i < 3; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

Result<ChunkHeader> ParseChunkHeader(BytesView bytes) {
  const auto version = std::to_integer<unsigned>(bytes[0]);
  if (version != 0) {
    return Corrupt(fmt::format("chunk header has version {}, 0 expected", version));
  }
  const auto number = std::to_integer<uint8_t>(bytes[4]);
  const auto scheme = SchemeOf(number);
  if (!scheme) {
    return Unsupported(fmt::format("compression scheme {} is not known", number));
  }
  const ChunkHeader header = {.stored = Load24(bytes.data() + 1),
                              .scheme = *scheme,
                              .raw = Load24(bytes.data() + 5)};
  if (header.stored > kMaxStoredChunk) {
    return Corrupt(fmt::format("chunk has {} stored bytes, at most {} expected",
                               header.stored, kMaxStoredChunk));
  }
  if (header.raw == 0 || header.raw > kMaxRawChunk) {
    return Corrupt(fmt::format("chunk has {} raw bytes, 1 to {} expected", header.raw,
                               kMaxRawChunk));
  }
  return header;
}

void StoreChunkHeader(const ChunkHeader& header, std::byte* to) {
  to[0] = std::byte{0};
  Store24(to + 1, header.stored);
  to[4] = static_cast<std::byte>(header.scheme);
  Store24(to + 5, header.raw);
}

Result<void> ReadRecord(BytesView record, ChunkDecompressor& decompressor,
                        const Hash* expected, MutableBytes into) {
  if (record.size() < kChunkHeaderSize) {
    return Corrupt(fmt::format("{} bytes are no chunk record", record.size()));
  }
  DOLIUM_TRY(const ChunkHeader header, ParseChunkHeader(record));
  if (header.record_size() != record.size()) {
    return Corrupt(fmt::format("chunk record says it has {} bytes, {} expected",
                               header.record_size(), record.size()));
  }
  if (header.raw != into.size()) {
    return Corrupt(fmt::format("chunk says it has {} raw bytes, {} expected", header.raw,
                               into.size()));
  }
  DOLIUM_TRY_VOID(
      decompressor.Decode(header.scheme, record.subspan(kChunkHeaderSize), into));
  if (expected != nullptr) {
    if (const Hash found = ChunkHash(into); found != *expected) {
      return Corrupt(fmt::format("chunk has the hash {}, {} expected", ToString(found),
                                 ToString(*expected)));
    }
  }
  return {};
}

}  // namespace dolium::xet
