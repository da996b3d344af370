#include "dolium/domain/skeleton/making/distance.h"

#include <algorithm>
#include <cmath>

#include "dolium/base/parallel.h"

namespace dolium::skeleton {
namespace {

// Squares of distances that no boundary limits.
constexpr float kUnlimited = kNoBoundary * kNoBoundary;

// Columns that are worked on together, so that whole cache lines are read.
constexpr int64_t kTile = 16;

// Distances along x, squared.
void MeasureRow(const uint32_t* labels, float* squares, int64_t size, float step) {
  for (int64_t x = 0; x < size;) {
    const uint32_t label = labels[x];
    const int64_t begin = x;
    while (x < size && labels[x] == label) ++x;
    if (label == 0) {
      std::fill(squares + begin, squares + x, 0.0F);
      continue;
    }
    for (int64_t i = begin; i < x; ++i) {
      const int64_t before = begin == 0 ? size * 2 : i - begin + 1;
      const int64_t after = x == size ? size * 2 : x - i;
      const int64_t nearest = std::min(before, after);
      const float distance = step * static_cast<float>(nearest);
      squares[i] = nearest >= size * 2 ? kUnlimited : distance * distance;
    }
  }
}

// The lower envelope of parabolas over a line of voxels.
class Envelope {
 public:
  explicit Envelope(size_t most) : at_(most + 2), height_(most + 2), from_(most + 3) {}

  void Clear() { count_ = 0; }

  // One with its lowest point at `at`, after all before it.
  void Add(float at, float height) {
    while (count_ > 0) {
      const float crossing = Crossing(count_ - 1, at, height);
      if (crossing > from_[count_ - 1]) {
        from_[count_] = crossing;
        break;
      }
      --count_;
    }
    if (count_ == 0) from_[0] = -kNoBoundary;
    at_[count_] = at;
    height_[count_] = height;
    ++count_;
  }

  // Its height over each of `count` voxels from `begin` on.
  void Write(float* out, int64_t begin, int64_t count, float step) const {
    size_t nearest = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float here = step * static_cast<float>(begin + i);
      while (nearest + 1 < count_ && from_[nearest + 1] < here) ++nearest;
      const float away = here - at_[nearest];
      out[i] = height_[nearest] + away * away;
    }
  }

  bool empty() const { return count_ == 0; }

 private:
  float Crossing(size_t first, float at, float height) const {
    const double a = at_[first];
    const double b = at;
    return static_cast<float>(
        (static_cast<double>(height) - height_[first] + b * b - a * a) / (2 * (b - a)));
  }

  size_t count_ = 0;
  std::vector<float> at_;
  std::vector<float> height_;
  std::vector<float> from_;  // where each begins to be the lowest
};

// Adds the distance along a line that is not of x.
void MeasureLine(const uint32_t* labels, float* squares, int64_t size, float step,
                 Envelope& envelope) {
  for (int64_t i = 0; i < size;) {
    const uint32_t label = labels[i];
    const int64_t begin = i;
    while (i < size && labels[i] == label) ++i;
    if (label == 0) continue;
    envelope.Clear();
    if (begin > 0) envelope.Add(step * static_cast<float>(begin - 1), 0);
    for (int64_t k = begin; k < i; ++k) {
      if (squares[k] < kUnlimited) envelope.Add(step * static_cast<float>(k), squares[k]);
    }
    if (i < size) envelope.Add(step * static_cast<float>(i), 0);
    if (!envelope.empty()) envelope.Write(squares + begin, begin, i - begin, step);
  }
}

// Lines of `size` voxels `stride` apart, `width` of them side by side.
class LineTile {
 public:
  explicit LineTile(int64_t size)
      : size_(size),
        labels_(static_cast<size_t>(size * kTile)),
        squares_(static_cast<size_t>(size * kTile)),
        envelope_(static_cast<size_t>(size)) {}

  void Measure(const uint32_t* labels, float* squares, int64_t stride, int64_t width,
               float step) {
    for (int64_t i = 0; i < size_; ++i) {
      for (int64_t x = 0; x < width; ++x) {
        labels_[static_cast<size_t>(x * size_ + i)] = labels[i * stride + x];
        squares_[static_cast<size_t>(x * size_ + i)] = squares[i * stride + x];
      }
    }
    for (int64_t x = 0; x < width; ++x) {
      MeasureLine(labels_.data() + x * size_, squares_.data() + x * size_, size_, step,
                  envelope_);
    }
    for (int64_t i = 0; i < size_; ++i) {
      for (int64_t x = 0; x < width; ++x) {
        squares[i * stride + x] = squares_[static_cast<size_t>(x * size_ + i)];
      }
    }
  }

 private:
  const int64_t size_;
  std::vector<uint32_t> labels_;
  std::vector<float> squares_;
  Envelope envelope_;
};

}  // namespace

Result<std::vector<float>> DistanceToBoundary(const LabelBlock& block,
                                              const Resolution& resolution, size_t jobs,
                                              const std::stop_token& stop) {
  const auto [width, height, depth] = block.size;
  std::vector<float> squares(block.labels.size());
  const uint32_t* const labels = block.labels.data();
  // x and y, plane by plane.
  DOLIUM_TRY_VOID(ParallelFor(
      static_cast<size_t>(depth), jobs,
      [&](size_t z) -> Result<void> {
        const size_t plane = block.IndexOf(0, 0, static_cast<int64_t>(z));
        for (int64_t y = 0; y < height; ++y) {
          const size_t row = plane + static_cast<size_t>(y * width);
          MeasureRow(labels + row, squares.data() + row, width,
                     static_cast<float>(resolution[0]));
        }
        LineTile tile(height);
        for (int64_t x = 0; x < width; x += kTile) {
          const size_t at = plane + static_cast<size_t>(x);
          tile.Measure(labels + at, squares.data() + at, width,
                       std::min(kTile, width - x), static_cast<float>(resolution[1]));
        }
        return {};
      },
      stop));
  DOLIUM_TRY_VOID(ParallelFor(
      static_cast<size_t>(height), jobs,
      [&](size_t y) -> Result<void> {
        LineTile tile(depth);
        for (int64_t x = 0; x < width; x += kTile) {
          const size_t at = block.IndexOf(x, static_cast<int64_t>(y), 0);
          tile.Measure(labels + at, squares.data() + at, width * height,
                       std::min(kTile, width - x), static_cast<float>(resolution[2]));
        }
        for (int64_t z = 0; z < depth; ++z) {
          const size_t at = block.IndexOf(0, static_cast<int64_t>(y), z);
          for (int64_t x = 0; x < width; ++x) {
            float& value = squares[at + static_cast<size_t>(x)];
            value = std::min(std::sqrt(value), kNoBoundary);
          }
        }
        return {};
      },
      stop));
  return squares;
}

}  // namespace dolium::skeleton
