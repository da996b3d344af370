// AnnotationInfo: what the `info` of a folder of annotations says, and how it lays out
// the bytes of a record.
//
// An info is read strictly: an error names the member with its path. What we do not
// understand at its root is kept and written again. Plain values: nothing here reads or
// writes a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/objects/object_info.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::annotation {

inline constexpr std::string_view kAnnotationsType = "neuroglancer_annotations_v1";
// More dimensions than any viewer has.
inline constexpr size_t kMaxRank = 16;

enum class AnnotationType : uint8_t { kPoint, kLine, kBox, kEllipsoid, kPolyline };

std::string_view ToString(AnnotationType type);
// Ignores case, as the client does; nullopt if there is no such type.
std::optional<AnnotationType> ParseAnnotationType(std::string_view text);

enum class PropertyType : uint8_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kRgb,
  kRgba
};

std::string_view ToString(PropertyType type);
std::optional<PropertyType> ParsePropertyType(std::string_view text);
// Bytes of a value, and the alignment that it has in a record.
uint64_t SizeOf(PropertyType type);
uint64_t AlignmentOf(PropertyType type);
// A colour is 3 or 4 numbers of a byte.
bool IsColor(PropertyType type);

struct Dimension {
  std::string name;
  double scale = 1;  // of one unit of coordinates
  std::string unit;  // "nm", "m", "s", "" ...

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Property {
  std::string id;
  PropertyType type = PropertyType::kFloat32;
  std::string description = {};
  std::vector<double> enum_values = {};
  std::vector<std::string> enum_labels = {};  // as many as values

  friend bool operator==(const Property&, const Property&) = default;
};

struct Relationship {
  std::string id;
  std::string key;  // its folder, relative to that of the info
  std::optional<neuroglancer::ShardingSpec> sharding = {};
  std::optional<std::string> segmentation_layer = {};  // a hint for the client

  friend bool operator==(const Relationship&, const Relationship&) = default;
};

struct IdIndex {
  std::string key = "by_id";
  std::optional<neuroglancer::ShardingSpec> sharding = {};

  friend bool operator==(const IdIndex&, const IdIndex&) = default;
};

// One level of the spatial index; coarse ones come first.
struct SpatialLevel {
  std::string key;
  std::vector<uint64_t> grid_shape;  // cells
  std::vector<double> chunk_size;    // of a cell, in units of coordinates
  uint64_t limit = 1;                // about how many annotations a cell has at most
  std::optional<neuroglancer::ShardingSpec> sharding = {};

  friend bool operator==(const SpatialLevel&, const SpatialLevel&) = default;
};

struct AnnotationInfo {
  AnnotationType type = AnnotationType::kPoint;
  std::vector<Dimension> dimensions;
  std::vector<double> lower_bound;
  std::vector<double> upper_bound;
  std::vector<Property> properties;
  std::vector<Relationship> relationships;
  IdIndex by_id;
  std::vector<SpatialLevel> spatial;
  objects::ExtraMembers extra;

  size_t rank() const { return dimensions.size(); }

  friend bool operator==(const AnnotationInfo&, const AnnotationInfo&) = default;
};

// kCorrupt, naming the member.
Result<AnnotationInfo> ParseAnnotationInfo(std::string_view text);

// kInvalidArgument for what ParseAnnotationInfo() would not take.
Result<void> Validate(const AnnotationInfo& info);

// The text that we write. Precondition: Validate() holds.
std::string ToJson(const AnnotationInfo& info);

// Where the parts of a record are: geometry, then properties by alignment (of 4, of 2, of
// 1 byte; each group in the order of the info), then zeros up to a multiple of 4.
class RecordLayout {
 public:
  explicit RecordLayout(const AnnotationInfo& info);

  AnnotationType type() const { return type_; }
  size_t rank() const { return rank_; }
  // Numbers of the geometry; 0 for polylines, which differ.
  size_t geometry_size() const { return geometry_size_; }
  // Bytes of the properties, with the zeros behind them.
  size_t property_bytes() const { return property_bytes_; }
  // Where a property is, from the first one on.
  size_t offset(size_t property) const { return offsets_[property]; }
  // Of all records, or of the shortest.
  size_t min_record_bytes() const;

 private:
  AnnotationType type_;
  size_t rank_;
  size_t geometry_size_;
  size_t property_bytes_ = 0;
  std::vector<size_t> offsets_;
};

// A number of a record, or of a colour the one that 0xRRGGBB(AA) is.
double NumberAt(PropertyType type, const std::byte* at);
// kInvalidArgument if the type does not hold the number.
Result<void> StoreNumber(PropertyType type, double number, std::byte* at);
// `#rrggbb` or `#rrggbbaa`, with or without `#`.
Result<void> StoreColor(PropertyType type, std::string_view text, std::byte* at);
std::string ColorAt(PropertyType type, const std::byte* at);

}  // namespace dolium::annotation
