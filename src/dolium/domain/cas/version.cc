#include "dolium/domain/cas/version.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/container/json.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/manifest.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kVersionLimit = 1 << 20;
constexpr std::string_view kEnd = ".json";
constexpr std::string_view kLastEnd = ".last";
constexpr size_t kCheckDigits = 16;
// What a kind ends with if the version has pipes or devices.
constexpr std::string_view kSpecialEnd = "/2";
constexpr size_t kLongestLabel = 255;

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

// The objects that keep the last number, each with its number; at most one, unless
// somebody was killed or is about to add a version.
Result<std::map<uint64_t, std::string>> LastNumbers(const Objects& objects,
                                                    const std::string& folder) {
  std::map<uint64_t, std::string> found;
  DOLIUM_TRY(const auto files, objects.List(folder));
  for (const std::string& file : files) {
    if (!file.ends_with(kLastEnd)) continue;
    const auto number = ParseVersionNumber(
        std::string_view(file).substr(0, file.size() - kLastEnd.size()));
    if (number) found[*number] = JoinPath(folder, file);
  }
  return found;
}

std::string LastNumberIn(const std::string& folder, uint64_t number) {
  return fmt::format("{}/{:08}{}", folder, number, kLastEnd);
}

// Keeps `number`, durably, in place of lower ones.
Result<void> KeepLastNumber(const Objects& objects, const std::string& folder,
                            uint64_t number) {
  DOLIUM_TRY(auto kept, LastNumbers(objects, folder));
  if (!kept.contains(number)) {
    DOLIUM_TRY([[maybe_unused]] const bool is_new,
               objects.Claim(LastNumberIn(folder, number)));
    DOLIUM_TRY_VOID(objects.SettleFolder(folder));
  }
  for (const auto& [lower, object] : kept) {
    if (lower >= number) continue;
    DOLIUM_TRY([[maybe_unused]] const bool was_there, objects.Remove(object));
  }
  return {};
}

// The number behind the last one that was given.
Result<uint64_t> NextSequence(const Layout& layout, const std::string& name) {
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, name));
  DOLIUM_TRY(const auto kept, LastNumbers(layout.objects(), layout.name_folder(name)));
  return 1 + std::max(files.empty() ? 0 : files.back().sequence,
                      kept.empty() ? 0 : kept.rbegin()->first);
}

// Takes a number where no lock keeps others from taking it: whoever makes the object that
// keeps it has it. It is removed when the version is there, so one that could be made may
// come too late; then a version has the number, and is listed.
Result<uint64_t> ClaimSequence(const Layout& layout, const std::string& name) {
  const Objects& objects = layout.objects();
  while (true) {
    DOLIUM_TRY(const uint64_t sequence, NextSequence(layout, name));
    const std::string claim = LastNumberIn(layout.name_folder(name), sequence);
    DOLIUM_TRY(const bool is_ours, objects.Claim(claim));
    if (!is_ours) continue;
    DOLIUM_TRY(const auto files, ListVersionFiles(layout, name));
    if (files.empty() || files.back().sequence < sequence) return sequence;
    DOLIUM_TRY([[maybe_unused]] const bool was_there, objects.Remove(claim));
  }
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
  std::string kind(VersionKindName(version.kind));
  if (version.has_special) kind += kSpecialEnd;
  // Names are bytes; JSON holds them escaped.
  nlohmann::ordered_json json = {{"name", EscapeName(version.name)},
                                 {"sequence", version.sequence},
                                 {"created", version.created},
                                 {"kind", kind},
                                 {"hash", ToString(version.hash)}};
  if (version.kind == VersionKind::kFile) {
    json["mode"] = version.mode;
    json["modified"] = version.modified;
    if (version.is_sparse) json["sparse"] = true;
    AddAttributes(json, version.attributes);
  }
  json["aligned"] = version.is_aligned;
  json["files"] = version.totals.files;
  json["bytes"] = version.totals.bytes;
  json["chunks"] = version.totals.chunks;
  json["new_chunks"] = version.totals.new_chunks;
  json["new_bytes"] = version.totals.new_bytes;
  json["stored_bytes"] = version.totals.stored_bytes;
  if (!version.host.empty()) json["host"] = version.host;
  if (!version.tags.empty()) json["tags"] = version.tags;
  return DumpJson(json) + "\n";
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
    const auto text_of_kind = Member<std::string>(*json, "kind");
    std::string_view kind = text_of_kind;
    if (kind.ends_with(kSpecialEnd) && kind != "file/2") {
      version.has_special = true;
      kind.remove_suffix(kSpecialEnd.size());
    }
    if (kind == "folder") {
      version.kind = VersionKind::kFolder;
    } else if (kind == "paths") {
      version.kind = VersionKind::kPaths;
    } else if (kind != "file") {
      return Unsupported(fmt::format("a version of kind \"{}\"", text_of_kind));
    }
    DOLIUM_TRY(version.hash, xet::ParseHash(Member<std::string>(*json, "hash")));
    if (version.kind == VersionKind::kFile) {
      version.mode = Member<uint32_t>(*json, "mode");
      version.modified = Member<int64_t>(*json, "modified");
      version.is_sparse = json->value("sparse", false);
      DOLIUM_TRY(version.attributes, ParseAttributes(*json));
    }
    version.host = json->value("host", "");
    version.tags = json->value("tags", version.tags);
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

Result<void> CheckLabel(std::string_view what, const std::string& label) {
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == ',';
  };
  bool is_utf8 = true;
  try {
    [[maybe_unused]] const std::string text = DumpJson(nlohmann::json(label));
  } catch (const nlohmann::json::exception&) {
    is_utf8 = false;
  }
  if (!label.empty() && label.size() <= kLongestLabel && is_utf8 &&
      std::none_of(label.begin(), label.end(), is_bad)) {
    return {};
  }
  return InvalidArgument(fmt::format(
      "\"{}\" is no {}: 1 to {} bytes of UTF-8 are, without commas and control "
      "characters",
      is_utf8 ? label : "", what, kLongestLabel));
}

