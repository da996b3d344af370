#include "dolium/formats/dvid/reindex.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "dolium/formats/dvid/shard_index.h"

namespace dolium::dvid {

Result<bool> WriteShardIndex(const Location& location, const ShardOptions& options,
                             bool replace) {
  if (!location.path.ends_with(kExtension)) {
    return InvalidArgument(fmt::format("{}: only a file *{} has an index beside it",
                                       location.Describe(), kExtension));
  }
  Store& store = *location.store;
  const std::string stem =
      location.path.substr(0, location.path.size() - kExtension.size());
  for (const std::string_view suffix : {".csv", ".json"}) {
    if (replace) break;
    DOLIUM_TRY(const auto there, store.Stat(stem + std::string(suffix)));
    if (there) return false;
  }
  ShardOptions by_columns = options;
  by_columns.salvage = false;
  by_columns.use_index = false;
  DOLIUM_TRY(const auto shard, Shard::Open(location, by_columns));
  if (shard->has_footer()) return false;
  std::vector<IndexRow> rows(shard->size());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].key = shard->key(i);
    rows[i].record = i;
    rows[i].range = shard->MessageOf(i);
    rows[i].row = shard->RowInMessage(i);
  }
  const std::string csv = CsvText(rows, shard->schema_bytes(), CsvForm::kDocumented);
  DOLIUM_TRY_VOID(store.Put(stem + ".csv", AsBytes(csv),
                            replace ? Precondition::None() : Precondition::Absent()));
  return true;
}

}  // namespace dolium::dvid
