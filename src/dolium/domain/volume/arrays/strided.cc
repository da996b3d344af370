#include "dolium/domain/volume/arrays/strided.h"

#include <algorithm>
#include <cstring>

#include "dolium/base/endian.h"

namespace dolium::volume {
namespace {

// What one step of a read from a file holds in memory.
constexpr int64_t kBufferBytes = int64_t{4} << 20;
// Bytes between wanted ones that are read along: cheaper than another system call.
constexpr int64_t kGapBytes = int64_t{8} << 10;
// Runs of this length are read straight to their place.
constexpr int64_t kDirectBytes = int64_t{64} << 10;
// Length of the sides of the squares in which two dimensions change places.
constexpr size_t kSquareBytes = 128;
// As many numbers next to each other on the target's side are gathered before writing.
constexpr int64_t kGather = 128;

// Orders the dimensions by one side's distances, those of one number last, and joins
// neighbours that lie behind each other on both sides.
StridedBox Simplify(StridedBox box, int64_t StridedDimension::* side) {
  std::sort(box.begin(), box.end(), [side](const auto& a, const auto& b) {
    if ((a.count == 1) != (b.count == 1)) return b.count == 1;
    return a.*side < b.*side;
  });
  StridedBox out;
  size_t used = 0;
  for (const StridedDimension& next : box) {
    if (next.count == 1) break;
    if (used > 0) {
      StridedDimension& last = out[used - 1];
      if (last.from * last.count == next.from && last.to * last.count == next.to) {
        last.count *= next.count;
        continue;
      }
    }
    out[used++] = next;
  }
  return out;
}

template <typename T, bool kSwap>
void CopyRow(const std::byte* from, std::byte* to, const StridedDimension& row) {
  if constexpr (!kSwap) {
    if (row.from == sizeof(T) && row.to == sizeof(T)) {
      std::memcpy(to, from, static_cast<size_t>(row.count) * sizeof(T));
      return;
    }
  }
  for (int64_t i = 0; i < row.count; ++i) {
    T value;
    std::memcpy(&value, from + i * row.from, sizeof value);
    if constexpr (kSwap) value = SwapBytes(value);
    std::memcpy(to + i * row.to, &value, sizeof value);
  }
}

// Two dimensions, of which one is the denser on either side. Goes through a small square,
// so that whole cache lines are read and written.
template <typename T, bool kSwap>
void Transpose(const std::byte* from, std::byte* to, const StridedDimension& dense_from,
               const StridedDimension& dense_to) {
  constexpr int64_t kSide = std::max<int64_t>(16, kSquareBytes / sizeof(T));
  T square[kSide][kSide];
  for (int64_t a = 0; a < dense_from.count; a += kSide) {
    const int64_t a_count = std::min(kSide, dense_from.count - a);
    for (int64_t b = 0; b < dense_to.count; b += kSide) {
      const int64_t b_count = std::min(kSide, dense_to.count - b);
      for (int64_t j = 0; j < b_count; ++j) {
        const std::byte* source = from + a * dense_from.from + (b + j) * dense_to.from;
        for (int64_t i = 0; i < a_count; ++i, source += dense_from.from) {
          std::memcpy(&square[i][j], source, sizeof(T));
        }
      }
      for (int64_t i = 0; i < a_count; ++i) {
        CopyRow<T, kSwap>(reinterpret_cast<const std::byte*>(square[i]),
                          to + (a + i) * dense_from.to + b * dense_to.to,
                          {b_count, sizeof(T), dense_to.to});
      }
    }
  }
}

template <typename T, bool kSwap>
void Copy(const std::byte* from, std::byte* to, const StridedBox& box) {
  const auto denser = [](const StridedDimension& a, const StridedDimension& b) {
    return (a.count > 1 ? a.from : INT64_MAX) < (b.count > 1 ? b.from : INT64_MAX);
  };
  // The dimension that is densest in the source comes second, unless it is the first,
  // which is densest in the target.
  StridedBox order = box;
  const auto dense_from = std::min_element(order.begin(), order.end(), denser);
  const bool same = dense_from == order.begin();
  if (!same) std::swap(order[1], *dense_from);
  for (int64_t l = 0; l < order[3].count; ++l) {
    for (int64_t k = 0; k < order[2].count; ++k) {
      const std::byte* const source = from + l * order[3].from + k * order[2].from;
      std::byte* const target = to + l * order[3].to + k * order[2].to;
      if (!same) {
        Transpose<T, kSwap>(source, target, order[1], order[0]);
        continue;
      }
      for (int64_t j = 0; j < order[1].count; ++j) {
        CopyRow<T, kSwap>(source + j * order[1].from, target + j * order[1].to, order[0]);
      }
    }
  }
}

template <typename T>
void CopyNumbers(bool swap, const std::byte* from, std::byte* to, const StridedBox& box) {
  if (swap) {
    Copy<T, true>(from, to, box);
  } else {
    Copy<T, false>(from, to, box);
  }
}

// How a part of a box, simplified by its distances in the file, lies in memory once read:
// a run for the inner dimensions, gaps included, and the runs behind each other.
struct BufferLayout {
  size_t joined = 0;  // dimensions within a run
  int64_t run = 0;    // bytes
  std::array<int64_t, 4> strides = {0, 0, 0, 0};
  int64_t total = 0;
};

BufferLayout LayOut(const StridedBox& box, size_t number_size,
                    const std::array<int64_t, 4>& counts) {
  BufferLayout layout;
  layout.run = static_cast<int64_t>(number_size);
  while (layout.joined < box.size()) {
    const size_t i = layout.joined;
    if (counts[i] > 1 && box[i].from - layout.run > kGapBytes) break;
    layout.strides[i] = box[i].from;
    layout.run += (counts[i] - 1) * box[i].from;
    ++layout.joined;
  }
  layout.total = layout.run;
  for (size_t i = layout.joined; i < box.size(); ++i) {
    layout.strides[i] = layout.total;
    layout.total *= counts[i];
  }
  return layout;
}

// Raises counts[i] to at most `most`, as far as the buffer allows.
void Grow(const StridedBox& box, size_t number_size, size_t i, int64_t most,
          std::array<int64_t, 4>& counts) {
  int64_t beyond = std::min(most, kBufferBytes) + 1;
  while (beyond - counts[i] > 1) {
    std::array<int64_t, 4> tried = counts;
    tried[i] = counts[i] + (beyond - counts[i]) / 2;
    if (LayOut(box, number_size, tried).total <= kBufferBytes) {
      counts = tried;
    } else {
      beyond = tried[i];
    }
  }
}

// The counts of the part that is read at a time.
std::array<int64_t, 4> ChooseStep(const StridedBox& box, size_t number_size) {
  std::array<int64_t, 4> counts = {1, 1, 1, 1};
  Grow(box, number_size, 0, box[0].count, counts);
  size_t dense_to = 0;
  for (size_t i = 1; i < box.size(); ++i) {
    if (box[i].count > 1 && box[i].to < box[dense_to].to) dense_to = i;
  }
  if (dense_to != 0) {
    // A long first dimension must leave room for the one that the target wants.
    const int64_t gathered = std::min(kGather, box[dense_to].count);
    counts[0] =
        std::min(counts[0], std::max<int64_t>(1, kBufferBytes / gathered /
                                                     std::max(box[0].from, int64_t{1})));
    Grow(box, number_size, dense_to, gathered, counts);
  }
  for (size_t i = 1; i < box.size(); ++i) {
    Grow(box, number_size, i, box[i].count, counts);
  }
  return counts;
}

// Calls visit(position, counts) for the parts of `box` of up to `step`, in the order of
// the file.
template <typename Visit>
Result<void> ForEachPart(const StridedBox& box, const std::array<int64_t, 4>& step,
                         Visit&& visit) {
  std::array<int64_t, 4> at = {0, 0, 0, 0};
  while (true) {
    std::array<int64_t, 4> counts;
    for (size_t i = 0; i < at.size(); ++i) {
      counts[i] = std::min(step[i], box[i].count - at[i]);
    }
    DOLIUM_TRY_VOID(visit(at, counts));
    size_t i = 0;
    for (; i < at.size(); ++i) {
      at[i] += step[i];
      if (at[i] < box[i].count) break;
      at[i] = 0;
    }
    if (i == at.size()) return {};
  }
}

struct Displacement {
  int64_t from = 0;
  int64_t to = 0;
};

Displacement At(const StridedBox& box, const std::array<int64_t, 4>& position) {
  Displacement out;
  for (size_t i = 0; i < box.size(); ++i) {
    out.from += position[i] * box[i].from;
    out.to += position[i] * box[i].to;
  }
  return out;
}

}  // namespace

std::array<int64_t, 4> DenseBoxStrides(size_t number_size,
                                       const std::array<int64_t, 3>& size) {
  const int64_t x = static_cast<int64_t>(number_size);
  return {x, x * size[0], x * size[0] * size[1], x * size[0] * size[1] * size[2]};
}

void CopyStrided(StridedNumbers numbers, const std::byte* from, std::byte* to,
                 const StridedBox& box) {
  const StridedBox simple = Simplify(box, &StridedDimension::to);
  switch (numbers.size) {
    case 1:
      return CopyNumbers<uint8_t>(false, from, to, simple);
    case 2:
      return CopyNumbers<uint16_t>(numbers.swap, from, to, simple);
    case 4:
      return CopyNumbers<uint32_t>(numbers.swap, from, to, simple);
    default:
      return CopyNumbers<uint64_t>(numbers.swap, from, to, simple);
  }
}

Result<void> ReadStrided(const InputFile& file, uint64_t offset, StridedNumbers numbers,
                         std::byte* to, const StridedBox& wanted) {
  const StridedBox box = Simplify(wanted, &StridedDimension::from);
  const int64_t size = static_cast<int64_t>(numbers.size);
  const bool swap = numbers.swap && numbers.size > 1;
  if (!swap && box[0].from == size && box[0].to == size &&
      box[0].count * size >= kDirectBytes) {
    const size_t bytes = static_cast<size_t>(box[0].count * size);
    return ForEachPart(box, {box[0].count, 1, 1, 1},
                       [&](const auto& at, const auto&) -> Result<void> {
                         const Displacement shift = At(box, at);
                         return file.ReadAt(offset + static_cast<uint64_t>(shift.from),
                                            {to + shift.to, bytes});
                       });
  }

  const auto step = ChooseStep(box, numbers.size);
  Buffer buffer(static_cast<size_t>(LayOut(box, numbers.size, step).total));
  return ForEachPart(box, step, [&](const auto& at, const auto& counts) -> Result<void> {
    const BufferLayout layout = LayOut(box, numbers.size, counts);
    StridedBox runs;  // distances in the file and in the buffer
    StridedBox part;  // distances in the buffer and in the target
    for (size_t i = 0; i < box.size(); ++i) {
      if (i >= layout.joined) runs[i] = {counts[i], box[i].from, layout.strides[i]};
      part[i] = {counts[i], layout.strides[i], box[i].to};
    }
    const Displacement shift = At(box, at);
    DOLIUM_TRY_VOID(ForEachPart(
        runs, {1, 1, 1, 1}, [&](const auto& run, const auto&) -> Result<void> {
          const Displacement inner = At(runs, run);
          return file.ReadAt(offset + static_cast<uint64_t>(shift.from + inner.from),
                             buffer.view().subspan(static_cast<size_t>(inner.to),
                                                   static_cast<size_t>(layout.run)));
        }));
    CopyStrided({numbers.size, swap}, buffer.view().data(), to + shift.to, part);
    return {};
  });
}

}  // namespace dolium::volume
