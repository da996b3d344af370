#include "dolium/formats/neuroglancer/sharding_spec.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/checked_math.h"
#include "dolium/container/json.h"
#include "dolium/formats/neuroglancer/murmur3.h"

namespace dolium::neuroglancer {
namespace {

constexpr unsigned kMaxPreshiftBits = 64;
constexpr unsigned kMaxMinishardBits =
    32;  // As TensorStore; the index alone is 64 GiB then.
constexpr unsigned kKeyBits = 64;

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

Result<unsigned> ParseBits(const nlohmann::json& object, const char* member,
                           unsigned max) {
  const auto found = object.find(member);
  if (found == object.end()) {
    return InvalidArgument(fmt::format("sharding: \"{}\" is missing", member));
  }
  // JSON has one kind of number: 1.0 is an integer, as it is for JavaScript.
  const auto is_whole = [&] {
    return found->is_number_float() && std::trunc(found->get<double>()) == *found;
  };
  if ((!found->is_number_integer() && !is_whole()) || *found < 0 || *found > max) {
    return InvalidArgument(
        fmt::format("sharding: \"{}\" is {}, expected an integer from 0 to {}", member,
                    found->dump(), max));
  }
  return found->get<unsigned>();
}

Result<std::string> ParseWord(const nlohmann::json& object, const char* member,
                              const char* fallback) {
  const auto found = object.find(member);
  if (found == object.end()) {
    if (fallback != nullptr) return std::string(fallback);
    return InvalidArgument(fmt::format("sharding: \"{}\" is missing", member));
  }
  if (!found->is_string()) {
    return InvalidArgument(
        fmt::format("sharding: \"{}\" is {}, expected a string", member, found->dump()));
  }
  return found->get<std::string>();
}

}  // namespace

std::string_view ToString(ShardHash hash) {
  return hash == ShardHash::kIdentity ? "identity" : "murmurhash3_x86_128";
}

std::string_view ToString(Encoding encoding) {
  return encoding == Encoding::kRaw ? "raw" : "gzip";
}

Result<ShardHash> ParseHash(std::string_view member, std::string_view text) {
  for (const ShardHash hash : {ShardHash::kIdentity, ShardHash::kMurmur3}) {
    if (EqualsIgnoringCase(text, ToString(hash))) return hash;
  }
  return InvalidArgument(
      fmt::format("\"{}\" is \"{}\", expected \"identity\" or \"murmurhash3_x86_128\"",
                  member, text));
}

Result<Encoding> ParseEncoding(std::string_view member, std::string_view text) {
  for (const Encoding encoding : {Encoding::kRaw, Encoding::kGzip}) {
    if (EqualsIgnoringCase(text, ToString(encoding))) return encoding;
  }
  return InvalidArgument(
      fmt::format("\"{}\" is \"{}\", expected \"raw\" or \"gzip\"", member, text));
}

CodecChain CodecsOf(Encoding encoding) {
  if (encoding == Encoding::kRaw) return {};
  return {CodecStep{CodecId::kGzip}};
}

MinishardLocation ShardingSpec::LocationOf(uint64_t key) const {
  uint64_t hashed = ShiftRight(key, preshift_bits);
  if (hash == ShardHash::kMurmur3) hashed = Murmur3OfKey(hashed);
  return {.shard = ShiftRight(hashed, minishard_bits) & LowBits(shard_bits),
          .minishard = hashed & LowBits(minishard_bits)};
}

std::string ShardingSpec::ShardStem(uint64_t shard) const {
  return fmt::format("{:0{}x}", shard, (shard_bits + 3) / 4);
}

std::optional<uint64_t> ShardingSpec::ParseShardStem(std::string_view stem) const {
  if (stem.empty() || stem.size() > 16) return std::nullopt;
  uint64_t shard = 0;
  for (const char c : stem) {
    if (c >= '0' && c <= '9') {
      shard = shard << 4 | static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      shard = shard << 4 | static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  if (shard > LowBits(shard_bits) || ShardStem(shard) != stem) return std::nullopt;
  return shard;
}

Result<void> ShardingSpec::Validate() const {
  if (preshift_bits > kMaxPreshiftBits) {
    return InvalidArgument(fmt::format(
        "sharding: \"preshift_bits\" is {}, expected at most 64", preshift_bits));
  }
  if (minishard_bits > kMaxMinishardBits) {
    return InvalidArgument(fmt::format(
        "sharding: \"minishard_bits\" is {}, expected at most 32", minishard_bits));
  }
  if (minishard_bits + shard_bits > kKeyBits) {
    return InvalidArgument(fmt::format(
        "sharding: \"minishard_bits\" {} and \"shard_bits\" {} add up to more than 64",
        minishard_bits, shard_bits));
  }
  return {};
}

Result<ShardingSpec> ParseSharding(const nlohmann::json& object) {
  if (!object.is_object()) {
    return InvalidArgument(
        fmt::format("sharding: found {}, expected an object", object.type_name()));
  }
  DOLIUM_TRY(const std::string type, ParseWord(object, "@type", nullptr));
  if (type != kShardingType) {
    return InvalidArgument(fmt::format("sharding: \"@type\" is \"{}\", expected \"{}\"",
                                       type, kShardingType));
  }
  ShardingSpec spec;
  DOLIUM_TRY(spec.preshift_bits, ParseBits(object, "preshift_bits", kMaxPreshiftBits));
  DOLIUM_TRY(spec.minishard_bits, ParseBits(object, "minishard_bits", kMaxMinishardBits));
  DOLIUM_TRY(spec.shard_bits, ParseBits(object, "shard_bits", kKeyBits));
  DOLIUM_TRY(const std::string hash, ParseWord(object, "hash", nullptr));
  DOLIUM_TRY(spec.hash, ParseHash("hash", hash).Within("sharding"));
  DOLIUM_TRY(const std::string index,
             ParseWord(object, "minishard_index_encoding", "raw"));
  DOLIUM_TRY(spec.minishard_index_encoding,
             ParseEncoding("minishard_index_encoding", index).Within("sharding"));
  DOLIUM_TRY(const std::string data, ParseWord(object, "data_encoding", "raw"));
  DOLIUM_TRY(spec.data_encoding, ParseEncoding("data_encoding", data).Within("sharding"));
  DOLIUM_TRY_VOID(spec.Validate());
  return spec;
}

Result<ShardingSpec> ParseShardingText(std::string_view text) {
  DOLIUM_TRY(const nlohmann::json object, ParseJson(text).Within("sharding"));
  return ParseSharding(object);
}

nlohmann::json ToJson(const ShardingSpec& spec) {
  return {{"@type", kShardingType},
          {"preshift_bits", spec.preshift_bits},
          {"hash", ToString(spec.hash)},
          {"minishard_bits", spec.minishard_bits},
          {"shard_bits", spec.shard_bits},
          {"minishard_index_encoding", ToString(spec.minishard_index_encoding)},
          {"data_encoding", ToString(spec.data_encoding)}};
}

}  // namespace dolium::neuroglancer
