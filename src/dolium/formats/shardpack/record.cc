#include "dolium/formats/shardpack/record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

std::string EntryContext(std::string_view key, std::string_view name) {
  return fmt::format("\"{}\": entry \"{}\"", key, name);
}

namespace {

Error OtherSize(const RecordHeader& header, uint64_t size) {
  return Corrupt(fmt::format("a record of {} bytes, the index has it with {}",
                             header.record_size, size))
      .WithKind(kind::kIndex);
}

// The header of a block that is exactly one record.
Result<RecordHeader> ParseHeaderOf(BytesView block, Check check) {
  auto header = ParseRecordHeader(block, check);
  if (header && header->record_size != block.size())
    return OtherSize(*header, block.size());
  return header;
}

}  // namespace

Error PartOfFile(const EntryHeader& entry) {
  return Corrupt(fmt::format("bytes [{}, {}) of a file of {} are here alone",
                             entry.segment->offset,
                             entry.segment->offset + entry.raw_size,
                             entry.segment->whole_size))
      .WithKind(kind::kRecord);
}

namespace {

Error InEntry(Error error, const RecordHeader& header, uint32_t entry) {
  return std::move(error).Within(fmt::format("\"{}\": entry {}", header.key, entry));
}

}  // namespace

Result<Record> Record::Parse(Bytes block, Check check) {
  Record record;
  DOLIUM_TRY(record.header_, ParseHeaderOf(block, check));
  const RecordHeader& header = record.header_;
  record.entries_.reserve(header.entry_count);
  uint64_t at = header.first_entry_at;
  for (uint32_t i = 0; i < header.entry_count; ++i) {
    auto entry = ParseEntryHeader(block, at, header.align_log2, check);
    if (!entry) {
      record.damage_ = InEntry(std::move(entry).error(), header, i);
      break;
    }
    at = RoundUp(entry->content_end(), kEntryAlignment);
    record.entries_.push_back(*entry);
  }
  const uint64_t end = record.entries_.empty() ? header.first_entry_at
                                               : record.entries_.back().content_end();
  const uint64_t size = RoundUp(end, uint64_t{1} << header.align_log2);
  if (!record.damage_ && size != header.record_size) {
    record.damage_ =
        Corrupt(fmt::format("\"{}\": its entries end at {}, the record at {}", header.key,
                            size, header.record_size))
            .WithKind(kind::kRecord);
  }
  record.block_ = std::move(block);
  return record;
}

Result<Record> Record::ParseParts(Bytes bytes, uint64_t record_size, size_t header_bytes,
                                  std::span<const EntryPart> parts, Check check) {
  Record record;
  DOLIUM_TRY(record.header_, ParseRecordHeader(bytes.view().first(header_bytes), check));
  const RecordHeader& header = record.header_;
  if (header.record_size != record_size) return OtherSize(header, record_size);
  size_t begin = header_bytes;
  for (const EntryPart& part : parts) {
    const BytesView own = bytes.view().subspan(begin, static_cast<size_t>(part.length));
    DOLIUM_TRY(EntryHeader entry,
               ParseEntryHeader(own, 0, header.align_log2, check, /*whole=*/false));
    // How far its content is from its header depends on where that is in the record.
    const uint64_t header_end = part.at + kEntryHeaderBytes + entry.name.size() +
                                entry.content_type.size() + entry.extensions.size();
    const uint64_t skipped =
        RoundUp(header_end, uint64_t{1} << header.align_log2) - part.at;
    if (skipped > part.length || entry.stored_size != part.length - skipped) {
      return Corrupt(fmt::format("\"{}\": entry \"{}\" has {} bytes, the index says {}",
                                 header.key, entry.name, entry.stored_size, part.length))
          .WithKind(kind::kEntry);
    }
    entry.content_at = begin + skipped;
    record.entries_.push_back(entry);
    begin += own.size();
  }
  record.block_ = std::move(bytes);
  return record;
}

bool Record::is_tombstone() const { return (header_.flags & kRecordTombstone) != 0; }

Metadata Record::metadata() const {
  if (header_.metadata.empty()) return {header_.metadata_format, {}};
  const auto at = static_cast<size_t>(header_.metadata.data() - block_.data());
  return {header_.metadata_format, block_.Slice(at, header_.metadata.size())};
}

const EntryHeader* Record::Find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &EntryHeader::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<Bytes> Record::Content(const EntryHeader& entry,
                              const ContentOptions& options) const {
  auto content = DecodeContent(entry, Stored(entry), options);
  if (content) return content;
  return std::move(content).error().Within(EntryContext(key(), entry.name));
}

Result<void> Record::ContentInto(const EntryHeader& entry, MutableBytes into,
                                 const ContentOptions& options) const {
  const BytesView stored = block_.view().subspan(static_cast<size_t>(entry.content_at),
                                                 static_cast<size_t>(entry.stored_size));
  auto done = DecodeContentInto(entry, stored, into, options);
  if (done) return done;
  return std::move(done).error().Within(EntryContext(key(), entry.name));
}

Result<Sample> Record::Decode(const ContentOptions& options) const {
  if (damage_) return *damage_;
  Sample sample{
      .key = std::string(key()), .metadata = metadata(), .tombstone = is_tombstone()};
  for (const EntryHeader& entry : entries_) {
    if (entry.is_aux()) continue;
    File file{.name = std::string(entry.name),
              .content_type = std::string(entry.content_type)};
    DOLIUM_TRY(file.data, Content(entry, options));
    DOLIUM_TRY(const EntryExtras extras,
               ParseExtras(entry).Within(EntryContext(key(), entry.name)));
    extras.GiveTo(file);
    file.compression = static_cast<Compression>(entry.codec);
    file.segment = entry.segment;
    sample.files.push_back(std::move(file));
  }
  return sample;
}

Result<RecordHeader> PickEntries(BytesView block, std::span<const std::string> names,
                                 Check check, std::span<EntryHeader> found) {
  DOLIUM_TRY(const RecordHeader header, ParseHeaderOf(block, check));
  std::ranges::fill(found, EntryHeader());
  size_t missing = names.size();
  uint64_t at = header.first_entry_at;
  for (uint32_t i = 0; i < header.entry_count && missing > 0; ++i) {
    const auto entry = ParseEntryHeader(block, at, header.align_log2, check);
    if (!entry) return InEntry(entry.error(), header, i);
    at = RoundUp(entry->content_end(), kEntryAlignment);
    if (entry->is_aux()) continue;
    for (size_t j = 0; j < names.size(); ++j) {
      if (names[j] != entry->name || !found[j].name.empty()) continue;
      if (entry->is_partial()) return InEntry(PartOfFile(*entry), header, i);
      found[j] = *entry;
      --missing;
    }
  }
  return header;
}

Dictionaries DictionariesIn(const Record& record, const ContentOptions& options) {
  Dictionaries found;
  for (const EntryHeader& entry : record.entries()) {
    if (!entry.is_aux() || entry.content_type != kDictionaryType) continue;
    const auto content = record.Content(entry, options);
    if (!content) continue;
    if (auto dictionary = ZstdDictionary::Load(Bytes::Copy(*content))) {
      found[(*dictionary)->id()] = *dictionary;
    }
  }
  return found;
}

}  // namespace dolium::shardpack
