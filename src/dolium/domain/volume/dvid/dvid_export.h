// DvidExport: a DVID export as a volume, in place.
//
// Blocks become chunks of compressed_segmentation when they are asked for, without
// decoding a voxel, so that an export is a volume to all that reads volumes. Nothing can
// be written to it. A value with shared parts; may be used from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/chunk_storage.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/export.h"

namespace dolium::volume {

// The object of an export that has its spec.
inline constexpr std::string_view kSpecName = dvid::kSpecName;

struct DvidReadOptions {
  dvid::LabelKind labels = dvid::LabelKind::kLabels;
  // The text that the export was made with: sizes, resolutions, sharding. Without it,
  // that of a `spec.json` in the export; without that, sizes are those of the blocks that
  // are there, and each scale has half of the one before.
  std::optional<std::string> spec = {};
  Resolution resolution = {1, 1, 1};  // of scale 0, where no spec says
  dvid::Coordinates coordinates = dvid::Coordinates::kAuto;
  // Take what is whole out of damaged shards; a damaged block is as if it was not there.
  bool salvage = false;

  friend bool operator==(const DvidReadOptions&, const DvidReadOptions&) = default;
};

class DvidExport {
 public:
  // Nullopt if there are no shards at `named`. kInvalidArgument for a spec that DVID
  // could not have exported by. The export may be named by its spec.
  static Result<std::optional<DvidExport>> Open(const Location& named,
                                                const DvidReadOptions& options);

  const Location& location() const { return location_; }
  const VolumeInfo& info() const { return info_; }
  const DvidReadOptions& options() const { return options_; }
  const std::shared_ptr<const dvid::ExportScale>& scale(size_t index) const {
    return scales_[index];
  }
  // n of its folder `s<n>`: exports need not have all scales.
  size_t number(size_t index) const { return numbers_[index]; }
  // The spec for a copy of this export: SpecOf() this one's; without one, what info()
  // has, and for scales that are not here twice the size of the next.
  VolumeInfo MakeSpec() const;

  std::shared_ptr<ChunkStorage> OpenStorage(size_t index, const Grid& grid) const;

 private:
  DvidExport(Location location, DvidReadOptions options)
      : location_(std::move(location)), options_(std::move(options)) {}

  Location location_;
  DvidReadOptions options_;
  std::optional<VolumeInfo> spec_;
  VolumeInfo info_;
  std::vector<std::shared_ptr<const dvid::ExportScale>> scales_;
  std::vector<size_t> numbers_;
};

// The spec that an export of this volume has: its scales with blocks for chunks, from
// coordinate 0 on, as DVID ignores offsets. Shards stay if they are cubes of such chunks.
VolumeInfo SpecOf(const VolumeInfo& info);

// Whether a block with these labels is as good as none.
bool AllZero(const dvid::LabelList& list);

// Finding::kind of a block that salvage leaves out.
inline constexpr std::string_view kLeftOutKind = "block";
inline constexpr std::string_view kOutsideKind = "outside";

// Names below the folder of an export, or of one scale of it, that are no part of it, in
// order. `is_strict`: only files with a corner in their name are shards; else all *.arrow
// are, as they are read. None of a store that cannot list.
Result<std::vector<std::string>> FindForeign(const Location& folder, bool is_strict);

// What the indexes of all shards say, before anything is converted.
struct ExportReport {
  uint64_t blocks = 0;
  // Outside of the volume: DVID exports a column of blocks too many where a size is a
  // multiple of 64, and all to the end of a shard. They are not part of the volume.
  uint64_t outside = 0;
  uint64_t damaged = 0;         // blocks that salvage leaves out; each is a warning, too
  std::vector<Finding> damage;  // shards that cannot be read
  std::vector<Finding> warnings;  // of shards and blocks
  std::vector<Finding> of_spec;   // warnings: blocks outside, shards that are not cubes

  // The warnings of what is not there in a conversion, though it should be: damaged
  // blocks, and all blocks, if none is left.
  std::vector<Finding> LeftOut() const;
};
// Opens every shard, on `jobs` threads; with `salvage`, also reads every block.
Result<ExportReport> CheckExport(const DvidExport& exported, size_t jobs,
                                 const std::stop_token& stop);

// Why shards of this spec share files, as DVID names them: several with extents that are
// not those of a cube. Nullopt if they do not.
std::optional<std::string> WhyNotCubic(const ScaleInfo& scale);

}  // namespace dolium::volume
