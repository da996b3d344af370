// export and extract: samples of a set, decoded and put elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/dataset/sample_source.h"
#include "dolium/ops/job/job.h"

namespace dolium::dataset {

struct ExportRequest {
  size_t jobs = 0;
  uint64_t memory = uint64_t{256} << 20;  // most of decoded samples at once
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

struct ExportSummary {
  uint64_t taken = 0;  // of the numbers, before the sample that is being put
  uint64_t samples = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;  // decoded
};

// Puts the samples of `numbers`, in that order, and finishes the sink. Decodes on several
// threads. A sample that cannot be read is an error; tombstones are left out.
Result<ExportSummary> ExportSamples(const SampleSet& set,
                                    std::span<const uint64_t> numbers, SampleSink& sink,
                                    const ExportRequest& request);

// The same without finishing the sink, and counting on in `summary`. `total` is for
// progress.
Result<void> PutSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                        uint64_t total, SampleSink& sink, const ExportRequest& request,
                        ExportSummary& summary);

struct ExportFilesRequest {
  std::string kind;  // webdataset, tfrecord or jsonl: what is written to files
  std::string target;
  SampleExportOptions options;
  ExportRequest run = {};
  std::vector<std::string> references = {};  // of the set
  // For tests, as RunOptions has it.
  std::function<void(JobStep)> at_step = {};
};

// Whether samples of this kind go to files, one after another.
bool IsExportedToFiles(std::string_view kind);

// ExportSamples() as a job: the files appear when all are complete; a rerun of a request
// that was cut short goes on behind the last of them.
Result<ExportSummary> ExportFiles(const SampleSet& set, std::span<const uint64_t> numbers,
                                  const ExportFilesRequest& request);

}  // namespace dolium::dataset
