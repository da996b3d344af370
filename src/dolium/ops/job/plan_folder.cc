#include "dolium/ops/job/plan_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

constexpr std::string_view kFolderName = ".dolium-plan";
constexpr std::string_view kLockName = "lock";
constexpr std::string_view kRunningName = "running";
constexpr std::string_view kFinishedName = "finished";
constexpr std::string_view kDoneName = ".dolium-done";
constexpr std::string_view kCopyName = "finished-copy";
constexpr std::string_view kScanName = "scan";
constexpr std::string_view kPartPrefix = "part-";

// Reports grow with the damage that was met.
constexpr uint64_t kReportLimit = uint64_t{1} << 30;
// What ReadMarker() reads.
constexpr uint64_t kMarkerLimit = uint64_t{1} << 20;

constexpr int kLockAttempts = 8;

std::string ReportName(std::optional<uint64_t> part) {
  if (!part) return std::string(kScanName);
  return fmt::format("{}{}", kPartPrefix, *part);
}

// The part whose report has this name.
std::optional<uint64_t> PartOfReport(std::string_view name) {
  if (!name.starts_with(kPartPrefix)) return std::nullopt;
  name.remove_prefix(kPartPrefix.size());
  uint64_t part = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), part);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return part;
}

bool IsNotFound(const Error& error) { return error.code == ErrorCode::kNotFound; }

Result<void> PutText(const Location& object, std::string_view text,
                     const Precondition& precondition) {
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, AsBytes(text), precondition));
  return {};
}

}  // namespace

PlanFolder::PlanFolder(Location set)
    : set_(std::move(set)), folder_(set_.Child(kFolderName)) {}

Result<PlanFolder::State> PlanFolder::Load() const {
  State state;
  DOLIUM_TRY(const auto marker, ReadMarker(set_));
  if (marker) {
    state.phase = Phase::kUnderWay;
    auto record = ParseJobRecord(*marker);
    if (!record) {
      state.problem = std::move(record).error().message;
      return state;
    }
    state.id = JobId(*marker);
    state.record = *std::move(record);
  }
  const Location object = folder_.Child(kFinishedName);
  auto finished = object.store->ReadWhole(object.path, kReportLimit);
  if (!finished && IsNotFound(finished.error())) {
    const Location done = set_.Child(kDoneName);
    finished = done.store->ReadWhole(done.path, kReportLimit);
  }
  if (!finished) {
    if (IsNotFound(finished.error())) return state;
    return finished.error();
  }
  auto record = ParseJobRecord(AsText(finished->bytes));
  auto report = ParseFinishedReport(AsText(finished->bytes));
  // It appears whole, so one that cannot be read is not ours.
  if (!record || !report) return state;
  state.phase = marker ? Phase::kPartsDone : Phase::kFinished;
  state.record = *std::move(record);
  state.report = *std::move(report);
  return state;
}

Result<std::shared_ptr<void>> PlanFolder::FindLock() const {
  const Location object = folder_.Child(kLockName);
  return object.store->LockForRewrite(object.path);
}

Result<std::shared_ptr<void>> PlanFolder::MakeLock() const {
  // Another process may finish its plan, and remove its lock or the whole folder, between
  // any two steps.
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    const auto put = PutText(folder_.Child(kLockName), "", Precondition::Absent());
    const bool is_last = attempt + 1 == kLockAttempts;
    if (!put && put.error().code == ErrorCode::kNotFound && !is_last) continue;
    if (!put && put.error().code != ErrorCode::kExists) return put.error();
    DOLIUM_TRY(auto lock, FindLock());
    if (lock) return lock;
  }
  return std::shared_ptr<void>();
}

Result<std::shared_ptr<void>> PlanFolder::LockRun() const {
  const Location object = folder_.Child(kRunningName);
  auto lock = object.store->LockForRewrite(object.path, /*wait=*/false);
  if (lock || lock.error().code != ErrorCode::kUnavailable) return lock;
  return Unavailable(
      fmt::format("{}: another process is running this job (it holds the lock {}); wait "
                  "until it has ended",
                  set_.Describe(), object.Describe()));
}

