#include "dolium/formats/shardpack/part_check.h"

#include <utility>

#include <fmt/format.h>

#include "dolium/formats/shardpack/kinds.h"

namespace dolium::shardpack {

namespace {

Error BadPart(std::string_view key, const std::string& message) {
  return Corrupt(fmt::format("\"{}\": {}", key, message)).WithKind(kind::kRecord);
}

}  // namespace

Result<void> PartCheck::Add(std::string_view key, std::optional<PartNumber> part) {
  const bool was_open = is_open();
  const std::string last_key = std::exchange(key_, std::string(key));
  const auto last = std::exchange(part_, part);
  const bool follows = was_open && part && part->index == last->index + 1 &&
                       part->count == last->count && key == last_key;
  if (!follows) {
    names_.clear();
    file_.reset();
  }
  if (was_open && !follows) {
    return BadPart(last_key,
                   fmt::format("part {} of {} is missing", last->index + 1, last->count));
  }
  if (!was_open && part && part->index > 0) {
    return BadPart(key, fmt::format("part {} of {} without the parts before it",
                                    part->index, part->count));
  }
  return {};
}

Result<void> PartCheck::Add(const EncodedRecord& record) {
  DOLIUM_TRY_VOID(Add(record.key, record.part));
  return AddEntries(record.entries);
}

bool PartCheck::Continues(const EntrySummary& entry) const {
  return file_ && entry.segment == file_->next && entry.name == file_->name &&
         entry.content_type == file_->content_type;
}

Error PartCheck::MissingSegment() {
  const OpenFile file = *std::exchange(file_, std::nullopt);
  return BadPart(key_, fmt::format("entry \"{}\": its segment at {} of {} is missing",
                                   file.name, file.next.offset, file.next.whole_size));
}

Result<void> PartCheck::AddEntries(std::span<const EntrySummary> entries) {
  bool is_first = true;
  for (const EntrySummary& entry : entries) {
    if (entry.is_aux) continue;
    const bool continues = is_first && Continues(entry);
    if (file_ && !continues) return MissingSegment();
    if (!continues && entry.segment && entry.segment->offset > 0) {
      return BadPart(
          key_,
          fmt::format("entry \"{}\": a segment at {} of {} without those before it",
                      entry.name, entry.segment->offset, entry.segment->whole_size));
    }
    // Within a record, names are checked with it.
    if (part_ && !continues && !names_.insert(entry.name).second) {
      return BadPart(key_, fmt::format("entry \"{}\" is there twice", entry.name));
    }
    file_.reset();
    if (entry.segment) {
      const uint64_t end = entry.segment->offset + entry.raw_size;
      if (end < entry.segment->whole_size) {
        file_ =
            OpenFile{entry.name, entry.content_type, {end, entry.segment->whole_size}};
      }
    }
    is_first = false;
  }
  if (file_ && !is_open()) return MissingSegment();
  return {};
}

Result<void> PartCheck::Finish() {
  if (!is_open()) return {};
  const PartNumber last = *std::exchange(part_, std::nullopt);
  return BadPart(key_,
                 fmt::format("part {} of {} is missing", last.index + 1, last.count));
}

}  // namespace dolium::shardpack
