// ArraySink: a three-dimensional array on its way out to a file that people can use.
//
//   .npy           NumPy, dimensions x, y, z and (if several) channel, or as asked
//   .tif .tiff     TIFF: a page for each z, a sample for each channel; BigTIFF if it may
//                  exceed 4 GB
//   .raw           bare little-endian numbers: x fastest, then y, z, channel, or as asked
//
// The file appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

struct ArraySinkOptions {
  bool force = false;    // replace a file that is there
  bool deflate = false;  // TIFF: compress the pages
  // NumPy and raw: the dimensions as the file lists them, as for ArraySourceRequest. Z
  // may be left out if it has one page, and the channel if there is one. A NumPy file is
  // in Fortran order, so that the first one is the fastest, unless x is the last one.
  std::optional<std::string> axes = std::nullopt;
  bool c_order = false;  // raw: the last one is the fastest
};

// One thread at a time. Destroyed without Finish(), it leaves nothing behind. After an
// error only destruction is of use.
class ArraySink {
 public:
  // kExists if the file is there and not `force`; kInvalidArgument if its suffix is none
  // of those above, a size is below 1, or the axes are not those of the array or of no
  // use for the format; kUnsupported if its format cannot have the shape.
  static Result<std::unique_ptr<ArraySink>> Begin(const std::string& path,
                                                  const ArrayShape& shape,
                                                  const ArraySinkOptions& options);
  virtual ~ArraySink() = default;

  // Takes the next `depth` pages: a dense array of them, x fastest, then y, z, channel.
  // Keeps none of it, but takes as much memory again if the file has another order.
  // kInvalidArgument if there are not so many pages to come, or `slab`
  // is not of their size.
  Result<void> Append(int64_t depth, BytesView slab);

  // Makes the file appear. kInvalidArgument if pages are missing.
  Result<void> Finish();

 protected:
  explicit ArraySink(const ArrayShape& shape) : shape_(shape) {}

  const ArrayShape& shape() const { return shape_; }

 private:
  // `z` is that of the first page; all has been checked.
  virtual Result<void> Write(int64_t z, int64_t depth, BytesView slab) = 0;
  virtual Result<void> Commit() = 0;

  const ArrayShape shape_;
  int64_t next_ = 0;  // z
};

}  // namespace dolium::volume
