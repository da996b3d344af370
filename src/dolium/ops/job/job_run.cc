// Running and finishing jobs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {
namespace {

using JobPhase = PlanFolder::Phase;

constexpr std::string_view kPartFolderPrefix = ".dolium-part-";

// Adds up the progress of parts that are made at once.
class ProgressSum {
 public:
  ProgressSum(const ProgressFunction& report, uint64_t entries_done,
              uint64_t total_entries)
      : report_(report), progress_{entries_done, total_entries, 0} {}

  void Add(uint64_t entries, uint64_t bytes) {
    if (!report_) return;
    const std::lock_guard lock(mutex_);
    progress_.entries += entries;
    progress_.bytes += bytes;
    report_(progress_);
  }

 private:
  const ProgressFunction& report_;
  std::mutex mutex_;
  Progress progress_;  // guarded by mutex_
};

Result<const JobKind*> KindOf(const Location& folder, const JobRecord& record) {
  for (const JobKind& kind : JobKinds()) {
    if (kind.name == record.kind) return &kind;
  }
  return Unsupported(fmt::format("{}: a job of the kind \"{}\", which is not known",
                                 folder.Describe(), record.kind));
}

void Reach(const RunOptions& options, JobStep step) {
  if (options.at_step) options.at_step(step);
}

// Makes one part and writes its report. The job may be dropped while a part is made, so
// it is looked for before and after.
Result<TaskReport> MakePart(const PlanFolder& folder, const std::string& id, Job& job,
                            const JobPart& part, const WriterOptions& writer,
                            ProgressSum& progress) {
  DOLIUM_TRY_VOID(folder.CheckJob(id));
  auto made = job.RunPart(part, {writer, [&](uint64_t entries, uint64_t bytes) {
                                   progress.Add(entries, bytes);
                                 }});
  if (!made) {
    Error error = std::move(made).error();
    if (error.code == ErrorCode::kConflict) {
      error.message += fmt::format(
          "; the source is not what the plan was made for: remove {} and begin again",
          folder.set().Describe());
    }
    return error;
  }
  DOLIUM_TRY_VOID(folder.CheckJob(id));
  DOLIUM_TRY_VOID(
      folder.WriteReport({part.number, made->written, made->skipped, made->detail}));
  return made;
}

// Makes the parts of a stream that are left.
Result<void> RunStreamParts(OpenJob& open, const RunOptions& options,
                            ProgressSum& progress) {
  const PlanFolder& folder = open.folder;
  DOLIUM_TRY(auto reports, folder.ReadStream([&](const PartReport& report) {
    return IsPartThere(*open.job, report);
  }));
  if (!reports.empty() && reports.back().is_last) return {};
  std::vector<TaskReport> done;
  done.reserve(reports.size());
  for (PartReport& report : reports) {
    done.push_back({report.written, std::move(report.skipped), std::move(report.detail)});
  }
  uint64_t next = done.size();
  DOLIUM_TRY_VOID(folder.CheckJob(open.state.id));
  return open.job->RunStream(
      done,
      {options.writer,
       [&](uint64_t entries, uint64_t bytes) { progress.Add(entries, bytes); }},
      [&](TaskReport part, bool is_last) -> Result<void> {
        DOLIUM_TRY_VOID(folder.CheckJob(open.state.id));
        return folder.WriteReport({next++, part.written, std::move(part.skipped),
                                   std::move(part.detail), is_last});
      });
}

Result<void> RunStage(OpenJob& open, std::span<const JobPart* const> parts,
                      const RunOptions& options, ProgressSum& progress) {
  const size_t all_threads =
      ThreadCount(options.writer.jobs, std::numeric_limits<size_t>::max());
  const size_t threads = ThreadCount(options.writer.jobs, parts.size());
  WriterOptions writer = options.writer;
  writer.jobs = std::max<size_t>(1, all_threads / threads);
  writer.memory = options.writer.memory / threads;
  return ParallelFor(
      parts.size(), threads,
      [&](size_t i) -> Result<void> {
        DOLIUM_TRY(
            [[maybe_unused]] const TaskReport report,
            MakePart(open.folder, open.state.id, *open.job, *parts[i], writer, progress));
        return {};
      },
      options.writer.stop);
}

Result<std::vector<PartReport>> ReadStreamReports(const PlanFolder& folder,
                                                  const Job& job) {
  DOLIUM_TRY(auto reports, folder.ReadStream([&](const PartReport& report) {
    return IsPartThere(job, report);
  }));
  if (!reports.empty() && reports.back().is_last) return reports;
  return NotFound(
      fmt::format("{}: {} parts are done, and others follow; repeat the request",
                  folder.set().Describe(), reports.size()));
}

// Those of all parts, after checking that every one is there.
Result<std::vector<PartReport>> ReadReports(const PlanFolder& folder, Job& job) {
  if (job.is_stream()) return ReadStreamReports(folder, job);
  std::vector<JobPart> parts;
  DOLIUM_TRY_VOID(job.Plan([&](JobPart part) { parts.push_back(std::move(part)); }));
  std::vector<PartReport> reports(parts.size());
  DOLIUM_TRY_VOID(ParallelFor(parts.size(), 0, [&](size_t i) -> Result<void> {
    const uint64_t part = parts[i].number;
    const auto name = [&] {
      const auto object = job.PartObject(part);
      return object ? object->Describe() : folder.set().Describe();
    };
    DOLIUM_TRY(auto report, folder.ReadReport(part));
    if (!report) {
      return NotFound(fmt::format("{}: part {} is not done; run its task", name(), part));
    }
    reports[i] = *std::move(report);
    reports[i].part = part;
    if (reports[i].written.entries == 0) return {};
    DOLIUM_TRY(const bool there, IsPartThere(job, reports[i]));
    if (there) return {};
    return NotFound(fmt::format("{}: part {} was made, but is gone; run its task again",
                                name(), part));
  }));
  return reports;
}

Result<JobReport> SumUp(const PlanFolder& folder, Job& job) {
  DOLIUM_TRY(auto reports, ReadReports(folder, job));
  JobReport sum;
  sum.parts = reports.size();
  DOLIUM_TRY(auto scan, folder.ReadReport(std::nullopt));
  // Several parts may read the same.
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  const auto add_skipped = [&](const std::vector<Finding>& skipped) {
    std::ranges::copy_if(
        skipped, std::back_inserter(sum.skipped), [&](const Finding& finding) {
          return seen.emplace(finding.object, finding.key, finding.message).second;
        });
  };
  if (scan) add_skipped(scan->skipped);
  for (PartReport& report : reports) {
    sum.written += report.written;
    add_skipped(report.skipped);
    sum.details.push_back(std::move(report.detail));
  }
  if (std::ranges::all_of(sum.details, &std::string::empty)) sum.details.clear();
  return sum;
}

// Whether the same request may succeed later, with what has been made.
bool MayGoOn(const OpenJob& job, ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled:
    case ErrorCode::kIo:
    case ErrorCode::kUnavailable:
      return true;
    case ErrorCode::kExists: {
      // What is in the way may be moved, or replaced: worth it if something has been
      // made.
      const auto state = job.folder.Load();
      const auto done = job.folder.PartsDone();
      return (state && state->phase != JobPhase::kUnderWay) || (done && !done->empty());
    }
    default:
      return false;
  }
}

