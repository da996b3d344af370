#include "dolium/container/unfinished.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"

namespace dolium {
namespace {

constexpr std::string_view kBookkeepingPrefix = ".dolium";
constexpr uint64_t kMarkerLimit = uint64_t{1} << 20;

std::string MarkerPath(const Location& folder) {
  return JoinPath(folder.path, kMarkerName);
}

Error Unfinished(const Location& folder, std::string_view why) {
  return Unavailable(fmt::format(
      "{}: this set is unfinished ({}): its writing is under way or was interrupted; run "
      "the command that was writing it again",
      folder.Describe(), why));
}

bool IsJobFolder(std::string_view name) { return name.ends_with(kFreshSuffix); }

std::string MarkerReason() { return fmt::format("{} is there", kMarkerName); }

// Why a set is unfinished, by its own folder; nullopt if it is not.
Result<std::optional<std::string>> ReasonOf(const Location& folder) {
  DOLIUM_TRY(const auto marker, ReadMarker(folder));
  if (marker) return MarkerReason();
  if (IsJobFolder(BaseName(folder.path))) return "a job works in this folder";
  return std::nullopt;
}

// The same by the folders of jobs that are in it.
Result<std::optional<std::string>> ReasonInJobFolders(const Location& folder) {
  std::vector<std::string> jobs;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && IsJobFolder(name)) jobs.emplace_back(name);
        return true;
      });
  const bool cannot_list = !listed && (listed.error().code == ErrorCode::kNotFound ||
                                       listed.error().code == ErrorCode::kUnsupported);
  if (!listed && !cannot_list) return listed.error();
  for (const std::string& job : jobs) {
    // Until its files are complete, the folder of the job has the marker.
    DOLIUM_TRY(const auto marker, ReadMarker(folder.Child(job)));
    if (!marker) return fmt::format("files of it are still in {}", job);
  }
  return std::nullopt;
}

}  // namespace

bool IsBookkeeping(std::string_view name) { return name.starts_with(kBookkeepingPrefix); }

Result<std::optional<std::string>> ReadMarker(const Location& folder) {
  const auto marker = folder.store->ReadWhole(MarkerPath(folder), kMarkerLimit);
  if (marker) return std::string(AsText(marker->bytes));
  if (marker.error().code == ErrorCode::kNotFound) return std::nullopt;
  return marker.error();
}

Result<void> WriteMarker(const Location& folder, std::string_view text) {
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             folder.store->Put(MarkerPath(folder), AsBytes(text), Precondition::None()));
  return {};
}

Result<void> RemoveMarker(const Location& folder) {
  auto removed = folder.store->Remove(MarkerPath(folder), Precondition::None());
  if (!removed && removed.error().code == ErrorCode::kNotFound) return {};
  return removed;
}

Result<void> RemoveSpills(const Location& folder) {
  std::vector<std::string> spills;
  auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && name.starts_with(kSpillPrefix)) spills.emplace_back(name);
        return true;
      });
  if (!listed) {
    if (listed.error().code == ErrorCode::kNotFound) return {};
    return listed;
  }
  for (const std::string& name : spills) {
    DOLIUM_TRY(const auto path, folder.store->LocalPath(JoinPath(folder.path, name)));
    if (path) DOLIUM_TRY_VOID(RemoveFolder(*path));
  }
  return {};
}

Error UnfinishedError(const Location& folder) {
  return Unfinished(folder, MarkerReason());
}

Result<std::optional<Error>> FindUnfinished(const Location& folder) {
  DOLIUM_TRY(auto reason, ReasonOf(folder));
  if (!reason) {
    DOLIUM_TRY(reason, ReasonInJobFolders(folder));
  }
  if (!reason) return std::nullopt;
  return std::optional(Unfinished(folder, *reason));
}

Result<void> CheckFinished(const Location& folder) {
  DOLIUM_TRY(const auto reason, ReasonOf(folder));
  if (reason) return Unfinished(folder, *reason);
  return {};
}

Result<void> CheckAllMoved(const Location& folder) {
  DOLIUM_TRY(const auto reason, ReasonInJobFolders(folder));
  if (reason) return Unfinished(folder, *reason);
  return {};
}

}  // namespace dolium
