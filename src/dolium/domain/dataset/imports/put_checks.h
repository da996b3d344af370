// What every sink asks of a sample.
#pragma once

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// kInvalidArgument for a tombstone and for a sample without files: other formats have
// neither.
inline Result<void> CheckHasFiles(const shardpack::Sample& sample) {
  if (!sample.files.empty() && !sample.tombstone) return {};
  return InvalidArgument("sample \"" + sample.key +
                         "\": " + (sample.tombstone ? "a tombstone" : "without files") +
                         ", which other formats do not have");
}

}  // namespace dolium::dataset
