// info, stats and verify of whatever is at a location.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "dolium/formats/builtin.h"
#include "dolium/ops/source/source.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/errors.h"
#include "python/src/export_options.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {
namespace {

using OptionalName = std::optional<std::string>;

// What is opened, and how.
struct SourceArguments {
  std::string location;
  SourceOptions options;
  std::optional<CacheOptions> cache;
};

SourceArguments ArgumentsOf(nb::handle location, const OptionalName& format,
                            nb::handle spec, nb::handle sharding, nb::handle xorbs,
                            bool supervoxels, nb::handle resolution,
                            const OptionalName& coordinates, bool skip_damaged,
                            nb::handle cache) {
  SourceArguments arguments;
  arguments.location = LocationText(location);
  SourceOptions& options = arguments.options;
  options.format = format.value_or("");
  options.open.spec = SpecText(EitherOf(spec, "spec", sharding, "sharding"));
  options.open.allow_unfinished = true;
  auto& parameters = options.open.parameters;
  if (!xorbs.is_none()) parameters["xorbs"] = LocationText(xorbs);
  if (coordinates) parameters["coordinates"] = *coordinates;
  if (skip_damaged) parameters["salvage"] = "yes";
  nb::dict exported;
  exported["supervoxels"] = supervoxels;
  exported["resolution"] = resolution;
  exported["coordinates"] = coordinates.value_or("auto");
  exported["salvage"] = skip_damaged;
  options.exported = ExportOptionsFrom(exported);
  options.exported.spec = options.open.spec;
  arguments.cache = CacheFrom(cache);
  return arguments;
}

// Call it without the GIL.
Result<std::unique_ptr<Source>> OpenSourceAt(const SourceArguments& arguments) {
  DOLIUM_TRY(const Location parsed, ParseLocation(arguments.location));
  return OpenSource(BuiltinFormats(), parsed, arguments.options);
}

nb::object VerifySource(nb::handle location, bool quick, bool deep, double sample,
                        uint64_t seed, bool strict, bool missing,
                        const OptionalName& format, nb::handle spec, nb::handle sharding,
                        nb::handle xorbs, bool supervoxels, nb::handle resolution,
                        const OptionalName& coordinates, bool skip_damaged,
                        nb::handle cache, size_t jobs, nb::object progress) {
  const SourceArguments arguments =
      ArgumentsOf(location, format, spec, sharding, xorbs, supervoxels, resolution,
                  coordinates, skip_damaged, cache);
  const CacheFor scope(arguments.cache);
  VerifyOptions wanted{
      .depth = DepthOf(quick, deep), .sample = sample, .seed = seed, .jobs = jobs};
  wanted.report_missing = strict || missing;
  return RunVerify(std::move(wanted), std::move(progress),
                   [&](const VerifyOptions& options,
                       const FindingVisitor& visitor) -> Result<VerifyReport> {
                     DOLIUM_TRY(const auto source, OpenSourceAt(arguments));
                     return source->Check(options, visitor);
                   });
}

nb::object StatsOfSource(nb::handle location, const OptionalName& format, nb::handle spec,
                         nb::handle sharding, nb::handle xorbs, bool supervoxels,
                         nb::handle resolution, const OptionalName& coordinates,
                         bool skip_damaged, nb::handle cache, size_t jobs,
                         nb::object progress) {
  const SourceArguments arguments =
      ArgumentsOf(location, format, spec, sharding, xorbs, supervoxels, resolution,
                  coordinates, skip_damaged, cache);
  const CacheFor scope(arguments.cache);
  return RunStats(jobs, std::move(progress),
                  [&](const StatsOptions& options) -> Result<StatsReport> {
                    DOLIUM_TRY(const auto source, OpenSourceAt(arguments));
                    return source->CountSizes(options);
                  });
}

struct SourceInfo {
  std::string kind;
  std::string format;
  std::string location;
  bool is_finished = true;
  Properties properties;
};

nb::dict InfoOfSource(nb::handle location, const OptionalName& format, nb::handle spec,
                      nb::handle sharding, nb::handle xorbs, bool supervoxels,
                      nb::handle resolution, const OptionalName& coordinates,
                      bool skip_damaged, nb::handle cache) {
  const SourceArguments arguments =
      ArgumentsOf(location, format, spec, sharding, xorbs, supervoxels, resolution,
                  coordinates, skip_damaged, cache);
  const CacheFor scope(arguments.cache);
  const auto describe = [&]() -> Result<SourceInfo> {
    DOLIUM_TRY(const auto source, OpenSourceAt(arguments));
    DOLIUM_TRY(const Container* const entries, source->entries());
    SourceInfo info{std::string(source->kind()), std::string(entries->format_name()),
                    source->location().Describe(), true, entries->properties()};
    DOLIUM_TRY(info.is_finished, source->IsFinished());
    return info;
  };
  const SourceInfo info = Must(WithoutGil(/*is_remote=*/true, describe));
  nb::dict properties;
  for (const auto& [name, value] : info.properties) {
    properties[NameText(name)] = PropertyObject(value);
  }
  nb::dict result;
  result["kind"] = info.kind;
  result["format"] = info.format;
  result["location"] = NameText(info.location);
  result["finished"] = info.is_finished;
  result["properties"] = properties;
  return result;
}

}  // namespace

