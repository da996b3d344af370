#include "dolium/ops/convert.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"

namespace dolium::python {
namespace {

const uint64_t kDefaultMemory = WriterOptions().memory;

using OptionalText = std::optional<std::string>;
using Number = std::optional<uint64_t>;

// A function convert(source, target, *, ...) of the module, around `Work`.
template <typename Report,
          Result<Report> (*Work)(Formats, const ConvertRequest&, const RunOptions&,
                                 const FindingVisitor&)>
void DefineConversion(nb::module_& module, const char* name, const char* doc) {
  module.def(
      name,
      [](nb::handle source, nb::handle target, const OptionalText& to,
         const OptionalText& format, nb::handle sharding, nb::handle from_sharding,
         Number shard_size, const OptionalText& hash,
         const OptionalText& minishard_index_encoding, const OptionalText& data_encoding,
         Number preshift_bits, Number minishard_bits, Number shard_bits, bool supervoxels,
         nb::handle spec, const std::optional<std::array<double, 3>>& resolution,
         const OptionalText& coordinates, bool salvage, Number downsample,
         const std::optional<std::vector<size_t>>& scales, const OptionalText& layout,
         const OptionalText& csv, Number shard_side, bool force, bool skip_damaged,
         bool unfinished, uint64_t memory, size_t jobs, nb::object progress) {
        ConvertRequest request;
        request.source = LocationText(source);
        request.source_format = format.value_or("");
        if (!from_sharding.is_none() && !spec.is_none()) {
          throw nb::type_error("from_sharding and spec both give the source's spec");
        }
        request.source_spec = SpecText(spec.is_none() ? from_sharding : spec);
        request.target = LocationText(target);
        request.target_format = to.value_or("");
        request.target_spec = SpecText(sharding);
        const auto set_text = [&](const char* parameter, const OptionalText& value) {
          if (value) request.parameters[parameter] = *value;
        };
        const auto set_number = [&](const char* parameter, Number value) {
          if (value) request.parameters[parameter] = std::to_string(*value);
        };
        set_number("shard-size", shard_size);
        set_text("hash", hash);
        set_text("minishard-index-encoding", minishard_index_encoding);
        set_text("data-encoding", data_encoding);
        set_number("preshift-bits", preshift_bits);
        set_number("minishard-bits", minishard_bits);
        set_number("shard-bits", shard_bits);
        if (supervoxels) request.parameters["supervoxels"] = "true";
        if (resolution) {
          request.parameters["resolution"] =
              fmt::format("{}", fmt::join(*resolution, ","));
        }
        set_text("coordinates", coordinates);
        set_number("downsample", downsample);
        if (scales && !scales->empty()) {
          request.parameters["scale"] = fmt::format("{}", fmt::join(*scales, ","));
        }
        set_text("layout", layout);
        set_text("csv", csv);
        set_number("shard-side", shard_side);
        request.force = force;
        request.skip_damaged = skip_damaged || salvage;
        request.allow_unfinished = unfinished;
        std::vector<Finding> found;
        const auto report = DoBulkWork<Report>(
            memory, jobs, std::move(progress), [&](const RunOptions& options) {
              return Work(BuiltinFormats(), request, options,
                          [&](const Finding& finding) { found.push_back(finding); });
            });
        WarnOf(found);
        return ToPython(report);
      },
      nb::arg("source"), nb::arg("target"), nb::kw_only(), nb::arg("to") = nb::none(),
      nb::arg("format") = nb::none(), nb::arg("sharding") = nb::none(),
      nb::arg("from_sharding") = nb::none(), nb::arg("shard_size") = nb::none(),
      nb::arg("hash") = nb::none(), nb::arg("minishard_index_encoding") = nb::none(),
      nb::arg("data_encoding") = nb::none(), nb::arg("preshift_bits") = nb::none(),
      nb::arg("minishard_bits") = nb::none(), nb::arg("shard_bits") = nb::none(),
      nb::arg("supervoxels") = false, nb::arg("spec") = nb::none(),
      nb::arg("resolution") = nb::none(), nb::arg("coordinates") = nb::none(),
      nb::arg("salvage") = false, nb::arg("downsample") = nb::none(),
      nb::arg("scales") = nb::none(), nb::arg("layout") = nb::none(),
      nb::arg("csv") = nb::none(), nb::arg("shard_side") = nb::none(),
      nb::arg("force") = false, nb::arg("skip_damaged") = false,
      nb::arg("unfinished") = false, nb::arg("memory") = kDefaultMemory,
      nb::arg("jobs") = 0, nb::arg("progress") = nb::none(), doc);
}

nb::object DoTask(const std::string& task, uint64_t memory, size_t jobs,
                  nb::object progress) {
  return RunBulkWork<TaskReport>(memory, jobs, std::move(progress),
                                 [&](const RunOptions& options) {
                                   return RunTask(BuiltinFormats(), task, options);
                                 });
}

// --- jobs of any kind ------------------------------------------------------------------

nb::object FindPlan(nb::handle home) {
  const std::string folder = LocationText(home);
  return ToPython(Must(WithoutGil([&]() -> Result<Plan> {
    DOLIUM_TRY(const Location location, ParseLocation(folder));
    DOLIUM_TRY(const OpenJob job, FindJob(BuiltinFormats(), location, {}));
    return PlanOf(job);
  })));
}

nb::object DoJob(nb::handle home, bool force, uint64_t memory, size_t jobs,
                 nb::object progress) {
  const std::string folder = LocationText(home);
  return RunBulkWork<JobReport>(
      memory, jobs, std::move(progress), [&](RunOptions options) -> Result<JobReport> {
        options.replace_files = force;
        DOLIUM_TRY(const Location location, ParseLocation(folder));
        DOLIUM_TRY(OpenJob job, FindJob(BuiltinFormats(), location, options));
        return RunJob(BuiltinFormats(), job, options);
      });
}

nb::object EndJob(nb::handle home, bool force) {
  const std::string folder = LocationText(home);
  return RunBulkWork<JobReport>(
      kDefaultMemory, 0, nb::none(), [&](RunOptions options) -> Result<JobReport> {
        options.replace_files = force;
        DOLIUM_TRY(const Location location, ParseLocation(folder));
        return FinishJob(BuiltinFormats(), location, options);
      });
}

}  // namespace

void BindConvert(nb::module_& module) {
  DefineConversion<ConvertReport, Convert>(
      module, "convert",
      "Converts one set into another, on threads. `to` and `format` name the formats of "
      "the "
      "target and the source, `sharding` and `from_sharding` their specs; the rest says "
      "how "
      "the target differs from what it would be. With `to` \"precomputed\" or "
      "\"dvid\", a volume or a DVID export becomes a volume or an export; `supervoxels` "
      "to `coordinates` say how an export is read. `salvage` is an older name of "
      "`skip_damaged`. A rerun resumes what was cut short.");
  DefineConversion<Plan, PlanConvert>(
      module, "plan_convert",
      "Prepares a conversion as a Plan: tasks that any process may run. The options are "
      "those of convert().");
  module.def("run_task", DoTask, nb::arg("task"), nb::kw_only(),
             nb::arg("memory") = kDefaultMemory, nb::arg("jobs") = 1,
             nb::arg("progress") = nb::none());
  module.def("find_job", FindPlan, nb::arg("home"));
  module.def("run_job", DoJob, nb::arg("home"), nb::arg("force") = false,
             nb::arg("memory") = kDefaultMemory, nb::arg("jobs") = 0,
             nb::arg("progress") = nb::none());
  module.def("finish_job", EndJob, nb::arg("home"), nb::arg("force") = false);
}

}  // namespace dolium::python
