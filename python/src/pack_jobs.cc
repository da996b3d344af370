// Jobs on training sets: each begins, and gives its plan.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/base/stop.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/pack/pack_copy.h"
#include "dolium/ops/pack/pack_create.h"
#include "dolium/ops/pack/pack_export.h"
#include "dolium/ops/pack/pack_select.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/formats/shardpack.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/wishes.h"

namespace dolium::python {
namespace {

using SetReferences = std::vector<std::string>;

dataset::TfRecords RecordsNamed(const std::string& name) {
  if (name == "auto") return dataset::TfRecords::kAuto;
  if (name == "raw") return dataset::TfRecords::kRaw;
  if (name == "example") return dataset::TfRecords::kExample;
  throw nb::value_error("records: expected auto, raw or example");
}

dataset::ImportOptions ImportOptionsFrom(const nb::dict& options) {
  dataset::ImportOptions out;
  if (const auto name = Wish<std::string>(options, "group_by")) {
    out.grouping = Must(dataset::ParseGrouping(*name));
  }
  if (const nb::object manifest = Wish(options, "manifest"); manifest.is_valid()) {
    out.manifest = LocationText(manifest);
    out.grouping = dataset::Grouping::kManifest;
  }
  TakeWish(options, "skip_links", out.skip_links);
  TakeWish(options, "keep_times", out.keep_attributes);
  TakeWish(options, "keep_case", out.keep_case);
  if (const auto name = Wish<std::string>(options, "records")) {
    out.records = RecordsNamed(*name);
  }
  TakeWish(options, "database", out.database);
  TakeWish(options, "key_prefix", out.key_prefix);
  TakeWish(options, "skip_damaged", out.skip_damaged);
  return out;
}

nb::object PlanNewShards(const std::string& kind, nb::handle input, nb::handle output,
                         const nb::dict& reading, const nb::dict& writing) {
  const std::string path = LocationText(input);
  const dataset::ImportOptions options = ImportOptionsFrom(reading);
  dataset::CreateRequest request;
  request.output = LocationText(output);
  request.pack = PackOptionsFrom(writing);
  return ToPython(Must(WithoutGil(/*is_remote=*/true, [&]() -> Result<Plan> {
    DOLIUM_TRY(const auto source, dataset::OpenSampleSource(kind, path, options));
    DOLIUM_TRY(request.source, dataset::NameSource(kind, path, options, *source));
    return PlanCreate(*source, request);
  })));
}

// prefix, keys, ignore_missing, begin, end, every, sample (a number of them, or a part as
// a float), seed.
dataset::PackSelection SelectionFrom(const nb::dict& options) {
  dataset::PackSelection out;
  TakeWish(options, "prefix", out.prefix);
  out.keys = Wish<std::vector<std::string>>(options, "keys");
  TakeWish(options, "ignore_missing", out.ignore_missing);
  TakeWish(options, "begin", out.begin);
  TakeWish(options, "end", out.end);
  TakeWish(options, "every", out.every);
  if (const nb::object sample = Wish(options, "sample"); sample.is_valid()) {
    if (nb::isinstance<nb::float_>(sample)) {
      out.sample_fraction = nb::cast<double>(sample);
    } else {
      out.sample_count = Wish<uint64_t>(options, "sample");
    }
  }
  TakeWish(options, "seed", out.seed);
  return out;
}

Result<std::vector<uint64_t>> OrderNamed(const std::string& name,
                                         const dataset::PackSelection& selection,
                                         const dataset::SampleSet& set) {
  if (name == "key") return dataset::OrderByKey(set);
  if (name == "random") return dataset::OrderAtRandom(set.size(), selection.seed);
  return dataset::SelectSamples(set, selection);
}

Result<std::shared_ptr<const dataset::SampleSet>> OpenOverlaid(
    const SetReferences& references, const SetReferences& overlays) {
  DOLIUM_TRY(auto base, OpenSamples(references));
  if (overlays.empty()) return base;
  std::vector<std::shared_ptr<const dataset::SampleSet>> layers;
  for (const std::string& reference : overlays) {
    DOLIUM_TRY(auto layer, OpenSamples(SetReferences{reference}));
    layers.push_back(std::move(layer));
  }
  return dataset::Overlay(std::move(base), std::move(layers));
}

nb::object PlanOtherShards(const SetReferences& references, const std::string& order,
                           const nb::dict& selection, nb::handle output, uint64_t shards,
                           const nb::dict& writing, const SetReferences& overlays) {
  const auto options = PackOptionsFrom(writing);
  const dataset::PackSelection selected = SelectionFrom(selection);
  dataset::CopyRequest request;
  request.references = references;
  request.overlays = overlays;
  request.output = LocationText(output);
  request.shards = shards;
  request.shard_bytes = options.shard_bytes;
  request.shard_records = options.shard_records;
  request.shard = options.shard;
  if (Wish(writing, "align").is_valid()) {
    request.align_log2 = options.shard.encode.align_log2;
  }
  request.recode = Wish(writing, "compression").is_valid();
  return ToPython(Must(WithoutGil(/*is_remote=*/true, [&]() -> Result<Plan> {
    request.stop = CurrentStop();
    DOLIUM_TRY(const auto set, OpenOverlaid(references, overlays));
    DOLIUM_TRY(const auto numbers, OrderNamed(order, selected, *set));
    return PlanCopy(*set, numbers, request);
  })));
}

nb::object PlanSampleExport(const SetReferences& references, const std::string& to,
                            nb::handle target, const nb::dict& options) {
  dataset::ExportRequest request;
  request.kind = to;
  request.target = LocationText(target);
  request.references = references;
  TakeWish(options, "shard_size", request.options.shard_bytes);
  TakeWish(options, "shard_records", request.options.shard_samples);
  TakeWish(options, "gzip", request.options.gzip);
  TakeWish(options, "replace_dots", request.options.dot_replacement);
  TakeWish(options, "keys", request.options.keys);
  TakeWish(options, "manifest", request.options.manifest);
  TakeWish(options, "force", request.options.force);
  if (Wish<bool>(options, "stem").value_or(false)) {
    request.options.layout = dataset::FolderLayout::kStem;
  }
  return ToPython(Must(WithoutGil(/*is_remote=*/true, [&]() -> Result<Plan> {
    DOLIUM_TRY(const auto set, OpenSamples(references));
    DOLIUM_TRY(const auto numbers, SelectSamples(*set, {}));
    return PlanExport(*set, numbers, request);
  })));
}

}  // namespace

void BindPackJobs(nb::module_& module) {
  module.def("plan_pack_create", PlanNewShards, nb::arg("kind"), nb::arg("input"),
             nb::arg("output"), nb::arg("reading"), nb::arg("writing"));
  module.def("plan_pack_copy", PlanOtherShards, nb::arg("references"), nb::arg("order"),
             nb::arg("selection"), nb::arg("output"), nb::arg("shards"),
             nb::arg("writing"), nb::arg("overlays") = SetReferences());
  module.def("plan_pack_export", PlanSampleExport, nb::arg("references"), nb::arg("to"),
             nb::arg("target"), nb::arg("options"));
}

}  // namespace dolium::python
