#include "dolium/domain/skeleton/making/strand_file.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/endian.h"

namespace dolium::skeleton {
namespace {

constexpr std::string_view kMagic = "DSKP";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kHeaderBytes = 16;
constexpr uint64_t kOffsetBytes = 8;
constexpr uint64_t kPlaceBytes = 3 * sizeof(int64_t);
constexpr uint64_t kNumberBytes = 4;
constexpr uint8_t kCut = 1;
constexpr uint8_t kHasAreas = 2;

template <typename T>
void AddNumber(T number, ByteVector& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  StoreLE(&bytes[at], number);
}

void AddStrand(const SkeletonStrand& strand, ByteVector& bytes) {
  const CenterLine& line = strand.line;
  AddNumber(strand.id, bytes);
  AddNumber(strand.voxels, bytes);
  const int flags = (strand.is_cut ? kCut : 0) | (strand.areas.empty() ? 0 : kHasAreas);
  AddNumber(static_cast<uint8_t>(flags), bytes);
  AddNumber(static_cast<uint32_t>(line.vertices.size()), bytes);
  AddNumber(static_cast<uint32_t>(line.edges.size()), bytes);
  for (const Vec3& vertex : line.vertices) {
    for (const int64_t number : vertex) AddNumber(static_cast<uint64_t>(number), bytes);
  }
  for (const Edge& edge : line.edges) {
    for (const uint32_t vertex : edge) AddNumber(vertex, bytes);
  }
  for (const float radius : line.radii) AddNumber(std::bit_cast<uint32_t>(radius), bytes);
  for (const float area : strand.areas) AddNumber(std::bit_cast<uint32_t>(area), bytes);
}

std::vector<float> FloatsOf(BytesView bytes) {
  std::vector<float> numbers(bytes.size() / kNumberBytes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::bit_cast<float>(LoadLE<uint32_t>(&bytes[i * kNumberBytes]));
  }
  return numbers;
}

Result<SkeletonStrand> ParseStrand(ByteReader& reader) {
  SkeletonStrand strand;
  DOLIUM_TRY(strand.id, reader.Read<uint64_t>("id"));
  DOLIUM_TRY(strand.voxels, reader.Read<uint64_t>("voxels"));
  DOLIUM_TRY(const uint8_t flags, reader.Read<uint8_t>("flags"));
  DOLIUM_TRY(const uint64_t vertices, reader.Read<uint32_t>("number of vertices"));
  DOLIUM_TRY(const uint64_t edges, reader.Read<uint32_t>("number of edges"));
  DOLIUM_TRY(const BytesView places,
             reader.ReadBytes(vertices * kPlaceBytes, "vertices"));
  DOLIUM_TRY(const BytesView ends, reader.ReadBytes(edges * 2 * kNumberBytes, "edges"));
  DOLIUM_TRY(const BytesView radii, reader.ReadBytes(vertices * kNumberBytes, "radii"));
  BytesView areas;
  if ((flags & kHasAreas) != 0) {
    DOLIUM_TRY(areas, reader.ReadBytes(vertices * kNumberBytes, "areas"));
  }
  strand.is_cut = (flags & kCut) != 0;
  strand.line.vertices.resize(vertices);
  for (size_t i = 0; i < vertices; ++i) {
    for (size_t d = 0; d < 3; ++d) {
      const size_t at = i * kPlaceBytes + d * sizeof(int64_t);
      strand.line.vertices[i][d] = static_cast<int64_t>(LoadLE<uint64_t>(&places[at]));
    }
  }
  strand.line.edges.resize(edges);
  for (size_t i = 0; i < edges; ++i) {
    for (size_t end = 0; end < 2; ++end) {
      const auto vertex = LoadLE<uint32_t>(&ends[(2 * i + end) * kNumberBytes]);
      if (vertex >= vertices) {
        return Corrupt(
            fmt::format("edge {} has vertex {}, there are {}", i, vertex, vertices));
      }
      strand.line.edges[i][end] = vertex;
    }
  }
  strand.line.radii = FloatsOf(radii);
  strand.areas = FloatsOf(areas);
  return strand;
}

}  // namespace

ByteVector WriteStrandFile(std::span<const SkeletonStrand> strands, uint64_t groups,
                           const std::function<uint64_t(uint64_t id)>& group_of) {
  std::vector<std::pair<uint64_t, const SkeletonStrand*>> order;
  order.reserve(strands.size());
  for (const SkeletonStrand& strand : strands)
    order.emplace_back(group_of(strand.id), &strand);
  std::ranges::stable_sort(order, {}, [](const auto& entry) {
    return std::pair(entry.first, entry.second->id);
  });
  ByteVector bytes;
  Append(bytes, AsBytes(kMagic));
  AddNumber(kVersion, bytes);
  AddNumber(groups, bytes);
  const size_t table = bytes.size();
  bytes.resize(table + (groups + 1) * kOffsetBytes);
  auto next = order.begin();
  for (uint64_t group = 0; group < groups; ++group) {
    StoreLE(&bytes[table + group * kOffsetBytes], static_cast<uint64_t>(bytes.size()));
    for (; next != order.end() && next->first == group; ++next) {
      AddStrand(*next->second, bytes);
    }
  }
  StoreLE(&bytes[table + groups * kOffsetBytes], static_cast<uint64_t>(bytes.size()));
  return bytes;
}

ByteRange StrandEntryRange(uint64_t group) {
  const uint64_t begin = kHeaderBytes + group * kOffsetBytes;
  return {begin, 2 * kOffsetBytes};
}

Result<ByteRange> ParseStrandEntry(BytesView entry, uint64_t file_size) {
  ByteReader reader(entry);
  DOLIUM_TRY(const uint64_t begin, reader.Read<uint64_t>("begin of a group"));
  DOLIUM_TRY(const uint64_t end, reader.Read<uint64_t>("end of a group"));
  if (begin > end || end > file_size) {
    return Corrupt(fmt::format("a group at bytes [{}, {}) of a file of {} bytes", begin,
                               end, file_size));
  }
  return ByteRange{begin, end - begin};
}

Result<void> ParseStrands(BytesView bytes, std::vector<SkeletonStrand>& strands) {
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    DOLIUM_TRY(SkeletonStrand strand, ParseStrand(reader));
    strands.push_back(std::move(strand));
  }
  return {};
}

}  // namespace dolium::skeleton
