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

namespace dolium::python {

namespace nb = nanobind;

// How a scale was opened: enough to open it again in another process.
struct VolumeArguments {
  std::string location;
  size_t scale = 0;
  bool allow_unfinished = false;
  volume::StorageOptions storage;
  volume::DvidReadOptions exported;        // if it is an export of DVID
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
  const volume::Scale& scale() const { return *scales_.front(); }

  // Fills an array (BorrowedArray). Missing chunks are an error if `strict`.
  void Read(const BoxRequest& request, nb::handle array, bool strict, size_t jobs) const;
  // One array for each request; on threads.
  void ReadMany(const std::vector<BoxRequest>& requests, const nb::list& arrays,
                bool strict, size_t jobs) const;
  // The array has the channels that are to be written.
  void Write(const volume::Box& box, const volume::ChannelRange& channels,
             nb::handle array, size_t jobs);

  // The size of the boxes, side by side from the first voxel on, that are best written
  // each by one writer: of shards, or else of blocks of chunks. Raises
  // NotImplementedError if the shards are no boxes.
  volume::Vec3 WriteUnit() const;

 private:
  void OpenScales();
  // The voxels of the chunks that a box touches.
  static double TouchedBy(const volume::Box& box, const volume::Scale& scale);
  // The copy of the data of which the box needs least.
  const volume::Scale& BestFor(const volume::Box& box) const;

  VolumeArguments arguments_;
  std::shared_ptr<const volume::Volume> volume_;
  // One for each chunk size; the first is the one whose chunks Python sees.
  std::vector<std::shared_ptr<volume::Scale>> scales_;
  bool is_local_ = false;
};

}  // namespace dolium::python
