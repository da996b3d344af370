// catalog: what the shards of a set tell of themselves, in one file beside them.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/catalog.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/ops/verify.h"

namespace dolium::dataset {

// Of the catalog of a set, where nothing else is said.
inline constexpr std::string_view kCatalogName = "catalog.json";

struct CatalogRequest {
  size_t jobs = 0;
  std::stop_token stop = {};
};

// The catalog for shards, to be put into `folder`: paths are relative to it. Reads the
// tails of shards, many at once. kInvalidArgument for a local shard that is not in or
// below the folder.
Result<SetCatalog> MakeCatalog(std::span<const ShardReference> shards,
                               const Location& folder, const CatalogRequest& request);

// The catalog that a set is named by, or that lies in its folder; nullopt if there is
// none.
Result<std::optional<Location>> FindCatalog(const Location& set);

// Makes what a catalog says of each shard again, and compares. Each finding, of kind
// "catalog", names a shard. Of the report, objects, errors and unreadable are set.
Result<VerifyReport> CheckCatalog(const Location& catalog, const CatalogRequest& request,
                                  const FindingVisitor& visitor);

}  // namespace dolium::dataset
