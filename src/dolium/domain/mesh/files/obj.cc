// OBJ: lines of text, of which `v` and `f` are a mesh.
#include <iterator>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "dolium/domain/mesh/files/mesh_files_internal.h"

namespace dolium::mesh {
namespace {

Result<Point> ParseVertexLine(std::string_view line) {
  Point vertex;
  for (float& number : vertex) {
    const auto value = NumberOf<float>(TakeWord(line));
    if (!value) return Corrupt("expected three numbers after v");
    number = *value;
  }
  return vertex;
}

// `7`, `7/1`, `7//3` or `-1`: counted from 1, or back from the last.
Result<uint32_t> ParseCorner(std::string_view word, size_t vertices) {
  const auto number = NumberOf<int64_t>(word.substr(0, word.find('/')));
  const auto count = static_cast<int64_t>(vertices);
  if (!number || *number == 0 || *number < -count ||
      *number > std::numeric_limits<uint32_t>::max()) {
    return Corrupt(
        fmt::format("found \"{}\", expected the number of a vertex", word.substr(0, 40)));
  }
  return static_cast<uint32_t>(*number > 0 ? *number - 1 : count + *number);
}

}  // namespace

Result<Mesh> ParseObj(std::string_view text) {
  Mesh mesh;
  bool has_lines = false;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeLine(text);
    line = line.substr(0, line.find('#'));
    const std::string_view keyword = TakeWord(line);
    const auto at = [&](Error error) {
      return std::move(error).Within(fmt::format("line {}", number));
    };
    if (keyword == "v") {
      auto vertex = ParseVertexLine(line);
      if (!vertex) return at(std::move(vertex).error());
      mesh.vertices.push_back(*vertex);
      has_lines = true;
    } else if (keyword == "f") {
      FaceFan fan(mesh);
      for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
        auto corner = ParseCorner(word, mesh.vertices.size());
        if (!corner) return at(std::move(corner).error());
        fan.Add(*corner);
      }
      has_lines = true;
    }
  }
  if (!has_lines) return Corrupt("no line of a vertex or a face: is it an OBJ file?");
  return mesh;
}

ByteVector WriteObj(const Mesh& mesh) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  for (const Point& v : mesh.vertices)
    fmt::format_to(to, "v {} {} {}\n", v[0], v[1], v[2]);
  for (const Triangle& t : mesh.triangles) {
    fmt::format_to(to, "f {} {} {}\n", uint64_t{t[0]} + 1, uint64_t{t[1]} + 1,
                   uint64_t{t[2]} + 1);
  }
  ByteVector bytes;
  Append(bytes, AsBytes(std::string_view(out.data(), out.size())));
  return bytes;
}

}  // namespace dolium::mesh
