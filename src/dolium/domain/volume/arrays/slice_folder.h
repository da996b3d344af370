// Arrays of image files that are one page each: a folder of them, or just one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_array.h"

namespace dolium::volume {

// Whether `a` comes before `b` as people count: runs of digits compare as numbers.
bool NaturallyLess(std::string_view a, std::string_view b);

// The TIFF, PNG or JPEG files right in `folder`, by their suffixes, in natural order;
// hidden files and those with other suffixes are ignored. kInvalidArgument if there are
// several kinds, kNotFound if there are none. Looks at every file: all must be of one
// shape.
Result<std::unique_ptr<NumberArray>> OpenSliceFolder(const std::string& folder);

// One PNG or JPEG file.
Result<std::unique_ptr<NumberArray>> OpenSlice(const std::string& path);

}  // namespace dolium::volume
