#include "python/src/reports.h"

#include <optional>
#include <string>
#include <string_view>

#include <nanobind/stl/string.h>

#include "python/src/arguments.h"
#include "python/src/errors.h"

namespace dolium::python {
namespace {

nb::object Make(const char* name, const nb::dict& members) {
  return nb::module_::import_("dolium._reports").attr(name)(**members);
}

nb::object RangeTuple(const std::optional<ByteRange>& range) {
  if (!range) return nb::none();
  return nb::make_tuple(range->offset, range->end());
}

nb::object FindingObject(const Finding& finding) {
  nb::dict members;
  members["severity"] = finding.severity == Severity::kError ? "error" : "warning";
  members["kind"] = finding.kind;
  members["object"] = NameText(finding.object);
  members["key"] = NameText(finding.key);
  members["range"] = RangeTuple(finding.range);
  members["message"] = MessageText(finding.message, finding.hint);
  return Make("Finding", members);
}

nb::object DistributionObject(const Distribution& distribution) {
  nb::dict members;
  members["count"] = distribution.count;
  members["sum"] = distribution.sum;
  members["min"] = distribution.min;
  members["max"] = distribution.max;
  members["mean"] = distribution.mean();
  members["median"] = distribution.Quantile(0.5);
  return Make("Distribution", members);
}

}  // namespace

nb::list ToPython(const std::vector<Finding>& findings) {
  nb::list list;
  for (const Finding& finding : findings) list.append(FindingObject(finding));
  return list;
}

nb::object ToPython(const Store& store, const Entry& entry, nb::object key) {
  nb::dict members;
  members["key"] = std::move(key);
  members["size"] = entry.size ? nb::object(nb::int_(*entry.size)) : nb::none();
  members["stored_size"] = entry.stored_size();
  members["preceding"] = entry.preceding_size();
  if (entry.extents.empty()) {
    members["object"] = nb::none();
    members["offset"] = nb::none();
  } else {
    members["object"] = NameText(store.Describe(entry.extents.front().object->name));
    members["offset"] = entry.extents.front().range.offset;
  }
  return Make("Entry", members);
}

nb::object ToPython(const WriteSummary& summary) {
  nb::dict members;
  members["entries"] = summary.entries;
  members["value_bytes"] = summary.value_bytes;
  members["stored_bytes"] = summary.stored_bytes;
  members["objects"] = summary.objects;
  return Make("WriteSummary", members);
}

nb::object ToPython(const VerifyReport& report, const std::vector<Finding>& findings,
                    std::optional<uint64_t> records) {
  nb::dict members;
  members["objects"] = report.objects;
  members["entries"] = report.entries;
  members["entries_read"] = report.entries_read;
  members["bytes_read"] = report.bytes_read;
  members["bytes_decoded"] = report.bytes_decoded;
  members["errors"] = report.errors;
  members["unreadable"] = report.unreadable;
  members["warnings"] = report.warnings;
  members["findings"] = ToPython(findings);
  if (records) members["records"] = *records;
  return Make("VerifyReport", members);
}

nb::object ToPython(const StatsReport& report) {
  nb::dict members;
  members["objects"] = report.objects;
  members["object_bytes"] = report.object_bytes;
  members["preceding_bytes"] = report.preceding_bytes;
  members["overhead_bytes"] = report.overhead_bytes();
  members["stored_size"] = DistributionObject(report.stored_size);
  members["entries_per_object"] = DistributionObject(report.entries_per_object);
  members["damaged"] = report.damaged;
  return Make("StatsReport", members);
}

nb::object ToPython(const TaskReport& report) {
  nb::dict members;
  members["written"] = ToPython(report.written);
  members["skipped"] = ToPython(report.skipped);
  return Make("TaskReport", members);
}

nb::object ToPython(const JobReport& report) {
  nb::dict members;
  members["written"] = ToPython(report.written);
  members["parts"] = report.parts;
  members["parts_done_before"] = report.parts_done_before;
  members["skipped"] = ToPython(report.skipped);
  members["target"] = NameText(report.target);
  return Make("JobReport", members);
}

void WarnOf(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kWarning) continue;
    const std::string text = finding.object.empty()
                                 ? finding.message
                                 : finding.object + ": " + finding.message;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw nb::python_error();
  }
}

nb::object ToPython(const Plan& plan) {
  nb::list stages;
  for (const std::vector<std::string>& tasks : plan.stages) {
    nb::list texts;
    for (const std::string& task : tasks) texts.append(NameText(task));
    stages.append(texts);
  }
  nb::dict members;
  members["kind"] = NameText(plan.kind);
  members["target"] = NameText(plan.target);
  members["folder"] = NameText(plan.folder);
  members["stages"] = stages;
  members["parts"] = plan.parts;
  members["parts_done"] = plan.parts_done;
  members["entries"] = plan.entries;
  members["entries_done"] = plan.entries_done;
  members["bytes"] = plan.bytes;
  members["adds"] = plan.adds;
  members["is_stream"] = plan.is_stream;
  members["force"] = plan.force;
  return nb::module_::import_("dolium._plans").attr("Plan")(**members);
}

}  // namespace dolium::python
