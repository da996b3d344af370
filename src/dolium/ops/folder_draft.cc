#include "dolium/ops/folder_draft.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

// Removes all but the marker.
Result<void> ClearDraft(const Location& folder) {
  std::vector<std::pair<std::string, bool>> names;
  DOLIUM_TRY_VOID(
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (name != kMarkerName) names.emplace_back(name, is_folder);
        return true;
      }));
  for (const auto& [name, is_folder] : names) {
    const std::string path = JoinPath(folder.path, name);
    if (!is_folder) {
      DOLIUM_TRY_VOID(folder.store->Remove(path, Precondition::None()));
      continue;
    }
    DOLIUM_TRY(const auto local, folder.store->LocalPath(path));
    if (local) DOLIUM_TRY_VOID(RemoveFolder(*local));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<FolderDraft>> FolderDraft::Begin(const Location& target,
                                                        bool replace,
                                                        std::string_view operation,
                                                        const Check& check_replaceable) {
  DOLIUM_TRY(const Occupancy occupancy, InspectFolder(target));
  DOLIUM_TRY(const auto marker, ReadMarker(target));
  if (marker) return UnfinishedError(target);
  if (occupancy == Occupancy::kOccupied) {
    if (!replace) {
      return Exists(target.Describe() + ": is there already").WithHint(Hint::kReplace);
    }
    DOLIUM_TRY_VOID(check_replaceable(target));
  }
  DOLIUM_TRY(SwapFolders swap, SwapFolders::Of(target));
  DOLIUM_TRY(const Location fresh, ParseLocation(swap.fresh));
  std::unique_ptr<FolderDraft> draft(new FolderDraft(std::move(swap), fresh));
  const std::string object = JoinPath(fresh.path, kMarkerName);
  const std::string text = DumpJson(nlohmann::json{{"operation", operation}}, 2);
  // The marker may be that of a writer at work, which holds it.
  auto put = fresh.store->Put(object, AsBytes(text), Precondition::Absent());
  if (!put) {
    if (put.error().code != ErrorCode::kExists) return std::move(put).error();
    DOLIUM_TRY(const auto old, ReadMarker(fresh));
    if (old && *old != text) return UnfinishedError(fresh);  // Another operation's.
  }
  auto locked = fresh.store->LockForRewrite(object, /*wait=*/false);
  if (!locked) {
    if (locked.error().code != ErrorCode::kUnavailable) return std::move(locked).error();
    return Exists(
        fmt::format("{}: is being written by another process", target.Describe()));
  }
  draft->lock_ = *std::move(locked);
  draft->is_open_ = true;
  DOLIUM_TRY_VOID(ClearDraft(fresh));
  return draft;
}

FolderDraft::~FolderDraft() {
  if (!is_open_) return;
  // What stays behind is removed by the next one.
  if (auto removed = RemoveFolder(swap_.fresh); !removed) {
    static_cast<void>(removed.error());
  }
}

Result<void> FolderDraft::Finish() {
  DOLIUM_TRY_VOID(RemoveMarker(folder_));
  DOLIUM_TRY_VOID(SwapIn(swap_));
  is_open_ = false;
  return RemoveReplaced(swap_);
}

}  // namespace dolium
