#include "dolium/formats/shardpack/stat_builder.h"

#include <algorithm>
#include <array>

#include "dolium/base/endian.h"

namespace dolium::shardpack {

void StatBuilder::Add(const EncodedRecord& record) {
  std::array<std::byte, 2> length{};
  StoreLE(length.data(), static_cast<uint16_t>(record.key.size()));
  keys_digest_.Add(length);
  keys_digest_.Add(AsBytes(record.key));
  if (records_ > 0 && record.key <= last_key_) stat_.keys_ascending = false;
  last_key_ = record.key;
  stat_.min_record =
      records_ == 0 ? record.size : std::min(stat_.min_record, record.size);
  stat_.max_record = std::max(stat_.max_record, record.size);
  stat_.has_parts |= record.part.has_value();
  AddEntries(record);
  ++records_;
}

void StatBuilder::AddEntries(const EncodedRecord& record) {
  size_t position = 0;
  for (const EntrySummary& entry : record.entries) {
    stat_.entries += 1;
    stat_.raw_bytes += entry.raw_size;
    stat_.stored_bytes += entry.stored_size;
    stat_.largest_raw = std::max(stat_.largest_raw, entry.raw_size);
    stat_.all_plain &= entry.is_plain;
    if (entry.is_aux) continue;
    const auto is_entry = [&](const EntryColumn& column) {
      return column.name == entry.name && column.content_type == entry.content_type;
    };
    if (records_ == 0) {
      // A name that is there twice: a block from elsewhere.
      if (std::ranges::any_of(columns_, is_entry)) stat_.is_regular = false;
      columns_.push_back({entry.name, entry.content_type});
    } else if (position >= columns_.size() || !is_entry(columns_[position])) {
      stat_.is_regular = false;
    }
    ++position;
  }
  if (position != columns_.size()) stat_.is_regular = false;
}

Stat StatBuilder::stat() const {
  Stat stat = stat_;
  stat.keys_unique = stat.keys_ascending;
  stat.keys_digest = keys_digest_.value();
  return stat;
}

}  // namespace dolium::shardpack
