#include "dolium/domain/dataset/catalog.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/checked_math.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/permutation.h"

namespace dolium::dataset {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr uint64_t kVersion = 1;
constexpr char kVersionMember[] = "shardpack_catalog";
constexpr uint64_t kFooterBytes = 64;

struct Totals {
  uint64_t shards = 0;
  uint64_t records = 0;
  uint64_t size = 0;
};

Result<uint64_t> Number(const Json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end()) return Corrupt(fmt::format("has no \"{}\"", member));
  if (!found->is_number_unsigned()) {
    return Corrupt(fmt::format("\"{}\" is {}, expected a whole number from 0 to 2^64-1",
                               member, found->type_name()));
  }
  return found->get<uint64_t>();
}

Result<std::optional<std::string>> OptionalText(const Json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_string()) {
    return Corrupt(
        fmt::format("\"{}\" is {}, expected a string", member, found->type_name()));
  }
  return found->get<std::string>();
}

Result<std::string> Text(const Json& object, const char* member) {
  DOLIUM_TRY(auto text, OptionalText(object, member));
  if (!text) return Corrupt(fmt::format("has no \"{}\"", member));
  return *std::move(text);
}

// Exactly `digits` hexadecimal digits.
Result<uint64_t> Hex(std::string_view text, const char* member, size_t digits) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != digits || error != std::errc() || end != text.data() + text.size()) {
    return Corrupt(fmt::format("\"{}\" is \"{}\", expected {} hexadecimal digits", member,
                               text.substr(0, 40), digits));
  }
  return value;
}

Result<const Json*> Array(const Json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end()) return Corrupt(fmt::format("has no \"{}\"", member));
  if (!found->is_array()) {
    return Corrupt(
        fmt::format("\"{}\" is {}, expected an array", member, found->type_name()));
  }
  return &*found;
}

Result<void> CheckPath(std::string_view path) {
  if (path.empty()) return Corrupt("\"path\" is empty");
  if (path.find('\0') != std::string_view::npos) {
    return Corrupt("\"path\" has a NUL character in it");
  }
  const bool is_url = path.starts_with("http://") || path.starts_with("https://") ||
                      path.starts_with("gs://");
  if (!is_url && (path.starts_with('/') || path.find("://") != std::string_view::npos)) {
    return Corrupt(fmt::format(
        "\"path\" is \"{}\", expected one relative to the catalog, or an http, https or "
        "gs URL",
        path.substr(0, 200)));
  }
  return {};
}

Result<void> CheckShard(const CatalogShard& shard) {
  DOLIUM_TRY_VOID(CheckPath(shard.path));
  // After the index: its count and offsets, then at least the footer.
  const auto offsets = CheckedMul(shard.records, 8);
  const auto index = offsets ? CheckedAdd(*offsets, 8 + kFooterBytes) : std::nullopt;
  const auto end = index ? CheckedAdd(*index, shard.index_offset) : std::nullopt;
  if (!end || *end > shard.size) {
    return Corrupt(
        fmt::format("an index of {} records at {} does not fit its size of {} bytes",
                    shard.records, shard.index_offset, shard.size));
  }
  if (shard.min_key.has_value() != shard.max_key.has_value()) {
    return Corrupt("has one of \"min_key\" and \"max_key\", expected both or none");
  }
  if (shard.min_key && *shard.min_key > *shard.max_key) {
    return Corrupt("\"min_key\" comes after \"max_key\"");
  }
  return {};
}

// Also that the sums are such that nobody who adds them up meets a surprise.
Result<Totals> Check(const SetCatalog& catalog) {
  Totals totals{.shards = catalog.shards.size()};
  for (const CatalogShard& shard : catalog.shards) {
    DOLIUM_TRY_VOID(CheckShard(shard).Within(
        fmt::format("shard \"{}\"", std::string_view(shard.path).substr(0, 200))));
    const auto size = CheckedAdd(totals.size, shard.size);
    if (!size) return Corrupt("the sizes of the shards add up to more than 2^64");
    totals.size = *size;
    totals.records += shard.records;  // Bounded by the sizes.
    if (totals.records > Permutation::kMaxTotal) {
      return Corrupt(fmt::format("the shards have more than {} records in all",
                                 Permutation::kMaxTotal));
    }
  }
  for (const CatalogColumn& column : catalog.columns) {
    if (column.name.empty()) return Corrupt("a column has an empty \"name\"");
  }
  return totals;
}

Result<CatalogShard> ParseShard(const Json& object) {
  if (!object.is_object()) {
    return Corrupt(fmt::format("is {}, expected an object", object.type_name()));
  }
  CatalogShard shard;
  DOLIUM_TRY(shard.path, Text(object, "path"));
  DOLIUM_TRY(shard.size, Number(object, "size"));
  DOLIUM_TRY(shard.records, Number(object, "records"));
  DOLIUM_TRY(shard.index_offset, Number(object, "index_offset"));
  DOLIUM_TRY(const std::string crc, Text(object, "footer_crc32c"));
  DOLIUM_TRY(const uint64_t crc_value, Hex(crc, "footer_crc32c", 8));
  shard.footer_crc32c = static_cast<uint32_t>(crc_value);
  DOLIUM_TRY(const auto digest, OptionalText(object, "keys_digest"));
  if (digest) {
    DOLIUM_TRY(shard.keys_digest, Hex(*digest, "keys_digest", 16));
  }
  DOLIUM_TRY(shard.min_key, OptionalText(object, "min_key"));
  DOLIUM_TRY(shard.max_key, OptionalText(object, "max_key"));
  return shard;
}

