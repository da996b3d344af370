// The numbers of the ShardPack format, version 1 (docs/formats/shardpack.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dolium/base/bytes.h"

namespace dolium::shardpack {

inline constexpr std::string_view kExtension = ".shardpack";

// Records.
inline constexpr std::string_view kRecordMagic = "SPKR";  // at byte 8
inline constexpr size_t kRecordMagicAt = 8;
inline constexpr uint8_t kRecordVersion = 1;
inline constexpr size_t kRecordHeaderBytes = 32;  // then key, extensions, metadata
inline constexpr uint64_t kMinRecordBytes = 40;
inline constexpr size_t kEntryHeaderBytes = 32;  // then name, type, extensions
inline constexpr uint64_t kEntryAlignment = 8;

inline constexpr unsigned kMinAlignLog2 = 3;
inline constexpr unsigned kMaxAlignLog2 = 12;

inline constexpr uint8_t kRecordTombstone = 1 << 0;
inline constexpr uint8_t kRecordPart = 1 << 1;
inline constexpr uint8_t kRecordFlagsToUnderstand = 0x0F;
inline constexpr uint8_t kRecordFlagsKnown = kRecordTombstone | kRecordPart;

inline constexpr uint8_t kEntryChunked = 1 << 0;
inline constexpr uint8_t kEntryAux = 1 << 1;
inline constexpr uint8_t kEntryFlagsToUnderstand = 0x0F;
inline constexpr uint8_t kEntryFlagsKnown = kEntryChunked | kEntryAux;

// Extensions: type, length, bytes.
inline constexpr uint16_t kExtensionCritical = 0x8000;
inline constexpr uint16_t kRecordExtensionPart = 0x0001;
inline constexpr uint16_t kEntryExtensionMetadata = 0x0001;
inline constexpr uint16_t kEntryExtensionModified = 0x0002;
inline constexpr uint16_t kEntryExtensionMode = 0x0003;
inline constexpr uint16_t kEntryExtensionArray = 0x0004;
inline constexpr uint16_t kEntryExtensionSegment = 0x8005;
inline constexpr size_t kSegmentBytes = 16;

// Chunked entries.
inline constexpr size_t kChunkTableHeaderBytes = 16;
inline constexpr size_t kChunkRowBytes = 16;
inline constexpr uint64_t kMinChunkSize = uint64_t{64} << 10;
inline constexpr uint64_t kMaxChunkSize = uint64_t{1} << 30;
inline constexpr uint32_t kChunkStoredRaw = 1 << 0;

// Tail.
inline constexpr size_t kFooterBytes = 64;
inline constexpr std::string_view kFooterMagic = "SHARDPK1";
inline constexpr size_t kFooterMagicAt = 56;
inline constexpr uint8_t kVersionMajor = 1;
inline constexpr uint8_t kVersionMinor = 0;
inline constexpr uint32_t kFeaturesRequiredKnown = 0;
inline constexpr uint32_t kFeatureDictionaries = 1 << 0;  // optional
inline constexpr size_t kDirectoryRowBytes = 40;
inline constexpr uint16_t kSectionRequired = 1 << 0;
inline constexpr size_t kStatBytes = 64;
inline constexpr uint64_t kSectionAlignment = 8;

inline constexpr std::string_view kDictionaryType = "application/x-zstd-dictionary";

// The default of what one entry may decode to, and how many times its stored size.
inline constexpr uint64_t kDefaultRawLimit = uint64_t{4} << 30;
inline constexpr uint64_t kDefaultRatioLimit = 4096;

constexpr uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace dolium::shardpack
