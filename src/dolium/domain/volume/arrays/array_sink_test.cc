#include "dolium/domain/volume/arrays/array_sink.h"

#include <tiffio.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ArraySinkTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  size_t Files() const {
    const std::filesystem::directory_iterator files(folder_.path());
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  // Writes consecutive numbers in slabs of two pages.
  template <typename T>
  void WriteSlabs(const std::string& path, const ArrayShape& shape,
                  const ArraySinkOptions& options = {}) const {
    const auto sink = Must(ArraySink::Begin(path, shape, options));
    const auto [x, y, z] = shape.size;
    for (int64_t first = 0; first < z; first += 2) {
      const int64_t depth = std::min<int64_t>(2, z - first);
      std::vector<T> slab;
      for (int64_t c = 0; c < shape.channels; ++c) {
        for (int64_t i = 0; i < x * y * depth; ++i) {
          slab.push_back(static_cast<T>((c * z + first) * x * y + i));
        }
      }
      Must(sink->Append(depth, std::as_bytes(std::span(slab))));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    Must(sink->Finish());
  }

  const TemporaryFolder folder_;
};

TEST_F(ArraySinkTest, WritesNumPyFiles) {
  for (const int64_t channels : {1, 3}) {
    const ArrayShape shape = {{3, 4, 5}, channels, DataType::kUint16};
    const std::string path = Path(std::to_string(channels) + ".npy");
    WriteSlabs<uint16_t>(path, shape);
    const auto source = Must(OpenArraySource({.path = path}));
    EXPECT_EQ(source->shape(), shape);
    const auto numbers = Count<uint16_t>(static_cast<size_t>(60 * channels));
    EXPECT_EQ(ReadAll<uint16_t>(*source), numbers);
    EXPECT_THAT(ReadFile(path), EndsWith(BytesOf(numbers)));
  }
}

TEST_F(ArraySinkTest, WritesRawFiles) {
  WriteSlabs<int8_t>(Path("new/folder/a.raw"), {{3, 4, 3}, 2, DataType::kInt8});
  EXPECT_EQ(ReadFile(Path("new/folder/a.raw")), BytesOf(Count<int8_t>(72)));
}

TEST_F(ArraySinkTest, ListsAxesAsTold) {
  const ArrayShape shape = {{3, 4, 5}, 2, DataType::kUint16};
  const auto numbers = Count<uint16_t>(120);
  for (const std::string axes :
       {"xyzc", "czyx", "zyxc", "cxyz", "yxcz", "zcxy", "xzyc", "ycxz"}) {
    for (const bool c_order : {false, true}) {
      const std::string path = Path(axes + (c_order ? "-c.raw" : ".raw"));
      WriteSlabs<uint16_t>(path, shape, {.axes = axes, .c_order = c_order});
      RawLayout raw{.type = NumberType::kUint16, .c_order = c_order};
      for (const char axis : axes) {
        raw.shape.push_back(axis == 'c' ? 2
                                        : shape.size[static_cast<size_t>(axis - 'x')]);
      }
      const auto source = Must(OpenArraySource({.path = path, .raw = raw, .axes = axes}));
      EXPECT_EQ(source->shape(), shape);
      EXPECT_EQ(ReadAll<uint16_t>(*source), numbers) << path;
    }
    const std::string path = Path(axes + ".npy");
    WriteSlabs<uint16_t>(path, shape, {.axes = axes});
    const auto source = Must(OpenArraySource({.path = path, .axes = axes}));
    EXPECT_EQ(ReadAll<uint16_t>(*source), numbers) << path;
  }
  // NumPy's own order, where that has x fastest: nothing is turned.
  EXPECT_THAT(ReadFile(Path("czyx.npy")), HasSubstr("'fortran_order': False"));
  EXPECT_THAT(ReadFile(Path("czyx.npy")), HasSubstr("'shape': (2, 5, 4, 3)"));
  EXPECT_THAT(ReadFile(Path("czyx.npy")), EndsWith(BytesOf(numbers)));
}

