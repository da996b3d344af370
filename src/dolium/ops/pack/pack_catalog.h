// catalog: what the shards of a set say of themselves, in one file beside them.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/catalog.h"
#include "dolium/domain/dataset/set_reference.h"

namespace dolium::dataset {

struct CatalogRequest {
  size_t jobs = 0;
  std::stop_token stop = {};
};

// The catalog for shards, to be put into `folder`: paths are relative to it. Reads the
// tails of shards, many at once. kInvalidArgument for a local shard that is not in or
// below the folder.
Result<SetCatalog> MakeCatalog(std::span<const ShardReference> shards,
                               const Location& folder, const CatalogRequest& request);

}  // namespace dolium::dataset
