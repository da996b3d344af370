// Modes, portable. In volumes of labels most blocks are uniform, and that is found out
// for whole rows at a time. The others mostly have few labels, which are counted in a
// small table; a block with more of them is sorted.

#include <algorithm>
#include <cstdint>

#include "dolium/domain/volume/downsample/downsample_internal.h"

namespace dolium::volume {
namespace {

constexpr size_t kStrip = 1024;  // columns compared before their blocks are looked at
constexpr size_t kTable = 16;    // labels that are counted without sorting
constexpr size_t kMaxBlock = kMaxDownsampleRows * kMaxDownsampleFactor;

// Bit patterns to unsigned numbers in the order of the type, and back.
template <std::unsigned_integral T>
class Order {
 public:
  explicit Order(DataType type)
      : flip_(SignFlip<T>(type)), is_float_(type == DataType::kFloat32) {}

  T Key(T value) const {
    if (!is_float_) return static_cast<T>(value ^ flip_);
    return static_cast<T>((value & kSign) != 0 ? ~value : value ^ kSign);
  }
  T Value(T key) const {
    if (!is_float_) return static_cast<T>(key ^ flip_);
    return static_cast<T>((key & kSign) != 0 ? key ^ kSign : ~key);
  }

 private:
  static constexpr T kSign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  T flip_;
  bool is_float_;
};

template <std::unsigned_integral T>
T ModeBySorting(const RowsTask& task, size_t begin, size_t end) {
  const Order<T> order(task.type);
  T keys[kMaxBlock];
  size_t size = 0;
  for (size_t i = 0; i < task.row_count; ++i) {
    for (size_t x = begin; x < end; ++x) {
      const T value = LoadVoxel<T>(task.rows[i], x);
      if (task.ignore_zero && value == 0) continue;
      keys[size++] = order.Key(value);
    }
  }
  std::sort(keys, keys + size);
  T best = keys[0];
  size_t best_count = 0;
  for (size_t i = 0; i < size;) {
    const size_t run = i;
    while (i < size && keys[i] == keys[run]) ++i;
    if (i - run > best_count) {
      best = keys[run];
      best_count = i - run;
    }
  }
  return order.Value(best);
}

// Precondition: the block has at least two different values.
template <std::unsigned_integral T>
T ModeByCounting(const RowsTask& task, size_t begin, size_t end) {
  T values[kTable];
  uint32_t counts[kTable];
  size_t size = 0;
  size_t at = 0;
  for (size_t i = 0; i < task.row_count; ++i) {
    for (size_t x = begin; x < end; ++x) {
      const T value = LoadVoxel<T>(task.rows[i], x);
      if (task.ignore_zero && value == 0) continue;
      if (size == 0 || values[at] != value) {
        at = 0;
        while (at < size && values[at] != value) ++at;
        if (at == size) {
          if (size == kTable) return ModeBySorting<T>(task, begin, end);
          values[size] = value;
          counts[size++] = 0;
        }
      }
      ++counts[at];
    }
  }
  const Order<T> order(task.type);
  size_t best = 0;
  for (size_t i = 1; i < size; ++i) {
    if (counts[i] > counts[best] ||
        (counts[i] == counts[best] && order.Key(values[i]) < order.Key(values[best]))) {
      best = i;
    }
  }
  return values[best];
}

template <std::unsigned_integral T>
void ModeColumns(const RowsTask& task) {
  const size_t strip = kStrip / task.factor * task.factor;
  T differs[kStrip];  // from the first row
  for (size_t begin = 0; begin < task.width; begin += strip) {
    const size_t columns = std::min(strip, task.width - begin);
    const std::byte* const first = task.rows[0] + begin * sizeof(T);
    std::fill_n(differs, columns, T{0});
    for (size_t i = 1; i < task.row_count; ++i) {
      const std::byte* const row = task.rows[i] + begin * sizeof(T);
      for (size_t x = 0; x < columns; ++x) {
        differs[x] =
            static_cast<T>(differs[x] | (LoadVoxel<T>(row, x) ^ LoadVoxel<T>(first, x)));
      }
    }
    for (size_t x = 0; x < columns; x += task.factor) {
      const size_t end = std::min(x + task.factor, columns);
      const T value = LoadVoxel<T>(first, x);
      T difference = 0;
      for (size_t i = x; i < end; ++i) {
        difference =
            static_cast<T>(difference | differs[i] | (LoadVoxel<T>(first, i) ^ value));
      }
      StoreVoxel<T>(
          task.out, (begin + x) / task.factor,
          difference == 0 ? value : ModeByCounting<T>(task, begin + x, begin + end));
    }
  }
}

}  // namespace

void ModeRow(const RowsTask& task) {
  switch (SizeOf(task.type)) {
    case 1:
      return ModeColumns<uint8_t>(task);
    case 2:
      return ModeColumns<uint16_t>(task);
    case 4:
      return ModeColumns<uint32_t>(task);
    default:
      return ModeColumns<uint64_t>(task);
  }
}

}  // namespace dolium::volume