TEST_F(ArraySinkTest, LeavesAxesOfOneOut) {
  WriteSlabs<uint8_t>(Path("a.npy"), {{3, 4, 1}, 1, DataType::kUint8}, {.axes = "yx"});
  EXPECT_THAT(ReadFile(Path("a.npy")), HasSubstr("'shape': (4, 3)"));
  EXPECT_THAT(ReadFile(Path("a.npy")), EndsWith(BytesOf(Count<uint8_t>(12))));
  WriteSlabs<uint8_t>(Path("a.raw"), {{3, 2, 1}, 1, DataType::kUint8}, {.axes = "yx"});
  EXPECT_EQ(ReadFile(Path("a.raw")), BytesOf<uint8_t>({0, 3, 1, 4, 2, 5}));
}

TEST_F(ArraySinkTest, RefusesAxesThatAreNotTheArrays) {
  const ArrayShape shape = {{3, 4, 5}, 2, DataType::kUint8};
  const auto message = [&](const std::string& name, const ArraySinkOptions& options) {
    const auto sink = ArraySink::Begin(Path(name), shape, options);
    EXPECT_FALSE(sink);
    return sink ? "" : sink.error().message;
  };
  EXPECT_THAT(message("a.npy", {.axes = "zyx"}),
              EndsWith("lack c, of which there are 2"));
  EXPECT_THAT(message("a.npy", {.axes = "cyx"}),
              EndsWith("lack z, of which there are 5"));
  EXPECT_THAT(message("a.npy", {.axes = "xyzt"}), HasSubstr("not distinct letters"));
  EXPECT_THAT(message("a.tif", {.axes = "zyxc"}), HasSubstr("of no use for TIFF"));
  EXPECT_THAT(message("a.npy", {.c_order = true}),
              EndsWith("an order of numbers is of use for .raw"));
  EXPECT_EQ(Files(), 0u);
}

template <typename T>
void WritesTiff(const std::string& path, DataType type, int64_t channels, bool deflate) {
  const ArrayShape shape = {{7, 3, 5}, channels, type};
  const auto sink =
      Must(ArraySink::Begin(path, shape, {.force = true, .deflate = deflate}));
  const auto numbers = Count<T>(static_cast<size_t>(105 * channels));
  Must(sink->Append(5, std::as_bytes(std::span(numbers))));
  Must(sink->Finish());
  const auto source = Must(OpenArraySource({.path = path}));
  EXPECT_EQ(source->shape(), shape);
  EXPECT_EQ(source->reads_whole_pages(), deflate);
  EXPECT_EQ(ReadAll<T>(*source), numbers);
}

TEST_F(ArraySinkTest, WritesTiffOfEveryType) {
  for (const bool deflate : {false, true}) {
    for (const int64_t channels : {1, 2, 3, 4}) {
      WritesTiff<uint8_t>(Path("a.tif"), DataType::kUint8, channels, deflate);
      WritesTiff<int8_t>(Path("a.tif"), DataType::kInt8, channels, deflate);
      WritesTiff<uint16_t>(Path("a.tif"), DataType::kUint16, channels, deflate);
      WritesTiff<int16_t>(Path("a.tif"), DataType::kInt16, channels, deflate);
      WritesTiff<uint32_t>(Path("a.tiff"), DataType::kUint32, channels, deflate);
      WritesTiff<int32_t>(Path("a.tiff"), DataType::kInt32, channels, deflate);
      WritesTiff<uint64_t>(Path("a.tiff"), DataType::kUint64, channels, deflate);
      WritesTiff<float>(Path("a.tiff"), DataType::kFloat32, channels, deflate);
    }
  }
}

TEST_F(ArraySinkTest, WritesTiffPagesOfSeveralStrips) {
  const ArrayShape shape = {{3000, 1000, 2}, 1, DataType::kUint8};
  WriteSlabs<uint8_t>(Path("a.tif"), shape);
  EXPECT_EQ(ReadAll<uint8_t>(*Must(OpenArraySource({.path = Path("a.tif")}))),
            Count<uint8_t>(6'000'000));
}

