#include "dolium/domain/volume/arrays/preview.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

constexpr int64_t kSeparator = 2;
constexpr uint8_t kSeparatorGrey = 96;
constexpr uint8_t kCornerGrey = 24;
constexpr int64_t kMinSide = 16;
constexpr int64_t kMaxPreviewSide = 16'384;
constexpr int kPngLevel = 6;
// Voxels that the percentiles are taken of.
constexpr int64_t kSamples = int64_t{1} << 20;
constexpr double kLowPercentile = 0.01;
constexpr double kHighPercentile = 0.99;

using Colour = std::array<uint8_t, 3>;

// Three planes, one for each of red, green, blue.
class Canvas {
 public:
  Canvas(int64_t width, int64_t height, uint8_t grey)
      : shape_{{width, height, 1}, 3, DataType::kUint8},
        planes_(static_cast<size_t>(width * height * 3), std::byte{grey}) {}

  void Set(int64_t x, int64_t y, size_t plane, uint8_t value) {
    const int64_t pixels = shape_.size[0] * shape_.size[1];
    planes_[static_cast<size_t>(static_cast<int64_t>(plane) * pixels +
                                y * shape_.size[0] + x)] = std::byte{value};
  }
  void Set(int64_t x, int64_t y, const Colour& colour) {
    for (size_t i = 0; i < colour.size(); ++i) Set(x, y, i, colour[i]);
  }
  Result<ByteVector> ToPng() const { return EncodePng(shape_, kPngLevel, planes_); }

 private:
  const ArrayShape shape_;
  ByteVector planes_;
};

// A part of the canvas for one slice.
struct Panel {
  int64_t x = 0;
  int64_t y = 0;
  int64_t width = 1;
  int64_t height = 1;
};

// The slice's places that pixel `i` of `pixels` shows: at least one.
std::pair<int64_t, int64_t> Covered(int64_t i, int64_t pixels, int64_t places) {
  const int64_t begin = i * places / pixels;
  return {begin, std::max(begin + 1, (i + 1) * places / pixels)};
}

// What grey a value has.
struct Contrast {
  double low = 0;
  double high = 255;

  uint8_t operator()(double value) const {
    const double grey = 255 * (value - low) / (high - low);
    return static_cast<uint8_t>(std::lround(std::clamp(grey, 0.0, 255.0)));
  }
};

// Values `first`, `first + 1`, ... of a slice as floats, which all fit.
void ToFloats(DataType type, const PreviewSlice& slice, int64_t first,
              std::span<float> out) {
  ConvertNumbers(
      ToNumberType(type), slice.voxels.data() + static_cast<size_t>(first) * SizeOf(type),
      DataType::kFloat32, reinterpret_cast<std::byte*>(out.data()), out.size());
}

Contrast MeasureContrast(const PreviewRequest& request) {
  std::vector<float> values;
  for (const PreviewSlice* slice : {&request.xy, &request.xz, &request.yz}) {
    const int64_t count = slice->width * slice->height;
    const int64_t step = std::max<int64_t>(1, 3 * count / kSamples);
    for (int64_t i = 0; i < count; i += step) {
      float value = 0;
      ToFloats(request.type, *slice, i, {&value, 1});
      if (std::isfinite(value)) values.push_back(value);
    }
  }
  if (values.empty()) return {};
  const auto at = [&values](double part) -> double {
    const auto place =
        values.begin() +
        static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const double low = at(kLowPercentile);
  const double high = at(kHighPercentile);
  return {low, high > low ? high : low + 1};
}

// Shows one channel; pixels are means of the finite voxels that they cover.
void DrawChannel(const PreviewSlice& slice, DataType type, int64_t channel,
                 const Contrast& contrast, const Panel& panel,
                 std::span<const size_t> planes, Canvas& canvas) {
  std::vector<float> row(static_cast<size_t>(slice.width));
  std::vector<double> sums(static_cast<size_t>(panel.width));
  std::vector<int64_t> counts(static_cast<size_t>(panel.width));
  for (int64_t j = 0; j < panel.height; ++j) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [top, bottom] = Covered(j, panel.height, slice.height);
    for (int64_t y = top; y < bottom; ++y) {
      ToFloats(type, slice, (channel * slice.height + y) * slice.width, row);
      for (int64_t i = 0; i < panel.width; ++i) {
        const auto [left, right] = Covered(i, panel.width, slice.width);
        for (int64_t x = left; x < right; ++x) {
          const float value = row[static_cast<size_t>(x)];
          if (!std::isfinite(value)) continue;
          sums[static_cast<size_t>(i)] += value;
          ++counts[static_cast<size_t>(i)];
        }
      }
    }
    for (int64_t i = 0; i < panel.width; ++i) {
      const size_t at = static_cast<size_t>(i);
      const uint8_t grey = counts[at] == 0
                               ? uint8_t{0}
                               : contrast(sums[at] / static_cast<double>(counts[at]));
      for (const size_t plane : planes) canvas.Set(panel.x + i, panel.y + j, plane, grey);
    }
  }
}

