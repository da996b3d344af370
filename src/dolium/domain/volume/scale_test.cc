#include "dolium/domain/volume/scale.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

using ::testing::HasSubstr;

Location MemoryFolder() { return {std::make_shared<MemoryStore>(), "vol"}; }

struct Kind {
  std::string name;
  DataType type;
  int64_t channels;
  Encoding encoding;
  bool sharded;
  bool gzip_files = false;
};

VolumeInfo InfoOf(const Kind& kind, const Vec3& size, const Vec3& offset,
                  const Vec3& chunk) {
  VolumeInfo info;
  info.type = VolumeType::kSegmentation;
  info.data_type = kind.type;
  info.num_channels = kind.channels;
  ScaleInfo scale;
  scale.key = "1_1_1";
  scale.size = size;
  scale.voxel_offset = offset;
  scale.chunk_sizes = {chunk};
  scale.encoding.encoding = kind.encoding;
  if (kind.sharded) {
    const Grid grid = *Grid::Make(scale.bounds(), chunk);
    scale.sharding = ChooseVolumeSharding(*MortonCode::Make(grid.shape()), 4, 1,
                                          neuroglancer::Encoding::kGzip);
  }
  info.scales = {scale};
  return info;
}

// A volume with a plain array beside it that says what should be there.
class Shadow {
 public:
  Shadow(const Kind& kind, const Vec3& size, const Vec3& offset, const Vec3& chunk,
         Location folder = MemoryFolder())
      : volume_(*Volume::Create(folder, InfoOf(kind, size, offset, chunk))),
        scale_(*volume_.OpenCopy(0, 0, {.gzip_files = kind.gzip_files})),
        voxels_(*scale_->ShapeOf(scale_->bounds()).bytes()) {}

  Scale& scale() { return *scale_; }
  const Volume& volume() const { return volume_; }

  Box RandomBox() {
    Box box;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t first = scale_->bounds().begin[d];
      const int64_t last = scale_->bounds().end[d] - 1;
      box.begin[d] = std::uniform_int_distribution(first, last)(random_);
      box.end[d] = std::uniform_int_distribution(box.begin[d], last)(random_) + 1;
    }
    return box;
  }

  void WriteRandom(const Box& box) {
    const ArrayShape shape = scale_->ShapeOf(box);
    ByteVector values(*shape.bytes());
    const size_t item = SizeOf(shape.type);
    for (size_t i = 0; i < values.size(); i += item) {
      values[i] = static_cast<std::byte>(random_() % 5);
    }
    const auto written =
        scale_->Write(box, VoxelView::Dense(shape, values.data()), {.jobs = 2});
    ASSERT_TRUE(written) << written.error().message;
    CopyVoxels(VoxelView::Dense(shape, values.data()),
               View().Part(scale_->bounds(), box));
  }

  void ExpectEqual(const Box& box) {
    const ArrayShape shape = scale_->ShapeOf(box);
    ByteVector found(*shape.bytes(), std::byte{77});
    const auto read =
        scale_->Read(box, MutableVoxelView::Dense(shape, found.data()), {.jobs = 2});
    ASSERT_TRUE(read) << read.error().message;
    ByteVector expected(found.size());
    const MutableVoxelView all = View();
    CopyVoxels(VoxelView{all.data, all.shape, all.strides}.Part(scale_->bounds(), box),
               MutableVoxelView::Dense(shape, expected.data()));
    EXPECT_TRUE(found == expected) << ToString(box);
  }

 private:
  MutableVoxelView View() {
    return MutableVoxelView::Dense(scale_->ShapeOf(scale_->bounds()), voxels_.data());
  }

  Volume volume_;
  std::shared_ptr<Scale> scale_;
  ByteVector voxels_;
  std::mt19937 random_{7};
};

class ScaleOfEachKind : public ::testing::TestWithParam<Kind> {};

TEST_P(ScaleOfEachKind, ReadsWhatWasWrittenInAnyBoxes) {
  Shadow shadow(GetParam(), {37, 21, 18}, {-7, 3, 100}, {8, 8, 4});
  shadow.ExpectEqual(shadow.scale().bounds());  // Nothing is there yet: zeros.
  for (int i = 0; i < 6; ++i) {
    shadow.WriteRandom(shadow.RandomBox());
    shadow.ExpectEqual(shadow.RandomBox());
  }
  shadow.ExpectEqual(shadow.scale().bounds());
}

