// What the two kinds of exports have in common: job of a folder, and stream of files.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/pack/pack_export.h"

namespace dolium::dataset {

// What a part made, in its report: what there is after it and was not `before` it.
TaskReport ReportOfExport(const ExportSummary& after, const ExportSummary& before);
// The sum of such reports.
Result<ExportSummary> SumOfExports(std::span<const std::string> details);

// What of a request distinguishes it from another, but for what the kind of job adds.
nlohmann::json ExportJson(std::span<const uint64_t> numbers,
                          const ExportRequest& request);

RunOptions RunOptionsOf(const ExportRequest& request);

// The job of a request: of files in a folder, and of what other kinds write.
Result<OpenJob> BeginExtract(const SampleSet& set, std::span<const uint64_t> numbers,
                             const ExportRequest& request);
Result<OpenJob> BeginExportStream(const SampleSet& set, std::span<const uint64_t> numbers,
                                  const ExportRequest& request);

}  // namespace dolium::dataset
