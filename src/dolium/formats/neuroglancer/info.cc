#include "dolium/formats/neuroglancer/info.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium::neuroglancer {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kInfoName = "info";
constexpr uint64_t kMaxInfoBytes = uint64_t{64} << 20;
constexpr int kLevelsAbove = 3;

Kind KindOfType(std::string_view type) {
  if (type == "neuroglancer_multilod_draco") return Kind::kMesh;
  if (type == "neuroglancer_skeletons") return Kind::kSkeletons;
  if (type == "neuroglancer_annotations_v1") return Kind::kAnnotations;
  if (type == "neuroglancer_multiscale_volume") return Kind::kVolume;
  return Kind::kUnknown;
}

// Adds the folder of an element like {"key": "8_8_8", "sharding": {...}}.
Result<void> AddKeyed(const Json& element, Kind kind, std::string_view where,
                      std::vector<ShardedFolder>& folders) {
  if (!element.is_object()) {
    return InvalidArgument(
        fmt::format("\"{}\" holds {}, expected an object", where, element.type_name()));
  }
  const auto sharding = element.find("sharding");
  if (sharding == element.end() || sharding->is_null()) return {};
  const auto key = element.find("key");
  if (key == element.end() || !key->is_string()) {
    return InvalidArgument(fmt::format("\"{}\" has an element without a \"key\"", where));
  }
  DOLIUM_TRY(ShardingSpec spec, ParseSharding(*sharding).Within(where));
  folders.push_back({key->get<std::string>(), spec, kind});
  return {};
}

Result<void> AddAllKeyed(const Json& info, const char* member, Kind kind,
                         std::vector<ShardedFolder>& folders) {
  const auto list = info.find(member);
  if (list == info.end()) return {};
  if (!list->is_array()) {
    return InvalidArgument(
        fmt::format("\"{}\" is {}, expected an array", member, list->type_name()));
  }
  for (const Json& element : *list) {
    DOLIUM_TRY_VOID(AddKeyed(element, kind, member, folders));
  }
  return {};
}

Result<std::vector<ShardedFolder>> FoldersOf(const Json& info) {
  if (!info.is_object()) {
    return InvalidArgument(
        fmt::format("found {}, expected a JSON object", info.type_name()));
  }
  const auto type_member = info.find("@type");
  const std::string type = type_member != info.end() && type_member->is_string()
                               ? type_member->get<std::string>()
                               : std::string();
  std::vector<ShardedFolder> folders;
  if (type == kShardingType) {
    DOLIUM_TRY(const ShardingSpec spec, ParseSharding(info));
    folders.push_back({"", spec, Kind::kUnknown});
    return folders;
  }
  if (const auto own = info.find("sharding"); own != info.end() && !own->is_null()) {
    DOLIUM_TRY(const ShardingSpec spec, ParseSharding(*own));
    folders.push_back({"", spec, KindOfType(type)});
  }
  DOLIUM_TRY_VOID(AddAllKeyed(info, "scales", Kind::kVolume, folders));
  if (const auto by_id = info.find("by_id"); by_id != info.end()) {
    DOLIUM_TRY_VOID(AddKeyed(*by_id, Kind::kAnnotations, "by_id", folders));
  }
  DOLIUM_TRY_VOID(AddAllKeyed(info, "relationships", Kind::kAnnotations, folders));
  DOLIUM_TRY_VOID(AddAllKeyed(info, "spatial", Kind::kAnnotations, folders));
  return folders;
}