// A bright colour of any hue, always the same for the same identifier.
Colour ColourOf(uint64_t id) {
  if (id == 0) return {0, 0, 0};
  uint64_t hash = id * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  const double hue = static_cast<double>(hash & 0xffff) / 65536 * 6;
  const double saturation = 0.5 + static_cast<double>((hash >> 16) & 0xff) / 510;
  const double value = 0.6 + static_cast<double>((hash >> 24) & 0xff) / 637.5;
  Colour colour;
  for (size_t i = 0; i < colour.size(); ++i) {
    // 1 near the hue of this component, 0 on the other side of the circle.
    const double distance = std::abs(std::remainder(hue - 2 * static_cast<double>(i), 6));
    const double share = std::clamp(2 - distance, 0.0, 1.0);
    colour[i] =
        static_cast<uint8_t>(std::lround(255 * value * (1 - saturation * (1 - share))));
  }
  return colour;
}

void DrawLabels(const PreviewSlice& slice, DataType type, const Panel& panel,
                Canvas& canvas) {
  for (int64_t j = 0; j < panel.height; ++j) {
    const int64_t y = (2 * j + 1) * slice.height / (2 * panel.height);
    for (int64_t i = 0; i < panel.width; ++i) {
      const int64_t x = (2 * i + 1) * slice.width / (2 * panel.width);
      uint64_t id = 0;
      std::memcpy(
          &id,
          slice.voxels.data() + static_cast<size_t>(y * slice.width + x) * SizeOf(type),
          SizeOf(type));
      canvas.Set(panel.x + i, panel.y + j, ColourOf(id));
    }
  }
}

Result<void> CheckRequest(const PreviewRequest& request) {
  const auto& [xy, xz, yz] = std::tie(request.xy, request.xz, request.yz);
  if (xy.width != xz.width || xy.height != yz.width || xz.height != yz.height) {
    return InvalidArgument(
        fmt::format("slices of {}x{}, {}x{} and {}x{} voxels are not of one volume",
                    xy.width, xy.height, xz.width, xz.height, yz.width, yz.height));
  }
  for (const PreviewSlice* slice : {&xy, &xz, &yz}) {
    const ArrayShape shape = {
        {slice->width, slice->height, 1}, request.channels, request.type};
    if (slice->width < 1 || slice->height < 1 || request.channels < 1 ||
        shape.bytes() != slice->voxels.size()) {
      return InvalidArgument(fmt::format("a slice of {}x{} voxels in {} bytes",
                                         slice->width, slice->height,
                                         slice->voxels.size()));
    }
  }
  for (const double size : request.voxel_size) {
    if (!(size > 0) || !std::isfinite(size)) {
      return InvalidArgument(
          fmt::format("voxels of size {}", fmt::join(request.voxel_size, ",")));
    }
  }
  if (request.labels && request.type == DataType::kFloat32) {
    return InvalidArgument("labels are integers, not float32");
  }
  if (request.longest_side < kMinSide || request.longest_side > kMaxPreviewSide) {
    return InvalidArgument(fmt::format("a longest side of {} pixels, not {} to {}",
                                       request.longest_side, kMinSide, kMaxPreviewSide));
  }
  return {};
}