// The files of a finished job, by the folders of its own that they lie in and their paths
// from there. What comes last is what people look for: the first file, or an index.
Result<void> VisitMade(
    const std::string& job_folder,
    const std::function<Result<void>(const std::string& folder, const std::string& path)>&
        visit) {
  std::vector<std::string> folders;
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator i(job_folder, error), end; !error && i != end;
       i.increment(error)) {
    std::string name = i->path().filename().native();
    if (name.starts_with(kPartFolderPrefix)) {
      folders.push_back(std::move(name));
    } else if (i->is_regular_file(error) && !IsBookkeeping(name) &&
               !IsInternalName(name)) {
      files.push_back(std::move(name));
    }
  }
  if (error) return SystemError(error.value(), "cannot list").Within(job_folder);
  std::ranges::sort(folders);
  std::ranges::sort(files, std::greater<>());
  for (const std::string& name : folders) {
    const std::string folder = JoinPath(job_folder, name);
    DOLIUM_TRY_VOID(
        VisitFiles(folder, [&](const std::string& path) { return visit(folder, path); }));
  }
  for (const std::string& name : files) DOLIUM_TRY_VOID(visit(job_folder, name));
  return {};
}

// Moves the files of a finished job into the folder that its own lies in.
Result<std::string> PutFilesInPlace(const PlanFolder& folder, const RunOptions& options) {
  const Location& set = folder.set();
  const Location parent{set.store, ParentPath(set.path)};
  DOLIUM_TRY(const auto job_folder, set.store->LocalPath(set.path));
  const std::string to = ParentPath(*job_folder);
  // Before the first is moved, so that as a rule all are, or none.
  DOLIUM_TRY_VOID(VisitMade(
      *job_folder, [&](const std::string&, const std::string& path) -> Result<void> {
        std::error_code error;
        const auto there =
            std::filesystem::symlink_status(JoinPath(to, path), error).type();
        if (options.replace_files || there == std::filesystem::file_type::not_found) {
          return {};
        }
        return Exists(parent.Child(path).Describe() + ": is there already")
            .WithHint(Hint::kReplace);
      }));
  std::string made = to;  // the folder that was seen to last
  bool is_first = true;
  bool is_tree = false;
  DOLIUM_TRY_VOID(VisitMade(
      *job_folder, [&](const std::string& from, const std::string& path) -> Result<void> {
        const std::string target = JoinPath(to, path);
        if (ParentPath(target) != made) {
          made = ParentPath(target);
          DOLIUM_TRY([[maybe_unused]] const UniqueFd opened,
                     MakeFolder(AT_FDCWD, made, /*sync=*/false).Within(made));
        }
        DOLIUM_TRY_VOID(MoveFile(JoinPath(from, path), target, options.replace_files));
        is_tree |= from != *job_folder;
        if (std::exchange(is_first, false)) Reach(options, JobStep::kOldMovedAside);
        return {};
      }));
  if (is_tree) {
    // There may be many folders.
    DOLIUM_TRY(const UniqueFd opened, OpenFolder(AT_FDCWD, to).Within(to));
    if (syncfs(opened.get()) != 0) {
      return SystemError(errno, "cannot write to the disk").Within(to);
    }
  } else {
    DOLIUM_TRY_VOID(SyncParents(JoinPath(*job_folder, "x"), *job_folder));
  }
  Reach(options, JobStep::kSwapped);
  Reach(options, JobStep::kOldRemoved);
  DOLIUM_TRY_VOID(folder.RemoveAll([&] { Reach(options, JobStep::kTidied); }));
  return PortableText(parent, parent.Describe());
}

}  // namespace

