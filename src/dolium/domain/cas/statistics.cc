#include "dolium/domain/cas/statistics.h"

#include <bit>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "dolium/bytes/store.h"
#include "dolium/domain/cas/version_files.h"
#include "dolium/formats/xet/chunker.h"

namespace dolium::cas {
namespace {

using Entries = std::map<std::string, ManifestEntry>;

Result<Entries> EntriesOf(const CasStore& store, const Version& version, Lease& lease) {
  Entries entries;
  if (version.kind == VersionKind::kFile) {
    ManifestEntry entry = EntryOfFile(version);
    entry.path = ".";
    entries.emplace(".", std::move(entry));
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

Result<uint64_t> SizesIn(const Objects& objects, const std::string& folder) {
  uint64_t sum = 0;
  DOLIUM_TRY(const auto names, objects.List(folder));
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto info, objects.Stat(JoinPath(folder, name)));
    if (info) sum += info->size;
  }
  return sum;
}

Result<void> CountShards(const CasStore& store, StoreStatistics& statistics) {
  DOLIUM_TRY(const auto names, store.catalog()->ShardNames());
  std::unordered_set<xet::Hash, xet::HashOfHash> seen;
  for (const xet::Hash& name : names) {
    DOLIUM_TRY(const auto shard, store.catalog()->Shard(name));
    if (!shard) continue;
    ++statistics.shards;
    statistics.shard_bytes += shard->bytes.size();
    xet::XorbCursor xorbs = shard->view.xorbs();
    while (true) {
      DOLIUM_TRY(const auto xorb, xorbs.Next().Within(store.layout().objects().Describe(
                                      store.layout().shard(name))));
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

using ChunkVisitor = std::function<void(const xet::Hash& hash, uint64_t size)>;

// The chunks that a file is stored as.
Result<void> VisitStoredChunks(const CasStore& store, const StoredFile& file,
                               const ChunkVisitor& visit) {
  DOLIUM_TRY_VOID(file.CheckHash());
  for (const xet::Term& term : file.terms()) {
    DOLIUM_TRY(const auto xorb, store.xorbs()->Get(term.xorb));
    for (size_t i = term.first; i < term.end; ++i) {
      visit(xorb->index.chunks[i], xorb->index.raw_size(i));
    }
  }
  return {};
}

// The chunks that Xet makes of a file.
Result<void> VisitPlainChunks(const StoredFile& file, const std::stop_token& stop,
                              const ChunkVisitor& visit) {
  xet::Chunker chunker;
  std::vector<uint64_t> cuts;
  ByteVector open;     // bytes behind the last cut
  uint64_t start = 0;  // of them
  const auto take_cuts = [&] {
    size_t at = 0;
    for (const uint64_t cut : cuts) {
      const BytesView chunk = BytesView(open).subspan(at, cut - start);
      visit(xet::ChunkHash(chunk), chunk.size());
      at += chunk.size();
      start = cut;
    }
    cuts.clear();
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(at));
  };
  DOLIUM_TRY_VOID(file.ReadAll(0, stop, [&](BytesView segment) -> Result<void> {
    chunker.Write(segment, cuts);
    Append(open, segment);
    take_cuts();
    return {};
  }));
  chunker.Finish(cuts);
  take_cuts();
  return {};
}

// `visit_file` gives the chunks of a file, in one way or another.
Result<ChunkSums> SumChunks(
    const std::set<xet::Hash>& first, const std::set<xet::Hash>& second,
    const std::function<Result<void>(const xet::Hash&, const ChunkVisitor&)>&
        visit_file) {
  ChunkSums sums;
  std::unordered_set<xet::Hash, xet::HashOfHash> had;
  for (const xet::Hash& hash : first) {
    const bool is_shared = second.contains(hash);
    DOLIUM_TRY_VOID(visit_file(hash, [&](const xet::Hash& chunk, uint64_t size) {
      had.insert(chunk);
      if (!is_shared) return;
      ++sums.chunks;
      sums.bytes += size;
    }));
  }
  for (const xet::Hash& hash : second) {
    if (first.contains(hash)) continue;
    DOLIUM_TRY_VOID(visit_file(hash, [&](const xet::Hash& chunk, uint64_t size) {
      ++sums.chunks;
      sums.bytes += size;
      if (!had.insert(chunk).second) return;
      ++sums.new_chunks;
      sums.new_bytes += size;
    }));
  }
  return sums;
}

}  // namespace

Result<VersionGain> CompareChunks(const CasStore& store, const Version& first,
                                  const Version& second, const std::stop_token& stop) {
  DOLIUM_TRY(const auto lease, store.TakeLease(stop));
  DOLIUM_TRY(const auto before, FilesOf(store, first, *lease));
  DOLIUM_TRY(const auto after, FilesOf(store, second, *lease));
  VersionGain gain;
  const auto visit_stored = [&](const xet::Hash& hash,
                                const ChunkVisitor& visit) -> Result<void> {
    if (stop.stop_requested()) return Cancelled();
    DOLIUM_TRY(const auto file, store.OpenCovered(hash));
    return VisitStoredChunks(store, *file, visit);
  };
  DOLIUM_TRY(gain.stored, SumChunks(before, after, visit_stored));
  if (!first.is_aligned && !second.is_aligned) return gain;
  const auto visit_plain = [&](const xet::Hash& hash,
                               const ChunkVisitor& visit) -> Result<void> {
    DOLIUM_TRY(const auto file, store.OpenCovered(hash));
    return VisitPlainChunks(*file, stop, visit);
  };
  DOLIUM_TRY(gain.plain, SumChunks(before, after, visit_plain));
  return gain;
}

Result<StoreStatistics> CountStore(const CasStore& store) {
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
  DOLIUM_TRY(const auto folders, layout.objects().List(layout.xorbs()));
  for (const std::string& folder : folders) {
    DOLIUM_TRY(const uint64_t bytes,
               SizesIn(layout.objects(), JoinPath(layout.xorbs(), folder)));
    statistics.stored_bytes += bytes;
  }
  if (const auto index = store.catalog()->index()) {
    statistics.index_bytes = index->size();
  }
  return statistics;
}

Result<VersionStatistics> CountVersion(const CasStore& store, const Version& version) {
  DOLIUM_TRY(const auto lease, store.TakeLease());
  VersionStatistics statistics;
  DOLIUM_TRY(const auto files, FilesOf(store, version, *lease));
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
    const CasStore& store, const Version& first, const Version& second,
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
