#include "dolium/domain/volume/arrays/strided.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using Counts = std::array<int64_t, 4>;

// A box of `counts` numbers out of an array of `sizes`, whose dimensions are stored in
// the order of `fastest_first`, to a dense array.
template <typename T>
StridedBox BoxOf(const Counts& sizes, const Counts& counts,
                 const std::array<size_t, 4>& fastest_first) {
  StridedBox box;
  int64_t from = sizeof(T);
  for (const size_t axis : fastest_first) {
    box[axis].from = from;
    from *= sizes[axis];
  }
  int64_t to = sizeof(T);
  for (size_t axis = 0; axis < 4; ++axis) {
    box[axis].count = counts[axis];
    box[axis].to = to;
    to *= counts[axis];
  }
  return box;
}

template <typename T>
std::vector<T> CopyOneByOne(const std::vector<T>& from, const StridedBox& box,
                            bool swap) {
  std::vector<T> out;
  for (int64_t l = 0; l < box[3].count; ++l) {
    for (int64_t k = 0; k < box[2].count; ++k) {
      for (int64_t j = 0; j < box[1].count; ++j) {
        for (int64_t i = 0; i < box[0].count; ++i) {
          const int64_t at =
              i * box[0].from + j * box[1].from + k * box[2].from + l * box[3].from;
          const T value = from[static_cast<size_t>(at) / sizeof(T)];
          out.push_back(swap ? SwapBytes(value) : value);
        }
      }
    }
  }
  return out;
}

// Copies and reads boxes of an array in all orders of its dimensions.
template <typename T>
void TryAllOrders(const Counts& sizes, const Counts& counts) {
  const size_t total = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  std::vector<T> values(total);
  std::mt19937_64 random(total);
  for (T& value : values) value = static_cast<T>(random());
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/array";
  WriteFile(path, "head" + BytesOf(values));
  const InputFile file = Must(InputFile::Open(path));

  std::array<size_t, 4> order = {0, 1, 2, 3};
  do {
    const StridedBox box = BoxOf<T>(sizes, counts, order);
    for (const bool swap : {false, true}) {
      const auto expected = CopyOneByOne(values, box, swap);
      std::vector<T> copied(expected.size());
      CopyStrided({sizeof(T), swap}, reinterpret_cast<const std::byte*>(values.data()),
                  reinterpret_cast<std::byte*>(copied.data()), box);
      ASSERT_EQ(copied, expected);
      std::vector<T> read(expected.size());
      Must(ReadStrided(file, 4, {sizeof(T), swap},
                       reinterpret_cast<std::byte*>(read.data()), box));
      ASSERT_EQ(read, expected);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Strided, CopiesWholeArraysInAnyOrder) {
  TryAllOrders<uint8_t>({7, 5, 3, 2}, {7, 5, 3, 2});
  TryAllOrders<uint16_t>({40, 35, 33, 1}, {40, 35, 33, 1});
}

TEST(Strided, CopiesPartsInAnyOrder) {
  TryAllOrders<uint8_t>({150, 140, 9, 2}, {131, 139, 1, 2});
  TryAllOrders<uint32_t>({30, 20, 10, 3}, {1, 17, 9, 3});
  TryAllOrders<uint64_t>({20, 20, 20, 2}, {19, 1, 20, 1});
}

TEST(Strided, ReadsArraysLargerThanItsBuffer) {
  TryAllOrders<uint64_t>({74, 75, 110, 1}, {73, 75, 109, 1});
  TryAllOrders<uint16_t>({70'000, 3, 5, 1}, {69'999, 3, 2, 1});
}

TEST(Strided, CopiesASingleNumber) { TryAllOrders<uint32_t>({3, 3, 3, 1}, {1, 1, 1, 1}); }

TEST(Strided, ReportsAFileThatEnds) {
  const TemporaryFolder folder;
  WriteFile(folder.path() + "/short", std::string(100, 'x'));
  const InputFile file = Must(InputFile::Open(folder.path() + "/short"));
  std::array<std::byte, 20> into;
  const auto read = ReadStrided(file, 90, {1, false}, into.data(), {{{20, 1, 1}}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read.error().message, "20 bytes at 90 end past the file (100 bytes)");
}

}  // namespace
}  // namespace dolium::volume
