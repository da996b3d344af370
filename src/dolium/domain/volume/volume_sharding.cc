#include "dolium/domain/volume/volume_sharding.h"

#include <algorithm>
#include <array>
#include <bit>

#include "dolium/base/checked_math.h"
#include "dolium/formats/neuroglancer/chooser.h"

namespace dolium::volume {
namespace {

using neuroglancer::ShardHash;
using neuroglancer::ShardingSpec;

using CodeVisitor = std::function<bool(uint64_t code)>;

unsigned BitsWithinShard(const ShardingSpec& spec) {
  return spec.preshift_bits + spec.minishard_bits;
}

// The bits of a Morton code that are the shard's number.
uint64_t ShardMask(const ShardingSpec& spec, const MortonCode& morton) {
  return ShiftLeft(LowBits(spec.shard_bits), BitsWithinShard(spec)) &
         LowBits(morton.total_bits());
}

// The code whose shard bits say `shard` and whose other bits are zero; nullopt if the
// codes do not have the bits for it.
std::optional<uint64_t> LowestCode(const ShardingSpec& spec, const MortonCode& morton,
                                   uint64_t shard) {
  const uint64_t code = ShiftLeft(shard, BitsWithinShard(spec));
  if (ShiftRight(code, BitsWithinShard(spec)) != shard ||
      (code & ~ShardMask(spec, morton)) != 0) {
    return std::nullopt;
  }
  return code;
}

Result<void> NeedIdentity(const ShardingSpec& spec) {
  if (spec.hash == ShardHash::kIdentity) return {};
  return Unsupported(
      "with the hash murmurhash3_x86_128 the chunks of one shard cannot be known without "
      "trying all; expected the hash identity");
}

// Walks over the codes that agree with a first one outside a mask. It sets the mask's
// bits from the highest down. The cell of a code grows with every bit set, so the part of
// the walk below a code has a cell if and only if that code, its lower bits zero, has
// one: no step leads nowhere.
class CodeWalk {
 public:
  CodeWalk(const MortonCode& morton, uint64_t mask, const CodeVisitor& visit)
      : morton_(morton), visit_(visit) {
    for (; mask != 0; mask &= mask - 1) {
      const uint64_t bit = mask & (0 - mask);
      Step& step = steps_[step_count_++];
      step.bit = bit;
      while ((morton.masks()[step.dimension] & bit) == 0) ++step.dimension;
      step.stride =
          int64_t{1} << std::popcount(morton.masks()[step.dimension] & (bit - 1));
    }
  }

  void Run(uint64_t first) {
    const auto cell = morton_.Decode(first);
    if (!cell) return;
    cell_ = *cell;
    Below(first, step_count_);
  }

 private:
  struct Step {
    uint64_t bit = 0;
    size_t dimension = 0;
    int64_t stride = 0;  // what the bit adds to the cell
  };

  // `steps` of them, the lowest, are still to be taken. False when the visitor has had
  // enough.
  bool Below(uint64_t code, size_t steps) {
    if (steps == 0) return visit_(code);
    const Step& step = steps_[steps - 1];
    if (!Below(code, steps - 1)) return false;
    int64_t& coordinate = cell_[step.dimension];
    if (coordinate + step.stride >= morton_.grid()[step.dimension]) return true;
    coordinate += step.stride;
    const bool more = Below(code | step.bit, steps - 1);
    coordinate -= step.stride;
    return more;
  }

  const MortonCode& morton_;
  const CodeVisitor& visit_;
  std::array<Step, 64> steps_;
  size_t step_count_ = 0;
  Vec3 cell_ = {0, 0, 0};
};

}  // namespace

std::optional<Box> ShardCells(const ShardingSpec& spec, const MortonCode& morton,
                              uint64_t shard) {
  const unsigned within = BitsWithinShard(spec);
  const bool all_in_one = spec.shard_bits == 0;
  if (spec.hash != ShardHash::kIdentity ||
      (!all_in_one && within + spec.shard_bits < morton.total_bits())) {
    return std::nullopt;
  }
  const auto lowest = LowestCode(spec, morton, shard);
  const auto begin = lowest ? morton.Decode(*lowest) : std::nullopt;
  if (!begin) return Box{};
  Box cells{*begin, morton.grid()};
  if (all_in_one) return cells;
  for (size_t d = 0; d < 3; ++d) {
    const int bits = std::popcount(morton.masks()[d] & LowBits(within));
    const int64_t side = int64_t{1} << bits;
    if (cells.end[d] - cells.begin[d] > side) cells.end[d] = cells.begin[d] + side;
  }
  return cells;
}

Result<void> ForEachShard(const ShardingSpec& spec, const MortonCode& morton,
                          const std::function<bool(uint64_t shard)>& visit) {
  DOLIUM_TRY_VOID(NeedIdentity(spec));
  const CodeVisitor visit_lowest = [&](uint64_t code) {
    return visit(ShiftRight(code, BitsWithinShard(spec)));
  };
  CodeWalk(morton, ShardMask(spec, morton), visit_lowest).Run(0);
  return {};
}

Result<void> ForEachCodeOfShard(const ShardingSpec& spec, const MortonCode& morton,
                                uint64_t shard,
                                const std::function<bool(uint64_t code)>& visit) {
  DOLIUM_TRY_VOID(NeedIdentity(spec));
  const auto lowest = LowestCode(spec, morton, shard);
  if (!lowest) return {};
  const uint64_t within = LowBits(morton.total_bits()) & ~ShardMask(spec, morton);
  CodeWalk(morton, within, visit).Run(*lowest);
  return {};
}

ShardingSpec ChooseVolumeSharding(const MortonCode& morton, uint64_t shard_bytes,
                                  uint64_t chunk_bytes,
                                  neuroglancer::Encoding data_encoding) {
  const uint64_t fitting = shard_bytes / std::max<uint64_t>(1, chunk_bytes);
  const unsigned within =
      std::min(morton.total_bits(),
               static_cast<unsigned>(std::bit_width(std::max<uint64_t>(1, fitting))) - 1);
  const ShardingSpec base{
      .minishard_index_encoding = neuroglancer::Encoding::kGzip,
      .data_encoding = data_encoding,
  };
  // One full shard as a set of its own.
  const uint64_t cells = uint64_t{1} << within;
  ShardingSpec spec = neuroglancer::ChooseSharding(
      base, {.entries = cells, .bytes = 0, .largest_id = cells - 1}, shard_bytes);
  spec.shard_bits = morton.total_bits() - within;
  return spec;
}

}  // namespace dolium::volume
