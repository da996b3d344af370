// ListSorter: annotations gathered by key, in memory or, beyond a limit, in sorted runs
// on disk, which are merged.
//
// What comes out depends on what was added alone: not on the order or the memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/store.h"

namespace dolium::annotation {

// One thread at a time.
class ListSorter {
 public:
  // Asked for a store once there is something to spill; objects there begin with `name`.
  using SpillTo = std::function<Result<Store*>()>;
  ListSorter(SpillTo spill_to, std::string name, uint64_t memory)
      : spill_to_(std::move(spill_to)), name_(std::move(name)), memory_(memory) {}

  // Those of a key come out by `order`, then by id.
  Result<void> Add(uint64_t key, uint64_t order, uint64_t id, BytesView record);

  uint64_t size() const { return size_; }
  uint64_t bytes() const { return bytes_; }  // of all records

  // Calls `visit(key, list)` for each key, ascending; the bytes of the list are valid
  // during the call. May be called again.
  using Visitor = std::function<Result<void>(uint64_t key, BytesView list)>;
  Result<void> VisitLists(const Visitor& visit);

  // How many keys there are: a merge without lists.
  Result<uint64_t> CountKeys();

 private:
  struct Row {
    uint64_t key = 0;
    uint64_t order = 0;
    uint64_t id = 0;
    uint64_t offset = 0;  // in arena_
    uint32_t length = 0;

    auto sort_key() const { return std::tuple(key, order, id); }
  };
  class Cursor;

  // Calls `visit(row, record)` in order.
  using RowVisitor = std::function<Result<void>(const Row& row, BytesView record)>;
  Result<void> Merge(const RowVisitor& visit);
  void Sort();
  Result<void> Spill();

  SpillTo spill_to_;
  std::string name_;
  uint64_t memory_;
  Store* store_ = nullptr;  // of the runs, once there are some
  std::vector<Row> rows_;
  ByteVector arena_;
  bool is_sorted_ = false;
  std::vector<uint64_t> runs_;  // bytes of each
  uint64_t size_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace dolium::annotation
