#include "dolium/ops/job/job_record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/stable_hash.h"
#include "dolium/container/json.h"
#include "dolium/ops/job/job_json.h"

namespace dolium {
namespace {

using nlohmann::json;

constexpr uint64_t kRecordVersion = 1;
constexpr uint64_t kTaskVersion = 2;

// What markers had before there was one record for all kinds.
constexpr const char* kFormerRecords[] = {"dolium_plan", "dolium_volume_plan",
                                          "dolium_dvid_export"};

Result<void> CheckVersion(const json& value, const char* name, std::string_view what,
                          uint64_t expected) {
  const auto version = value.at(name).get<uint64_t>();
  if (version == expected) return {};
  return Unsupported(
      fmt::format("{} of version {}, not {}; another version of dolium began this", what,
                  version, expected));
}

// A kind's own object, from its text.
Result<json> ObjectOf(const std::string& text, std::string_view what) {
  DOLIUM_TRY(json value, ParseJson(text).Within(what));
  if (!value.is_object()) return InvalidArgument(fmt::format("{}: no JSON object", what));
  return value;
}

// The text of a kind's own object.
std::string TextOf(const json& record, const char* name) {
  return record.at(name).get_ref<const json::object_t&>().empty()
             ? "{}"
             : DumpJson(record.at(name));
}

Result<json> RecordJson(const JobRecord& record) {
  DOLIUM_TRY(json request, ObjectOf(record.request, "request"));
  DOLIUM_TRY(json parameters, ObjectOf(record.parameters, "parameters"));
  json value = {{"dolium_job", kRecordVersion},
                {"kind", record.kind},
                {"request", std::move(request)},
                {"source", record.source},
                {"replaces", record.replaces}};
  // Formats open an unfinished set by the description that they find at the top of its
  // marker, whoever writes it.
  if (parameters.contains("description")) {
    value["description"] = parameters["description"];
  }
  value["parameters"] = std::move(parameters);
  return value;
}

json FindingJson(const Finding& finding) {
  json value = {{"severity", finding.severity == Severity::kError ? "error" : "warning"},
                {"kind", finding.kind},
                {"object", finding.object},
                {"key", finding.key},
                {"message", finding.message}};
  if (finding.range) {
    value["offset"] = finding.range->offset;
    value["length"] = finding.range->length;
  }
  return value;
}

Finding GetFinding(const json& value) {
  Finding finding;
  finding.severity =
      value.at("severity") == "warning" ? Severity::kWarning : Severity::kError;
  finding.kind = value.at("kind").get<std::string>();
  finding.object = value.at("object").get<std::string>();
  finding.key = value.at("key").get<std::string>();
  finding.message = value.at("message").get<std::string>();
  if (value.contains("offset")) {
    finding.range = ByteRange::Make(value.at("offset").get<uint64_t>(),
                                    value.at("length").get<uint64_t>());
  }
  return finding;
}

json FindingsJson(const std::vector<Finding>& findings) {
  json values = json::array();
  for (const Finding& finding : findings) values.push_back(FindingJson(finding));
  return values;
}

std::vector<Finding> GetFindings(const json& values) {
  std::vector<Finding> findings;
  for (const json& value : values) findings.push_back(GetFinding(value));
  return findings;
}

json SummaryJson(const WriteSummary& summary) {
  return {{"entries", summary.entries},
          {"value_bytes", summary.value_bytes},
          {"stored_bytes", summary.stored_bytes},
          {"objects", summary.objects}};
}

WriteSummary GetSummary(const json& value) {
  WriteSummary summary;
  summary.entries = value.at("entries").get<uint64_t>();
  summary.value_bytes = value.at("value_bytes").get<uint64_t>();
  summary.stored_bytes = value.at("stored_bytes").get<uint64_t>();
  summary.objects = value.at("objects").get<uint64_t>();
  return summary;
}

}  // namespace

Result<std::string> DumpJob(const json& value, int indent) {
  try {
    return DumpJson(value, indent);
  } catch (const json::exception&) {
    return InvalidArgument("a job is JSON text and cannot hold a name that is not UTF-8");
  }
}

std::string_view MessageOf(const json::exception& error) {
  // It begins with a name in brackets.
  const std::string_view text = error.what();
  const size_t bracket = text.find("] ");
  return bracket == std::string_view::npos ? text : text.substr(bracket + 2);
}

Result<std::string> ToText(const JobRecord& record) {
  DOLIUM_TRY(const json value, RecordJson(record));
  return DumpJob(value, 2);
}

Result<JobRecord> ParseJobRecord(std::string_view text) {
  return ParseJob(
      text, "the record of a job", [](const json& value) -> Result<JobRecord> {
        for (const char* former : kFormerRecords) {
          if (!value.is_object() || !value.contains(former)) continue;
          return Unsupported(
              "an earlier version of dolium began this; this one cannot go on");
        }
        DOLIUM_TRY_VOID(CheckVersion(value, "dolium_job", "a job", kRecordVersion));
        JobRecord record;
        record.kind = value.at("kind").get<std::string>();
        record.request = TextOf(value, "request");
        record.source = value.at("source").get<std::string>();
        record.parameters = TextOf(value, "parameters");
        record.replaces = value.at("replaces").get<std::string>();
        // It is put behind the path of a folder.
        if (record.replaces.find('/') != std::string::npos || record.replaces == "." ||
            record.replaces == "..") {
          return Corrupt(
              "not the record of a job: what it replaces is no name of a folder");
        }
        return record;
      });
}

std::optional<std::string> DifferenceOf(const JobRecord& found, const JobRecord& wanted) {
  if (found.kind != wanted.kind) return fmt::format("its kind is {}", found.kind);
  if (found.request == wanted.request) return std::nullopt;
  const auto a = ObjectOf(found.request, "request");
  const auto b = ObjectOf(wanted.request, "request");
  if (!a || !b) return "its request differs";
  for (const auto& [name, value] : a->items()) {
    const json other = b->value(name, json());
    if (value == other) continue;
    // Specs are whole files.
    if (name.ends_with("_spec")) return fmt::format("its {} differs", name);
    return fmt::format("its {} is {}, not {}", name, DumpJsonLossy(value),
                       DumpJsonLossy(other));
  }
  return "its request differs";
}

std::string JobId(std::string_view marker) {
  return fmt::format("{:016x}", StableHash(marker));
}

Result<std::string> FinishedText(const JobRecord& record, const JobReport& report) {
  // What a person or another writer named may not be UTF-8; the record itself is.
  DOLIUM_TRY(const json skipped, ParseJson(DumpJsonLossy(FindingsJson(report.skipped))));
  DOLIUM_TRY(json value, RecordJson(record));
  value["report"] = {{"written", SummaryJson(report.written)},
                     {"parts", report.parts},
                     {"skipped", skipped}};
  if (!report.details.empty()) value["report"]["details"] = report.details;
  return DumpJob(value, 2);
}

Result<JobReport> ParseFinishedReport(std::string_view text) {
  return ParseJob(text, "the record of a finished job",
                  [](const json& whole) -> Result<JobReport> {
                    const json& value = whole.at("report");
                    JobReport report;
                    report.written = GetSummary(value.at("written"));
                    report.parts = value.at("parts").get<uint64_t>();
                    report.skipped = GetFindings(value.at("skipped"));
                    report.details = value.value("details", report.details);
                    return report;
                  });
}

Result<std::string> ToText(const JobTask& task) {
  json value = {{"dolium_task", kTaskVersion}, {"kind", task.kind},
                {"folder", task.folder},       {"job", task.job},
                {"part", task.part},           {"stage", task.stage}};
  if (!task.detail.empty()) value["detail"] = task.detail;
  return DumpJob(value);
}

Result<JobTask> ParseTask(std::string_view text) {
  auto task = ParseJob(text, "a task", [](const json& value) -> Result<JobTask> {
    DOLIUM_TRY_VOID(CheckVersion(value, "dolium_task", "a task", kTaskVersion));
    JobTask parsed;
    value.at("kind").get_to(parsed.kind);
    value.at("folder").get_to(parsed.folder);
    value.at("job").get_to(parsed.job);
    parsed.part = value.at("part").get<uint64_t>();
    parsed.stage = value.at("stage").get<size_t>();
    parsed.detail = value.value("detail", "");
    return parsed;
  });
  // A task is an argument, not a file.
  if (!task && task.error().code == ErrorCode::kCorrupt) {
    return InvalidArgument(std::move(task).error().message);
  }
  return task;
}

std::string ToText(const PartReport& report) {
  json value = {{"written", SummaryJson(report.written)},
                {"skipped", FindingsJson(report.skipped)}};
  if (report.part) value["part"] = *report.part;
  if (!report.detail.empty()) value["detail"] = report.detail;
  if (report.is_last) value["last"] = true;
  return DumpJsonLossy(value);
}

Result<PartReport> ParsePartReport(std::string_view text) {
  return ParseJob(text, "the report of a part",
                  [](const json& value) -> Result<PartReport> {
                    PartReport report;
                    if (value.contains("part"))
                      report.part = value.at("part").get<uint64_t>();
                    report.written = GetSummary(value.at("written"));
                    report.skipped = GetFindings(value.at("skipped"));
                    report.detail = value.value("detail", "");
                    report.is_last = value.value("last", false);
                    return report;
                  });
}

}  // namespace dolium
