// export and extract: samples of a set, decoded and put elsewhere.
//
// Jobs that make files, which appear when all are complete. In a folder, parts are so
// many samples each, and any process can make one. What other kinds write is a stream:
// its parts are the files, one after another; an LMDB is one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/dataset/sample_source.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium::dataset {

struct ExportSummary {
  uint64_t taken = 0;  // of the numbers, before the sample that is being put
  uint64_t samples = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;  // decoded
  // What the kind of target has no place for: samples and files whose metadata, and files
  // whose content types, are not in it.
  uint64_t metadata_left_out = 0;
  uint64_t file_metadata_left_out = 0;
  uint64_t content_types_left_out = 0;
};

struct PutOptions {
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;  // most of decoded samples at once
  std::stop_token stop = {};
  std::function<void(const ExportSummary& so_far)> progress = {};
};

// Puts the samples of `numbers`, in that order, without finishing the sink, and counts on
// in `summary`. Decodes on several threads. A sample that cannot be read is an error;
// tombstones are left out.
Result<void> PutSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                        SampleSink& sink, const PutOptions& options,
                        ExportSummary& summary);

struct ExportRequest {
  std::string kind;  // of OpenSampleSink()
  std::string target;
  // Limits on samples are those of a part where files go to a folder.
  SampleExportOptions options;
  std::vector<std::string> references = {};  // of the set
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;
  ProgressFunction progress = {};
  std::stop_token stop = {};
  // For tests, as RunOptions has it.
  std::function<void(JobStep)> at_step = {};
};

// Writes the samples of `numbers`, in that order. A rerun of a request that was cut short
// goes on with what is missing. If it fails for a reason that stays, nothing appears.
Result<ExportSummary> ExportSamples(const SampleSet& set,
                                    std::span<const uint64_t> numbers,
                                    const ExportRequest& request);

// Only plans it. All but files in a folder are streams.
Result<Plan> PlanExport(const SampleSet& set, std::span<const uint64_t> numbers,
                        const ExportRequest& request);

}  // namespace dolium::dataset
