// Job: bulk work as independent parts whose outputs appear atomically.
//
// The engine (job_engine.h) owns marker, record, reports, resume, force and swap, lock,
// progress, stop requests, tasks and the report of all. A kind of job says only what its
// parts are, how one is made, and what describes the whole; it is a row of JobKinds().
//
// A part may be made by any process, in any order within its stage, any number of times;
// its output appears atomically, and doing it twice does no harm. Parts of a stage may
// need those of the stages before it.
//
// A stream is a job whose parts become known only while they are made: one after another,
// by one process, from a source that is read front to back. What describes a part that is
// done says where the source stood, so that a rerun goes on behind the last of them.
//
// A job makes a folder, or files among others: then it works in a folder of its own
// beside them, `<target>.dolium-new`, and its files are moved into place when all are
// there. A part of such a job may be a tree of files: it leaves them in the folder
// PartFolderName(), and they keep their paths from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/container/format.h"
#include "dolium/container/progress.h"
#include "dolium/container/writer.h"

namespace dolium {

struct JobRecord;

// The end of a job, step by step. What follows a step has not begun when it is reported.
enum class JobStep : uint8_t {
  kPartsMade,      // all parts are there, and their reports
  kClosed,         // the report of all is written
  kDescribed,      // so is what describes the set
  kMarkerRemoved,  // the set is complete; only the swap and the tidying up remain
  kOldMovedAside,  // where folders cannot be exchanged: between the two renames; of a
                   // job that makes files: the first of them is in its place
  kSwapped,        // the new set is in its place; the old one is still there
  kOldRemoved,     // the bookkeeping is all that is left, or its folder
  kTidied,         // the record is all that is left
};

struct RunOptions {
  WriterOptions writer;
  ProgressFunction progress;
  bool replace_files = false;  // those that are in the way of a job that makes files
  // For tests: called at each step, and whether folders may be exchanged at once.
  std::function<void(JobStep)> at_step = {};
  bool exchange_folders = true;
};

struct JobPart {
  uint64_t number = 0;  // stages have ascending numbers
  size_t stage = 0;
  uint64_t entries = 0;     // as progress counts them
  uint64_t bytes = 0;       // stored, in the source, where that is known
  std::string detail = {};  // what RunPart() wants to know besides; travels with the task
  bool done = false;        // the engine's
};
using PartSink = std::function<void(JobPart)>;

struct TaskReport {
  WriteSummary written;
  std::vector<Finding> skipped;  // damaged entries that were left out
  std::string detail = {};       // what the kind wants to know of the part later
};
// Takes what was made of the next part of a stream, whose output has appeared.
using StreamSink = std::function<Result<void>(TaskReport part, bool is_last)>;

struct JobReport {
  WriteSummary written;  // by all runs
  uint64_t parts = 0;
  uint64_t parts_done_before = 0;
  std::vector<Finding> skipped;           // by the scan, then in order of part and key
  std::vector<std::string> details = {};  // of the parts, in order, if one has any
  std::string target = {};                // location of the finished set
  size_t scales = 0;                      // of a new volume
  uint64_t beginnings = 1;                // more if its source has changed meanwhile
};

// What a part is made with.
struct PartContext {
  WriterOptions writer;
  // To be called with how much more is done; from any thread.
  std::function<void(uint64_t entries, uint64_t bytes)> progress;
};

// A job that is under way, as its record describes it. All methods but PrepareRun() may
// be called from many threads.
class Job {
 public:
  virtual ~Job() = default;

  // Visits all parts, done or not, in order of number.
  virtual Result<void> Plan(const PartSink& sink) = 0;

  // Before many parts are made by this process.
  virtual Result<void> PrepareRun(const WriterOptions& options);

  // Whether it is a stream: then Plan() and RunPart() are not called, RunStream() is.
  virtual bool is_stream() const { return false; }
  // Makes the parts that follow those that are done, in order. `done` are their reports,
  // from part 0 on, and do not hold the last one.
  virtual Result<void> RunStream(std::span<const TaskReport> done,
                                 const PartContext& context, const StreamSink& sink);

  // Makes a part. kConflict if the source is no longer what the job was planned for,
  // kUnavailable if a part that it needs is not done yet, kInvalidArgument if there is no
  // such part.
  virtual Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) = 0;

  // The object that a part with entries leaves behind, if it is one: without it the part
  // is not done, whatever its report says.
  virtual std::optional<Location> PartObject(uint64_t part) const;

  // The state of what it reads, as its record has it, as it is now: of a job that has it
  // compared before its result appears.
  virtual Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const;

  // Location of what the result becomes a part of; nullopt: it is a thing of its own.
  virtual std::optional<std::string> AddsTo() const { return std::nullopt; }

  // Whether Finish() has been called, as far as the result shows.
  virtual Result<bool> IsComplete() const;

  // Writes what describes the set, and removes what killed parts left in it. May be
  // repeated.
  virtual Result<void> Finish() = 0;
};

// A row of the table of kinds.
struct JobKind {
  std::string_view name;
  // The job with this record, whose marker is, or was, in `folder`.
  Result<std::unique_ptr<Job>> (*open)(Formats formats, const Location& folder,
                                       const JobRecord& record);
  // kExists if a folder that such a job replaces holds something that is not part of such
  // a set, and would be lost with it. An absent folder holds nothing. The source may be
  // gone by then. nullptr if it makes files.
  Result<void> (*check_replaceable)(Formats formats, const JobRecord& record,
                                    const Location& folder);
  bool makes_files = false;  // and not a folder
};

// Where, in the folder of its job, a part leaves what is a tree of files.
std::string PartFolderName(uint64_t part);

// All kinds of jobs that there are.
std::span<const JobKind> JobKinds();

// Does one task, a line of text that a plan gave. Any process, any order, any number of
// times. kNotFound if its job is not under way, kConflict if another one is.
Result<TaskReport> RunTask(Formats formats, std::string_view task,
                           const RunOptions& options);

// The stage of a task: those of a stage may need all of the stages before it.
Result<size_t> StageOf(std::string_view task);

}  // namespace dolium
