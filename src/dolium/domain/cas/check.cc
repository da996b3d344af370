#include "dolium/domain/cas/check.h"

#include <fcntl.h>
#include <sys/stat.h>

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
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/xorb_seal.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kMarkerReadLimit = 4096;

// What is wrong with the chunks of a xorb.
struct XorbDamage {
  bool is_whole = false;  // nothing of it can be read
  std::map<size_t, std::string> chunks;
};

class Checker {
 public:
  Checker(const CasStore& store, const CheckOptions& options,
          const FindingVisitor& visitor)
      : store_(store), options_(options), layout_(store.layout()), visitor_(visitor) {}

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
    const std::lock_guard hold(mutex_);
    ++report_.errors;
    visitor_({.severity = Severity::kError,
              .kind = std::move(kind),
              .object = std::move(object),
              .key = std::move(key),
              .range = {},
              .message = std::move(message)});
  }

  void CheckMarker() {
    const auto marker = ReadWholeFile(layout_.marker(), kMarkerReadLimit);
    if (!marker || AsText(*marker) != MarkerText()) {
      Report("marker", layout_.marker(), "", "not the marker of a store of version 1");
    }
  }

  Result<void> CheckXorbs() {
    std::vector<std::string> paths;
    DOLIUM_TRY(const auto folders, SortedFolder(layout_.xorbs()));
    for (const std::string& folder : folders) {
      const std::string path = fmt::format("{}/{}", layout_.xorbs(), folder);
      DOLIUM_TRY(const auto files, SortedFolder(path));
      for (const std::string& file : files) {
        const std::string full = fmt::format("{}/{}", path, file);
        const auto hash = HashOfFileName(file, ".xorb");
        if (!hash || layout_.xorb(*hash) != full) {
          Report("orphan", full, "", "not the name of a xorb");
        } else {
          paths.push_back(full);
        }
      }
    }
    return ParallelFor(
        paths.size(), options_.jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY_VOID(CheckXorb(
              paths[i], *HashOfFileName(paths[i].substr(paths[i].size() - 69), ".xorb")));
          const std::lock_guard hold(mutex_);
          ++report_.xorbs;
          if (options_.progress) {
            options_.progress({.entries = report_.xorbs,
                               .total_entries = paths.size(),
                               .bytes = report_.bytes});
          }
          return {};
        },
        options_.stop);
  }

  Result<void> CheckXorb(const std::string& path, const xet::Hash& hash) {
    DOLIUM_TRY(const auto before, StatusOf(path));
    const auto xorb = OpenXorbFile(path, hash);
    bool is_damaged = false;
    if (xorb) {
      is_damaged = options_.deep && !CheckChunks(*xorb);
    } else {
      if (xorb.error().code == ErrorCode::kNotFound) return {};  // Collected meanwhile.
      is_damaged = xorb.error().code == ErrorCode::kCorrupt ||
                   xorb.error().code == ErrorCode::kUnsupported;
      Report("xorb", path, "", xorb.error().message);
      const std::lock_guard hold(mutex_);
      damage_[hash].is_whole = true;
    }
    if (is_damaged) return Quarantine(path, before);
    return {};
  }

  // Moves what was found damaged, unless it is another file by now.
  Result<void> Quarantine(const std::string& path,
                          const std::optional<struct stat>& before) {
    if (!options_.quarantine || !before) return {};
    DOLIUM_TRY_VOID(MakeFolderAt(layout_.quarantine()));
    DOLIUM_TRY(const StoreLock lock, StoreLock::Exclusive(layout_));
    DOLIUM_TRY(const auto now, StatusOf(path));
    if (!now || now->st_ino != before->st_ino || now->st_dev != before->st_dev) return {};
    const std::string target =
        fmt::format("{}{}", layout_.quarantine(), path.substr(path.rfind('/')));
    // For gc, which removes it some time after nothing needs it any more.
    if (utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0 ||
        rename(path.c_str(), target.c_str()) != 0) {
      return SystemError(errno, fmt::format("cannot rename to {}", target)).Within(path);
    }
    DOLIUM_TRY_VOID(SyncFolderAt(layout_.quarantine()));
    DOLIUM_TRY_VOID(SyncFolderAt(ParentPath(path)));
    const std::lock_guard hold(mutex_);
    ++report_.quarantined;
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
    for (size_t i = 0; i < index.size(); ++i) {
      const ByteRange range = index.records(i, i + 1);
      stored.resize(range.length);
      raw.resize(index.raw_size(i));
      auto read = ReadAt(xorb.fd.get(), range.offset, stored);
      checksum = Crc32c(stored, checksum);
      if (read) read = ReadRecord(stored, decompressor, &index.chunks[i], raw);
      if (!read) {
        is_damaged = true;
        Report("chunk", xorb.path, fmt::format("chunk {}", i), read.error().message);
        const std::lock_guard hold(mutex_);
        damage_[index.hash].chunks.emplace(i, read.error().message);
      }
    }
    // What is wrong with chunks says more.
    if (const auto sealed = CheckSeal(xorb, checksum); !sealed && !is_damaged) {
      is_damaged = true;
      Report("checksum", xorb.path, "", sealed.error().message);
    }
    const std::lock_guard hold(mutex_);
    report_.bytes += index.record_ends.back();
    return !is_damaged;
  }

  Result<void> CheckShards() {
    DOLIUM_TRY(const auto files, SortedFolder(layout_.shards()));
    for (const std::string& file : files) {
      if (options_.stop.stop_requested()) return Cancelled();
      const std::string path = fmt::format("{}/{}", layout_.shards(), file);
      const auto hash = HashOfFileName(file, ".mdb");
      if (!hash) {
        Report("orphan", path, "", "not the name of a shard");
        continue;
      }
      DOLIUM_TRY(const auto before, StatusOf(path));
      const auto bytes = MapFile(path);
      if (!bytes && bytes.error().code == ErrorCode::kNotFound) continue;
      if (!bytes) return bytes.error();
      ++report_.shards;
      if (const xet::Hash found = xet::ChunkHash(*bytes); found != *hash) {
        Report("shard", path, "", fmt::format("its bytes give {}", ToString(found)));
        DOLIUM_TRY_VOID(Quarantine(path, before));
        store_.catalog()->Forget(*hash);
        continue;
      }
      const auto view = xet::ShardView::Open(*bytes);
      const auto checked = view ? CheckShard(*view) : Result<void>(view.error());
      if (checked) continue;
      Report("shard", path, "", checked.error().message);
      DOLIUM_TRY_VOID(Quarantine(path, before));
      store_.catalog()->Forget(*hash);
    }
    return {};
  }

  // The first thing that is wrong with a file, or nothing.
  std::string DamageOf(const xet::Hash& hash, std::optional<uint64_t> size,
                       const Result<std::shared_ptr<const StoredFile>>& file) {
    std::string damage;
    if (!file) {
      damage = file.error().message;
    } else {
      damage = ChunkDamage(**file);
      if (damage.empty()) {
        if (const auto checked = (*file)->CheckHash(); !checked) {
          damage = checked.error().message;
        }
      }
      if (damage.empty() && size && *size != (*file)->size()) {
        damage = fmt::format("file {}: {} bytes, expected {}", ToString(hash),
                             (*file)->size(), *size);
      }
    }
    return damage;
  }

  std::string ChunkDamage(const StoredFile& file) {
    for (size_t i = 0; i < file.terms().size(); ++i) {
      const xet::Term& term = file.terms()[i];
      const auto found = damage_.find(term.xorb);
      const auto context = [&] {
        return fmt::format("file {}: term {}: xorb {}", ToString(file.hash()), i,
                           ToString(term.xorb));
      };
      if (found != damage_.end()) {
        if (found->second.is_whole) return fmt::format("{}: is damaged", context());
        const auto chunk = found->second.chunks.lower_bound(term.first);
        if (chunk != found->second.chunks.end() && chunk->first < term.end) {
          return fmt::format("{}: chunk {}: {}", context(), chunk->first, chunk->second);
        }
      }
      if (WasQuarantined(term.xorb)) {
        return fmt::format("{}: was quarantined as damaged", context());
      }
    }
    return "";
  }

  bool WasQuarantined(const xet::Hash& xorb) {
    const auto [known, is_new] = quarantined_.try_emplace(xorb, false);
    if (is_new) {
      const auto status = StatusOf(layout_.xorb(xorb));
      const auto is_there = [](const std::string& path) {
        const auto found = StatusOf(path);
        return found && *found;
      };
      known->second = status && !*status &&
                      std::ranges::any_of(layout_.quarantined_xorb(xorb), is_there);
    }
    return known->second;
  }

  // What is missing from a version that is gone is not damage: it was removed, and gc
  // came by.
  static bool IsGone(const std::string& version) {
    const auto status = StatusOf(version);
    return status && !*status;
  }

  void CheckFile(const VersionFile& of, const std::string& object, const std::string& key,
                 const xet::Hash& hash, uint64_t size,
                 const std::function<Result<std::shared_ptr<const StoredFile>>()>& open) {
    ++report_.files;
    const auto known = good_.find(hash);
    if (known != good_.end() && known->second == size) return;
    const std::string damage = DamageOf(hash, size, open());
    if (damage.empty()) {
      good_[hash] = size;
      return;
    }
    if (IsGone(of.path)) return;
    ++report_.damaged_files;
    Report("damaged_file", object, key, damage);
  }

  Result<void> CheckVersions() {
    DOLIUM_TRY(const auto folders, SortedFolder(layout_.names()));
    for (const std::string& folder : folders) {
      const std::string path = fmt::format("{}/{}", layout_.names(), folder);
      const auto name = UnescapeName(folder);
      if (!name) {
        Report("orphan", path, "", "not the folder of a name");
        continue;
      }
      DOLIUM_TRY(const auto files, ListVersionFiles(layout_, *name));
      for (const VersionFile& file : files) {
        if (options_.stop.stop_requested()) return Cancelled();
        const auto version = ReadVersionFile(file, *name);
        if (!version && version.error().code == ErrorCode::kNotFound) continue;
        ++report_.versions;
        if (!version) {
          std::string message = version.error().message;
          if (message.starts_with(file.path + ": ")) {
            message.erase(0, file.path.size() + 2);
          }
          Report("version", file.path, "", std::move(message));
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
    std::string damage = DamageOf(version.hash, std::nullopt, manifest);
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
      if (!read && damage.empty()) damage = read.error().message;
    }
    if (damage.empty() || IsGone(of.path)) return;
    Report("manifest", version.reference(), "", damage);
    ++report_.damaged_files;
  }

  const CasStore& store_;
  const CheckOptions& options_;
  const Layout& layout_;
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
