#include "dolium/ops/pack/pack_repair.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::dataset {
namespace {

// Temporaries carry at most so much of the name of their object.
constexpr size_t kTemporaryStem = 200;

// The newest temporary of a file `name` in a folder, unless its writer is at work.
Result<std::optional<Location>> FindAbandonedIn(const Location& folder,
                                                std::string_view name) {
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  if (!path) return std::nullopt;
  const std::string begin =
      fmt::format(".{}.dolium-tmp-", name.substr(0, kTemporaryStem));
  std::optional<std::filesystem::directory_entry> newest;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(*path, failed)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(begin) || !IsTemporaryName(file)) continue;
    std::error_code ignored;
    if (!newest || entry.last_write_time(ignored) > newest->last_write_time(ignored)) {
      newest = entry;
    }
  }
  if (!newest) return std::nullopt;
  Location found = folder.Child(newest->path().filename().string());
  const UniqueFd fd(
      open(newest->path().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return SystemError(errno, "cannot open").Within(found.Describe());
  // Writers hold a lock as long as they live.
  if (flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Unavailable(fmt::format("{}: its writer is still at work", found.Describe()));
  }
  return found;
}

}  // namespace

Result<std::optional<Location>> FindAbandoned(const Location& shard) {
  const Location job{shard.store, shard.path + std::string(kFreshSuffix)};
  for (const Location& folder : {shard.Parent(), job}) {
    DOLIUM_TRY(auto found, FindAbandonedIn(folder, BaseName(shard.path)));
    if (found) return found;
  }
  return std::nullopt;
}

Result<RepairSource> FindRepairSource(const Location& shard) {
  DOLIUM_TRY(const auto there, shard.store->Stat(shard.path));
  if (there) return RepairSource{shard};
  DOLIUM_TRY(auto abandoned, FindAbandoned(shard));
  if (!abandoned) {
    return NotFound(fmt::format("{}: no such file, and no temporary of a writer of it",
                                shard.Describe()));
  }
  return RepairSource{*std::move(abandoned), /*is_abandoned=*/true};
}

Result<shardpack::RepairReport> RepairPack(const Location& source, const Location& target,
                                           const PackRepairOptions& options,
                                           const FindingVisitor& visitor) {
  return shardpack::RepairShard(
      source, target,
      {.check = options.quick ? shardpack::Check::kHeaders : shardpack::Check::kFull,
       .force = options.force,
       .stop = options.stop},
      visitor);
}

}  // namespace dolium::dataset
