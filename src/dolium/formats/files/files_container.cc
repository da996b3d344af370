#include "dolium/formats/files/files_container.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/files/write_file.h"

namespace dolium::files {
namespace {

Extent WholeFile(std::string path, ObjectInfo info) {
  auto version = std::make_shared<const ObjectVersion>(
      ObjectVersion{std::move(path), std::move(info.generation)});
  return {std::move(version), {0, info.size}, {}};
}

bool HasControlCharacter(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// The key whose preceding bytes a file of that name holds.
std::optional<std::string> KeyPrecededBy(std::string_view name) {
  if (!name.ends_with(kPrecedingSuffix)) return std::nullopt;
  return std::string(name.substr(0, name.size() - kPrecedingSuffix.size()));
}

std::string PathOf(const Location& folder, std::string_view name) {
  return name.empty() ? folder.path : JoinPath(folder.path, name);
}

Result<bool> IsLink(const Store& store, std::string_view path) {
  DOLIUM_TRY(const auto local, store.LocalPath(path));
  std::error_code ignored;
  return local && std::filesystem::is_symlink(*local, ignored);
}

// Every key once, so that the order of the changes does not matter.
Result<void> CheckChanges(std::span<const Change> changes) {
  std::vector<std::string_view> keys;
  for (const Change& change : changes) {
    DOLIUM_TRY_VOID(CheckKey(change.key));
    keys.push_back(change.key);
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return {};
  return InvalidArgument(fmt::format("key \"{}\" is changed twice", *twice));
}

// What writing it takes.
uint64_t BytesOf(const Change& change) {
  return change.value ? change.value->size() + change.preceding.size() : 0;
}

}  // namespace

std::string_view FilesContainer::format_name() const { return kFormat.name; }

Result<std::optional<Entry>> FilesContainer::FindValue(std::string_view key) const {
  std::string path = JoinPath(location_.path, key);
  DOLIUM_TRY(auto info, store().Stat(path));
  if (!info) return std::nullopt;
  Entry entry;
  entry.key = key;
  entry.size = info->size;
  entry.extents.push_back(WholeFile(std::move(path), *std::move(info)));
  return entry;
}

Result<void> FilesContainer::AddPreceding(Entry& entry) const {
  std::string path = JoinPath(location_.path, PrecedingName(entry.key));
  DOLIUM_TRY(auto info, store().Stat(path));
  if (info) entry.preceding_from = WholeFile(std::move(path), *std::move(info));
  return {};
}

Result<std::optional<Entry>> FilesContainer::Find(std::string_view key) const {
  DOLIUM_TRY_VOID(CheckKey(key));
  DOLIUM_TRY(auto entry, FindValue(key));
  if (entry) DOLIUM_TRY_VOID(AddPreceding(*entry));
  return entry;
}

Result<std::vector<std::string>> FilesContainer::Objects() const {
  return std::vector<std::string>{location_.path};
}

bool FilesContainer::Listing::has_file(std::string_view path) const {
  return std::binary_search(files.begin(), files.end(), path);
}

Result<FilesContainer::Listing> FilesContainer::ListAll() const {
  Listing listing;
  std::vector<std::string> folders = {""};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    std::vector<std::string> below;
    const std::string path = PathOf(location_, folder);
    const auto listed = store().List(path, [&](std::string_view name, bool is_folder) {
      if (IsBookkeeping(name)) return true;
      (is_folder ? below : listing.files).push_back(JoinPath(folder, name));
      return true;
    });
    // A subfolder may have been removed meanwhile.
    const bool is_gone = !listed && listed.error().code == ErrorCode::kNotFound;
    if (!listed && !(is_gone && !folder.empty())) return listed.error();
    for (std::string& name : below) {
      DOLIUM_TRY(const bool is_link, IsLink(store(), PathOf(location_, name)));
      (is_link ? listing.links : folders).push_back(std::move(name));
    }
  }
  std::sort(listing.files.begin(), listing.files.end());
  std::sort(listing.links.begin(), listing.links.end());
  return listing;
}

Result<FilesContainer::Listing> FilesContainer::ListObject(
    std::string_view object) const {
  if (object == location_.path) return ListAll();
  return InvalidArgument(fmt::format("{}: not an object of {}", store().Describe(object),
                                     location_.Describe()));
}

Result<std::vector<std::string>> FilesContainer::Unlisted() const {
  DOLIUM_TRY(Listing listing, ListAll());
  std::vector<std::string> unlisted = std::move(listing.links);
  for (const std::string& name : listing.files) {
    if (CheckKey(name)) continue;
    const auto key = KeyPrecededBy(name);
    const bool is_preceding = key && CheckKey(*key) && listing.has_file(*key);
    if (!is_preceding) unlisted.push_back(name);
  }
  std::sort(unlisted.begin(), unlisted.end());
  return unlisted;
}

Result<void> FilesContainer::ScanObject(std::string_view object,
                                        const ScanVisitor& visitor) const {
  DOLIUM_TRY(const Listing listing, ListObject(object));
  const auto load = [&](const std::string& key) -> Result<std::optional<Entry>> {
    DOLIUM_TRY(auto entry, FindValue(key));
    if (entry && listing.has_file(PrecedingName(key))) {
      DOLIUM_TRY_VOID(AddPreceding(*entry));
    }
    return entry;
  };
  for (const std::string& name : listing.files) {
    if (!CheckKey(name)) continue;
    const auto entry = load(name);
    bool go_on = true;
    if (entry) {
      // Without a value, it was removed since the folder was listed.
      if (*entry) go_on = visitor.entry(**entry);
    } else if (visitor.damage) {
      go_on = visitor.damage(
          ErrorFinding("read", store().Describe(JoinPath(location_.path, name)), name, {},
                       entry.error()));
    } else {
      return entry.error();
    }
    if (!go_on) break;
  }
  return {};
}

Result<void> FilesContainer::CheckObject(std::string_view object,
                                         const FindingVisitor& visitor) const {
  DOLIUM_TRY(const Listing listing, ListObject(object));
  const auto warn = [&](std::string kind, const std::string& name, std::string message) {
    visitor({Severity::kWarning,
             std::move(kind),
             store().Describe(JoinPath(location_.path, name)),
             {},
             {},
             std::move(message)});
  };
  for (const std::string& name : listing.links) {
    warn("folder", name, "a link to a folder is not followed");
  }
  for (const std::string& name : listing.files) {
    if (const auto key = KeyPrecededBy(name)) {
      if (!listing.has_file(*key)) {
        warn("orphan", name,
             fmt::format("no file \"{}\" that these bytes precede", *key));
      }
    } else if (const auto usable = CheckKey(name); !usable) {
      warn("name", name, usable.error().message);
    } else if (HasControlCharacter(name)) {
      warn("name", name, "a control character in the file's name");
    }
  }
  return {};
}

Result<void> FilesContainer::CheckNoLinkAbove(std::string_view key) const {
  for (size_t slash = key.find('/'); slash != std::string_view::npos;
       slash = key.find('/', slash + 1)) {
    const std::string folder = PathOf(location_, key.substr(0, slash));
    DOLIUM_TRY(const bool is_link, IsLink(store(), folder));
    if (!is_link) continue;
    return InvalidArgument(fmt::format(
        "{}: a link to a folder, which is not followed; \"{}\" is no entry of this set",
        store().Describe(folder), key));
  }
  return {};
}

Result<void> FilesContainer::Apply(std::span<const Change> changes,
                                   const ChangeOptions& options) {
  DOLIUM_TRY_VOID(CheckChanges(changes));
  for (const Change& change : changes) {
    DOLIUM_TRY_VOID(CheckNoLinkAbove(change.key));
    if (change.value) continue;
    DOLIUM_TRY(const auto found, FindValue(change.key));
    if (!found) {
      return NotFound(
          fmt::format("{}: no entry \"{}\"", location_.Describe(), change.key));
    }
  }
  Progress progress;
  for (const Change& change : changes) progress.total_bytes += BytesOf(change);
  for (const Change& change : changes) {
    if (options.stop.stop_requested()) return Cancelled();
    if (change.value) {
      DOLIUM_TRY([[maybe_unused]] const WriteSummary written,
                 WriteFile(location_, change.key, *change.value, change.preceding,
                           change.only_if_absent ? Precondition::Absent()
                                                 : Precondition::None()));
    } else {
      DOLIUM_TRY_VOID(RemoveFile(location_, change.key));
    }
    progress.bytes += BytesOf(change);
    if (options.progress) options.progress(progress);
  }
  return {};
}

}  // namespace dolium::files
