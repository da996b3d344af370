// What writers of one scale do to each other, and to what is stored; steps, channels and
// stop requests.
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/volume_sharding.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

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

VolumeInfo InfoOf(DataType type, int64_t channels, const Vec3& size, const Vec3& chunk,
                  bool sharded) {
  VolumeInfo info;
  info.data_type = type;
  info.num_channels = channels;
  ScaleInfo scale;
  scale.key = "1_1_1";
  scale.size = size;
  scale.voxel_offset = {-3, 0, 10};
  scale.chunk_sizes = {chunk};
  if (sharded) {
    const Grid grid = *Grid::Make(scale.bounds(), chunk);
    scale.sharding = ChooseVolumeSharding(*MortonCode::Make(grid.shape()), 2, 1,
                                          neuroglancer::Encoding::kGzip);
  }
  info.scales = {scale};
  return info;
}

std::shared_ptr<Scale> MakeScale(const Location& folder, const VolumeInfo& info,
                                 bool gzip_files = false) {
  auto scale = Scale::Open(folder, info, 0, 0, {.gzip_files = gzip_files});
  EXPECT_TRUE(scale) << scale.error().message;
  return *std::move(scale);
}

ByteVector RandomVoxels(const ArrayShape& shape, uint32_t seed = 1) {
  ByteVector voxels(*shape.bytes());
  std::mt19937 random(seed);
  for (std::byte& byte : voxels) byte = static_cast<std::byte>(random() % 200);
  return voxels;
}

void WriteAll(Scale& scale, const ByteVector& voxels) {
  const auto written = scale.Write(
      scale.bounds(), VoxelView::Dense(scale.ShapeOf(scale.bounds()), voxels.data()));
  ASSERT_TRUE(written) << written.error().message;
}

ByteVector ReadBox(const Scale& scale, const Box& box, const BoxOptions& options = {}) {
  const ArrayShape shape = scale.ShapeOf(box, options);
  ByteVector voxels(*shape.bytes(), std::byte{77});
  const auto read =
      scale.Read(box, MutableVoxelView::Dense(shape, voxels.data()), options);
  EXPECT_TRUE(read) << read.error().message;
  return voxels;
}

Location InMemory() { return {std::make_shared<MemoryStore>(), "vol"}; }

// --- steps
// ------------------------------------------------------------------------------

TEST(ScaleSteps, ReadWhatABoxWouldHaveInTheirPlaces) {
  for (const bool sharded : {true, false}) {
    const VolumeInfo info =
        InfoOf(DataType::kUint16, 2, {37, 21, 18}, {8, 6, 4}, sharded);
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
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {64, 8, 8}, {8, 8, 8}, false);
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
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
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
    const VolumeInfo info = InfoOf(DataType::kUint16, 4, {20, 10, 6}, {8, 8, 4}, sharded);
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
    const VolumeInfo info = InfoOf(DataType::kUint8, 8, {8, 8, 4}, {8, 8, 4}, sharded);
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
  const VolumeInfo info = InfoOf(DataType::kUint8, 2, {8, 8, 8}, {8, 8, 8}, false);
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
    const VolumeInfo info = InfoOf(DataType::kUint8, 1, {512, 8, 8}, {8, 8, 8}, sharded);
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
    const VolumeInfo info = InfoOf(DataType::kUint8, 1, {512, 8, 8}, {8, 8, 8}, sharded);
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
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {16, 8, 8}, {8, 8, 8}, true);
  const auto scale = MakeScale({store, "vol"}, info);
  const ByteVector voxels = RandomVoxels(scale->ShapeOf(scale->bounds()));
  EXPECT_EQ(store->tidied, 0);
  for (int i = 0; i < 3; ++i) WriteAll(*scale, voxels);
  EXPECT_EQ(store->tidied, 1);
}

class ScaleFiles : public ::testing::Test {
 protected:
  ScaleFiles() : location_(*ParseLocation(folder_.path())) {}

  const Location& location() const { return location_; }