Result<void> PlanFolder::CheckJob(std::string_view id) const {
  DOLIUM_TRY(const auto marker, ReadMarker(set_));
  if (marker && JobId(*marker) == id) return {};
  return Conflict(set_.Describe() +
                  ": the task belongs to another job than the one under way here");
}

Result<std::string> PlanFolder::MarkerText(const JobRecord& record) const {
  DOLIUM_TRY(std::string text, ToText(record));
  if (text.size() <= kMarkerLimit) return text;
  return InvalidArgument(fmt::format(
      "{}: the request takes {} bytes as text, with its specs; at most {} will do",
      set_.Describe(), text.size(), kMarkerLimit));
}

Result<void> PlanFolder::Begin(const JobRecord& record) const {
  DOLIUM_TRY(const std::string text, MarkerText(record));
  DOLIUM_TRY_VOID(PutText(folder_.Child(kRunningName), "", Precondition::None()));
  return PutText(set_.Child(kMarkerName), text, Precondition::Absent());
}

Result<void> PlanFolder::Rewrite(const JobRecord& record) const {
  DOLIUM_TRY(const std::string text, MarkerText(record));
  return PutText(set_.Child(kMarkerName), text, Precondition::None());
}

Result<void> PlanFolder::WriteReport(const PartReport& report) const {
  return PutText(folder_.Child(ReportName(report.part)), ToText(report),
                 Precondition::None());
}

Result<std::optional<PartReport>> PlanFolder::ReadReport(
    std::optional<uint64_t> part) const {
  const Location object = folder_.Child(ReportName(part));
  const auto whole = object.store->ReadWhole(object.path, kReportLimit);
  if (!whole) {
    if (IsNotFound(whole.error())) return std::nullopt;
    return whole.error();
  }
  DOLIUM_TRY(PartReport report,
             ParsePartReport(AsText(whole->bytes)).Within(object.Describe()));
  return report;
}

Result<std::vector<PartReport>> PlanFolder::ReadStream(
    const std::function<Result<bool>(const PartReport&)>& is_there) const {
  std::vector<PartReport> reports;
  while (reports.empty() || !reports.back().is_last) {
    DOLIUM_TRY(auto report, ReadReport(reports.size()));
    if (!report) break;
    report->part = reports.size();
    DOLIUM_TRY(const bool there, is_there(*report));
    if (!there) break;
    reports.push_back(*std::move(report));
  }
  return reports;
}

Result<std::vector<uint64_t>> PlanFolder::PartsDone() const {
  std::vector<uint64_t> parts;
  const auto listed = folder_.store->List(folder_.path, [&](std::string_view name, bool) {
    if (const auto part = PartOfReport(name)) parts.push_back(*part);
    return true;
  });
  if (!listed && !IsNotFound(listed.error())) return listed.error();
  std::sort(parts.begin(), parts.end());
  return parts;
}

Result<void> PlanFolder::Close(const JobRecord& record, const JobReport& report) const {
  DOLIUM_TRY(const std::string text, FinishedText(record, report));
  return PutText(folder_.Child(kFinishedName), text, Precondition::None());
}

Result<void> PlanFolder::RemoveLeftovers() const {
  DOLIUM_TRY_VOID(RemoveExcept(kLockName, ""));
  for (const Location& place : {set_, folder_}) {
    DOLIUM_TRY([[maybe_unused]] const size_t removed,
               place.store->RemoveStaleTemporaries(place.path));
  }
  return {};
}

