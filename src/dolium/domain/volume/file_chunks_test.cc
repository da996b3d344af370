// Chunks in files of their own: under which names they are found, and what a write makes
// of them.
#include "dolium/domain/volume/file_chunks.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/volume/testing/scale_makers.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  void Remove(const std::string& name) const {
    const Location object = location_.Child("1_1_1/" + name);
    ASSERT_TRUE(object.store->Remove(object.path, Precondition::None()));
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
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
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
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
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

TEST_F(ScaleFiles, KeepEveryEndingThatIsKnown) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const ByteVector sixes(512, std::byte{6});
  const std::string chunk = "-3-5_0-8_10-18";
  for (const ChunkForm& form : kChunkForms) {
    const std::string name = chunk + std::string(form.suffix);
    for (const bool wish : {false, true}) {
      Put(name, Wrap(form.wrapper, sixes));
      const auto scale = MakeScale(location(), info, wish);
      EXPECT_EQ(ReadBox(*scale, scale->bounds()), sixes) << name;
      WriteCorner(*scale, std::byte{7});  // A part of the chunk.
      EXPECT_THAT(Names(), ElementsAre(name));
      EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{7}), 6);
      EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{6}), 506);
      WriteAll(*scale, ByteVector(512, std::byte{8}));  // All of it.
      EXPECT_THAT(Names(), ElementsAre(name));
      EXPECT_EQ(ReadBox(*scale, scale->bounds()), ByteVector(512, std::byte{8}));
      EXPECT_TRUE(Equal(Get(name), Wrap(form.wrapper, ByteVector(512, std::byte{8}))));
    }
    Remove(name);
  }
}

TEST_F(ScaleFiles, LetTheFirstOfSeveralNamesCountAndLoseTheRest) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const std::string chunk = "-3-5_0-8_10-18";
  for (size_t first = 0; first < kChunkForms.size(); ++first) {
    for (const bool part : {true, false}) {
      for (size_t i = first; i < kChunkForms.size(); ++i) {
        Put(chunk + std::string(kChunkForms[i].suffix),
            Wrap(kChunkForms[i].wrapper, ByteVector(512, static_cast<std::byte>(i + 1))));
      }
      const auto scale = MakeScale(location(), info);
      EXPECT_EQ(ReadBox(*scale, scale->bounds()),
                ByteVector(512, static_cast<std::byte>(first + 1)));
      if (part) {
        WriteCorner(*scale, std::byte{77});
      } else {
        WriteAll(*scale, ByteVector(512, std::byte{77}));
      }
      const std::string kept = chunk + std::string(kChunkForms[first].suffix);
      EXPECT_THAT(Names(), ElementsAre(kept));
      EXPECT_EQ(std::ranges::count(ReadBox(*scale, scale->bounds()), std::byte{77}),
                part ? 6 : 512);
      Remove(kept);
    }
  }
}

TEST_F(ScaleFiles, KeepZstdUnderAPlainName) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  const std::string name = "-3-5_0-8_10-18";
  Put(name, Wrap(Wrapper::kZstd, ByteVector(512, std::byte{6})));
  const auto scale = MakeScale(location(), info);
  EXPECT_EQ(ReadBox(*scale, scale->bounds()), ByteVector(512, std::byte{6}));
  WriteCorner(*scale, std::byte{7});
  EXPECT_THAT(Names(), ElementsAre(name));
  EXPECT_EQ(WrapperOf(Get(name)), Wrapper::kZstd);
}

TEST_F(ScaleFiles, AreNotReplacedWhereTheirEndingIsNotKnown) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {16, 8, 8}, {8, 8, 8}, false);
  const std::string first = "-3-5_0-8_10-18";
  const std::string second = "5-13_0-8_10-18";
  for (const std::string ending : {".xz", ".bz2", ".lzma", ".strange.7"}) {
    Put(second + ending, ByteVector(10, std::byte{1}));
    const auto scale = MakeScale(location(), info);
    const Box box = scale->bounds();
    ByteVector voxels(1024, std::byte{9});
    const auto written =
        scale->Write(box, VoxelView::Dense(scale->ShapeOf(box), voxels.data()));
    ASSERT_FALSE(written) << ending;
    EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(written.error().message, HasSubstr(second + ending));
    EXPECT_THAT(Names(), ElementsAre(second + ending));  // Not the first chunk either.
    if (ending == ".xz" || ending == ".bz2") {
      const auto read =
          scale->Read(box, MutableVoxelView::Dense(scale->ShapeOf(box), voxels.data()));
      ASSERT_FALSE(read);
      EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
    }
    // Beside a name that is known, it does not matter.
    Put(second, ByteVector(512, std::byte{2}));
    WriteAll(*scale, ByteVector(1024, std::byte{9}));
    EXPECT_EQ(ReadBox(*scale, box), ByteVector(1024, std::byte{9}));
    for (const std::string& name : {first, second, second + ending}) Remove(name);
  }
}

TEST_F(ScaleFiles, AreNotTakenForZerosInFoldersWithinFolders) {
  const VolumeInfo info = OneScaleInfo(DataType::kUint8, 1, {8, 8, 8}, {8, 8, 8}, false);
  for (const std::string name : {"-3-5/0-8/10-18", "-3-5/0-8/10-18.gz"}) {
    Put(name, ByteVector(512, std::byte{1}));
    const auto scale = MakeScale(location(), info);
    ByteVector voxels(512);
    const ArrayShape shape = scale->ShapeOf(scale->bounds());
    const auto read =
        scale->Read(scale->bounds(), MutableVoxelView::Dense(shape, voxels.data()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(read.error().message, HasSubstr("as neuroglancer-scripts stores it"));
    EXPECT_FALSE(scale->Write(scale->bounds(), VoxelView::Dense(shape, voxels.data())));
    EXPECT_THAT(Names(), ElementsAre("-3-5"));
    Remove(name);
  }
}

TEST_F(ScaleFiles, AreMadeOnceByWritersThatWantOtherNames) {
  const VolumeInfo info =
      OneScaleInfo(DataType::kUint8, 1, {64, 8, 8}, {16, 8, 8}, false);
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
