// Pages: single images, of which a stack or folder makes an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_type.h"

namespace dolium::volume {

// Sizes are at least 1.
struct PageShape {
  int64_t width = 1;
  int64_t height = 1;
  int64_t channels = 1;
  NumberType type = NumberType::kUint8;

  // Precondition: CheckPageSize() holds.
  int64_t bytes() const {
    return width * height * channels * static_cast<int64_t>(SizeOf(type));
  }

  friend bool operator==(const PageShape&, const PageShape&) = default;
};

// "640x480, 3 channels of uint8".
std::string ToString(const PageShape& shape);

// What to read of a page, and where to: columns go next to each other, rows and channels
// at their distances in bytes.
struct PageWindow {
  int64_t x = 0;
  int64_t y = 0;
  int64_t width = 1;
  int64_t height = 1;
  std::byte* to = nullptr;
  int64_t row_stride = 0;
  int64_t channel_stride = 0;
};

// kCorrupt if a page of this shape cannot come out of `stored` bytes, of which each gives
// at most `ratio`; small pages pass, whatever is stored.
Result<void> CheckPageSize(const PageShape& shape, uint64_t stored, uint64_t ratio);

// kCorrupt if a page is not of the shape of the first one.
Result<void> CheckSamePage(const PageShape& found, const PageShape& first);

// A file that is one page. A file is looked at to learn its shape, and read later.
struct PageFormat {
  std::string_view name;  // "PNG"
  // The shape, from the header of the file.
  Result<PageShape> (*describe)(const std::string& path);
  // Precondition: the window is within `shape`. kCorrupt if the page is of another shape
  // by now.
  Result<void> (*read)(const std::string& path, const PageShape& shape,
                       const PageWindow& window);
  // As ArraySource's.
  Result<bool> (*reads_whole_pages)(const std::string& path);
};

extern const PageFormat kPngPages;
extern const PageFormat kJpegPages;
extern const PageFormat kTiffPages;

}  // namespace dolium::volume
