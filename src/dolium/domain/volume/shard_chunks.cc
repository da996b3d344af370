#include "dolium/domain/volume/shard_chunks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume_sharding.h"
#include "dolium/formats/neuroglancer/shard_update.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::volume {
namespace {

// Requests under way at once, to a server.
constexpr size_t kRemoteJobs = 16;
// Chunks that one call asks for, so that near ones share requests.
constexpr size_t kChunksAtOnce = 16;
// Shards of so many cells are taken to be full of chunks.
constexpr uint64_t kMaxFullCells = uint64_t{1} << 18;

}  // namespace

ShardChunks::ShardChunks(Location folder, const neuroglancer::ShardingSpec& spec,
                         MortonCode morton, uint64_t max_bytes, uint64_t cache_bytes)
    : morton_(morton),
      max_bytes_(max_bytes),
      reader_(std::move(folder), spec, cache_bytes) {}

std::string ShardChunks::Describe(const Vec3& cell) const {
  const uint64_t id = morton_.Encode(cell);
  const auto objects = reader_.ObjectsOf(reader_.spec().LocationOf(id).shard, false);
  return fmt::format("{}: chunk {}", reader_.store().Describe(objects.body), id);
}

std::vector<std::string> ShardChunks::ObjectsOf(const Vec3& cell) const {
  const uint64_t shard = reader_.spec().LocationOf(morton_.Encode(cell)).shard;
  const auto pair = reader_.ObjectsOf(shard, true);
  return {reader_.ObjectsOf(shard, false).body, pair.index, pair.body};
}

std::optional<Vec3> ShardChunks::CellOf(std::string_view key) const {
  const auto id = neuroglancer::ParseKey(key);
  return id ? morton_.Decode(*id) : std::nullopt;
}

Result<Bytes> ShardChunks::Unwrap(std::string_view, const Bytes& value) const {
  return value;
}

Result<std::optional<Bytes>> ShardChunks::Get(const Vec3& cell) const {
  return reader_.Get(morton_.Encode(cell), max_bytes_);
}

Result<std::optional<StoredChunk>> ShardChunks::GetStored(const Vec3& cell) const {
  DOLIUM_TRY(auto bytes, reader_.GetStored(morton_.Encode(cell), max_bytes_));
  if (!bytes) return std::nullopt;
  const bool is_gzip = reader_.spec().data_encoding == neuroglancer::Encoding::kGzip;
  return StoredChunk{*std::move(bytes), is_gzip ? Wrapper::kGzip : Wrapper::kNone};
}

Result<void> ShardChunks::GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                                  const Visitor& visit) const {
  if (!reader_.is_local()) return GetEachByRequests(cells, options, visit);
  return GetInRuns(*this, cells, options, visit);
}

