// Exports of DVID, checked to all depths.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/testing/blocks.h"
#include "dolium/ops/source/source.h"

namespace dolium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> FindingsAt(const Location& location, CheckDepth depth) {
  const auto source = Must(OpenSource(BuiltinFormats(), location, {}));
  std::vector<std::string> findings;
  VerifyOptions options;
  options.depth = depth;
  const auto report = Must(source->Check(options, [&](const Finding& finding) {
    findings.push_back(finding.kind + " " + finding.key + ": " + finding.message);
  }));
  EXPECT_EQ(report.errors, 0U);
  EXPECT_EQ(report.warnings, findings.size());
  return findings;
}

// A block that has two labels, of which one has become the other: it is listed twice.
TEST(VerifyExport, ComparesListsOfLabelsWithVoxelsIfItIsToGoDeep) {
  const TemporaryFolder folder;
  const Location shard = Must(ParseLocation(folder.path() + "/0_0_0.arrow"));
  std::vector<uint64_t> voxels(dvid::kTestVoxels, 7);
  voxels[100] = 9;
  ByteVector block = dvid::EncodeBlock(dvid::kTestGrid, voxels);
  const auto good = Must(dvid::LabelBlock::Parse(block));
  ASSERT_EQ(good.labels().size(), 2U);
  const auto at = static_cast<size_t>(good.labels().bytes().data() - block.data());
  const auto write = [&] {
    const auto writer = Must(dvid::DvidShardWriter::Begin(shard, {}));
    const dvid::LabelList labels(BytesView(block).subspan(at, 16));
    const ByteVector stored = ZstdEncodeChecked(block);
    Must(writer->Add({.block = {0, 0, 0},
                      .labels = labels,
                      .supervoxels = labels,
                      .stored = stored,
                      .uncompressed_size = static_cast<uint32_t>(block.size())}));
    Must(writer->Finish());
  };
  write();
  EXPECT_THAT(FindingsAt(shard, CheckDepth::kDeep), IsEmpty());
  StoreLE<uint64_t>(block.data() + at + 8, 7);
  write();
  EXPECT_THAT(FindingsAt(shard, CheckDepth::kQuick), IsEmpty());
  EXPECT_THAT(FindingsAt(shard, CheckDepth::kDefault), IsEmpty());
  EXPECT_THAT(
      FindingsAt(shard, CheckDepth::kDeep),
      ElementsAre("labels 0_0_0: lists 2 labels, its voxels have 1 different ones"));
}

}  // namespace
}  // namespace dolium