// Pixels for the volume's x, y, z.
std::array<int64_t, 3> ChoosePixels(const PreviewRequest& request) {
  const auto& size = request.voxel_size;
  const double shortest = *std::min_element(size.begin(), size.end());
  const std::array<double, 3> extent = {
      static_cast<double>(request.xy.width) * (size[0] / shortest),
      static_cast<double>(request.xy.height) * (size[1] / shortest),
      static_cast<double>(request.xz.height) * (size[2] / shortest)};
  const double longest = std::max(extent[0], extent[1]) + extent[2];
  const int64_t most = request.longest_side - kSeparator;
  const double scale = std::min(1.0, static_cast<double>(most) / longest);
  std::array<int64_t, 3> pixels;
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = std::max<int64_t>(1, static_cast<int64_t>(extent[i] * scale));
  }
  // Something very thin was made a pixel wide: that pixel is taken from the other.
  for (const size_t i : {0, 1}) pixels[i] = std::min(pixels[i], most - pixels[2]);
  pixels[2] = std::min(pixels[2], most - 1);
  for (const size_t i : {0, 1}) pixels[i] = std::max<int64_t>(pixels[i], 1);
  return pixels;
}

}  // namespace

Result<ByteVector> RenderPreview(const PreviewRequest& request) {
  DOLIUM_TRY_VOID(CheckRequest(request));
  // With z from left to right, to be beside xy.
  const size_t number_size = SizeOf(request.type);
  const PreviewSlice& yz = request.yz;
  Buffer turned(yz.voxels.size());
  const auto from = DenseBoxStrides(number_size, {yz.width, yz.height, 1});
  const auto to = DenseBoxStrides(number_size, {yz.height, yz.width, 1});
  CopyStrided({number_size, false}, yz.voxels.data(), turned.view().data(),
              {{{yz.width, from[0], to[1]},
                {yz.height, from[1], to[0]},
                {1, 0, 0},
                {request.channels, from[3], to[3]}}});
  const PreviewSlice zy = {yz.height, yz.width, turned.view()};

  const auto [x, y, z] = ChoosePixels(request);
  Canvas canvas(x + kSeparator + z, y + kSeparator + z, kCornerGrey);
  for (int64_t i = 0; i < kSeparator; ++i) {
    for (int64_t at = 0; at < x + kSeparator + z; ++at) {
      for (size_t plane = 0; plane < 3; ++plane) {
        canvas.Set(at, y + i, plane, kSeparatorGrey);
      }
    }
    for (int64_t at = 0; at < y + kSeparator + z; ++at) {
      for (size_t plane = 0; plane < 3; ++plane) {
        canvas.Set(x + i, at, plane, kSeparatorGrey);
      }
    }
  }

  const bool colours = request.type == DataType::kUint8 && request.channels == 3;
  const Contrast contrast = request.type == DataType::kUint8 || request.labels
                                ? Contrast{}
                                : MeasureContrast(request);
  const std::pair<const PreviewSlice*, Panel> panels[] = {
      {&request.xy, {0, 0, x, y}},
      {&zy, {x + kSeparator, 0, z, y}},
      {&request.xz, {0, y + kSeparator, x, z}},
  };
  for (const auto& [slice, panel] : panels) {
    if (request.labels) {
      DrawLabels(*slice, request.type, panel, canvas);
    } else if (colours) {
      for (size_t plane = 0; plane < 3; ++plane) {
        DrawChannel(*slice, request.type, static_cast<int64_t>(plane), contrast, panel,
                    {&plane, 1}, canvas);
      }
    } else {
      constexpr size_t kAll[] = {0, 1, 2};
      DrawChannel(*slice, request.type, 0, contrast, panel, kAll, canvas);
    }
  }
  return canvas.ToPng();
}

}  // namespace dolium::volume
