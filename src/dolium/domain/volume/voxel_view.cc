#include "dolium/domain/volume/voxel_view.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dolium::volume {
namespace {

// Side of the square that is transposed at once: its lines fit the first-level cache.
constexpr int64_t kTile = 16;

std::array<int64_t, 4> Extents(const ArrayShape& shape) {
  return {shape.size[0], shape.size[1], shape.size[2], shape.channels};
}

int64_t OffsetOf(const Strides& strides, const Box& whole, const Box& part) {
  int64_t offset = 0;
  for (size_t d = 0; d < 3; ++d) {
    offset += (part.begin[d] - whole.begin[d]) * strides[d];
  }
  return offset;
}

ArrayShape PartShape(const ArrayShape& shape, const Box& part) {
  return {part.size(), shape.channels, shape.type};
}

// The dimension of more than one voxel that steps least, other than `except`.
size_t FastestDimension(const std::array<int64_t, 4>& extents, const Strides& strides,
                        size_t except) {
  size_t best = except == 0 ? 1 : 0;
  for (size_t d = 0; d < 4; ++d) {
    if (d == except || extents[d] == 1) continue;
    const bool better = extents[best] == 1 || best == except ||
                        std::abs(strides[d]) < std::abs(strides[best]);
    if (better) best = d;
  }
  return best;
}

// A plane of two dimensions, of voxels that are a T wide.
template <typename T>
void CopyPlane(const std::byte* from, int64_t from_a, int64_t from_b, std::byte* to,
               int64_t to_a, int64_t to_b, int64_t extent_a, int64_t extent_b) {
  for (int64_t b0 = 0; b0 < extent_b; b0 += kTile) {
    const int64_t b1 = std::min(extent_b, b0 + kTile);
    for (int64_t a0 = 0; a0 < extent_a; a0 += kTile) {
      const int64_t a1 = std::min(extent_a, a0 + kTile);
      for (int64_t b = b0; b < b1; ++b) {
        for (int64_t a = a0; a < a1; ++a) {
          std::memcpy(to + a * to_a + b * to_b, from + a * from_a + b * from_b,
                      sizeof(T));
        }
      }
    }
  }
}

template <typename T>
void CopyAsPlanes(const VoxelView& from, const MutableVoxelView& to) {
  const auto extents = Extents(to.shape);
  // One dimension to run along in each array; where both run along the same, the next.
  const size_t a = FastestDimension(extents, to.strides, 4);
  size_t b = FastestDimension(extents, from.strides, 4);
  if (a == b) b = FastestDimension(extents, from.strides, a);
  std::array<size_t, 2> outer{};
  size_t next = 0;
  for (size_t d = 0; d < 4; ++d) {
    if (d != a && d != b) outer[next++] = d;
  }
  for (int64_t i = 0; i < extents[outer[1]]; ++i) {
    for (int64_t j = 0; j < extents[outer[0]]; ++j) {
      CopyPlane<T>(from.data + i * from.strides[outer[1]] + j * from.strides[outer[0]],
                   from.strides[a], from.strides[b],
                   to.data + i * to.strides[outer[1]] + j * to.strides[outer[0]],
                   to.strides[a], to.strides[b], extents[a], extents[b]);
    }
  }
}

// Calls `visit(from, to)` for each row along x.
template <typename Visit>
void ForEachRow(const std::array<int64_t, 4>& extents, const Visit& visit) {
  for (int64_t c = 0; c < extents[3]; ++c) {
    for (int64_t z = 0; z < extents[2]; ++z) {
      for (int64_t y = 0; y < extents[1]; ++y) visit(y, z, c);
    }
  }
}

}  // namespace

Strides DenseStrides(const ArrayShape& shape) {
  const auto item = static_cast<int64_t>(SizeOf(shape.type));
  const int64_t row = item * shape.size[0];
  const int64_t plane = row * shape.size[1];
  return {item, row, plane, plane * shape.size[2]};
}

VoxelView VoxelView::Part(const Box& whole, const Box& part) const {
  return {data + OffsetOf(strides, whole, part), PartShape(shape, part), strides};
}

