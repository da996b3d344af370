#include "dolium/domain/mesh/picture.h"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/domain/mesh/testing/shapes.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::mesh {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kSide = 64;

// The pixels of a picture, plane after plane.
struct Pixels {
  ByteVector planes;

  int At(uint32_t x, uint32_t y, size_t plane = 0) const {
    return std::to_integer<int>(planes[plane * kSide * kSide + y * kSide + x]);
  }
};

Pixels Draw(PictureRequest request) {
  request.width = request.height = kSide;
  const ByteVector png = Must(DrawPicture(request));
  Pixels pixels{ByteVector(size_t{3} * kSide * kSide)};
  Must(volume::DecodePng({.size = {kSide, kSide, 1}, .channels = 3}, png, pixels.planes));
  return pixels;
}

PictureMesh Ball(const Point& centre, float radius, uint64_t id) {
  return {Sphere(centre, radius, 24), id};
}

TEST(Picture, ShowsABallInTheMiddleOfTheBackground) {
  const PictureMesh ball[] = {Ball({1e6F, -500, 3}, 100, 7)};
  const Pixels pixels = Draw({.meshes = ball});
  EXPECT_GT(pixels.At(1, 1), 230);
  EXPECT_LT(pixels.At(32, 32), 225);
  // It fills the picture but for the margin, and is round.
  EXPECT_LT(pixels.At(32, 7), 220);
  EXPECT_GT(pixels.At(7, 7), 225);
  // Lit from above on the left.
  EXPECT_GT(pixels.At(22, 20), pixels.At(42, 48) + 30);
}

TEST(Picture, ShowsWhatIsNearer) {
  // Along z, the first is in front of the second.
  const PictureMesh balls[] = {Ball({0, 0, -50}, 10, 1), Ball({0, 0, 50}, 30, 2)};
  const PictureMesh swapped[] = {balls[1], balls[0]};
  const View along_z = Must(ParseView("z"));
  const View against_z = Must(ParseView("-z"));
  const Pixels front = Draw({.meshes = balls, .view = along_z});
  const Pixels back = Draw({.meshes = balls, .view = against_z});
  EXPECT_EQ(front.planes, Draw({.meshes = swapped, .view = along_z}).planes);
  EXPECT_NE(front.At(32, 32, 2), back.At(32, 32, 2));
}

TEST(Picture, ShowsLinesWithinGlass) {
  const PictureMesh ball[] = {Ball({0, 0, 0}, 100, 7)};
  const PictureLines line[] = {{{{-90, 0, 0}, {90, 0, 0}}, {{0, 1}}}};
  const View view = Must(ParseView("z"));
  const Pixels without = Draw({.meshes = ball, .view = view});
  const Pixels with = Draw({.meshes = ball, .lines = line, .view = view});
  EXPECT_GT(with.At(32, 32, 0), with.At(32, 32, 1) + 60);  // red
  EXPECT_GT(with.At(32, 40, 1), without.At(32, 40, 1));    // the mesh is paler
}

TEST(Picture, IsTheSameWithAnyNumberOfThreads) {
  const PictureMesh balls[] = {Ball({0, 0, -50}, 10, 1), Ball({20, 9, 50}, 30, 2)};
  EXPECT_EQ(Draw({.meshes = balls, .jobs = 1}).planes,
            Draw({.meshes = balls, .jobs = 4}).planes);
}

TEST(Picture, IsRefusedWithAReason) {
  const auto nothing = DrawPicture({});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "there is nothing to draw");
  const PictureMesh ball[] = {Ball({0, 0, 0}, 1, 1)};
  const auto small = DrawPicture({.meshes = ball, .width = 4});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("4 x 768 pixels, expected 16 to 8192"));
  const PictureLines line[] = {{{{0, 0, 0}}, {{0, 1}}}};
  const auto lost = DrawPicture({.meshes = ball, .lines = line});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message, "a line has vertex 1, there are 1");
}

TEST(Views, AreAxesOrAngles) {
  const View turned = Must(ParseView("0,0"));
  const View along_z = Must(ParseView("z"));
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR(turned.right[d], along_z.right[d], 1e-12);
    EXPECT_NEAR(turned.up[d], along_z.up[d], 1e-12);
  }
  const View tilted = Must(ParseView("40,25"));
  double dot = 0;
  double length = 0;
  for (size_t d = 0; d < 3; ++d) {
    dot += tilted.right[d] * tilted.up[d];
    length += tilted.up[d] * tilted.up[d];
  }
  EXPECT_NEAR(dot, 0, 1e-12);
  EXPECT_NEAR(length, 1, 1e-12);
  EXPECT_FALSE(ParseView("w"));
  EXPECT_FALSE(ParseView("1,nan"));
}

}  // namespace
}  // namespace dolium::mesh
