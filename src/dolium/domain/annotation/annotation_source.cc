#include "dolium/domain/annotation/annotation_source.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/volume/chunk_wrapper.h"

namespace dolium::annotation {
namespace {

constexpr uint64_t kMaxInfoBytes = uint64_t{64} << 20;
// A box of more cells is looked up in the list of those that there are.
constexpr uint64_t kMaxProbedCells = 4096;
// Read before they are handed on.
constexpr size_t kIdsAtOnce = 65536;

std::unique_ptr<objects::ObjectStorage> OpenIndex(
    const Location& folder, std::string_view key,
    const std::optional<neuroglancer::ShardingSpec>& sharding, const std::string& info,
    uint64_t cache_bytes) {
  const Location at{folder.store, NormalizePath(JoinPath(folder.path, key))};
  std::optional<neuroglancer::ShardingInfo> shards;
  if (sharding) {
    shards =
        neuroglancer::ShardingInfo{*sharding, neuroglancer::Kind::kAnnotations, "", info};
  }
  return std::make_unique<objects::ObjectStorage>(at, std::move(shards), std::string(),
                                                  cache_bytes,
                                                  objects::ObjectStorage::Zero::kIsId);
}

}  // namespace

Result<AnnotationSource> AnnotationSource::Open(Location folder, uint64_t cache_bytes) {
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxInfoBytes));
  if (!bytes) return NotFound(fmt::format("{}: is not there", at.Describe()));
  auto info = ParseAnnotationInfo(AsText(*bytes));
  if (!info) return std::move(info).error().Within(at.Describe());
  AnnotationSource source(std::move(folder), *std::move(info));
  const AnnotationInfo& known = source.info_;
  // One of them is read at a time, mostly.
  const uint64_t cache =
      cache_bytes / (1 + known.relationships.size() + known.spatial.size());
  const auto open = [&](std::string_view key, const auto& sharding) {
    return OpenIndex(source.folder_, key, sharding, at.Describe(), cache);
  };
  source.by_id_ = open(known.by_id.key, known.by_id.sharding);
  for (const Relationship& relationship : known.relationships) {
    source.related_.push_back(open(relationship.key, relationship.sharding));
  }
  for (const SpatialLevel& level : known.spatial) {
    auto storage = open(level.key, level.sharding);
    const Location at_level = storage->folder();
    if (!level.sharding) storage = nullptr;
    source.levels_.push_back(
        {CellGrid(known.lower_bound, level), at_level, std::move(storage)});
  }
  return source;
}

Result<std::vector<uint64_t>> AnnotationSource::ListIds(
    const std::stop_token& stop) const {
  auto ids = by_id_->ListIds(stop);
  // Nothing was written to it.
  if (!ids && ids.error().code == ErrorCode::kNotFound) return std::vector<uint64_t>();
  return ids;
}

Result<AnnotationTable> AnnotationSource::GetMany(
    std::span<const uint64_t> ids, const objects::ReadManyOptions& options) const {
  // Parsed where they are read, then put in order.
  std::vector<AnnotationTable> values(ids.size());
  DOLIUM_TRY_VOID(by_id_->ReadEach(
      ids, options, [&](size_t index, const objects::StoredValue* value) -> Result<void> {
        if (value == nullptr) return {};
        AnnotationTable one(layout_);
        auto parsed =
            ParseValue(value->value, value->id, layout_, info_.relationships.size(), one);
        if (!parsed) {
          return std::move(parsed).error().Within(by_id_->Describe(value->id));
        }
        values[index] = std::move(one);
        return {};
      }));
  AnnotationTable table(layout_);
  table.related().resize(info_.relationships.size());
  for (const AnnotationTable& value : values) table.Append(value);
  return table;
}

Result<void> AnnotationSource::VisitAll(const objects::ReadManyOptions& options,
                                        const Visitor& visit) const {
  DOLIUM_TRY(const auto ids, ListIds(options.stop));
  for (size_t begin = 0; begin < ids.size(); begin += kIdsAtOnce) {
    const size_t count = std::min(kIdsAtOnce, ids.size() - begin);
    DOLIUM_TRY(const AnnotationTable table,
               GetMany(std::span(ids).subspan(begin, count), options));
    DOLIUM_TRY_VOID(visit(table));
  }
  return {};
}

