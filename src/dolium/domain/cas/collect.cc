#include "dolium/domain/cas/collect.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/stat_cache.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::cas {
namespace {

using HashSet = std::unordered_set<xet::Hash, xet::HashOfHash>;

// Shards below this size are joined when there are several.
constexpr uint64_t kSmallShard = uint64_t{8} << 20;
constexpr size_t kManySmallShards = 8;
constexpr uint64_t kJoinedAtOnce = uint64_t{64} << 20;

class Collection {
 public:
  Collection(const CasStore& store, const CollectOptions& options)
      : store_(store),
        options_(options),
        layout_(store.layout()),
        objects_(layout_.objects()) {}

  Result<CollectReport> Run() {
    DOLIUM_TRY(lease_, store_.TakeLease(options_.stop));
    // The long part, beside everything else.
    DOLIUM_TRY_VOID(MarkVersions());
    DOLIUM_TRY_VOID(MarkXorbs());
    if (options_.stop.stop_requested()) return Cancelled();
    // The short part: what came meanwhile, then the sweep. Nobody can begin to rely on
    // anything while this is held.
    DOLIUM_TRY(const StoreLock lock, StoreLock::Exclusive(layout_, options_.stop));
    DOLIUM_TRY(pins_, ReadPins(layout_, !options_.dry_run));
    there_.clear();
    DOLIUM_TRY_VOID(MarkVersions());
    DOLIUM_TRY_VOID(MarkPins());
    DOLIUM_TRY_VOID(ForgetReplacedShards());
    DOLIUM_TRY_VOID(MarkXorbs());
    DOLIUM_TRY_VOID(CheckFiles());
    oldest_kept_ =
        NowNanoseconds() -
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.grace).count();
    DOLIUM_TRY_VOID(ChooseXorbs());
    // Shards first: a shard never lists xorbs that are gone.
    DOLIUM_TRY_VOID(SweepShards());
    DOLIUM_TRY_VOID(SweepXorbs());
    DOLIUM_TRY_VOID(SweepQuarantine());
    DOLIUM_TRY_VOID(SweepNames());
    return report_;
  }

 private:
  bool IsMarked(const xet::Hash& hash) const {
    return files_.contains(hash) || pinned_files_.contains(hash);
  }

  Result<void> MarkTree(const xet::Hash& hash, HashSet& files) {
    if (hash.is_zero() || trees_.contains(hash)) return {};
    files.insert(hash);
    DOLIUM_TRY(const auto manifest, store_.OpenCovered(hash));
    DOLIUM_TRY_VOID(ReadManifest(*manifest, options_.stop,
                                 [&](const ManifestEntry& entry) -> Result<void> {
                                   if (entry.type == EntryType::kFile) {
                                     files.insert(entry.hash);
                                   }
                                   return {};
                                 }));
    // Not before: one that could not be read is no less needed by the next version.
    trees_.insert(hash);
    return {};
  }

