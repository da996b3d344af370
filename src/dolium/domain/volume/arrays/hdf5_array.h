// Arrays in HDF5 files.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/number_array.h"

namespace dolium::volume {

// The library is for one thread at a time, so that reads of all HDF5 files wait for each
// other. `dataset` may be left out if the file has just one of 3 or 4 dimensions.
Result<std::unique_ptr<NumberArray>> OpenHdf5(const std::string& path,
                                              const std::optional<std::string>& dataset,
                                              const std::optional<std::string>& axes);

}  // namespace dolium::volume