TEST_F(ArraySinkTest, WritesBigTiffOnlyWhereItMayBeNeeded) {
  WriteSlabs<uint8_t>(Path("a.tif"), {{2, 2, 2}, 1, DataType::kUint8});
  EXPECT_THAT(ReadFile(Path("a.tif")), StartsWith(std::string("II*\0", 4)));
  const auto sink = Must(
      ArraySink::Begin(Path("b.tif"), {{100'000, 100'000, 1}, 1, DataType::kUint8}, {}));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().filename().string().starts_with(".b.tif")) {
      EXPECT_THAT(ReadFile(entry.path()), StartsWith(std::string("II+\0", 4)));
    }
  }
}

TEST_F(ArraySinkTest, KeepsAFileThatIsThere) {
  const ArrayShape shape = {{2, 2, 2}, 1, DataType::kUint8};
  for (const char* name : {"a.npy", "a.tif", "a.raw"}) {
    WriteFile(Path(name), "old");
    const auto refused = ArraySink::Begin(Path(name), shape, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kExists);
    EXPECT_THAT(refused.error().message, EndsWith("is there already"));
    {
      const auto sink = Must(ArraySink::Begin(Path(name), shape, {.force = true}));
      Must(sink->Append(1, AsBytes(BytesOf(Count<uint8_t>(4)))));
      EXPECT_EQ(sink->Finish().error().message, "1 of 2 pages were written");
    }
    EXPECT_EQ(ReadFile(Path(name)), "old");
  }
  EXPECT_EQ(Files(), 3);
  const auto sink = Must(ArraySink::Begin(Path("a.raw"), shape, {.force = true}));
  Must(sink->Append(2, AsBytes(BytesOf(Count<uint8_t>(8)))));
  Must(sink->Finish());
  EXPECT_EQ(ReadFile(Path("a.raw")), BytesOf(Count<uint8_t>(8)));
  EXPECT_EQ(Files(), 3);
}

TEST_F(ArraySinkTest, DoesNotReplaceAFileThatCameMeanwhile) {
  const auto sink =
      Must(ArraySink::Begin(Path("a.raw"), {{1, 1, 1}, 1, DataType::kUint8}, {}));
  Must(sink->Append(1, AsBytes("x")));
  WriteFile(Path("a.raw"), "somebody else's");
  EXPECT_EQ(sink->Finish().error().code, ErrorCode::kExists);
  EXPECT_EQ(ReadFile(Path("a.raw")), "somebody else's");
}

TEST_F(ArraySinkTest, RejectsWhatItCannotWrite) {
  const ArrayShape shape = {{2, 2, 2}, 1, DataType::kUint8};
  EXPECT_THAT(ArraySink::Begin(Path("a.png"), shape, {}).error().message,
              HasSubstr("none of .npy, .tif, .tiff, .raw"));
  EXPECT_EQ(ArraySink::Begin(Path("a.tif"), {{2, 2, 2}, 70'000, DataType::kUint8}, {})
                .error()
                .code,
            ErrorCode::kUnsupported);
  for (const char* name : {"a.npy", "a.tif", "a.raw"}) {
    for (const ArrayShape& none : {ArrayShape{{0, 2, 2}, 1, DataType::kUint8},
                                   ArrayShape{{2, -1, 2}, 1, DataType::kUint8},
                                   ArrayShape{{2, 2, 0}, 1, DataType::kUint8},
                                   ArrayShape{{2, 2, 2}, 0, DataType::kUint8}}) {
      const auto refused = ArraySink::Begin(Path(name), none, {});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(refused.error().message, HasSubstr("expected 1 or more of each"));
    }
  }
  EXPECT_EQ(Files(), 0);
  std::filesystem::create_directory(Path("folder.npy"));
  EXPECT_EQ(ArraySink::Begin(Path("folder.npy"), shape, {.force = true}).error().code,
            ErrorCode::kExists);
  const auto sink = Must(ArraySink::Begin(Path("a.npy"), shape, {}));
  EXPECT_FALSE(sink->Append(3, AsBytes(BytesOf(Count<uint8_t>(12)))));
  EXPECT_FALSE(sink->Append(1, AsBytes(BytesOf(Count<uint8_t>(3)))));
  EXPECT_FALSE(sink->Append(0, {}));
}

}  // namespace
}  // namespace dolium::volume
