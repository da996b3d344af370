// The tail of a shard: index, sections, directory, footer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::shardpack {

struct Footer {
  uint64_t index_offset = 0;
  uint64_t record_count = 0;
  uint64_t file_size = 0;
  uint32_t directory_size = 0;
  uint32_t index_crc32c = 0;
  uint32_t directory_crc32c = 0;
  uint8_t minor = 0;
  unsigned align_log2 = 3;
  uint32_t features_required = 0;
  uint32_t features_optional = 0;
  // Of the footer as it was read: distinguishes one content of a shard from another. Not
  // for WriteFooter, which reckons it.
  uint32_t crc32c = 0;

  uint64_t index_size() const { return 8 * (record_count + 1); }
  ByteRange index() const { return {index_offset, index_size()}; }
  ByteRange directory() const;
};

// From the last 64 bytes of a file of `file_size` bytes. Kinds: kIncomplete (no magic:
// the writer did not finish, or the end is missing; or the file is shorter than it says),
// kTrailingData (longer), kIndex (damaged), kUnsupportedVersion, kUnsupportedFeature.
// Ranges of a footer that was returned lie within the file, in order.
Result<Footer> ParseFooter(BytesView last64, uint64_t file_size);

std::array<std::byte, 64> WriteFooter(const Footer& footer);

// The offsets of the records, by the bytes of the index: count, then one for each.
// Checked: the CRC, the count, that offset 0 is 0 and offsets ascend to index_offset.
// kCorrupt of kind kIndex.
Result<void> CheckIndex(const Footer& footer, BytesView index);

// One row of the directory.
struct Section {
  std::array<char, 4> tag{};
  uint16_t flags = 0;
  uint8_t codec = 0;
  uint8_t format = 0;
  ByteRange range;  // in the file
  uint64_t raw_size = 0;
  uint32_t crc32c = 0;

  std::string_view name() const { return {tag.data(), tag.size()}; }
};

// kCorrupt of kind kSection if the directory is damaged or a row points outside; an
// unknown section that is required is kUnsupportedFeature.
Result<std::vector<Section>> ParseDirectory(const Footer& footer, BytesView directory);

// nullptr if there is none of that tag.
const Section* FindSection(std::span<const Section> sections, std::string_view tag);

// A section's body, checked and decompressed.
Result<Bytes> ReadSection(const Section& section, const Bytes& stored, uint64_t limit);

// Lays out sections and directory, in order. Bodies begin at file offset `at`, which is a
// multiple of 8.
struct NewSection {
  std::string_view tag;
  ByteVector body;  // raw
  uint8_t format = 0;
  bool compress = false;  // by zstd, if that makes it smaller
};
struct SectionsAndDirectory {
  ByteVector bytes;
  uint32_t directory_size = 0;
  uint32_t directory_crc32c = 0;
};
SectionsAndDirectory LayOutSections(std::span<const NewSection> sections, uint64_t at);

}  // namespace dolium::shardpack
