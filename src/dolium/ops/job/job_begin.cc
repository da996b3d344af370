// Beginning and resuming jobs.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {
namespace {

using Phase = PlanFolder::Phase;

// Marks the parts whose report and object are both there.
Result<void> MarkDone(OpenJob& open, size_t jobs) {
  DOLIUM_TRY(const bool complete, open.job->IsComplete());
  DOLIUM_TRY(const std::vector<uint64_t> reported, open.folder.PartsDone());
  return ParallelFor(open.parts.size(), jobs, [&](size_t i) -> Result<void> {
    JobPart& part = open.parts[i];
    part.done = complete || std::ranges::binary_search(reported, part.number);
    const auto object = part.done ? open.job->PartObject(part.number) : std::nullopt;
    if (!object) return {};
    DOLIUM_TRY(const auto info, object->store->Stat(object->path));
    part.done = info.has_value();
    return {};
  });
}

// The parts of a stream that are done are all that are known of it.
Result<void> FindStreamParts(OpenJob& open) {
  DOLIUM_TRY(const auto reports,
             open.folder.ReadStream([&](const PartReport& report) -> Result<bool> {
               return IsPartThere(*open.job, report);
             }));
  for (const PartReport& report : reports) {
    JobPart part;
    part.number = *report.part;
    part.entries = report.written.entries;
    part.done = true;
    open.parts.push_back(std::move(part));
  }
  return {};
}

Result<OpenJob> OpenState(Formats formats, const PlanFolder& folder,
                          PlanFolder::State state, const RunOptions& options) {
  OpenJob open{folder, {}, std::move(state), nullptr, {}, false};
  const Location& set = folder.set();
  DOLIUM_TRY(open.location, PortableText(set, set.Describe()));
  // A job that is finished needs its source no more.
  if (open.state.phase == Phase::kFinished) return open;
  DOLIUM_TRY(open.job, OpenRecord(formats, set, *open.state.record));
  if (open.state.phase != Phase::kUnderWay) return open;
  if (open.job->is_stream()) {
    DOLIUM_TRY_VOID(FindStreamParts(open));
    return open;
  }
  DOLIUM_TRY_VOID(
      open.job->Plan([&](JobPart part) { open.parts.push_back(std::move(part)); }));
  DOLIUM_TRY_VOID(MarkDone(open, options.writer.jobs));
  return open;
}

class Beginner {
 public:
  Beginner(Formats formats, JobDraft& draft, Location target, bool force,
           const RunOptions& options)
      : formats_(formats),
        draft_(draft),
        target_(std::move(target)),
        force_(force),
        options_(options) {
    record_.kind = draft.kind();
    record_.request = draft.request();
  }

  Result<OpenJob> Run() {
    if (draft_.makes_files()) return RunBeside();
    DOLIUM_TRY(auto found, force_ ? FindForced() : Find());
    if (found) return *std::move(found);
    DOLIUM_TRY_VOID(Prepare());
    DOLIUM_TRY(const Location place, ChoosePlace());
    return BeginIn(PlanFolder(place));
  }

  // Of a job that makes files: in a folder of its own beside them.
  Result<OpenJob> RunBeside() {
    const PlanFolder folder(FolderBeside(target_));
    DOLIUM_TRY(const auto path, folder.set().store->LocalPath(folder.set().path));
    if (!path) {
      return Unsupported(target_.Describe() +
                         ": cannot be written; only local files can be");
    }
    DOLIUM_TRY_VOID(RemoveHidden(*path));
    DOLIUM_TRY_VOID(folder.RestoreRecord());
    DOLIUM_TRY(auto state, folder.Load());
    DOLIUM_TRY(const bool can_resume, CanResume(state));
    if (can_resume && draft_.can_resume()) {
      return OpenState(formats_, folder, std::move(state), options_);
    }
    if (state.phase == Phase::kFinished) {
      DOLIUM_TRY_VOID(Complete(folder));
    } else if (IsUnderWay(state) && !IsSame(state) && !force_) {
      return OtherRequestError(folder.set(), state, /*is_replaceable=*/true);
    }
    // What a job that was ending, or being removed, left is in the way of nobody.
    if (!IsUnderWay(state)) DOLIUM_TRY_VOID(RemoveBeside(folder, state.id));
    DOLIUM_TRY_VOID(Prepare());
    // Parts that are of no use.
    if (IsUnderWay(state)) DOLIUM_TRY_VOID(RemoveBeside(folder, state.id));
    DOLIUM_TRY(OpenJob open, BeginIn(folder));
    open.began_again = IsUnderWay(state) && IsSame(state);
    return open;
  }

