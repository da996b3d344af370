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

Error OtherSize(const RecordHead& head, uint64_t size) {
  return Corrupt(fmt::format("a record of {} bytes, the index has it with {}",
                             head.record_size, size))
      .WithKind(kind::kIndex);
}

// The head of a block that is exactly one record.
Result<RecordHead> ParseHeadOf(BytesView block, Check check) {
  auto head = ParseRecordHead(block, check);
  if (head && head->record_size != block.size()) return OtherSize(*head, block.size());
  return head;
}

Error InEntry(Error error, const RecordHead& head, uint32_t entry) {
  return std::move(error).Within(fmt::format("\"{}\": entry {}", head.key, entry));
}

}  // namespace

Result<Record> Record::Parse(Bytes block, Check check) {
  Record record;
  DOLIUM_TRY(record.head_, ParseHeadOf(block, check));
  const RecordHead& head = record.head_;
  record.entries_.reserve(head.entry_count);
  uint64_t at = head.first_entry_at;
  for (uint32_t i = 0; i < head.entry_count; ++i) {
    auto entry = ParseEntryHead(block, at, head.align_log2, check);
    if (!entry) {
      record.damage_ = InEntry(std::move(entry).error(), head, i);
      break;
    }
    at = RoundUp(entry->content_end(), kEntryAlignment);
    record.entries_.push_back(*entry);
  }
  const uint64_t end = record.entries_.empty() ? head.first_entry_at
                                               : record.entries_.back().content_end();
  const uint64_t size = RoundUp(end, uint64_t{1} << head.align_log2);
  if (!record.damage_ && size != head.record_size) {
    record.damage_ =
        Corrupt(fmt::format("\"{}\": its entries end at {}, the record at {}", head.key,
                            size, head.record_size))
            .WithKind(kind::kRecord);
  }
  record.block_ = std::move(block);
  return record;
}

Result<Record> Record::ParseParts(Bytes bytes, uint64_t record_size, size_t head_bytes,
                                  std::span<const EntryPart> parts, Check check) {
  Record record;
  DOLIUM_TRY(record.head_, ParseRecordHead(bytes.view().first(head_bytes), check));
  const RecordHead& head = record.head_;
  if (head.record_size != record_size) return OtherSize(head, record_size);
  size_t begin = head_bytes;
  for (const EntryPart& part : parts) {
    const BytesView own = bytes.view().subspan(begin, static_cast<size_t>(part.length));
    DOLIUM_TRY(EntryHead entry,
               ParseEntryHead(own, 0, head.align_log2, check, /*whole=*/false));
    // How far its content is from its head depends on where that is in the record.
    const uint64_t head_end = part.at + kEntryHeadBytes + entry.name.size() +
                              entry.content_type.size() + entry.extensions.size();
    const uint64_t skipped = RoundUp(head_end, uint64_t{1} << head.align_log2) - part.at;
    if (skipped > part.length || entry.stored_size != part.length - skipped) {
      return Corrupt(fmt::format("\"{}\": entry \"{}\" has {} bytes, the index says {}",
                                 head.key, entry.name, entry.stored_size, part.length))
          .WithKind(kind::kEntry);
    }
    entry.content_at = begin + skipped;
    record.entries_.push_back(entry);
    begin += own.size();
  }
  record.block_ = std::move(bytes);
  return record;
}

bool Record::is_tombstone() const { return (head_.flags & kRecordTombstone) != 0; }

Metadata Record::metadata() const {
  if (head_.metadata.empty()) return {head_.metadata_format, {}};
  const auto at = static_cast<size_t>(head_.metadata.data() - block_.data());
  return {head_.metadata_format, block_.Slice(at, head_.metadata.size())};
}

const EntryHead* Record::Find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &EntryHead::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<Bytes> Record::Content(const EntryHead& entry,
                              const ContentOptions& options) const {
  auto content = DecodeContent(entry, Stored(entry), options);
  if (content) return content;
  return std::move(content).error().Within(EntryContext(key(), entry.name));
}

Result<void> Record::ContentInto(const EntryHead& entry, MutableBytes into,
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
  for (const EntryHead& entry : entries_) {
    if (entry.is_aux()) continue;
    File file{.name = std::string(entry.name),
              .content_type = std::string(entry.content_type)};
    DOLIUM_TRY(file.data, Content(entry, options));
    DOLIUM_TRY(const EntryExtras extras,
               ParseExtras(entry).Within(EntryContext(key(), entry.name)));
    file.metadata = {extras.metadata.format, Bytes::Copy(extras.metadata.bytes)};
    file.modified = extras.modified;
    file.mode = extras.mode;
    file.array = extras.array;
    file.compression = static_cast<Compression>(entry.codec);
    sample.files.push_back(std::move(file));
  }
  return sample;
}

Result<RecordHead> PickEntries(BytesView block, std::span<const std::string> names,
                               Check check, std::span<EntryHead> found) {
  DOLIUM_TRY(const RecordHead head, ParseHeadOf(block, check));
  std::ranges::fill(found, EntryHead());
  size_t missing = names.size();
  uint64_t at = head.first_entry_at;
  for (uint32_t i = 0; i < head.entry_count && missing > 0; ++i) {
    const auto entry = ParseEntryHead(block, at, head.align_log2, check);
    if (!entry) return InEntry(entry.error(), head, i);
    at = RoundUp(entry->content_end(), kEntryAlignment);
    if (entry->is_aux()) continue;
    for (size_t j = 0; j < names.size(); ++j) {
      if (names[j] != entry->name || !found[j].name.empty()) continue;
      found[j] = *entry;
      --missing;
    }
  }
  return head;
}

Dictionaries DictionariesIn(const Record& record, const ContentOptions& options) {
  Dictionaries found;
  for (const EntryHead& entry : record.entries()) {
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
