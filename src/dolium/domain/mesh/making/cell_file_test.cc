#include "dolium/domain/mesh/making/cell_file.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/domain/mesh/testing/labels.h"

namespace dolium::mesh {
namespace {

using ::testing::HasSubstr;

class CellFileTest : public ::testing::Test {
 protected:
  // Odd labels are of group 1.
  void Write(const FoundBlock& block) {
    const ByteVector bytes = WriteCellFile(block.found, block.cells, 2,
                                           [](uint64_t label) { return label % 2; });
    ASSERT_TRUE(object_.store->Put(object_.path, bytes, Precondition::None()));
  }

  static FoundBlock Labels() {
    const LabelAt labels = [](double x, double y, double) -> uint32_t {
      return static_cast<uint32_t>(x / 3) + 10 * static_cast<uint32_t>(y / 4);
    };
    return FindInBlocks(labels, {{0, 0, 0}, {20, 20, 5}}, 40).front();
  }

  const Location object_ = {std::make_shared<MemoryStore>(), "cells"};
};

TEST_F(CellFileTest, GivesBackTheRunsOfAGroup) {
  const FoundBlock block = Labels();
  ASSERT_GT(block.found.runs.size(), 20U);
  Write(block);
  const auto file = CellFile::Open(object_, 2);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->block(), block.cells);
  size_t found = 0;
  for (uint64_t group = 0; group < 2; ++group) {
    const auto runs = file->ReadRuns(group);
    ASSERT_TRUE(runs) << runs.error().message;
    const auto all = file->ReadCells(runs->front(), runs->back());
    ASSERT_TRUE(all);
    for (const CellRun& run : *runs) {
      EXPECT_EQ(run.label % 2, group);
      const auto original =
          std::ranges::find(block.found.runs, run.label, &CellRun::label);
      ASSERT_NE(original, block.found.runs.end());
      EXPECT_EQ(run.cells, original->cells);
      EXPECT_EQ(run.voxels, original->voxels);
      const BytesView expected =
          BytesView(block.found.bytes).subspan(original->offset, original->size);
      EXPECT_TRUE(Equal(all->view().subspan(run.offset - runs->front().offset, run.size),
                        expected));
      ++found;
    }
  }
  EXPECT_EQ(found, block.found.runs.size());
}

TEST_F(CellFileTest, RefusesWhatIsNoneOfTheJob) {
  EXPECT_EQ(CellFile::Open(object_, 2).error().code, ErrorCode::kNotFound);
  Write(Labels());
  const auto other = CellFile::Open(object_, 3);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is no file of cells of this job"));
  const ByteVector nothing(10);
  ASSERT_TRUE(object_.store->Put(object_.path, nothing, Precondition::None()));
  EXPECT_EQ(CellFile::Open(object_, 2).error().code, ErrorCode::kCorrupt);
}

TEST_F(CellFileTest, RefusesRunsThatAreCutShort) {
  Write(Labels());
  auto whole = object_.store->ReadWhole(object_.path, 1 << 20);
  ASSERT_TRUE(whole);
  const BytesView cut = whole->bytes.view().subspan(0, whole->bytes.size() - 4);
  ASSERT_TRUE(object_.store->Put(object_.path, cut, Precondition::None()));
  const auto file = CellFile::Open(object_, 2);
  ASSERT_TRUE(file);
  const auto runs = file->ReadRuns(1);
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(runs.error().message, HasSubstr("of group 1 is not as it should be"));
}

}  // namespace
}  // namespace dolium::mesh
