#include "dolium/formats/shardpack/tail_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/tail.h"

namespace dolium::shardpack {

namespace {

// The mean record from which an entry index pays.
constexpr uint64_t kLargeRecord = uint64_t{64} << 10;
// Once so many records are small on average, they will not become large.
constexpr uint64_t kEnoughRecords = 1 << 16;
// More kinds of entries than this are no columns.
constexpr size_t kMaxTailColumns = 4096;

template <std::unsigned_integral T>
void AppendNumber(ByteVector& to, T value) {
  to.resize(to.size() + sizeof value);
  StoreLE(to.data() + to.size() - sizeof value, value);
}

}  // namespace

void TailBuilder::Add(const EncodedRecord& record) {
  const uint64_t number = offsets_.size();
  const uint64_t offset = end_;
  offsets_.push_back(offset);
  end_ += record.size;
  if (options_.key_index && number < UINT32_MAX) {
    hashes_.push_back({HashKey(record.key), static_cast<uint32_t>(number)});
  }
  if (options_.keys) {
    AppendNumber(keys_, static_cast<uint16_t>(record.key.size()));
    Append(keys_, AsBytes(record.key));
  }
  stat_.Add(record);
  AddEntries(record, offset);
}

Stat TailBuilder::stat() const {
  Stat stat = stat_.stat();
  stat.keys_unique |= are_hashes_unique_;
  return stat;
}

void TailBuilder::AddEntries(const EncodedRecord& record, uint64_t offset) {
  const bool is_first = offsets_.size() == 1;
  for (const EntrySummary& entry : record.entries) {
    if (entry.is_aux && entry.dictionary_id != 0) {
      dictionaries_.push_back(
          {entry.dictionary_id, {offset + entry.header_at, entry.end - entry.header_at}});
    }
    if (entry.is_aux) continue;
    if (!keeps_places_ && !is_first) continue;
    const auto [found, is_new] = column_numbers_.try_emplace(
        {entry.name, entry.content_type}, static_cast<uint32_t>(columns_.size()));
    if (is_new) columns_.push_back({entry.name, entry.content_type});
    if (columns_.size() > kMaxTailColumns) keeps_places_ = false;
    places_.push_back(
        {offset + entry.header_at, entry.end - entry.header_at, found->second});
  }
  first_entries_.push_back(places_.size());
  const uint64_t count = offsets_.size();
  if (options_.entry_index == Wanted::kNo ||
      (options_.entry_index == Wanted::kAuto && count >= kEnoughRecords &&
       end_ / count < kLargeRecord)) {
    keeps_places_ = false;
  }
  if (!keeps_places_) {
    places_ = {};
    first_entries_ = {};
  }
}

bool TailBuilder::WantsEntryIndex() const {
  if (!keeps_places_ || offsets_.empty()) return false;
  return options_.entry_index == Wanted::kYes || end_ / offsets_.size() > kLargeRecord;
}

ByteVector TailBuilder::Build(unsigned align_log2, const std::string& metadata) {
  ByteVector index(8 * (offsets_.size() + 1));
  StoreLE(index.data(), uint64_t{offsets_.size()});
  for (size_t i = 0; i < offsets_.size(); ++i) {
    StoreLE(index.data() + 8 * (i + 1), offsets_[i]);
  }
  std::ranges::sort(hashes_);
  // Equal hashes need not be equal keys; then unique keys are not known to be.
  const bool knows_hashes = hashes_.size() == offsets_.size();
  are_hashes_unique_ = knows_hashes && std::ranges::adjacent_find(
                                           hashes_, {}, &KeyHash::hash) == hashes_.end();
  const Stat stat = this->stat();

  // Large ones first: a small read of the end has the others.
  std::vector<NewSection> sections;
  if (WantsEntryIndex()) {
    sections.push_back(
        {.tag = "ENTX",
         .body = WriteEntryIndex(columns_, stat.is_regular, first_entries_, places_)});
  }
  if (options_.keys) {
    sections.push_back({.tag = "KEYS", .body = std::move(keys_), .compress = true});
  }
  if (options_.key_index && knows_hashes) {
    sections.push_back({.tag = "KEYX", .body = WriteKeyIndex(hashes_)});
  }
  if (!dictionaries_.empty()) {
    sections.push_back({.tag = "ZDIC", .body = WriteDictionaryLocations(dictionaries_)});
  }
  if (options_.stat) sections.push_back({.tag = "STAT", .body = WriteStat(stat)});
  if (options_.metadata) {
    const BytesView text = AsBytes(metadata);
    sections.push_back({.tag = "META",
                        .body = ByteVector(text.begin(), text.end()),
                        .format = static_cast<uint8_t>(MetadataFormat::kJson)});
  }
  const SectionsAndDirectory laid_out = LayOutSections(sections, end_ + index.size());
  Footer footer{.index_offset = end_,
                .record_count = offsets_.size(),
                .file_size = end_ + index.size() + laid_out.bytes.size() + kFooterBytes,
                .directory_size = laid_out.directory_size,
                .index_crc32c = Crc32c(index),
                .directory_crc32c = laid_out.directory_crc32c,
                .align_log2 = align_log2,
                .features_optional = dictionaries_.empty() ? 0 : kFeatureDictionaries};
  ByteVector tail = std::move(index);
  Append(tail, laid_out.bytes);
  Append(tail, WriteFooter(footer));
  return tail;
}

}  // namespace dolium::shardpack
