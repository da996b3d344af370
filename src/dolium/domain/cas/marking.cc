#include "dolium/domain/cas/marking.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/cas/manifest.h"
#include "dolium/domain/cas/stored_file.h"

namespace dolium::cas {
namespace {

Error Refuse(const Error& error) {
  if (error.code == ErrorCode::kCancelled) return error;
  return {error.code,
          fmt::format("{}; nothing is removed while it is not known what that needs",
                      error.message),
          {},
          Hint::kFindDamage};
}

std::set<xet::Hash> Noted(const LivePins& pins, Pin kind) {
  const auto found = pins.noted.find(kind);
  return found == pins.noted.end() ? std::set<xet::Hash>() : found->second;
}

}  // namespace

Result<void> Marking::MarkTree(const xet::Hash& hash, HashSet& trees, HashSet& files) {
  if (hash.is_zero() || trees.contains(hash)) return {};
  files.insert(hash);
  DOLIUM_TRY(const auto manifest, store_.OpenCovered(hash));
  DOLIUM_TRY_VOID(
      ReadManifest(*manifest, stop_, [&](const ManifestEntry& entry) -> Result<void> {
        if (entry.type == EntryType::kFile) {
          files.insert(entry.hash);
        }
        return {};
      }));
  // Not before: one that could not be read is no less needed by the next version.
  trees.insert(hash);
  return {};
}

Result<void> Marking::MarkVersions() {
  DOLIUM_TRY(const auto names, ListNames(layout_));
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto files, ListVersionFiles(layout_, name));
    for (const VersionFile& file : files) {
      if (!versions_.insert(file.path).second) continue;
      const auto version = ReadVersionFile(layout_, file, name);
      if (!version && version.error().code == ErrorCode::kNotFound) continue;
      if (!version) return Refuse(version.error());
      if (version->kind == VersionKind::kFile) {
        files_.insert(version->hash);
        continue;
      }
      const auto marked = MarkTree(version->hash, trees_, files_);
      if (!marked) {
        // Removed while it was read.
        DOLIUM_TRY(const bool is_there, objects_.IsThere(file.path));
        if (!is_there) continue;
        return Refuse(marked.error().Within(version->reference()));
      }
      if (progress_) progress_({.entries = versions_.size()});
    }
  }
  return {};
}

// Whether a version that was marked is gone by now: what it needed may be, too, by
// another gc.
Result<bool> Marking::HasLostVersions() const {
  for (const std::string& path : versions_) {
    DOLIUM_TRY(const bool is_there, objects_.IsThere(path));
    if (!is_there) return true;
  }
  return false;
}

Result<void> Marking::MarkPins(const LivePins& pins) {
  // What is not whole cannot be kept whole: whoever reads it sees that himself.
  for (const xet::Hash& hash : Noted(pins, Pin::kTree)) {
    const auto marked = MarkTree(hash, pinned_trees_, pinned_files_);
    if (!marked && !IsDamage(marked.error())) return marked.error();
  }
  const auto& files = Noted(pins, Pin::kFile);
  pinned_files_.insert(files.begin(), files.end());
  const auto& pinned = Noted(pins, Pin::kXorb);
  xorbs_.insert(pinned.begin(), pinned.end());
  return {};
}

// Whether a xorb is there.
Result<bool> Marking::IsThere(const xet::Hash& xorb) {
  const auto known = there_.find(xorb);
  if (known != there_.end()) return known->second;
  DOLIUM_TRY(const bool is_there, objects_.IsThere(layout_.xorb(xorb)));
  return there_[xorb] = is_there;
}

// Whether its footer can be read, too: a good one stays good.
Result<bool> Marking::IsReadable(const xet::Hash& xorb) {
  DOLIUM_TRY(const bool is_there, IsThere(xorb));
  if (!is_there) return false;
  if (readable_.contains(xorb)) return true;
  const auto opened = OpenXorb(objects_, layout_.xorb(xorb), xorb);
  if (!opened && !IsDamage(opened.error())) return opened.error();
  if (opened) readable_.insert(xorb);
  return opened.has_value();
}

