// MemoryStore: a store in the heap, for tests and for data that is small and short-lived.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/bytes/store.h"

namespace dolium {

// Objects are immutable once committed, so readers share them and a lock is held only to
// find one. Folders are implied by names; the root always exists. Generations come from
// one counter and never repeat. Writers may outlive the store's other users, not the
// store.
class MemoryStore final : public Store {
 public:
  // `name` stands for the store in messages: `memory://name/object`.
  explicit MemoryStore(std::string name = "") : name_(std::move(name)) {}

  std::string Describe(std::string_view object) const override;
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override;
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override;
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override;
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override;
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override;
  Result<void> Remove(std::string_view object, const Precondition& precondition) override;

  // How often ReadInto and ReadWhole were called, and how many slices ReadInto was asked
  // for: what tests count round trips with.
  uint64_t reads() const { return reads_; }
  uint64_t slices() const { return slices_; }

 private:
  class Writer;

  struct Object {
    Bytes bytes;
    Generation generation;
    int64_t modified = 0;
  };

  std::optional<Object> Find(std::string_view object) const;
  Result<Generation> Publish(const std::string& object, Bytes bytes,
                             const Precondition& precondition);

  const std::string name_;
  mutable std::mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_;  // guarded by mutex_
  uint64_t last_generation_ = 0;                        // guarded by mutex_
  mutable std::atomic<uint64_t> reads_ = 0;
  mutable std::atomic<uint64_t> slices_ = 0;
};

}  // namespace dolium
