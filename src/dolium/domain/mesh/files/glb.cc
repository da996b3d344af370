// GLB: glTF 2.0 in one file, a chunk of JSON and one of bytes.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/endian.h"
#include "dolium/container/json.h"
#include "dolium/domain/mesh/files/mesh_files_internal.h"

namespace dolium::mesh {
namespace {

using nlohmann::json;

constexpr uint32_t kGlbMagic = 0x46546c67;    // "glTF"
constexpr uint32_t kJsonChunk = 0x4e4f534a;   // "JSON"
constexpr uint32_t kBytesChunk = 0x004e4942;  // "BIN"
constexpr int kFloat = 5126;
constexpr int kUint32 = 5125;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;
constexpr int kTriangles = 4;

json DescribeGlb(const Mesh& mesh) {
  json text = {{"asset", {{"version", "2.0"}, {"generator", "dolium"}}}, {"scene", 0}};
  // An accessor has one element at least.
  if (mesh.triangles.empty()) {
    text["scenes"] = json::array({json::object()});
    return text;
  }
  Point low = mesh.vertices.front();
  Point high = low;
  for (const Point& vertex : mesh.vertices) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], vertex[d]);
      high[d] = std::max(high[d], vertex[d]);
    }
  }
  const uint64_t vertex_bytes = 12 * mesh.vertices.size();
  const uint64_t index_bytes = 12 * mesh.triangles.size();
  text["scenes"] = json::array({{{"nodes", {0}}}});
  text["nodes"] = json::array({{{"mesh", 0}}});
  text["meshes"] =
      json::array({{{"primitives", json::array({{{"attributes", {{"POSITION", 0}}},
                                                 {"indices", 1},
                                                 {"mode", kTriangles}}})}}});
  text["accessors"] = json::array({{{"bufferView", 0},
                                    {"componentType", kFloat},
                                    {"count", mesh.vertices.size()},
                                    {"type", "VEC3"},
                                    {"min", low},
                                    {"max", high}},
                                   {{"bufferView", 1},
                                    {"componentType", kUint32},
                                    {"count", 3 * mesh.triangles.size()},
                                    {"type", "SCALAR"}}});
  text["bufferViews"] = json::array({{{"buffer", 0},
                                      {"byteOffset", 0},
                                      {"byteLength", vertex_bytes},
                                      {"target", kArrayBuffer}},
                                     {{"buffer", 0},
                                      {"byteOffset", vertex_bytes},
                                      {"byteLength", index_bytes},
                                      {"target", kElementArrayBuffer}}});
  text["buffers"] = json::array({{{"byteLength", vertex_bytes + index_bytes}}});
  return text;
}

void PutWord(ByteVector& out, uint32_t word) {
  std::byte raw[sizeof(word)];
  StoreLE(raw, word);
  Append(out, raw);
}

}  // namespace

Result<ByteVector> WriteGlb(const Mesh& mesh) {
  std::string text = DumpJson(DescribeGlb(mesh));
  text.append((4 - text.size() % 4) % 4, ' ');
  const bool is_empty = mesh.triangles.empty();
  const uint64_t bytes =
      is_empty ? 0 : 12 * (uint64_t{mesh.vertices.size()} + mesh.triangles.size());
  constexpr uint64_t kHeaders = 12 + 8 + 8;
  if (kHeaders + text.size() + bytes > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("a GLB file of more than 4 GiB");
  }
  const auto total =
      static_cast<uint32_t>(kHeaders - (is_empty ? 8 : 0) + text.size() + bytes);
  ByteVector out;
  out.reserve(total);
  for (const uint32_t word :
       {kGlbMagic, uint32_t{2}, total, static_cast<uint32_t>(text.size()), kJsonChunk}) {
    PutWord(out, word);
  }
  Append(out, AsBytes(text));
  if (is_empty) return out;
  PutWord(out, static_cast<uint32_t>(bytes));
  PutWord(out, kBytesChunk);
  for (const Point& vertex : mesh.vertices) {
    for (const float number : vertex) PutWord(out, std::bit_cast<uint32_t>(number));
  }
  for (const Triangle& triangle : mesh.triangles) {
    for (const uint32_t index : triangle) PutWord(out, index);
  }
  return out;
}

}  // namespace dolium::mesh