CheckDepth DepthOf(bool quick, bool deep) {
  if (quick && deep) throw nb::value_error("quick contradicts deep");
  if (quick) return CheckDepth::kQuick;
  return deep ? CheckDepth::kDeep : CheckDepth::kDefault;
}

nb::object RunVerify(VerifyOptions options, nb::object progress,
                     const std::function<Result<VerifyReport>(
                         const VerifyOptions&, const FindingVisitor&)>& check) {
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  options.progress = call.function();
  options.stop = stop.get_token();
  std::vector<Finding> findings;
  Result<VerifyReport> report = VerifyReport();
  RunInterruptible(stop, [&] {
    report = check(options, [&](const Finding& finding) { findings.push_back(finding); });
  });
  call.Check();
  return ToPython(Must(std::move(report)), findings);
}

nb::object RunStats(
    size_t jobs, nb::object progress,
    const std::function<Result<StatsReport>(const StatsOptions&)>& count) {
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  StatsOptions options;
  options.jobs = jobs;
  options.progress = call.function();
  options.stop = stop.get_token();
  Result<StatsReport> report = StatsReport();
  RunInterruptible(stop, [&] { report = count(options); });
  call.Check();
  return ToPython(Must(std::move(report)));
}

void BindSources(nb::module_& module) {
  module.def(
      "set_cache", [](nb::handle cache) { SetDefaultCache(CacheFrom(cache)); },
      nb::arg("cache").none());
  module.def(
      "parse_cache", [](nb::handle cache) { return CacheTo(CacheFrom(cache)); },
      nb::arg("cache").none(), "What an argument `cache` means: folder, limit, offline.");
  module.def("info", InfoOfSource, nb::arg("location"), nb::kw_only(),
             nb::arg("format") = nb::none(), nb::arg("spec") = nb::none(),
             nb::arg("sharding") = nb::none(), nb::arg("xorbs") = nb::none(),
             nb::arg("supervoxels") = false, nb::arg("resolution") = nb::none(),
             nb::arg("coordinates") = nb::none(), nb::arg("skip_damaged") = false,
             nb::arg("cache") = nb::none(),
             "What a location holds: its kind, its format, whether it is finished, and "
             "what the format says of it. It is opened as dolium.open() and "
             "Volume.open() do, with their options.");
  module.def("stats", StatsOfSource, nb::arg("location"), nb::kw_only(),
             nb::arg("format") = nb::none(), nb::arg("spec") = nb::none(),
             nb::arg("sharding") = nb::none(), nb::arg("xorbs") = nb::none(),
             nb::arg("supervoxels") = false, nb::arg("resolution") = nb::none(),
             nb::arg("coordinates") = nb::none(), nb::arg("skip_damaged") = false,
             nb::arg("cache") = nb::none(), nb::arg("jobs") = 0,
             nb::arg("progress") = nb::none(),
             "Counts and sizes of whatever is at a location, from its index alone. It is "
             "opened as by info().");
  module.def("verify", VerifySource, nb::arg("location"), nb::kw_only(),
             nb::arg("quick") = false, nb::arg("deep") = false, nb::arg("sample") = 1.0,
             nb::arg("seed") = 0, nb::arg("strict") = false, nb::arg("missing") = false,
             nb::arg("format") = nb::none(), nb::arg("spec") = nb::none(),
             nb::arg("sharding") = nb::none(), nb::arg("xorbs") = nb::none(),
             nb::arg("supervoxels") = false, nb::arg("resolution") = nb::none(),
             nb::arg("coordinates") = nb::none(), nb::arg("skip_damaged") = false,
             nb::arg("cache") = nb::none(), nb::arg("jobs") = 0,
             nb::arg("progress") = nb::none(),
             "Checks whatever is at a location: a set, a volume, an export, a cas store. "
             "Damage is reported, not raised. With `strict`, chunks that a volume lacks "
             "are warnings (`missing` is its older name). With `deep`, the catalog of a "
             "ShardPack set and lists of labels of DVID blocks are compared with what is "
             "there. It is opened as by info().");
}

}  // namespace dolium::python
