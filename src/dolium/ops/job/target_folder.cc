#include "dolium/ops/job/target_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;

// Links resolved as far as the path exists; nullopt if not local.
Result<std::optional<std::string>> CanonicalPath(const Location& location) {
  DOLIUM_TRY(const auto path, location.store->LocalPath(location.path));
  if (!path) return std::nullopt;
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(*path, error);
  if (error) {
    return SystemError(error.value(), "cannot resolve the path")
        .Within(location.Describe());
  }
  return NormalizePath(canonical.native());
}

// `path` is `folder` or lies in it.
bool LiesIn(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') ||
         path[folder.size()] == '/';
}

// Of both, if they can be compared.
Result<std::optional<std::pair<std::string, std::string>>> PathsInOneStore(
    const Location& one, const Location& other) {
  DOLIUM_TRY(const auto first, CanonicalPath(one));
  DOLIUM_TRY(const auto second, CanonicalPath(other));
  if (first && second) return std::pair(*first, *second);
  if (first || second || one.store != other.store) return std::nullopt;
  return std::pair(NormalizePath(one.path), NormalizePath(other.path));
}

using FileVisitor = std::function<Result<void>(const std::string& path)>;

Result<void> VisitBelow(const std::string& root, const std::string& below,
                        const FileVisitor& visit) {
  const std::string folder = below.empty() ? root : JoinPath(root, below);
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    entries.push_back(*i);
  }
  if (error) return SystemError(error.value(), "cannot list").Within(folder);
  for (const fs::directory_entry& entry : entries) {
    const std::string path = JoinPath(below, entry.path().filename().native());
    DOLIUM_TRY_VOID(entry.symlink_status(error).type() == fs::file_type::directory
                        ? VisitBelow(root, path, visit)
                        : visit(path));
  }
  return {};
}

}  // namespace

Result<void> VisitFiles(const std::string& folder, const FileVisitor& visit) {
  return VisitBelow(folder, "", visit);
}

Result<std::string> PortableText(const Location& location, std::string_view text) {
  DOLIUM_TRY(const auto path, location.store->LocalPath(location.path));
  return path ? NormalizePath(*path) : std::string(text);
}

Result<void> CheckDisjoint(const Location& source, const Location& target) {
  DOLIUM_TRY(const auto paths, PathsInOneStore(source, target));
  if (!paths || !LiesIn(paths->first, paths->second)) return {};
  return InvalidArgument(
      fmt::format("{}: the source {}; write to another folder", target.Describe(),
                  paths->first == paths->second
                      ? "and the target are the same"
                      : fmt::format("{} lies in the target", source.Describe())));
}

Result<void> CheckOutside(const Location& source, const Location& target) {
  DOLIUM_TRY(const auto paths, PathsInOneStore(source, target));
  if (!paths || !LiesIn(paths->second, paths->first)) return {};
  return InvalidArgument(
      fmt::format("{}: the target lies in the source {}, which it would change; write to "
                  "another folder",
                  target.Describe(), source.Describe()));
}

Result<Occupancy> InspectFolder(const Location& folder) {
  DOLIUM_TRY(const auto file, folder.store->Stat(folder.path));
  if (file) return Exists(folder.Describe() + ": is a file; a set needs a folder");
  Occupancy occupancy = Occupancy::kEmpty;
  const auto listed = folder.store->List(folder.path, [&](std::string_view name, bool) {
    if (IsBookkeeping(name)) return true;
    occupancy = Occupancy::kOccupied;
    return false;
  });
  if (listed) return occupancy;
  if (listed.error().code == ErrorCode::kNotFound) return Occupancy::kAbsent;
  return listed.error();
}

Result<std::optional<std::string>> FindForeign(
    const Location& folder, const std::function<bool(std::string_view)>& is_ours) {
  std::vector<std::string> files;
  std::vector<std::string> folders;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (!IsBookkeeping(name)) (is_folder ? folders : files).emplace_back(name);
        return true;
      });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!listed) return listed.error();
  std::ranges::sort(files);
  std::ranges::sort(folders);
  for (const std::string& name : files) {
    // Pipes and links that lead nowhere are nobody's objects.
    if (!is_ours(name) || !folder.store->Stat(JoinPath(folder.path, name))) return name;
  }
  for (const std::string& name : folders) {
    const Location child = folder.Child(name);
    DOLIUM_TRY(const auto path, child.store->LocalPath(child.path));
    DOLIUM_TRY(const bool is_folder, path ? FolderExists(*path) : Result<bool>(true));
    // A link is not followed, and what is hidden is somebody's own.
    if (!is_folder || name.starts_with('.') || !is_ours(name + "/")) return name;
    DOLIUM_TRY(const auto foreign, FindForeign(child, is_ours));
    if (foreign) return JoinPath(name, *foreign);
  }
  return std::nullopt;
}

Result<void> CheckReplaceable(const Location& folder, const Format& format) {
  DOLIUM_TRY(const auto foreign, FindForeign(folder, format.owns_object));
  if (!foreign) return {};
  return Exists(
      fmt::format("{}: holds \"{}\", which is not part of a {} set; move it away",
                  folder.Describe(), *foreign, format.name));
}

Result<void> CheckOnlyFiles(const Location& folder) {
  std::string foreign;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && !IsBookkeeping(name)) foreign = name;
        return foreign.empty();
      });
  if (!listed && listed.error().code != ErrorCode::kNotFound) return listed.error();
  if (foreign.empty()) return {};
  return Exists(fmt::format("{}: holds \"{}\", which is not part of a job; move it away",
                            folder.Describe(), foreign));
}

SwapFolders SwapFolders::Beside(const std::string& target) {
  return {target, target + std::string(kFreshSuffix), target + ".dolium-old"};
}

Location FolderBeside(const Location& target) {
  return {target.store, NormalizePath(target.path) + std::string(kFreshSuffix)};
}

std::string TargetBeside(std::string_view folder) {
  if (folder.ends_with(kFreshSuffix)) folder.remove_suffix(kFreshSuffix.size());
  return std::string(folder);
}

Result<SwapFolders> SwapFolders::Of(const Location& target) {
  DOLIUM_TRY(const auto path, CanonicalPath(target));
  if (!path) {
    return Unsupported(target.Describe() +
                       ": only a local folder can be replaced; write to a new one");
  }
  return Beside(*path);
}

Result<void> SwapIn(const SwapFolders& folders, bool exchange,
                    const std::function<void()>& between) {
  DOLIUM_TRY(const bool occupied, FolderExists(folders.target));
  if (occupied && exchange) {
    const auto exchanged = ExchangeFolders(folders.fresh, folders.target);
    if (exchanged || exchanged.error().code != ErrorCode::kUnsupported) return exchanged;
  }
  if (occupied) {
    DOLIUM_TRY_VOID(RenameFolder(folders.target, folders.aside));
    if (between) between();
  }
  return RenameFolder(folders.fresh, folders.target);
}

Result<void> RemoveReplaced(const SwapFolders& folders) {
  DOLIUM_TRY_VOID(RemoveFolder(folders.fresh));
  return RemoveFolder(folders.aside);
}

}  // namespace dolium
