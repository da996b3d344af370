// export and extract: samples of a set, decoded and put elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

struct ExportRequest {
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;  // most of decoded samples at once
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct ExportSummary {
  uint64_t samples = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;  // decoded
};

// Puts the samples of `numbers`, in that order, and finishes the sink. Decodes on several
// threads. A sample that cannot be read is an error; tombstones are left out.
Result<ExportSummary> ExportSamples(const SampleSet& set,
                                    std::span<const uint64_t> numbers, SampleSink& sink,
                                    const ExportRequest& request);

}  // namespace dolium::dataset
