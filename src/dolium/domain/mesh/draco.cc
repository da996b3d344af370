#include "dolium/domain/mesh/draco.h"

#include <draco/compression/encode.h>
#include <draco/compression/mesh/mesh_edgebreaker_decoder.h>
#include <draco/compression/mesh/mesh_sequential_decoder.h>
#include <draco/mesh/mesh.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::mesh {
namespace {

// The header: magic, version, type of geometry, method.
constexpr std::string_view kMagic = "DRACO";
constexpr size_t kMajorAt = 5;
constexpr size_t kMinorAt = 6;
constexpr size_t kTypeAt = 7;
constexpr size_t kMethodAt = 8;
constexpr size_t kHeaderBytes = 11;
constexpr unsigned kMajor = 2;
constexpr unsigned kMinor = 2;

// Faces that a byte may stand for. A flat and regular sheet of two million triangles
// takes one byte for 2,200 of them.
constexpr uint64_t kFacesPerByte = 4096;
constexpr uint64_t kFacesOfAny = 4096;
constexpr int kMaxAttributes = 16;
constexpr uint64_t kMaxPointBytes = 256;  // of all attributes of a point

struct Bounds {
  uint64_t faces = 0;
  uint64_t points = 0;
};

Bounds BoundsOf(size_t bytes, const DracoLimits& limits) {
  const uint64_t faces = kFacesOfAny + kFacesPerByte * bytes;
  return {std::min(limits.max_faces, faces), std::min(limits.max_points, 3 * faces)};
}

// Numbers of up to 32 bits, seven in a byte, at the place of the buffer where the next
// one is read.
class VarintPeek {
 public:
  VarintPeek(const char* data, int64_t size)
      : next_(data), end_(data + std::max<int64_t>(0, size)) {}

  std::optional<uint32_t> Next() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 35 && next_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*next_++);
      number |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if (number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
      return static_cast<uint32_t>(number);
    }
    return std::nullopt;
  }

 private:
  const char* next_;
  const char* end_;
};

// A decoder of the library that looks at what it is about to believe. `Base` begins its
// connectivity with two counts, of which kFacesFirst says the order.
template <typename Base, bool kFacesFirst>
class GuardedDecoder : public Base {
 public:
  explicit GuardedDecoder(const Bounds& bounds) : bounds_(bounds) {}

  // Why it refused; empty if it did not.
  const std::string& problem() const { return problem_; }

 protected:
  bool DecodeConnectivity() override {
    draco::DecoderBuffer* const buffer = this->buffer();
    VarintPeek peek(buffer->data_head(), buffer->remaining_size());
    const auto first = peek.Next();
    const auto second = peek.Next();
    if (!first || !second) return Refuse("counts of faces and points are cut short");
    const uint64_t faces = kFacesFirst ? *first : *second;
    const uint64_t points = kFacesFirst ? *second : *first;
    if (faces > bounds_.faces || points > bounds_.points) {
      return Refuse(
          fmt::format("{} faces and {} points, more than the {} and {} that it may have",
                      faces, points, bounds_.faces, bounds_.points));
    }
    return Base::DecodeConnectivity();
  }

  bool DecodeAllAttributes() override {
    const draco::PointCloud& cloud = *this->point_cloud();
    if (cloud.num_points() > bounds_.points) {
      return Refuse(fmt::format("{} points, more than the {} that it may have",
                                cloud.num_points(), bounds_.points));
    }
    uint64_t bytes = 0;
    for (int i = 0; i < cloud.num_attributes(); ++i) {
      bytes +=
          static_cast<uint64_t>(cloud.attribute(i)->num_components()) * sizeof(uint64_t);
    }
    if (cloud.num_attributes() > kMaxAttributes || bytes > kMaxPointBytes) {
      return Refuse(fmt::format("{} attributes, too many or too large to be a mesh's",
                                cloud.num_attributes()));
    }
    const draco::Mesh& mesh = *this->mesh();
    for (uint32_t i = 0; i < mesh.num_faces(); ++i) {
      for (const draco::PointIndex& point : mesh.face(draco::FaceIndex(i))) {
        if (point.value() < cloud.num_points()) continue;
        return Refuse(fmt::format("face {} has point {}, there are {}", i, point.value(),
                                  cloud.num_points()));
      }
    }
    return Base::DecodeAllAttributes();
  }

 private:
  bool Refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  const Bounds bounds_;
  std::string problem_;
};

using SequentialDecoder = GuardedDecoder<draco::MeshSequentialDecoder, true>;
using EdgebreakerDecoder = GuardedDecoder<draco::MeshEdgebreakerDecoder, false>;

