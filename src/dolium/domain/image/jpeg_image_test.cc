// JPEG images, against what Pillow 13 decodes: testdata/images has x.jpg, 35 x 37 pixels
// as Pillow wrote them, and x.pixels, the array that it reads from that. ycck is cmyk
// with another transform in its Adobe marker; extraneous is rgb420 with three bytes
// before its end marker.
#include "dolium/domain/image/jpeg_image.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::image {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kHeight = 37;
constexpr uint32_t kWidth = 35;

ByteVector File(const std::string& name) {
  std::ifstream file(DOLIUM_SOURCE_DIR "/src/dolium/domain/image/testdata/images/" + name,
                     std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(text.empty()) << name;
  const BytesView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

// Puts these sides into the frame header.
ByteVector WithSides(ByteVector jpeg, uint16_t height, uint16_t width) {
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    const auto marker = std::to_integer<int>(jpeg[i + 1]);
    if (jpeg[i] != std::byte{0xff} || (marker != 0xc0 && marker != 0xc2)) continue;
    jpeg[i + 5] = static_cast<std::byte>(height >> 8);
    jpeg[i + 6] = static_cast<std::byte>(height);
    jpeg[i + 7] = static_cast<std::byte>(width >> 8);
    jpeg[i + 8] = static_cast<std::byte>(width);
    return jpeg;
  }
  ADD_FAILURE() << "no frame header";
  return jpeg;
}

class JpegImages : public ::testing::TestWithParam<std::pair<std::string, uint32_t>> {};

TEST_P(JpegImages, AreWhatPillowDecodes) {
  const auto& [name, channels] = GetParam();
  auto image = DecodeJpegImage(File(name + ".jpg"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->height, kHeight);
  EXPECT_EQ(image->width, kWidth);
  EXPECT_EQ(image->channels, channels);
  EXPECT_TRUE(Equal(image->pixels.view(), File(name + ".pixels")));
}

INSTANTIATE_TEST_SUITE_P(, JpegImages,
                         ::testing::Values(std::pair("grey", 1), std::pair("rgb444", 3),
                                           std::pair("rgb422", 3), std::pair("rgb420", 3),
                                           std::pair("progressive", 3),
                                           std::pair("adobe_rgb", 3),
                                           std::pair("exif_rotated", 3),
                                           std::pair("extraneous", 3),
                                           std::pair("cmyk", 4), std::pair("ycck", 4)),
                         [](const auto& info) { return info.param.first; });

TEST(DecodeJpegImage, RefusesAnImageThatIsCutShort) {
  for (const std::string name : {"grey", "rgb420", "progressive", "cmyk"}) {
    const ByteVector whole = File(name + ".jpg");
    for (size_t size = 0; size < whole.size(); size += size < 700 ? 50 : 1) {
      const auto image = DecodeJpegImage(BytesView(whole).first(size));
      ASSERT_FALSE(image) << name << " " << size;
      EXPECT_EQ(image.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST(DecodeJpegImage, RefusesWhatIsNoJpeg) {
  EXPECT_FALSE(IsJpeg(AsBytes("\x89PNG")));
  EXPECT_FALSE(IsJpeg({}));
  const auto image = DecodeJpegImage(AsBytes("\x89PNG, not a JPEG"));
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("Not a JPEG file"));
}

TEST(DecodeJpegImage, ChecksSizesBeforeItAllocates) {
  for (const std::string name : {"rgb420", "progressive"}) {
    const ByteVector huge = WithSides(File(name + ".jpg"), 65500, 65500);
    auto image = DecodeJpegImage(huge);
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, "limit");
    EXPECT_THAT(image.error().message, HasSubstr("the limit is 536870912 bytes"));
    image = DecodeJpegImage(huge, uint64_t{1} << 40);
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, "limit");
    EXPECT_THAT(image.error().message, HasSubstr("so few cannot hold them"));
  }
  EXPECT_FALSE(DecodeJpegImage(File("grey.jpg"), kHeight * kWidth - 1));
  EXPECT_TRUE(DecodeJpegImage(File("grey.jpg"), kHeight * kWidth));
}

TEST(DecodeJpegImages, GivesEachImageAResultOfItsOwn) {
  const ByteVector good = File("rgb420.jpg");
  std::vector<BytesView> stored(100, good);
  stored[7] = BytesView(good).first(good.size() / 2);
  auto images = DecodeJpegImages(stored, 4);
  ASSERT_EQ(images.size(), stored.size());
  const ByteVector expected = File("rgb420.pixels");
  for (size_t i = 0; i < images.size(); ++i) {
    ASSERT_EQ(images[i].has_value(), i != 7);
    if (!images[i]) continue;
    EXPECT_TRUE(Equal(images[i]->pixels.view(), expected));
  }
}

}  // namespace
}  // namespace dolium::image