  void Put(const std::string& name, BytesView bytes) const {
    const Location object = location_.Child("1_1_1/" + name);
    ASSERT_TRUE(object.store->Put(object.path, bytes, Precondition::None()));
  }
  Bytes Get(const std::string& name) const {
    const Location object = location_.Child("1_1_1/" + name);
    const auto whole = object.store->ReadWhole(object.path, 1 << 20);
    EXPECT_TRUE(whole) << whole.error().message;
    return whole ? whole->bytes : Bytes();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const Location folder = location_.Child("1_1_1");
    EXPECT_TRUE(folder.store->List(folder.path, [&](std::string_view name, bool) {
      names.emplace_back(name);
      return true;
    }));
    return names;
  }

 private:
  TemporaryFolder folder_;
  Location location_;
};

const Box kCorner = {{-3, 0, 10}, {0, 2, 11}};

void WriteCorner(Scale& scale, std::byte value) {
  const ArrayShape shape = scale.ShapeOf(kCorner);
  const ByteVector voxels(*shape.bytes(), value);
  const auto written = scale.Write(kCorner, VoxelView::Dense(shape, voxels.data()));
  ASSERT_TRUE(written) << written.error().message;
}

TEST_F(ScaleFiles, KeepTheFormThatAChunkHas) {
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const ByteVector sixes(512, std::byte{6});
  const std::string name = "-3-5_0-8_10-18";
  Put(name, GzipEncode(sixes));
  for (const bool wish : {false, true}) {
    const auto scale = MakeScale(location(), info, wish);
    WriteCorner(*scale, std::byte{7});  // A part of the chunk.
    EXPECT_THAT(Names(), ElementsAre(name));
    EXPECT_LT(Get(name).size(), 100u);
    EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{7}), 6);
    EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{6}), 506);
    WriteAll(*scale, sixes);  // All of it.
    EXPECT_THAT(Names(), ElementsAre(name));
    EXPECT_LT(Get(name).size(), 100u);
    EXPECT_EQ(ReadBox(*scale, scale->bounds()), sixes);
  }
}

TEST_F(ScaleFiles, LoseTheDuplicateOfAChunkThatIsChanged) {
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const std::string name = "-3-5_0-8_10-18";
  for (const bool part : {true, false}) {
    Put(name, ByteVector(512, std::byte{5}));
    Put(name + ".gz", GzipEncode(ByteVector(512, std::byte{6})));
    const auto scale = MakeScale(location(), info);
    if (part) {
      WriteCorner(*scale, std::byte{7});
      EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{6}), 506);
    } else {
      WriteAll(*scale, ByteVector(512, std::byte{8}));
    }
    EXPECT_THAT(Names(), ElementsAre(name + ".gz"));
  }
}

TEST_F(ScaleFiles, AreMadeOnceByWritersThatWantOtherNames) {
  const VolumeInfo info = InfoOf(DataType::kUint8, 1, {64, 8, 8}, {16, 8, 8}, false);
  {
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        // A store of its own, as another process would have.
        const auto scale =
            MakeScale(*ParseLocation(location().Describe()), info, t % 2 == 0);
        // A bit of each chunk.
        for (int64_t x = 2 * t; x < 64; x += 16) {
          const Box box{{x - 3, 0, 10}, {x - 1, 8, 18}};
          const ByteVector values(128, static_cast<std::byte>(t + 1));
          const auto written = scale->Write(
              box, VoxelView::Dense(scale->ShapeOf(box), values.data()), {.jobs = 1});
          EXPECT_TRUE(written) << written.error().message;
        }
      });
    }
  }
  EXPECT_EQ(Names().size(), 4u) << ::testing::PrintToString(Names());
  const auto scale = MakeScale(location(), info);
  const ByteVector found = ReadBox(*scale, scale->bounds());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::to_integer<size_t>(found[i]), i % 16 / 2 + 1) << i;
  }
}

}  // namespace
}  // namespace dolium::volume
