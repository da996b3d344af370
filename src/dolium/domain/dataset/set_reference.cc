#include "dolium/domain/dataset/set_reference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/unfinished.h"
#include "dolium/domain/dataset/glob.h"
#include "dolium/domain/dataset/shard_names.h"

namespace dolium::dataset {
namespace {

constexpr uint64_t kMaxListBytes = uint64_t{64} << 20;
constexpr std::string_view kShardSuffix = ".shardpack";

bool HasScheme(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

struct Names {
  std::vector<std::string> files;
  std::vector<std::string> folders;
};

// The names in `folder` that `wanted` is true for, sorted.
template <typename Wanted>
Result<Names> NamesIn(const Location& folder, const Wanted& wanted) {
  Names names;
  DOLIUM_TRY_VOID(
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (wanted(name)) (is_folder ? names.folders : names.files).emplace_back(name);
        return true;
      }));
  std::sort(names.files.begin(), names.files.end());
  std::sort(names.folders.begin(), names.folders.end());
  return names;
}

// Where a list or catalog leads: `name`, as it stands there, from the folder it is in.
Result<Location> Beside(const Location& folder, std::string_view name) {
  const bool local = IsLocal(folder);
  const bool is_local_name =
      HasScheme(name) ? name.starts_with("file:") : name.starts_with('/');
  if (is_local_name && !local) {
    return InvalidArgument(fmt::format(
        "\"{}\" is a local name, in a list that was read over the network", name));
  }
  if (HasScheme(name) || is_local_name) return ParseLocation(name);
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  Location location = folder.Child(name);
  if (local) return location;
  location.path = NormalizePath(location.path);
  if (location.path == ".." || location.path.starts_with("../")) {
    return InvalidArgument(fmt::format("\"{}\" leads out of its server", name));
  }
  return location;
}

// Collects the shards of references. Text that a user typed is seen from the current
// directory, text in a list from the list's folder.
class Resolver {
 public:
  std::vector<ShardReference> Take() && { return std::move(shards_); }

  Result<void> AddTyped(std::string_view text) {
    if (text.empty()) return InvalidArgument("the name of a set is empty");
    if (text.starts_with('@')) {
      DOLIUM_TRY(const Location list, ParseLocation(text.substr(1)));
      return AddList(list);
    }
    return AddText(text, nullptr);
  }

 private:
  // `list_folder` is nullptr for text that a user typed.
  Result<void> AddText(std::string_view text, const Location* list_folder) {
    // What follows the ? of a URL belongs to the server.
    const size_t query =
        HasScheme(text) ? std::min(text.find('?'), text.size()) : text.size();
    if (query == text.size()) {
      DOLIUM_TRY(const Location literal, LocationOf(text, list_folder));
      if (IsLocal(literal)) {
        DOLIUM_TRY(const bool found, AddIfThere(literal, list_folder));
        if (found) return {};
      }
    }
    DOLIUM_TRY(const auto names, ExpandBraces(text.substr(0, query)));
    for (const std::string& name : names) {
      DOLIUM_TRY(const Location location,
                 LocationOf(fmt::format("{}{}", name, text.substr(query)), list_folder));
      if (!IsLocal(location)) {
        DOLIUM_TRY_VOID(AddRemote(location, name, list_folder));
      } else if (IsGlob(location.path)) {
        DOLIUM_TRY_VOID(AddGlob(location));
      } else {
        DOLIUM_TRY(const bool found, AddIfThere(location, list_folder));
        if (!found) {
          return NotFound(fmt::format("{}: no such file or folder", location.Describe()));
        }
      }
    }
    return {};
  }

  static Result<Location> LocationOf(std::string_view text, const Location* list_folder) {
    return list_folder == nullptr ? ParseLocation(text) : Beside(*list_folder, text);
  }

  Result<void> AddShard(Location location, std::optional<CatalogShard> known = {}) {
    if (shards_.size() == kMaxExpandedNames) {
      return InvalidArgument(
          fmt::format("a set of more than {} shards", kMaxExpandedNames));
    }
    shards_.push_back({std::move(location), std::move(known)});
    return {};
  }

  // A shard, or what its name says that it is instead.
  Result<void> AddObject(const Location& object, const Location* list_folder) {
    const bool is_list = object.path.ends_with(".txt");
    const bool is_catalog = object.path.ends_with(".json");
    if (!is_list && !is_catalog) return AddShard(object);
    if (list_folder != nullptr) {
      return InvalidArgument(fmt::format(
          "{}: a list names shards, not other lists or catalogs", object.Describe()));
    }
    return is_list ? AddList(object) : AddCatalog(object);
  }

