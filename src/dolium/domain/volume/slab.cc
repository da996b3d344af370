#include "dolium/domain/volume/slab.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/volume/scratch.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::volume {

Result<std::unique_ptr<Slab>> Slab::Load(const ArraySource& array, int64_t z_begin,
                                         int64_t z_end, size_t jobs, uint64_t memory,
                                         const std::string& temporary_folder) {
  std::unique_ptr<Slab> slab(new Slab(array, z_begin, z_end));
  DOLIUM_TRY_VOID(slab->Allocate(memory, temporary_folder));
  DOLIUM_TRY_VOID(ParallelFor(static_cast<size_t>(z_end - z_begin), jobs, [&](size_t i) {
    return slab->LoadPage(z_begin + static_cast<int64_t>(i));
  }));
  return slab;
}

Slab::~Slab() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Box Slab::box() const {
  const Vec3& size = array_.shape().size;
  return {{0, 0, z_begin_}, {size[0], size[1], z_end_}};
}

ArrayShape Slab::slab_shape() const {
  return {box().size(), array_.shape().channels, array_.shape().type};
}

Result<void> Slab::Allocate(uint64_t memory, const std::string& temporary_folder) {
  const auto bytes = slab_shape().bytes();
  if (!bytes) return InvalidArgument("a slab of pages is too large to count its bytes");
  bytes_ = static_cast<size_t>(*bytes);
  UniqueFd file;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (*bytes > memory) {
    flags = MAP_SHARED;
    file = UniqueFd(open(temporary_folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    const int failure =
        file ? posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_)) : errno;
    if (failure != 0) {
      return SystemError(failure, fmt::format("cannot keep {} bytes of pages in a "
                                              "temporary file",
                                              bytes_))
          .Within(temporary_folder);
    }
  }
  void* const place =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file ? file.get() : -1, 0);
  if (place == MAP_FAILED) {
    return SystemError(errno, fmt::format("cannot get {} bytes for pages", bytes_));
  }
  data_ = static_cast<std::byte*>(place);
  return {};
}

Result<void> Slab::LoadPage(int64_t z) {
  const Box page{{0, 0, z}, {box().end[0], box().end[1], z + 1}};
  const ArrayShape shape{page.size(), array_.shape().channels, array_.shape().type};
  Scratch voxels(static_cast<size_t>(*shape.bytes()));
  DOLIUM_TRY_VOID(array_.Read(page, voxels.view()));
  CopyVoxels(VoxelView::Dense(shape, voxels.data()),
             MutableVoxelView::Dense(slab_shape(), data_).Part(box(), page));
  return {};
}

Result<void> Slab::Read(const Box& wanted, MutableBytes into) const {
  if (!box().Contains(wanted)) {
    return InvalidArgument(fmt::format("box {} is not within the pages {}",
                                       ToString(wanted), ToString(box())));
  }
  const ArrayShape shape{wanted.size(), array_.shape().channels, array_.shape().type};
  CopyVoxels(VoxelView::Dense(slab_shape(), data_).Part(box(), wanted),
             MutableVoxelView::Dense(shape, into.data()));
  return {};
}

}  // namespace dolium::volume