Result<void> PlanFolder::Remove(const std::function<void()>& at_end) const {
  DOLIUM_TRY_VOID(RemoveExcept(kLockName, kFinishedName));
  DOLIUM_TRY([[maybe_unused]] const size_t removed,
             set_.store->RemoveStaleTemporaries(set_.path));
  DOLIUM_TRY_VOID(RemoveSpills(set_));
  const Location done = set_.Child(kDoneName);
  DOLIUM_TRY_VOID(CopyRecord(folder_.Child(kFinishedName), done));
  DOLIUM_TRY_VOID(RemoveIfThere(folder_.Child(kLockName)));
  DOLIUM_TRY_VOID(RemoveIfThere(folder_.Child(kFinishedName)));
  DOLIUM_TRY(const auto path, folder_.store->LocalPath(folder_.path));
  if (path) DOLIUM_TRY_VOID(RemoveFolder(*path));
  if (at_end) at_end();
  return RemoveIfThere(done);
}

Location PlanFolder::RecordBeside() const {
  // Not by the name itself, which may be as long as names can be.
  const std::string name =
      fmt::format("{}-{:016x}", kDoneName, StableHash(BaseName(set_.path), 0));
  return Location{set_.store, ParentPath(set_.path)}.Child(name);
}

Result<void> PlanFolder::RemoveAll(const std::function<void()>& at_end) const {
  DOLIUM_TRY(const auto path, set_.store->LocalPath(set_.path));
  DOLIUM_TRY_VOID(PutRecordBeside());
  // At once, so that another process never sees a part of it.
  DOLIUM_TRY(const std::string hidden, HideFolder(*path));
  DOLIUM_TRY_VOID(RemoveFolder(hidden));
  if (at_end) at_end();
  return RemoveIfThere(RecordBeside());
}

// Written in this folder and moved from it, so that a kill leaves nothing of it beside.
Result<void> PlanFolder::PutRecordBeside() const {
  const Location copy = folder_.Child(kCopyName);
  DOLIUM_TRY_VOID(CopyRecord(folder_.Child(kFinishedName), copy));
  DOLIUM_TRY(const auto written, copy.store->Stat(copy.path));
  if (!written) return {};
  const Location beside = RecordBeside();
  DOLIUM_TRY(const auto from, copy.store->LocalPath(copy.path));
  DOLIUM_TRY(const auto to, beside.store->LocalPath(beside.path));
  DOLIUM_TRY_VOID(MoveFile(*from, *to, /*replace=*/true));
  return SyncParents(*from, *to);
}

Result<void> PlanFolder::RestoreRecord() const {
  const Location beside = RecordBeside();
  DOLIUM_TRY(const auto path, beside.store->LocalPath(beside.path));
  if (path) DOLIUM_TRY_VOID(RemoveHidden(*path));
  DOLIUM_TRY(const State state, Load());
  if (state.phase == Phase::kNone) {
    DOLIUM_TRY_VOID(CopyRecord(beside, folder_.Child(kFinishedName)));
  }
  return RemoveIfThere(beside);
}

Result<void> PlanFolder::CopyRecord(const Location& from, const Location& to) const {
  const auto record = from.store->ReadWhole(from.path, kReportLimit);
  if (!record && IsNotFound(record.error())) return {};
  if (!record) return record.error();
  return PutText(to, AsText(record->bytes), Precondition::None());
}

Result<void> PlanFolder::RemoveExcept(std::string_view a, std::string_view b) const {
  std::vector<std::string> names;
  const auto listed = folder_.store->List(folder_.path, [&](std::string_view name, bool) {
    if (name != a && name != b) names.emplace_back(name);
    return true;
  });
  if (!listed) {
    if (IsNotFound(listed.error())) return {};
    return listed.error();
  }
  for (const std::string& name : names)
    DOLIUM_TRY_VOID(RemoveIfThere(folder_.Child(name)));
  return {};
}

Result<void> PlanFolder::RemoveIfThere(const Location& object) const {
  auto removed = object.store->Remove(object.path, Precondition::None());
  if (!removed && IsNotFound(removed.error())) return {};
  return removed;
}

}  // namespace dolium
