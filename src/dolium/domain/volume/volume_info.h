// VolumeInfo: what the `info` of a volume says.
//
// An info is read strictly: what we understand must be as the format has it, and an error
// names the member with its path. What we do not understand is kept and written again.
// Plain values throughout: no function here reads or writes a file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/encodings/encoding.h"
#include "dolium/domain/volume/voxels.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::volume {

enum class VolumeType : uint8_t { kUnknown, kImage, kSegmentation };

std::string_view ToString(VolumeType type);

using Resolution = std::array<double, 3>;  // nanometres per voxel, x, y, z

// Members that we do not know: JSON texts by name.
using ExtraMembers = std::map<std::string, std::string>;

struct ScaleInfo {
  // The folder, relative to that of the info; see ResolveScaleKey().
  std::string key = {};
  Vec3 size = {0, 0, 0};
  Resolution resolution = {1, 1, 1};
  Vec3 voxel_offset = {0, 0, 0};
  std::vector<Vec3> chunk_sizes = {};  // each a complete copy of the data; one if sharded
  EncodingSpec encoding = {};
  // Not empty: the chunks have this encoding, which is cloud-volume's own (`fpzip`,
  // `kempressed`, `zfpc`, `crackle`). `encoding` means nothing then, and CheckUsable()
  // says that the scale cannot be used.
  std::string foreign_encoding = {};
  std::optional<neuroglancer::ShardingSpec> sharding = {};
  bool hidden = false;
  // Also has settings of encodings other than this scale's, which mean nothing.
  ExtraMembers extra = {};

  // Precondition: Validate() holds.
  Box bounds() const;

  friend bool operator==(const ScaleInfo&, const ScaleInfo&) = default;
};

struct VolumeInfo {
  VolumeType type = VolumeType::kUnknown;
  DataType data_type = DataType::kUint8;
  int64_t num_channels = 1;
  std::vector<ScaleInfo> scales;  // finest first; not empty unless there is a redirect
  std::optional<std::string> mesh;
  std::optional<std::string> skeletons;
  std::optional<std::string> segment_properties;
  std::optional<std::string> redirect;  // another location that has the volume
  ExtraMembers extra;

  friend bool operator==(const VolumeInfo&, const VolumeInfo&) = default;
};

// Members may come in any order. Words ignore case, 64.0 will do for 64, and null will do
// for an optional member that is not there. With a `redirect` all else may be missing.
// Unknown members of the `sharding` object are not kept, and `jxl_*` settings are moved
// into our range: both are of no consequence to readers. kCorrupt, as
// `scales[1].size: found [1,2], expected three integers`, for anything else;
// kInvalidArgument for an `@type` that is not a volume's, but of something else that is
// known.
Result<VolumeInfo> ParseVolumeInfo(std::string_view text);

// What ParseVolumeInfo() demands beyond the types of the members: kInvalidArgument if a
// number is out of its range, coordinates leave those of Grid, cells or the bytes of a
// chunk do not count in 64 bits, or a sharded scale has several chunk sizes or needs more
// than 64 Morton bits.
Result<void> Validate(const VolumeInfo& info);

// The text that we write: members sorted, indented by two, integral numbers without a
// point, optional members left out where they say nothing. ParseVolumeInfo() gives an
// equal info for it. Precondition: Validate() holds.
std::string ToJson(const VolumeInfo& info);

// kUnsupported, with the reason, if chunks of this scale can be neither read nor written.
Result<void> CheckUsable(const VolumeInfo& info, const ScaleInfo& scale);

// Something in a valid info that is likely a mistake, or that other programs trip over.
struct InfoWarning {
  std::string path;  // `scales[1].size`
  std::string text;
};

// Precondition: Validate() holds.
std::vector<InfoWarning> CheckVolumeInfo(const VolumeInfo& info);

// What CheckVolumeInfo() would call wrong of a new volume whatever its scales are, and so
// is refused: kInvalidArgument for a segmentation of several channels, or of fractions.
Result<void> CheckCreatable(const VolumeInfo& info);

// Drops settings of other encodings than the scale's, which some programs refuse.
void DropForeignSettings(ScaleInfo& scale);

// The folder of a scale. `..` is resolved by text, as URLs and TensorStore have it; above
// the root of a host it stays at the root.
Location ResolveScaleKey(const Location& info_folder, std::string_view key);

// The customary key, as TensorStore makes it: `8_8_8`, `4_4_32.5`; six digits.
std::string DefaultScaleKey(const Resolution& resolution);

}  // namespace dolium::volume
