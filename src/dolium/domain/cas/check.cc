#include "dolium/domain/cas/check.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/parallel.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/xorb_seal.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kMarkerReadLimit = 4096;

constexpr std::string_view kUnreadable = "unreadable";

// The kind of a finding: what cannot be read need not be damaged.
std::string KindOf(const Error& error, std::string_view of_damage) {
  return std::string(IsDamage(error) ? of_damage : kUnreadable);
}

// What is wrong with the chunks of a xorb.
struct XorbDamage {
  std::optional<Error> whole;  // why nothing of it can be read
  std::map<size_t, Error> chunks;
};

class Checker {
 public:
  Checker(const CasStore& store, const CheckOptions& options,
          const FindingVisitor& visitor)
      : store_(store),
        options_(options),
        layout_(store.layout()),
        objects_(layout_.objects()),
        visitor_(visitor) {}

  Result<CheckReport> Run() {
    DOLIUM_TRY(lease_, store_.TakeLease());
    CheckMarker();
    DOLIUM_TRY_VOID(CheckXorbs());
    DOLIUM_TRY_VOID(CheckShards());
    DOLIUM_TRY_VOID(CheckVersions());
    return report_;
  }

 private:
  void Report(std::string kind, std::string object, std::string key,
              std::string message) {
    // A stop makes reads fail: those are no findings.
    if (options_.stop.stop_requested()) return;
    if (message.starts_with(object + ": ")) message.erase(0, object.size() + 2);
    const std::lock_guard hold(mutex_);
    ++report_.errors;
    if (kind == kUnreadable) ++report_.unreadable;
    visitor_({.severity = Severity::kError,
              .kind = std::move(kind),
              .object = std::move(object),
              .key = std::move(key),
              .range = {},
              .message = std::move(message)});
  }

  void CheckMarker() {
    const auto marker = objects_.ReadSmall(layout_.marker(), kMarkerReadLimit);
    if (!marker && !IsDamage(marker.error())) {
      Report(std::string(kUnreadable), objects_.Describe(layout_.marker()), "",
             marker.error().message);
    } else if (!marker || AsText(*marker) != MarkerText()) {
      Report("marker", objects_.Describe(layout_.marker()), "",
             "not the marker of a store of version 1");
    }
  }