MutableVoxelView MutableVoxelView::Part(const Box& whole, const Box& part) const {
  return {data + OffsetOf(strides, whole, part), PartShape(shape, part), strides};
}

VoxelView VoxelView::Every(const Vec3& step, const Vec3& count) const {
  VoxelView view = *this;
  for (size_t d = 0; d < 3; ++d) {
    view.shape.size[d] = count[d];
    // The step from a single voxel to the next means nothing, and might not fit.
    if (count[d] > 1) view.strides[d] *= step[d];
  }
  return view;
}

VoxelView VoxelView::Channels(const ChannelRange& channels) const {
  VoxelView view = *this;
  view.data += channels.begin * strides[3];
  view.shape.channels = channels.size();
  return view;
}

MutableVoxelView MutableVoxelView::Channels(const ChannelRange& channels) const {
  MutableVoxelView view = *this;
  view.data += channels.begin * strides[3];
  view.shape.channels = channels.size();
  return view;
}

void CopyVoxels(const VoxelView& from, const MutableVoxelView& to) {
  const size_t item = SizeOf(to.shape.type);
  const auto extents = Extents(to.shape);
  if (std::ranges::any_of(extents, [](int64_t extent) { return extent <= 0; })) return;
  const auto step = static_cast<int64_t>(item);
  if ((from.strides[0] == step && to.strides[0] == step) || extents[0] == 1) {
    const size_t row = item * static_cast<size_t>(extents[0]);
    ForEachRow(extents, [&](int64_t y, int64_t z, int64_t c) {
      std::memcpy(
          to.data + y * to.strides[1] + z * to.strides[2] + c * to.strides[3],
          from.data + y * from.strides[1] + z * from.strides[2] + c * from.strides[3],
          row);
    });
    return;
  }
  switch (item) {
    case 1:
      return CopyAsPlanes<uint8_t>(from, to);
    case 2:
      return CopyAsPlanes<uint16_t>(from, to);
    case 4:
      return CopyAsPlanes<uint32_t>(from, to);
    default:
      return CopyAsPlanes<uint64_t>(from, to);
  }
}

void CopyMaskedVoxels(const VoxelView& from, const VoxelView& mask,
                      const MutableVoxelView& to) {
  const size_t item = SizeOf(to.shape.type);
  const auto extents = Extents(to.shape);
  ForEachRow(extents, [&](int64_t y, int64_t z, int64_t c) {
    const auto row = [&](const Strides& strides) {
      return y * strides[1] + z * strides[2] + c * strides[3];
    };
    const std::byte* const chosen = mask.data + row(mask.strides);
    const std::byte* const source = from.data + row(from.strides);
    std::byte* const target = to.data + row(to.strides);
    for (int64_t x = 0; x < extents[0]; ++x) {
      if (chosen[x * mask.strides[0]] == std::byte{0}) continue;
      std::memcpy(target + x * to.strides[0], source + x * from.strides[0], item);
    }
  });
}

bool HasAnyVoxel(const VoxelView& mask) {
  const auto extents = Extents(mask.shape);
  bool any = false;
  ForEachRow(extents, [&](int64_t y, int64_t z, int64_t c) {
    const std::byte* const row =
        mask.data + y * mask.strides[1] + z * mask.strides[2] + c * mask.strides[3];
    for (int64_t x = 0; x < extents[0] && !any; ++x) {
      any = row[x * mask.strides[0]] != std::byte{0};
    }
  });
  return any;
}

void ClearVoxels(const MutableVoxelView& view) {
  const size_t item = SizeOf(view.shape.type);
  const auto extents = Extents(view.shape);
  ForEachRow(extents, [&](int64_t y, int64_t z, int64_t c) {
    std::byte* row =
        view.data + y * view.strides[1] + z * view.strides[2] + c * view.strides[3];
    if (view.strides[0] == static_cast<int64_t>(item)) {
      std::memset(row, 0, item * static_cast<size_t>(extents[0]));
      return;
    }
    for (int64_t x = 0; x < extents[0]; ++x) {
      std::memset(row + x * view.strides[0], 0, item);
    }
  });
}

}  // namespace dolium::volume
