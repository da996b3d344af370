// Bulk work of ops, as functions of the module: with the options that all of it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>

#include <nanobind/nanobind.h>

#include "dolium/base/result.h"
#include "dolium/ops/job/job.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {

namespace nb = nanobind;

// Runs `work` without the GIL, stopped by Ctrl-C or by what `progress` (a Python function
// or None) raises. Needs the GIL.
template <typename Report>
Report DoBulkWork(uint64_t memory, size_t jobs, nb::object progress,
                  const std::function<Result<Report>(const RunOptions&)>& work) {
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  RunOptions options;
  options.writer.memory = memory;
  options.writer.jobs = jobs;
  options.writer.stop = stop.get_token();
  options.progress = call.function();
  Result<Report> report = Report();
  RunInterruptible(stop, [&] { report = work(options); });
  call.Check();
  return Must(std::move(report));
}

// The same, and its report as Python has it.
template <typename Report>
nb::object RunBulkWork(uint64_t memory, size_t jobs, nb::object progress,
                       const std::function<Result<Report>(const RunOptions&)>& work) {
  return ToPython(DoBulkWork(memory, jobs, std::move(progress), work));
}

// How thoroughly a check goes; a ValueError if both are wanted.
CheckDepth DepthOf(bool quick, bool deep);

// Checks and counts, in the same way; `options` say the rest.
nb::object RunVerify(VerifyOptions options, nb::object progress,
                     const std::function<Result<VerifyReport>(
                         const VerifyOptions&, const FindingVisitor&)>& check);
nb::object RunStats(size_t jobs, nb::object progress,
                    const std::function<Result<StatsReport>(const StatsOptions&)>& count);

}  // namespace dolium::python
