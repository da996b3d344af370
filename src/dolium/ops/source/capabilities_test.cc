#include "dolium/ops/source/capabilities.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/testing/blocks.h"

namespace dolium {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kInfo = R"({
  "@type": "neuroglancer_multiscale_volume", "type": "image", "data_type": "uint8",
  "num_channels": 1, "scales": [{"key": "1_1_1", "size": [8, 8, 8],
    "resolution": [1, 1, 1], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"}]})";

class OpenVolumeTest : public ::testing::Test {
 protected:
  void PutInfo(std::string_view text) const {
    const Location info = folder_.Child(volume::kInfoName);
    Must(info.store->Put(info.path, AsBytes(text), Precondition::None()));
  }
  void PutShard() const {
    dvid::WriteTestShard(
        folder_.Child("0_0_0.arrow"),
        {{{0, 0, 0}, std::vector<uint64_t>(dvid::kTestVoxels, uint64_t{7})}});
  }

  const Location folder_{std::make_shared<MemoryStore>("test"), "vol"};
};

TEST_F(OpenVolumeTest, TakesTheInfoOfAVolume) {
  PutInfo(kInfo);
  const auto opened = Must(OpenVolume(folder_));
  EXPECT_EQ(opened.dvid_export(), nullptr);
  EXPECT_EQ(opened.info().data_type, volume::DataType::kUint8);
}

TEST_F(OpenVolumeTest, TakesTheInfoOfAVolumeBeforeShardsBesideIt) {
  PutInfo(kInfo);
  PutShard();
  EXPECT_EQ(Must(OpenVolume(folder_)).dvid_export(), nullptr);
}

TEST_F(OpenVolumeTest, TakesAnExportAlsoBesideTheInfoOfSomethingElse) {
  PutShard();
  EXPECT_NE(Must(OpenVolume(folder_)).dvid_export(), nullptr);
  PutInfo(R"({"@type": "neuroglancer_legacy_mesh"})");
  EXPECT_NE(Must(OpenVolume(folder_)).dvid_export(), nullptr);
}

TEST_F(OpenVolumeTest, SaysWhatIsWrongWithAnInfo) {
  PutInfo("{");
  const Error error = OpenVolume(folder_).error();
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("memory://test/vol/info"));
}

TEST_F(OpenVolumeTest, IsNotFoundWhereThereIsNothing) {
  const Error error = OpenVolume(folder_).error();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "memory://test/vol: no volume: there is no info");
}

TEST_F(OpenVolumeTest, AClassOfOneKindRecognisesNoOther) {
  PutShard();
  EXPECT_EQ(volume::Volume::Open(folder_).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace dolium
