// The Python class PackSet: samples by number and key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/domain/dataset/sample_set.h"

namespace dolium::python {

namespace nb = nanobind;

// Methods need the GIL; where reading may take long, they let go of it.
class PackSet {
 public:
  explicit PackSet(std::shared_ptr<const dataset::SampleSet> set)
      : set_(std::move(set)) {}

  const std::shared_ptr<const dataset::SampleSet>& set() const { return set_; }
  uint64_t size() const { return set_->size(); }
  // Whether reading is a look into memory, which is not worth letting go of the GIL.
  bool is_local() const { return is_local_; }

  // Negative numbers count from the end, as in lists. IndexError.
  uint64_t Number(int64_t number) const;
  // The same for all of an iterable of numbers.
  std::vector<uint64_t> Numbers(nb::handle numbers) const;

  nb::object Read(int64_t number) const;
  nb::list ReadMany(nb::handle numbers, bool keep_errors, size_t jobs) const;
  std::optional<uint64_t> Find(std::string_view key) const;
  std::shared_ptr<const shardpack::Shard> Shard(size_t index) const;
  nb::object ReadAt(size_t shard_index, uint64_t offset) const;
  nb::list Keys(uint64_t begin, uint64_t end) const;

 private:
  std::shared_ptr<const dataset::SampleSet> set_;
  bool is_local_ = set_->is_mapped();
};

}  // namespace dolium::python
