#include "dolium/ops/job/source_state.h"

#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/stable_hash.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

// Requests under way at once, to a server.
constexpr size_t kRemoteStats = 32;

// An older layout has a shard in two objects; its index names the first.
constexpr std::string_view kIndexSuffix = ".index";
constexpr std::string_view kDataSuffix = ".data";

}  // namespace

void SourceState::AddText(std::string_view text) {
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += StableHash(text, i + 1);
}

void SourceState::Add(std::string_view object,
                      const std::optional<Generation>& generation) {
  // Names hold no NUL, generations may hold anything.
  std::string text(object);
  text += '\0';
  if (generation) text += '=' + generation->token;
  AddText(text);
}

Result<void> SourceState::AddObjects(const Store& store,
                                     std::span<const std::string> objects) {
  if (objects.empty()) return {};
  DOLIUM_TRY(const auto local, store.LocalPath(objects.front()));
  return ParallelFor(
      objects.size(), local ? options_.jobs : kRemoteStats,
      [&](size_t i) -> Result<void> {
        const auto info = store.Stat(objects[i]);
        if (info) {
          Add(objects[i], *info ? std::optional((*info)->generation) : std::nullopt);
          return {};
        }
        if (info.error().code != ErrorCode::kCorrupt) return info.error();
        // What can be no object. Whoever reads it reports it.
        Add(objects[i], Generation{info.error().message});
        return {};
      },
      options_.stop);
}

Result<void> SourceState::AddFolder(const Location& folder) {
  std::vector<std::string> batch;
  Result<void> added;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder || IsBookkeeping(name)) return true;
        batch.push_back(JoinPath(folder.path, name));
        if (batch.size() < kBatch) return true;
        added = AddObjects(*folder.store, batch);
        batch.clear();
        return added.has_value();
      });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return {};
  if (!listed) return listed.error();
  if (!added) return added;
  return AddObjects(*folder.store, batch);
}

Result<void> SourceState::AddObject(const Container& container,
                                    const std::string& object) {
  const Store& store = container.store();
  DOLIUM_TRY(const auto info, store.Stat(object));
  if (info) {
    Add(object, info->generation);
    if (!object.ends_with(kIndexSuffix)) return {};
    std::string data = object.substr(0, object.size() - kIndexSuffix.size());
    data += kDataSuffix;
    return AddObjects(store, {&data, 1});
  }
  const auto add = [&](const Extent& extent) {
    Add(extent.object->name, extent.object->generation);
  };
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    for (const Extent& extent : entry.extents) add(extent);
    if (entry.preceding_from) add(*entry.preceding_from);
    return !options_.stop.stop_requested();
  };
  // Whoever reads it reports it.
  visitor.damage = [](const Finding&) { return true; };
  DOLIUM_TRY_VOID(container.ScanObject(object, visitor));
  if (options_.stop.stop_requested()) return Cancelled();
  return {};
}

Result<void> SourceState::AddEntries(const Container& container) {
  DOLIUM_TRY(const std::vector<std::string> objects, container.Objects());
  return ParallelFor(
      objects.size(), options_.jobs,
      [&](size_t i) { return AddObject(container, objects[i]); }, options_.stop);
}

std::string SourceState::text() const {
  return fmt::format("{:016x}{:016x}", sums_[0].load(), sums_[1].load());
}

}  // namespace dolium
