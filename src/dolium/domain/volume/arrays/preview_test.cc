#include "dolium/domain/volume/arrays/preview.h"

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> planes;

  std::array<int, 3> At(int64_t x, int64_t y) const {
    const size_t pixels = static_cast<size_t>(width * height);
    const size_t at = static_cast<size_t>(y * width + x);
    return {planes[at], planes[pixels + at], planes[2 * pixels + at]};
  }
};

Picture Render(const PreviewRequest& request) {
  const ByteVector png = Must(RenderPreview(request));
  Picture picture;
  picture.width = SwapBytes(LoadLE<uint32_t>(png.data() + 16));
  picture.height = SwapBytes(LoadLE<uint32_t>(png.data() + 20));
  picture.planes.resize(static_cast<size_t>(3 * picture.width * picture.height));
  Must(DecodePng({{picture.width, picture.height, 1}, 3, DataType::kUint8}, png,
                 std::as_writable_bytes(std::span(picture.planes))));
  return picture;
}

template <typename T>
PreviewSlice Slice(int64_t width, int64_t height, const std::vector<T>& values) {
  return {width, height, std::as_bytes(std::span(values))};
}

using Grey = std::array<int, 3>;

TEST(RenderPreview, PutsSlicesWhereTheyMeet) {
  // x is 3, y is 2, z is 4.
  const auto xy = Count<uint8_t>(6, 10);
  const auto xz = Count<uint8_t>(12, 100);
  const auto yz = Count<uint8_t>(8, 200);
  const Picture picture =
      Render({.xy = Slice(3, 2, xy), .xz = Slice(3, 4, xz), .yz = Slice(2, 4, yz)});
  ASSERT_EQ(picture.width, 3 + 2 + 4);
  ASSERT_EQ(picture.height, 2 + 2 + 4);
  EXPECT_EQ(picture.At(0, 0), (Grey{10, 10, 10}));
  EXPECT_EQ(picture.At(2, 1), (Grey{15, 15, 15}));
  EXPECT_EQ(picture.At(0, 4), (Grey{100, 100, 100}));
  EXPECT_EQ(picture.At(2, 7), (Grey{111, 111, 111}));
  EXPECT_EQ(picture.At(5, 0), (Grey{200, 200, 200}));
  EXPECT_EQ(picture.At(5, 1), (Grey{201, 201, 201}));  // y goes down
  EXPECT_EQ(picture.At(6, 0), (Grey{202, 202, 202}));  // z goes right
  EXPECT_EQ(picture.At(8, 1), (Grey{207, 207, 207}));
  EXPECT_EQ(picture.At(3, 0), (Grey{96, 96, 96}));
  EXPECT_EQ(picture.At(0, 3), (Grey{96, 96, 96}));
  EXPECT_EQ(picture.At(8, 7), (Grey{24, 24, 24}));
}

TEST(RenderPreview, ScalesByTheSizeOfVoxels) {
  const std::vector<uint8_t> xy(200);
  const std::vector<uint8_t> xz(100);
  const std::vector<uint8_t> yz(50);
  PreviewRequest request = {.xy = Slice(20, 10, xy),
                            .xz = Slice(20, 5, xz),
                            .yz = Slice(10, 5, yz),
                            .voxel_size = {4, 4, 40}};
  Picture picture = Render(request);
  EXPECT_EQ(picture.width, 20 + 2 + 50);
  EXPECT_EQ(picture.height, 10 + 2 + 50);
  request.longest_side = 37;
  picture = Render(request);
  EXPECT_EQ(picture.width, 37);
  EXPECT_EQ(picture.height, 5 + 2 + 25);
}

