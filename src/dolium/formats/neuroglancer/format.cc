#include "dolium/formats/neuroglancer/format.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/sharded_container.h"
#include "dolium/formats/neuroglancer/sharded_target.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

constexpr int kHasShardName = 90;
constexpr int kHasInfo = 80;
constexpr int kHasShards = 70;

bool IsShardPath(std::string_view path) {
  return path.ends_with(".shard") || path.ends_with(".index") || path.ends_with(".data");
}

// The object that stands for the shard: of a pair, its index.
std::string ShardObject(std::string_view path) {
  if (!path.ends_with(".data")) return std::string(path);
  return std::string(path.substr(0, path.size() - 5)) + ".index";
}

Result<bool> IsObject(const Location& location) {
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  return info.has_value();
}

using Parameters = std::map<std::string, std::string>;

Result<std::optional<uint64_t>> ParseNumber(const Parameters& parameters,
                                            const std::string& name, uint64_t max) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  const std::string& text = found->second;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      value > max) {
    return InvalidArgument(
        fmt::format("{} is \"{}\", expected a number up to {}", name, text, max));
  }
  return value;
}

Result<void> CheckParameterNames(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(kParameters, name, &Parameter::name) == std::end(kParameters)) {
      return InvalidArgument(
          fmt::format("format neuroglancer has no parameter \"{}\"", name));
    }
  }
  return {};
}

// The members that are words; the bits are chosen afterwards.
Result<ShardingSpec> WordsOf(const Parameters& parameters, ShardingSpec spec) {
  if (const auto found = parameters.find("hash"); found != parameters.end()) {
    DOLIUM_TRY(spec.hash, ParseHash("hash", found->second));
  }
  if (const auto found = parameters.find("minishard-index-encoding");
      found != parameters.end()) {
    DOLIUM_TRY(spec.minishard_index_encoding,
               ParseEncoding("minishard-index-encoding", found->second));
  }
  if (const auto found = parameters.find("data-encoding"); found != parameters.end()) {
    DOLIUM_TRY(spec.data_encoding, ParseEncoding("data-encoding", found->second));
  }
  return spec;
}

Result<uint64_t> LargestId(const Container& container) {
  uint64_t largest = 0;
  Result<void> bad_key;
  DOLIUM_TRY_VOID(Scan(container, {.entry =
                                       [&](const Entry& entry) {
                                         const auto id = ParseKey(entry.key);
                                         if (!id) {
                                           bad_key = id.error();
                                           return false;
                                         }
                                         largest = std::max(largest, *id);
                                         return true;
                                       },
                                   .damage = [](const Finding&) { return true; }}));
  if (!bad_key) return std::move(bad_key).error();
  return largest;
}

// The bits that are given, or else chosen from what is to come.
Result<ShardingSpec> BitsOf(const CreateOptions& options, ShardingSpec spec,
                            bool keep_bits) {
  const Parameters& parameters = options.parameters;
  DOLIUM_TRY(const auto shard_size, ParseNumber(parameters, "shard-size", UINT64_MAX));
  DOLIUM_TRY(const auto preshift, ParseNumber(parameters, "preshift-bits", 64));
  DOLIUM_TRY(const auto minishard, ParseNumber(parameters, "minishard-bits", 32));
  DOLIUM_TRY(const auto shard, ParseNumber(parameters, "shard-bits", 64));
  if (shard_size && *shard_size == 0) return InvalidArgument("shard-size is 0");
  const bool all_given = preshift && minishard && shard;
  if (!all_given && (shard_size || !keep_bits)) {
    SetSize size{options.expected_entries, options.expected_bytes, 0};
    if (spec.hash == ShardHash::kIdentity && options.like != nullptr) {
      DOLIUM_TRY(size.largest_id, LargestId(*options.like));
    }
    spec = ChooseSharding(spec, size, shard_size.value_or(kDefaultShardBytes));
  }
  if (preshift) spec.preshift_bits = static_cast<unsigned>(*preshift);
  if (minishard) spec.minishard_bits = static_cast<unsigned>(*minishard);
  if (shard) spec.shard_bits = static_cast<unsigned>(*shard);
  DOLIUM_TRY_VOID(spec.Validate());
  return spec;
}

