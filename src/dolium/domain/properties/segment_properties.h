// SegmentProperties: what is said of each segment of a segmentation: labels,
// descriptions, texts, tags, numbers.
//
// The info of a folder holds it all, so that it is read and written whole. Values are
// checked as the client checks them. Plain values: but for Read() and Write(), nothing
// here touches a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/objects/object_info.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::properties {

inline constexpr std::string_view kSegmentPropertiesType =
    "neuroglancer_segment_properties";

enum class PropertyKind : uint8_t { kLabel, kDescription, kString, kTags, kNumber };

std::string_view ToString(PropertyKind kind);
std::optional<PropertyKind> ParsePropertyKind(std::string_view text);

// One property, with a value for each segment.
struct SegmentProperty {
  std::string id;
  PropertyKind kind = PropertyKind::kString;
  std::string description = {};
  std::vector<std::string> texts = {};  // of a label, a description, a string
  // Of a number: any type but uint64, and values that it holds.
  volume::DataType type = volume::DataType::kFloat32;
  std::vector<double> numbers = {};
  // Tags: the places of those that a segment has, ascending.
  std::vector<std::string> tags = {};
  std::vector<std::string> tag_descriptions = {};  // as many, or none
  std::vector<std::vector<uint32_t>> tag_values = {};

  // How many segments have a value.
  size_t size() const;

  friend bool operator==(const SegmentProperty&, const SegmentProperty&) = default;
};

struct SegmentProperties {
  std::vector<uint64_t> ids;
  std::vector<SegmentProperty> properties;
  objects::ExtraMembers extra;  // of the info

  friend bool operator==(const SegmentProperties&, const SegmentProperties&) = default;
};

// kCorrupt, naming the member.
Result<SegmentProperties> ParseSegmentProperties(std::string_view text);

// kInvalidArgument for what the client would not load, or show wrongly: an id or a
// property that is there twice, a property without a value for each segment, two labels,
// tags with spaces, a number that its type does not hold.
Result<void> Validate(const SegmentProperties& properties);

// The text that we write. Precondition: Validate() holds.
std::string ToJson(const SegmentProperties& properties);

// The type of a number of the client that holds all of them: uint32, int32 if there is
// one below 0, or float32.
volume::DataType NumberTypeFor(const std::vector<double>& numbers);

// Tags of texts with tags between spaces: distinct, in the order of the alphabet.
SegmentProperty MakeTags(std::string id, const std::vector<std::string>& texts);

// kNotFound if the folder has no info.
Result<SegmentProperties> ReadSegmentProperties(const Location& folder);
// kInvalidArgument unless Validate() holds; kExists if the folder has an info that is not
// to be replaced, or one of something else. Atomic.
Result<void> WriteSegmentProperties(const Location& folder,
                                    const SegmentProperties& properties,
                                    bool replace = false);

}  // namespace dolium::properties
