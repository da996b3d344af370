// ArraySource: a three-dimensional array in a file or folder that people have.
//
//   .npy                          NumPy: any order of dimensions and bytes
//   .tif .tiff                    TIFF: one page for each z; ImageJ's stacks too
//   .h5 .hdf5 .hdf                HDF5: one dataset
//   .png .jpg .jpeg               a single page
//   .raw .bin .dat                bare numbers; shape and type must be given
//   a folder                      TIFF, PNG or JPEG files of one page each, ordered by
//                                 name as people count: z2 before z10
//
// Dimensions of NumPy, raw and HDF5 arrays are x, y, z and then channel, unless `axes`
// says otherwise. In pages, columns are x, rows are y, samples are channels.
//
// Files are read in place, box by box, and must stay unchanged meanwhile. Sizes that they
// claim are checked against what they hold before anything is allocated. Only local files
// are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

// Const methods may be called from many threads.
class ArraySource {
 public:
  virtual ~ArraySource() = default;

  virtual const ArrayShape& shape() const = 0;

  // Fills `into` with the box, which counts from the array's first voxel: x fastest, then
  // y, z, channel. kInvalidArgument if the box is empty or not within the array, or
  // `into` is not of its size; kCorrupt if the file is damaged; kUnsupported if a number
  // does not fit the data type (the message names its position).
  virtual Result<void> Read(const Box& box, MutableBytes into) const = 0;

  // Whether a part of an xy page costs as much to read as the page: then read slabs of
  // whole pages, each once.
  virtual bool reads_whole_pages() const = 0;

  // A line that changes if the file does, or what was asked of it: names, sizes, times of
  // modification, layout, type.
  virtual std::string Fingerprint() const = 0;
};

// What a file of bare numbers does not say itself.
struct RawLayout {
  std::vector<int64_t> shape = {};  // in the order of `axes`: x, y, z, channel by default
  NumberType type = NumberType::kUint8;
  // Where the numbers begin. Without it, the file must be exactly as large as the array;
  // with it (0 too), more bytes may follow.
  std::optional<uint64_t> offset = {};
  bool big_endian = false;
  bool c_order = false;  // the last dimension is the fastest, not the first
};

struct ArraySourceRequest {
  std::string path = {};
  // HDF5: path of the dataset. Needed unless the file has just one of 3 or 4 dimensions.
  std::optional<std::string> dataset = {};
  // Raw files, where it is needed.
  std::optional<RawLayout> raw = {};
  // NumPy, raw, HDF5: a letter of x, y, z, c for each dimension, in the order in which
  // the file lists them: "zyx", "czyx", "xy". x and y must be there.
  std::optional<std::string> axes = {};
  // The data type to convert to. Otherwise it is that of the file; int64 becomes uint64;
  // float64 is refused. Numbers must fit (ConvertNumbers() says what that means).
  std::optional<DataType> type = {};
};

// kNotFound if there is nothing at the path; kUnsupported if it is of no known kind, or
// holds what volumes cannot; kInvalidArgument if the request does not fit the file.
Result<std::unique_ptr<ArraySource>> OpenArraySource(const ArraySourceRequest& request);

}  // namespace dolium::volume