// The spec of a set that has no info yet, from what its writer noted.
Result<ShardingInfo> ShardingFromMarker(std::string_view marker, const Location& folder) {
  const auto json = ParseJson(marker);
  if (!json || !json->is_object() || !json->contains("description") ||
      !(*json)["description"].is_string()) {
    return UnfinishedError(folder);
  }
  DOLIUM_TRY(const auto description,
             ParseJson((*json)["description"].get<std::string>()));
  if (!description.is_object() || !description.contains("sharding")) {
    return UnfinishedError(folder);
  }
  DOLIUM_TRY(const ShardingSpec spec, ParseSharding(description["sharding"]));
  return ShardingInfo{spec, Kind::kUnknown, "", folder.Child(kMarkerName).Describe()};
}

}  // namespace

Result<int> Probe(const Location& location) {
  if (IsShardPath(location.path)) {
    DOLIUM_TRY(const bool is_object, IsObject(location));
    if (is_object) return kHasShardName;
  }
  const auto found = FindSharding(location);
  if (found || found.error().code == ErrorCode::kInvalidArgument ||
      found.error().code == ErrorCode::kCorrupt) {
    return kHasInfo;
  }
  if (found.error().code != ErrorCode::kNotFound) return found.error();
  if (const auto marker = ReadMarker(location); marker && *marker) {
    if (ShardingFromMarker(**marker, location)) return kHasShards;
  }
  int score = 0;
  const auto listed =
      location.store->List(location.path, [&](std::string_view name, bool is_folder) {
        if (!is_folder && name.ends_with(".shard")) score = kHasShards;
        return score == 0;
      });
  static_cast<void>(listed);  // No listing, no score.
  return score;
}

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  DOLIUM_TRY(const bool is_shard,
             IsShardPath(location.path) ? IsObject(location) : Result<bool>(false));
  const Location folder = is_shard ? location.Parent() : location;
  std::optional<std::string> only_shard;
  if (is_shard) only_shard = ShardObject(location.path);

  // The info is written last, so a folder that has its own is finished: no request to
  // see.
  Result<ShardingInfo> info =
      options.spec ? ShardingFromText(*options.spec, folder).Within("sharding spec")
                   : FindSharding(folder);
  const bool has_own_info = info && !options.spec && !info->own_info.empty();
  DOLIUM_TRY(const auto local, folder.store->LocalPath(folder.path));
  if (!info || (!options.allow_unfinished && (local || !has_own_info))) {
    if (!options.allow_unfinished) DOLIUM_TRY_VOID(CheckFinished(folder));
    DOLIUM_TRY(const auto marker, ReadMarker(folder));
    if (marker) info = ShardingFromMarker(*marker, folder);
  }
  if (!info) return std::move(info).error();
  return std::make_unique<ShardedContainer>(location, folder, *std::move(info),
                                            only_shard, options.cache_bytes);
}

Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options) {
  DOLIUM_TRY_VOID(CheckParameterNames(options.parameters));
  ShardingSpec base{.hash = ShardHash::kMurmur3,
                    .minishard_index_encoding = Encoding::kGzip,
                    .data_encoding = Encoding::kRaw};
  std::string own_info = options.own_info;
  if (const auto* like = dynamic_cast<const ShardedContainer*>(options.like)) {
    base = like->info().spec;
    own_info = like->info().own_info;
  }
  bool keep_bits = false;
  if (options.spec) {
    DOLIUM_TRY(const ShardingInfo given,
               ShardingFromText(*options.spec, location).Within("sharding spec"));
    base = given.spec;
    if (!given.own_info.empty()) own_info = given.own_info;
    keep_bits = true;
  }
  DOLIUM_TRY(base, WordsOf(options.parameters, base));
  DOLIUM_TRY(const ShardingSpec spec, BitsOf(options, base, keep_bits));
  return std::make_unique<ShardedTarget>(location, spec, std::move(own_info));
}

Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description) {
  DOLIUM_TRY(const nlohmann::json json, ParseJson(description));
  if (!json.is_object() || !json.contains("sharding") || !json.contains("info") ||
      !json["info"].is_string()) {
    return InvalidArgument("not a description of a sharded set");
  }
  DOLIUM_TRY(const ShardingSpec spec, ParseSharding(json["sharding"]));
  return std::make_unique<ShardedTarget>(location, spec, json["info"].get<std::string>());
}

bool OwnsObject(std::string_view name) { return name == "info" || IsShardPath(name); }

}  // namespace dolium::neuroglancer
