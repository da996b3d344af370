#include "dolium/domain/mesh/multires_manifest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"

namespace dolium::mesh {
namespace {

constexpr uint64_t kWord = 4;

float LoadFloat(const std::byte* at) {
  return std::bit_cast<float>(LoadLE<uint32_t>(at));
}

void AddWord(ByteVector& bytes, uint32_t word) {
  const size_t at = bytes.size();
  bytes.resize(at + kWord);
  StoreLE(&bytes[at], word);
}

void AddFloat(ByteVector& bytes, float number) {
  AddWord(bytes, std::bit_cast<uint32_t>(number));
}

// As it stands in messages.
std::string ToText(const Point& point) {
  return fmt::format("({}, {}, {})", point[0], point[1], point[2]);
}
std::string ToText(const Cell& cell) {
  return fmt::format("({}, {}, {})", cell[0], cell[1], cell[2]);
}

bool IsFinite(const Point& point) {
  return std::ranges::all_of(point, [](float number) { return std::isfinite(number); });
}

Point LoadPoint(const std::byte* at) {
  return {LoadFloat(at), LoadFloat(at + kWord), LoadFloat(at + 2 * kWord)};
}

// What holds for every manifest that is read.
std::optional<std::string> FindSenseless(const Manifest& manifest) {
  if (manifest.levels.empty() || manifest.levels.size() > kMaxLevels) {
    return fmt::format("num_lods is {}, expected 1 to {}", manifest.levels.size(),
                       kMaxLevels);
  }
  const bool is_extent = std::ranges::all_of(manifest.chunk_shape, [](float number) {
    return std::isfinite(number) && number > 0;
  });
  if (!is_extent) {
    return fmt::format("chunk_shape is {}, expected three finite numbers above 0",
                       ToText(manifest.chunk_shape));
  }
  if (!IsFinite(manifest.grid_origin)) {
    return fmt::format("grid_origin is {}, expected finite numbers",
                       ToText(manifest.grid_origin));
  }
  for (size_t i = 0; i < manifest.levels.size(); ++i) {
    const LevelOfDetail& level = manifest.levels[i];
    if (!std::isfinite(level.scale) || level.scale < 0) {
      return fmt::format("lod_scales[{}] is {}, expected a finite number from 0", i,
                         level.scale);
    }
    if (!IsFinite(level.vertex_offset)) {
      return fmt::format("vertex_offsets[{}] is {}, expected finite numbers", i,
                         ToText(level.vertex_offset));
    }
  }
  return std::nullopt;
}

// Order and parents of the cells of one level.
void CheckLevel(const Manifest& manifest, size_t number,
                std::vector<std::string>& problems) {
  const auto& fragments = manifest.levels[number].fragments;
  for (size_t i = 1; i < fragments.size(); ++i) {
    const Cell& before = fragments[i - 1].cell;
    const Cell& cell = fragments[i].cell;
    if (CellBefore(before, cell)) continue;
    const std::string what =
        before == cell ? fmt::format("is that of fragment {} as well", i - 1)
                       : fmt::format("is not in Z order after {}", ToText(before));
    problems.push_back(fmt::format("level {}: the cell {} of fragment {} {}", number,
                                   ToText(cell), i, what));
    return;
  }
  // Levels of scale 0 do not exist, and clients make up what they lack.
  if (number + 1 >= manifest.levels.size()) return;
  const LevelOfDetail& above = manifest.levels[number + 1];
  if (above.scale == 0) return;
  const bool is_sorted =
      std::ranges::is_sorted(above.fragments, CellBefore, &FragmentEntry::cell);
  if (!is_sorted) return;  // Said of that level.
  for (const FragmentEntry& fragment : fragments) {
    const Cell parent = {fragment.cell[0] >> 1, fragment.cell[1] >> 1,
                         fragment.cell[2] >> 1};
    if (std::ranges::binary_search(above.fragments, parent, CellBefore,
                                   &FragmentEntry::cell)) {
      continue;
    }
    problems.push_back(fmt::format("level {}: the cell {} has no parent {} at level {}",
                                   number, ToText(fragment.cell), ToText(parent),
                                   number + 1));
    return;
  }
}

}  // namespace

uint64_t Manifest::fragment_bytes() const {
  uint64_t sum = 0;
  for (const LevelOfDetail& level : levels) {
    for (const FragmentEntry& fragment : level.fragments) sum += fragment.size;
  }
  return sum;
}

bool CellBefore(const Cell& a, const Cell& b) {
  // The dimension whose values differ in the highest bit; of several, z before y before
  // x.
  size_t decisive = 2;
  uint32_t highest = a[2] ^ b[2];
  for (const size_t d : {size_t{1}, size_t{0}}) {
    const uint32_t differing = a[d] ^ b[d];
    if (std::bit_width(differing) > std::bit_width(highest)) {
      decisive = d;
      highest = differing;
    }
  }
  return a[decisive] < b[decisive];
}

Result<Manifest> ParseManifest(BytesView bytes) {
  ByteReader reader(bytes);
  Manifest manifest;
  DOLIUM_TRY(const BytesView grid,
             reader.ReadBytes(6 * kWord, "chunk_shape and grid_origin"));
  manifest.chunk_shape = LoadPoint(grid.data());
  manifest.grid_origin = LoadPoint(grid.data() + 3 * kWord);
  DOLIUM_TRY(const uint32_t count, reader.Read<uint32_t>("num_lods"));
  if (count == 0 || count > kMaxLevels) {
    return Corrupt(fmt::format("num_lods is {}, expected 1 to {}", count, kMaxLevels));
  }
  DOLIUM_TRY(const BytesView scales, reader.ReadBytes(count * kWord, "lod_scales"));
  DOLIUM_TRY(const BytesView offsets,
             reader.ReadBytes(size_t{count} * 3 * kWord, "vertex_offsets"));
  DOLIUM_TRY(const BytesView counts,
             reader.ReadBytes(count * kWord, "num_fragments_per_lod"));
  for (size_t i = 0; i < count; ++i) {
    LevelOfDetail& level = manifest.levels.emplace_back();
    level.scale = LoadFloat(scales.data() + i * kWord);
    level.vertex_offset = LoadPoint(offsets.data() + i * 3 * kWord);
    const uint64_t fragments = LoadLE<uint32_t>(counts.data() + i * kWord);
    DOLIUM_TRY(
        const BytesView columns,
        reader.ReadBytes(fragments * 4 * kWord, fmt::format("fragments of level {}", i)));
    level.fragments.resize(static_cast<size_t>(fragments));  // 16 bytes each, as read.
    const auto column = [&](uint64_t which, uint64_t row) {
      return LoadLE<uint32_t>(columns.data() + (which * fragments + row) * kWord);
    };
    for (uint64_t f = 0; f < fragments; ++f) {
      level.fragments[static_cast<size_t>(f)] = {
          {column(0, f), column(1, f), column(2, f)}, column(3, f)};
    }
  }
  if (reader.remaining() != 0) {
    return Corrupt(fmt::format("manifest is {} bytes, its counts make {}", bytes.size(),
                               reader.position()));
  }
  if (const auto problem = FindSenseless(manifest)) return Corrupt(*problem);
  return manifest;
}

std::vector<std::string> CheckManifest(const Manifest& manifest,
                                       std::optional<uint64_t> preceding) {
  if (auto problem = FindSenseless(manifest)) return {*std::move(problem)};
  std::vector<std::string> problems;
  if (manifest.levels.front().fragments.empty()) {
    problems.emplace_back("level 0 has no fragments, so that nothing is drawn");
  }
  float scale = 0;
  for (size_t i = 0; i < manifest.levels.size(); ++i) {
    const LevelOfDetail& level = manifest.levels[i];
    if (level.scale != 0 && level.scale < scale) {
      problems.push_back(fmt::format(
          "lod_scales[{}] is {}, less than {} of a finer level", i, level.scale, scale));
    }
    scale = std::max(scale, level.scale);
    CheckLevel(manifest, i, problems);
  }
  const uint64_t total = manifest.fragment_bytes();
  if (preceding && total > *preceding) {
    problems.push_back(
        fmt::format("fragments take {} bytes, there are {}", total, *preceding));
  }
  return problems;
}

Result<ByteVector> WriteManifest(const Manifest& manifest) {
  const auto problems = CheckManifest(manifest);
  if (!problems.empty()) return InvalidArgument(problems.front());
  ByteVector bytes;
  for (const float number : manifest.chunk_shape) AddFloat(bytes, number);
  for (const float number : manifest.grid_origin) AddFloat(bytes, number);
  AddWord(bytes, static_cast<uint32_t>(manifest.levels.size()));
  for (const LevelOfDetail& level : manifest.levels) AddFloat(bytes, level.scale);
  for (const LevelOfDetail& level : manifest.levels) {
    for (const float number : level.vertex_offset) AddFloat(bytes, number);
  }
  for (const LevelOfDetail& level : manifest.levels) {
    if (level.fragments.size() > std::numeric_limits<uint32_t>::max()) {
      return InvalidArgument("a level has more than 2^32 fragments");
    }
    AddWord(bytes, static_cast<uint32_t>(level.fragments.size()));
  }
  for (const LevelOfDetail& level : manifest.levels) {
    for (size_t d = 0; d < 3; ++d) {
      for (const FragmentEntry& fragment : level.fragments)
        AddWord(bytes, fragment.cell[d]);
    }
    for (const FragmentEntry& fragment : level.fragments) AddWord(bytes, fragment.size);
  }
  return bytes;
}

std::vector<ByteRange> FragmentRanges(const Manifest& manifest, size_t level) {
  uint64_t at = 0;
  for (size_t i = 0; i < level; ++i) {
    for (const FragmentEntry& fragment : manifest.levels[i].fragments)
      at += fragment.size;
  }
  std::vector<ByteRange> ranges;
  ranges.reserve(manifest.levels[level].fragments.size());
  for (const FragmentEntry& fragment : manifest.levels[level].fragments) {
    ranges.push_back({at, fragment.size});
    at += fragment.size;
  }
  return ranges;
}

}  // namespace dolium::mesh
