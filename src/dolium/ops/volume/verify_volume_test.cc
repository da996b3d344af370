#include "dolium/ops/volume/verify_volume.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/builtin.h"
#include "dolium/ops/testing/volume_plan_fixture.h"

namespace dolium::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class VolumeVerification : public VolumePlanTest {
 protected:
  struct Outcome {
    VerifyReport report;
    std::vector<std::string> findings;
  };
  Outcome Check(const VerifyOptions& options) const {
    Outcome out;
    const auto report = VerifyVolume(
        BuiltinFormats(), Open(Path("vol")), options, [&](const Finding& finding) {
          out.findings.push_back(finding.kind + " " + finding.key + " " +
                                 finding.message);
        });
    EXPECT_TRUE(report) << report.error().message;
    if (report) out.report = *report;
    return out;
  }

  // One scale of 2 x 1 x 1 chunks.
  void Make(bool sharded) const {
    IngestRequest request = Ingest({20, 16, 8}, "vol");
    request.storage.sharded = sharded;
    request.storage.encoding = EncodingSpec{.encoding = Encoding::kRaw};
    request.pyramid.scales = 0;
    Run(PlanIngest(request));
  }
};

TEST_F(VolumeVerification, FindsAChunkOfTheWrongShape) {
  Make(/*sharded=*/false);
  std::ofstream(Path("vol/4_4_8/5-21_-3-13_0-8"), std::ios::binary) << "short";
  std::ofstream(Path("vol/4_4_8/1-2_3-4_5-6"), std::ios::binary) << "orphan";
  const Outcome all = Check({});
  EXPECT_EQ(all.report.errors, 2u);
  EXPECT_THAT(all.findings, Contains(HasSubstr("voxels 5-21_-3-13_0-8")));
  EXPECT_THAT(all.findings, Contains(HasSubstr("no chunk of the grid")));
}

TEST_F(VolumeVerification, ChecksKeysWithoutReadingChunks) {
  Make(/*sharded=*/false);
  std::ofstream(Path("vol/4_4_8/1-2_3-4_5-6"), std::ios::binary) << "orphan";
  const Outcome quick = Check({.depth = CheckDepth::kQuick});
  EXPECT_EQ(quick.report.entries_read, 0u);
  EXPECT_THAT(quick.findings,
              ElementsAre("key 1-2_3-4_5-6 no chunk of the grid (2,1,1) has this key"));
  const Outcome sample = Check({.sample = 1e-9});
  EXPECT_EQ(sample.report.entries_read, 0u);
  EXPECT_EQ(sample.report.errors, 1u);
}

TEST_F(VolumeVerification, ChecksTheNumbersOfShardedChunks) {
  Make(/*sharded=*/true);
  // A grid that has become smaller: the second chunk is beyond it.
  const Location info = *ParseLocation(Path("vol/info"));
  const auto whole = info.store->ReadWhole(info.path, 1 << 20);
  ASSERT_TRUE(whole);
  std::string text(AsText(whole->bytes));
  const size_t at = text.find("20", text.find("\"size\""));
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 2, "16");
  std::ofstream(Path("vol/info")) << text;
  const Outcome quick = Check({.depth = CheckDepth::kQuick});
  EXPECT_EQ(quick.report.entries, 2u);
  EXPECT_THAT(quick.findings,
              ElementsAre("key 1 no chunk of the grid (1,1,1) has this key"));
}

// TensorStore leaves out the folder of a scale of zeros.
TEST_F(VolumeVerification, TakesAScaleWithoutAFolderForZeros) {
  for (const bool sharded : {true, false}) {
    Make(sharded);
    fs::remove_all(Path("vol/4_4_8"));
    const Outcome outcome = Check({});
    EXPECT_THAT(outcome.findings, IsEmpty());
    EXPECT_EQ(outcome.report.errors, 0u);
    fs::remove_all(Path("vol"));
  }
}

TEST_F(VolumeVerification, NamesChunksInFoldersWithinFolders) {
  Make(/*sharded=*/false);
  fs::create_directories(Path("vol/4_4_8/5-21/-3-13"));
  std::ofstream(Path("vol/4_4_8/5-21/-3-13/0-8.gz"), std::ios::binary) << "chunk";
  const Outcome quick = Check({.depth = CheckDepth::kQuick});
  EXPECT_THAT(quick.findings, ElementsAre(HasSubstr("as neuroglancer-scripts stores")));
}

TEST_F(VolumeVerification, TellsOfMissingChunksOnRequest) {
  Make(/*sharded=*/false);
  fs::remove(Path("vol/4_4_8/21-25_-3-13_0-8"));
  EXPECT_THAT(Check({}).findings, IsEmpty());
  for (const CheckDepth depth : {CheckDepth::kDefault, CheckDepth::kQuick}) {
    const Outcome strict = Check({.depth = depth, .report_missing = true});
    EXPECT_EQ(strict.report.errors, 0u);
    EXPECT_EQ(strict.report.warnings, 1u);
    EXPECT_THAT(strict.findings,
                ElementsAre("missing  voxels 21:25,-3:13,0:8: the chunk is not there"));
  }
  // Under another name, it is there.
  fs::copy_file(Path("vol/4_4_8/5-21_-3-13_0-8"), Path("vol/4_4_8/21-25_-3-13_0-8.gz"));
  EXPECT_THAT(Check({.depth = CheckDepth::kQuick, .report_missing = true}).findings,
              IsEmpty());
  fs::remove_all(Path("vol/4_4_8"));
  EXPECT_THAT(Check({.report_missing = true}).findings,
              ElementsAre("missing  2 of 2 chunks are not there"));
}

TEST_F(VolumeVerification, TellsOfAThousandMissingChunksAndThenTheirNumber) {
  IngestRequest request = Ingest({1100, 4, 1}, "vol");
  request.storage.chunk_size = Vec3{1, 4, 1};
  request.storage.sharded = false;
  request.pyramid.scales = 0;
  Run(PlanIngest(request));
  for (int x = 5; x < 1104; ++x) {
    fs::remove(Path("vol/4_4_8/" + std::to_string(x) + "-" + std::to_string(x + 1) +
                    "_-3-1_0-1"));
  }
  const Outcome strict = Check({.depth = CheckDepth::kQuick, .report_missing = true});
  EXPECT_THAT(strict.findings, SizeIs(1001));
  EXPECT_EQ(strict.findings.back(), "missing  further 99 of 1100 chunks are not there");
}

}  // namespace
}  // namespace dolium::volume
