// What writers of one scale do to each other, and to what is stored; steps, channels and
// stop requests.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/testing/scale_makers.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::volume {
namespace {

using ::testing::HasSubstr;

// A memory store that reports what is asked of it.
class WatchedStore final : public Store {
 public:
  std::function<void()> on_read = [] {};
  std::function<void()> on_begin = [] {};
  std::atomic<int> tidied = 0;

  std::string Describe(std::string_view object) const override {
    return store_.Describe(object);
  }
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override {
    return store_.Stat(object);
  }
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override {
    return store_.List(folder, visit);
  }
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override {
    on_read();
    return store_.ReadInto(object, slices, options);
  }
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override {
    on_read();
    return store_.ReadWhole(object, limit);
  }
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override {
    on_begin();
    return store_.Begin(object);
  }
  Result<void> Remove(std::string_view object,
                      const Precondition& precondition) override {
    return store_.Remove(object, precondition);
  }
  Result<size_t> RemoveStaleTemporaries(std::string_view) override {
    ++tidied;
    return size_t{0};
  }

 private:
  MemoryStore store_;
};

Location InMemory() { return {std::make_shared<MemoryStore>(), "vol"}; }

// --- steps
// ------------------------------------------------------------------------------

TEST(ScaleSteps, ReadWhatABoxWouldHaveInTheirPlaces) {
  for (const bool sharded : {true, false}) {
    const VolumeInfo info =
        OneScaleInfo(DataType::kUint16, 2, {37, 21, 18}, {8, 6, 4}, sharded);
    const auto scale = MakeScale(InMemory(), info);
    const ArrayShape whole = scale->ShapeOf(scale->bounds());
    const ByteVector voxels = RandomVoxels(whole);
    WriteAll(*scale, voxels);
    const VoxelView all = VoxelView::Dense(whole, voxels.data());
    for (const Vec3& step : {Vec3{1, 2, 3}, Vec3{8, 1, 4}, Vec3{11, 7, 5},
                             Vec3{100, 6, 1}, Vec3{int64_t{1} << 62, INT64_MAX, 1}}) {
      for (const Box& box : {scale->bounds(), Box{{1, 3, 12}, {29, 20, 25}},
                             Box{{33, 20, 27}, {34, 21, 28}}}) {
        const BoxOptions options{.jobs = 2, .step = step};
        const ArrayShape shape = scale->ShapeOf(box, options);
        ByteVector expected(*shape.bytes());
        CopyVoxels(all.Part(scale->bounds(), box).Every(step, shape.size),
                   MutableVoxelView::Dense(shape, expected.data()));
        EXPECT_EQ(ReadBox(*scale, box, options), expected)
            << ToString(box) << " by " << ToString(step);
      }
    }
  }
}

TEST(ScaleSteps, PassOverChunksThatHaveNoVoxelOfTheirs) {
  const auto store = std::make_shared<MemoryStore>();
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {64, 8, 8}, {8, 8, 8}, false);
  const auto scale = MakeScale({store, "vol"}, info);
  WriteAll(*scale, RandomVoxels(scale->ShapeOf(scale->bounds())));
  const BoxOptions options{.jobs = 1, .step = {32, 1, 1}};
  const ArrayShape shape = scale->ShapeOf(scale->bounds(), options);
  EXPECT_EQ(shape.size, (Vec3{2, 8, 8}));
  ByteVector voxels(*shape.bytes());
  const uint64_t before = store->reads();
  EXPECT_EQ(*scale->Read(scale->bounds(), MutableVoxelView::Dense(shape, voxels.data()),
                         options),
            2u);
  EXPECT_EQ(store->reads() - before, 2u);
}