template <typename Decoder>
Result<void> DecodeWith(BytesView bytes, const Bounds& bounds, bool keep_quantized,
                        draco::Mesh& mesh) {
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  draco::DecoderOptions options;
  if (keep_quantized) {
    options.SetAttributeBool(draco::GeometryAttribute::POSITION,
                             "skip_attribute_transform", true);
  }
  Decoder decoder(bounds);
  const draco::Status status = decoder.Decode(options, &buffer, &mesh);
  if (!decoder.problem().empty()) return Corrupt(decoder.problem());
  if (!status.ok()) return Corrupt(fmt::format("not decodable: {}", status.error_msg()));
  return {};
}

Result<void> DecodeGuarded(BytesView bytes, const Bounds& bounds, bool keep_quantized,
                           draco::Mesh& mesh) {
  if (!IsDraco(bytes) || bytes.size() < kHeaderBytes) {
    return Corrupt(fmt::format("{} bytes that do not begin as Draco's do", bytes.size()));
  }
  const auto at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  if (at(kMajorAt) != kMajor || at(kMinorAt) != kMinor) {
    return Unsupported(fmt::format("Draco bitstream {}.{}, expected {}.{}", at(kMajorAt),
                                   at(kMinorAt), kMajor, kMinor));
  }
  if (at(kTypeAt) != draco::TRIANGULAR_MESH) {
    return Corrupt(fmt::format("geometry {} of Draco, expected {}, triangles",
                               at(kTypeAt), static_cast<int>(draco::TRIANGULAR_MESH)));
  }
  switch (at(kMethodAt)) {
    case draco::MESH_SEQUENTIAL_ENCODING:
      return DecodeWith<SequentialDecoder>(bytes, bounds, keep_quantized, mesh);
    case draco::MESH_EDGEBREAKER_ENCODING:
      return DecodeWith<EdgebreakerDecoder>(bytes, bounds, keep_quantized, mesh);
    default:
      return Corrupt(fmt::format("method {} of Draco is none of meshes", at(kMethodAt)));
  }
}

// Decodes; exceptions of the library end here.
Result<std::unique_ptr<draco::Mesh>> DecodeBytes(BytesView bytes,
                                                 const DracoLimits& limits,
                                                 bool keep_quantized) {
  try {
    auto mesh = std::make_unique<draco::Mesh>();
    DOLIUM_TRY_VOID(
        DecodeGuarded(bytes, BoundsOf(bytes.size(), limits), keep_quantized, *mesh));
    return mesh;
  } catch (const std::exception& exception) {
    return Corrupt(fmt::format("not decodable: {}", exception.what()));
  }
}

Result<const draco::PointAttribute*> PositionsOf(const draco::Mesh& mesh) {
  const draco::PointAttribute* const positions =
      mesh.GetNamedAttribute(draco::GeometryAttribute::POSITION);
  if (positions == nullptr) return Corrupt("has no positions");
  if (positions->num_components() != 3) {
    return Corrupt(fmt::format("positions have {} components, expected 3",
                               static_cast<int>(positions->num_components())));
  }
  return positions;
}

// Indices were checked before attributes were decoded; points may have been added since.
Result<std::vector<Triangle>> TrianglesOf(const draco::Mesh& mesh) {
  std::vector<Triangle> triangles(mesh.num_faces());
  for (uint32_t i = 0; i < mesh.num_faces(); ++i) {
    const draco::Mesh::Face& face = mesh.face(draco::FaceIndex(i));
    for (size_t corner = 0; corner < 3; ++corner) {
      triangles[i][corner] = face[corner].value();
      if (triangles[i][corner] >= mesh.num_points()) {
        return Corrupt(fmt::format("face {} has point {}, there are {}", i,
                                   triangles[i][corner], mesh.num_points()));
      }
    }
  }
  return triangles;
}

Result<void> CheckBits(unsigned bits) {
  if (bits == 10 || bits == 16) return {};
  return InvalidArgument(fmt::format("{} bits for a position, expected 10 or 16", bits));
}

}  // namespace

bool IsDraco(BytesView bytes) { return AsText(bytes).starts_with(kMagic); }