std::string PartFolderName(uint64_t part) {
  // Of one width, so that they are in order by name.
  return fmt::format("{}{:020}", kPartFolderPrefix, part);
}

Result<void> Job::PrepareRun(const WriterOptions& /*options*/) { return {}; }

std::optional<Location> Job::PartObject(uint64_t /*part*/) const { return std::nullopt; }

Result<std::optional<std::string>> Job::FindSourceState(
    const WriterOptions& /*options*/) const {
  return std::nullopt;
}

Result<bool> Job::IsComplete() const { return false; }

Result<void> Job::RunStream(std::span<const TaskReport> /*done*/,
                            const PartContext& /*context*/, const StreamSink& /*sink*/) {
  return Unsupported("the job is no stream");
}

Result<bool> IsPartThere(const Job& job, const PartReport& report) {
  const auto object = job.PartObject(*report.part);
  if (!object) return true;
  DOLIUM_TRY(const auto info, object->store->Stat(object->path));
  return info.has_value();
}

Result<void> DropJob(const OpenJob& job) {
  const PlanFolder& folder = job.folder;
  DOLIUM_TRY(const auto path, folder.set().store->LocalPath(folder.set().path));
  DOLIUM_TRY(const auto running, folder.LockRun());
  DOLIUM_TRY(const auto lock, folder.FindLock());
  DOLIUM_TRY(const auto state, folder.Load());
  const bool is_same =
      state.record && job.state.record && !DifferenceOf(*state.record, *job.state.record);
  if (!path || !is_same) return {};
  return RemoveFolder(*path);
}

