#include "dolium/formats/shardpack/headers.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/crc32c.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/names.h"

namespace dolium::shardpack {

namespace {

constexpr size_t kHeaderCrcAt = 24;
constexpr size_t kEntryCountAt = 28;
constexpr size_t kEntryHeaderCrcAt = 28;
constexpr uint64_t kMaxSize = uint64_t{1} << 63;

uint8_t ByteAt(BytesView bytes, size_t at) { return std::to_integer<uint8_t>(bytes[at]); }

template <std::unsigned_integral T>
T NumberAt(BytesView bytes, size_t at) {
  return LoadLE<T>(bytes.data() + at);
}

bool HasRecordMagic(BytesView first16) {
  return AsText(first16.subspan(kRecordMagicAt, kRecordMagic.size())) == kRecordMagic;
}

bool IsRecordSize(uint64_t size) {
  return size >= kMinRecordBytes && size < kMaxSize && size % kEntryAlignment == 0;
}

Error BadRecord(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kRecord);
}
Error BadEntry(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kEntry);
}

// Calls visit(type, bytes) for each extension. kUnsupported for an unknown critical one.
template <typename Known, typename Visit>
Result<void> VisitExtensions(BytesView extensions, const Known& is_known,
                             const Visit& visit) {
  ByteReader reader(extensions);
  while (reader.remaining() > 0) {
    DOLIUM_TRY(const auto type, reader.Read<uint16_t>("type of an extension"));
    DOLIUM_TRY(const auto length, reader.Read<uint16_t>("length of an extension"));
    DOLIUM_TRY(const BytesView bytes, reader.ReadBytes(length, "extension"));
    if (is_known(type)) {
      DOLIUM_TRY_VOID(visit(type, bytes));
    } else if ((type & kExtensionCritical) != 0) {
      return Unsupported(fmt::format("critical extension {:#06x} is not known", type))
          .WithKind(kind::kUnsupportedFeature);
    }
  }
  return {};
}

// The same error; one without a kind is of this one.
Result<void> OrOfKind(Result<void> result, std::string_view kind) {
  if (result || !result.error().kind.empty()) return result;
  return std::move(result).error().WithKind(kind);
}

// Whether the extensions can be passed: well formed, none critical that is not known.
Result<void> CheckExtensions(BytesView extensions) {
  return OrOfKind(
      VisitExtensions(
          extensions, [](uint16_t type) { return (type & kExtensionCritical) == 0; },
          [](uint16_t, BytesView) { return Result<void>(); }),
      kind::kRecord);
}

Result<void> ParseSegment(BytesView bytes, EntryHeader& header) {
  if (bytes.size() != kSegmentBytes) {
    return BadEntry(
        fmt::format("a segment of {} bytes, {} expected", bytes.size(), kSegmentBytes));
  }
  const FileSegment segment{NumberAt<uint64_t>(bytes, 0), NumberAt<uint64_t>(bytes, 8)};
  const auto end = CheckedAdd(segment.offset, header.raw_size);
  if (!end || *end > segment.whole_size || header.is_aux()) {
    return BadEntry(fmt::format("a segment of {} bytes at {}, the whole has {}",
                                header.raw_size, segment.offset, segment.whole_size));
  }
  header.segment = segment;
  return {};
}

// The same for an entry, whose segment they may give.
Result<void> ParseEntryExtensions(EntryHeader& header) {
  return OrOfKind(
      VisitExtensions(
          header.extensions,
          [](uint16_t type) {
            return (type & kExtensionCritical) == 0 || type == kEntryExtensionSegment;
          },
          [&](uint16_t type, BytesView bytes) {
            return type == kEntryExtensionSegment ? ParseSegment(bytes, header)
                                                  : Result<void>();
          }),
      kind::kEntry);
}

