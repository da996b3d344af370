#include "dolium/formats/shardpack/tail.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/codec/zstd.h"
#include "dolium/formats/shardpack/content.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

namespace {

constexpr size_t kFooterCrcAt = 52;
constexpr std::string_view kKnownSections[] = {"META", "STAT", "KEYX",
                                               "KEYS", "ENTX", "ZDIC"};

Error BadIndex(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kIndex);
}
Error BadTail(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kSection);
}

// Whether index, directory and footer fit into the file, in this order.
Result<void> CheckLocations(const Footer& footer) {
  const auto words = CheckedAdd(footer.record_count, 1);
  const auto index_size = words ? CheckedMul(*words, 8) : std::nullopt;
  const auto index_end =
      index_size ? CheckedAdd(footer.index_offset, *index_size) : std::nullopt;
  const auto least =
      index_end ? CheckedAdd(*index_end, uint64_t{footer.directory_size} + kFooterBytes)
                : std::nullopt;
  if (!least || *least > footer.file_size) {
    return BadIndex(fmt::format(
        "an index of {} records at {} and a directory of {} bytes end past the file's {}",
        footer.record_count, footer.index_offset, footer.directory_size,
        footer.file_size));
  }
  if (footer.directory_size % kDirectoryRowBytes != 0) {
    return BadIndex(fmt::format("a directory of {} bytes, not a multiple of {}",
                                footer.directory_size, kDirectoryRowBytes));
  }
  return {};
}

}  // namespace

ByteRange Footer::directory() const {
  return {file_size - kFooterBytes - directory_size, directory_size};
}

Result<Footer> ParseFooter(BytesView last64, uint64_t file_size) {
  if (last64.size() != kFooterBytes ||
      AsText(last64.subspan(kFooterMagicAt)) != kFooterMagic) {
    return Corrupt(
               "no index at the end: the file is not finished or cut short; repair it, "
               "or "
               "read it front to back")
        .WithKind(kind::kIncomplete);
  }
  const std::byte* at = last64.data();
  const auto want = LoadLE<uint32_t>(at + kFooterCrcAt);
  const uint32_t found = Crc32c(last64.first(kFooterCrcAt));
  if (found != want) {
    return BadIndex(
        fmt::format("footer has CRC-32C {:08x}, {:08x} expected", found, want));
  }
  Footer footer;
  footer.index_offset = LoadLE<uint64_t>(at);
  footer.record_count = LoadLE<uint64_t>(at + 8);
  footer.file_size = LoadLE<uint64_t>(at + 16);
  footer.directory_size = LoadLE<uint32_t>(at + 24);
  footer.index_crc32c = LoadLE<uint32_t>(at + 28);
  footer.directory_crc32c = LoadLE<uint32_t>(at + 32);
  const auto major = std::to_integer<uint8_t>(at[36]);
  footer.minor = std::to_integer<uint8_t>(at[37]);
  footer.align_log2 = std::to_integer<uint8_t>(at[38]);
  footer.features_required = LoadLE<uint32_t>(at + 40);
  footer.features_optional = LoadLE<uint32_t>(at + 44);
  footer.crc32c = want;
  if (major != kVersionMajor) {
    return Unsupported(fmt::format("version {}.{}, only {}.x is known", major,
                                   footer.minor, kVersionMajor))
        .WithKind(kind::kUnsupportedVersion);
  }
  if ((footer.features_required & ~kFeaturesRequiredKnown) != 0) {
    return Unsupported(fmt::format("required features {:#010x} are not known",
                                   footer.features_required & ~kFeaturesRequiredKnown))
        .WithKind(kind::kUnsupportedFeature);
  }
  if (footer.file_size > file_size) {
    return Corrupt(fmt::format("{} bytes, {} expected: the file is cut short", file_size,
                               footer.file_size))
        .WithKind(kind::kIncomplete);
  }
  if (footer.file_size < file_size) {
    return Corrupt(fmt::format("{} bytes, {} expected: something was added in front",
                               file_size, footer.file_size))
        .WithKind(kind::kTrailingData);
  }
  if (footer.align_log2 < kMinAlignLog2 || footer.align_log2 > kMaxAlignLog2) {
    return BadIndex(fmt::format("alignment 2^{}, 2^{} to 2^{} are possible",
                                footer.align_log2, kMinAlignLog2, kMaxAlignLog2));
  }
  DOLIUM_TRY_VOID(CheckLocations(footer));
  return footer;
}

std::array<std::byte, 64> WriteFooter(const Footer& footer) {
  std::array<std::byte, kFooterBytes> out{};
  std::byte* at = out.data();
  StoreLE(at, footer.index_offset);
  StoreLE(at + 8, footer.record_count);
  StoreLE(at + 16, footer.file_size);
  StoreLE(at + 24, footer.directory_size);
  StoreLE(at + 28, footer.index_crc32c);
  StoreLE(at + 32, footer.directory_crc32c);
  at[36] = std::byte{kVersionMajor};
  at[37] = std::byte{kVersionMinor};
  at[38] = static_cast<std::byte>(footer.align_log2);
  StoreLE(at + 40, footer.features_required);
  StoreLE(at + 44, footer.features_optional);
  StoreLE(at + kFooterCrcAt, Crc32c(BytesView(out).first(kFooterCrcAt)));
  std::memcpy(at + kFooterMagicAt, kFooterMagic.data(), kFooterMagic.size());
  return out;
}

