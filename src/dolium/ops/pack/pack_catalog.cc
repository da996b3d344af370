#include "dolium/ops/pack/pack_catalog.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
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

// The first thing that a catalog says otherwise.
std::string CatalogDifference(const CatalogShard& said, const CatalogShard& found) {
  const auto differ = [](std::string_view what, uint64_t is, uint64_t was) {
    return fmt::format("it has {} {}, expected {}", is, what, was);
  };
  if (said.size != found.size) return differ("bytes", found.size, said.size);
  if (said.records != found.records) {
    return differ("records", found.records, said.records);
  }
  if (said.keys_digest != found.keys_digest || said.min_key != found.min_key ||
      said.max_key != found.max_key) {
    return "it has other keys";
  }
  return "it was written again";
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

Result<std::optional<Location>> FindCatalog(const Location& set) {
  DOLIUM_TRY(const auto object, set.store->Stat(set.path));
  if (object) {
    return set.path.ends_with(".json") ? std::optional(set) : std::nullopt;
  }
  Location inside = set.Child(kCatalogName);
  DOLIUM_TRY(const auto there, inside.store->Stat(inside.path));
  return there ? std::optional(std::move(inside)) : std::nullopt;
}

Result<VerifyReport> CheckCatalog(const Location& catalog, const CatalogRequest& request,
                                  const FindingVisitor& visitor) {
  VerifyReport report;
  std::mutex mutex;
  const auto add = [&](const Location& shard, const Error& error) {
    const std::scoped_lock lock(mutex);
    CountError(report, error.code);
    visitor(ErrorFinding("catalog", shard.Describe(), {}, std::nullopt, error));
  };
  const auto shards = ResolveSet(catalog.Describe());
  if (!shards) {
    add(catalog, shards.error());
    return report;
  }
  report.objects = shards->size();
  DOLIUM_TRY_VOID(ParallelFor(
      shards->size(), std::max(kOpeners, request.jobs),
      [&](size_t i) -> Result<void> {
        const ShardReference& reference = (*shards)[i];
        const auto shard = Shard::Open(reference.location);
        const auto row = shard ? RowOf(**shard, reference.known->path)
                               : Result<CatalogShard>(shard.error());
        if (!row) {
          add(reference.location, row.error());
        } else if (*row != *reference.known) {
          add(reference.location,
              Corrupt(fmt::format("is not the shard that {} says: {}", catalog.Describe(),
                                  CatalogDifference(*reference.known, *row))));
        }
        return {};
      },
      request.stop));
  return report;
}

}  // namespace dolium::dataset
