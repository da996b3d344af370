#include "dolium/bytes/location.h"

#include <linux/limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "dolium/bytes/cached_store.h"
#include "dolium/bytes/default_cache.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/http_store.h"

namespace dolium {
namespace {

constexpr std::string_view kPrecomputedSuffix = "|neuroglancer-precomputed:";
constexpr std::string_view kGoogleStorage = "https://storage.googleapis.com";

// The stores in use, by what they stand for. Holds none of them alive.
class StoreRegistry {
 public:
  // The store under `key`, made by `open` if there is none.
  template <typename Open>
  Result<std::shared_ptr<Store>> Find(const std::string& key, const Open& open) {
    const std::lock_guard lock(mutex_);
    std::erase_if(stores_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<Store>& known = stores_[key];
    if (std::shared_ptr<Store> store = known.lock()) return store;
    DOLIUM_TRY(std::shared_ptr<Store> store, open());
    known = store;
    return store;
  }

  static StoreRegistry& Instance() {
    static StoreRegistry* const registry = new StoreRegistry;  // Outlives all threads.
    return *registry;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Store>> stores_;  // guarded by mutex_
};

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

std::string_view DropSlashesAfter(std::string_view path, size_t keep) {
  while (path.size() > keep && path.back() == '/') path.remove_suffix(1);
  return path;
}

// The scheme of `scheme://...` in lower case; nullopt if the text is a path.
std::optional<std::string> SchemeOf(std::string_view text) {
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string scheme = Lowered(text.substr(0, colon));
  const auto may_stand_in_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  };
  if (!std::all_of(scheme.begin(), scheme.end(), may_stand_in_scheme))
    return std::nullopt;
  return scheme;
}

Result<Location> LocalLocation(std::string_view path) {
  if (path.empty()) return InvalidArgument("the location is empty");
  if (path.find('\0') != std::string_view::npos) {
    return InvalidArgument("the location has a NUL character in it");
  }
  // Relative paths are taken from the directory that is current now.
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof directory) == nullptr) {
    return SystemError(errno, "finding the current directory");
  }
  DOLIUM_TRY(auto store,
             StoreRegistry::Instance().Find(fmt::format("file:{}", directory),
                                            [] { return FileStore::Open("."); }));
  return Location{std::move(store), std::string(DropSlashesAfter(path, 1))};
}

// `rest` is what follows "file://".
Result<Location> FileUrlLocation(std::string_view rest) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string host = Lowered(rest.substr(0, slash));
  if (!host.empty() && host != "localhost") {
    return InvalidArgument(fmt::format(
        "file://{}: names the host \"{}\"; a local file has three slashes: file:///path",
        rest, host));
  }
  if (slash == rest.size())
    return InvalidArgument(fmt::format("file://{}: has no path", rest));
  return LocalLocation(DecodeUrlPath(rest.substr(slash)));
}

Result<Location> HttpLocation(const std::string& origin, std::string_view path,
                              std::string_view query) {
  const std::string scope = fmt::format("{}?{}", origin, query);
  DOLIUM_TRY(const auto cache, CurrentCache());
  const auto open_remote = [&]() -> Result<std::shared_ptr<Store>> {
    DOLIUM_TRY(HttpOptions options, HttpOptionsFromEnvironment());
    DOLIUM_TRY(auto remote, HttpStore::Open(origin, query, std::move(options)));
    return std::shared_ptr<Store>(std::move(remote));
  };
  const auto open_cached = [&]() -> Result<std::shared_ptr<Store>> {
    DOLIUM_TRY(auto remote, open_remote());
    DOLIUM_TRY(auto cached, CachedStore::Open(std::move(remote), scope, *cache));
    return std::shared_ptr<Store>(std::move(cached));
  };
  StoreRegistry& stores = StoreRegistry::Instance();
  DOLIUM_TRY(auto store, cache
                             ? stores.Find(fmt::format("{} {} {} {}", scope, cache->limit,
                                                       cache->offline, cache->folder),
                                           open_cached)
                             : stores.Find(scope, open_remote));
  path = DropSlashesAfter(path, 0);
  while (path.starts_with('/')) path.remove_prefix(1);
  return Location{std::move(store), std::string(path)};
}

// `rest` is what follows "http://" or "https://".
Result<Location> HttpUrlLocation(const std::string& scheme, std::string_view rest) {
  if (rest.find('#') != std::string_view::npos) {
    return InvalidArgument(
        fmt::format("{}://{}: has a fragment; write %23 for # in a name", scheme,
                    rest.substr(0, rest.find_first_of("?#"))));
  }
  std::string_view query;
  if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string origin =
      fmt::format("{}://{}", scheme, Lowered(rest.substr(0, slash)));
  std::string path = DecodeUrlPath(rest.substr(slash));
  if (fmt::format("{}/", path).find("/./") != std::string::npos ||
      fmt::format("{}/", path).find("/../") != std::string::npos) {
    path = NormalizePath(path);
  }
  return HttpLocation(origin, path, query);
}

// `rest` is what follows "gs://". Names are taken literally, as Google's own tools do.
Result<Location> GoogleLocation(std::string_view rest) {
  if (rest.empty() || rest.starts_with('/')) {
    return InvalidArgument(fmt::format("gs://{}: has no bucket", rest));
  }
  return HttpLocation(std::string(kGoogleStorage), rest, {});
}

}  // namespace

bool IsLocal(const Location& location) {
  const auto path = location.store->LocalPath(location.path);
  return path && path->has_value();
}

Result<Location> ParseLocation(std::string_view text) {
  if (text.ends_with(kPrecomputedSuffix)) text.remove_suffix(kPrecomputedSuffix.size());
  auto scheme = SchemeOf(text);
  if (scheme == "precomputed") {
    text.remove_prefix(scheme->size() + 3);
    scheme = SchemeOf(text);
  }
  if (!scheme) return LocalLocation(text);
  const std::string_view rest = text.substr(scheme->size() + 3);
  if (*scheme == "file") return FileUrlLocation(rest);
  if (*scheme == "http" || *scheme == "https") return HttpUrlLocation(*scheme, rest);
  if (*scheme == "gs") return GoogleLocation(rest);
  const std::string_view shown = text.substr(0, text.find('?'));
  if (*scheme == "s3") {
    return Unsupported(
        fmt::format("{}: S3 is not supported yet; a public bucket can be read at its "
                    "https:// address",
                    shown));
  }
  return InvalidArgument(fmt::format(
      "{}: unknown scheme \"{}\"; known are file, http, https, gs and precomputed", shown,
      *scheme));
}

}  // namespace dolium