  // False if there is neither a local file nor a folder.
  Result<bool> AddIfThere(const Location& location, const Location* list_folder) {
    DOLIUM_TRY(const auto info, location.store->Stat(location.path));
    if (info) {
      DOLIUM_TRY_VOID(AddObject(location, list_folder));
      return true;
    }
    auto names = NamesIn(
        location, [](std::string_view name) { return name.ends_with(kShardSuffix); });
    if (!names && names.error().code == ErrorCode::kNotFound) return false;
    if (!names) return std::move(names).error();
    if (names->files.empty()) {
      return NotFound(
          fmt::format("{}: has no *{} in it", location.Describe(), kShardSuffix));
    }
    DOLIUM_TRY_VOID(CheckFinished(location));
    DOLIUM_TRY_VOID(CheckAllMoved(location));
    for (const std::string& name : names->files) {
      DOLIUM_TRY_VOID(AddShard(location.Child(name)));
    }
    return true;
  }

  // `text` is the location as it was given, without a query.
  Result<void> AddRemote(const Location& location, std::string_view text,
                         const Location* list_folder) {
    if (location.path.find('*') != std::string::npos) {
      return Unsupported(fmt::format(
          "{}: patterns find local files only; name the shards with braces, a list or a "
          "catalog",
          location.Describe()));
    }
    if (text.ends_with('/')) {
      return Unsupported(fmt::format(
          "{}: folders can be listed only where they are local; name the shards with "
          "braces, a list or a catalog",
          location.Describe()));
    }
    return AddObject(location, list_folder);
  }

  Result<void> AddGlob(const Location& pattern) {
    const size_t before = shards_.size();
    const std::string_view path = pattern.path;
    const bool absolute = path.starts_with('/');
    DOLIUM_TRY_VOID(AddMatches({pattern.store, absolute ? "/" : ""},
                               absolute ? path.substr(1) : path));
    if (shards_.size() == before) {
      return NotFound(fmt::format("{}: matches no file", pattern.Describe()));
    }
    return {};
  }

  // The files below `folder` that the components of `pattern` lead to.
  Result<void> AddMatches(const Location& folder, std::string_view pattern) {
    const size_t slash = std::min(pattern.find('/'), pattern.size());
    const std::string_view component = pattern.substr(0, slash);
    const bool last = slash == pattern.size();
    const std::string_view rest = last ? std::string_view() : pattern.substr(slash + 1);
    if (component.empty() && !last) return AddMatches(folder, rest);
    if (!IsGlob(component)) {
      const Location child = folder.Child(component);
      if (!last) return AddMatches(child, rest);
      DOLIUM_TRY(const auto info, child.store->Stat(child.path));
      return info ? AddShard(child) : Result<void>();
    }
    auto names = NamesIn(
        folder, [&](std::string_view name) { return GlobMatches(component, name); });
    if (!names && names.error().code == ErrorCode::kNotFound) return {};
    if (!names) return std::move(names).error();
    for (const std::string& name : last ? names->files : names->folders) {
      DOLIUM_TRY_VOID(last ? AddShard(folder.Child(name))
                           : AddMatches(folder.Child(name), rest));
    }
    return {};
  }

  Result<void> AddList(const Location& list) {
    const size_t before = shards_.size();
    DOLIUM_TRY(const WholeObject whole, list.store->ReadWhole(list.path, kMaxListBytes));
    const Location folder = list.Parent();
    std::string_view text = AsText(whole.bytes);
    for (uint64_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = Trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.starts_with('#')) continue;
      DOLIUM_TRY_VOID(AddText(line, &folder)
                          .Within(fmt::format("{}: line {}", list.Describe(), number)));
    }
    if (shards_.size() == before) {
      return NotFound(fmt::format("{}: names no shards", list.Describe()));
    }
    return {};
  }

  Result<void> AddCatalog(const Location& object) {
    DOLIUM_TRY(const WholeObject whole,
               object.store->ReadWhole(object.path, kMaxCatalogBytes));
    DOLIUM_TRY(SetCatalog catalog,
               ParseCatalog(AsText(whole.bytes)).Within(object.Describe()));
    if (catalog.shards.empty()) {
      return NotFound(fmt::format("{}: names no shards", object.Describe()));
    }
    const Location folder = object.Parent();
    for (CatalogShard& shard : catalog.shards) {
      DOLIUM_TRY(Location location, Beside(folder, shard.path).Within(object.Describe()));
      DOLIUM_TRY_VOID(AddShard(std::move(location), std::move(shard)));
    }
    return {};
  }

  std::vector<ShardReference> shards_;
};

}  // namespace

Result<std::vector<ShardReference>> ResolveSet(std::span<const std::string> references) {
  if (references.empty()) return InvalidArgument("a set of no shards");
  Resolver resolver;
  for (const std::string& reference : references) {
    DOLIUM_TRY_VOID(resolver.AddTyped(reference));
  }
  return std::move(resolver).Take();
}

Result<std::vector<ShardReference>> ResolveSet(std::string_view reference) {
  const std::string text(reference);
  return ResolveSet({&text, 1});
}

}  // namespace dolium::dataset
