// STL: triangles one by one, each with its corners; as bytes or as text.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/mesh/files/mesh_files_internal.h"

namespace dolium::mesh {
namespace {

constexpr size_t kStlHeaderBytes = 80;
constexpr size_t kCountEnd = kStlHeaderBytes + 4;
constexpr size_t kTriangleBytes = 50;
constexpr size_t kNormalBytes = 12;

Point LoadCorner(const std::byte* from) {
  Point point;
  for (size_t d = 0; d < 3; ++d) {
    point[d] = std::bit_cast<float>(LoadLE<uint32_t>(from + 4 * d));
  }
  return point;
}

void AddCorners(Mesh& mesh, const std::array<Point, 3>& corners) {
  const auto first = static_cast<uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
}

Result<Mesh> ParseBinaryStl(BytesView bytes) {
  Mesh mesh;
  for (size_t at = kCountEnd; at < bytes.size(); at += kTriangleBytes) {
    const std::byte* const corner = bytes.data() + at + kNormalBytes;
    AddCorners(mesh,
               {LoadCorner(corner), LoadCorner(corner + 12), LoadCorner(corner + 24)});
  }
  return mesh;
}

Result<Mesh> ParseTextStl(std::string_view text) {
  Mesh mesh;
  std::array<Point, 3> corners{};
  size_t count = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeLine(text);
    const std::string_view keyword = TakeWord(line);
    const auto bad = [&](std::string_view what) {
      return Corrupt(fmt::format("line {}: {}", number, what));
    };
    if (keyword == "vertex") {
      if (count == 3) return bad("a fourth corner of a triangle");
      for (float& coordinate : corners.at(count)) {
        const auto value = NumberOf<float>(TakeWord(line));
        if (!value) return bad("expected three numbers after vertex");
        coordinate = *value;
      }
      ++count;
    } else if (keyword == "endloop") {
      if (count != 3) return bad("a triangle without three corners");
      AddCorners(mesh, corners);
      count = 0;
    }
  }
  if (count != 0) return Corrupt("ends within a triangle");
  return mesh;
}

Point NormalOf(const Point& a, const Point& b, const Point& c) {
  std::array<double, 3> u{};
  std::array<double, 3> v{};
  for (size_t d = 0; d < 3; ++d) {
    u[d] = static_cast<double>(b[d]) - a[d];
    v[d] = static_cast<double>(c[d]) - a[d];
  }
  const std::array<double, 3> n = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                                   u[0] * v[1] - u[1] * v[0]};
  const double length = std::hypot(n[0], n[1], n[2]);
  if (!(length > 0) || !std::isfinite(length)) return {0, 0, 0};
  return {static_cast<float>(n[0] / length), static_cast<float>(n[1] / length),
          static_cast<float>(n[2] / length)};
}

}  // namespace

Result<Mesh> ParseStl(BytesView bytes) {
  // The size says it: text may begin with any word, and so may the header of the other.
  const bool has_count = bytes.size() >= kCountEnd;
  const uint64_t count = has_count ? LoadLE<uint32_t>(bytes.data() + kStlHeaderBytes) : 0;
  const bool is_binary = has_count && bytes.size() == kCountEnd + kTriangleBytes * count;
  if (!is_binary && !AsText(bytes).starts_with("solid")) {
    if (!has_count) return Corrupt("neither text nor a header of 84 bytes");
    return Corrupt(fmt::format("{} triangles take {} bytes, it has {}", count,
                               kCountEnd + kTriangleBytes * count, bytes.size()));
  }
  DOLIUM_TRY(Mesh mesh, is_binary ? ParseBinaryStl(bytes) : ParseTextStl(AsText(bytes)));
  DOLIUM_TRY_VOID(Validate(mesh));
  WeldVertices(mesh);
  return mesh;
}

Result<ByteVector> WriteStl(const Mesh& mesh) {
  if (mesh.triangles.size() > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("an STL file of more than 2^32 triangles");
  }
  ByteVector out(kCountEnd + kTriangleBytes * mesh.triangles.size());
  StoreLE(out.data() + kStlHeaderBytes, static_cast<uint32_t>(mesh.triangles.size()));
  std::byte* to = out.data() + kCountEnd;
  const auto put = [&](const Point& point) {
    for (const float number : point) {
      StoreLE(to, std::bit_cast<uint32_t>(number));
      to += sizeof(uint32_t);
    }
  };
  for (const Triangle& t : mesh.triangles) {
    put(NormalOf(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]));
    for (const uint32_t index : t) put(mesh.vertices[index]);
    to += 2;  // attributes, of which there are none
  }
  return out;
}

}  // namespace dolium::mesh
