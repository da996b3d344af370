#include "dolium/ops/job/plan_record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dolium {
namespace {

using nlohmann::json;

constexpr uint64_t kVersion = 1;

// Exceptions of the JSON library end here.
Result<std::string> Dump(const json& value) {
  try {
    return value.dump(2);
  } catch (const json::exception&) {
    return InvalidArgument(
        "a plan is JSON text and cannot hold a name that is not UTF-8");
  }
}

// For people's eyes: what is not UTF-8 becomes a replacement character.
std::string DumpLossy(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Parses `text` and lets `read` pick it apart; what that throws is kCorrupt.
template <typename Read>
auto Parse(std::string_view text, std::string_view what, const Read& read)
    -> decltype(read(json())) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    // The text begins with the library's name for the error, in brackets.
    const std::string_view text_of_error = error.what();
    const size_t bracket = text_of_error.find("] ");
    return Corrupt(fmt::format("not {}: {}", what,
                               bracket == std::string_view::npos
                                   ? text_of_error
                                   : text_of_error.substr(bracket + 2)));
  }
}

Result<void> CheckVersion(const json& value, const char* name, std::string_view what) {
  const auto version = value.at(name).get<uint64_t>();
  if (version == kVersion) return {};
  return Unsupported(
      fmt::format("{} of version {}, not {}; another version of dolium began this", what,
                  version, kVersion));
}

json OptionalText(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}

std::optional<std::string> GetOptionalText(const json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<std::string>();
}

// All that makes a request what it is, by the names of its fields.
json RequestJson(const ConvertRequest& request) {
  return {{"source", request.source},
          {"source_format", request.source_format},
          {"source_spec", OptionalText(request.source_spec)},
          {"target", request.target},
          {"target_format", request.target_format},
          {"target_spec", OptionalText(request.target_spec)},
          {"parameters", request.parameters},
          {"skip_damaged", request.skip_damaged},
          {"allow_unfinished", request.allow_unfinished}};
}

ConvertRequest GetRequest(const json& value) {
  ConvertRequest request;
  request.source = value.at("source").get<std::string>();
  request.source_format = value.at("source_format").get<std::string>();
  request.source_spec = GetOptionalText(value.at("source_spec"));
  request.target = value.at("target").get<std::string>();
  request.target_format = value.at("target_format").get<std::string>();
  request.target_spec = GetOptionalText(value.at("target_spec"));
  value.at("parameters").get_to(request.parameters);
  request.skip_damaged = value.at("skip_damaged").get<bool>();
  request.allow_unfinished = value.at("allow_unfinished").get<bool>();
  return request;
}

json RecordJson(const PlanRecord& record) {
  return {{"dolium_plan", kVersion},
          {"operation", "convert"},
          {"request", RequestJson(record.request)},
          {"format", record.format},
          {"description", record.description},
          {"replaces", record.replaces},
          {"work_lists", record.lists},
          {"entries", record.entries},
          {"bytes", record.bytes}};
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

Result<std::string> ToText(const PlanRecord& record) { return Dump(RecordJson(record)); }

Result<PlanRecord> ParsePlanRecord(std::string_view text) {
  return Parse(text, "a plan", [](const json& value) -> Result<PlanRecord> {
    DOLIUM_TRY_VOID(CheckVersion(value, "dolium_plan", "a plan"));
    if (value.at("operation") != "convert")
      return Corrupt("not the plan of a conversion");
    PlanRecord record;
    record.request = GetRequest(value.at("request"));
    record.format = value.at("format").get<std::string>();
    record.description = value.at("description").get<std::string>();
    record.replaces = value.at("replaces").get<std::string>();
    record.lists = value.at("work_lists").get<uint64_t>();
    record.entries = value.at("entries").get<uint64_t>();
    record.bytes = value.at("bytes").get<uint64_t>();
    return record;
  });
}

std::optional<std::string> DifferenceOf(const ConvertRequest& found,
                                        const ConvertRequest& wanted) {
  const json a = RequestJson(found);
  const json b = RequestJson(wanted);
  for (const auto& [name, value] : a.items()) {
    if (value == b.at(name)) continue;
    // Specs are whole files.
    if (name.ends_with("_spec")) return fmt::format("its {} differs", name);
    return fmt::format("its {} is {}, not {}", name, DumpLossy(value),
                       DumpLossy(b.at(name)));
  }
  return std::nullopt;
}

Result<std::string> FinishedText(const PlanRecord& record, const ConvertReport& report) {
  // What a person or another writer named may not be UTF-8; the record itself is.
  const json skipped = json::parse(DumpLossy(FindingsJson(report.skipped)));
  json value = RecordJson(record);
  value["report"] = {{"written", SummaryJson(report.written)},
                     {"parts", report.parts},
                     {"skipped", skipped}};
  return Dump(value);
}

Result<ConvertReport> ParseFinishedReport(std::string_view text) {
  return Parse(text, "the record of a finished plan",
               [](const json& whole) -> Result<ConvertReport> {
                 const json& value = whole.at("report");
                 ConvertReport report;
                 report.written = GetSummary(value.at("written"));
                 report.parts = value.at("parts").get<uint64_t>();
                 report.skipped = GetFindings(value.at("skipped"));
                 return report;
               });
}

Result<std::string> ToText(const Task& task) {
  const json value = {{"dolium_task", kVersion},
                      {"operation", "convert"},
                      {"target", task.target},
                      {"part", task.part}};
  try {
    return value.dump();
  } catch (const json::exception&) {
    return InvalidArgument(
        "a task is JSON text and cannot hold a name that is not UTF-8");
  }
}

Result<Task> ParseTask(std::string_view text) {
  auto task = Parse(text, "a task", [](const json& value) -> Result<Task> {
    DOLIUM_TRY_VOID(CheckVersion(value, "dolium_task", "a task"));
    if (value.at("operation") != "convert") return Corrupt("not a task of a conversion");
    return Task{value.at("target").get<std::string>(), value.at("part").get<uint64_t>()};
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
  return DumpLossy(value);
}

Result<PartReport> ParsePartReport(std::string_view text) {
  return Parse(text, "the report of a part", [](const json& value) -> Result<PartReport> {
    PartReport report;
    if (value.contains("part")) report.part = value.at("part").get<uint64_t>();
    report.written = GetSummary(value.at("written"));
    report.skipped = GetFindings(value.at("skipped"));
    return report;
  });
}

}  // namespace dolium