Result<ArrayShape> ParseArray(BytesView bytes) {
  ByteReader reader(bytes);
  DOLIUM_TRY(const auto length, reader.Read<uint8_t>("length of the dtype"));
  DOLIUM_TRY(const BytesView dtype, reader.ReadBytes(length, "dtype"));
  DOLIUM_TRY(const auto dimensions, reader.Read<uint8_t>("number of dimensions"));
  ArrayShape array;
  array.dtype = AsText(dtype);
  for (unsigned i = 0; i < dimensions; ++i) {
    DOLIUM_TRY(array.lengths.emplace_back(), reader.Read<uint64_t>("length"));
  }
  if (reader.remaining() > 0) {
    return Corrupt(fmt::format("{} bytes follow the shape", reader.remaining()));
  }
  return array;
}

Result<void> ParseExtra(uint16_t type, BytesView bytes, EntryExtras& extras) {
  switch (type) {
    case kEntryExtensionMetadata:
      if (bytes.empty()) return Corrupt("metadata without a format");
      extras.metadata.format = static_cast<MetadataFormat>(ByteAt(bytes, 0));
      extras.metadata.bytes = Bytes(nullptr, bytes.subspan(1));
      return {};
    case kEntryExtensionModified:
      if (bytes.size() != 8) return Corrupt("time of modification is not 8 bytes");
      extras.modified = std::bit_cast<int64_t>(NumberAt<uint64_t>(bytes, 0));
      return {};
    case kEntryExtensionMode:
      if (bytes.size() != 4) return Corrupt("mode is not 4 bytes");
      extras.mode = NumberAt<uint32_t>(bytes, 0);
      return {};
    default: {
      DOLIUM_TRY(extras.array, ParseArray(bytes));
      return {};
    }
  }
}

}  // namespace

bool EntryHeader::is_chunked() const { return (flags & kEntryChunked) != 0; }
bool EntryHeader::is_aux() const { return (flags & kEntryAux) != 0; }

Result<std::optional<uint64_t>> ClaimedRecordSize(BytesView first16) {
  if (!HasRecordMagic(first16)) return std::nullopt;
  const auto size = NumberAt<uint64_t>(first16, 0);
  if (!IsRecordSize(size)) {
    return BadRecord(fmt::format("impossible record size {}", size));
  }
  return size;
}

