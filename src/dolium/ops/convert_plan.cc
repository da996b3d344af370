#include "dolium/ops/convert_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/container/entry_error.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/scan_source.h"

namespace dolium {
namespace {

using PlanPhase = PlanFolder::Phase;

// Marks the parts whose report and object are both there.
Result<void> MarkDone(const PlanFolder& folder, const Target& target, size_t jobs,
                      std::vector<PlannedPart>& parts) {
  DOLIUM_TRY(const std::vector<uint64_t> reported, folder.PartsDone());
  return ParallelFor(parts.size(), jobs, [&](size_t i) -> Result<void> {
    PlannedPart& part = parts[i];
    if (!std::binary_search(reported.begin(), reported.end(), part.part)) return {};
    DOLIUM_TRY(const auto info, folder.set().store->Stat(target.PartObject(part.part)));
    part.done = info.has_value();
    return {};
  });
}

class Planner {
 public:
  Planner(Formats formats, const ConvertRequest& request, const RunOptions& options)
      : formats_(formats), request_(request), options_(options) {}

  Result<OpenPlan> Run() {
    DOLIUM_TRY_VOID(Resolve());
    DOLIUM_TRY(auto found, request_.force ? FindForcedPlan() : FindPlan());
    if (found) return *std::move(found);
    DOLIUM_TRY_VOID(OpenSource());
    DOLIUM_TRY(const Location place, ChoosePlace());
    return PlanIn(PlanFolder(place));
  }

 private:
  Result<void> Resolve() {
    DOLIUM_TRY(const Location source, ParseLocation(request_.source));
    DOLIUM_TRY(const Location target, ParseLocation(request_.target));
    DOLIUM_TRY_VOID(CheckApart(source, target));
    // Names in plans must mean the same to processes that run elsewhere.
    DOLIUM_TRY(request_.source, PortableText(source, request_.source));
    DOLIUM_TRY(request_.target, PortableText(target, request_.target));
    DOLIUM_TRY(source_location_, ParseLocation(request_.source));
    DOLIUM_TRY(target_, ParseLocation(request_.target));
    return {};
  }

  bool IsSame(const PlanFolder::State& state) const {
    return state.record && !DifferenceOf(state.record->request, request_);
  }

  Error OtherRequestError(const Location& place, const PlanFolder::State& state) const {
    std::string why;
    if (state.record) {
      why = fmt::format(" ({})",
                        DifferenceOf(state.record->request, request_).value_or(""));
    }
    return Exists(
        fmt::format("{}: holds an unfinished set that another request began{}; repeat "
                    "that request to finish it, or {}",
                    place.Describe(), why,
                    request_.force ? "remove the folder" : "use --force to replace it"));
  }

  Result<std::optional<OpenPlan>> FindPlan() {
    const PlanFolder folder(target_);
    DOLIUM_TRY(const auto state, folder.Load());
    if (IsSame(state)) return Open(folder, state);
    if (state.phase == PlanPhase::kUnderWay || state.phase == PlanPhase::kPartsDone) {
      return OtherRequestError(target_, state);
    }
    DOLIUM_TRY(const Occupancy occupancy, LookInto(target_));
    if (occupancy == Occupancy::kOccupied) {
      // A run that was killed while it tidied up may have left an empty folder.
      if (state.phase == PlanPhase::kNone) DOLIUM_TRY_VOID(folder.Remove());
      return Exists(target_.Describe() + ": is there already; use --force to replace it");
    }
    return CheckNotBeingReplaced(occupancy);
  }

  // Between the two renames of a swap without exchange, the target is absent.
  Result<std::optional<OpenPlan>> CheckNotBeingReplaced(Occupancy occupancy) {
    DOLIUM_TRY(const auto path, target_.store->LocalPath(target_.path));
    if (!path || occupancy != Occupancy::kAbsent) return std::nullopt;
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    DOLIUM_TRY(const Occupancy aside, LookInto({target_.store, folders.aside}));
    if (aside == Occupancy::kAbsent) return std::nullopt;
    return Exists(
        fmt::format("{}: was being replaced when that was cut short (its old contents "
                    "are in {}); repeat that request with --force to finish it",
                    target_.Describe(), folders.aside));
  }