// Marks the xorbs of all that shards say of files that are needed: two writers may
// have stored one file in two ways. A shard is read again only if more files are needed
// than when it was read last.
Result<void> Marking::MarkXorbs() {
  DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
  for (const xet::Hash& name : names) {
    if (stop_.stop_requested()) return Cancelled();
    const size_t marked = files_.size() + pinned_files_.size();
    const auto last = scanned_.find(name);
    if (last != scanned_.end() && last->second == marked) continue;
    const auto shard = store_.catalog()->Shard(name);
    if (!shard) return Refuse(shard.error());
    if (!*shard) continue;
    DOLIUM_TRY_VOID(CheckBytes(**shard));
    const auto scanned = MarkXorbsOf(**shard);
    if (!scanned) return Refuse(scanned.error().Within(DescribeShard(name)));
    scanned_[name] = marked;
  }
  return {};
}

// What a damaged shard says may make a needed xorb look as if nobody needed it.
Result<void> Marking::CheckBytes(const MappedShard& shard) {
  if (checked_.contains(shard.name)) return {};
  const xet::Hash found = xet::ChunkHash(shard.bytes);
  if (found == shard.name) {
    checked_.insert(shard.name);
    return {};
  }
  return Refuse(Corrupt(
      fmt::format("{}: its bytes give {}", DescribeShard(shard.name), ToString(found))));
}

Result<void> Marking::MarkXorbsOf(const MappedShard& shard) {
  xet::ShardVisitor visitor;
  visitor.file = [&](const xet::FileBlock& file) -> Result<void> {
    if (!IsMarked(file.hash())) return {};
    DOLIUM_TRY(const bool is_complete, IsComplete(file));
    if (is_complete) complete_.insert(file.hash());
    for (size_t i = 0; i < file.size(); ++i) xorbs_.insert(file.term(i).xorb);
    return {};
  };
  return shard.view.Scan(visitor);
}

// Another gc may have run since, or a check that moved away what is damaged.
Result<void> Marking::ForgetWhatIsGone() {
  DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
  const HashSet shards(names.begin(), names.end());
  bool is_all_there = std::ranges::all_of(
      scanned_, [&](const auto& scanned) { return shards.contains(scanned.first); });
  const auto before = std::exchange(there_, {});
  for (const auto& [xorb, was_there] : before) {
    if (!was_there) continue;
    DOLIUM_TRY(const bool is_there, IsThere(xorb));
    is_all_there = is_all_there && is_there;
  }
  if (is_all_there) return {};
  scanned_.clear();
  complete_.clear();
  return {};
}

// That all files of versions can be read.
Result<void> Marking::CheckFiles() {
  if (!FirstIncomplete()) return {};
  DOLIUM_TRY(const bool has_lost_versions, HasLostVersions());
  if (has_lost_versions) {
    versions_.clear();
    trees_.clear();
    files_.clear();
    DOLIUM_TRY_VOID(MarkVersions());
  }
  // It may have been stored again meanwhile.
  scanned_.clear();
  DOLIUM_TRY_VOID(MarkXorbs());
  const auto file = FirstIncomplete();
  if (!file) return {};
  return Refuse(Corrupt(fmt::format(
      "file {}: a version has it, and no shard lists xorbs for it that are there",
      ToString(*file))));
}

std::optional<xet::Hash> Marking::FirstIncomplete() const {
  std::optional<xet::Hash> first;
  for (const xet::Hash& hash : files_) {
    if (hash.is_zero() || complete_.contains(hash)) continue;
    if (!first || hash < *first) first = hash;
  }
  return first;
}

Result<bool> Marking::IsComplete(const xet::FileBlock& file) {
  if (file.size() == 0) return false;
  for (size_t i = 0; i < file.size(); ++i) {
    DOLIUM_TRY(const bool is_readable, IsReadable(file.term(i).xorb));
    if (!is_readable) return false;
  }
  return true;
}

std::string Marking::DescribeShard(const xet::Hash& name) const {
  return objects_.Describe(layout_.shard(name));
}

}  // namespace dolium::cas
