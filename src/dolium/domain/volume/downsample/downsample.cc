#include "dolium/domain/volume/downsample/downsample.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dolium/domain/volume/downsample/downsample_internal.h"

namespace dolium::volume {
namespace {

template <std::unsigned_integral T>
void StrideColumns(const RowsTask& task) {
  for (size_t x = 0, to = 0; x < task.width; x += task.factor, ++to) {
    StoreVoxel<T>(task.out, to, LoadVoxel<T>(task.rows[0], x));
  }
}

void StrideRow(const RowsTask& task) {
  const size_t voxel = SizeOf(task.type);
  if (task.factor == 1) {
    std::memcpy(task.out, task.rows[0], task.width * voxel);
    return;
  }
  switch (voxel) {
    case 1:
      return StrideColumns<uint8_t>(task);
    case 2:
      return StrideColumns<uint16_t>(task);
    case 4:
      return StrideColumns<uint32_t>(task);
    default:
      return StrideColumns<uint64_t>(task);
  }
}

void DownsampleRows(Simd simd, DownsampleMethod method, RowsTask& task) {
  if (simd == Simd::kAvx2) {
    if (method == DownsampleMethod::kAverage) task.SkipColumns(AverageRowsAvx2(task));
    if (method == DownsampleMethod::kMode) task.SkipColumns(ModeRowsAvx2(task));
    if (task.width == 0) return;
  }
  for (; task.repeat != 0; task.SkipRow()) {
    switch (method) {
      case DownsampleMethod::kAverage:
        AverageRow(task);
        break;
      case DownsampleMethod::kMode:
        ModeRow(task);
        break;
      case DownsampleMethod::kStride:
        StrideRow(task);
        break;
    }
  }
}

bool SizesAreRight(const DownsampleSpec& spec, const ArrayShape& shape, BytesView voxels,
                   MutableBytes out) {
  for (size_t i = 0; i < 3; ++i) {
    if (spec.factor[i] < 1 || spec.factor[i] > kMaxDownsampleFactor) return false;
    if (shape.size[i] < 1) return false;
  }
  return shape.channels >= 1 && shape.bytes() == voxels.size() &&
         Downsampled(shape, spec.factor).bytes() == out.size();
}

}  // namespace

std::string_view ToString(DownsampleMethod method) {
  switch (method) {
    case DownsampleMethod::kAverage:
      return "average";
    case DownsampleMethod::kMode:
      return "mode";
    case DownsampleMethod::kStride:
      return "stride";
  }
  return "unknown";
}

std::optional<DownsampleMethod> ParseDownsampleMethod(std::string_view name) {
  for (const DownsampleMethod method :
       {DownsampleMethod::kAverage, DownsampleMethod::kMode, DownsampleMethod::kStride}) {
    if (ToString(method) == name) return method;
  }
  return std::nullopt;
}

ArrayShape Downsampled(const ArrayShape& shape, const Vec3& factor) {
  ArrayShape result = shape;
  for (size_t i = 0; i < 3; ++i) {
    result.size[i] = shape.size[i] / factor[i] + (shape.size[i] % factor[i] != 0 ? 1 : 0);
  }
  return result;
}

Simd BestSimd() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2 ? Simd::kAvx2 : Simd::kNone;
#else
  return Simd::kNone;
#endif
}

void Downsample(const DownsampleSpec& spec, const ArrayShape& shape, BytesView voxels,
                MutableBytes out) {
  DownsampleWith(BestSimd(), spec, shape, voxels, out);
}

void DownsampleWith(Simd simd, const DownsampleSpec& spec, const ArrayShape& shape,
                    BytesView voxels, MutableBytes out) {
  if (!SizesAreRight(spec, shape, voxels, out)) {
    std::abort();  // A bug in the caller, never bad input.
  }
  if (spec.factor == Vec3{1, 1, 1}) {
    std::memcpy(out.data(), voxels.data(), voxels.size());
    return;
  }

  const auto& [size_x, size_y, size_z] = shape.size;
  const auto& [factor_x, factor_y, factor_z] = spec.factor;
  const size_t voxel = SizeOf(shape.type);
  const auto row_bytes = static_cast<size_t>(size_x) * voxel;
  const auto out_row_bytes =
      static_cast<size_t>(Downsampled(shape, spec.factor).size[0]) * voxel;
  std::byte* out_row = out.data();
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    for (int64_t z = 0; z < size_z; z += factor_z) {
      const int64_t depth = std::min(factor_z, size_z - z);
      for (int64_t y = 0; y < size_y;) {
        // All whole blocks along y at once, then what may be left.
        const int64_t height = std::min(factor_y, size_y - y);
        RowsTask task;
        for (int64_t i = 0; i < depth * height; ++i) {
          const int64_t row =
              (channel * size_z + z + i / height) * size_y + y + i % height;
          task.rows[task.row_count++] =
              voxels.data() + static_cast<size_t>(row) * row_bytes;
        }
        task.width = static_cast<size_t>(size_x);
        task.factor = static_cast<size_t>(factor_x);
        task.type = shape.type;
        task.ignore_zero = spec.mode_ignores_zero;
        task.out = out_row;
        task.repeat = static_cast<size_t>((size_y - y) / height);
        task.step = static_cast<size_t>(height) * row_bytes;
        task.out_step = out_row_bytes;
        y += static_cast<int64_t>(task.repeat) * height;
        out_row += task.repeat * out_row_bytes;
        DownsampleRows(simd, spec.method, task);
      }
    }
  }
}

}  // namespace dolium::volume
