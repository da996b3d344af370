// TIFF files of many pages.
#pragma once

#include <memory>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_array.h"

namespace dolium::volume {

// Pages in the order of their directories, except reduced images; all of one shape.
Result<std::unique_ptr<NumberArray>> OpenTiffStack(const std::string& path);

}  // namespace dolium::volume