  Result<std::optional<OpenPlan>> FindForcedPlan() {
    const PlanFolder folder(target_);
    DOLIUM_TRY(const auto state, folder.Load());
    if (IsSame(state)) return Open(folder, state);
    DOLIUM_TRY(const auto path, target_.store->LocalPath(target_.path));
    if (!path) return std::nullopt;
    if (state.phase == PlanPhase::kFinished) DOLIUM_TRY_VOID(CompleteOther(folder));
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    const PlanFolder fresh(Location{target_.store, folders.fresh});
    DOLIUM_TRY(const auto fresh_state, fresh.Load());
    if (IsSame(fresh_state)) return Open(fresh, fresh_state);
    if (fresh_state.phase == PlanPhase::kFinished) {
      DOLIUM_TRY_VOID(CompleteOther(fresh));
    } else if (fresh_state.phase != PlanPhase::kNone) {
      return OtherRequestError(fresh.set(), fresh_state);
    }
    return std::nullopt;
  }

  // Does what is left of another request whose set is complete.
  Result<void> CompleteOther(const PlanFolder& folder) {
    DOLIUM_TRY(const auto lock, folder.FindLock());
    DOLIUM_TRY(const auto state, folder.Load());
    if (state.phase != PlanPhase::kFinished) return {};
    return PutInPlace(formats_, folder, *state.record);
  }

  Result<std::optional<OpenPlan>> Open(const PlanFolder& folder,
                                       PlanFolder::State state) {
    OpenPlan plan{folder, {}, std::move(state), {}, {}};
    DOLIUM_TRY(plan.target, PortableText(folder.set(), request_.target));
    if (plan.state.phase != PlanPhase::kUnderWay) return plan;
    const PlanRecord& record = *plan.state.record;
    DOLIUM_TRY(plan.lists, OpenWorkLists(folder, record));
    DOLIUM_TRY(plan.parts, PartsOf(plan.lists));
    DOLIUM_TRY(const Format* format, FindFormat(formats_, record.format));
    DOLIUM_TRY(const auto target, format->reopen(folder.set(), record.description));
    DOLIUM_TRY_VOID(MarkDone(folder, *target, options_.writer.jobs, plan.parts));
    return plan;
  }

  Result<void> OpenSource() {
    OpenOptions options;
    options.spec = request_.source_spec;
    options.allow_unfinished = request_.allow_unfinished;
    DOLIUM_TRY(source_, OpenContainer(formats_, source_location_, request_.source_format,
                                      options));
    const std::string_view name =
        request_.target_format.empty() ? source_->format_name() : request_.target_format;
    DOLIUM_TRY(format_, FindFormat(formats_, name));
    return {};
  }

  // Where to build the set: at the target, or beside one that is to be replaced.
  Result<Location> ChoosePlace() {
    DOLIUM_TRY(const auto state, PlanFolder(target_).Load());
    DOLIUM_TRY(const Occupancy occupancy, LookInto(target_));
    if (occupancy != Occupancy::kOccupied && state.phase == PlanPhase::kNone)
      return target_;
    if (!request_.force) return OtherRequestError(target_, state);
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    DOLIUM_TRY_VOID(CheckReplaceable(target_, *format_));
    const Location fresh{target_.store, folders.fresh};
    DOLIUM_TRY(const Occupancy leftover, LookInto(fresh));
    if (leftover == Occupancy::kOccupied) {
      // Parts without a plan, of a writer that died on either side of its own swap.
      DOLIUM_TRY_VOID(CheckReplaceable(fresh, *format_));
      DOLIUM_TRY_VOID(RemoveFolder(folders.fresh));
    }
    replaces_ = BaseName(folders.target);
    return fresh;
  }

  Result<OpenPlan> PlanIn(const PlanFolder& folder) {
    DOLIUM_TRY(const Occupancy before, LookInto(folder.set()));
    DOLIUM_TRY(const auto lock, folder.MakeLock());
    // Another process may have been at it until the lock was ours.
    DOLIUM_TRY(const auto state, folder.Load());
    if (state.phase != PlanPhase::kNone && !IsSame(state)) {
      return OtherRequestError(folder.set(), state);
    }
    if (state.phase == PlanPhase::kNone) {
      auto planned = WritePlan(folder);
      if (!planned) {
        Undo(folder, before, planned.error());
        return std::move(planned).error();
      }
    }
    DOLIUM_TRY(const auto ready, folder.Load());
    DOLIUM_TRY(auto plan, Open(folder, ready));
    return *std::move(plan);
  }

  // Leaves things as they were before planning; what cannot be removed, a rerun will.
  void Undo(const PlanFolder& folder, Occupancy before, const Error& error) const {
    if (error.code == ErrorCode::kExists) return;
    if (!folder.Remove() || before != Occupancy::kAbsent) return;
    const auto path = folder.set().store->LocalPath(folder.set().path);
    std::error_code ignored;
    if (path && *path) std::filesystem::remove(**path, ignored);
  }