  // Unless another process has begun a job there meanwhile.
  Result<void> RemoveBeside(const PlanFolder& folder, const std::string& id) {
    DOLIUM_TRY_VOID(CheckOnlyFiles(folder.set()));
    DOLIUM_TRY(const auto path, folder.set().store->LocalPath(folder.set().path));
    DOLIUM_TRY(const auto running, folder.LockRun());
    DOLIUM_TRY(const auto lock, folder.FindLock());
    DOLIUM_TRY(const auto state, folder.Load());
    if (!path || state.id != id) return {};
    return RemoveFolder(*path);
  }

  Result<OpenJob> RunHere() {
    const PlanFolder folder(target_);
    DOLIUM_TRY(auto state, LoadAndTakeUp(folder));
    if (IsUnderWay(state) && !IsSame(state)) {
      // With force, the caller would have dropped it before.
      return OtherRequestError(target_, state, /*is_replaceable=*/true);
    }
    DOLIUM_TRY_VOID(CheckSource(state));
    if (IsSame(state)) return OpenState(formats_, folder, std::move(state), options_);
    DOLIUM_TRY_VOID(Prepare());
    return BeginIn(folder);
  }

 private:
  static bool IsUnderWay(const PlanFolder::State& state) {
    return state.phase == Phase::kUnderWay || state.phase == Phase::kPartsDone;
  }
  // Of the same request, whatever its source was like.
  bool IsSame(const PlanFolder::State& state) const {
    return state.record && !DifferenceOf(*state.record, record_);
  }
  // Before the source is read: what is read later is to be of this state.
  Result<void> FindSource() {
    if (source_found_) return {};
    DOLIUM_TRY(record_.source, draft_.FindSourceState());
    source_found_ = true;
    return {};
  }
  Result<void> Prepare() {
    DOLIUM_TRY_VOID(FindSource());
    return draft_.Prepare();
  }
  Result<bool> HasSameSource(const PlanFolder::State& state) {
    const auto found = FindSource();
    // Once all parts are made, it may be gone.
    if (!found && state.phase != Phase::kUnderWay) return true;
    if (!found) return found.error();
    return state.record->source == record_.source;
  }
  Result<bool> CanResume(const PlanFolder::State& state) {
    if (!IsSame(state)) return false;
    return HasSameSource(state);
  }

  // The state of a folder, after a job there that this request can go on with has become
  // that of this request.
  Result<PlanFolder::State> LoadAndTakeUp(const PlanFolder& folder) {
    DOLIUM_TRY(auto state, folder.Load());
    if (state.phase != Phase::kUnderWay || !state.record || IsSame(state)) return state;
    if (state.record->kind != record_.kind) return state;
    DOLIUM_TRY(auto parameters, draft_.TakeUp(*state.record));
    if (!parameters) return state;
    DOLIUM_TRY(const bool has_same_source, HasSameSource(state));
    if (!has_same_source) return state;
    DOLIUM_TRY_VOID(draft_.Prepare());
    DOLIUM_TRY(const auto running, folder.LockRun());
    DOLIUM_TRY(const auto lock, folder.FindLock());
    DOLIUM_TRY(auto now, folder.Load());
    if (now.phase != state.phase || now.id != state.id) return now;
    DOLIUM_TRY_VOID(draft_.TakeOver(folder));
    now.record->request = record_.request;
    now.record->parameters = *std::move(parameters);
    DOLIUM_TRY_VOID(folder.Rewrite(*now.record));
    return folder.Load();
  }

  Result<void> CheckSource(const PlanFolder::State& state) {
    if (!IsUnderWay(state) || !IsSame(state)) return {};
    DOLIUM_TRY(const bool is_same, HasSameSource(state));
    if (is_same) return {};
    return SourceChangedError(target_);
  }

  // `is_replaceable`: whether force would replace what is there.
  Error OtherRequestError(const Location& place, const PlanFolder::State& state,
                          bool is_replaceable) const {
    const std::string why =
        state.record ? DifferenceOf(*state.record, record_).value_or("its source differs")
                     : state.problem;
    return Exists(fmt::format("{}: holds an unfinished set, begun by another request "
                              "({}); another job is under way here: repeat that request "
                              "to finish it{}",
                              place.Describe(), why,
                              is_replaceable ? "" : ", or remove the folder"))
        .WithHint(is_replaceable ? Hint::kReplace : Hint::kNone);
  }

  Result<std::optional<OpenJob>> Open(const PlanFolder& folder, PlanFolder::State state) {
    DOLIUM_TRY(OpenJob open, OpenState(formats_, folder, std::move(state), options_));
    return open;
  }

