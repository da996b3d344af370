// Arrays of voxels that Python objects lend out: numpy arrays of four dimensions, x, y, z
// and channel, with any strides.
#pragma once

#include <nanobind/nanobind.h>

#include "dolium/domain/volume/voxel_view.h"

namespace dolium::python {

namespace nb = nanobind;

// Holds the buffer for as long as it lives. Made and destroyed with the GIL, used
// without.
class BorrowedArray {
 public:
  enum class Use { kRead, kWrite };

  // Raises ValueError if the array has not this shape and type, or is read-only but to be
  // written.
  BorrowedArray(nb::handle array, const volume::ArrayShape& shape, Use use);
  ~BorrowedArray() { PyBuffer_Release(&buffer_); }
  BorrowedArray(const BorrowedArray&) = delete;
  BorrowedArray& operator=(const BorrowedArray&) = delete;

  volume::VoxelView view() const;
  // Precondition: made for kWrite.
  volume::MutableVoxelView mutable_view() const;

 private:
  void Check() const;

  const volume::ArrayShape shape_;
  Py_buffer buffer_{};
};

}  // namespace dolium::python