  Result<void> MarkVersions() {
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
        const auto marked = MarkTree(version->hash, files_);
        if (!marked) {
          // Removed while it was read.
          DOLIUM_TRY(const bool is_there, objects_.IsThere(file.path));
          if (!is_there) continue;
          return Refuse(marked.error().Within(version->reference()));
        }
        if (options_.progress) options_.progress({.entries = versions_.size()});
      }
    }
    return {};
  }

  // Whether a version that was marked is gone by now: what it needed may be, too, by
  // another gc.
  Result<bool> HasLostVersions() const {
    for (const std::string& path : versions_) {
      DOLIUM_TRY(const bool is_there, objects_.IsThere(path));
      if (!is_there) return true;
    }
    return false;
  }

  static Error Refuse(const Error& error) {
    if (error.code == ErrorCode::kCancelled) return error;
    return {error.code,
            fmt::format("{}; nothing is removed while it is not known what that needs",
                        error.message),
            {},
            Hint::kFindDamage};
  }

  Result<void> MarkPins() {
    // What is not whole cannot be kept whole: whoever reads it sees that himself.
    for (const xet::Hash& hash : pins_.noted[Pin::kTree]) {
      [[maybe_unused]] const auto marked = MarkTree(hash, pinned_files_);
    }
    const auto& files = pins_.noted[Pin::kFile];
    pinned_files_.insert(files.begin(), files.end());
    const auto& pinned = pins_.noted[Pin::kXorb];
    xorbs_.insert(pinned.begin(), pinned.end());
    return {};
  }

  // Whether a xorb is there.
  Result<bool> IsThere(const xet::Hash& xorb) {
    const auto known = there_.find(xorb);
    if (known != there_.end()) return known->second;
    DOLIUM_TRY(const bool is_there, objects_.IsThere(layout_.xorb(xorb)));
    return there_[xorb] = is_there;
  }

  // Whether its footer can be read, too: a good one stays good.
  Result<bool> IsReadable(const xet::Hash& xorb) {
    DOLIUM_TRY(const bool is_there, IsThere(xorb));
    if (!is_there) return false;
    if (readable_.contains(xorb)) return true;
    const auto opened = OpenXorb(objects_, layout_.xorb(xorb), xorb);
    if (!opened && opened.error().code != ErrorCode::kCorrupt &&
        opened.error().code != ErrorCode::kUnsupported &&
        opened.error().code != ErrorCode::kNotFound) {
      return opened.error();
    }
    if (opened) readable_.insert(xorb);
    return opened.has_value();
  }

  // Marks the xorbs of all that shards say of files that are needed: two writers may
  // have stored one file in two ways. A shard is read again only if more files are needed
  // than when it was read last.
  Result<void> MarkXorbs() {
    DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
    for (const xet::Hash& name : names) {
      if (options_.stop.stop_requested()) return Cancelled();
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
  Result<void> CheckBytes(const MappedShard& shard) {
    if (checked_.contains(shard.name)) return {};
    const xet::Hash found = xet::ChunkHash(shard.bytes);
    if (found == shard.name) {
      checked_.insert(shard.name);
      return {};
    }
    return Refuse(Corrupt(fmt::format("{}: its bytes give {}", DescribeShard(shard.name),
                                      ToString(found))));
  }

  Result<void> MarkXorbsOf(const MappedShard& shard) {
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

  // Another gc may have run since the shards were read.
  Result<void> ForgetReplacedShards() {
    DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
    const HashSet there(names.begin(), names.end());
    for (const auto& [name, marked] : scanned_) {
      if (there.contains(name)) continue;
      scanned_.clear();
      complete_.clear();
      return {};
    }
    return {};
  }

  // That all files of versions can be read.
  Result<void> CheckFiles() {
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

  std::optional<xet::Hash> FirstIncomplete() const {
    std::optional<xet::Hash> first;
    for (const xet::Hash& hash : files_) {
      if (hash.is_zero() || complete_.contains(hash)) continue;
      if (!first || hash < *first) first = hash;
    }
    return first;
  }

  Result<bool> IsComplete(const xet::FileBlock& file) {
    if (file.size() == 0) return false;
    for (size_t i = 0; i < file.size(); ++i) {
      DOLIUM_TRY(const bool is_readable, IsReadable(file.term(i).xorb));
      if (!is_readable || dead_.contains(file.term(i).xorb)) return false;
    }
    return true;
  }

  std::string DescribeShard(const xet::Hash& name) const {
    return objects_.Describe(layout_.shard(name));
  }

  // What has no age is young.
  bool IsYoung(const std::optional<ObjectInfo>& info) const {
    return !info || !info->modified || *info->modified > oldest_kept_;
  }

  Result<void> ChooseXorbs() {
    DOLIUM_TRY(const auto folders, objects_.List(layout_.xorbs()));
    for (const std::string& folder : folders) {
      const std::string path = JoinPath(layout_.xorbs(), folder);
      DOLIUM_TRY(const auto files, objects_.List(path));
      for (const std::string& file : files) {
        const auto hash = HashOfFileName(file, ".xorb");
        if (!hash) continue;
        ++report_.xorbs;
        if (xorbs_.contains(*hash)) continue;
        std::string object = JoinPath(path, file);
        DOLIUM_TRY(const auto info, objects_.Stat(object));
        if (IsYoung(info)) {
          ++report_.kept_young;
          continue;
        }
        ++report_.removed_xorbs;
        report_.removed_bytes += info->size;
        dead_.insert(*hash);
        dead_objects_.push_back(std::move(object));
      }
    }
    return {};
  }

  Result<void> SweepXorbs() {
    if (options_.dry_run) return {};
    for (const std::string& object : dead_objects_) {
      DOLIUM_TRY([[maybe_unused]] const bool was_there, objects_.Remove(object));
    }
    return {};
  }

  // What was quarantined: nobody needs it, since all files can be read without.
  Result<void> SweepQuarantine() const {
    if (options_.dry_run) return {};
    for (const std::string& folder : layout_.quarantines()) {
      DOLIUM_TRY(const auto files, objects_.List(folder));
      for (const std::string& file : files) {
        const std::string object = JoinPath(folder, file);
        DOLIUM_TRY(const auto info, objects_.Stat(object));
        if (IsYoung(info)) continue;
        DOLIUM_TRY([[maybe_unused]] const bool was_there, objects_.Remove(object));
      }
    }
    return {};
  }

  // What stays of a shard.
  struct Remains {
    std::vector<xet::FileInfo> files;
    std::vector<xet::XorbInfo> xorbs;
    size_t lost = 0;
  };

  // Of a needed file, what cannot be read stays only if there is nothing better.
  Result<bool> IsFileNeeded(const xet::FileBlock& file, bool is_young) {
    const bool is_needed = IsMarked(file.hash());
    if (is_needed && !complete_.contains(file.hash())) return true;
    if (!is_needed && !is_young) return false;
    return IsComplete(file);
  }

  Result<Remains> RemainsOf(const MappedShard& shard, bool is_young) {
    Remains remains;
    xet::ShardVisitor visitor;
    visitor.file = [&](const xet::FileBlock& file) -> Result<void> {
      DOLIUM_TRY(const bool is_needed, IsFileNeeded(file, is_young));
      if (!is_needed) {
        ++remains.lost;
        return {};
      }
      xet::FileInfo& info = remains.files.emplace_back();
      info.hash = file.hash();
      info.is_verified = file.has_verification();
      info.sha256 = file.sha256();
      for (size_t i = 0; i < file.size(); ++i) {
        info.terms.push_back(file.term(i));
        if (info.is_verified) info.verification.push_back(file.verification(i));
      }
      return {};
    };
    visitor.xorb = [&](const xet::XorbBlock& xorb) -> Result<void> {
      DOLIUM_TRY(const bool is_there, IsThere(xorb.hash()));
      if (!is_there || dead_.contains(xorb.hash())) {
        ++remains.lost;
        return {};
      }
      xet::XorbInfo& info = remains.xorbs.emplace_back();
      info.hash = xorb.hash();
      info.stored_bytes = xorb.stored_bytes();
      for (size_t i = 0; i < xorb.size(); ++i) info.chunks.push_back(xorb.chunk(i));
      return {};
    };
    DOLIUM_TRY_VOID(shard.view.Scan(visitor).Within(DescribeShard(shard.name)));
    return remains;
  }

  Result<xet::Hash> WriteShard(BytesView bytes) {
    const xet::Hash name = xet::ChunkHash(bytes);
    DOLIUM_TRY(NewFile file, NewFile::Create(layout_, lease_->id()));
    DOLIUM_TRY_VOID(file.Append(bytes));
    DOLIUM_TRY_VOID(objects_.Publish(std::move(file), layout_.shard(name)));
    DOLIUM_TRY(const auto shard, store_.catalog()->Shard(name));
    if (const auto index = store_.catalog()->index(); shard && index) {
      [[maybe_unused]] const auto added = index->Add(name, shard->view);
    }
    return name;
  }

  Result<void> RemoveShard(const std::shared_ptr<const MappedShard>& shard) {
    if (const auto index = store_.catalog()->index()) {
      [[maybe_unused]] const auto removed = index->Remove(shard->name, &shard->view);
    }
    DOLIUM_TRY([[maybe_unused]] const bool was_there,
               objects_.Remove(layout_.shard(shard->name)));
    store_.catalog()->Forget(shard->name);
    return {};
  }

  Result<void> SweepShards() {
    DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
    std::vector<std::shared_ptr<const MappedShard>> small;
    report_.shards = names.size();
    for (const xet::Hash& name : names) {
      if (pins_.Has(Pin::kShard, name)) continue;
      DOLIUM_TRY(const auto shard, store_.catalog()->Shard(name));
      if (!shard) continue;
      DOLIUM_TRY(const auto info, objects_.Stat(layout_.shard(name)));
      DOLIUM_TRY(Remains remains, RemainsOf(*shard, IsYoung(info)));
      const uint64_t expiry =
          shard->view.footer() ? shard->view.footer()->expiry : xet::kNeverExpires;
      if (remains.files.empty() && remains.xorbs.empty()) {
        ++report_.removed_shards;
      } else if (remains.lost == 0) {
        if (shard->bytes.size() < kSmallShard && expiry == xet::kNeverExpires) {
          small.push_back(shard);
        }
        continue;
      } else {
        ++report_.rewritten_shards;
        if (options_.dry_run) continue;
        DOLIUM_TRY(const ByteVector bytes,
                   xet::WriteShard(std::move(remains.files), std::move(remains.xorbs),
                                   {.expiry = expiry}));
        DOLIUM_TRY([[maybe_unused]] const auto written, WriteShard(bytes));
      }
      if (!options_.dry_run) DOLIUM_TRY_VOID(RemoveShard(shard));
    }
    if (small.size() < kManySmallShards || options_.dry_run) return {};
    std::vector<std::shared_ptr<const MappedShard>> group;
    uint64_t bytes = 0;
    for (const auto& shard : small) {
      group.push_back(shard);
      bytes += shard->bytes.size();
      if (bytes < kJoinedAtOnce && shard != small.back()) continue;
      if (group.size() > 1) DOLIUM_TRY_VOID(JoinShards(group));
      group.clear();
      bytes = 0;
    }
    return {};
  }

  // Many puts make many small shards, which cost every reader a look.
  Result<void> JoinShards(const std::vector<std::shared_ptr<const MappedShard>>& shards) {
    std::vector<xet::ShardView> views;
    views.reserve(shards.size());
    for (const auto& shard : shards) views.push_back(shard->view);
    std::vector<ByteVector> joined;
    const auto united = xet::UniteShards(views, {}, [&]() -> Result<xet::ByteSink> {
      joined.emplace_back();
      return xet::ByteSink([&joined, at = joined.size() - 1](BytesView bytes) {
        Append(joined[at], bytes);
        return Result<void>();
      });
    });
    // Shards that others made may not fit together; they stay as they are.
    if (!united) return {};
    HashSet written;
    for (const ByteVector& bytes : joined) {
      DOLIUM_TRY(const xet::Hash name, WriteShard(bytes));
      written.insert(name);
    }
    for (const auto& shard : shards) {
      if (!written.contains(shard->name)) DOLIUM_TRY_VOID(RemoveShard(shard));
    }
    report_.rewritten_shards += shards.size();
    return {};
  }

  // Names without versions, and what was remembered for them.
  Result<void> SweepNames() const {
    if (options_.dry_run) return {};
    DOLIUM_TRY(auto folders, objects_.List(layout_.names()));
    for (const std::string& folder : folders) {
      DOLIUM_TRY_VOID(
          ForgetName(layout_, JoinPath(layout_.names(), folder), oldest_kept_));
    }
    DOLIUM_TRY(folders, objects_.List(layout_.names()));
    DOLIUM_TRY(const auto seen, SortedFolder(layout_.seen()));
    for (const std::string& file : seen) {
      const std::string name = file.substr(0, file.find(kSeenAligned));
      if (std::ranges::binary_search(folders, name)) continue;
      DOLIUM_TRY([[maybe_unused]] const bool was_there,
                 RemoveFile(fmt::format("{}/{}", layout_.seen(), file)));
    }
    return {};
  }

  const CasStore& store_;
  const CollectOptions& options_;
  const Layout& layout_;
  const Objects& objects_;
  std::unique_ptr<Lease> lease_;
  LivePins pins_;
  int64_t oldest_kept_ = 0;
  std::set<std::string> versions_;
  HashSet trees_;
  HashSet files_;         // of versions
  HashSet pinned_files_;  // of leases
  HashSet complete_;      // of both, those that can be read by a shard
  HashSet xorbs_;         // that are needed
  HashSet dead_;
  HashSet checked_;  // shards that have the bytes they are named after
  // Shards that were read, with the number of files that were needed then.
  std::unordered_map<xet::Hash, size_t, xet::HashOfHash> scanned_;
  std::unordered_map<xet::Hash, bool, xet::HashOfHash> there_;  // xorbs
  HashSet readable_;                                            // of them
  std::vector<std::string> dead_objects_;
  CollectReport report_;
};

}  // namespace

Result<CollectReport> CollectGarbage(const CasStore& store,
                                     const CollectOptions& options) {
  return Collection(store, options).Run();
}

}  // namespace dolium::cas