  Result<void> CheckXorbs() {
    std::vector<xet::Hash> names;
    DOLIUM_TRY(const auto folders, objects_.List(layout_.xorbs()));
    for (const std::string& folder : folders) {
      const std::string path = JoinPath(layout_.xorbs(), folder);
      DOLIUM_TRY(const auto files, objects_.List(path));
      if (files.empty()) DOLIUM_TRY_VOID(CheckFolder(path, "not a folder of xorbs"));
      for (const std::string& file : files) {
        const std::string object = JoinPath(path, file);
        const auto hash = HashOfFileName(file, ".xorb");
        if (!hash || layout_.xorb(*hash) != object) {
          Report("orphan", objects_.Describe(object), "", "not the name of a xorb");
        } else {
          names.push_back(*hash);
        }
      }
    }
    return ParallelFor(
        names.size(), options_.jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY_VOID(CheckXorb(names[i]));
          const std::lock_guard hold(mutex_);
          ++report_.xorbs;
          if (options_.progress) {
            options_.progress({.entries = report_.xorbs,
                               .total_entries = names.size(),
                               .bytes = report_.bytes});
          }
          return {};
        },
        options_.stop);
  }

  // What is listed where folders are, and has nothing in it, may be an object.
  Result<void> CheckFolder(const std::string& path, const char* message) {
    DOLIUM_TRY(const bool is_object, objects_.IsThere(path));
    if (is_object) Report("orphan", objects_.Describe(path), "", message);
    return {};
  }

  Result<void> CheckXorb(const xet::Hash& hash) {
    const std::string object = layout_.xorb(hash);
    const auto before = objects_.Stat(object);
    const auto xorb =
        before ? OpenXorb(objects_, object, hash) : Result<OpenedXorb>(before.error());
    bool is_damaged = false;
    if (xorb) {
      is_damaged = options_.deep && !CheckChunks(*xorb);
    } else {
      if (xorb.error().code == ErrorCode::kNotFound) return {};  // Collected meanwhile.
      is_damaged = IsDamage(xorb.error());
      Report(KindOf(xorb.error(), "xorb"), objects_.Describe(object), "",
             xorb.error().message);
      const std::lock_guard hold(mutex_);
      damage_[hash].whole = xorb.error();
    }
    if (is_damaged && before) return Quarantine(object, *before);
    return {};
  }

  // Moves what was found damaged, unless it is another object by now. With a new time,
  // for gc, which removes it some time after nothing needs it any more.
  Result<void> Quarantine(const std::string& object,
                          const std::optional<ObjectInfo>& before) {
    if (!options_.quarantine || !before) return {};
    DOLIUM_TRY_VOID(objects_.MakeFolder(layout_.quarantine()));
    DOLIUM_TRY(const StoreLock lock, StoreLock::Exclusive(layout_));
    DOLIUM_TRY(
        const bool was_moved,
        objects_.Move(object, *before, JoinPath(layout_.quarantine(), BaseName(object))));
    const std::lock_guard hold(mutex_);
    if (was_moved) ++report_.quarantined;
    return {};
  }

  // Whether all of them are good.
  bool CheckChunks(const OpenedXorb& xorb) {
    const xet::XorbIndex& index = xorb.index;
    xet::ChunkDecompressor decompressor;
    ByteVector stored;
    ByteVector raw;
    uint32_t checksum = 0;
    bool is_damaged = false;
    bool is_read = true;
    for (size_t i = 0; i < index.size(); ++i) {
      const ByteRange range = index.records(i, i + 1);
      stored.resize(range.length);
      raw.resize(index.raw_size(i));
      auto read = xorb.object.Read(range.offset, stored);
      checksum = Crc32c(stored, checksum);
      if (read) read = ReadRecord(stored, decompressor, &index.chunks[i], raw);
      if (!read) {
        is_damaged |= IsDamage(read.error());
        is_read &= IsDamage(read.error());
        Report(KindOf(read.error(), "chunk"), xorb.path, fmt::format("chunk {}", i),
               read.error().message);
        const std::lock_guard hold(mutex_);
        damage_[index.hash].chunks.emplace(i, read.error());
      }
    }
    // What is wrong with chunks says more.
    if (const auto sealed = CheckSeal(xorb, checksum);
        !sealed && !is_damaged && is_read) {
      is_damaged = IsDamage(sealed.error());
      Report(KindOf(sealed.error(), "checksum"), xorb.path, "", sealed.error().message);
    }
    const std::lock_guard hold(mutex_);
    report_.bytes += index.record_ends.back();
    return !is_damaged;
  }

  Result<void> CheckShards() {
    DOLIUM_TRY(const auto files, objects_.List(layout_.shards()));
    for (const std::string& file : files) {
      if (options_.stop.stop_requested()) return Cancelled();
      const std::string object = JoinPath(layout_.shards(), file);
      const std::string path = objects_.Describe(object);
      const auto hash = HashOfFileName(file, ".mdb");
      if (!hash) {
        Report("orphan", path, "", "not the name of a shard");
        continue;
      }
      const auto before = objects_.Stat(object);
      const auto bytes = before ? objects_.Load(object) : Result<Bytes>(before.error());
      if (!bytes && bytes.error().code == ErrorCode::kNotFound) continue;
      ++report_.shards;
      if (!bytes) {
        Report(KindOf(bytes.error(), "shard"), path, "", bytes.error().message);
        continue;
      }
      if (const xet::Hash found = xet::ChunkHash(*bytes); found != *hash) {
        Report("shard", path, "", fmt::format("its bytes give {}", ToString(found)));
        DOLIUM_TRY_VOID(Quarantine(object, *before));
        store_.catalog()->Forget(*hash);
        continue;
      }
      const auto view = xet::ShardView::Open(*bytes);
      const auto checked = view ? CheckShard(*view) : Result<void>(view.error());
      if (checked) continue;
      Report("shard", path, "", checked.error().message);
      DOLIUM_TRY_VOID(Quarantine(object, *before));
      store_.catalog()->Forget(*hash);
    }
    return {};
  }

  // The first thing that is wrong with a file, or nothing.
  Result<void> CheckStored(const xet::Hash& hash, std::optional<uint64_t> size,
                           const Result<std::shared_ptr<const StoredFile>>& file) {
    if (!file) return file.error();
    DOLIUM_TRY_VOID(CheckChunksOf(**file));
    DOLIUM_TRY_VOID((*file)->CheckHash());
    if (options_.deep) {
      DOLIUM_TRY_VOID((*file)->CheckSha256(options_.jobs, options_.stop));
    }
    if (!size || *size == (*file)->size()) return {};
    return Corrupt(fmt::format("file {}: {} bytes, expected {}", ToString(hash),
                               (*file)->size(), *size));
  }

  Result<void> CheckChunksOf(const StoredFile& file) {
    for (size_t i = 0; i < file.terms().size(); ++i) {
      const xet::Term& term = file.terms()[i];
      const auto found = damage_.find(term.xorb);
      const auto context = [&] {
        return fmt::format("file {}: term {}: xorb {}", ToString(file.hash()), i,
                           ToString(term.xorb));
      };
      if (found != damage_.end()) {
        if (const auto& whole = found->second.whole) {
          if (!IsDamage(*whole)) return whole->Within(context());
          return Corrupt(fmt::format("{}: is damaged", context()));
        }
        const auto chunk = found->second.chunks.lower_bound(term.first);
        if (chunk != found->second.chunks.end() && chunk->first < term.end) {
          return chunk->second.Within(
              fmt::format("{}: chunk {}", context(), chunk->first));
        }
      }
      if (WasQuarantined(term.xorb)) {
        return Corrupt(fmt::format("{}: was quarantined as damaged", context()));
      }
    }
    return {};
  }

  bool WasQuarantined(const xet::Hash& xorb) {
    const auto [known, is_new] = quarantined_.try_emplace(xorb, false);
    if (is_new) {
      const auto in_place = objects_.IsThere(layout_.xorb(xorb));
      const auto is_there = [&](const std::string& object) {
        const auto found = objects_.IsThere(object);
        return found && *found;
      };
      known->second = in_place && !*in_place &&
                      std::ranges::any_of(layout_.quarantined_xorb(xorb), is_there);
    }
    return known->second;
  }

  // What is missing from a version that is gone is not damage: it was removed, and gc
  // came by.
  bool IsGone(const std::string& version) const {
    const auto is_there = objects_.IsThere(version);
    return is_there && !*is_there;
  }

  void CheckFile(const VersionFile& of, const std::string& object, const std::string& key,
                 const xet::Hash& hash, uint64_t size,
                 const std::function<Result<std::shared_ptr<const StoredFile>>()>& open) {
    ++report_.files;
    const auto known = good_.find(hash);
    if (known != good_.end() && known->second == size) return;
    const auto checked = CheckStored(hash, size, open());
    if (checked) {
      good_[hash] = size;
      return;
    }
    if (IsGone(of.path)) return;
    ReportFile("damaged_file", object, key, checked.error());
  }

  void ReportFile(std::string_view kind, const std::string& object,
                  const std::string& key, const Error& error) {
    if (IsDamage(error)) ++report_.damaged_files;
    Report(KindOf(error, kind), object, key, error.message);
  }

  Result<void> CheckVersions() {
    DOLIUM_TRY(const auto folders, objects_.List(layout_.names()));
    for (const std::string& folder : folders) {
      const std::string path = JoinPath(layout_.names(), folder);
      const auto name = UnescapeName(folder);
      if (!name) {
        Report("orphan", objects_.Describe(path), "", "not the folder of a name");
        continue;
      }
      DOLIUM_TRY(const auto files, ListVersionFiles(layout_, *name));
      if (files.empty()) DOLIUM_TRY_VOID(CheckFolder(path, "not the folder of a name"));
      for (const VersionFile& file : files) {
        if (options_.stop.stop_requested()) return Cancelled();
        const auto version = ReadVersionFile(layout_, file, *name);
        if (!version && version.error().code == ErrorCode::kNotFound) continue;
        ++report_.versions;
        if (!version) {
          Report(KindOf(version.error(), "version"), objects_.Describe(file.path), "",
                 version.error().message);
          continue;
        }
        CheckVersion(file, *version);
      }
    }
    return {};
  }

  void CheckVersion(const VersionFile& of, const Version& version) {
    if (version.kind == VersionKind::kFile) {
      CheckFile(of, version.reference(), "", version.hash, version.totals.bytes,
                [&] { return store_.OpenFile(version.hash, *lease_); });
      return;
    }
    // Noted in the lease: what it lists stays while it is checked.
    const auto manifest = store_.OpenFile(version.hash, *lease_, Pin::kTree);
    Result<void> checked = CheckStored(version.hash, std::nullopt, manifest);
    if (manifest) {  // Damaged or not, it may list files.
      const auto read = ReadManifest(
          **manifest, options_.stop, [&](const ManifestEntry& entry) -> Result<void> {
            if (entry.type == EntryType::kFile) {
              CheckFile(of, version.reference(), entry.path, entry.hash, entry.size,
                        [&] { return store_.OpenCovered(entry.hash); });
            }
            return {};
          });
      if (!read && read.error().code == ErrorCode::kCancelled) return;
      if (!read && checked) checked = read.error();
    }
    if (checked || IsGone(of.path)) return;
    ReportFile("manifest", version.reference(), "", checked.error());
  }

  const CasStore& store_;
  const CheckOptions& options_;
  const Layout& layout_;
  const Objects& objects_;
  const FindingVisitor& visitor_;
  std::unique_ptr<Lease> lease_;
  std::mutex mutex_;
  std::map<xet::Hash, XorbDamage> damage_;
  std::map<xet::Hash, bool> quarantined_;  // what WasQuarantined() said
  std::unordered_map<xet::Hash, uint64_t, xet::HashOfHash> good_;  // files, and sizes
  CheckReport report_;
};

}  // namespace

Result<CheckReport> CheckStore(const CasStore& store, const CheckOptions& options,
                               const FindingVisitor& visitor) {
  return Checker(store, options, visitor).Run();
}

}  // namespace dolium::cas
