#include "dolium/formats/dvid/spec_names.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/checked_math.h"
#include "dolium/container/json.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {
namespace {

using nlohmann::json;

// Each is a request.
constexpr uint64_t kMaxCorners = 250'000;
constexpr unsigned kMaxBits = 64;

// The member of an object, if it is a number from 0 to `limit`.
std::optional<int64_t> NumberIn(const json& object, std::string_view name,
                                int64_t limit) {
  const auto found = object.find(std::string(name));
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<uint64_t>() >> 63 != 0) {
    return std::nullopt;
  }
  const auto value = found->get<int64_t>();
  if (value < 0 || value > limit) return std::nullopt;
  return value;
}

// The sides that shards of a Neuroglancer spec have.
std::vector<int64_t> SidesOf(const std::array<int64_t, 3>& size, unsigned within) {
  std::array<int64_t, 3> grid{};
  std::array<unsigned, 3> bits{};
  for (size_t d = 0; d < 3; ++d) {
    grid[d] = (size[d] + kBlockSide - 1) / kBlockSide;
    bits[d] = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(grid[d] - 1)));
  }
  // Bits of x, y and z are taken in turn, while the axis has any.
  std::array<unsigned, 3> taken{};
  unsigned steps = 0;
  for (unsigned level = 0; level < kMaxBits; ++level) {
    for (size_t d = 0; d < 3 && steps < within; ++d) {
      if (level >= bits[d]) continue;
      ++taken[d];
      ++steps;
    }
  }
  int64_t longest = 0;
  for (size_t d = 0; d < 3; ++d) {
    longest = std::max(longest, std::min(grid[d], int64_t{1} << taken[d]));
  }
  std::vector<int64_t> sides = {longest * kBlockSide};
  // 18 bits are the voxels of a block.
  const unsigned earlier = (18 + within) / 3;
  if (earlier < 32) sides.push_back(int64_t{1} << earlier);
  return sides;
}

}  // namespace

Result<std::vector<ShardNames>> ParseSpecNames(std::string_view spec) {
  const auto parsed = ParseJson(spec);
  if (!parsed) return Corrupt(fmt::format("not a spec: {}", parsed.error().message));
  const auto scales = parsed->is_object() ? parsed->find("scales") : parsed->end();
  if (scales == parsed->end() || !scales->is_array()) {
    return Corrupt("not a spec: it has no array \"scales\"");
  }
  std::vector<ShardNames> out;
  for (const json& scale : *scales) {
    const std::string name = fmt::format("scale {}", out.size());
    ShardNames& names = out.emplace_back();
    const auto size = scale.is_object() ? scale.find("size") : scale.end();
    if (!scale.is_object() || size == scale.end() || !size->is_array() ||
        size->size() != 3) {
      return Corrupt(fmt::format("not a spec: {} has no size", name));
    }
    for (size_t d = 0; d < 3; ++d) {
      const bool is_number = (*size)[d].is_number_unsigned();
      const uint64_t length = is_number ? (*size)[d].get<uint64_t>() : 0;
      if (length < 1 || length > INT32_MAX) {
        return Corrupt(fmt::format("not a spec: {} has a size of {}", name,
                                   DumpJson((*size)[d]).substr(0, 40)));
      }
      names.size[d] = static_cast<int64_t>(length);
    }
    if (const auto side = NumberIn(scale, kShardSideMember, INT64_MAX)) {
      if (*side < kBlockSide || *side % kBlockSide != 0) {
        return Corrupt(
            fmt::format("not a spec: {} has shards of {} voxels", name, *side));
      }
      names.sides = {*side};
      continue;
    }
    const auto sharding = scale.find("sharding");
    if (sharding == scale.end() || !sharding->is_object()) continue;
    const auto preshift = NumberIn(*sharding, "preshift_bits", kMaxBits);
    const auto minishard = NumberIn(*sharding, "minishard_bits", kMaxBits);
    if (!preshift || !minishard) continue;
    names.sides = SidesOf(names.size, static_cast<unsigned>(*preshift + *minishard));
  }
  return out;
}

Result<std::vector<Key>> ShardNames::Corners() const {
  if (sides.empty()) {
    return Unsupported(
        "its folder cannot be listed, and the spec does not say how large shards are");
  }
  std::set<Key> corners;
  for (const int64_t side : sides) {
    std::array<int64_t, 3> count{};
    std::optional<uint64_t> all = 1;
    for (size_t d = 0; d < 3; ++d) {
      count[d] = (size[d] - 1) / side + 1;
      if (all) all = CheckedMul(*all, static_cast<uint64_t>(count[d]));
    }
    if (!all || *all > kMaxCorners) {
      return Unsupported(fmt::format(
          "its folder cannot be listed, and {} x {} x {} shards are too many to ask for "
          "one by one",
          count[0], count[1], count[2]));
    }
    for (int64_t z = 0; z < count[2]; ++z) {
      for (int64_t y = 0; y < count[1]; ++y) {
        for (int64_t x = 0; x < count[0]; ++x) {
          corners.insert({static_cast<int32_t>(x * side), static_cast<int32_t>(y * side),
                          static_cast<int32_t>(z * side)});
        }
      }
    }
  }
  return std::vector<Key>(corners.begin(), corners.end());
}

}  // namespace dolium::dvid