Result<RecordHeader> ParseRecordHeader(BytesView block, Check check) {
  if (block.size() < kRecordHeaderBytes) {
    return BadRecord(fmt::format("{} bytes, fewer than the {} of a record's header",
                                 block.size(), kRecordHeaderBytes));
  }
  const auto size = NumberAt<uint64_t>(block, 0);
  if (!HasRecordMagic(block) || !IsRecordSize(size)) {
    DOLIUM_TRY([[maybe_unused]] const auto claimed, ClaimedRecordSize(block.first(16)));
    return BadRecord("no record: the magic SPKR is missing");
  }
  const uint8_t version = ByteAt(block, 12);
  if (version != kRecordVersion) {
    return Unsupported(fmt::format("record of version {}, only {} is known", version,
                                   kRecordVersion))
        .WithKind(kind::kUnsupportedVersion);
  }
  RecordHeader header;
  header.record_size = size;
  header.align_log2 = ByteAt(block, 13);
  header.flags = ByteAt(block, 14);
  header.metadata_format = static_cast<MetadataFormat>(ByteAt(block, 15));
  const auto metadata_length = NumberAt<uint32_t>(block, 16);
  const auto key_length = NumberAt<uint16_t>(block, 20);
  const auto extensions_length = NumberAt<uint16_t>(block, 22);
  header.entry_count = NumberAt<uint32_t>(block, kEntryCountAt);
  const uint64_t end =
      kRecordHeaderBytes + uint64_t{key_length} + extensions_length + metadata_length;
  if (end > std::min<uint64_t>(block.size(), header.record_size)) {
    return BadRecord(
        fmt::format("key, extensions and metadata end at {}, past the {} bytes there are",
                    end, std::min<uint64_t>(block.size(), header.record_size)));
  }
  if (check != Check::kNone) {
    const uint32_t want = NumberAt<uint32_t>(block, kHeaderCrcAt);
    const uint32_t found =
        Crc32c(block.subspan(kEntryCountAt, static_cast<size_t>(end) - kEntryCountAt),
               Crc32c(block.first(kHeaderCrcAt)));
    if (found != want) {
      return BadRecord(
          fmt::format("header has CRC-32C {:08x}, {:08x} expected", found, want));
    }
  }
  if (header.align_log2 < kMinAlignLog2 || header.align_log2 > kMaxAlignLog2) {
    return BadRecord(fmt::format("alignment 2^{}, 2^{} to 2^{} are possible",
                                 header.align_log2, kMinAlignLog2, kMaxAlignLog2));
  }
  if (header.record_size % (uint64_t{1} << header.align_log2) != 0) {
    return BadRecord(fmt::format("size {} is not a multiple of the alignment {}",
                                 header.record_size, uint64_t{1} << header.align_log2));
  }
  if (key_length == 0) return BadRecord("the key is empty");
  const auto unknown = static_cast<uint8_t>(header.flags & kRecordFlagsToUnderstand &
                                            ~unsigned{kRecordFlagsKnown});
  if (unknown != 0) {
    return Unsupported(fmt::format("record flags {:#04x} are not known", unknown))
        .WithKind(kind::kUnsupportedFeature);
  }
  const bool is_tombstone = (header.flags & kRecordTombstone) != 0;
  if (is_tombstone != (header.entry_count == 0)) {
    return BadRecord(fmt::format("{} entries in a record that is {}a tombstone",
                                 header.entry_count, is_tombstone ? "" : "not "));
  }
  header.key = AsText(block.subspan(kRecordHeaderBytes, key_length));
  header.extensions = block.subspan(kRecordHeaderBytes + key_length, extensions_length);
  header.metadata =
      block.subspan(kRecordHeaderBytes + key_length + extensions_length, metadata_length);
  header.first_entry_at = RoundUp(end, kEntryAlignment);
  if (header.first_entry_at > header.record_size ||
      uint64_t{header.entry_count} * kEntryHeaderBytes >
          header.record_size - header.first_entry_at) {
    return BadRecord(fmt::format("{} entries do not fit into the record's {} bytes",
                                 header.entry_count, header.record_size));
  }
  if (metadata_length > 0 && header.metadata_format == MetadataFormat::kNone) {
    return BadRecord(fmt::format("{} bytes of metadata in no format", metadata_length));
  }
  if (check != Check::kNone && !IsPlainText(header.key)) {
    return BadRecord("the key is not UTF-8, or has a zero byte");
  }
  if (!header.extensions.empty() || (header.flags & kRecordPart) != 0) {
    DOLIUM_TRY_VOID(CheckExtensions(header.extensions));
    DOLIUM_TRY([[maybe_unused]] const auto part, ParsePart(header));
  }
  return header;
}

Result<std::optional<PartNumber>> ParsePart(const RecordHeader& header) {
  std::optional<PartNumber> part;
  if (header.extensions.empty() && (header.flags & kRecordPart) == 0) return part;
  DOLIUM_TRY_VOID(VisitExtensions(
      header.extensions, [](uint16_t type) { return type == kRecordExtensionPart; },
      [&part](uint16_t, BytesView bytes) -> Result<void> {
        if (bytes.size() != 8) return BadRecord("part number is not 8 bytes");
        part = {NumberAt<uint32_t>(bytes, 0), NumberAt<uint32_t>(bytes, 4)};
        return {};
      }));
  if ((header.flags & kRecordPart) != 0 && !part) {
    return BadRecord("a part of a sample that does not say which");
  }
  if (part && part->index >= part->count) {
    return BadRecord(fmt::format("part {} of {}", part->index, part->count));
  }
  return part;
}