Result<std::vector<std::string>> ListNames(const Layout& layout) {
  std::vector<std::string> names;
  DOLIUM_TRY(const auto folders, layout.objects().List(layout.names()));
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
  DOLIUM_TRY(const auto all, layout.objects().List(folder));
  for (const std::string& file : all) {
    auto found = ParseFileName(file);
    if (!found) continue;
    found->path = JoinPath(folder, file);
    files.push_back(*std::move(found));
  }
  std::sort(files.begin(), files.end(), [](const VersionFile& a, const VersionFile& b) {
    return std::tie(a.sequence, a.check) < std::tie(b.sequence, b.check);
  });
  return files;
}

Result<Version> ReadVersionFile(const Layout& layout, const VersionFile& file,
                                std::string_view name) {
  DOLIUM_TRY(const Bytes bytes, layout.objects().ReadSmall(file.path, kVersionLimit));
  const std::string described = layout.objects().Describe(file.path);
  const std::string_view text = AsText(bytes);
  if (CheckOf(text) != file.check) {
    return Corrupt(fmt::format("{}: its bytes give {}, not the check in its name",
                               described, CheckOf(text)));
  }
  DOLIUM_TRY(auto version, ParseVersion(text).Within(described));
  if (version.name != name || version.sequence != file.sequence) {
    return Corrupt(fmt::format("{}: is of version {}", described, version.reference()));
  }
  return version;
}

Result<std::vector<Version>> ListVersions(const Layout& layout, std::string_view name) {
  std::vector<Version> versions;
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, name));
  for (const VersionFile& file : files) {
    auto version = ReadVersionFile(layout, file, name);
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
  if (!reference.sequence) return ReadVersionFile(layout, files.back(), reference.name);
  for (const VersionFile& file : files) {
    if (file.sequence == *reference.sequence) {
      return ReadVersionFile(layout, file, reference.name);
    }
  }
  return NotFound(fmt::format("{}@{}: no such version; the latest is {}", reference.name,
                              *reference.sequence, files.back().sequence));
}

Result<void> AddVersion(const Layout& layout, const Lease& lease, Version& version) {
  DOLIUM_TRY_VOID(CheckName(version.name));
  // Keeps gc from removing the folder while it is empty.
  DOLIUM_TRY(const StoreLock shared, StoreLock::Shared(layout, lease.stop()));
  DOLIUM_TRY_VOID(lease.CheckNoted());
  const Objects& objects = layout.objects();
  const std::string folder = layout.name_folder(version.name);
  DOLIUM_TRY_VOID(objects.MakeFolder(folder));
  DOLIUM_TRY(const auto lock, objects.LockFolder(folder));
  if (lock) {
    DOLIUM_TRY(version.sequence, NextSequence(layout, version.name));
  } else {
    DOLIUM_TRY(version.sequence, ClaimSequence(layout, version.name));
  }
  version.created = NowNanoseconds();
  const std::string text = FormatVersion(version);
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease.id()));
  DOLIUM_TRY_VOID(file.Append(AsBytes(text)));
  DOLIUM_TRY_VOID(objects.Publish(
      std::move(file),
      fmt::format("{}/{:08}-{}{}", folder, version.sequence, CheckOf(text), kEnd)));
  if (lock) return {};
  DOLIUM_TRY([[maybe_unused]] const bool was_there,
             objects.Remove(LastNumberIn(folder, version.sequence)));
  return {};
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
  const Objects& objects = layout.objects();
  DOLIUM_TRY(const auto lock, objects.LockFolder(folder));
  DOLIUM_TRY(const auto files, ListVersionFiles(layout, reference.name));
  if (!files.empty() && is_meant(files.back())) {
    DOLIUM_TRY_VOID(KeepLastNumber(objects, folder, files.back().sequence));
  }
  size_t removed = 0;
  for (const VersionFile& file : files) {
    if (!is_meant(file)) continue;
    DOLIUM_TRY(const bool was_there, objects.Remove(file.path));
    if (was_there) ++removed;
  }
  if (removed == 0) {
    return NotFound(fmt::format("{}: was removed meanwhile", reference.name));
  }
  DOLIUM_TRY_VOID(objects.SettleFolder(folder));
  return removed;
}

Result<void> ForgetName(const Layout& layout, const std::string& folder, int64_t before) {
  const Objects& objects = layout.objects();
  DOLIUM_TRY(const auto files, objects.List(folder));
  for (const std::string& file : files) {
    if (!file.ends_with(kLastEnd)) return {};
    DOLIUM_TRY(const auto info, objects.Stat(JoinPath(folder, file)));
    if (info && (!info->modified || *info->modified > before)) return {};
  }
  for (const std::string& file : files) {
    DOLIUM_TRY([[maybe_unused]] const bool was_there,
               objects.Remove(JoinPath(folder, file)));
  }
  objects.RemoveFolder(folder);  // Refused if anything else is there.
  return {};
}

}  // namespace dolium::cas