Result<void> CheckIndex(const Footer& footer, BytesView index) {
  if (index.size() != footer.index_size()) {
    return BadIndex(fmt::format("an index of {} bytes, {} expected", index.size(),
                                footer.index_size()));
  }
  const uint32_t found = Crc32c(index);
  if (found != footer.index_crc32c) {
    return BadIndex(fmt::format("index has CRC-32C {:08x}, {:08x} expected", found,
                                footer.index_crc32c));
  }
  const auto count = LoadLE<uint64_t>(index.data());
  if (count != footer.record_count) {
    return BadIndex(fmt::format("the index counts {} records, the footer {}", count,
                                footer.record_count));
  }
  const auto offset = [&](uint64_t i) {
    return i < count ? LoadLE<uint64_t>(index.data() + 8 * (i + 1)) : footer.index_offset;
  };
  if (offset(0) != 0) {
    return BadIndex(fmt::format("the first record is at {}, not at 0", offset(0)));
  }
  // One pass without branches; which record is wrong is found only if one is.
  const uint64_t mask = (uint64_t{1} << footer.align_log2) - 1;
  bool is_good = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = offset(i);
    const uint64_t end = offset(i + 1);
    is_good &= end > begin && end - begin >= kMinRecordBytes && (begin & mask) == 0;
  }
  if (is_good && (footer.index_offset & mask) == 0) return {};
  for (uint64_t i = 0; i < count; ++i) {
    if (offset(i + 1) < offset(i) || offset(i + 1) - offset(i) < kMinRecordBytes) {
      return BadIndex(
          fmt::format("record {} lies at [{}, {})", i, offset(i), offset(i + 1)));
    }
  }
  return BadIndex("a record does not begin at a multiple of the alignment");
}

Result<std::vector<Section>> ParseDirectory(const Footer& footer, BytesView directory) {
  const uint32_t found = Crc32c(directory);
  if (found != footer.directory_crc32c) {
    return BadTail(fmt::format("directory has CRC-32C {:08x}, {:08x} expected", found,
                               footer.directory_crc32c));
  }
  const uint64_t first = footer.index().end();
  const uint64_t last = footer.directory().offset;
  std::vector<Section> sections(directory.size() / kDirectoryRowBytes);
  for (size_t i = 0; i < sections.size(); ++i) {
    const std::byte* row = directory.data() + i * kDirectoryRowBytes;
    Section& section = sections[i];
    std::memcpy(section.tag.data(), row, section.tag.size());
    section.flags = LoadLE<uint16_t>(row + 4);
    section.codec = std::to_integer<uint8_t>(row[6]);
    section.format = std::to_integer<uint8_t>(row[7]);
    section.range = {LoadLE<uint64_t>(row + 8), LoadLE<uint64_t>(row + 16)};
    section.raw_size = LoadLE<uint64_t>(row + 24);
    section.crc32c = LoadLE<uint32_t>(row + 32);
    if (section.range.offset < first || section.range.offset > last ||
        section.range.length > last - section.range.offset) {
      return BadTail(fmt::format("section {} at [{}, +{}) is not in [{}, {})",
                                 section.name(), section.range.offset,
                                 section.range.length, first, last));
    }
    if ((section.flags & kSectionRequired) != 0 &&
        std::ranges::find(kKnownSections, section.name()) == std::end(kKnownSections)) {
      return Unsupported(
                 fmt::format("section {} is required and not known", section.name()))
          .WithKind(kind::kUnsupportedFeature);
    }
  }
  return sections;
}

const Section* FindSection(std::span<const Section> sections, std::string_view tag) {
  const auto found = std::ranges::find(sections, tag, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

Result<Bytes> ReadSection(const Section& section, const Bytes& stored, uint64_t limit) {
  const EntryHeader header{.stored_size = section.range.length,
                           .raw_size = section.raw_size,
                           .crc32c = section.crc32c,
                           .codec = section.codec};
  if (section.codec == 0 && section.raw_size != section.range.length) {
    return BadTail(fmt::format("section {}: {} bytes stored as they are, yet {} raw",
                               section.name(), section.range.length, section.raw_size));
  }
  auto body = DecodeContent(header, stored, {.raw_limit = limit});
  if (body) return body;
  Error error = std::move(body).error().Within(fmt::format("section {}", section.name()));
  if (error.kind == kind::kEntry) error.kind = kind::kSection;
  return error;
}

SectionsAndDirectory LayOutSections(std::span<const NewSection> sections, uint64_t at) {
  SectionsAndDirectory out;
  ByteVector directory;
  for (const NewSection& section : sections) {
    ByteVector compressed;
    if (section.compress) compressed = ZstdEncode(section.body);
    const bool is_smaller = section.compress && compressed.size() < section.body.size();
    const BytesView stored = is_smaller ? BytesView(compressed) : BytesView(section.body);
    std::array<std::byte, kDirectoryRowBytes> row{};
    std::memcpy(row.data(), section.tag.data(), 4);
    row[6] = static_cast<std::byte>(is_smaller ? Compression::kZstd : Compression::kNone);
    row[7] = static_cast<std::byte>(section.format);
    StoreLE(row.data() + 8, at + out.bytes.size());
    StoreLE(row.data() + 16, uint64_t{stored.size()});
    StoreLE(row.data() + 24, uint64_t{section.body.size()});
    StoreLE(row.data() + 32, Crc32c(stored));
    Append(directory, row);
    Append(out.bytes, stored);
    out.bytes.resize(static_cast<size_t>(RoundUp(out.bytes.size(), kSectionAlignment)));
  }
  out.directory_size = static_cast<uint32_t>(directory.size());
  out.directory_crc32c = Crc32c(directory);
  Append(out.bytes, directory);
  return out;
}

}  // namespace dolium::shardpack
