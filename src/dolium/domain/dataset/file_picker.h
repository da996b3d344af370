// FilePicker: files of given names, of one sample after another.
//
// What training loops read. Of a mapped shard it looks at no more than these files need,
// and makes no list of the others; of a remote one with an entry index, it reads no more,
// where the others are large.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/dataset/loaded_sample.h"
#include "dolium/domain/dataset/sample_set.h"

namespace dolium::dataset {

// One file of a sample, not yet decoded. Good for as long as the set and what
// FilePicker::Pick returned with it.
struct PickedFile {
  // Without a name: the sample has no such file, and what follows is its first record.
  shardpack::EntryHeader header = {};
  const shardpack::Shard* shard = nullptr;
  uint64_t record = 0;
  std::string_view key = {};
  BytesView stored = {};

  bool is_there() const { return !header.name.empty(); }
  // Whether `stored` is the content.
  bool is_plain() const { return header.codec == 0 && !header.is_chunked(); }

  // Precondition of all below: is_there(). Errors name shard, record, key and entry.
  // Whether limits allow to decode it: to be asked before memory is taken.
  Result<void> CheckLimits() const;
  // Decoded and checked, into header.raw_size bytes.
  Result<void> ContentInto(MutableBytes into) const;
  // Has the processor fetch it, if it is small enough for its caches.
  void Prefetch() const;
};

struct PickedSample {
  std::string_view key;
  // Keeps the bytes, unless they are those of a mapped shard.
  std::shared_ptr<const LoadedSample> owner;
};

// Immutable. Const methods may be called from many threads.
class FilePicker {
 public:
  FilePicker(std::shared_ptr<const SampleSet> set, std::vector<std::string> names)
      : set_(std::move(set)), names_(std::move(names)) {}

  const std::vector<std::string>& names() const { return names_; }
  const SampleSet& set() const { return *set_; }

  // Precondition: number < set().size(), found.size() == names().size().
  Result<PickedSample> Pick(uint64_t number, std::span<PickedFile> found) const;
  // Several, on threads if they are many: found.size() == numbers.size() *
  // names().size(). The error of any is that of all.
  Result<std::vector<PickedSample>> PickMany(std::span<const uint64_t> numbers,
                                             std::span<PickedFile> found) const;
  // Has the processor fetch the beginning of that sample, if it is mapped.
  void Prefetch(uint64_t number) const;

 private:
  Result<PickedSample> PickMapped(const MappedRecord& record,
                                  std::span<PickedFile> found) const;
  Result<PickedSample> PickLoaded(Result<LoadedSample> sample,
                                  std::span<PickedFile> found) const;

  std::shared_ptr<const SampleSet> set_;
  std::vector<std::string> names_;
  bool is_mapped_ = set_->is_mapped();
};

}  // namespace dolium::dataset