Result<CatalogColumn> ParseColumn(const Json& object) {
  if (!object.is_object()) {
    return Corrupt(fmt::format("is {}, expected an object", object.type_name()));
  }
  CatalogColumn column;
  DOLIUM_TRY(column.name, Text(object, "name"));
  DOLIUM_TRY(const auto type, OptionalText(object, "content_type"));
  column.content_type = type.value_or("");
  return column;
}

Result<void> CheckTotals(const Json& catalog, const Totals& found) {
  const auto totals = catalog.find("totals");
  if (totals == catalog.end() || !totals->is_object()) {
    return Corrupt("has no object \"totals\"");
  }
  const std::pair<const char*, uint64_t> members[] = {
      {"shards", found.shards}, {"records", found.records}, {"size", found.size}};
  for (const auto& [member, sum] : members) {
    DOLIUM_TRY(const uint64_t stated, Number(*totals, member).Within("\"totals\""));
    if (stated != sum) {
      return Corrupt(
          fmt::format("\"totals\" says {} {}, but the shards have {}; was the "
                      "catalog edited?",
                      stated, member, sum));
    }
  }
  return {};
}

OrderedJson ShardJson(const CatalogShard& shard) {
  OrderedJson object{{"path", shard.path},
                     {"size", shard.size},
                     {"records", shard.records},
                     {"index_offset", shard.index_offset},
                     {"footer_crc32c", fmt::format("{:08x}", shard.footer_crc32c)}};
  if (shard.keys_digest)
    object["keys_digest"] = fmt::format("{:016x}", *shard.keys_digest);
  if (shard.min_key) object["min_key"] = *shard.min_key;
  if (shard.max_key) object["max_key"] = *shard.max_key;
  return object;
}

// Throws if there is text that is not UTF-8.
std::string TextOf(const SetCatalog& catalog, const Totals& totals) {
  const OrderedJson sums{
      {"shards", totals.shards}, {"records", totals.records}, {"size", totals.size}};
  OrderedJson columns = OrderedJson::array();
  for (const CatalogColumn& column : catalog.columns) {
    columns.push_back({{"name", column.name}, {"content_type", column.content_type}});
  }
  std::string text =
      fmt::format("{{\n\"{}\": {},\n\"totals\": {},\n\"columns\": {},\n\"shards\": [",
                  kVersionMember, kVersion, DumpJson(sums), DumpJson(columns));
  std::string_view before = "\n";
  for (const CatalogShard& shard : catalog.shards) {
    text += before;
    text += DumpJson(ShardJson(shard));
    before = ",\n";
  }
  text += "\n]\n}\n";
  return text;
}

}  // namespace

Result<SetCatalog> ParseCatalog(std::string_view text) {
  auto parsed = ParseJson(text);
  if (!parsed) return Corrupt(parsed.error().message).Within("not a catalog");
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains(kVersionMember)) {
    return Corrupt(
        fmt::format("not a catalog: expected a JSON object with \"{}\"", kVersionMember));
  }
  DOLIUM_TRY(const uint64_t version, Number(json, kVersionMember));
  if (version == 0) return Corrupt("a catalog of version 0");
  if (version > kVersion) {
    return Unsupported(
        fmt::format("a catalog of version {}; known is {}", version, kVersion));
  }
  SetCatalog catalog;
  DOLIUM_TRY(const Json* const shards, Array(json, "shards"));
  for (const Json& object : *shards) {
    DOLIUM_TRY(CatalogShard shard,
               ParseShard(object).Within(
                   fmt::format("shard {} of the catalog", catalog.shards.size())));
    catalog.shards.push_back(std::move(shard));
  }
  if (json.contains("columns")) {
    DOLIUM_TRY(const Json* const columns, Array(json, "columns"));
    for (const Json& object : *columns) {
      DOLIUM_TRY(CatalogColumn column,
                 ParseColumn(object).Within(
                     fmt::format("column {} of the catalog", catalog.columns.size())));
      catalog.columns.push_back(std::move(column));
    }
  }
  DOLIUM_TRY(const Totals totals, Check(catalog));
  DOLIUM_TRY_VOID(CheckTotals(json, totals));
  return catalog;
}

Result<std::string> CatalogText(const SetCatalog& catalog) {
  auto totals = Check(catalog);
  if (!totals) return InvalidArgument(totals.error().message);
  try {
    return TextOf(catalog, *totals);
  } catch (const Json::exception& error) {
    return InvalidArgument(fmt::format("cannot be written as JSON: {}", error.what()));
  }
}

}  // namespace dolium::dataset
