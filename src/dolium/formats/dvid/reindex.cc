#include "dolium/formats/dvid/reindex.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dolium/formats/dvid/shard_index.h"

namespace dolium::dvid {
namespace {

// kCorrupt if the data ends where its writer may have been stopped, and the index that is
// there has more rows: with a new one nobody would see that.
Result<void> CheckNothingIsHidden(const Shard& shard, const std::string& stem) {
  const bool has_end = std::ranges::none_of(
      shard.warnings(), [](const Finding& finding) { return finding.kind == kEndKind; });
  if (has_end) return {};
  for (const bool is_json : {false, true}) {
    const std::string object = stem + (is_json ? ".json" : ".csv");
    const auto whole = shard.location().store->ReadWhole(object, kMaxIndexBytes);
    if (!whole && whole.error().code == ErrorCode::kNotFound) continue;
    if (!whole) return whole.error();
    const std::string_view text = AsText(whole->bytes);
    const auto index = is_json ? ParseJsonIndex(text) : ParseCsvIndex(text);
    if (!index || index->rows.size() <= shard.size()) continue;
    return Corrupt(fmt::format(
        "{}: the stream has no end mark and {} blocks, its index {}: the file was cut, "
        "which a new index would hide; to have one all the same, move {} away",
        shard.Describe(), shard.size(), index->rows.size(),
        shard.location().store->Describe(object)));
  }
  return {};
}

}  // namespace

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
  if (replace) DOLIUM_TRY_VOID(CheckNothingIsHidden(*shard, stem));
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
