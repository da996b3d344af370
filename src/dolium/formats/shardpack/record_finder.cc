#include "dolium/formats/shardpack/record_finder.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/tail.h"

namespace dolium::shardpack {

namespace {

// How many times the bytes there are, headers and tails may be looked at in searches:
// bytes made to look like them everywhere must not make it slow.
constexpr uint64_t kSearchCost = 64;

// The size of a record's header with all that belongs to it, by its first 32 bytes.
uint64_t HeaderSizeClaim(BytesView header) {
  return uint64_t{kRecordHeaderBytes} + LoadLE<uint32_t>(header.data() + 16) +
         LoadLE<uint16_t>(header.data() + 20) + LoadLE<uint16_t>(header.data() + 22);
}

// The footer, if it is sound, whatever the size of the file around it.
std::optional<Footer> FooterOf(BytesView last64) {
  auto footer = ParseFooter(last64, LoadLE<uint64_t>(last64.data() + 16));
  if (!footer) return std::nullopt;
  return *footer;
}

}  // namespace

RecordFinder::RecordFinder(BytesView bytes)
    : whole_(bytes), bytes_(bytes), budget_(kSearchCost * (bytes.size() + kFooterBytes)) {
  FindLastTail();
}

// A sound footer at the end says where the records end: right before the tail that it is
// the end of, whatever is missing or was added in front of that.
void RecordFinder::FindLastTail() {
  if (whole_.size() < kFooterBytes) return;
  const auto footer = FooterOf(whole_.last(kFooterBytes));
  if (!footer) return;
  const uint64_t size = footer->file_size - footer->index_offset;
  if (size > whole_.size()) return;
  const uint64_t at = whole_.size() - size;
  const BytesView index = From(at).first(static_cast<size_t>(footer->index_size()));
  const bool is_index_good = Crc32c(index) == footer->index_crc32c &&
                             LoadLE<uint64_t>(index.data()) == footer->record_count;
  // In a file of another size, the index must be the one that the footer means.
  if (footer->file_size != whole_.size() && !is_index_good) return;
  last_tail_ =
      Tail{{at, size},
           footer->record_count,
           static_cast<int64_t>(whole_.size()) - static_cast<int64_t>(footer->file_size),
           is_index_good ? index.subspan(8) : BytesView()};
  bytes_ = whole_.first(static_cast<size_t>(at));
}

// The record that begins here, if its header is sound. It may end past the bytes.
std::optional<RecordHeader> RecordFinder::HeaderAt(uint64_t at) const {
  const BytesView rest = From(at);
  if (rest.size() < kRecordHeaderBytes) return std::nullopt;
  const auto header = ParseRecordHeader(rest, Check::kHeaders);
  if (!header || header->align_log2 != align_log2_.value_or(header->align_log2)) {
    return std::nullopt;
  }
  return *header;
}

std::optional<RecordHeader> RecordFinder::AffordableHeader(uint64_t at) {
  const BytesView rest = From(at);
  if (rest.size() < kRecordHeaderBytes) return std::nullopt;
  const uint64_t cost = std::min<uint64_t>(HeaderSizeClaim(rest), rest.size());
  if (cost > budget_) return std::nullopt;
  budget_ -= cost;
  return HeaderAt(at);
}

std::optional<RecordFinder::Tail> RecordFinder::TailAt(uint64_t at) {
  if (last_tail_ && at == bytes_.size()) return last_tail_;
  const BytesView rest = From(at);
  if (rest.size() < sizeof(uint64_t) + kFooterBytes || rest.size() > budget_) {
    return std::nullopt;
  }
  const auto count = LoadLE<uint64_t>(rest.data());
  if (count > rest.size() / 8 - 1 || count > at / kMinRecordBytes) return std::nullopt;
  // Where records came, an index without any is no index.
  if (count == 0 ? at != base_ : LoadLE<uint64_t>(rest.data() + 8) != 0) {
    return std::nullopt;
  }
  // How long its sections are only its footer says.
  const std::string_view text = AsText(rest);
  const size_t index_size = static_cast<size_t>(8 * (count + 1));
  size_t magic = text.find(kFooterMagic, index_size + kFooterMagicAt);
  for (; magic != std::string_view::npos; magic = text.find(kFooterMagic, magic + 1)) {
    const size_t size = magic + kFooterMagic.size();
    const auto footer = FooterOf(rest.subspan(size - kFooterBytes, kFooterBytes));
    if (!footer || footer->record_count != count ||
        footer->file_size - footer->index_offset != size) {
      continue;
    }
    budget_ -= size;
    if (Crc32c(rest.first(index_size)) != footer->index_crc32c) return std::nullopt;
    return Tail{{at, size},
                count,
                static_cast<int64_t>(at) - static_cast<int64_t>(footer->index_offset)};
  }
  budget_ -= rest.size();
  return std::nullopt;
}

// Whether a record begins here whose end is missing.
bool RecordFinder::IsCutOff(uint64_t at) {
  if (last_tail_) return false;
  const BytesView rest = From(at);
  if (rest.size() < 16) return false;
  const auto size = ClaimedRecordSize(rest.first(16));
  if (!size || !*size || **size <= rest.size()) return false;
  return rest.size() < kRecordHeaderBytes || HeaderSizeClaim(rest) > rest.size() ||
         AffordableHeader(at).has_value();
}

// Whether nothing but an index that is not whole can follow, the last record before it
// having begun at `last`. The index of a ShardPack inside a record names places that are
// not those in this file.
bool RecordFinder::IsUnfinishedEnd(uint64_t at, std::optional<uint64_t> last) {
  if (last_tail_) return false;
  const BytesView rest = From(at);
  if (rest.size() < kRecordHeaderBytes) return true;
  const auto count = LoadLE<uint64_t>(rest.data());
  if (!last || count == 0 || count > at / kMinRecordBytes ||
      LoadLE<uint64_t>(rest.data() + 8) != 0) {
    return false;
  }
  if (count > rest.size() / 8 - 1) return true;  // It is cut off.
  return LoadLE<uint64_t>(rest.data() + 8 * count) == *last - base_;
}

bool RecordFinder::IsEnd(uint64_t at, std::optional<uint64_t> last) {
  if (at == bytes_.size() || IsUnfinishedEnd(at, last) || IsCutOff(at)) return true;
  const auto tail = TailAt(at);
  return tail && IsOwnTail(*tail);
}

bool RecordFinder::IsOwnTail(const Tail& tail) {
  if (tail.base == static_cast<int64_t>(base_)) return true;
  const auto damage = static_cast<int64_t>(first_damage_.value_or(tail.range.offset));
  // A ShardPack inside the damage begins behind its start, or, where bytes are missing,
  // there is another tail behind its own that is of a shard which begins before.
  if (tail.base > damage || (last_tail_ && last_tail_->base <= damage)) return false;
  const uint64_t next = tail.range.end();
  uint64_t end = next;
  while (const auto header = AffordableHeader(end)) {
    if (header->record_size > bytes_.size() - end) break;
    end += header->record_size;
  }
  if (end == next) return end == bytes_.size();
  const auto other = TailAt(end);
  return !other || other->base > damage;
}

bool RecordFinder::IsIndexed(uint64_t at, uint64_t size) const {
  if (!last_tail_ || last_tail_->offsets.empty()) return false;
  const BytesView offsets = last_tail_->offsets;
  const uint64_t count = offsets.size() / 8;
  const auto offset = [&](uint64_t i) {
    return LoadLE<uint64_t>(offsets.data() + 8 * i);
  };
  const auto has = [&](uint64_t place) {
    uint64_t begin = 0;
    uint64_t end = count;
    while (begin < end) {
      const uint64_t middle = begin + (end - begin) / 2;
      if (offset(middle) < place) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin + 1 < count && offset(begin) == place &&
           offset(begin + 1) - place == size;
  };
  // Modulo 2^64: what lies before the first record is not found.
  return has(at) || has(at - static_cast<uint64_t>(last_tail_->base));
}

// Whether the chain of records that begins at `at` leads to the end. Chains share their
// ends, so that what was followed once is not followed again.
bool RecordFinder::LeadsToTheEnd(uint64_t at) {
  std::vector<uint64_t> chain;
  bool leads = false;
  while (!dead_ends_.contains(at)) {
    const auto header = AffordableHeader(at);
    if (!header || header->record_size > bytes_.size() - at) {
      leads = IsEnd(at, chain.empty() ? std::nullopt : std::optional(chain.back()));
      break;
    }
    chain.push_back(at);
    at += header->record_size;
  }
  if (!leads) dead_ends_.insert(chain.begin(), chain.end());
  return leads;
}

// The next record at or behind `from`.
std::optional<uint64_t> RecordFinder::Search(uint64_t from) {
  if (!first_damage_) first_damage_ = from;
  const std::string_view text = AsText(bytes_);
  size_t magic = text.find(kRecordMagic, static_cast<size_t>(from) + kRecordMagicAt);
  for (; magic != std::string_view::npos; magic = text.find(kRecordMagic, magic + 1)) {
    const uint64_t at = magic - kRecordMagicAt;
    const auto header = AffordableHeader(at);
    if (!header || header->record_size > bytes_.size() - at) continue;
    if (IsIndexed(at, header->record_size) || LeadsToTheEnd(at)) return at;
  }
  return std::nullopt;
}

RecordFinder::Found RecordFinder::TakeRecord(uint64_t at, uint64_t size) {
  last_ = at;
  at_ = at + size;
  return {Kind::kRecord, {at, size}};
}

RecordFinder::Found RecordFinder::PassTail(const Tail& tail) {
  indexed_records_ += tail.records;
  at_ = base_ = tail.range.end();
  last_.reset();
  first_damage_.reset();
  dead_ends_.clear();
  if (at_ == whole_.size()) bytes_ = whole_;
  return {Kind::kTail, tail.range};
}

RecordFinder::Found RecordFinder::Next() {
  if (at_ == whole_.size()) return {Kind::kEnd, {at_, 0}};
  const ByteRange rest{at_, bytes_.size() - at_};
  const auto header = HeaderAt(at_);
  if (header && header->record_size <= rest.length) {
    align_log2_ = header->align_log2;
    return TakeRecord(at_, header->record_size);
  }
  if (header && header->record_size > whole_.size() - at_ && last_tail_ &&
      last_tail_->base >= static_cast<int64_t>(at_)) {
    // The file is cut off within this record, behind a ShardPack that is inside it.
    last_tail_.reset();
    bytes_ = whole_;
  }
  if (const auto tail = TailAt(at_)) return PassTail(*tail);
  if (IsCutOff(at_)) {
    const ByteRange cut_off{at_, whole_.size() - at_};
    at_ = whole_.size();
    return {Kind::kCutOff, cut_off};
  }
  const bool is_unfinished = IsUnfinishedEnd(at_, last_);
  const auto next = Search(at_ + 1);
  if (!next && is_unfinished) {
    const ByteRange left{at_, whole_.size() - at_};
    at_ = whole_.size();
    return {Kind::kEnd, left};
  }
  const ByteRange lost{at_, next.value_or(bytes_.size()) - at_};
  at_ = lost.end();
  return {Kind::kLost, lost};
}

bool RecordFinder::IsFollowed() const {
  if (at_ == bytes_.size()) return true;
  const BytesView rest = From(at_);
  if (rest.size() < kRecordHeaderBytes) return true;
  const auto size = ClaimedRecordSize(rest.first(16));
  if (!size) return false;
  if (!*size) return LoadLE<uint64_t>(rest.data() + 8) == 0;  // an index
  return HeaderSizeClaim(rest) > rest.size() || HeaderAt(at_).has_value();
}

ByteRange RecordFinder::Distrust() {
  const ByteRange record{*last_, at_ - *last_};
  if (!first_damage_) first_damage_ = record.offset;
  if (IsFollowed()) return record;
  const auto next = Search(record.offset + 1);
  if (!next || *next >= record.end()) return record;
  at_ = *next;
  return {record.offset, *next - record.offset};
}

}  // namespace dolium::shardpack
