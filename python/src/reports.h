// Results as the dataclasses of dolium._reports. All need the GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/bytes/store.h"
#include "dolium/container/entry.h"
#include "dolium/container/writer.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"
#include "dolium/ops/stats.h"
#include "dolium/ops/verify.h"

namespace dolium::python {

namespace nb = nanobind;

// `key` is the entry's, as the container's callers know it.
nb::object ToPython(const Store& store, const Entry& entry, nb::object key);
nb::object ToPython(const WriteSummary& summary);
// `records` are those of a ShardPack shard.
nb::object ToPython(const VerifyReport& report, const std::vector<Finding>& findings,
                    std::optional<uint64_t> records = std::nullopt);
nb::list ToPython(const std::vector<Finding>& findings);
nb::object ToPython(const StatsReport& report);
nb::object ToPython(const TaskReport& report);
nb::object ToPython(const JobReport& report);
nb::object ToPython(const Plan& plan);
// Warnings among the findings, as Python's.
void WarnOf(const std::vector<Finding>& findings);

}  // namespace dolium::python
