#include "dolium/ops/volume/volume_target.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/plan_folder.h"

namespace dolium::volume {
namespace {

// Where folders cannot be exchanged, a run that was killed between the two renames of a
// swap has left the old volume aside: puts it back.
Result<void> UndoHalfASwap(const Location& target) {
  const auto folders = SwapFolders::Of(target);
  if (!folders) return {};  // Not a local folder: nothing is swapped there.
  DOLIUM_TRY(const bool is_there, FolderExists(folders->target));
  DOLIUM_TRY(const bool is_aside, FolderExists(folders->aside));
  if (is_there || !is_aside) return {};
  return RenameFolder(folders->aside, folders->target);
}

// What a record of a job that is complete is named, in the bookkeeping.
constexpr std::string_view kRecordName = "complete";
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 20;

// The job whose record is in `home`; nullopt if there is none that we understand.
Result<std::optional<VolumeJob>> CompleteJobAt(const Location& home) {
  const Location object = PlanFolder(home).folder().Child(kRecordName);
  const auto whole = object.store->ReadWhole(object.path, kMaxRecordBytes);
  if (!whole && whole.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!whole) return whole.error();
  auto job = ParseVolumeJob(AsText(whole->bytes));
  if (!job) return std::nullopt;
  return *std::move(job);
}

bool IsSameJob(const std::optional<VolumeJob>& there, const VolumeJob& job) {
  return there && there->request == job.request && HaveSameSource(*there, job);
}

// Removes the folder of a scale. The marker goes last: while it is there, it can be told
// whose the rest is.
Result<void> DropScale(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != kMarkerName) fs::remove_all(entry->path(), error);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return SystemError(error.value(), "cannot remove").Within(folder);
  }
  return RemoveFolder(folder);
}

// Removes the scales of a job that adds them to the volume at `path`.
Result<void> DropJob(const std::string& path, const Location& home,
                     const VolumeInfo& info, std::string_view except) {
  const PlanFolder folder(home);
  DOLIUM_TRY(const auto lock, folder.FindLock());
  DOLIUM_TRY(const auto job, JobAt(home));
  if (!job || !job->adds || job->request == except) return {};
  // That of the first stage is `home`, so it comes last.
  for (size_t i = job->stages.size(); i-- > 0;) {
    const std::string& key = job->info.scales[job->stages[i].scale].key;
    const bool is_listed =
        std::ranges::find(info.scales, key, &ScaleInfo::key) != info.scales.end();
    // Keys that we choose are names. What else a marker may say is not to be trusted.
    const bool is_name = key.find('/') == std::string::npos && !key.starts_with('.');
    if (!is_listed && is_name) DOLIUM_TRY_VOID(DropScale(JoinPath(path, key)));
  }
  return {};
}

}  // namespace

Result<std::optional<VolumeJob>> JobAt(const Location& home) {
  DOLIUM_TRY(const auto marker, ReadMarker(home));
  if (!marker) return std::nullopt;
  auto job = ParseVolumeJob(*marker);
  if (!job) return std::nullopt;  // A conversion's, or another version's.
  return *std::move(job);
}

Result<void> CheckVolumeReplaceable(const Location& folder) {
  std::vector<std::string> expected = {std::string(kInfoName), "provenance"};
  // A key of several folders, or one that leads elsewhere, is none of those that go.
  const auto volume = Volume::Open(folder, /*allow_unfinished=*/true);
  if (volume && volume->folder().Describe() == folder.Describe()) {
    for (const ScaleInfo& scale : volume->info().scales) expected.push_back(scale.key);
  }
  if (const auto job = JobAt(folder); job && *job) {
    for (const ScaleInfo& scale : (*job)->info.scales) expected.push_back(scale.key);
  }
  std::optional<std::string> foreign;
  DOLIUM_TRY_VOID(folder.store->List(folder.path, [&](std::string_view name, bool) {
    if (!IsBookkeeping(name) && std::ranges::find(expected, name) == expected.end()) {
      foreign = name;
    }
    return !foreign;
  }));
  if (!foreign) return {};
  return Exists(
      fmt::format("{}: holds \"{}\", which is not part of a volume's scales; "
                  "move it away",
                  folder.Describe(), *foreign));
}

Error JobUnderWay(const Location& home) {
  return Exists(fmt::format(
      "{}: another job is under way here; repeat that one to finish it, or use --force",
      home.Describe()));
}

Result<void> RecordComplete(const Location& home, const VolumeJob& job) {
  DOLIUM_TRY(const std::string text, ToText(job));
  const Location object = PlanFolder(home).folder().Child(kRecordName);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, AsBytes(text), Precondition::None()));
  return {};
}

Result<void> TidyUpSwap(const SwapFolders& folders) {
  DOLIUM_TRY_VOID(RemoveReplaced(folders));
  DOLIUM_TRY(const Location target, ParseLocation(folders.target));
  return PlanFolder(target).Remove();
}

Result<std::optional<Location>> ChooseHome(const Location& target, bool force,
                                           VolumeJob& job) {
  DOLIUM_TRY_VOID(UndoHalfASwap(target));
  DOLIUM_TRY(const auto there, JobAt(target));
  if (IsSameJob(there, job)) return target;
  // Without --force, a source that has changed is an error when the job is begun.
  if (!force && there && there->request == job.request) return target;
  DOLIUM_TRY(const Occupancy occupancy, LookInto(target));
  DOLIUM_TRY(const auto marker, ReadMarker(target));
  if (occupancy != Occupancy::kOccupied && !marker) return target;
  if (!force) {
    if (marker) return JobUnderWay(target);
    return Exists(
        fmt::format("{}: is there already; --force replaces it", target.Describe()));
  }
  DOLIUM_TRY_VOID(CheckVolumeReplaceable(target));
  DOLIUM_TRY(const SwapFolders folders, SwapFolders::Of(target));
  DOLIUM_TRY(Location fresh, ParseLocation(folders.fresh));
  job.volume = folders.fresh;
  job.replaces = BaseName(folders.target);
  DOLIUM_TRY(const auto swapped, CompleteJobAt(target));
  if (swapped) DOLIUM_TRY_VOID(TidyUpSwap(folders));
  if (IsSameJob(swapped, job)) return std::nullopt;
  DOLIUM_TRY(auto building, JobAt(fresh));
  if (!building) {
    // Complete, and killed before it was swapped in: what remains is as under a marker.
    DOLIUM_TRY(building, CompleteJobAt(fresh));
    if (IsSameJob(building, job)) {
      DOLIUM_TRY(const std::string text, ToText(*building));
      DOLIUM_TRY_VOID(WriteMarker(fresh, text));
    }
  }
  if (!IsSameJob(building, job)) {
    // What an earlier run left there: unfinished, or replaced already.
    DOLIUM_TRY_VOID(RemoveReplaced(folders));
  }
  return fresh;
}

Result<void> DropUnfinishedScales(const Location& volume, const VolumeInfo& info,
                                  std::string_view except) {
  DOLIUM_TRY(const auto path, volume.store->LocalPath(volume.path));
  if (!path) {
    return Unsupported(volume.Describe() + ": scales are removed in local folders only");
  }
  std::vector<std::string> folders;
  DOLIUM_TRY_VOID(
      volume.store->List(volume.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && !IsBookkeeping(name)) folders.emplace_back(name);
        return true;
      }));
  for (const std::string& name : folders) {
    DOLIUM_TRY_VOID(DropJob(*path, volume.Child(name), info, except));
  }
  return {};
}

}  // namespace dolium::volume
