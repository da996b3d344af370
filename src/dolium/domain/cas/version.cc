#include "dolium/domain/cas/version.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/container/json.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kVersionLimit = 1 << 20;
constexpr std::string_view kEnd = ".json";
constexpr std::string_view kLastEnd = ".last";
constexpr size_t kCheckDigits = 16;

std::string CheckOf(std::string_view text) {
  return ToString(xet::ChunkHash(AsBytes(text))).substr(0, kCheckDigits);
}

std::optional<uint64_t> ParseVersionNumber(std::string_view text) {
  uint64_t sequence = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return sequence;
}

std::optional<VersionFile> ParseFileName(std::string_view file) {
  if (!file.ends_with(kEnd)) return std::nullopt;
  file.remove_suffix(kEnd.size());
  const size_t dash = file.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto sequence = ParseVersionNumber(file.substr(0, dash));
  if (!sequence) return std::nullopt;
  return VersionFile{"", *sequence, std::string(file.substr(dash + 1))};
}

// The files that keep the last number, each with its number; at most one, unless
// somebody was killed.
Result<std::map<uint64_t, std::string>> LastNumbers(const std::string& folder) {
  std::map<uint64_t, std::string> found;
  DOLIUM_TRY_VOID(ListFolder(folder, [&](std::string_view file) {
    if (!file.ends_with(kLastEnd)) return;
    const auto number = ParseVersionNumber(file.substr(0, file.size() - kLastEnd.size()));
    if (number) found[*number] = fmt::format("{}/{}", folder, file);
  }));
  return found;
}

// Keeps `number`, durably, in place of lower ones.
Result<void> KeepLastNumber(const std::string& folder, uint64_t number) {
  DOLIUM_TRY(auto kept, LastNumbers(folder));
  if (!kept.contains(number)) {
    const std::string path = fmt::format("{}/{:08}{}", folder, number, kLastEnd);
    const UniqueFd file(RetryOnSignal(
        [&] { return open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666); }));
    if (!file) return SystemError(errno, "cannot make").Within(path);
    DOLIUM_TRY_VOID(SyncFolderAt(folder));
  }
  for (const auto& [lower, path] : kept) {
    if (lower >= number) continue;
    DOLIUM_TRY([[maybe_unused]] const bool was_there, RemoveFile(path));
  }
  return {};
}

template <typename T>
T Member(const nlohmann::json& json, const char* name) {
  return json.at(name).get<T>();
}

}  // namespace

std::string_view VersionKindName(VersionKind kind) {
  switch (kind) {
    case VersionKind::kFile:
      return "file";
    case VersionKind::kFolder:
      return "folder";
    case VersionKind::kPaths:
      return "paths";
  }
  return "";
}

std::string Version::reference() const { return fmt::format("{}@{}", name, sequence); }

std::string FormatVersion(const Version& version) {
  // Names are bytes; JSON holds them escaped.
  nlohmann::ordered_json json = {{"name", EscapeName(version.name)},
                                 {"sequence", version.sequence},
                                 {"created", version.created},
                                 {"kind", VersionKindName(version.kind)},
                                 {"hash", ToString(version.hash)}};
  if (version.kind == VersionKind::kFile) {
    json["mode"] = version.mode;
    json["modified"] = version.modified;
  }
  json["aligned"] = version.is_aligned;
  json["files"] = version.totals.files;
  json["bytes"] = version.totals.bytes;
  json["chunks"] = version.totals.chunks;
  json["new_chunks"] = version.totals.new_chunks;
  json["new_bytes"] = version.totals.new_bytes;
  json["stored_bytes"] = version.totals.stored_bytes;
  return json.dump() + "\n";
}

Result<Version> ParseVersion(std::string_view text) {
  auto json = ParseJson(text);
  if (!json) return Corrupt(json.error().message);
  try {
    Version version;
    const auto name = UnescapeName(Member<std::string>(*json, "name"));
    if (!name) return Corrupt("no name of a version");
    version.name = *name;
    version.sequence = Member<uint64_t>(*json, "sequence");
    version.created = Member<int64_t>(*json, "created");
    const auto kind = Member<std::string>(*json, "kind");
    if (kind == "folder") {
      version.kind = VersionKind::kFolder;
    } else if (kind == "paths") {
      version.kind = VersionKind::kPaths;
    } else if (kind != "file") {
      return Unsupported(fmt::format("a version of kind \"{}\"", kind));
    }
    DOLIUM_TRY(version.hash, xet::ParseHash(Member<std::string>(*json, "hash")));
    if (version.kind == VersionKind::kFile) {
      version.mode = Member<uint32_t>(*json, "mode");
      version.modified = Member<int64_t>(*json, "modified");
    }
    version.is_aligned = Member<bool>(*json, "aligned");
    version.totals = {.files = Member<uint64_t>(*json, "files"),
                      .bytes = Member<uint64_t>(*json, "bytes"),
                      .chunks = Member<uint64_t>(*json, "chunks"),
                      .new_chunks = Member<uint64_t>(*json, "new_chunks"),
                      .new_bytes = Member<uint64_t>(*json, "new_bytes"),
                      .stored_bytes = Member<uint64_t>(*json, "stored_bytes")};
    return version;
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(fmt::format("no version: {}", error.what()));
  }
}

