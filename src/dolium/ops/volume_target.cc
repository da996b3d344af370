#include "dolium/ops/volume_target.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/target_folder.h"

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

Result<Location> ChooseHome(const Location& target, bool force, VolumeJob& job) {
  DOLIUM_TRY_VOID(UndoHalfASwap(target));
  DOLIUM_TRY(const auto there, JobAt(target));
  if (there && there->request == job.request) return target;
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
  DOLIUM_TRY(const Location fresh, ParseLocation(folders.fresh));
  job.volume = folders.fresh;
  job.replaces = BaseName(folders.target);
  DOLIUM_TRY(const auto building, JobAt(fresh));
  if (!building || building->request != job.request) {
    // What an earlier run left there: unfinished, or replaced already.
    DOLIUM_TRY_VOID(RemoveReplaced(folders));
  }
  return fresh;
}

}  // namespace dolium::volume