Result<EntryHeader> ParseEntryHeader(BytesView block, uint64_t at, unsigned align_log2,
                                     Check check, bool whole) {
  if (at > block.size() || block.size() - at < kEntryHeaderBytes) {
    return BadEntry(
        fmt::format("header at {} ends past the record's {} bytes", at, block.size()));
  }
  const BytesView rest = block.subspan(static_cast<size_t>(at));
  EntryHeader header;
  header.stored_size = NumberAt<uint64_t>(rest, 0);
  header.raw_size = NumberAt<uint64_t>(rest, 8);
  header.crc32c = NumberAt<uint32_t>(rest, 16);
  const auto name_length = NumberAt<uint16_t>(rest, 20);
  const auto type_length = NumberAt<uint16_t>(rest, 22);
  const auto extensions_length = NumberAt<uint16_t>(rest, 24);
  header.codec = ByteAt(rest, 26);
  header.flags = ByteAt(rest, 27);
  const size_t end =
      kEntryHeaderBytes + size_t{name_length} + type_length + extensions_length;
  if (end > rest.size()) {
    return BadEntry(
        fmt::format("name, type and extensions end at {}, past the record's {} bytes",
                    at + end, block.size()));
  }
  if (check != Check::kNone) {
    const auto want = NumberAt<uint32_t>(rest, kEntryHeaderCrcAt);
    const uint32_t found =
        Crc32c(rest.subspan(kEntryHeaderBytes, end - kEntryHeaderBytes),
               Crc32c(rest.first(kEntryHeaderCrcAt)));
    if (found != want) {
      return BadEntry(
          fmt::format("header has CRC-32C {:08x}, {:08x} expected", found, want));
    }
  }
  if (name_length == 0) return BadEntry("the name is empty");
  header.name = AsText(rest.subspan(kEntryHeaderBytes, name_length));
  header.content_type =
      AsText(rest.subspan(kEntryHeaderBytes + name_length, type_length));
  header.extensions =
      rest.subspan(kEntryHeaderBytes + name_length + type_length, extensions_length);
  header.content_at = RoundUp(at + end, uint64_t{1} << align_log2);
  if (whole && (header.content_at > block.size() ||
                header.stored_size > block.size() - header.content_at)) {
    return BadEntry(fmt::format("content of {} bytes at {} ends past the record's {}",
                                header.stored_size, header.content_at, block.size()));
  }
  const auto unknown = static_cast<uint8_t>(header.flags & kEntryFlagsToUnderstand &
                                            ~unsigned{kEntryFlagsKnown});
  if (unknown != 0) {
    return Unsupported(fmt::format("entry flags {:#04x} are not known", unknown))
        .WithKind(kind::kUnsupportedFeature);
  }
  if (header.codec == static_cast<uint8_t>(Compression::kNone) && !header.is_chunked() &&
      header.stored_size != header.raw_size) {
    return BadEntry(fmt::format("{} bytes stored as they are, yet {} raw",
                                header.stored_size, header.raw_size));
  }
  if (check != Check::kNone &&
      (!IsPlainText(header.name) || !IsPlainText(header.content_type))) {
    return BadEntry("name or content type is not UTF-8, or has a zero byte");
  }
  if (!header.extensions.empty()) DOLIUM_TRY_VOID(ParseEntryExtensions(header));
  return header;
}

ByteVector ExtensionsOfFile(const EntryHeader& header) {
  ByteVector out;
  for (size_t at = 0; at < header.extensions.size();) {
    const size_t size = 4 + NumberAt<uint16_t>(header.extensions, at + 2);
    if (NumberAt<uint16_t>(header.extensions, at) != kEntryExtensionSegment) {
      Append(out, header.extensions.subspan(at, size));
    }
    at += size;
  }
  return out;
}

Result<EntryExtras> ParseExtras(const EntryHeader& header) {
  EntryExtras extras;
  if (header.extensions.empty()) return extras;
  DOLIUM_TRY_VOID(OrOfKind(
      VisitExtensions(
          header.extensions,
          [](uint16_t type) {
            return (type >= kEntryExtensionMetadata && type <= kEntryExtensionArray) ||
                   type == kEntryExtensionSegment;
          },
          [&extras](uint16_t type, BytesView bytes) {
            return type == kEntryExtensionSegment ? Result<void>()  // in the header
                                                  : ParseExtra(type, bytes, extras);
          }),
      kind::kEntry));
  return extras;
}

void EntryExtras::GiveTo(File& file) const {
  file.metadata = {metadata.format, Bytes::Copy(metadata.bytes)};
  file.modified = modified;
  file.mode = mode;
  file.array = array;
}

}  // namespace dolium::shardpack