TEST(ScaleSteps, AreNotForWritesAndNotBelowOne) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const auto scale = MakeScale(InMemory(), info);
  ByteVector voxels(512);
  const BoxOptions two{.step = {2, 1, 1}};
  const auto written = scale->Write(
      scale->bounds(),
      VoxelView::Dense(scale->ShapeOf(scale->bounds(), two), voxels.data()), two);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("without steps, not by 2,1,1"));
  const auto read =
      scale->Read(scale->bounds(),
                  MutableVoxelView::Dense(scale->ShapeOf(scale->bounds()), voxels.data()),
                  {.step = {1, 0, 1}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
}

// --- channels
// ---------------------------------------------------------------------------

TEST(ScaleChannels, AreReadAndWrittenAlone) {
  for (const bool sharded : {true, false}) {
    const VolumeInfo info =
        OneScaleInfo(DataType::kUint16, 4, {20, 10, 6}, {8, 8, 4}, sharded);
    const auto scale = MakeScale(InMemory(), info);
    const ArrayShape whole = scale->ShapeOf(scale->bounds());
    ByteVector voxels = RandomVoxels(whole);
    WriteAll(*scale, voxels);
    const MutableVoxelView all = MutableVoxelView::Dense(whole, voxels.data());
    uint32_t seed = 10;
    for (const ChannelRange& channels :
         {ChannelRange{1, 2}, ChannelRange{0, 2}, ChannelRange{3, 4}, ChannelRange{0, 4},
          ChannelRange{2, 2}}) {
      for (const Box& box : {scale->bounds(), Box{{0, 1, 11}, {15, 9, 16}}}) {
        const BoxOptions options{.jobs = 2, .channels = channels};
        const ArrayShape shape = scale->ShapeOf(box, options);
        const ByteVector part = RandomVoxels(shape, ++seed);
        const auto written =
            scale->Write(box, VoxelView::Dense(shape, part.data()), options);
        ASSERT_TRUE(written) << written.error().message;
        CopyVoxels(VoxelView::Dense(shape, part.data()),
                   all.Part(scale->bounds(), box).Channels(channels));
        EXPECT_EQ(ReadBox(*scale, box, options), part);
        EXPECT_EQ(ReadBox(*scale, scale->bounds()), voxels);
      }
    }
  }
}

TEST(ScaleChannels, OfOneChunkMayBeWrittenByManyAtOnce) {
  for (const bool sharded : {true, false}) {
    const VolumeInfo info =
        OneScaleInfo(DataType::kUint8, 8, {8, 8, 4}, {8, 8, 4}, sharded);
    const Location folder = InMemory();
    {
      std::vector<std::jthread> threads;
      for (int64_t c = 0; c < 8; ++c) {
        threads.emplace_back([&, c] {
          const auto scale = MakeScale(folder, info);
          const BoxOptions options{.jobs = 1, .channels = ChannelRange{c, c + 1}};
          const ByteVector values(256, static_cast<std::byte>(c + 1));
          const auto written = scale->Write(
              scale->bounds(),
              VoxelView::Dense(scale->ShapeOf(scale->bounds(), options), values.data()),
              options);
          EXPECT_TRUE(written) << written.error().message;
        });
      }
    }
    const auto scale = MakeScale(folder, info);
    const ByteVector found = ReadBox(*scale, scale->bounds());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::to_integer<size_t>(found[i]), i / 256 + 1) << i;
    }
  }
}

TEST(ScaleChannels, MustBeThoseOfTheScale) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 2, {8, 8, 8}, {8, 8, 8}, false);
  const auto scale = MakeScale(InMemory(), info);
  ByteVector voxels(1024);
  const BoxOptions options{.channels = ChannelRange{1, 3}};
  const auto read = scale->Read(
      scale->bounds(),
      MutableVoxelView::Dense(scale->ShapeOf(scale->bounds(), options), voxels.data()),
      options);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(read.error().message, HasSubstr("channels 1:3 are not within 0:2"));
}

// --- stop requests
// ----------------------------------------------------------------------

TEST(ScaleStop, EndsAReadWithinABox) {
  for (const bool sharded : {true, false}) {
    const auto store = std::make_shared<WatchedStore>();
    const VolumeInfo info =
        OneScaleInfo(DataType::kUint8, 1, {512, 8, 8}, {8, 8, 8}, sharded);
    const auto scale = MakeScale({store, "vol"}, info);
    const ArrayShape shape = scale->ShapeOf(scale->bounds());
    WriteAll(*scale, RandomVoxels(shape));
    std::stop_source stop;
    std::atomic<int> reads = 0;
    store->on_read = [&] {
      if (++reads == 10) stop.request_stop();
    };
    ByteVector voxels(*shape.bytes());
    const auto read =
        scale->Read(scale->bounds(), MutableVoxelView::Dense(shape, voxels.data()),
                    {.jobs = 2, .stop = stop.get_token()});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCancelled);
    EXPECT_LT(reads, 64);
  }
}

TEST(ScaleStop, EndsAWriteWithinABoxAndLeavesWhatIsWritten) {
  for (const bool sharded : {true, false}) {
    const auto store = std::make_shared<WatchedStore>();
    const VolumeInfo info =
        OneScaleInfo(DataType::kUint8, 1, {512, 8, 8}, {8, 8, 8}, sharded);
    const auto scale = MakeScale({store, "vol"}, info);
    const ArrayShape shape = scale->ShapeOf(scale->bounds());
    std::stop_source stop;
    std::atomic<int> begun = 0;
    store->on_begin = [&] {
      if (++begun == 5) stop.request_stop();
    };
    const ByteVector ones(*shape.bytes(), std::byte{1});
    const auto written =
        scale->Write(scale->bounds(), VoxelView::Dense(shape, ones.data()),
                     {.jobs = 1, .stop = stop.get_token()});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kCancelled);
    EXPECT_LE(begun, 6);
    ByteVector found(*shape.bytes());
    const auto chunks =
        scale->Read(scale->bounds(), MutableVoxelView::Dense(shape, found.data()));
    ASSERT_TRUE(chunks) << chunks.error().message;
    EXPECT_GT(*chunks, 0u);
    EXPECT_LT(*chunks, 16u);
    EXPECT_EQ(std::ranges::count(found, std::byte{1}),
              static_cast<int64_t>(*chunks) * 512);
  }
}

// --- what lies in folders
// ---------------------------------------------------------------

TEST(ScaleFolder, IsTidiedByTheFirstWriteOnly) {
  const auto store = std::make_shared<WatchedStore>();
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {16, 8, 8}, {8, 8, 8}, true);
  const auto scale = MakeScale({store, "vol"}, info);
  const ByteVector voxels = RandomVoxels(scale->ShapeOf(scale->bounds()));
  EXPECT_EQ(store->tidied, 0);
  for (int i = 0; i < 3; ++i) WriteAll(*scale, voxels);
  EXPECT_EQ(store->tidied, 1);
}

}  // namespace
}  // namespace dolium::volume
