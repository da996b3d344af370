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
  return Unavailable(fmt::format(
      "{}: this set is unfinished ({} is there): its writing is under way or was "
      "interrupted; run the command that was writing it again",
      folder.Describe(), kMarkerName));
}

}  // namespace dolium