Result<void> ShardChunks::GetEachByRequests(std::span<const Vec3> cells,
                                            const WorkOptions& options,
                                            const Visitor& visit) const {
  struct Wanted {
    uint64_t id = 0;
    size_t index = 0;
  };
  std::vector<Wanted> wanted(cells.size());
  // One chunk of each shard, and one of each minishard: to get the indexes into the cache
  // by one request each, where many threads that find it empty would all ask.
  std::map<uint64_t, uint64_t> shards;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> minishards;
  for (size_t i = 0; i < cells.size(); ++i) {
    const uint64_t id = morton_.Encode(cells[i]);
    wanted[i] = {id, i};
    const neuroglancer::MinishardLocation place = reader_.spec().LocationOf(id);
    shards.emplace(place.shard, id);
    minishards.emplace(std::pair(place.shard, place.minishard), id);
  }
  const size_t threads = options.jobs == 0 ? kRemoteJobs : options.jobs;
  const auto locate = [&](const auto& by_place) {
    std::vector<uint64_t> ids;
    ids.reserve(by_place.size());
    for (const auto& [place, id] : by_place) ids.push_back(id);
    return ParallelFor(
        ids.size(), threads,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY([[maybe_unused]] const auto found, reader_.Locate(ids[i]));
          return {};
        },
        options.stop);
  };
  if (minishards.size() > 1) {
    auto located = locate(shards);
    if (located) located = locate(minishards);
    // Of one that is damaged, each chunk says so.
    if (!located && (!options.failed || options.stop.stop_requested())) return located;
  }
  std::ranges::sort(wanted, {}, &Wanted::id);
  const size_t batches = (wanted.size() + kChunksAtOnce - 1) / kChunksAtOnce;
  const auto get_batch = [&](size_t batch) -> Result<void> {
    const auto part = std::span(wanted).subspan(
        batch * kChunksAtOnce,
        std::min(kChunksAtOnce, wanted.size() - batch * kChunksAtOnce));
    std::vector<uint64_t> ids;
    ids.reserve(part.size());
    for (const Wanted& one : part) ids.push_back(one.id);
    auto chunks = reader_.GetMany(ids, max_bytes_);
    if (!chunks && !options.failed) return chunks.error();
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t index = part[i].index;
      if (chunks) {
        DOLIUM_TRY_VOID(visit(index, std::move((*chunks)[i])));
        continue;
      }
      // Some of them, or all: one by one.
      if (options.stop.stop_requested()) return Cancelled();
      auto chunk = reader_.Get(part[i].id, max_bytes_);
      DOLIUM_TRY_VOID(chunk ? visit(index, *std::move(chunk))
                            : options.failed(index, chunk.error()));
    }
    return {};
  };
  return ParallelFor(batches, threads, get_batch, options.stop);
}

Result<std::optional<std::set<uint64_t>>> ShardChunks::ListShards() const {
  std::set<uint64_t> shards;
  const auto listed =
      reader_.store().List(reader_.folder().path, [&](std::string_view name, bool) {
        for (const std::string_view ending : {".shard", ".index"}) {
          if (!name.ends_with(ending)) continue;
          name.remove_suffix(ending.size());
          if (const auto shard = reader_.spec().ParseShardStem(name)) {
            shards.insert(*shard);
          }
          break;
        }
        return true;
      });
  if (listed || listed.error().code == ErrorCode::kNotFound) return shards;
  if (listed.error().code == ErrorCode::kUnsupported) return std::nullopt;
  return listed.error();
}

Result<void> ShardChunks::VisitShard(
    uint64_t shard, const std::function<Result<void>(const Vec3&)>& visit,
    const DamagedIndexVisitor& damaged) const {
  const auto failed = [&](const Error& error) -> Result<void> {
    if (!damaged || error.code != ErrorCode::kCorrupt) return error;
    return damaged(*ShardCells(reader_.spec(), morton_, shard), error);
  };
  const auto objects = reader_.FindShard(shard);
  if (!objects) return failed(objects.error());
  if (!*objects) return {};
  Result<void> visited;
  const auto scanned =
      ScanMinishards(reader_, **objects, std::nullopt,
                     [&](const neuroglancer::ShardReader::MinishardRow&,
                         const Result<neuroglancer::Minishard>& minishard) {
                       if (!minishard) {
                         visited = failed(minishard.error());
                         return visited.has_value();
                       }
                       for (size_t i = 0; visited && i < minishard->chunks.size(); ++i) {
                         // Keys of no cell are for verify to report.
                         const auto cell = morton_.Decode(minishard->chunks[i].id);
                         if (cell) visited = visit(*cell);
                       }
                       return visited.has_value();
                     });
  if (!scanned) return failed(scanned.error());
  return visited;
}

Result<bool> ShardChunks::VisitOccupied(const BoxVisitor& visit,
                                        const DamagedIndexVisitor& damaged) const {
  if (!ShardCells(reader_.spec(), morton_, 0)) return false;
  DOLIUM_TRY(const auto shards, ListShards());
  if (!shards) return false;
  for (const uint64_t shard : *shards) {
    const Box cells = *ShardCells(reader_.spec(), morton_, shard);
    if (cells.empty()) continue;
    if (CellCount(cells) <= kMaxFullCells) {
      DOLIUM_TRY_VOID(visit(cells));
      continue;
    }
    DOLIUM_TRY_VOID(VisitShard(
        shard, [&](const Vec3& cell) { return visit(CellBox(cell)); }, damaged));
  }
  return true;
}

