#include "dolium/domain/annotation/cell_grid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "dolium/base/checked_math.h"

namespace dolium::annotation {
namespace {

// Cells that a box is looked for in, beyond its own, for writers that divide in float32.
constexpr double kSlack = 1e-4;

bool SegmentMeets(std::span<const float> a, std::span<const float> b,
                  const Region& region) {
  double begin = 0;
  double end = 1;
  for (size_t d = 0; d < region.lower.size(); ++d) {
    const double from = a[d];
    const double step = double{b[d]} - from;
    if (step == 0) {
      if (from < region.lower[d] || from > region.upper[d]) return false;
      continue;
    }
    double enter = (region.lower[d] - from) / step;
    double leave = (region.upper[d] - from) / step;
    if (enter > leave) std::swap(enter, leave);
    begin = std::max(begin, enter);
    end = std::min(end, leave);
    if (begin > end) return false;
  }
  return true;
}

// The ellipsoid has a point in a box if the nearest point of the box, measured in radii,
// is no further than one.
bool EllipsoidMeets(std::span<const float> center, std::span<const float> radii,
                    const Region& region) {
  double sum = 0;
  for (size_t d = 0; d < region.lower.size(); ++d) {
    const double at = center[d];
    const double distance =
        std::abs(std::clamp(at, region.lower[d], region.upper[d]) - at);
    if (distance == 0) continue;
    if (radii[d] == 0) return false;
    sum += (distance / radii[d]) * (distance / radii[d]);
  }
  return sum <= 1;
}

bool RegionsMeet(const Region& a, const Region& b) {
  for (size_t d = 0; d < a.lower.size(); ++d) {
    if (a.upper[d] < b.lower[d] || a.lower[d] > b.upper[d]) return false;
  }
  return true;
}

}  // namespace

Region RegionOf(AnnotationType type, size_t rank, std::span<const float> geometry) {
  Region region{{geometry.begin(), geometry.begin() + static_cast<ptrdiff_t>(rank)}, {}};
  region.upper = region.lower;
  for (size_t i = rank; i < geometry.size(); ++i) {
    const size_t d = i % rank;
    const double number = geometry[i];
    if (type == AnnotationType::kEllipsoid) {
      region.lower[d] -= number;
      region.upper[d] += number;
    } else {
      region.lower[d] = std::min(region.lower[d], number);
      region.upper[d] = std::max(region.upper[d], number);
    }
  }
  return region;
}

bool Intersects(AnnotationType type, size_t rank, std::span<const float> geometry,
                const Region& region) {
  switch (type) {
    case AnnotationType::kPoint:
    case AnnotationType::kBox:
      return RegionsMeet(RegionOf(type, rank, geometry), region);
    case AnnotationType::kEllipsoid:
      return EllipsoidMeets(geometry.first(rank), geometry.last(rank), region);
    case AnnotationType::kLine:
    case AnnotationType::kPolyline:
      break;
  }
  if (geometry.size() == rank) {
    return SegmentMeets(geometry, geometry, region);  // A polyline of one point.
  }
  for (size_t at = 0; at + rank < geometry.size(); at += rank) {
    if (SegmentMeets(geometry.subspan(at, rank), geometry.subspan(at + rank, rank),
                     region)) {
      return true;
    }
  }
  return false;
}

CellGrid::CellGrid(const std::vector<double>& lower_bound, const SpatialLevel& level)
    : lower_(lower_bound), chunk_(level.chunk_size), shape_(level.grid_shape) {
  for (const uint64_t cells : shape_) {
    bits_.push_back(static_cast<unsigned>(std::bit_width(cells - 1)));
  }
}

uint64_t CellGrid::cell_count() const {
  return CellRange{Cell(rank(), 0),
                   [&] {
                     Cell last = shape_;
                     for (uint64_t& index : last) --index;
                     return last;
                   }()}
      .count();
}

uint64_t CellGrid::CellRange::count() const {
  uint64_t cells = 1;
  for (size_t d = 0; d < first.size(); ++d) {
    const auto more = CheckedMul(cells, last[d] - first[d] + 1);
    if (!more) return std::numeric_limits<uint64_t>::max();
    cells = *more;
  }
  return cells;
}

bool CellGrid::CellRange::Contains(std::span<const uint64_t> cell) const {
  for (size_t d = 0; d < first.size(); ++d) {
    if (cell[d] < first[d] || cell[d] > last[d]) return false;
  }
  return true;
}

uint64_t CellGrid::Encode(std::span<const uint64_t> cell) const {
  uint64_t code = 0;
  unsigned to = 0;
  const unsigned most = *std::ranges::max_element(bits_);
  for (unsigned bit = 0; bit < most; ++bit) {
    for (size_t d = 0; d < cell.size(); ++d) {
      if (bit < bits_[d]) code |= (cell[d] >> bit & 1) << to++;
    }
  }
  return code;
}

std::optional<Cell> CellGrid::Decode(uint64_t code) const {
  Cell cell(rank(), 0);
  unsigned from = 0;
  const unsigned most = *std::ranges::max_element(bits_);
  for (unsigned bit = 0; bit < most; ++bit) {
    for (size_t d = 0; d < cell.size(); ++d) {
      if (bit < bits_[d]) cell[d] |= (code >> from++ & 1) << bit;
    }
  }
  const bool has_more = from < 64 && code >> from != 0;
  for (size_t d = 0; d < cell.size(); ++d) {
    if (has_more || cell[d] >= shape_[d]) return std::nullopt;
  }
  return cell;
}

std::string CellGrid::NameOf(std::span<const uint64_t> cell) {
  std::string name;
  for (const uint64_t index : cell) {
    if (!name.empty()) name += '_';
    name += std::to_string(index);
  }
  return name;
}

std::optional<Cell> CellGrid::ParseName(std::string_view name) const {
  Cell cell(rank(), 0);
  const char* at = name.data();
  const char* const end = name.data() + name.size();
  for (size_t d = 0; d < cell.size(); ++d) {
    if (d > 0) {
      if (at == end || *at != '_') return std::nullopt;
      ++at;
    }
    const auto [stopped, error] = std::from_chars(at, end, cell[d]);
    if (error != std::errc() || cell[d] >= shape_[d]) return std::nullopt;
    at = stopped;
  }
  if (at != end || NameOf(cell) != name) return std::nullopt;
  return cell;
}

uint64_t CellGrid::IndexOf(size_t dimension, double coordinate) const {
  const double index = std::floor((coordinate - lower_[dimension]) / chunk_[dimension]);
  const uint64_t last = shape_[dimension] - 1;
  if (!(index > 0)) return 0;
  return index >= static_cast<double>(last) ? last : static_cast<uint64_t>(index);
}

uint64_t CellGrid::CodeOfPoint(std::span<const float> point) const {
  std::array<uint64_t, kMaxRank> cell;
  for (size_t d = 0; d < rank(); ++d) cell[d] = IndexOf(d, point[d]);
  return Encode(std::span(cell).first(rank()));
}

CellGrid::CellRange CellGrid::RangeOf(const Region& region) const {
  CellRange range{Cell(rank()), Cell(rank())};
  for (size_t d = 0; d < rank(); ++d) {
    range.first[d] = IndexOf(d, region.lower[d] - kSlack * chunk_[d]);
    range.last[d] = IndexOf(d, region.upper[d] + kSlack * chunk_[d]);
  }
  return range;
}

Region CellGrid::RegionOf(const Cell& first, const Cell& last) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Region region{std::vector<double>(rank()), std::vector<double>(rank())};
  for (size_t d = 0; d < rank(); ++d) {
    // Cells at the edge have what lies outside.
    region.lower[d] = first[d] == 0
                          ? -kInfinite
                          : lower_[d] + static_cast<double>(first[d]) * chunk_[d];
    region.upper[d] = last[d] + 1 == shape_[d]
                          ? kInfinite
                          : lower_[d] + static_cast<double>(last[d] + 1) * chunk_[d];
  }
  return region;
}

