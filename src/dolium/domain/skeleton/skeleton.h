// Skeleton: vertices, edges and what is said of each vertex, and its bytes.
//
// An attribute is an array of one of seven types, a few numbers for each vertex. Which
// there are, and in which order, the info of the folder says. Values are kept as they are
// stored: little-endian, vertex after vertex.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/objects/object_info.h"

namespace dolium::skeleton {

using objects::Point;
using Edge = std::array<uint32_t, 2>;

inline constexpr std::string_view kSkeletonType = "neuroglancer_skeletons";

enum class AttributeType : uint8_t {
  kFloat32,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32
};

std::string_view ToString(AttributeType type);
std::optional<AttributeType> ParseAttributeType(std::string_view text);
uint64_t SizeOf(AttributeType type);

struct Attribute {
  std::string id;  // `radius` is one in units of the stored model
  AttributeType type = AttributeType::kFloat32;
  uint32_t num_components = 1;

  uint64_t vertex_bytes() const { return SizeOf(type) * num_components; }

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct SkeletonInfo : objects::ObjectInfo {
  std::vector<Attribute> attributes;

  friend bool operator==(const SkeletonInfo&, const SkeletonInfo&) = default;
};

struct Skeleton {
  std::vector<Point> vertices;         // in units of the stored model
  std::vector<Edge> edges;             // indices of vertices
  std::vector<ByteVector> attributes;  // in the order of the info
  // Bytes after the last attribute that the info lists, which no reader looks at.
  uint64_t trailing_bytes = 0;

  friend bool operator==(const Skeleton&, const Skeleton&) = default;
};

// kCorrupt, naming the member. `@type` may be missing, as cloud-volume leaves it out.
Result<SkeletonInfo> ParseSkeletonInfo(std::string_view text);

// kInvalidArgument for an attribute without an id, with that of another, or without
// components.
Result<void> Validate(const SkeletonInfo& info);

// The text that we write. Precondition: Validate() holds.
std::string ToJson(const SkeletonInfo& info);

// kCorrupt if it is too short for its counts, an edge has no vertex, or a position is not
// finite. Nothing is allocated before the counts fit.
Result<Skeleton> ParseSkeleton(BytesView bytes, const SkeletonInfo& info);

// kInvalidArgument if attributes are not as the info says, or the skeleton is none.
Result<ByteVector> WriteSkeleton(const Skeleton& skeleton, const SkeletonInfo& info);

// Whether the client can show skeletons with these attributes: it fails to load all of a
// source if one is not of float32, or has more than four components.
bool IsShownByClients(const SkeletonInfo& info);

// The info with float32 attributes only, and a skeleton made to fit it. Integers of more
// than 24 bits are rounded.
SkeletonInfo AsFloat32(const SkeletonInfo& info);
// Precondition: the skeleton has the attributes of `info`.
Skeleton AsFloat32(const Skeleton& skeleton, const SkeletonInfo& info);

// Positions to nanometres.
void Transform(const objects::Transform& transform, Skeleton& skeleton);

}  // namespace dolium::skeleton
