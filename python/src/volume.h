// The Python class VolumeScale: what dolium.Volume reads and writes by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/bytes/cached_store.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/whole_scale.h"
#include "dolium/ops/volume/skipped_chunks.h"

namespace dolium::python {

namespace nb = nanobind;

// How a scale was opened: enough to open it again in another process.
struct VolumeArguments {
  std::string location;
  size_t scale = 0;
  bool allow_unfinished = false;
  volume::StorageOptions storage;
  volume::DvidReadOptions exported;        // if it is a DVID export
  std::optional<CacheOptions> cache = {};  // on disk
};

// What is read of a scale: of a box, every step'th voxel, of some channels.
struct BoxRequest {
  volume::Box box;
  volume::Vec3 step = {1, 1, 1};
  volume::ChannelRange channels;
};

// One scale of a volume. Boxes are absolute, and within the bounds. All methods need the
// GIL and let go of it for I/O; any thread may call them. Ctrl-C ends what takes long,
// between two chunks.
class PyVolume {
 public:
  explicit PyVolume(VolumeArguments arguments);
  // Another scale of a volume that is open.
  PyVolume(const PyVolume& other, size_t scale);

  const VolumeArguments& arguments() const { return arguments_; }
  const volume::Volume& volume() const { return *volume_; }
  // Of the first chunk size: that whose chunks Python sees.
  const volume::Scale& scale() const { return scale_->first(); }

  // Fills an array (BorrowedArray). Missing chunks are an error if `strict`.
  void Read(const BoxRequest& request, nb::handle array, bool strict, size_t jobs) const;
  // One array for each request; on threads.
  void ReadMany(const std::vector<BoxRequest>& requests, const nb::list& arrays,
                bool strict, size_t jobs) const;
  // The array has the channels that are to be written; `mask`, of uint8 and the same
  // shape, is 0 for voxels that are not. None: all are.
  void Write(const volume::Box& box, const volume::ChannelRange& channels,
             nb::handle array, size_t jobs, nb::handle mask);

  // Damaged chunks that reads have left out so far, as its arguments allow.
  std::vector<Finding> skipped() const { return skipped_->findings(); }

  const volume::WholeScale& whole_scale() const { return *scale_; }

 private:
  void OpenScale();

  VolumeArguments arguments_;
  std::shared_ptr<const volume::Volume> volume_;
  std::shared_ptr<volume::WholeScale> scale_;
  std::shared_ptr<volume::SkippedChunks> skipped_ =
      std::make_shared<volume::SkippedChunks>();
  bool is_local_ = false;
};

}  // namespace dolium::python