INSTANTIATE_TEST_SUITE_P(
    Scale, ScaleOfEachKind,
    ::testing::Values(
        Kind{"RawSharded", DataType::kUint8, 1, Encoding::kRaw, true},
        Kind{"RawFiles", DataType::kFloat32, 2, Encoding::kRaw, false},
        Kind{"RawGzFiles", DataType::kInt16, 3, Encoding::kRaw, false, true},
        Kind{"SegmentationSharded", DataType::kUint64, 1,
             Encoding::kCompressedSegmentation, true},
        Kind{"SegmentationFiles", DataType::kUint32, 2, Encoding::kCompressedSegmentation,
             false},
        Kind{"CompressoSharded", DataType::kUint64, 1, Encoding::kCompresso, true},
        Kind{"PngSharded", DataType::kUint16, 1, Encoding::kPng, true},
        Kind{"PngFiles", DataType::kUint8, 4, Encoding::kPng, false}),
    [](const auto& info) { return info.param.name; });

const Kind kSharded{"", DataType::kUint8, 1, Encoding::kRaw, true};
const Kind kFiles{"", DataType::kUint8, 1, Encoding::kRaw, false};

TEST(Scale, SaysHowManyChunksWereThere) {
  for (const Kind& kind : {kSharded, kFiles}) {
    Shadow shadow(kind, {16, 16, 8}, {0, 0, 0}, {8, 8, 8});
    shadow.WriteRandom({{2, 2, 2}, {3, 3, 3}});
    ByteVector found(16 * 16 * 8);
    const Box all = shadow.scale().bounds();
    const auto view = MutableVoxelView::Dense(shadow.scale().ShapeOf(all), found.data());
    EXPECT_EQ(*shadow.scale().Read(all, view), 1u);
    const auto strict = shadow.scale().Read(all, view, {.missing_is_error = true});
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(strict.error().message, HasSubstr("the chunk is not there"));
  }
}

TEST(Scale, RefusesABoxOutsideItsBounds) {
  Shadow shadow(kSharded, {16, 16, 8}, {10, 0, 0}, {8, 8, 8});
  ByteVector found(10);
  const Box box{{9, 0, 0}, {19, 1, 1}};
  const auto read = shadow.scale().Read(
      box, MutableVoxelView::Dense(shadow.scale().ShapeOf(box), found.data()));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(read.error().message,
              HasSubstr("box 9:19,0:1,0:1 is not within the bounds 10:26,0:16,0:8"));
}

TEST(Scale, LosesNothingWhenManyWriteNeighbours) {
  for (const Kind& kind : {kSharded, kFiles}) {
    const Location folder = MemoryFolder();
    Shadow shadow(kind, {32, 8, 8}, {0, 0, 0}, {16, 8, 8}, folder);
    {
      std::vector<std::jthread> threads;
      for (int64_t t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
          const auto scale = *Scale::Open(folder, shadow.volume().info(), 0);
          const Box box{{4 * t, 0, 0}, {4 * t + 4, 8, 8}};
          const ByteVector values(256, static_cast<std::byte>(t + 1));
          const auto written = scale->Write(
              box, VoxelView::Dense(scale->ShapeOf(box), values.data()), {.jobs = 1});
          EXPECT_TRUE(written) << written.error().message;
        });
      }
    }
    const Box all = shadow.scale().bounds();
    ByteVector found(32 * 64);
    ASSERT_TRUE(shadow.scale().Read(
        all, MutableVoxelView::Dense(shadow.scale().ShapeOf(all), found.data())));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::to_integer<size_t>(found[i]), i % 32 / 4 + 1) << i;
    }
  }
}

TEST(Scale, NamesTheChunkThatIsDamaged) {
  const Location folder = MemoryFolder();
  Shadow shadow(kFiles, {16, 8, 8}, {0, 0, 0}, {8, 8, 8}, folder);
  ASSERT_TRUE(
      folder.store->Put("vol/1_1_1/8-16_0-8_0-8", ByteVector(100), Precondition::None()));
  ByteVector found(1);
  const Box box{{9, 0, 0}, {10, 1, 1}};
  const auto read = shadow.scale().Read(
      box, MutableVoxelView::Dense(shadow.scale().ShapeOf(box), found.data()));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("8-16_0-8_0-8"));
  EXPECT_THAT(read.error().message, HasSubstr("100"));
}

TEST(Scale, ReadsFilesWithGzipAroundThemWhateverTheirName) {
  const ByteVector values(512, std::byte{6});
  for (const std::string name : {"0-8_0-8_0-8", "0-8_0-8_0-8.gz"}) {
    const Location folder = MemoryFolder();
    Shadow shadow(kFiles, {8, 8, 8}, {0, 0, 0}, {8, 8, 8}, folder);
    ASSERT_TRUE(
        folder.store->Put("vol/1_1_1/" + name, GzipEncode(values), Precondition::None()));
    ByteVector found(512);
    const Box all = shadow.scale().bounds();
    const auto read = shadow.scale().Read(
        all, MutableVoxelView::Dense(shadow.scale().ShapeOf(all), found.data()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(found, values);
  }
}

}  // namespace
}  // namespace dolium::volume
