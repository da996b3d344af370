#include "dolium/domain/cas/manifest.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "dolium/container/json.h"
#include "dolium/domain/cas/layout.h"

namespace dolium::cas {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr uint32_t kModeBits = 07777;

std::optional<std::string> FromHex(std::string_view hex) {
  std::string text;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return std::nullopt;
    text += static_cast<char>(value);
  }
  return text;
}

std::string ToHex(std::string_view text) {
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Result<uint32_t> GetNumber(const nlohmann::json& json, const std::string& name) {
  if (json.is_number_unsigned() && json.get<uint64_t>() <= UINT32_MAX) {
    return json.get<uint32_t>();
  }
  return Corrupt(fmt::format("\"{}\" is no number of 32 bits", name));
}

Result<std::string> GetText(const nlohmann::json& json, const std::string& name) {
  if (json.contains(name)) return json.at(name).get<std::string>();
  auto text = FromHex(json.at(name + "_hex").get<std::string>());
  if (!text) return Corrupt(fmt::format("\"{}_hex\" is not hex", name));
  return *std::move(text);
}

// Whether a path stays within the folder, whatever is in it.
bool IsSafe(std::string_view path) {
  if (path == ".") return true;
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Result<ManifestEntry> FromJson(const nlohmann::json& json) {
  ManifestEntry entry;
  DOLIUM_TRY(entry.path, GetText(json, "path"));
  if (!IsSafe(entry.path)) {
    return Corrupt(fmt::format("path \"{}\" leads out of the folder", entry.path));
  }
  const auto type = json.at("type").get<std::string>();
  entry.modified = json.at("modified").get<int64_t>();
  DOLIUM_TRY(entry.attributes, ParseAttributes(json));
  if (type == "link") {
    entry.type = EntryType::kLink;
    DOLIUM_TRY(entry.target, GetText(json, "target"));
    return entry;
  }
  entry.mode = json.at("mode").get<uint32_t>() & kModeBits;
  if (type == "folder") {
    entry.type = EntryType::kFolder;
  } else if (type == "file") {
    entry.size = json.at("size").get<uint64_t>();
    DOLIUM_TRY(entry.hash, xet::ParseHash(json.at("hash").get<std::string>()));
    entry.inode = json.value("inode", entry.inode);
    entry.is_sparse = json.value("sparse", false);
  } else if (type == "fifo") {
    entry.type = EntryType::kPipe;
  } else if (type == "char" || type == "block") {
    entry.type = type == "char" ? EntryType::kCharDevice : EntryType::kBlockDevice;
    const auto& device = json.at("device");
    DOLIUM_TRY(entry.device_major, GetNumber(device.at(0), "device"));
    DOLIUM_TRY(entry.device_minor, GetNumber(device.at(1), "device"));
  } else {
    return Corrupt(fmt::format("an entry of type \"{}\"", type));
  }
  return entry;
}

}  // namespace

void AddText(nlohmann::ordered_json& json, const std::string& name,
             const std::string& text) {
  json[name] = text;
  try {
    [[maybe_unused]] const std::string line = DumpJson(json[name]);
  } catch (const nlohmann::json::exception&) {
    json.erase(name);
    json[name + "_hex"] = ToHex(text);
  }
}

std::string_view EntryTypeName(EntryType type) {
  switch (type) {
    case EntryType::kFile:
      return "file";
    case EntryType::kFolder:
      return "folder";
    case EntryType::kLink:
      return "link";
    case EntryType::kPipe:
      return "fifo";
    case EntryType::kCharDevice:
      return "char";
    case EntryType::kBlockDevice:
      return "block";
  }
  return "";
}

void AddAttributes(nlohmann::ordered_json& json, const FileAttributes& attributes) {
  if (attributes.owner) {
    json["uid"] = attributes.owner->user;
    json["gid"] = attributes.owner->group;
  }
  if (attributes.extended.empty()) return;
  nlohmann::ordered_json& extended = json["xattrs"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : attributes.extended) {
    extended[EscapeName(name)] = ToHex(value);
  }
}

Result<FileAttributes> ParseAttributes(const nlohmann::json& json) {
  FileAttributes attributes;
  if (json.contains("uid")) {
    Owner& owner = attributes.owner.emplace();
    DOLIUM_TRY(owner.user, GetNumber(json.at("uid"), "uid"));
    DOLIUM_TRY(owner.group, GetNumber(json.at("gid"), "gid"));
  }
  if (!json.contains("xattrs")) return attributes;
  for (const auto& [escaped, hex] : json.at("xattrs").items()) {
    const auto name = UnescapeName(escaped);
    auto value = FromHex(hex.get<std::string>());
    if (!name || name->empty() || name->find('\0') != std::string::npos || !value) {
      return Corrupt(fmt::format("\"{}\" is no extended attribute", escaped));
    }
    attributes.extended.emplace(*name, *std::move(value));
  }
  return attributes;
}

nlohmann::ordered_json EntryJson(const ManifestEntry& entry) {
  nlohmann::ordered_json json;
  AddText(json, "path", entry.path);
  json["type"] = EntryTypeName(entry.type);
  if (entry.type != EntryType::kLink) json["mode"] = entry.mode;
  json["modified"] = entry.modified;
  if (entry.type == EntryType::kFile) {
    json["size"] = entry.size;
    json["hash"] = ToString(entry.hash);
  }
  if (entry.type == EntryType::kLink) AddText(json, "target", entry.target);
  if (entry.type == EntryType::kCharDevice || entry.type == EntryType::kBlockDevice) {
    json["device"] = {entry.device_major, entry.device_minor};
  }
  if (entry.inode != 0) json["inode"] = entry.inode;
  if (entry.is_sparse) json["sparse"] = true;
  AddAttributes(json, entry.attributes);
  return json;
}

std::string FormatEntry(const ManifestEntry& entry) {
  return DumpJson(EntryJson(entry)) + "\n";
}

Result<ManifestEntry> ParseEntry(std::string_view line) {
  auto json = ParseJson(line);
  if (!json) return Corrupt(json.error().message);
  try {
    auto entry = FromJson(*json);
    if (!entry && entry.error().code != ErrorCode::kCorrupt) {
      return Corrupt(entry.error().message);
    }
    return entry;
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(fmt::format("no entry: {}", error.what()));
  }
}

bool MoveBelow(const std::string& folder, std::string& path) {
  if (folder.empty()) return true;
  if (path == folder) {
    path = ".";
    return true;
  }
  if (!path.starts_with(folder + "/")) return false;
  path.erase(0, folder.size() + 1);
  return true;
}

Result<void> ManifestReader::Write(BytesView segment) {
  std::string_view text = AsText(segment);
  while (true) {
    const size_t end = text.find('\n');
    if (pending_.size() + std::min(end, text.size()) > kLongestLine) {
      return Corrupt(fmt::format("manifest: line {} is too long", lines_ + 1));
    }
    if (end == std::string_view::npos) {
      pending_ += text;
      return {};
    }
    pending_ += text.substr(0, end);
    text.remove_prefix(end + 1);
    ++lines_;
    DOLIUM_TRY(auto entry,
               ParseEntry(pending_).Within(fmt::format("manifest: line {}", lines_)));
    pending_.clear();
    DOLIUM_TRY_VOID(visit_(std::move(entry)));
  }
}

Result<void> ManifestReader::Finish() const {
  if (pending_.empty()) return {};
  return Corrupt(fmt::format("manifest: ends within line {}", lines_ + 1));
}

}  // namespace dolium::cas
