#include "dolium/ops/volume/volume_folders.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/unfinished.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/files_target.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium::volume {
namespace {

// Entries that are all in memory.
class EntriesInMemory final : public EntrySource {
 public:
  explicit EntriesInMemory(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  Result<std::span<const Entry>> Next() override {
    if (std::exchange(is_given_, true)) return std::span<const Entry>();
    return std::span<const Entry>(entries_);
  }
  Result<void> Rewind() override {
    is_given_ = false;
    return {};
  }

 private:
  const std::vector<Entry> entries_;
  bool is_given_ = false;
};

bool IsSameOrBelow(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') || folder.empty() ||
         path[folder.size()] == '/';
}

// Why a folder cannot be copied; empty if it can.
std::string FindObstacle(const Volume& from, const Location& folder,
                         const std::string& key, const VolumeJob& job) {
  if (IsSameOrBelow(NormalizePath(from.folder().path), folder.path)) {
    return "the volume itself lies in that folder";
  }
  for (const ScaleInfo& scale : job.info.scales) {
    if (IsSameOrBelow(scale.key, key) || IsSameOrBelow(key, scale.key)) {
      return fmt::format("\"{}\" is a folder of a scale", scale.key);
    }
  }
  const auto unlisted = files::FilesContainer(folder).Unlisted();
  if (!unlisted && unlisted.error().code == ErrorCode::kNotFound) {
    return "the folder is not there";
  }
  if (!unlisted) return unlisted.error().message;
  if (unlisted->empty()) return {};
  return fmt::format("\"{}\" in it is a link to a folder, or no name for a file",
                     unlisted->front());
}

constexpr std::pair<std::string_view, std::optional<std::string> VolumeInfo::*>
    kFolderMembers[] = {{"mesh", &VolumeInfo::mesh},
                        {"skeletons", &VolumeInfo::skeletons},
                        {"segment_properties", &VolumeInfo::segment_properties}};

Finding WarningOf(const Location& folder, std::string message) {
  return {.severity = Severity::kWarning,
          .kind = "part",
          .object = folder.Describe(),
          .key = {},
          .range = std::nullopt,
          .message = std::move(message)};
}

// What is to be said of links in a folder that lead out of it and of the volume: what
// they lead to is copied. Empty: there are none.
Result<std::string> DescribeLinksOut(const Volume& from, const Location& folder) {
  namespace fs = std::filesystem;
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  DOLIUM_TRY(const auto volume, from.folder().store->LocalPath(from.folder().path));
  if (!path || !volume) return std::string();
  std::error_code error;
  const std::string homes[] = {fs::weakly_canonical(*path, error).native(),
                               fs::weakly_canonical(*volume, error).native()};
  uint64_t count = 0;
  std::string first;
  DOLIUM_TRY_VOID(VisitFiles(*path, [&](const std::string& name) -> Result<void> {
    const std::string file = JoinPath(*path, name);
    if (!fs::is_symlink(file, error)) return {};
    const std::string to = fs::weakly_canonical(file, error).native();
    if (IsSameOrBelow(to, homes[0]) || IsSameOrBelow(to, homes[1])) return {};
    if (count++ == 0 || name < first) first = name;
    return {};
  }));
  if (count == 0) return std::string();
  return fmt::format(
      "links in it lead out of the volume (\"{}\", {} in all); what they lead to is "
      "copied",
      first, count);
}

}  // namespace

// The info may name folders within folders; what else is in the outer one is not looked
// at.
Result<std::vector<Finding>> FindForeignFiles(const Volume& from) {
  std::vector<Finding> left_out;
  if (from.dvid_export() != nullptr) return left_out;
  const VolumeInfo& info = from.info();
  std::vector<std::string> names;
  const auto add = [&](std::string_view key) {
    const std::string path(NormalizePath(key));
    names.push_back(path.substr(0, path.find('/')));
  };
  for (const ScaleInfo& scale : info.scales) add(scale.key);
  for (const auto& [name, member] : kFolderMembers) {
    if (info.*member) add(*(info.*member));
  }
  const Location& folder = from.folder();
  std::vector<std::string> foreign;
  const auto listed = folder.store->List(folder.path, [&](std::string_view name, bool) {
    if (!IsBookkeeping(name) && name != kInfoName && name != "provenance" &&
        std::ranges::find(names, name) == names.end()) {
      foreign.emplace_back(name);
    }
    return true;
  });
  // Of servers that cannot list, nobody knows.
  if (!listed && listed.error().code != ErrorCode::kUnsupported) return listed.error();
  std::ranges::sort(foreign);
  for (const std::string& name : foreign) {
    left_out.push_back({.severity = Severity::kWarning,
                        .kind = "foreign",
                        .object = folder.Child(name).Describe(),
                        .key = {},
                        .range = std::nullopt,
                        .message = "is no part of the volume, and is left out"});
  }
  return left_out;
}

Result<std::vector<Finding>> FindBesideVoxels(const Volume& from) {
  DOLIUM_TRY(auto left_out, FindForeignFiles(from));
  for (const auto& [name, member] : kFolderMembers) {
    const std::optional<std::string>& key = from.info().*member;
    if (!key) continue;
    left_out.push_back(
        WarningOf(ResolveScaleKey(from.folder(), *key),
                  fmt::format("{} is left out: the target holds voxels only", name)));
  }
  return left_out;
}

Result<std::vector<Finding>> AddFolderCopies(const Volume& from, const Location& target,
                                             VolumeJob& job) {
  DOLIUM_TRY(auto left_out, FindForeignFiles(from));
  for (const auto& [name, member] : kFolderMembers) {
    std::optional<std::string>& key = job.info.*member;
    if (!key) continue;
    const Location folder = ResolveScaleKey(from.folder(), *key);
    // A key that leads elsewhere would do so again.
    std::string copied_to(NormalizePath(*key));
    if (copied_to.starts_with("..") || copied_to.starts_with('/')) {
      copied_to = std::string(BaseName(copied_to));
    }
    DOLIUM_TRY(const std::string text, PortableText(folder, folder.Describe()));
    const auto same = std::ranges::find(job.copies, copied_to, &FolderCopy::key);
    if (same != job.copies.end() && same->from == text) {
      key = copied_to;
      continue;
    }
    std::string obstacle =
        same != job.copies.end()
            ? fmt::format("another folder is copied to \"{}\"", copied_to)
            : FindObstacle(from, folder, copied_to, job);
    if (!obstacle.empty()) {
      left_out.push_back(
          WarningOf(folder, fmt::format("{} is left out: {}", name, obstacle)));
      key.reset();
      continue;
    }
    DOLIUM_TRY_VOID(CheckDisjoint(folder, target));
    DOLIUM_TRY(std::string links, DescribeLinksOut(from, folder));
    if (!links.empty()) left_out.push_back(WarningOf(folder, std::move(links)));
    job.copies.push_back({text, copied_to});
    key = copied_to;
  }
  return left_out;
}

Result<WriteSummary> CopyFolderPart(const FolderCopy& copy, const Location& volume,
                                    uint64_t part, const PartContext& context) {
  DOLIUM_TRY(const Location from, ParseLocation(copy.from));
  files::FilesTarget target(ResolveScaleKey(volume, copy.key));
  const files::FilesContainer source(from);
  std::vector<Entry> entries;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    if (files::PartOfKey(entry.key) == part) entries.push_back(entry);
    return !context.writer.stop.stop_requested();
  };
  DOLIUM_TRY_VOID(source.ScanObject(from.path, visitor));
  if (context.writer.stop.stop_requested()) return Cancelled();
  EntriesInMemory listed(std::move(entries));
  PartSource files;
  files.store = from.store.get();
  files.entries = &listed;
  DOLIUM_TRY(WriteSummary written, target.WritePart(part, files, context.writer));
  written.entries = 0;  // What is counted are chunks of scales.
  return written;
}

Result<void> FinishFolderCopy(const FolderCopy& copy, const Location& volume) {
  const Location folder = ResolveScaleKey(volume, copy.key);
  DOLIUM_TRY([[maybe_unused]] const size_t removed,
             folder.store->RemoveStaleTemporaries(folder.path));
  return files::FilesTarget(folder).Finish();
}

Result<void> AddToState(const FolderCopy& copy, SourceState& state) {
  DOLIUM_TRY(const Location from, ParseLocation(copy.from));
  return state.AddEntries(files::FilesContainer(from));
}

}  // namespace dolium::volume