Result<JobReport> RunOrDropJob(OpenJob& job, const RunOptions& options, bool can_resume) {
  auto ran = RunJob({}, job, options);
  if (ran || (can_resume && MayGoOn(job, ran.error().code))) return ran;
  // The first error is the one to know of; a rerun removes what is left.
  [[maybe_unused]] const auto dropped = DropJob(job);
  return ran;
}

Result<std::unique_ptr<Job>> OpenRecord(Formats formats, const Location& folder,
                                        const JobRecord& record) {
  DOLIUM_TRY(const JobKind* kind, KindOf(folder, record));
  return kind->open(formats, folder, record);
}

Error SourceChangedError(const Location& folder) {
  return Conflict(fmt::format("{}: its source has changed since the job began",
                              folder.Describe()))
      .WithHint(Hint::kReplace);
}

Error NoJobError(const PlanFolder& folder, const PlanFolder::State& state) {
  if (state.phase == JobPhase::kNone || state.problem.empty()) {
    return NotFound(folder.set().Describe() +
                    ": no job is under way here; it is complete, or was removed");
  }
  return Unsupported(fmt::format("{}: {}; remove the folder and begin again",
                                 folder.set().Child(kMarkerName).Describe(),
                                 state.problem));
}

Result<TaskReport> RunTask(Formats formats, std::string_view task,
                           const RunOptions& options) {
  DOLIUM_TRY(const JobTask parsed, ParseTask(task));
  DOLIUM_TRY(const Location set, ParseLocation(parsed.folder));
  const PlanFolder folder(set);
  DOLIUM_TRY(const auto state, folder.Load());
  if (!state.record || state.phase == JobPhase::kFinished) {
    return NoJobError(folder, state);
  }
  DOLIUM_TRY_VOID(folder.CheckJob(parsed.job));
  DOLIUM_TRY(const auto job, OpenRecord(formats, set, *state.record));
  ProgressSum progress(options.progress, 0, 0);
  JobPart part;
  part.number = parsed.part;
  part.stage = parsed.stage;
  part.detail = parsed.detail;
  return MakePart(folder, parsed.job, *job, part, options.writer, progress);
}

Result<size_t> StageOf(std::string_view task) {
  DOLIUM_TRY(const JobTask parsed, ParseTask(task));
  return parsed.stage;
}

namespace {

// Makes the parts that are left.
Result<void> RunParts(OpenJob& open, const RunOptions& options) {
  std::vector<std::vector<const JobPart*>> stages;
  for (const JobPart& part : open.parts) {
    if (part.done) continue;
    if (stages.size() <= part.stage) stages.resize(part.stage + 1);
    stages[part.stage].push_back(&part);
  }
  if (!stages.empty()) DOLIUM_TRY_VOID(open.job->PrepareRun(options.writer));
  ProgressSum progress(options.progress, open.entries_done(), open.entries());
  if (open.job && open.job->is_stream() && open.state.phase == JobPhase::kUnderWay) {
    DOLIUM_TRY_VOID(RunStreamParts(open, options, progress));
  }
  for (const std::vector<const JobPart*>& parts : stages) {
    if (!parts.empty()) DOLIUM_TRY_VOID(RunStage(open, parts, options, progress));
  }
  return {};
}

// What is wrong with a part, if that is not that it was read from two states.
Error WithoutMixture(const OpenJob& open, const RunOptions& options, Error error) {
  const bool may_be_mixed = error.code == ErrorCode::kConflict ||
                            error.code == ErrorCode::kNotFound ||
                            error.code == ErrorCode::kCorrupt;
  if (!may_be_mixed) return error;
  const auto now = open.job->FindSourceState(options.writer);
  if (!now || !*now || **now == open.state.record->source) return error;
  return SourceChangedError(open.folder.set());
}

}  // namespace