Result<size_t> AnnotationSource::FindRelationship(std::string_view id) const {
  const auto found = std::ranges::find(info_.relationships, id, &Relationship::id);
  if (found != info_.relationships.end()) {
    return static_cast<size_t>(found - info_.relationships.begin());
  }
  std::vector<std::string_view> known;
  known.reserve(info_.relationships.size());
  for (const Relationship& one : info_.relationships) known.push_back(one.id);
  return InvalidArgument(
      fmt::format("{}: no relationship \"{}\"; there is {}", folder_.Describe(), id,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

Result<AnnotationTable> AnnotationSource::Related(
    std::string_view relationship, uint64_t id,
    const objects::ReadManyOptions& options) const {
  DOLIUM_TRY(const size_t number, FindRelationship(relationship));
  AnnotationTable table(layout_);
  const objects::ObjectStorage& storage = *related_[number];
  DOLIUM_TRY_VOID(
      storage.ReadEach(std::span(&id, 1), options,
                       [&](size_t, const objects::StoredValue* value) -> Result<void> {
                         if (value == nullptr) return {};
                         AnnotationTable list(layout_);
                         auto parsed = ParseList(value->value, layout_, list);
                         if (!parsed)
                           return std::move(parsed).error().Within(storage.Describe(id));
                         table = std::move(list);
                         return {};
                       }));
  return table;
}

std::string AnnotationSource::DescribeList(size_t level, uint64_t code) const {
  const Level& one = levels_[level];
  if (one.shards != nullptr) return one.shards->Describe(code);
  const auto cell = one.grid.Decode(code);
  return one.folder.Child(cell ? CellGrid::NameOf(*cell) : std::to_string(code))
      .Describe();
}

Result<std::vector<uint64_t>> AnnotationSource::ListCells(
    size_t level, const std::stop_token& stop) const {
  const Level& one = levels_[level];
  std::vector<uint64_t> codes;
  if (one.shards != nullptr) {
    auto listed = one.shards->ListIds(stop);
    if (!listed && listed.error().code == ErrorCode::kNotFound) return codes;
    return listed;
  }
  const auto listed =
      one.folder.store->List(one.folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder) return true;
        name.remove_suffix(volume::FormOf(name).suffix.size());
        const auto cell = one.grid.ParseName(name);
        if (cell) codes.push_back(one.grid.Encode(*cell));
        return true;
      });
  if (!listed && listed.error().code != ErrorCode::kNotFound) return listed.error();
  std::ranges::sort(codes);
  const auto same = std::ranges::unique(codes);
  codes.erase(same.begin(), same.end());
  return codes;
}

Result<void> AnnotationSource::ReadLists(size_t level, std::span<const uint64_t> codes,
                                         const objects::ReadManyOptions& options,
                                         const ListVisitor& visit) const {
  const auto parse = [&](uint64_t code, BytesView bytes) -> Result<void> {
    AnnotationTable list(layout_);
    auto parsed = ParseList(bytes, layout_, list);
    if (!parsed) return std::move(parsed).error().Within(DescribeList(level, code));
    return visit(code, list);
  };
  const Level& one = levels_[level];
  if (one.shards != nullptr) {
    return one.shards->ReadEach(
        codes, options,
        [&](size_t index, const objects::StoredValue* value) -> Result<void> {
          return value == nullptr ? Result<void>() : parse(codes[index], value->value);
        });
  }
  return ParallelFor(
      codes.size(), options.jobs,
      [&](size_t i) -> Result<void> {
        const auto cell = one.grid.Decode(codes[i]);
        if (!cell) return {};
        DOLIUM_TRY(const auto bytes,
                   objects::ReadWrapped(one.folder.Child(CellGrid::NameOf(*cell)),
                                        options.limit));
        return bytes ? parse(codes[i], *bytes) : Result<void>();
      },
      options.stop);
}

// The cells of a level that may have something of a region.
Result<std::vector<uint64_t>> AnnotationSource::CellsOf(
    size_t level, const Region& region, const std::stop_token& stop) const {
  const CellGrid& grid = levels_[level].grid;
  const CellGrid::CellRange range = grid.RangeOf(region);
  std::vector<uint64_t> codes;
  if (range.count() > kMaxProbedCells) {
    DOLIUM_TRY(codes, ListCells(level, stop));
    std::erase_if(codes, [&](uint64_t code) {
      const auto cell = grid.Decode(code);
      return !cell || !range.Contains(*cell);
    });
    return codes;
  }
  Cell cell = range.first;
  while (true) {
    codes.push_back(grid.Encode(cell));
    size_t d = 0;
    while (d < cell.size() && cell[d] == range.last[d]) {
      cell[d] = range.first[d];
      ++d;
    }
    if (d == cell.size()) return codes;
    ++cell[d];
  }
}

Result<AnnotationTable> AnnotationSource::Query(const BoxQuery& query) const {
  const size_t rank = info_.rank();
  if (query.region.lower.size() != rank || query.region.upper.size() != rank) {
    return InvalidArgument(fmt::format("a box of {} and {} numbers, expected {} of each",
                                       query.region.lower.size(),
                                       query.region.upper.size(), rank));
  }
  AnnotationTable table(layout_);
  std::unordered_set<uint64_t> seen;
  const size_t levels =
      query.levels == 0 ? levels_.size() : std::min(query.levels, levels_.size());
  for (size_t level = 0; level < levels; ++level) {
    DOLIUM_TRY(const auto codes, CellsOf(level, query.region, query.read.stop));
    std::vector<std::pair<uint64_t, AnnotationTable>> found;
    std::mutex mutex;
    DOLIUM_TRY_VOID(
        ReadLists(level, codes, query.read,
                  [&](uint64_t code, const AnnotationTable& list) -> Result<void> {
                    AnnotationTable inside(layout_);
                    for (size_t i = 0; i < list.size(); ++i) {
                      const AnnotationView one = list[i];
                      if (Intersects(info_.type, rank, one.geometry, query.region)) {
                        inside.Append(one);
                      }
                    }
                    if (inside.empty()) return {};
                    const std::lock_guard lock(mutex);
                    found.emplace_back(code, std::move(inside));
                    return {};
                  }));
    // The same whatever thread was first.
    std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
    AnnotationTable added(layout_);
    for (const auto& [code, list] : found) {
      for (size_t i = 0; i < list.size(); ++i) {
        const AnnotationView one = list[i];
        // In each cell that it meets.
        const bool is_new =
            info_.type == AnnotationType::kPoint || seen.insert(one.id).second;
        if (is_new) added.Append(one);
      }
    }
    if (query.most > 0 && level > 0 && table.size() + added.size() > query.most) {
      return table;
    }
    table.Append(added);
  }
  return table;
}

}  // namespace dolium::annotation
