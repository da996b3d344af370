// The cache that locations of remote stores get; see ParseLocation().
#pragma once

#include <optional>

#include "dolium/base/result.h"
#include "dolium/bytes/cached_store.h"

namespace dolium {

// For the whole process, in place of what the environment variable DOLIUM_CACHE says;
// nullopt: what that says.
void SetDefaultCache(const std::optional<CacheOptions>& options);

// What holds for the calling thread now: the innermost CacheScope, else the default of
// the process, else DOLIUM_CACHE (as ParseCacheOptions() takes it), else none.
// kInvalidArgument if that variable is malformed.
Result<std::optional<CacheOptions>> CurrentCache();

// While it lives, the locations that this thread parses get this cache. Nothing changes
// for stores that are open.
class CacheScope {
 public:
  explicit CacheScope(CacheOptions options);
  ~CacheScope();
  CacheScope(const CacheScope&) = delete;
  CacheScope& operator=(const CacheScope&) = delete;

 private:
  const CacheOptions options_;
  const CacheOptions* const outer_;
};

}  // namespace dolium
