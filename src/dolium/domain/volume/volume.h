// Volume: a Neuroglancer Precomputed volume, by the location of its `info`; or a DVID
// export, read in place.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/domain/volume/whole_scale.h"

namespace dolium::volume {

inline constexpr std::string_view kInfoName = "info";

// A value: a folder and what its info said when it was opened. May be used from many
// threads.
class Volume {
 public:
  // `location` is the folder of the info. Follows redirects. kNotFound if there is no
  // info, kCorrupt if it is broken, kInvalidArgument if it is that of something else; an
  // error if the volume is unfinished (a local folder that carries the marker), unless
  // that is allowed.
  static Result<Volume> Open(const Location& location, bool allow_unfinished = false);

  // A DVID export; nullopt if there are no shards of one. Unfinished ones as above.
  // Which of the two a location holds is for OpenVolume() of ops to say.
  static Result<std::optional<Volume>> OpenExport(const Location& folder,
                                                  bool allow_unfinished,
                                                  const DvidReadOptions& options);

  // Writes the info of a new, empty volume. kExists if there is one.
  static Result<Volume> Create(const Location& folder, VolumeInfo info);

  const Location& folder() const { return folder_; }
  const VolumeInfo& info() const { return info_; }
  // Not nullptr if it is an export, which cannot be written to.
  const DvidExport* dvid_export() const { return export_.get(); }

  // A scale as readers and writers see it.
  Result<std::shared_ptr<WholeScale>> OpenScale(size_t index,
                                                const StorageOptions& options = {}) const;
  // The copy of a scale that has one of its chunk sizes. A write goes to it alone: it is
  // for those who make all copies, or read one.
  Result<std::shared_ptr<Scale>> OpenCopy(size_t index, size_t chunking = 0,
                                          const StorageOptions& options = {}) const;

 private:
  Volume(Location folder, VolumeInfo info)
      : folder_(std::move(folder)), info_(std::move(info)) {}

  Location folder_;
  VolumeInfo info_;
  std::shared_ptr<const DvidExport> export_;
};

// Writes an info. kExists if there is one.
Result<void> WriteNewInfo(const Location& folder, const VolumeInfo& info);

// Changes the info that is there, again if somebody else changed it meanwhile.
Result<VolumeInfo> UpdateInfo(
    const Location& folder,
    const std::function<Result<VolumeInfo>(VolumeInfo info)>& change);

}  // namespace dolium::volume
