#include "dolium/formats/files/files_target.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/stable_hash.h"
#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/formats/files/files_writer.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/files/part_copier.h"

namespace dolium::files {
namespace {

constexpr std::string_view kPartPrefix = ".dolium-part-";

Result<void> ForEach(EntrySource& entries,
                     const std::function<Result<void>(const Entry&)>& visit) {
  while (true) {
    DOLIUM_TRY(const std::span<const Entry> next, entries.Next());
    if (next.empty()) return entries.Rewind();
    for (const Entry& entry : next) DOLIUM_TRY_VOID(visit(entry));
  }
}

// Every key can be a file's name, and is given once. Holds eight bytes for each.
Result<void> CheckKeys(EntrySource& entries) {
  std::vector<uint64_t> hashes;
  DOLIUM_TRY_VOID(ForEach(entries, [&](const Entry& entry) -> Result<void> {
    DOLIUM_TRY_VOID(CheckKey(entry.key));
    hashes.push_back(StableHash(entry.key));
    return {};
  }));
  std::sort(hashes.begin(), hashes.end());
  std::set<uint64_t> shared;  // by keys that may be the same
  for (auto at = hashes.begin();
       (at = std::adjacent_find(at, hashes.end())) != hashes.end(); ++at) {
    shared.insert(*at);
  }
  if (shared.empty()) return {};
  std::set<std::string> keys;
  return ForEach(entries, [&](const Entry& entry) -> Result<void> {
    if (!shared.contains(StableHash(entry.key)) || keys.insert(entry.key).second)
      return {};
    return InvalidArgument(fmt::format("key \"{}\" is given twice", entry.key));
  });
}

// What earlier runs that were killed left, in folders at any depth.
Result<void> RemoveTemporariesBelow(const Location& folder) {
  std::vector<std::string> below;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && !IsBookkeeping(name)) below.emplace_back(name);
        return true;
      });
  if (!listed && listed.error().code != ErrorCode::kNotFound) return listed.error();
  for (const std::string& name : below) {
    const Location child = folder.Child(name);
    DOLIUM_TRY_VOID(child.store->RemoveStaleTemporaries(child.path));
    DOLIUM_TRY_VOID(RemoveTemporariesBelow(child));
  }
  return {};
}

}  // namespace

std::string_view FilesTarget::format_name() const { return kFormat.name; }

std::string FilesTarget::Describe() const {
  return DumpJson(nlohmann::json{{"format", kFormat.name}});
}

Result<uint64_t> FilesTarget::PartOf(std::string_view key) const {
  DOLIUM_TRY_VOID(CheckKey(key));
  return PartOfKey(key);
}

std::string FilesTarget::PartObject(uint64_t part) const {
  return JoinPath(location_.path, fmt::format("{}{}", kPartPrefix, part));
}

Result<WriteSummary> FilesTarget::WritePart(uint64_t part, const PartSource& source,
                                            const WriterOptions& options) {
  DOLIUM_TRY_VOID(CheckKeys(*source.entries).Within(location_.Describe()));
  DOLIUM_TRY(WriteSummary summary, PartCopier(location_, source, options).Run());
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             location_.store->Put(PartObject(part), {}, Precondition::None()));
  return summary;
}

Result<std::unique_ptr<Writer>> FilesTarget::NewWriter(const WriterOptions& options) {
  return std::make_unique<FilesWriter>(location_, options);
}

Result<void> FilesTarget::Finish() {
  DOLIUM_TRY_VOID(RemoveTemporariesBelow(location_));
  for (uint64_t part = 0; part < kParts; ++part) {
    const auto removed = location_.store->Remove(PartObject(part), Precondition::None());
    if (!removed && removed.error().code != ErrorCode::kNotFound) return removed.error();
  }
  return {};
}

}  // namespace dolium::files
