#include "dolium/domain/cas/statistics.h"

#include <sys/stat.h>

#include <bit>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

using Entries = std::map<std::string, ManifestEntry>;

Result<Entries> EntriesOf(const Store& store, const Version& version, Lease& lease) {
  Entries entries;
  if (version.kind == VersionKind::kFile) {
    ManifestEntry entry;
    entry.path = ".";
    entry.mode = version.mode;
    entry.modified = version.modified;
    entry.hash = version.hash;
    entry.size = version.totals.bytes;
    entries.emplace(".", entry);
    return entries;
  }
  DOLIUM_TRY_VOID(
      store.VisitManifest(version, lease, [&](ManifestEntry entry) -> Result<void> {
        entries.insert_or_assign(entry.path, std::move(entry));
        return {};
      }));
  return entries;
}

std::string ReasonOf(const ManifestEntry& a, const ManifestEntry& b) {
  if (a.type != b.type) return "type";
  std::string reason;
  const auto add = [&](bool differs, std::string_view word) {
    if (!differs) return;
    if (!reason.empty()) reason += ", ";
    reason += word;
  };
  add(a.hash != b.hash, "content");
  add(a.target != b.target, "target");
  add(a.mode != b.mode, "mode");
  add(a.modified != b.modified, "time");
  return reason;
}

Result<uint64_t> SizesIn(const std::string& folder) {
  uint64_t sum = 0;
  DOLIUM_TRY(const auto names, SortedFolder(folder));
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto status, StatusOf(fmt::format("{}/{}", folder, name)));
    if (status) sum += static_cast<uint64_t>(status->st_size);
  }
  return sum;
}

Result<void> CountShards(const Store& store, StoreStatistics& statistics) {
  DOLIUM_TRY(const auto names, store.catalog()->ShardNames());
  std::unordered_set<xet::Hash, xet::HashOfHash> seen;
  for (const xet::Hash& name : names) {
    DOLIUM_TRY(const auto shard, store.catalog()->Shard(name));
    if (!shard) continue;
    ++statistics.shards;
    statistics.shard_bytes += shard->bytes.size();
    xet::XorbCursor xorbs = shard->view.xorbs();
    while (true) {
      DOLIUM_TRY(const auto xorb, xorbs.Next().Within(store.layout().shard(name)));
      if (!xorb) break;
      if (!seen.insert(xorb->hash()).second) continue;
      ++statistics.xorbs;
      statistics.chunks += xorb->size();
      for (size_t i = 0; i < xorb->size(); ++i) {
        const uint32_t size = xorb->chunk(i).raw_bytes;
        statistics.raw_bytes += size;
        const auto bucket = static_cast<size_t>(std::bit_width(size | 1)) - 1;
        ++statistics.histogram[std::min(bucket, statistics.histogram.size() - 1)];
      }
    }
  }
  return {};
}

}  // namespace

Result<StoreStatistics> CountStore(const Store& store) {
  StoreStatistics statistics;
  const Layout& layout = store.layout();
  DOLIUM_TRY(const auto names, ListNames(layout));
  statistics.names = names.size();
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto versions, ListVersions(layout, name));
    for (const Version& version : versions) {
      ++statistics.versions;
      statistics.files += version.totals.files;
      statistics.bytes += version.totals.bytes;
    }
  }
  DOLIUM_TRY_VOID(CountShards(store, statistics));
  DOLIUM_TRY(const auto folders, SortedFolder(layout.xorbs()));
  for (const std::string& folder : folders) {
    DOLIUM_TRY(const uint64_t bytes,
               SizesIn(fmt::format("{}/{}", layout.xorbs(), folder)));
    statistics.stored_bytes += bytes;
  }
  if (const auto index = store.catalog()->index()) {
    statistics.index_bytes = index->size();
  }
  return statistics;
}

Result<VersionStatistics> CountVersion(const Store& store, const Version& version) {
  DOLIUM_TRY(const auto lease, store.TakeLease());
  VersionStatistics statistics;
  std::set<xet::Hash> files;
  if (version.kind == VersionKind::kFile) {
    DOLIUM_TRY([[maybe_unused]] const auto noted, store.OpenFile(version.hash, *lease));
    files.insert(version.hash);
  } else {
    DOLIUM_TRY_VOID(store.VisitManifest(version, *lease,
                                        [&](const ManifestEntry& entry) -> Result<void> {
                                          if (entry.type == EntryType::kFile)
                                            files.insert(entry.hash);
                                          return {};
                                        }));
  }
  std::map<xet::Hash, std::set<uint32_t>> used;
  for (const xet::Hash& hash : files) {
    DOLIUM_TRY(const auto file, store.OpenCovered(hash));
    statistics.terms += file->terms().size();
    for (const xet::Term& term : file->terms()) {
      std::set<uint32_t>& chunks = used[term.xorb];
      for (uint32_t i = term.first; i < term.end; ++i) chunks.insert(i);
    }
  }
  for (const auto& [hash, chunks] : used) {
    ++statistics.xorbs;
    DOLIUM_TRY(const auto xorb, store.xorbs()->Get(hash));
    for (const uint32_t chunk : chunks) {
      if (chunk < xorb->index.size()) {
        statistics.unique_bytes += xorb->index.raw_size(chunk);
      }
    }
  }
  return statistics;
}

Result<VersionDifferences> DiffVersions(
    const Store& store, const Version& first, const Version& second,
    const std::function<void(const VersionDifference&)>& visit) {
  using Kind = VersionDifference::Kind;
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY(const Entries before, EntriesOf(store, first, *lease));
  DOLIUM_TRY(const Entries after, EntriesOf(store, second, *lease));
  VersionDifferences sum;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && a->first < b->first)) {
      ++sum.removed;
      visit({Kind::kRemoved, (a++)->first, ""});
    } else if (a == before.end() || b->first < a->first) {
      ++sum.added;
      visit({Kind::kAdded, (b++)->first, ""});
    } else {
      std::string reason = ReasonOf(a->second, b->second);
      if (reason.empty()) {
        ++sum.equal;
      } else {
        ++sum.changed;
        visit({Kind::kChanged, a->first, std::move(reason)});
      }
      ++a;
      ++b;
    }
  }
  return sum;
}

}  // namespace dolium::cas