  Result<std::optional<OpenJob>> Find() {
    const PlanFolder folder(target_);
    DOLIUM_TRY(const auto state, LoadAndTakeUp(folder));
    DOLIUM_TRY_VOID(CheckSource(state));
    DOLIUM_TRY(const bool can_resume, CanResume(state));
    if (can_resume) return Open(folder, state);
    if (IsUnderWay(state)) {
      // Its parts may be of another format than what force may replace.
      const bool is_replaceable =
          Prepare().has_value() && draft_.CheckReplaceable(target_).has_value();
      return OtherRequestError(target_, state, is_replaceable);
    }
    DOLIUM_TRY(const Occupancy occupancy, InspectFolder(target_));
    if (occupancy == Occupancy::kOccupied) {
      // A run that was killed while it tidied up may have left an empty folder.
      if (state.phase == Phase::kNone) DOLIUM_TRY_VOID(folder.Remove());
      return Exists(target_.Describe() + ": is there already").WithHint(Hint::kReplace);
    }
    return CheckNotBeingReplaced(occupancy);
  }

  // Between the two renames of a swap without exchange, the target is absent.
  Result<std::optional<OpenJob>> CheckNotBeingReplaced(Occupancy occupancy) {
    DOLIUM_TRY(const auto path, target_.store->LocalPath(target_.path));
    if (!path || occupancy != Occupancy::kAbsent) return std::nullopt;
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    DOLIUM_TRY(const Occupancy aside, InspectFolder({target_.store, folders.aside}));
    if (aside == Occupancy::kAbsent) return std::nullopt;
    return Exists(fmt::format("{}: was being replaced when that was cut short (its old "
                              "contents are in {}); begin the same replacement again to "
                              "finish it",
                              target_.Describe(), folders.aside))
        .WithHint(Hint::kReplace);
  }

  Result<std::optional<OpenJob>> FindForced() {
    const PlanFolder folder(target_);
    DOLIUM_TRY(const auto state, LoadAndTakeUp(folder));
    DOLIUM_TRY(const bool can_resume, CanResume(state));
    if (can_resume) return Open(folder, state);
    DOLIUM_TRY(const auto path, target_.store->LocalPath(target_.path));
    if (!path) return std::nullopt;
    if (state.phase == Phase::kFinished) DOLIUM_TRY_VOID(Complete(folder));
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    const PlanFolder fresh(Location{target_.store, folders.fresh});
    DOLIUM_TRY(const auto fresh_state, LoadAndTakeUp(fresh));
    DOLIUM_TRY(const bool can_resume_fresh, CanResume(fresh_state));
    if (can_resume_fresh) return Open(fresh, fresh_state);
    if (fresh_state.phase == Phase::kFinished) {
      DOLIUM_TRY_VOID(Complete(fresh));
    } else if (IsSame(fresh_state)) {
      // What was made of another state of the source is of no use.
      DOLIUM_TRY(const auto running, fresh.LockRun());
      DOLIUM_TRY(const auto lock, fresh.FindLock());
      DOLIUM_TRY_VOID(RemoveFolder(folders.fresh));
    } else if (fresh_state.phase != Phase::kNone) {
      return OtherRequestError(fresh.set(), fresh_state, /*is_replaceable=*/false);
    }
    return std::nullopt;
  }

  // Does what is left of another job whose set is complete.
  Result<void> Complete(const PlanFolder& folder) {
    DOLIUM_TRY(const auto lock, folder.FindLock());
    DOLIUM_TRY(const auto state, folder.Load());
    if (state.phase != Phase::kFinished) return {};
    DOLIUM_TRY([[maybe_unused]] const std::string location,
               PutInPlace(formats_, folder, *state.record, options_));
    return {};
  }