// The text of `folder`/info; nullopt if there is none.
Result<std::optional<std::string>> ReadInfo(const Location& folder) {
  auto whole = folder.store->ReadWhole(JoinPath(folder.path, kInfoName), kMaxInfoBytes);
  if (!whole) {
    if (whole.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::move(whole).error();
  }
  return std::string(AsText(whole->bytes));
}

std::string ListFolders(const std::vector<ShardedFolder>& folders) {
  std::string text;
  for (const ShardedFolder& folder : folders) {
    if (!text.empty()) text += ", ";
    text += folder.folder;
  }
  return text;
}

// The one of `folders` (of an info in `info_folder`) that is `path`; nullptr if none is.
const ShardedFolder* Match(const std::vector<ShardedFolder>& folders,
                           std::string_view info_folder, std::string_view path) {
  const std::string wanted = NormalizePath(path);
  for (const ShardedFolder& folder : folders) {
    const std::string candidate = folder.folder.empty()
                                      ? std::string(info_folder)
                                      : JoinPath(info_folder, folder.folder);
    if (NormalizePath(candidate) == wanted) return &folder;
  }
  return nullptr;
}

// The folder above; unlike ParentPath, also for ".", ".." and "".
std::string Above(const std::string& path) {
  const std::string normal = NormalizePath(path);
  if (normal.empty() || normal == "." || normal == ".." || normal.ends_with("/..")) {
    return JoinPath(normal == "." ? "" : normal, "..");
  }
  const std::string parent = ParentPath(normal);
  return parent.empty() ? "." : parent;
}

}  // namespace

std::string_view ToString(Kind kind) {
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kVolume:
      return "volume chunks";
    case Kind::kMesh:
      return "multi-resolution meshes";
    case Kind::kSkeletons:
      return "skeletons";
    case Kind::kAnnotations:
      return "annotations";
  }
  return "unknown";
}

Result<std::vector<ShardedFolder>> ParseInfo(std::string_view text) {
  DOLIUM_TRY(const Json info, ParseJson(text));
  return FoldersOf(info);
}

Result<ShardingInfo> FindSharding(const Location& folder) {
  std::string info_folder = folder.path;
  for (int level = 0; level <= kLevelsAbove; ++level) {
    const Location at{folder.store, info_folder};
    DOLIUM_TRY(const std::optional<std::string> text, ReadInfo(at));
    if (text) {
      const std::string name = at.Child(kInfoName).Describe();
      const auto folders = ParseInfo(*text);
      // It is what is stored that is wrong, and not what the caller asks for.
      if (!folders) return Corrupt(folders.error().message).Within(name);
      if (const ShardedFolder* match = Match(*folders, info_folder, folder.path)) {
        return ShardingInfo{match->spec, match->kind,
                            match->folder.empty() ? *text : std::string(), name};
      }
      if (level == 0 && !folders->empty()) {
        return InvalidArgument(
            fmt::format("{}: describes {} sharded folders; name one: {}", name,
                        folders->size(), ListFolders(*folders)));
      }
      if (level == 0) {
        return NotFound(
            fmt::format("{}: no \"sharding\"; these data are not sharded", name));
      }
    }
    info_folder = Above(info_folder);
  }
  return NotFound(fmt::format("{}: no info file in it or above it describes these shards",
                              folder.Describe()))
      .WithHint(Hint::kGiveSharding);
}

Result<ShardingInfo> ShardingFromText(std::string_view text, const Location& folder) {
  DOLIUM_TRY(const auto folders, ParseInfo(text));
  if (folders.empty()) return InvalidArgument("no \"sharding\" in it");
  const ShardedFolder* chosen = folders.size() == 1 ? &folders.front() : nullptr;
  for (const ShardedFolder& candidate : folders) {
    if (chosen == nullptr && BaseName(candidate.folder) == BaseName(folder.path)) {
      chosen = &candidate;
    }
  }
  if (chosen == nullptr) {
    return InvalidArgument(
        fmt::format("describes {} sharded folders and none is named \"{}\": {}",
                    folders.size(), BaseName(folder.path), ListFolders(folders)));
  }
  const bool whole_info =
      chosen->folder.empty() && Json::parse(text, nullptr, false).contains("sharding");
  return ShardingInfo{chosen->spec, chosen->kind,
                      whole_info ? std::string(text) : std::string(), "given spec"};
}

std::string InfoText(std::string_view own_info, const ShardingSpec& spec) {
  Json info = Json::object();
  if (!own_info.empty()) {
    info = Json::parse(own_info, nullptr, /*allow_exceptions=*/false);
    if (!info.is_object()) info = Json::object();
  }
  info["sharding"] = ToJson(spec);
  return DumpJson(info, 2) + "\n";
}

}  // namespace dolium::neuroglancer
