#include "dolium/domain/dataset/imports/tar_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

// Long names and PAX headers: nobody's are longer.
constexpr uint64_t kMaxExtension = uint64_t{1} << 20;

bool IsZero(BytesView block) {
  return std::ranges::all_of(block, [](std::byte b) { return b == std::byte{0}; });
}

bool IsRegular(const TarHeader& header) {
  // Old archives mark directories by a slash alone.
  if (header.type == '\0') return !header.name.ends_with('/');
  return header.type == '0' || header.type == '7';
}

// Whether blocks of content follow the header.
bool HasContent(char type) { return type < '1' || type > '6'; }

}  // namespace

Error TarReader::At(uint64_t position, const Error& error) const {
  return error.Within(fmt::format("{}: header at {}", stream_->name(), position));
}

Result<void> TarReader::Pass() {
  DOLIUM_TRY_VOID(stream_->Skip(content_ + padding_, name_));
  content_ = padding_ = 0;
  return {};
}

Result<Bytes> TarReader::ReadExtension(const TarHeader& header) {
  if (header.size > kMaxExtension) {
    return Corrupt(
        fmt::format("{}: a name or PAX header of {} bytes, more than the limit "
                    "of {}",
                    stream_->name(), header.size, kMaxExtension));
  }
  DOLIUM_TRY(Bytes content, stream_->Read(header.size, "a name or PAX header"));
  DOLIUM_TRY_VOID(stream_->Skip(TarPadding(header.size), "a name or PAX header"));
  return content;
}

Result<void> TarReader::ReadTrailer() {
  done_ = true;
  DOLIUM_TRY(const bool is_at_end, stream_->SkipZeros());
  if (!is_at_end) behind_end_ = stream_->position();
  return stream_->Drain();
}

Result<std::optional<TarHeader>> TarReader::Next() {
  if (done_) return std::nullopt;
  DOLIUM_TRY_VOID(Pass());
  PaxRecords pax;
  std::optional<std::string> long_name;
  while (true) {
    const uint64_t position = stream_->position();
    DOLIUM_TRY(const bool at_end, stream_->AtEnd());
    if (at_end) {
      return Corrupt(
          fmt::format("{}: ends at {} without the mark of the end (two blocks "
                      "of zeros); was it cut short?",
                      stream_->name(), position));
    }
    DOLIUM_TRY(const BytesView block, stream_->Peek(kTarBlock, "a header"));
    if (IsZero(block)) {
      DOLIUM_TRY_VOID(ReadTrailer());
      return std::nullopt;
    }
    auto parsed = ParseTarHeader(block);
    if (!parsed) return At(position, parsed.error());
    TarHeader header = *std::move(parsed);
    if (header.type == 'x' || header.type == 'X' || header.type == 'g') {
      DOLIUM_TRY(const Bytes content, ReadExtension(header));
      auto records = ParsePaxRecords(content);
      if (!records) return At(position, records.error());
      if (header.type != 'g') pax = *std::move(records);
      continue;
    }
    if (header.type == 'L' || header.type == 'K') {
      DOLIUM_TRY(const Bytes content, ReadExtension(header));
      const std::string_view text = AsText(content);
      if (header.type == 'L') long_name = text.substr(0, text.find('\0'));
      continue;
    }
    if (long_name) header.name = *std::exchange(long_name, std::nullopt);
    const PaxRecords records = std::exchange(pax, {});
    if (records.path) header.name = *records.path;
    if (records.size) header.size = *records.size;
    if (records.modified) header.modified = *records.modified;
    if (header.type == 'S' || records.sparse) {
      return Unsupported(
          fmt::format("{}: {}: a sparse file", stream_->name(), header.name));
    }
    name_ = header.name;
    if (header.name.find('\0') != std::string::npos) {
      return At(position, Corrupt("a name with a NUL in it"));
    }
    if (header.size > uint64_t{INT64_MAX}) {
      return At(position, Corrupt(fmt::format("a size of {} bytes", header.size)));
    }
    content_ = HasContent(header.type) ? header.size : 0;
    padding_ = TarPadding(content_);
    if (IsRegular(header)) return header;
    if (header.type == '1' || header.type == '2') {
      links_.Add(header.name);
    } else if (header.type != '5' && header.type != '\0') {
      specials_.Add(header.name);
    }
    DOLIUM_TRY_VOID(Pass());
  }
}

Result<Bytes> TarReader::ReadContent() {
  if (content_ > max_file_bytes_) {
    return Corrupt(fmt::format("{}: {} has {} bytes, more than the limit of {}",
                               stream_->name(), name_, content_, max_file_bytes_));
  }
  return stream_->Read(std::exchange(content_, 0), name_);
}

}  // namespace dolium::dataset