Result<QuantizedMesh> DecodeFragment(BytesView bytes, unsigned bits,
                                     const DracoLimits& limits) {
  DOLIUM_TRY_VOID(CheckBits(bits));
  QuantizedMesh out;
  if (bytes.empty()) return out;
  DOLIUM_TRY(const auto mesh, DecodeBytes(bytes, limits, /*keep_quantized=*/true));
  DOLIUM_TRY(const draco::PointAttribute* const positions, PositionsOf(*mesh));
  if (positions->size() != mesh->num_points()) {
    return Corrupt(fmt::format("{} positions for {} points, expected one for each",
                               positions->size(), mesh->num_points()));
  }
  const draco::DataType type = positions->data_type();
  if (type != draco::DT_INT32 && type != draco::DT_UINT32 && type != draco::DT_INT16 &&
      type != draco::DT_UINT16 && type != draco::DT_INT8 && type != draco::DT_UINT8) {
    return Corrupt(fmt::format("positions are of Draco's type {}, expected integers",
                               static_cast<int>(type)));
  }
  out.vertices.resize(mesh->num_points());
  for (uint32_t i = 0; i < mesh->num_points(); ++i) {
    std::array<int64_t, 3> position;
    const auto index = positions->mapped_index(draco::PointIndex(i));
    if (index.value() >= positions->size() ||
        !positions->ConvertValue<int64_t>(index, 3, position.data())) {
      return Corrupt(fmt::format("point {} has no position", i));
    }
    for (size_t d = 0; d < 3; ++d) {
      if (position[d] < 0 || position[d] >= int64_t{1} << bits) {
        return Corrupt(
            fmt::format("vertex {} is at ({}, {}, {}), expected numbers of {} bits", i,
                        position[0], position[1], position[2], bits));
      }
      out.vertices[i][d] = static_cast<uint32_t>(position[d]);
    }
  }
  DOLIUM_TRY(out.triangles, TrianglesOf(*mesh));
  return out;
}

Result<Mesh> DecodeDracoMesh(BytesView bytes, const DracoLimits& limits) {
  DOLIUM_TRY(const auto mesh, DecodeBytes(bytes, limits, /*keep_quantized=*/false));
  DOLIUM_TRY(const draco::PointAttribute* const positions, PositionsOf(*mesh));
  Mesh out;
  out.vertices.resize(mesh->num_points());
  for (uint32_t i = 0; i < mesh->num_points(); ++i) {
    const auto index = positions->mapped_index(draco::PointIndex(i));
    if (index.value() >= positions->size() ||
        !positions->ConvertValue<float>(index, 3, out.vertices[i].data())) {
      return Corrupt(fmt::format("point {} has no position", i));
    }
  }
  DOLIUM_TRY(out.triangles, TrianglesOf(*mesh));
  auto valid = Validate(out);
  if (!valid) return Corrupt(valid.error().message);
  return out;
}

Result<ByteVector> EncodeFragment(QuantizedMesh mesh, unsigned bits, int level) {
  DOLIUM_TRY_VOID(CheckBits(bits));
  constexpr int kMaxLevel = 10;
  if (level < 0 || level > kMaxLevel) {
    return InvalidArgument(
        fmt::format("level {} of compression, expected 0 to 10", level));
  }
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    const auto& vertex = mesh.vertices[i];
    if (std::ranges::max(vertex) < uint32_t{1} << bits) continue;
    return InvalidArgument(
        fmt::format("vertex {} is at ({}, {}, {}), expected numbers of {} bits", i,
                    vertex[0], vertex[1], vertex[2], bits));
  }
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    const uint32_t index = std::ranges::max(mesh.triangles[i]);
    if (index < mesh.vertices.size()) continue;
    return InvalidArgument(fmt::format("triangle {} has vertex {}, there are {}", i,
                                       index, mesh.vertices.size()));
  }
  CleanMesh(mesh);
  if (mesh.triangles.empty()) return ByteVector{};

  draco::Mesh input;
  input.set_num_points(static_cast<uint32_t>(mesh.vertices.size()));
  draco::GeometryAttribute attribute;
  attribute.Init(draco::GeometryAttribute::POSITION, nullptr, 3, draco::DT_INT32, false,
                 3 * sizeof(int32_t), 0);
  const int id = input.AddAttribute(attribute, /*identity_mapping=*/true,
                                    static_cast<uint32_t>(mesh.vertices.size()));
  draco::PointAttribute* const positions = input.attribute(id);
  for (uint32_t i = 0; i < mesh.vertices.size(); ++i) {
    const auto& vertex = mesh.vertices[i];
    const std::array<int32_t, 3> value = {static_cast<int32_t>(vertex[0]),
                                          static_cast<int32_t>(vertex[1]),
                                          static_cast<int32_t>(vertex[2])};
    positions->SetAttributeValue(draco::AttributeValueIndex(i), value.data());
  }
  input.SetNumFaces(mesh.triangles.size());
  for (uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    input.SetFace(draco::FaceIndex(i), {draco::PointIndex(t[0]), draco::PointIndex(t[1]),
                                        draco::PointIndex(t[2])});
  }
  draco::Encoder encoder;
  encoder.SetEncodingMethod(draco::MESH_EDGEBREAKER_ENCODING);
  encoder.SetSpeedOptions(kMaxLevel - level, kMaxLevel - level);
  draco::EncoderBuffer buffer;
  const draco::Status status = encoder.EncodeMeshToBuffer(input, &buffer);
  if (!status.ok()) {
    return Unsupported(fmt::format("Draco cannot encode it: {}", status.error_msg()));
  }
  const auto bytes = std::as_bytes(std::span(buffer.data(), buffer.size()));
  return ByteVector(bytes.begin(), bytes.end());
}

}  // namespace dolium::mesh
