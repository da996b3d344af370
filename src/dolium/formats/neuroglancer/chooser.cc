#include "dolium/formats/neuroglancer/chooser.h"

#include <algorithm>
#include <bit>

namespace dolium::neuroglancer {
namespace {

// A minishard index of 1,024 entries is 24 KiB raw and a few KiB in gzip: one request.
constexpr uint64_t kMinishardEntries = 1024;

// 4,096 minishards make a shard index of 64 KiB: one request, and one cache block.
constexpr unsigned kMaxChosenMinishardBits = 12;

// The smallest b with value <= unit << b.
unsigned BitsToCover(uint64_t value, uint64_t unit) {
  if (value <= unit) return 0;
  return static_cast<unsigned>(std::bit_width((value - 1) / unit));
}

}  // namespace

ShardingSpec ChooseSharding(const ShardingSpec& base, const SetSize& size,
                            uint64_t shard_bytes) {
  ShardingSpec spec = base;
  spec.shard_bits = BitsToCover(size.bytes, std::max<uint64_t>(1, shard_bytes));
  // No more shards than entries.
  spec.shard_bits = std::min(spec.shard_bits, BitsToCover(size.entries, 1));
  const uint64_t per_shard = size.entries >> spec.shard_bits;
  spec.minishard_bits =
      std::min(kMaxChosenMinishardBits, BitsToCover(per_shard, kMinishardEntries));
  spec.preshift_bits = 0;
  if (spec.hash == ShardHash::kIdentity) {
    // Shards and minishards take the high bits of the ids that occur; what lies below is
    // shifted out, so that neighbours share a minishard.
    const auto used = static_cast<unsigned>(std::bit_width(size.largest_id));
    spec.shard_bits = std::min(spec.shard_bits, used);
    spec.minishard_bits = std::min(spec.minishard_bits, used - spec.shard_bits);
    spec.preshift_bits = used - spec.shard_bits - spec.minishard_bits;
  }
  return spec;
}

}  // namespace dolium::neuroglancer
