#include "dolium/ops/read_key.h"

#include <utility>

#include "dolium/container/index_cache.h"

namespace dolium {
namespace {

// A busy writer may win many times in a row. What is not there at all, like a xorb that
// is lost, is not asked for as often.
constexpr int kKeyAttempts = 64;
constexpr int kAbsentAttempts = 4;

Result<bool> IsEntryCurrent(const Container& container, const Entry& entry) {
  for (const Extent& extent : entry.extents) {
    DOLIUM_TRY(const auto now, container.store().Stat(extent.object->name));
    if (!now || now->generation != extent.object->generation) return false;
  }
  return true;
}

}  // namespace

bool IsReplaced(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound;
}

void ForgetKey(const Container& container, std::string_view key) {
  if (const auto* const cache = dynamic_cast<const IndexCache*>(&container)) {
    cache->Forget(key);
  }
}

Result<bool> WithEntry(const Container& container, std::string_view key,
                       const std::function<Result<void>(const Entry& entry)>& read) {
  int absent = 0;
  for (int attempt = 1;; ++attempt) {
    const auto once = [&]() -> Result<bool> {
      DOLIUM_TRY(const auto entry, container.Find(key));
      if (!entry) return false;
      DOLIUM_TRY_VOID(read(*entry));
      return true;
    }();
    if (once || !IsReplaced(once.error()) || attempt == kKeyAttempts) return once;
    if (once.error().code == ErrorCode::kNotFound && ++absent == kAbsentAttempts) {
      return once;
    }
    ForgetKey(container, key);
  }
}

Result<std::optional<Entry>> FindCurrent(const Container& container,
                                         std::string_view key) {
  std::optional<Entry> found;
  const auto is_there =
      WithEntry(container, key, [&](const Entry& entry) -> Result<void> {
        found = entry;
        DOLIUM_TRY(const bool is_current, IsEntryCurrent(container, entry));
        if (is_current) return {};
        return Conflict("its object is not as the index has it");
      });
  if (is_there) return *is_there ? found : std::nullopt;
  // An entry may name an object that is lost: that is how it is now.
  if (found && IsReplaced(is_there.error())) return found;
  return is_there.error();
}

Result<std::optional<EntryData>> ReadKey(const Container& container, std::string_view key,
                                         bool raw, const ReadLimits& limits) {
  std::optional<EntryData> data;
  DOLIUM_TRY(const bool is_there,
             WithEntry(container, key, [&](const Entry& entry) -> Result<void> {
               DOLIUM_TRY(data, raw ? ReadStored(container.store(), entry, limits)
                                    : ReadEntry(container.store(), entry, limits));
               return {};
             }));
  if (!is_there) data.reset();
  return data;
}

}  // namespace dolium
