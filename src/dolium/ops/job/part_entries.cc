#include "dolium/ops/job/part_entries.h"

namespace dolium {
namespace {

constexpr size_t kEntriesAtOnce = 1024;

}  // namespace

Result<PartEntries> PartEntries::Find(std::span<const WorkList> lists, uint64_t part) {
  PartEntries entries;
  for (const WorkList& list : lists) {
    DOLIUM_TRY(const auto share, list.Find(part));
    if (share) entries.shares_.push_back({&list, *share});
  }
  return entries;
}

uint64_t PartEntries::count() const {
  uint64_t sum = 0;
  for (const Share& share : shares_) sum = SaturatingAdd(sum, share.share.entries);
  return sum;
}

uint64_t PartEntries::bytes() const {
  uint64_t sum = 0;
  for (const Share& share : shares_) sum = SaturatingAdd(sum, share.share.bytes);
  return sum;
}

Result<std::span<const Entry>> PartEntries::Next() {
  entries_.clear();
  while (true) {
    if (reader_) DOLIUM_TRY_VOID(reader_->Read(kEntriesAtOnce, entries_));
    if (!entries_.empty() || next_share_ == shares_.size()) return entries_;
    const Share& share = shares_[next_share_++];
    reader_.emplace(*share.list, share.share);
  }
}

Result<void> PartEntries::Rewind() {
  next_share_ = 0;
  reader_.reset();
  return {};
}

}  // namespace dolium
