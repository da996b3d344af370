#include "dolium/ops/pack/pack_catalog.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::dataset {
namespace {

using shardpack::Shard;

// Opening is waiting: more threads than cores.
constexpr size_t kOpeners = 16;

Result<std::string> PathFrom(const Location& folder, const Location& shard) {
  DOLIUM_TRY(const auto local, shard.store->LocalPath(shard.path));
  if (!local) return shard.Describe();
  DOLIUM_TRY(const auto root, folder.store->LocalPath(folder.path));
  std::string begin = root.value_or("");
  if (!begin.ends_with('/')) begin += '/';
  if (root && local->starts_with(begin)) return local->substr(begin.size());
  return InvalidArgument(fmt::format("{}: is not in {}, where the catalog is to be",
                                     shard.Describe(), folder.Describe()));
}

Result<std::string> KeyOf(const Shard& shard, uint64_t number) {
  DOLIUM_TRY(const auto record, shard.Read(number));
  return std::string(record.key());
}

Result<CatalogShard> RowOf(const Shard& shard, std::string path) {
  const shardpack::Footer& footer = shard.footer();
  CatalogShard row{.path = std::move(path),
                   .size = footer.file_size,
                   .records = shard.size(),
                   .index_offset = footer.index_offset,
                   .footer_crc32c = footer.crc32c};
  if (!shard.stat()) return row;
  row.keys_digest = shard.stat()->keys_digest;
  if (shard.stat()->keys_ascending && shard.size() > 0) {
    DOLIUM_TRY(row.min_key, KeyOf(shard, 0));
    DOLIUM_TRY(row.max_key, KeyOf(shard, shard.size() - 1));
  }
  return row;
}

std::vector<CatalogColumn> CatalogColumns(const Shard& shard) {
  std::vector<CatalogColumn> columns;
  if (!shard.stat() || !shard.stat()->is_regular || shard.size() == 0) return columns;
  const auto record = shard.Read(0);
  if (!record) return columns;
  for (const shardpack::EntryHeader& entry : record->entries()) {
    if (entry.is_aux()) continue;
    columns.push_back({std::string(entry.name), std::string(entry.content_type)});
  }
  return columns;
}

}  // namespace

Result<SetCatalog> MakeCatalog(std::span<const ShardReference> shards,
                               const Location& folder, const CatalogRequest& request) {
  SetCatalog catalog;
  catalog.shards.resize(shards.size());
  std::vector<std::vector<CatalogColumn>> columns(shards.size());
  DOLIUM_TRY_VOID(ParallelFor(
      shards.size(), std::max(kOpeners, request.jobs),
      [&](size_t i) -> Result<void> {
        DOLIUM_TRY(std::string path, PathFrom(folder, shards[i].location));
        DOLIUM_TRY(const auto shard, Shard::Open(shards[i].location));
        DOLIUM_TRY(catalog.shards[i], RowOf(*shard, std::move(path)));
        columns[i] = CatalogColumns(*shard);
        return {};
      },
      request.stop));
  const bool are_equal = std::ranges::all_of(
      columns, [&](const std::vector<CatalogColumn>& one) { return one == columns[0]; });
  if (are_equal && !columns.empty()) catalog.columns = std::move(columns[0]);
  return catalog;
}

}  // namespace dolium::dataset
