// ShardingSpec: the `sharding` member of an info file, and where it puts a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "dolium/base/result.h"
#include "dolium/codec/codec.h"

namespace dolium::neuroglancer {

inline constexpr std::string_view kShardingType = "neuroglancer_uint64_sharded_v1";

// Bytes of one row of the shard index, and of one row of a minishard index.
inline constexpr uint64_t kShardIndexRowBytes = 16;
inline constexpr uint64_t kMinishardIndexRowBytes = 24;

enum class ShardHash : uint8_t { kIdentity, kMurmur3 };
enum class Encoding : uint8_t { kRaw, kGzip };

std::string_view ToString(ShardHash hash);
std::string_view ToString(Encoding encoding);
// kInvalidArgument names `member` and the words there are. Case does not matter.
Result<ShardHash> ParseHash(std::string_view member, std::string_view text);
Result<Encoding> ParseEncoding(std::string_view member, std::string_view text);

CodecChain CodecsOf(Encoding encoding);

// Where a key lives.
struct MinishardLocation {
  uint64_t shard = 0;
  uint64_t minishard = 0;

  friend bool operator==(const MinishardLocation&, const MinishardLocation&) = default;
};

struct ShardingSpec {
  unsigned preshift_bits = 0;
  ShardHash hash = ShardHash::kIdentity;
  unsigned minishard_bits = 0;
  unsigned shard_bits = 0;
  Encoding minishard_index_encoding = Encoding::kRaw;
  Encoding data_encoding = Encoding::kRaw;

  MinishardLocation LocationOf(uint64_t key) const;

  // 2^minishard_bits; Validate() keeps it in 64 bits.
  uint64_t minishard_count() const { return uint64_t{1} << minishard_bits; }
  uint64_t shard_index_bytes() const { return kShardIndexRowBytes << minishard_bits; }

  // The file name of a shard without its ending: hex, padded to ceil(shard_bits / 4).
  std::string ShardStem(uint64_t shard) const;
  // The shard that a stem names; nullopt if no shard of this spec has that name.
  std::optional<uint64_t> ParseShardStem(std::string_view stem) const;

  // kInvalidArgument unless 0 <= preshift <= 64, minishard <= 32, minishard + shard
  // <= 64.
  Result<void> Validate() const;

  friend bool operator==(const ShardingSpec&, const ShardingSpec&) = default;
};

// From the JSON object. Absent encodings mean raw; errors name the member.
Result<ShardingSpec> ParseSharding(const nlohmann::json& object);
// From JSON text of just that object.
Result<ShardingSpec> ParseShardingText(std::string_view text);
nlohmann::json ToJson(const ShardingSpec& spec);

}  // namespace dolium::neuroglancer
