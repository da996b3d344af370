// PlanFolder: the bookkeeping of a job, beside the parts of the set that it makes.
//
//   <set>/.dolium-plan/lock      held by whoever plans or finishes
//   <set>/.dolium-plan/running   held by whoever runs the job as a whole
//   <set>/.dolium-plan/work-<n>  work lists
//   <set>/.dolium-plan/scan      what the scan of the source had to leave out
//   <set>/.dolium-unfinished     the marker: the JobRecord
//   <set>/.dolium-plan/part-<n>  the report of part n; the part is done once it is there
//   <set>/.dolium-plan/finished  the record and the report of all parts, once all are
//   done
//   <set>/.dolium-done           the same, while the folder above is removed
//   .dolium-done-<hash>          the same, beside <set>, while <set> is removed
//
// They appear in this order, each atomically, and vanish so that a plan that is killed at
// any point is recognised: without a marker, work lists are leftovers of a planner that
// died; with one, the plan is under way; with `finished` beside it, no task is left to be
// done; `finished` alone means that the set is complete, and only the swap and the
// tidying up may remain. The record is the last thing to go, and a single file by then:
// as long as anything of the job is there, its request is known to be carried out.
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
#include "dolium/ops/job/job_record.h"

namespace dolium {

// Holds no state but the place; copies are cheap. Safe to use from many threads.
class PlanFolder {
 public:
  explicit PlanFolder(Location set);

  const Location& set() const { return set_; }
  const Location& folder() const { return folder_; }

  enum class Phase : uint8_t { kNone, kUnderWay, kPartsDone, kFinished };
  struct State {
    Phase phase = Phase::kNone;
    // nullopt if none, or if the marker is not that of a job which we understand.
    std::optional<JobRecord> record;
    std::string problem;  // why it is not understood
    std::string id;       // of the job, while the marker is there
    JobReport report;     // if parts done or finished
  };
  Result<State> Load() const;

  // Waits until no other process plans or finishes here; released with the answer.
  // nullptr where the store has no locks. MakeLock puts the lock there if need be;
  // FindLock does not.
  Result<std::shared_ptr<void>> MakeLock() const;
  Result<std::shared_ptr<void>> FindLock() const;

  // Held by a process while it runs the job as a whole, or removes it. kUnavailable if
  // another one does; nullptr where the store has no locks, and if there is no job.
  Result<std::shared_ptr<void>> LockRun() const;

  // kConflict unless the marker is there, and that of the job with this id.
  Result<void> CheckJob(std::string_view id) const;

  // Writes the marker. kExists if there is one.
  Result<void> Begin(const JobRecord& record) const;
  // Replaces the marker. Precondition: both locks are held, as far as the store has any.
  Result<void> Rewrite(const JobRecord& record) const;

  Result<void> WriteReport(const PartReport& report) const;
  // That of the scan, or of a part: empty if there is none.
  Result<std::optional<PartReport>> ReadReport(std::optional<uint64_t> part) const;
  // Those of the parts of a stream, from the first on, as far as `is_there` says that
  // what they are about is there.
  Result<std::vector<PartReport>> ReadStream(
      const std::function<Result<bool>(const PartReport&)>& is_there) const;
  // The parts that have one, in order.
  Result<std::vector<uint64_t>> PartsDone() const;

  // All parts are done: writes `finished`.
  Result<void> Close(const JobRecord& record, const JobReport& report) const;

  // Removes what a planner or writers that died left behind; the lock stays.
  Result<void> RemoveLeftovers() const;
  // Removes all but the marker; `at_end` is called when only the record is left.
  Result<void> Remove(const std::function<void()>& at_end = {}) const;

  // Of a job that makes files, whose folder goes with its bookkeeping: removes both.
  // Precondition: the job is finished, and its folder local.
  Result<void> RemoveAll(const std::function<void()>& at_end) const;
  // Puts the record back where Load() finds it, if RemoveAll() was cut short.
  Result<void> RestoreRecord() const;

 private:
  Result<std::string> MarkerText(const JobRecord& record) const;
  Result<void> RemoveExcept(std::string_view a, std::string_view b) const;
  Result<void> RemoveIfThere(const Location& object) const;
  // Copies the record of a finished job; without one, nothing.
  Result<void> CopyRecord(const Location& from, const Location& to) const;
  Location RecordBeside() const;
  Result<void> PutRecordBeside() const;

  Location set_;
  Location folder_;
};

}  // namespace dolium