Result<JobReport> RunJob(Formats formats, OpenJob& open, const RunOptions& options) {
  DOLIUM_TRY(const auto running, open.folder.LockRun());
  DOLIUM_TRY(const auto state, open.folder.Load());
  if (!state.record) return NoJobError(open.folder, state);
  auto made = RunParts(open, options);
  if (!made) return WithoutMixture(open, options, std::move(made).error());
  DOLIUM_TRY(JobReport report, FinishJob(formats, open.folder.set(), options));
  report.parts_done_before = open.parts_done();
  return report;
}

Result<JobReport> FinishJob(Formats formats, const Location& location,
                            const RunOptions& options) {
  const PlanFolder folder(location);
  // Only one process at a time may swap folders; a second one finds nothing left to do.
  DOLIUM_TRY(const auto lock, folder.FindLock());
  DOLIUM_TRY(auto state, folder.Load());
  if (!state.record) return NoJobError(folder, state);
  const JobRecord& record = *state.record;
  if (state.phase != JobPhase::kFinished) {
    DOLIUM_TRY(const auto job, OpenRecord(formats, location, record));
    if (state.phase == JobPhase::kUnderWay) {
      DOLIUM_TRY(const bool complete, job->IsComplete());
      if (!complete) {
        // First, for parts may be planned from what the source has.
        DOLIUM_TRY(const auto source, job->FindSourceState(options.writer));
        if (source && *source != record.source) return SourceChangedError(location);
        DOLIUM_TRY(state.report, SumUp(folder, *job));
      }
      Reach(options, JobStep::kPartsMade);
      DOLIUM_TRY_VOID(folder.Close(record, state.report));
      Reach(options, JobStep::kClosed);
    }
    DOLIUM_TRY_VOID(job->Finish());
    Reach(options, JobStep::kDescribed);
    DOLIUM_TRY_VOID(RemoveMarker(location));
    Reach(options, JobStep::kMarkerRemoved);
  }
  DOLIUM_TRY(state.report.target, PutInPlace(formats, folder, record, options));
  return std::move(state.report);
}

Result<std::string> PutInPlace(Formats formats, const PlanFolder& folder,
                               const JobRecord& record, const RunOptions& options) {
  DOLIUM_TRY(const JobKind* kind, KindOf(folder.set(), record));
  if (kind->makes_files) return PutFilesInPlace(folder, options);
  if (record.replaces.empty()) {
    DOLIUM_TRY(std::string location, PortableText(folder.set(), folder.set().Describe()));
    DOLIUM_TRY_VOID(folder.Remove([&] { Reach(options, JobStep::kTidied); }));
    // A job whose folder is bookkeeping itself leaves nothing of it.
    if (IsBookkeeping(BaseName(folder.set().path))) {
      DOLIUM_TRY_VOID(RemoveFolder(location));
    }
    return location;
  }
  DOLIUM_TRY(const SwapFolders here, SwapFolders::Of(folder.set()));
  const SwapFolders folders =
      SwapFolders::Beside(JoinPath(ParentPath(here.target), record.replaces));
  const Location target{folder.set().store, folders.target};
  if (here.target != folders.target) {
    DOLIUM_TRY_VOID(kind->check_replaceable(formats, record, target));
    DOLIUM_TRY_VOID(SwapIn(folders, options.exchange_folders,
                           [&] { Reach(options, JobStep::kOldMovedAside); }));
  }
  Reach(options, JobStep::kSwapped);
  DOLIUM_TRY_VOID(RemoveReplaced(folders));
  Reach(options, JobStep::kOldRemoved);
  DOLIUM_TRY_VOID(PlanFolder(target).Remove([&] { Reach(options, JobStep::kTidied); }));
  return folders.target;
}

}  // namespace dolium
