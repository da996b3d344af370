#include "dolium/domain/cas/collect.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/marking.h"
#include "dolium/domain/cas/repack.h"
#include "dolium/domain/cas/stat_cache.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::cas {
namespace {

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
        objects_(layout_.objects()),
        marking_(store, options.stop, options.progress) {}

  Result<CollectReport> Run() {
    DOLIUM_TRY(lease_, store_.TakeLease(options_.stop));
    repack_.emplace(store_, *lease_);
    oldest_kept_ =
        NowNanoseconds() -
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.grace).count();
    // The long part, beside everything else.
    DOLIUM_TRY_VOID(marking_.MarkVersions());
    DOLIUM_TRY_VOID(marking_.MarkXorbs());
    DOLIUM_TRY_VOID(CopyNeeded());
    if (options_.stop.stop_requested()) return Cancelled();
    // The short part: what came meanwhile, then the sweep. Nobody can begin to rely on
    // anything while this is held.
    DOLIUM_TRY(const StoreLock lock, StoreLock::Exclusive(layout_, options_.stop));
    DOLIUM_TRY(pins_, ReadPins(layout_, !options_.dry_run));
    DOLIUM_TRY_VOID(marking_.MarkVersions());
    DOLIUM_TRY_VOID(marking_.MarkPins(pins_));
    DOLIUM_TRY_VOID(marking_.ForgetWhatIsGone());
    DOLIUM_TRY_VOID(marking_.MarkXorbs());
    DOLIUM_TRY_VOID(marking_.CheckFiles());
    DOLIUM_TRY_VOID(ChooseReplaced());
    DOLIUM_TRY_VOID(ChooseXorbs());
    // Shards first: with space for it, a shard never lists xorbs that are gone.
    DOLIUM_TRY_VOID(SweepShards());
    DOLIUM_TRY_VOID(SweepXorbs());
    DOLIUM_TRY_VOID(SweepQuarantine());
    DOLIUM_TRY_VOID(SweepNames());
    return report_;
  }

 private:
  using FileVisitor =
      std::function<Result<void>(const MappedShard& shard, const xet::FileBlock& file)>;

  // Visits all that shards say of files and that will stay.
  Result<void> VisitStayingFiles(const FileVisitor& visit) {
    DOLIUM_TRY(const auto names, store_.catalog()->ShardNames());
    for (const xet::Hash& name : names) {
      DOLIUM_TRY(const auto shard, store_.catalog()->Shard(name));
      if (!shard) continue;
      DOLIUM_TRY(const auto info, objects_.Stat(layout_.shard(name)));
      const bool is_pinned = pins_.Has(Pin::kShard, name);
      xet::ShardVisitor visitor;
      visitor.file = [&](const xet::FileBlock& file) -> Result<void> {
        DOLIUM_TRY(const bool is_needed, IsFileNeeded(file, IsYoung(info)));
        return is_needed || is_pinned ? visit(*shard, file) : Result<void>();
      };
      DOLIUM_TRY_VOID(shard->view.Scan(visitor).Within(marking_.DescribeShard(name)));
    }
    return {};
  }

  // Copies what is needed of xorbs that are mostly garbage. Who writes on another machine
  // notes nothing here: what is needed there is only kept as it is.
  Result<void> CopyNeeded() {
    if (options_.repack_below == 0 || !objects_.is_local() ||
        marking_.FirstIncomplete()) {
      return {};
    }
    if (const auto noted = lease_->CheckNoted(); !noted) {
      report_.not_repacked = noted.error().message;
      return {};
    }
    DOLIUM_TRY_VOID(VisitStayingFiles(
        [&](const MappedShard&, const xet::FileBlock& file) -> Result<void> {
          for (size_t i = 0; i < file.size(); ++i) repack_->Need(file.term(i));
          return {};
        }));
    DOLIUM_TRY_VOID(
        repack_->Copy({.percent = options_.repack_below,
                       .may_replace = [&](const xet::Hash& xorb) -> Result<bool> {
                         DOLIUM_TRY(const auto info, objects_.Stat(layout_.xorb(xorb)));
                         return !IsYoung(info);
                       },
                       .dry_run = options_.dry_run,
                       .stop = options_.stop}));
    if (repack_->gave_up()) report_.not_repacked = repack_->gave_up()->message;
    if (const auto noted = lease_->CheckNoted(); !noted) {
      report_.not_repacked = noted.error().message;
      repack_->KeepAll();
    }
    return {};
  }

  // Of xorbs that were copied, keeps those that somebody relies on as they are.
  Result<void> ChooseReplaced() {
    if (repack_->replaced() == 0) return {};
    for (const xet::Hash& xorb : pins_.noted[Pin::kXorb]) repack_->Keep(xorb);
    DOLIUM_TRY_VOID(VisitStayingFiles(
        [&](const MappedShard& shard, const xet::FileBlock& file) -> Result<void> {
          const bool is_fixed =
              pins_.Has(Pin::kShard, shard.name) || marking_.IsPinned(file.hash());
          for (size_t i = 0; i < file.size(); ++i) {
            const xet::Term term = file.term(i);
            if (!repack_->IsReplaced(term.xorb)) continue;
            if (is_fixed || !repack_->Covers(term)) repack_->Keep(term.xorb);
          }
          return {};
        }));
    for (const xet::Hash& xorb : repack_->ReplacedXorbs()) marking_.xorbs().erase(xorb);
    report_.repacked_xorbs = repack_->replaced();
    return {};
  }

  // Whether all of a file can be read after the sweep.
  Result<bool> StaysComplete(const xet::FileBlock& file) {
    if (file.size() == 0) return false;
    for (size_t i = 0; i < file.size(); ++i) {
      const xet::Hash xorb = file.term(i).xorb;
      if (repack_->IsReplaced(xorb)) continue;
      DOLIUM_TRY(const bool is_readable, marking_.IsReadable(xorb));
      if (!is_readable || dead_.contains(xorb)) return false;
    }
    return true;
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
        if (marking_.xorbs().contains(*hash)) continue;
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
    report_.copied_bytes = repack_->made_bytes();
    report_.xorbs -= repack_->made().size();
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
    size_t changes = 0;
  };

  // Of a needed file, what cannot be read stays only if there is nothing better.
  Result<bool> IsFileNeeded(const xet::FileBlock& file, bool is_young) {
    const bool is_needed = marking_.IsMarked(file.hash());
    if (is_needed && !marking_.HasComplete(file.hash())) return true;
    if (!is_needed && !is_young) return false;
    return StaysComplete(file);
  }

  Result<Remains> RemainsOf(const MappedShard& shard, bool is_young) {
    Remains remains;
    xet::ShardVisitor visitor;
    visitor.file = [&](const xet::FileBlock& file) -> Result<void> {
      DOLIUM_TRY(const bool is_needed, IsFileNeeded(file, is_young));
      if (!is_needed) {
        ++remains.changes;
        return {};
      }
      xet::FileInfo& info = remains.files.emplace_back(xet::InfoOf(file));
      if (!options_.dry_run && repack_->Translate(info)) ++remains.changes;
      return {};
    };
    visitor.xorb = [&](const xet::XorbBlock& xorb) -> Result<void> {
      DOLIUM_TRY(const bool is_there, marking_.IsThere(xorb.hash()));
      if (!is_there || dead_.contains(xorb.hash())) {
        ++remains.changes;
        return {};
      }
      remains.xorbs.push_back(xet::InfoOf(xorb));
      return {};
    };
    DOLIUM_TRY_VOID(shard.view.Scan(visitor).Within(marking_.DescribeShard(shard.name)));
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
    if (repack_->replaced() > 0 && !options_.dry_run) {
      DOLIUM_TRY(const ByteVector bytes, xet::WriteShard({}, repack_->made(), {}));
      DOLIUM_TRY([[maybe_unused]] const auto written, WriteShard(bytes));
    }
    for (const xet::Hash& name : names) {
      if (pins_.Has(Pin::kShard, name)) continue;
      DOLIUM_TRY(const auto shard, store_.catalog()->Shard(name));
      if (!shard) continue;
      DOLIUM_TRY(const auto info, objects_.Stat(layout_.shard(name)));
      DOLIUM_TRY(Remains remains, RemainsOf(*shard, IsYoung(info)));
      const auto& footer = shard->view.footer();
      const uint64_t expiry =
          footer && footer->expires() ? footer->expiry : xet::kNeverExpires;
      if (remains.files.empty() && remains.xorbs.empty()) {
        ++report_.removed_shards;
      } else if (remains.changes == 0) {
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
        const auto written = WriteShard(bytes);
        // Without space it stays: what it lists of xorbs that will be gone, nobody takes
        // for granted.
        if (!written && written.error().code == ErrorCode::kIo &&
            repack_->replaced() == 0) {
          --report_.rewritten_shards;
          continue;
        }
        if (!written) return written.error();
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
  Marking marking_;
  std::optional<Repack> repack_;
  HashSet dead_;  // xorbs
  std::vector<std::string> dead_objects_;
  CollectReport report_;
};

}  // namespace

Result<CollectReport> CollectGarbage(const CasStore& store,
                                     const CollectOptions& options) {
  return Collection(store, options).Run();
}

}  // namespace dolium::cas
