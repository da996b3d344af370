// SkipDamaged: a source without the samples that are damaged.
#pragma once

#include <memory>

#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

// The samples of `source` but those that cannot be read, and those that no shard can hold
// (a name that leads upwards, ...). Errors behind which the source cannot go on stay.
std::unique_ptr<SampleSource> SkipDamaged(std::unique_ptr<SampleSource> source);

}  // namespace dolium::dataset
