// Slab: some pages of an array, each read once, from which chunks are then cut.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "dolium/domain/volume/arrays/array_source.h"

namespace dolium::volume {

// Shows the whole array, but only its pages can be read. In memory, or, where the pages
// take more than `memory`, in a temporary file that has no name.
class Slab : public ArraySource {
 public:
  // Reads the pages [z_begin, z_end), on `jobs` threads. `temporary_folder` is used if
  // there is too little memory. Keeps a reference to the array.
  static Result<std::unique_ptr<Slab>> Load(const ArraySource& array, int64_t z_begin,
                                            int64_t z_end, size_t jobs, uint64_t memory,
                                            const std::string& temporary_folder);
  ~Slab() override;

  const ArrayShape& shape() const override { return array_.shape(); }
  Result<void> Read(const Box& box, MutableBytes into) const override;
  bool reads_whole_pages() const override { return false; }
  std::string Fingerprint() const override { return array_.Fingerprint(); }

 private:
  Slab(const ArraySource& array, int64_t z_begin, int64_t z_end)
      : array_(array), z_begin_(z_begin), z_end_(z_end) {}

  Result<void> Allocate(uint64_t memory, const std::string& temporary_folder);
  Result<void> LoadPage(int64_t z);
  Box box() const;
  ArrayShape slab_shape() const;

  const ArraySource& array_;
  const int64_t z_begin_;
  const int64_t z_end_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace dolium::volume
