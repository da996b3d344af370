#include "dolium/domain/annotation/list_sorter.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/annotation/annotation_table.h"

namespace dolium::annotation {
namespace {

constexpr size_t kRowHeaderBytes = 3 * sizeof(uint64_t) + sizeof(uint32_t);
// Read of a run at once.
constexpr uint64_t kWindowBytes = uint64_t{1} << 20;

}  // namespace

// The rows of a run, one after another; or those in memory.
class ListSorter::Cursor {
 public:
  explicit Cursor(const ListSorter& sorter) : sorter_(sorter) {}  // in memory
  Cursor(const ListSorter& sorter, std::string object, uint64_t size)
      : sorter_(sorter), object_(std::move(object)), size_(size) {}

  const Row& row() const { return row_; }
  BytesView record() const { return record_; }

  // False after the last.
  Result<bool> Next() {
    if (object_.empty()) {
      if (next_ == sorter_.rows_.size()) return false;
      row_ = sorter_.rows_[next_++];
      record_ = BytesView(sorter_.arena_).subspan(row_.offset, row_.length);
      return true;
    }
    DOLIUM_TRY_VOID(Need(kRowHeaderBytes));
    if (window_.empty()) return false;
    const std::byte* const header = window_.data();
    row_ = {LoadLE<uint64_t>(header), LoadLE<uint64_t>(header + 8),
            LoadLE<uint64_t>(header + 16), 0, LoadLE<uint32_t>(header + 24)};
    DOLIUM_TRY_VOID(Need(kRowHeaderBytes + row_.length));
    record_ = window_.subspan(kRowHeaderBytes, row_.length);
    window_ = window_.subspan(kRowHeaderBytes + row_.length);
    return true;
  }

 private:
  // Makes sure that the window has as many bytes; it stays empty at the end of the run.
  Result<void> Need(uint64_t bytes) {
    if (window_.size() >= bytes) return {};
    next_ -= window_.size();
    if (next_ == size_) return {};
    if (size_ - next_ < bytes) {
      return IoError("a spill file is not what was written to it");
    }
    const uint64_t length = std::min(size_ - next_, std::max(bytes, kWindowBytes));
    DOLIUM_TRY(buffer_, sorter_.store_->ReadRange(object_, {next_, length}));
    window_ = buffer_;
    next_ += length;
    return {};
  }

  const ListSorter& sorter_;
  std::string object_;  // empty: in memory
  uint64_t size_ = 0;
  uint64_t next_ = 0;  // row in memory, or byte behind the window
  Bytes buffer_;
  BytesView window_;
  Row row_;
  BytesView record_;
};

Result<void> ListSorter::Add(uint64_t key, uint64_t order, uint64_t id,
                             BytesView record) {
  const uint64_t held = arena_.size() + rows_.size() * sizeof(Row);
  if (!rows_.empty() && held + record.size() + sizeof(Row) > memory_) {
    DOLIUM_TRY_VOID(Spill());
  }
  rows_.push_back({key, order, id, arena_.size(), static_cast<uint32_t>(record.size())});
  Append(arena_, record);
  is_sorted_ = false;
  ++size_;
  bytes_ += record.size();
  return {};
}

void ListSorter::Sort() {
  if (is_sorted_) return;
  std::ranges::sort(rows_, {}, &Row::sort_key);
  is_sorted_ = true;
}

Result<void> ListSorter::Spill() {
  Sort();
  DOLIUM_TRY(store_, spill_to_());
  DOLIUM_TRY(const auto out, store_->Begin(fmt::format("{}-{:06}", name_, runs_.size())));
  ByteVector segment;
  for (const Row& row : rows_) {
    const size_t at = segment.size();
    segment.resize(at + kRowHeaderBytes);
    StoreLE(&segment[at], row.key);
    StoreLE(&segment[at + 8], row.order);
    StoreLE(&segment[at + 16], row.id);
    StoreLE(&segment[at + 24], row.length);
    Append(segment, BytesView(arena_).subspan(row.offset, row.length));
    if (segment.size() < kWindowBytes) continue;
    DOLIUM_TRY_VOID(out->Append(segment));
    segment.clear();
  }
  DOLIUM_TRY_VOID(out->Append(segment));
  runs_.push_back(out->size());
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             out->Commit(Precondition::Absent()));
  rows_.clear();
  arena_.clear();
  return {};
}

Result<void> ListSorter::Merge(const RowVisitor& visit) {
  Sort();
  std::vector<std::unique_ptr<Cursor>> cursors;
  cursors.reserve(runs_.size() + 1);
  for (size_t run = 0; run < runs_.size(); ++run) {
    cursors.push_back(
        std::make_unique<Cursor>(*this, fmt::format("{}-{:06}", name_, run), runs_[run]));
  }
  cursors.push_back(std::make_unique<Cursor>(*this));
  const auto is_later = [](const Cursor* a, const Cursor* b) {
    return a->row().sort_key() > b->row().sort_key();
  };
  std::priority_queue<Cursor*, std::vector<Cursor*>, decltype(is_later)> queue(is_later);
  for (const auto& cursor : cursors) {
    DOLIUM_TRY(const bool has_row, cursor->Next());
    if (has_row) queue.push(cursor.get());
  }
  while (!queue.empty()) {
    Cursor* const first = queue.top();
    queue.pop();
    // As long as it stays the first, it need not go back.
    bool has_row = true;
    while (has_row && (queue.empty() || !is_later(first, queue.top()))) {
      DOLIUM_TRY_VOID(visit(first->row(), first->record()));
      DOLIUM_TRY(has_row, first->Next());
    }
    if (has_row) queue.push(first);
  }
  return {};
}

Result<void> ListSorter::VisitLists(const Visitor& visit) {
  ListBuilder list;
  std::optional<uint64_t> key;
  DOLIUM_TRY_VOID(Merge([&](const Row& row, BytesView record) -> Result<void> {
    if (key && *key != row.key) DOLIUM_TRY_VOID(visit(*key, list.Finish()));
    key = row.key;
    list.Add(row.id, record);
    return {};
  }));
  if (key) return visit(*key, list.Finish());
  return {};
}

Result<uint64_t> ListSorter::CountKeys() {
  uint64_t count = 0;
  std::optional<uint64_t> key;
  DOLIUM_TRY_VOID(Merge([&](const Row& row, BytesView) -> Result<void> {
    if (key != row.key) ++count;
    key = row.key;
    return {};
  }));
  return count;
}

}  // namespace dolium::annotation