  Result<void> WritePlan(const PlanFolder& folder) {
    DOLIUM_TRY(const Occupancy occupancy, LookInto(folder.set()));
    if (occupancy == Occupancy::kOccupied) {
      return Exists(folder.set().Describe() +
                    ": holds something that is not part of a plan; move it away");
    }
    DOLIUM_TRY_VOID(folder.RemoveLeftovers());
    DOLIUM_TRY(const auto target, CreateTarget(folder.set()));
    WorkListWriter lists(folder.folder(), options_.writer.memory);
    PartReport scan;
    DOLIUM_TRY(
        scan.skipped,
        ScanSource(*source_, ScanOptions(), [&](const Entry& entry) -> Result<void> {
          const auto part = target->PartOf(entry.key);
          if (part) return lists.Add(*part, entry);
          return EntryError(source_location_.Describe(), entry.key, part.error());
        }));
    DOLIUM_TRY(const auto summary, lists.Finish());
    if (!scan.skipped.empty()) DOLIUM_TRY_VOID(folder.WriteReport(scan));

    PlanRecord record;
    record.request = request_;
    record.format = format_->name;
    record.description = target->Describe();
    record.replaces = replaces_;
    record.lists = summary.lists;
    record.entries = summary.entries;
    record.bytes = summary.bytes;
    return folder.Begin(record);
  }

  Result<std::unique_ptr<Target>> CreateTarget(const Location& place) const {
    CreateOptions create;
    create.spec = request_.target_spec;
    create.parameters = request_.parameters;
    create.like = source_.get();
    // A spec leaves nothing to choose, and so nothing to count for.
    if (!create.spec) DOLIUM_TRY_VOID(CountEntries(create));
    return format_->create(place, create);
  }

  Result<void> CountEntries(CreateOptions& create) const {
    std::mutex mutex;
    DOLIUM_TRY(
        [[maybe_unused]] const auto skipped,
        ScanSource(*source_, ScanOptions(), [&](const Entry& entry) -> Result<void> {
          const uint64_t bytes = PayloadBytes(entry);
          const std::lock_guard lock(mutex);
          create.expected_entries += 1;
          create.expected_bytes = SaturatingAdd(create.expected_bytes, bytes);
          create.largest_entry = std::max(create.largest_entry, bytes);
          return {};
        }));
    return {};
  }

  ScanSourceOptions ScanOptions() const {
    return {options_.writer.jobs, request_.skip_damaged, options_.writer.stop};
  }

  const Formats formats_;
  ConvertRequest request_;
  const RunOptions& options_;
  Location source_location_;
  Location target_;
  std::unique_ptr<Container> source_;
  const Format* format_ = nullptr;
  std::string replaces_;
};

}  // namespace

Result<OpenPlan> PreparePlan(Formats formats, const ConvertRequest& request,
                             const RunOptions& options) {
  return Planner(formats, request, options).Run();
}

Result<std::vector<WorkList>> OpenWorkLists(const PlanFolder& folder,
                                            const PlanRecord& record) {
  std::vector<WorkList> lists;
  for (uint64_t i = 0; i < record.lists; ++i) {
    DOLIUM_TRY(WorkList list, WorkList::Open(WorkList::ObjectOf(folder.folder(), i)));
    lists.push_back(std::move(list));
  }
  return lists;
}

Result<std::vector<PlannedPart>> PartsOf(std::span<const WorkList> lists) {
  std::map<uint64_t, PlannedPart> sums;
  for (const WorkList& list : lists) {
    DOLIUM_TRY_VOID(list.ForEachShare([&](const PartShare& share) {
      PlannedPart& sum = sums[share.part];
      sum.part = share.part;
      sum.entries = SaturatingAdd(sum.entries, share.entries);
      sum.bytes = SaturatingAdd(sum.bytes, share.bytes);
    }));
  }
  std::vector<PlannedPart> parts;
  parts.reserve(sums.size());
  for (const auto& [part, sum] : sums) parts.push_back(sum);
  return parts;
}

Result<void> PutInPlace(Formats formats, const PlanFolder& folder,
                        const PlanRecord& record) {
  if (record.replaces.empty()) return folder.Remove();
  DOLIUM_TRY(const SwapFolders here, SwapFolders::Of(folder.set()));
  const SwapFolders folders =
      SwapFolders::Beside(JoinPath(ParentPath(here.target), record.replaces));
  const Location target{folder.set().store, folders.target};
  if (here.target != folders.target) {
    DOLIUM_TRY(const Format* format, FindFormat(formats, record.format));
    DOLIUM_TRY_VOID(CheckReplaceable(target, *format));
    DOLIUM_TRY_VOID(SwapIn(folders));
  }
  DOLIUM_TRY_VOID(RemoveReplaced(folders));
  return PlanFolder(target).Remove();
}

}  // namespace dolium