// Halves the longest side until there is one cell, or the annotation is in none.
void CellGrid::Split(AnnotationType type, std::span<const float> geometry, Cell& first,
                     Cell& last, const CellVisitor& visit) const {
  if (!Intersects(type, rank(), geometry, RegionOf(first, last))) return;
  size_t longest = 0;
  for (size_t d = 1; d < rank(); ++d) {
    if (last[d] - first[d] > last[longest] - first[longest]) longest = d;
  }
  const uint64_t begin = first[longest];
  const uint64_t end = last[longest];
  if (begin == end) {
    visit(first);
    return;
  }
  const uint64_t middle = begin + (end - begin) / 2;
  last[longest] = middle;
  Split(type, geometry, first, last, visit);
  last[longest] = end;
  first[longest] = middle + 1;
  Split(type, geometry, first, last, visit);
  first[longest] = begin;
}

void CellGrid::VisitCells(AnnotationType type, std::span<const float> geometry,
                          const CellVisitor& visit) const {
  const Region region = annotation::RegionOf(type, rank(), geometry);
  Cell first(rank());
  Cell last(rank());
  for (size_t d = 0; d < rank(); ++d) {
    first[d] = IndexOf(d, region.lower[d]);
    last[d] = IndexOf(d, region.upper[d]);
  }
  if (type == AnnotationType::kPoint) {
    visit(first);
    return;
  }
  Split(type, geometry, first, last, visit);
}

}  // namespace dolium::annotation
