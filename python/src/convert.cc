#include "dolium/ops/convert.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/write_voxels.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"

namespace dolium::python {
namespace {

const uint64_t kDefaultMemory = WriterOptions().memory;

using OptionalText = std::optional<std::string>;

// The parameter of a target that a keyword names, by the rows of all targets; nullptr if
// there is none.
const Parameter* FindParameter(std::string_view name) {
  for (const Format& format : BuiltinFormats()) {
    const auto found = std::ranges::find(format.parameters, name, &Parameter::name);
    if (found != format.parameters.end()) return &*found;
  }
  for (const VoxelParameter& row : VoxelParameters()) {
    if (row.parameter.name == name) return &row.parameter;
  }
  return nullptr;
}

// The keywords of all targets.
std::vector<std::string> TargetParameters() {
  std::set<std::string> names;
  const auto add = [&](const Parameter& parameter) {
    std::string name(parameter.name);
    std::ranges::replace(name, '-', '_');
    names.insert(name == "scale" ? "scales" : name);
  };
  for (const Format& format : BuiltinFormats()) {
    std::ranges::for_each(format.parameters, add);
  }
  std::ranges::for_each(VoxelParameters(), add, &VoxelParameter::parameter);
  return {names.begin(), names.end()};
}

// A value as the command line takes it: "3", "8,8,40", "gzip"; nullopt for a flag that is
// not set. TypeError if it is none of these.
OptionalText ParameterText(const std::string& keyword, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) {
    return nb::cast<bool>(value) ? OptionalText("true") : std::nullopt;
  }
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  std::vector<std::string> numbers;
  const auto add = [&](nb::handle number) {
    if (!PyNumber_Check(number.ptr())) {
      throw nb::type_error(fmt::format("{}: cannot take {}", keyword,
                                       nb::cast<std::string>(nb::repr(value)))
                               .c_str());
    }
    numbers.push_back(nb::cast<std::string>(nb::str(number)));
  };
  if (PySequence_Check(value.ptr()) == 0) {
    add(value);
  } else {
    for (const nb::handle number : value) add(number);
  }
  if (numbers.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(numbers, ","));
}

// Keywords of Python that are not the words of rows.
std::string ParameterName(std::string keyword) {
  if (keyword == "scales") return "scale";
  std::ranges::replace(keyword, '_', '-');
  return keyword;
}

// Keywords that name parameters of targets, one by one.
void TakeParameters(const nb::kwargs& keywords, const char* function,
                    ConvertRequest& request) {
  for (const auto& [key, value] : keywords) {
    const auto keyword = nb::cast<std::string>(key);
    const std::string name = ParameterName(keyword);
    if (FindParameter(name) == nullptr) {
      throw nb::type_error(
          fmt::format("{}() got an unexpected keyword argument '{}'", function, keyword)
              .c_str());
    }
    if (value.is_none()) continue;
    if (const auto text = ParameterText(keyword, value)) request.parameters[name] = *text;
  }
}

// A function convert(source, target, *, ...) of the module, around `Work`.
template <typename Report,
          Result<Report> (*Work)(Formats, const ConvertRequest&, const RunOptions&,
                                 const FindingVisitor&)>
void DefineConversion(nb::module_& module, const char* name, const char* doc) {
  module.def(
      name,
      [name](nb::handle source, nb::handle target, const OptionalText& to,
             const OptionalText& format, nb::handle spec, nb::handle to_spec,
             nb::handle from_sharding, nb::handle sharding, bool force, bool skip_damaged,
             bool salvage, bool unfinished, uint64_t memory, size_t jobs,
             nb::object progress, const nb::kwargs& parameters) {
        ConvertRequest request;
        request.source = LocationText(source);
        request.source_format = format.value_or("");
        request.source_spec =
            SpecText(EitherOf(spec, "spec", from_sharding, "from_sharding"));
        request.target = LocationText(target);
        request.target_format = to.value_or("");
        request.target_spec =
            SpecText(EitherOf(to_spec, "to_spec", sharding, "sharding"));
        TakeParameters(parameters, name, request);
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
      nb::arg("format") = nb::none(), nb::arg("spec") = nb::none(),
      nb::arg("to_spec") = nb::none(), nb::arg("from_sharding") = nb::none(),
      nb::arg("sharding") = nb::none(), nb::arg("force") = false,
      nb::arg("skip_damaged") = false, nb::arg("salvage") = false,
      nb::arg("unfinished") = false, nb::arg("memory") = kDefaultMemory,
      nb::arg("jobs") = 0, nb::arg("progress") = nb::none(), nb::arg("parameters"), doc);
}

nb::object DoTask(const std::string& task, uint64_t memory, size_t jobs,
                  nb::object progress) {
  return RunBulkWork<TaskReport>(memory, jobs, std::move(progress),
                                 [&](const RunOptions& options) {
                                   return RunTask(BuiltinFormats(), task, options);
                                 });
}

// --- jobs of any kind ------------------------------------------------------------------

nb::object FindPlan(nb::handle job_folder) {
  const std::string folder = LocationText(job_folder);
  return ToPython(Must(WithoutGil([&]() -> Result<Plan> {
    DOLIUM_TRY(const Location location, ParseLocation(folder));
    DOLIUM_TRY(const OpenJob job, FindJob(BuiltinFormats(), location, {}));
    return PlanOf(job);
  })));
}

nb::object DoJob(nb::handle job_folder, bool force, uint64_t memory, size_t jobs,
                 nb::object progress) {
  const std::string folder = LocationText(job_folder);
  return RunBulkWork<JobReport>(
      memory, jobs, std::move(progress), [&](RunOptions options) -> Result<JobReport> {
        options.replace_files = force;
        DOLIUM_TRY(const Location location, ParseLocation(folder));
        DOLIUM_TRY(OpenJob job, FindJob(BuiltinFormats(), location, options));
        return RunJob(BuiltinFormats(), job, options);
      });
}

nb::object EndJob(nb::handle job_folder, bool force) {
  const std::string folder = LocationText(job_folder);
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
      "the target and the source, `to_spec` and `spec` their specs (`sharding` and "
      "`from_sharding` are older names for these). All other keywords are parameters of "
      "targets, those that target_parameters() lists. With `to` \"precomputed\" or "
      "\"dvid\", a volume or a DVID export becomes a volume or an export. `salvage` is "
      "an older name of `skip_damaged`. A rerun resumes what was cut short.");
  DefineConversion<Plan, PlanConvert>(
      module, "plan_convert",
      "Prepares a conversion as a Plan: tasks that any process may run. The options are "
      "those of convert().");
  module.def("run_task", DoTask, nb::arg("task"), nb::kw_only(),
             nb::arg("memory") = kDefaultMemory, nb::arg("jobs") = 1,
             nb::arg("progress") = nb::none());
  module.def("target_parameters", TargetParameters);
  module.def("find_job", FindPlan, nb::arg("job_folder"));
  module.def("run_job", DoJob, nb::arg("job_folder"), nb::arg("force") = false,
             nb::arg("memory") = kDefaultMemory, nb::arg("jobs") = 0,
             nb::arg("progress") = nb::none());
  module.def("finish_job", EndJob, nb::arg("job_folder"), nb::arg("force") = false);
}

}  // namespace dolium::python