Result<std::optional<std::vector<Vec3>>> ShardChunks::FindOccupied(
    const Box& within, const DamagedIndexVisitor& damaged) const {
  const auto first = ShardCells(reader_.spec(), morton_, 0);
  // Of a server, a shard's whole index takes longer than the chunks that are wanted.
  const bool is_small = !reader_.is_local() && CellCount(within) <= kMaxFullCells;
  if (!first || first->empty() || within.empty() || is_small) return std::nullopt;
  std::set<uint64_t> shards;
  const Vec3 size = first->size();
  Box steps;
  for (size_t d = 0; d < 3; ++d) {
    steps.begin[d] = within.begin[d] / size[d];
    steps.end[d] = (within.end[d] + size[d] - 1) / size[d];
  }
  if (CellCount(steps) <= kMaxFullCells) {
    for (const Vec3& step : CellsOf(steps)) {
      const Vec3 cell = {step[0] * size[0], step[1] * size[1], step[2] * size[2]};
      shards.insert(reader_.spec().LocationOf(morton_.Encode(cell)).shard);
    }
  } else {
    DOLIUM_TRY(auto listed, ListShards());
    if (!listed) return std::nullopt;
    shards = *std::move(listed);
  }
  std::vector<Vec3> cells;
  for (const uint64_t shard : shards) {
    if (ShardCells(reader_.spec(), morton_, shard)->Intersect(within).empty()) continue;
    DOLIUM_TRY_VOID(VisitShard(
        shard,
        [&](const Vec3& cell) -> Result<void> {
          if (within.Contains(CellBox(cell))) cells.push_back(cell);
          return {};
        },
        damaged));
  }
  return cells;
}

Result<void> ShardChunks::Update(std::span<const ChunkUpdate> updates,
                                 const WorkOptions& options) {
  std::map<uint64_t, std::vector<neuroglancer::ChunkUpdate>> by_shard;
  for (const ChunkUpdate& update : updates) {
    const uint64_t id = morton_.Encode(update.cell);
    by_shard[reader_.spec().LocationOf(id).shard].push_back(
        {.id = id,
         .make = [&update](const neuroglancer::OldChunk& old)
             -> Result<std::optional<neuroglancer::NewChunk>> {
           DOLIUM_TRY(ByteVector value, update.make(old.value));
           return neuroglancer::NewChunk{.value = std::move(value)};
         },
         .needs = update.needs_old ? neuroglancer::ChunkUpdate::Needs::kValue
                                   : neuroglancer::ChunkUpdate::Needs::kNothing});
  }
  std::vector<std::pair<uint64_t, std::span<const neuroglancer::ChunkUpdate>>> shards;
  shards.reserve(by_shard.size());
  for (const auto& [shard, of_shard] : by_shard) shards.emplace_back(shard, of_shard);
  Store& store = *reader_.folder().store;
  // Once: it lists the folder, which may hold many thousand shards.
  if (!is_tidy_.exchange(true)) {
    DOLIUM_TRY([[maybe_unused]] const size_t removed,
               store.RemoveStaleTemporaries(reader_.folder().path));
  }
  const size_t threads = ThreadCount(options.jobs, shards.size());
  const size_t within =
      std::max<size_t>(1, ThreadCount(options.jobs, SIZE_MAX) / threads);
  return ParallelFor(
      shards.size(), threads,
      [&](size_t i) {
        const auto& [shard, of_shard] = shards[i];
        return neuroglancer::UpdateShard(
            reader_, store, neuroglancer::Kind::kVolume, shard, of_shard,
            {.jobs = within, .decode_limit = max_bytes_, .stop = options.stop});
      },
      options.stop);
}

}  // namespace dolium::volume