TEST(RenderPreview, StaysWithinItsLongestSide) {
  const std::vector<uint8_t> long_slice(100'000);
  const std::vector<uint8_t> one(1);
  const PreviewRequest wide = {.xy = Slice(100'000, 1, long_slice),
                               .xz = Slice(100'000, 1, long_slice),
                               .yz = Slice(1, 1, one),
                               .longest_side = 16};
  EXPECT_EQ(Render(wide).width, 16);
  EXPECT_EQ(Render(wide).height, 4);
  const PreviewRequest deep = {.xy = Slice(1, 1, one),
                               .xz = Slice(1, 100'000, long_slice),
                               .yz = Slice(1, 100'000, long_slice),
                               .longest_side = 100};
  EXPECT_EQ(Render(deep).width, 100);
  EXPECT_EQ(Render(deep).height, 100);
}

TEST(RenderPreview, AveragesWhatAPixelCovers) {
  std::vector<uint8_t> xy(10'000);
  for (size_t i = 0; i < xy.size(); ++i) xy[i] = i % 2 == 0 ? 100 : 200;
  const std::vector<uint8_t> thin(100, 50);
  const Picture picture = Render({.xy = Slice(100, 100, xy),
                                  .xz = Slice(100, 1, thin),
                                  .yz = Slice(100, 1, thin),
                                  .longest_side = 53});
  EXPECT_EQ(picture.width, 53);
  EXPECT_EQ(picture.At(10, 10), (Grey{150, 150, 150}));
}

TEST(RenderPreview, StretchesContrastBetweenPercentiles) {
  // 0 ... 999, with two that are far off and one that is no number.
  std::vector<float> xy(1000);
  for (size_t i = 0; i < xy.size(); ++i) xy[i] = static_cast<float>(i);
  xy[0] = -1e30f;
  xy[999] = 1e30f;
  xy[500] = std::nanf("");
  const std::vector<float> xz(xy.begin(), xy.begin() + 100);
  const std::vector<float> yz(10, 500);
  const Picture picture = Render({.type = DataType::kFloat32,
                                  .xy = Slice(100, 10, xy),
                                  .xz = Slice(100, 1, xz),
                                  .yz = Slice(10, 1, yz)});
  EXPECT_EQ(picture.At(0, 0), (Grey{0, 0, 0}));
  EXPECT_EQ(picture.At(99, 9), (Grey{255, 255, 255}));
  EXPECT_EQ(picture.At(0, 5), (Grey{0, 0, 0}));
  EXPECT_NEAR(picture.At(1, 5)[0], 127, 4);
}

TEST(RenderPreview, ShowsThreeBytesAsColours) {
  const std::vector<uint8_t> voxel = {10, 20, 30};
  const Picture picture = Render({.channels = 3,
                                  .xy = Slice(1, 1, voxel),
                                  .xz = Slice(1, 1, voxel),
                                  .yz = Slice(1, 1, voxel)});
  EXPECT_EQ(picture.At(0, 0), (Grey{10, 20, 30}));
  EXPECT_EQ(picture.At(3, 0), (Grey{10, 20, 30}));
}

TEST(RenderPreview, ColoursLabels) {
  const std::vector<uint64_t> xy = {0, 1, 2, uint64_t{1} << 40};
  const std::vector<uint64_t> xz = {0, 1, 2, uint64_t{1} << 40};
  const std::vector<uint64_t> yz = {1};
  const Picture picture = Render({.type = DataType::kUint64,
                                  .labels = true,
                                  .xy = Slice(4, 1, xy),
                                  .xz = Slice(4, 1, xz),
                                  .yz = Slice(1, 1, yz)});
  EXPECT_EQ(picture.At(0, 0), (Grey{0, 0, 0}));
  for (int64_t x = 1; x < 4; ++x) {
    const auto colour = picture.At(x, 0);
    EXPECT_GE(*std::max_element(colour.begin(), colour.end()), 150);
    EXPECT_NE(colour, picture.At(x - 1, 0));
    EXPECT_EQ(colour, picture.At(x, 3));
  }
  EXPECT_EQ(picture.At(6, 0), picture.At(1, 0));
}

TEST(RenderPreview, RejectsWhatMakesNoSense) {
  const std::vector<uint8_t> two(2);
  const PreviewRequest torn = {
      .xy = Slice(2, 1, two), .xz = Slice(2, 1, two), .yz = Slice(1, 2, two)};
  EXPECT_THAT(RenderPreview(torn).error().message, EndsWith("are not of one volume"));
  PreviewRequest request = {
      .xy = Slice(1, 2, two), .xz = Slice(1, 1, two), .yz = Slice(2, 1, two)};
  EXPECT_THAT(RenderPreview(request).error().message,
              HasSubstr("a slice of 1x1 voxels in 2 bytes"));
  request.xz.voxels = request.xz.voxels.first(1);
  EXPECT_TRUE(RenderPreview(request));
  request.voxel_size = {1, 0, 1};
  EXPECT_EQ(RenderPreview(request).error().code, ErrorCode::kInvalidArgument);
  request.voxel_size = {1, 1, 1};
  request.longest_side = 1'000'000;
  EXPECT_EQ(RenderPreview(request).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace dolium::volume