Result<std::vector<std::string>> ListNames(const Layout& layout) {
  std::vector<std::string> names;
  DOLIUM_TRY(const auto folders, SortedFolder(layout.names()));
  for (const std::string& folder : folders) {
    const auto name = UnescapeName(folder);
    if (!name) continue;
    DOLIUM_TRY(const auto files, ListVersionFiles(layout, *name));
    if (!files.empty()) names.push_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<VersionFile>> ListVersionFiles(const Layout& layout,
                                                  std::string_view name) {
  const std::string folder = layout.name_folder(name);
  std::vector<VersionFile> files;
  DOLIUM_TRY_VOID(ListFolder(folder, [&](std::string_view file) {
    auto found = ParseFileName(file);
    if (!found) return;
    found->path = fmt::format("{}/{}", folder, file);
    files.push_back(*std::move(found));
  }));
  std::sort(files.begin(), files.end(), [](const VersionFile& a, const VersionFile& b) {
    return std::tie(a.sequence, a.check) < std::tie(b.sequence, b.check);
  });
  return files;
}

Result<Version> ReadVersionFile(const VersionFile& file, std::string_view name) {
  DOLIUM_TRY(const ByteVector bytes, ReadWholeFile(file.path, kVersionLimit));
  const std::string_view text = AsText(bytes);
  if (CheckOf(text) != file.check) {
    return Corrupt(fmt::format("{}: its bytes give {}, not the check in its name",
                               file.path, CheckOf(text)));
  }
  DOLIUM_TRY(auto version, ParseVersion(text).Within(file.path));
  if (version.name != name || version.sequence != file.sequence) {
    return Corrupt(fmt::format("{}: is of version {}", file.path, version.reference()));
  }
  return version;
}

Result<std::vector<Version>> ListVersions(const Layout& layout, std::string_view name) {
  std::vector<Version> versions;
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, name));
  for (const VersionFile& file : files) {
    auto version = ReadVersionFile(file, name);
    if (!version && version.error().code == ErrorCode::kNotFound) continue;
    if (!version) return std::move(version).error();
    versions.push_back(*std::move(version));
  }
  return versions;
}

Result<Version> FindVersion(const Layout& layout, const Reference& reference) {
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, reference.name));
  if (files.empty()) {
    return NotFound(fmt::format("{}: no version of that name", reference.name))
        .WithHint(Hint::kListNames);
  }
  if (!reference.sequence) return ReadVersionFile(files.back(), reference.name);
  for (const VersionFile& file : files) {
    if (file.sequence == *reference.sequence) {
      return ReadVersionFile(file, reference.name);
    }
  }
  return NotFound(fmt::format("{}@{}: no such version; the latest is {}", reference.name,
                              *reference.sequence, files.back().sequence));
}

Result<void> AddVersion(const Layout& layout, const Lease& lease, Version& version) {
  DOLIUM_TRY_VOID(CheckName(version.name));
  // Keeps gc from removing the folder while it is empty.
  DOLIUM_TRY(const StoreLock shared, StoreLock::Shared(layout, lease.stop()));
  const std::string folder = layout.name_folder(version.name);
  DOLIUM_TRY_VOID(MakeFolderAt(folder));
  DOLIUM_TRY(const UniqueFd opened, OpenFolder(AT_FDCWD, folder).Within(folder));
  DOLIUM_TRY(const FolderLock lock, FolderLock::Take(opened.get()).Within(folder));
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, version.name));
  DOLIUM_TRY(const auto kept, LastNumbers(folder));
  version.sequence = 1 + std::max(files.empty() ? 0 : files.back().sequence,
                                  kept.empty() ? 0 : kept.rbegin()->first);
  version.created = NowNanoseconds();
  const std::string text = FormatVersion(version);
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease.id()));
  DOLIUM_TRY_VOID(file.Append(AsBytes(text)));
  return file.Publish(
      fmt::format("{}/{:08}-{}{}", folder, version.sequence, CheckOf(text), kEnd));
}

Result<size_t> RemoveVersions(const Layout& layout, const Reference& reference) {
  DOLIUM_TRY(const StoreLock shared, StoreLock::Shared(layout));
  const auto is_meant = [&](const VersionFile& file) {
    return !reference.sequence || file.sequence == *reference.sequence;
  };
  DOLIUM_TRY(const auto before, ListVersionFiles(layout, reference.name));
  if (std::none_of(before.begin(), before.end(), is_meant)) {
    // The same message as of a reading.
    DOLIUM_TRY([[maybe_unused]] const auto found, FindVersion(layout, reference));
  }
  const std::string folder = layout.name_folder(reference.name);
  DOLIUM_TRY(const UniqueFd opened, OpenFolder(AT_FDCWD, folder).Within(folder));
  DOLIUM_TRY(const FolderLock lock, FolderLock::Take(opened.get()).Within(folder));
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, reference.name));
  if (!files.empty() && is_meant(files.back())) {
    DOLIUM_TRY_VOID(KeepLastNumber(folder, files.back().sequence));
  }
  size_t removed = 0;
  for (const VersionFile& file : files) {
    if (!is_meant(file)) continue;
    DOLIUM_TRY(const bool was_there, RemoveFile(file.path));
    if (was_there) ++removed;
  }
  if (removed == 0) {
    return NotFound(fmt::format("{}: was removed meanwhile", reference.name));
  }
  DOLIUM_TRY_VOID(SyncFolderAt(folder));
  return removed;
}

Result<void> ForgetName(const std::string& folder) {
  bool is_empty = true;
  DOLIUM_TRY_VOID(ListFolder(
      folder, [&](std::string_view file) { is_empty &= file.ends_with(kLastEnd); }));
  if (!is_empty) return {};
  DOLIUM_TRY(const auto kept, LastNumbers(folder));
  for (const auto& [number, path] : kept) {
    DOLIUM_TRY([[maybe_unused]] const bool was_there, RemoveFile(path));
  }
  rmdir(folder.c_str());  // Refused if anything else is there.
  return {};
}

}  // namespace dolium::cas
