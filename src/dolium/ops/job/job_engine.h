// The engine of jobs: begins, resumes, runs and finishes what job.h describes.
//
// A set that replaces another is built beside it and swapped in (target_folder.h);
// plan_folder.h says what is kept where meanwhile. Killed at any point, the same request
// completes the job.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan_folder.h"

namespace dolium {

// A request for a job, on its way to becoming one.
class JobDraft {
 public:
  virtual ~JobDraft() = default;

  virtual std::string_view kind() const = 0;
  // As JobRecord has them.
  virtual const std::string& request() const = 0;
  virtual std::string source() const { return {}; }
  // The same, where finding it out means to look: asked for before Prepare(), and only if
  // it matters.
  virtual Result<std::string> FindSourceState() { return source(); }
  // As JobKind has it.
  virtual bool makes_files() const { return false; }
  // Whether the source can be read again. If not, what an earlier run made is dropped.
  virtual bool can_resume() const { return true; }

  // The parameters with which this request goes on with a job that another one began:
  // parts that it has made are as this one would make them. Nullopt if they may not be.
  virtual Result<std::optional<std::string>> TakeUp(const JobRecord& /*begun*/) const {
    return std::nullopt;
  }
  // Then Prepare() is called, and this before the record becomes that of this request: it
  // replaces what the bookkeeping says besides, the report of the scan.
  virtual Result<void> TakeOver(const PlanFolder& /*folder*/) { return {}; }

  // Called once it is known that there is nothing to resume, before all that follows; and
  // again, of a job that makes files, when nobody else can begin one there.
  virtual Result<void> Prepare() { return {}; }
  // As JobKind has it. Not for a job that makes files.
  virtual Result<void> CheckReplaceable(const Location& /*folder*/) const { return {}; }
  // Writes what the parts need into the bookkeeping. Returns JobRecord::parameters. An
  // error leaves no job behind.
  virtual Result<std::string> Plan(const PlanFolder& folder) = 0;
};

// A job that is there, with what is left to do.
struct OpenJob {
  PlanFolder folder;
  std::string location;  // of folder.set(), as every process knows it
  PlanFolder::State state;
  std::unique_ptr<Job> job;    // nullptr if finished
  std::vector<JobPart> parts;  // none once all are done
  // What an earlier run of the same request had made was dropped: its source has changed,
  // or cannot be read again.
  bool began_again = false;
  bool began = false;  // by this process, just now: it was not found

  uint64_t parts_total() const;
  uint64_t parts_done() const;
  uint64_t entries() const;  // of the parts
  uint64_t entries_done() const;
  // Tasks that are left to do, by stage. kUnsupported for a stream, which has none.
  Result<std::vector<std::vector<std::string>>> Tasks() const;
};

// Finds the job of this request, or one that it can take up, at the target, or beside it,
// or begins it. kExists,
// unless `force`, if the target is there or another request began something there; with
// `force`, if it holds what is not part of a set and would be lost. kConflict if the same
// request began with another state of the source, and not `force`. For a job that makes
// files, `target` is the first of them; a job of its own folder whose source has changed,
// or cannot be read again, is dropped.
Result<OpenJob> BeginJob(Formats formats, JobDraft& draft, const Location& target,
                         bool force, const RunOptions& options);

// The same in a folder that is not replaced, whatever there is.
Result<OpenJob> BeginJobIn(Formats formats, JobDraft& draft, const Location& folder,
                           const RunOptions& options);

// The job whose marker is, or was, in this folder. kNotFound if there is none.
Result<OpenJob> FindJob(Formats formats, const Location& folder,
                        const RunOptions& options);

// Makes the parts that are left, stage by stage, on `options.writer.jobs` threads that
// share its memory; then FinishJob(). kUnavailable if another process is at it.
Result<JobReport> RunJob(Formats formats, OpenJob& job, const RunOptions& options);

// How often a job begins whose source does not hold still.
inline constexpr uint64_t kMostBeginnings = 3;

// Begins a job and runs it. If its source changes meanwhile, and the job was not found
// but began here, it is dropped and begins again with what the source is then, up to
// kMostBeginnings times in all; then that is kConflict. `begin` gets whether it is to
// replace what the beginning before it left.
Result<JobReport> BeginAndRun(Formats formats,
                              const std::function<Result<OpenJob>(bool again)>& begin,
                              const RunOptions& options);

// After all tasks: checks that every part is there, writes what describes the set,
// removes marker and bookkeeping, and swaps the set into place if it replaces another.
Result<JobReport> FinishJob(Formats formats, const Location& folder,
                            const RunOptions& options);

// Removes a job that makes files, with the parts that it has, unless it has given way to
// another one.
Result<void> DropJob(const OpenJob& job);

// Runs a job that makes files. If it fails for a reason that stays (not for want of room,
// say), or cannot be resumed, nothing of it is left.
Result<JobReport> RunOrDropJob(OpenJob& job, const RunOptions& options, bool can_resume);

// Whether the object that a part leaves behind is there, if it leaves one.
Result<bool> IsPartThere(const Job& job, const PartReport& report);

// The job of a record.
Result<std::unique_ptr<Job>> OpenRecord(Formats formats, const Location& folder,
                                        const JobRecord& record);

// The error for a job whose parts were made of another state of the source.
Error SourceChangedError(const Location& folder);

// The error for a folder without a job that can go on.
Error NoJobError(const PlanFolder& folder, const PlanFolder::State& state);

// Puts a finished set in the place of the one that its record says it replaces, unless
// that has been done, and removes the old one and the bookkeeping. Returns the location
// of the set. kExists if the old set has got something by now that would be lost with it.
// Precondition: the folder's lock is held, as far as the store has locks.
Result<std::string> PutInPlace(Formats formats, const PlanFolder& folder,
                               const JobRecord& record, const RunOptions& options);

}  // namespace dolium
