// Volume: a Neuroglancer Precomputed volume, by the location of its `info`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {

inline constexpr std::string_view kInfoName = "info";

// A value: a folder and what its info said when it was opened. May be used from many
// threads.
class Volume {
 public:
  // `location` is the folder of the info. Follows redirects. kNotFound if there is no
  // info, kInvalidArgument if it is not a volume's; an error if the volume is unfinished
  // (a local folder that carries the marker), unless that is allowed.
  static Result<Volume> Open(const Location& location, bool allow_unfinished = false);

  // The same for a location that may be something else: nullopt if it has no info, or one
  // without scales. An unfinished volume is opened.
  static Result<std::optional<Volume>> OpenIfVolume(const Location& location);

  // Writes the info of a new, empty volume. kExists if there is one.
  static Result<Volume> Create(const Location& folder, VolumeInfo info);

  const Location& folder() const { return folder_; }
  const VolumeInfo& info() const { return info_; }

  Result<std::shared_ptr<Scale>> OpenScale(size_t index, size_t chunking = 0,
                                           const StorageOptions& options = {}) const {
    return Scale::Open(folder_, info_, index, chunking, options);
  }

 private:
  Volume(Location folder, VolumeInfo info)
      : folder_(std::move(folder)), info_(std::move(info)) {}

  Location folder_;
  VolumeInfo info_;
};

// Writes an info. kExists if there is one.
Result<void> WriteNewInfo(const Location& folder, const VolumeInfo& info);

// Changes the info that is there, again if somebody else changed it meanwhile.
Result<VolumeInfo> UpdateInfo(
    const Location& folder,
    const std::function<Result<VolumeInfo>(VolumeInfo info)>& change);

}  // namespace dolium::volume
