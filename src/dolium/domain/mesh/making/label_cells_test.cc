#include "dolium/domain/mesh/making/label_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/mesh/testing/labels.h"

namespace dolium::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using volume::Box;
using volume::DataType;

template <typename T>
volume::VoxelView ViewOf(const std::vector<T>& voxels, const volume::Vec3& size,
                         DataType type) {
  return volume::VoxelView::Dense({size, 1, type},
                                  reinterpret_cast<const std::byte*>(voxels.data()));
}

// 3 x 3 x 3 voxels with one in the middle.
template <typename T>
void ExpectOneVoxel(DataType type, T label) {
  std::vector<T> voxels(27);
  voxels[13] = label;
  const auto found = FindLabelCells(ViewOf(voxels, {3, 3, 3}, type), {10, 20, 30});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->runs.size(), 1U);
  EXPECT_EQ(found->runs[0].label, label);
  EXPECT_EQ(found->runs[0].cells, 8U);
  EXPECT_EQ(found->runs[0].voxels, 1U);
  CellList cells({10, 20, 30});
  const Box block = {{10, 20, 30}, {12, 22, 32}};
  ASSERT_TRUE(cells.Add(found->bytes, block, block));
  cells.Sort();
  ASSERT_EQ(cells.packed().size(), 8U);
  // The first cell has it in its last corner.
  EXPECT_EQ(cells.packed()[0], uint64_t{1} << CellList::kXShift |
                                   uint64_t{1} << CellList::kYShift |
                                   uint64_t{1} << CellList::kZShift | 0x80);
}

TEST(FindLabelCells, FindsThoseAroundAVoxelOfEachType) {
  ExpectOneVoxel<uint8_t>(DataType::kUint8, 200);
  ExpectOneVoxel<uint16_t>(DataType::kUint16, 60000);
  ExpectOneVoxel<uint32_t>(DataType::kUint32, 4000000000);
  ExpectOneVoxel<uint64_t>(DataType::kUint64, 0xFFFFFFFFFFFFFFFF);
}

TEST(FindLabelCells, FindsAllLabelsOfACell) {
  const std::vector<uint32_t> voxels = {5, 3, 0, 3, 9, 3, 7, 5};
  const auto found = FindLabelCells(ViewOf(voxels, {2, 2, 2}, DataType::kUint32), {});
  ASSERT_TRUE(found);
  std::vector<uint64_t> labels;
  std::vector<std::byte> corners;
  for (const CellRun& run : found->runs) {
    labels.push_back(run.label);
    EXPECT_EQ(run.cells, 1U);
    ASSERT_EQ(run.size, 2U);
    corners.push_back(found->bytes[run.offset + 1]);
  }
  EXPECT_THAT(labels, ElementsAre(3, 5, 7, 9));
  EXPECT_THAT(corners, ElementsAre(std::byte{0b00101010}, std::byte{0b10000001},
                                   std::byte{0b01000000}, std::byte{0b00010000}));
}

TEST(FindLabelCells, SaysNothingOfWhatIsTheSameEverywhere) {
  const std::vector<uint64_t> voxels(100 * 3 * 3, 7);
  const auto found = FindLabelCells(ViewOf(voxels, {100, 3, 3}, DataType::kUint64), {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->runs.empty());
}

TEST(FindLabelCells, CountsVoxelsWhateverTheBlocks) {
  const Box data = {{-20, 3, 5}, {21, 44, 46}};
  const LabelAt ball = Ball({0, 23, 25}, 17);
  uint64_t expected = 0;
  for (int64_t z = 5; z < 46; ++z) {
    for (int64_t y = 3; y < 44; ++y) {
      for (int64_t x = -20; x < 21; ++x) {
        expected += ball(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5,
                         static_cast<double>(z) + 0.5);
      }
    }
  }
  for (const int64_t side : {50, 16, 7}) {
    uint64_t voxels = 0;
    for (const FoundBlock& block : FindInBlocks(ball, data, side)) {
      for (const CellRun& run : block.found.runs) voxels += run.voxels;
    }
    EXPECT_EQ(voxels, expected) << "blocks of " << side;
  }
}

TEST(FindLabelCells, RefusesWhatIsNoBlockOfLabels) {
  const std::vector<uint32_t> voxels(8);
  const auto of_floats =
      FindLabelCells(ViewOf(voxels, {2, 2, 2}, DataType::kFloat32), {});
  ASSERT_FALSE(of_floats);
  EXPECT_THAT(of_floats.error().message, HasSubstr("expected an unsigned type"));
  const auto flat = FindLabelCells(ViewOf(voxels, {8, 1, 1}, DataType::kUint32), {});
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code, ErrorCode::kInvalidArgument);
}

TEST(CellList, TakesThoseOfAPart) {
  const Box data = {{0, 0, 0}, {30, 30, 30}};
  const auto blocks = FindInBlocks(Ball({15, 15, 15}, 12), data, 8);
  CellList all({-1, -1, -1});
  CellList low({-1, -1, -1});
  CellList high({-1, -1, -1});
  for (const LabelRun& run : RunsOf(blocks, 1)) {
    ASSERT_TRUE(all.Add(run.bytes, run.block, {{-1, -1, -1}, {30, 30, 30}}));
    ASSERT_TRUE(low.Add(run.bytes, run.block, {{-1, -1, -1}, {30, 30, 13}}));
    ASSERT_TRUE(high.Add(run.bytes, run.block, {{-1, -1, 13}, {30, 30, 30}}));
  }
  for (CellList* const list : {&all, &low, &high}) list->Sort();
  EXPECT_GT(low.packed().size(), 0U);
  EXPECT_GT(high.packed().size(), 0U);
  auto joined = low.packed();
  joined.insert(joined.end(), high.packed().begin(), high.packed().end());
  EXPECT_EQ(joined, all.packed());
  EXPECT_TRUE(std::ranges::is_sorted(all.packed()));
}

TEST(CellList, RefusesARunThatIsNone) {
  const Box block = {{0, 0, 0}, {4, 4, 4}};
  CellList cells({0, 0, 0});
  const ByteVector cut_short = {std::byte{3}};
  const ByteVector outside = {std::byte{0xC0}, std::byte{0}, std::byte{1}};
  const ByteVector endless(20, std::byte{0xFF});
  for (const ByteVector& bytes : {cut_short, outside, endless}) {
    const auto added = cells.Add(bytes, block, block);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(BoundsOfRun(bytes, block));
  }
}

}  // namespace
}  // namespace dolium::mesh
