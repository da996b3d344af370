#include "cli/findings.h"

#include <fmt/format.h>

#include "cli/terminal/size.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kShownOfKind = 100;
constexpr uint64_t kShownOfObject = 10;

}  // namespace

bool FindingPrinter::IsShown(const Finding& finding) {
  if (context_.terminal.json() || context_.arguments.Has("all-findings")) return true;
  const std::string kind(finding.kind);
  uint64_t& shown = shown_[kind];
  if (shown < kShownOfKind && of_object_[{kind, finding.object}]++ < kShownOfObject) {
    ++shown;
    return true;
  }
  ++held_back_[kind];
  return false;
}

void FindingPrinter::Show(const Finding& finding) const {
  const bool is_warning = finding.severity == Severity::kWarning;
  const std::string label = is_warning ? "warning: " : label_;
  Terminal& terminal = context_.terminal;
  if (output_ == Output::kReports) {
    terminal.Report(Corrupt(FindingLine(finding, label)),
                    is_warning ? Json::object() : Context::FindingMembers(finding));
  } else if (terminal.json()) {
    terminal.JsonLine(is_warning ? "warning" : "bad", Context::FindingMembers(finding));
  } else {
    terminal.Line(FindingLine(finding, label));
  }
}

void FindingPrinter::Add(const Finding& finding) {
  if (finding.severity == Severity::kWarning && context_.arguments.Has("quiet")) return;
  const std::lock_guard lock(mutex_);
  if (IsShown(finding)) Show(finding);
}

void FindingPrinter::Finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& [kind, count] : held_back_) {
    const std::string line = fmt::format(
        "{} more of kind \"{}\"; --all-findings shows them", FormatCount(count), kind);
    if (output_ == Output::kReports) {
      context_.terminal.Report(Corrupt(line));
    } else {
      context_.terminal.Line(line);
    }
  }
  held_back_.clear();
}

ExitStatus StatusOfErrors(uint64_t errors, uint64_t unreadable) {
  if (errors == 0) return ExitStatus::kGood;
  return errors == unreadable ? ExitStatus::kUnreadable : ExitStatus::kBad;
}

Json SummaryMembers(const CheckSummary& summary) {
  return {{"location", summary.location},     {"good", summary.is_good},
          {"objects", summary.objects},       {"entries", summary.entries},
          {"bytes_read", summary.bytes_read}, {"errors", summary.errors},
          {"unreadable", summary.unreadable}, {"warnings", summary.warnings},
          {"counts", summary.counts}};
}

}  // namespace dolium::cli
