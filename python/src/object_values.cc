#include "python/src/object_values.h"

#include <cmath>
#include <mutex>

namespace dolium::python {

NewObjectsOptions NewObjectsFrom(const std::string& storage, unsigned bits,
                                 bool keep_types, bool register_in_volume, bool force,
                                 size_t jobs, uint64_t memory) {
  NewObjectsOptions options;
  if (storage == "sharded") {
    options.storage = ObjectStorageKind::kSharded;
  } else if (storage == "legacy") {
    options.storage = ObjectStorageKind::kLegacy;
  } else if (storage != "unsharded") {
    throw nb::value_error("storage: expected \"unsharded\", \"sharded\" or \"legacy\"");
  }
  if (bits != 10 && bits != 16) throw nb::value_error("bits: expected 10 or 16");
  options.bits = bits;
  options.keep_types = keep_types;
  options.register_in_volume = register_in_volume;
  options.force = force;
  options.writer.jobs = jobs;
  options.writer.memory = memory;
  return options;
}

nb::dict RunExport(size_t jobs, bool force, nb::object progress,
                   const std::function<Result<ExportObjectsReport>(
                       const ExportObjectsOptions&, const FindingVisitor&)>& work) {
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  const ExportObjectsOptions options{.force = force,
                                     .jobs = jobs,
                                     .progress = call.function(),
                                     .stop = stop.get_token()};
  std::vector<Finding> findings;
  Result<ExportObjectsReport> report = ExportObjectsReport();
  RunInterruptible(stop, [&] {
    report = work(options, [&](const Finding& finding) { findings.push_back(finding); });
  });
  call.Check();
  const ExportObjectsReport done = Must(std::move(report));
  nb::dict result;
  result["files"] = done.files;
  result["bytes"] = done.bytes;
  result["missing"] = done.missing;
  result["damaged"] = done.damaged;
  result["findings"] = ToPython(findings);
  return result;
}

objects::Transform TransformFrom(nb::handle transform) {
  if (transform.is_none()) return objects::kIdentity;
  objects::Transform out;
  size_t count = 0;
  for (const nb::handle number : nb::iter(nb::borrow(transform))) {
    if (count < out.size()) out[count] = nb::cast<double>(number);
    ++count;
  }
  if (count != out.size()) throw nb::value_error("transform: expected 12 numbers");
  return out;
}

}  // namespace dolium::python
