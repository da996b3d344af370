// StridedArray: numbers at even distances in a file: NumPy, raw files, ImageJ's large
// stacks.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/number_array.h"

namespace dolium::volume {

struct StridedLayout {
  uint64_t offset = 0;
  std::array<int64_t, 4> strides = {0, 0, 0, 0};  // of x, y, z, channel, in bytes
  bool big_endian = false;
};

class StridedArray final : public NumberArray {
 public:
  // Precondition: the file was as large as the array needs when it was opened.
  StridedArray(InputFile file, const NumberShape& shape, const StridedLayout& layout)
      : file_(std::move(file)), shape_(shape), layout_(layout) {}

  const NumberShape& shape() const override { return shape_; }
  Result<void> ReadNumbers(const Box& box, MutableBytes into) const override;
  bool reads_whole_pages() const override { return false; }
  std::string Fingerprint() const override;

 private:
  const InputFile file_;
  const NumberShape shape_;
  const StridedLayout layout_;
};

// Bytes after the array are let be, as NumPy does.
Result<std::unique_ptr<NumberArray>> OpenNpy(const std::string& path,
                                             const std::optional<std::string>& axes);

Result<std::unique_ptr<NumberArray>> OpenRaw(const std::string& path,
                                             const RawLayout& layout,
                                             const std::optional<std::string>& axes);

}  // namespace dolium::volume
