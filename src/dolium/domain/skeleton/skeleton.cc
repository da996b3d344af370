#include "dolium/domain/skeleton/skeleton.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"

namespace dolium::skeleton {
namespace {

constexpr uint64_t kWord = 4;
constexpr uint64_t kPositionBytes = 3 * kWord;
constexpr uint64_t kEdgeBytes = 2 * kWord;
constexpr uint32_t kMaxShownComponents = 4;

float LoadFloat(const std::byte* at) {
  return std::bit_cast<float>(LoadLE<uint32_t>(at));
}

template <typename T>
float ToFloat(const std::byte* at) {
  return static_cast<float>(static_cast<T>(LoadLE<std::make_unsigned_t<T>>(at)));
}

float ToFloat(AttributeType type, const std::byte* at) {
  switch (type) {
    case AttributeType::kFloat32:
      return LoadFloat(at);
    case AttributeType::kInt8:
      return ToFloat<int8_t>(at);
    case AttributeType::kUint8:
      return ToFloat<uint8_t>(at);
    case AttributeType::kInt16:
      return ToFloat<int16_t>(at);
    case AttributeType::kUint16:
      return ToFloat<uint16_t>(at);
    case AttributeType::kInt32:
      return ToFloat<int32_t>(at);
    case AttributeType::kUint32:
      return ToFloat<uint32_t>(at);
  }
  return 0;
}

// What is wrong with positions and edges; empty if nothing is.
std::string FindProblem(const Skeleton& skeleton) {
  for (size_t i = 0; i < skeleton.vertices.size(); ++i) {
    const Point& vertex = skeleton.vertices[i];
    if (std::ranges::all_of(vertex, [](float number) { return std::isfinite(number); })) {
      continue;
    }
    return fmt::format("vertex {} is ({}, {}, {}), expected finite numbers", i, vertex[0],
                       vertex[1], vertex[2]);
  }
  for (size_t i = 0; i < skeleton.edges.size(); ++i) {
    const uint32_t index = std::ranges::max(skeleton.edges[i]);
    if (index < skeleton.vertices.size()) continue;
    return fmt::format("edge {} has vertex {}, there are {}", i, index,
                       skeleton.vertices.size());
  }
  return "";
}

}  // namespace

Result<Skeleton> ParseSkeleton(BytesView bytes, const SkeletonInfo& info) {
  ByteReader reader(bytes);
  DOLIUM_TRY(const uint32_t vertex_count, reader.Read<uint32_t>("num_vertices"));
  DOLIUM_TRY(const uint32_t edge_count, reader.Read<uint32_t>("num_edges"));
  DOLIUM_TRY(const BytesView positions,
             reader.ReadBytes(vertex_count * kPositionBytes, "vertex_positions"));
  DOLIUM_TRY(const BytesView edges, reader.ReadBytes(edge_count * kEdgeBytes, "edges"));
  Skeleton skeleton;
  for (const Attribute& attribute : info.attributes) {
    const auto length = CheckedMul(attribute.vertex_bytes(), vertex_count);
    DOLIUM_TRY(const BytesView values,
               reader.ReadBytes(length.value_or(std::numeric_limits<uint64_t>::max()),
                                fmt::format("attribute \"{}\"", attribute.id)));
    skeleton.attributes.emplace_back(values.begin(), values.end());
  }
  skeleton.trailing_bytes = reader.remaining();
  skeleton.vertices.resize(vertex_count);
  for (size_t i = 0; i < vertex_count; ++i) {
    for (size_t d = 0; d < 3; ++d) {
      skeleton.vertices[i][d] =
          LoadFloat(positions.data() + i * kPositionBytes + d * kWord);
    }
  }
  skeleton.edges.resize(edge_count);
  for (size_t i = 0; i < edge_count; ++i) {
    const std::byte* const at = edges.data() + i * kEdgeBytes;
    skeleton.edges[i] = {LoadLE<uint32_t>(at), LoadLE<uint32_t>(at + kWord)};
  }
  std::string problem = FindProblem(skeleton);
  if (!problem.empty()) return Corrupt(std::move(problem));
  return skeleton;
}

Result<ByteVector> WriteSkeleton(const Skeleton& skeleton, const SkeletonInfo& info) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (skeleton.vertices.size() > kMost || skeleton.edges.size() > kMost) {
    return InvalidArgument("a skeleton of more than 2^32 vertices or edges");
  }
  std::string problem = FindProblem(skeleton);
  if (!problem.empty()) return InvalidArgument(std::move(problem));
  if (skeleton.attributes.size() != info.attributes.size()) {
    return InvalidArgument(fmt::format("{} attributes, the info has {}",
                                       skeleton.attributes.size(),
                                       info.attributes.size()));
  }
  uint64_t size = 2 * kWord + skeleton.vertices.size() * kPositionBytes +
                  skeleton.edges.size() * kEdgeBytes;
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    const Attribute& attribute = info.attributes[i];
    const auto expected = CheckedMul(attribute.vertex_bytes(), skeleton.vertices.size());
    if (expected != skeleton.attributes[i].size()) {
      return InvalidArgument(
          fmt::format("attribute \"{}\" is {} bytes, expected {} for each of {} vertices",
                      attribute.id, skeleton.attributes[i].size(),
                      attribute.vertex_bytes(), skeleton.vertices.size()));
    }
    size += skeleton.attributes[i].size();
  }
  ByteVector bytes(2 * kWord);
  bytes.reserve(static_cast<size_t>(size));
  StoreLE(bytes.data(), static_cast<uint32_t>(skeleton.vertices.size()));
  StoreLE(bytes.data() + kWord, static_cast<uint32_t>(skeleton.edges.size()));
  const auto add = [&](uint32_t word) {
    const size_t at = bytes.size();
    bytes.resize(at + kWord);
    StoreLE(&bytes[at], word);
  };
  for (const Point& vertex : skeleton.vertices) {
    for (const float number : vertex) add(std::bit_cast<uint32_t>(number));
  }
  for (const Edge& edge : skeleton.edges) {
    for (const uint32_t index : edge) add(index);
  }
  for (const ByteVector& values : skeleton.attributes) Append(bytes, values);
  return bytes;
}

bool IsShownByClients(const SkeletonInfo& info) {
  return std::ranges::all_of(info.attributes, [](const Attribute& attribute) {
    return attribute.type == AttributeType::kFloat32 &&
           attribute.num_components <= kMaxShownComponents;
  });
}

SkeletonInfo AsFloat32(const SkeletonInfo& info) {
  SkeletonInfo out = info;
  for (Attribute& attribute : out.attributes) attribute.type = AttributeType::kFloat32;
  return out;
}

Skeleton AsFloat32(const Skeleton& skeleton, const SkeletonInfo& info) {
  Skeleton out = skeleton;
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    const AttributeType type = info.attributes[i].type;
    if (type == AttributeType::kFloat32) continue;
    const ByteVector& from = skeleton.attributes[i];
    const size_t width = SizeOf(type);
    ByteVector values(from.size() / width * kWord);
    for (size_t n = 0; n < values.size() / kWord; ++n) {
      StoreLE(&values[n * kWord],
              std::bit_cast<uint32_t>(ToFloat(type, &from[n * width])));
    }
    out.attributes[i] = std::move(values);
  }
  return out;
}

void Transform(const objects::Transform& transform, Skeleton& skeleton) {
  if (transform == objects::kIdentity) return;
  for (Point& vertex : skeleton.vertices) vertex = objects::Apply(transform, vertex);
}

}  // namespace dolium::skeleton
