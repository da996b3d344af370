#include "dolium/domain/volume/dvid/dvid_transcode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/encodings/compressed_segmentation.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

ByteVector Encoded(const std::vector<uint64_t>& voxels) {
  return Must(EncodeCompressedSegmentation({{64, 64, 64}, 1, DataType::kUint64},
                                           {8, 8, 8}, std::as_bytes(std::span(voxels))));
}

TEST(TranscodeDvidBlock, GivesTheBytesOfEncodingTheVoxels) {
  for (const size_t labels : {1, 2, 3, 5, 17, 100, 300, 512, 5000}) {
    const auto voxels = dvid::TestVoxels(labels, labels);
    const ByteVector bytes = dvid::EncodeBlock(dvid::kTestGrid, voxels);
    const auto block = Must(dvid::LabelBlock::Parse(bytes));
    EXPECT_EQ(Must(TranscodeDvidBlock(block, block.labels())), Encoded(voxels)) << labels;
  }
}

TEST(TranscodeDvidBlock, UnitesLabelsThatBecomeTheSame) {
  std::vector<uint64_t> voxels = dvid::TestVoxels(7, 40);
  const ByteVector bytes = dvid::EncodeBlock(dvid::kTestGrid, voxels);
  const auto block = Must(dvid::LabelBlock::Parse(bytes));
  ByteVector list(block.labels().bytes().size());
  for (size_t i = 0; i < block.labels().size(); ++i) {
    StoreLE<uint64_t>(list.data() + 8 * i, block.labels()[i] % 3);
  }
  for (uint64_t& voxel : voxels) voxel %= 3;
  EXPECT_EQ(Must(TranscodeDvidBlock(block, dvid::LabelList(list))), Encoded(voxels));
}

TEST(TranscodeDvidBlock, RejectsBadIndexesAndLists) {
  ByteVector bytes = dvid::EncodeBlock(dvid::kTestGrid, dvid::TestVoxels(1, 5));
  const auto block = Must(dvid::LabelBlock::Parse(bytes));
  EXPECT_EQ(TranscodeDvidBlock(block, dvid::LabelList()).error().message,
            "0 labels for a block with a list of 5");
  bytes.back() = std::byte{0xff};
  EXPECT_THAT(TranscodeDvidBlock(block, block.labels()).error().message,
              HasSubstr("into a palette of 5 entries"));
}

}  // namespace
}  // namespace dolium::volume