  // Where to build the set: at the target, or beside one that is to be replaced.
  Result<Location> ChoosePlace() {
    DOLIUM_TRY(const auto state, PlanFolder(target_).Load());
    DOLIUM_TRY(const Occupancy occupancy, InspectFolder(target_));
    if (occupancy != Occupancy::kOccupied && state.phase == Phase::kNone) return target_;
    if (!force_) return OtherRequestError(target_, state, /*is_replaceable=*/true);
    DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target_));
    DOLIUM_TRY_VOID(draft_.CheckReplaceable(target_));
    const Location fresh{target_.store, folders.fresh};
    DOLIUM_TRY(const Occupancy leftover, InspectFolder(fresh));
    if (leftover == Occupancy::kOccupied) {
      // Parts without a job, of a writer that died on either side of its own swap.
      DOLIUM_TRY_VOID(draft_.CheckReplaceable(fresh));
      DOLIUM_TRY_VOID(RemoveFolder(folders.fresh));
    }
    record_.replaces = BaseName(folders.target);
    return fresh;
  }

  Result<OpenJob> BeginIn(const PlanFolder& folder) {
    DOLIUM_TRY(const Occupancy before, InspectFolder(folder.set()));
    DOLIUM_TRY(const auto lock, folder.MakeLock());
    // Another process may have been at it until the lock was ours.
    DOLIUM_TRY(const auto state, folder.Load());
    if (state.phase != Phase::kNone) {
      DOLIUM_TRY(const bool can_resume, CanResume(state));
      if (!can_resume) return OtherRequestError(folder.set(), state, !force_);
    }
    if (state.phase == Phase::kNone) {
      if (draft_.makes_files()) DOLIUM_TRY_VOID(CheckStillFree(folder));
      auto written = WriteRecord(folder);
      if (!written) {
        Undo(folder, before, written.error());
        return std::move(written).error();
      }
    }
    DOLIUM_TRY(auto ready, folder.Load());
    DOLIUM_TRY(OpenJob open, OpenState(formats_, folder, std::move(ready), options_));
    open.began = state.phase == Phase::kNone;
    return open;
  }

  // Another process may have completed the same job until the lock was ours.
  Result<void> CheckStillFree(const PlanFolder& folder) {
    auto free = draft_.Prepare();
    if (free) return free;
    DOLIUM_TRY(const auto path, folder.set().store->LocalPath(folder.set().path));
    if (path) DOLIUM_TRY_VOID(RemoveFolder(*path));
    return free;
  }

  // Leaves things as they were before planning; what cannot be removed, a rerun will.
  static void Undo(const PlanFolder& folder, Occupancy before, const Error& error) {
    if (error.code == ErrorCode::kExists) return;
    if (!folder.Remove() || before != Occupancy::kAbsent) return;
    const auto path = folder.set().store->LocalPath(folder.set().path);
    std::error_code ignored;
    if (path && *path) std::filesystem::remove(**path, ignored);
  }

  Result<void> WriteRecord(const PlanFolder& folder) {
    DOLIUM_TRY(const Occupancy occupancy, InspectFolder(folder.set()));
    if (occupancy == Occupancy::kOccupied) {
      return Exists(folder.set().Describe() +
                    ": holds something that is not part of a job; move it away");
    }
    DOLIUM_TRY_VOID(folder.RemoveLeftovers());
    DOLIUM_TRY(record_.parameters, draft_.Plan(folder));
    return folder.Begin(record_);
  }

  const Formats formats_;
  JobDraft& draft_;
  const Location target_;
  const bool force_;
  const RunOptions& options_;
  JobRecord record_;
  bool source_found_ = false;  // and is in record_
};

}  // namespace

uint64_t OpenJob::parts_total() const {
  return state.phase == Phase::kUnderWay ? parts.size() : state.report.parts;
}

uint64_t OpenJob::parts_done() const {
  if (state.phase != Phase::kUnderWay) return state.report.parts;
  return static_cast<uint64_t>(std::ranges::count_if(parts, &JobPart::done));
}

uint64_t OpenJob::entries() const {
  if (state.phase != Phase::kUnderWay) return state.report.written.entries;
  uint64_t sum = 0;
  for (const JobPart& part : parts) sum += part.entries;
  return sum;
}

uint64_t OpenJob::entries_done() const {
  if (state.phase != Phase::kUnderWay) return state.report.written.entries;
  uint64_t sum = 0;
  for (const JobPart& part : parts) sum += part.done ? part.entries : 0;
  return sum;
}

Result<std::vector<std::vector<std::string>>> OpenJob::Tasks() const {
  if (job && job->is_stream()) {
    return Unsupported(
        fmt::format("{}: its parts become known only while it runs, one after another; "
                    "it has no tasks for other processes",
                    location));
  }
  std::vector<std::vector<std::string>> stages;
  for (const JobPart& part : parts) {
    if (stages.size() <= part.stage) stages.resize(part.stage + 1);
    if (part.done) continue;
    DOLIUM_TRY(std::string text, ToText(JobTask{state.record->kind, location, state.id,
                                                part.number, part.stage, part.detail}));
    stages[part.stage].push_back(std::move(text));
  }
  return stages;
}

Result<OpenJob> BeginJob(Formats formats, JobDraft& draft, const Location& target,
                         bool force, const RunOptions& options) {
  return Beginner(formats, draft, target, force, options).Run();
}

Result<OpenJob> BeginJobIn(Formats formats, JobDraft& draft, const Location& folder,
                           const RunOptions& options) {
  return Beginner(formats, draft, folder, /*force=*/false, options).RunHere();
}

Result<OpenJob> FindJob(Formats formats, const Location& location,
                        const RunOptions& options) {
  const PlanFolder folder(location);
  DOLIUM_TRY(auto state, folder.Load());
  if (!state.record) return NoJobError(folder, state);
  return OpenState(formats, folder, std::move(state), options);
}

}  // namespace dolium
