#include "dolium/bytes/default_cache.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace dolium {
namespace {

constexpr const char* kCacheVariable = "DOLIUM_CACHE";

thread_local const CacheOptions* scoped_cache = nullptr;

struct ProcessCache {
  std::mutex mutex;
  std::optional<CacheOptions> options;  // guarded by mutex

  static ProcessCache& Instance() {
    static ProcessCache* const instance = new ProcessCache;  // Outlives all threads.
    return *instance;
  }
};

}  // namespace

void SetDefaultCache(const std::optional<CacheOptions>& options) {
  ProcessCache& process = ProcessCache::Instance();
  const std::lock_guard lock(process.mutex);
  process.options = options;
}

Result<std::optional<CacheOptions>> CurrentCache() {
  if (scoped_cache != nullptr) return *scoped_cache;
  {
    ProcessCache& process = ProcessCache::Instance();
    const std::lock_guard lock(process.mutex);
    if (process.options) return process.options;
  }
  const char* const text = std::getenv(kCacheVariable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  DOLIUM_TRY(CacheOptions options, ParseCacheOptions(text).Within(kCacheVariable));
  return options;
}

CacheScope::CacheScope(CacheOptions options)
    : options_(std::move(options)), outer_(std::exchange(scoped_cache, &options_)) {}

CacheScope::~CacheScope() { scoped_cache = outer_; }

}  // namespace dolium
