// Arrays as the files that NumPy writes.
#pragma once

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// A file with an array, as .npy of type `application/x-npy`: what other formats keep of
// the type and the shape. kUnsupported for a type whose name is none of NumPy's.
Result<shardpack::File> AsNpy(const shardpack::File& file);

}  // namespace dolium::dataset
