#include "dolium/ops/read_key.h"

#include <algorithm>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/container/index_cache.h"

namespace dolium {
namespace {

// Encoded batches below this are not worth threads.
constexpr uint64_t kEntryBytesWorthThreads = uint64_t{256} << 10;

bool IsEncoded(const Entry& entry) {
  return std::ranges::any_of(entry.extents,
                             [](const Extent& extent) { return !extent.codecs.empty(); });
}

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
  const auto once = [&]() -> Result<bool> {
    DOLIUM_TRY(const auto entry, container.Find(key));
    if (!entry) return false;
    DOLIUM_TRY_VOID(read(*entry));
    return true;
  };
  return WhileReplaced(kReplacedAttempts, once, [&] { ForgetKey(container, key); });
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

Result<std::vector<std::optional<Bytes>>> ReadKeys(const Container& container,
                                                   std::span<const std::string> keys) {
  std::vector<size_t> slots;
  std::vector<Entry> entries;
  for (size_t i = 0; i < keys.size(); ++i) {
    DOLIUM_TRY(auto entry, container.Find(keys[i]));
    if (!entry) continue;
    slots.push_back(i);
    entries.push_back(*std::move(entry));
  }
  DOLIUM_TRY(auto found, ReadValues(container, std::move(entries)));
  std::vector<std::optional<Bytes>> values(keys.size());
  for (size_t i = 0; i < slots.size(); ++i) values[slots[i]] = std::move(found[i]);
  return values;
}

Result<std::vector<std::optional<Bytes>>> ReadValues(const Container& container,
                                                     std::vector<Entry> entries) {
  uint64_t encoded_bytes = 0;
  for (Entry& entry : entries) {
    entry.preceding = 0;  // Not asked for.
    entry.preceding_from.reset();
    if (IsEncoded(entry)) encoded_bytes += entry.stored_size();
  }
  auto stored = ReadManyStored(container.store(), entries);
  std::vector<std::optional<Bytes>> values(entries.size());
  const auto finish = [&](size_t i) -> Result<void> {
    if (stored[i]) {
      DOLIUM_TRY(auto data,
                 DecodeStored(container.store(), entries[i], *std::move(stored[i])));
      values[i] = std::move(data.value);
      return {};
    }
    if (!IsReplaced(stored[i].error())) return stored[i].error();
    ForgetKey(container, entries[i].key);
    DOLIUM_TRY(auto data, ReadKey(container, entries[i].key, /*raw=*/false));
    if (data) values[i] = std::move(data->value);
    return {};
  };
  const size_t jobs = encoded_bytes < kEntryBytesWorthThreads ? 1 : 0;
  DOLIUM_TRY_VOID(ParallelFor(entries.size(), jobs, finish));
  return values;
}

}  // namespace dolium
