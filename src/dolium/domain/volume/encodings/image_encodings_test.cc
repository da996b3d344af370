// The image codecs, against files that other programs wrote and read. testdata/images has
// a chunk of 20 x 7 x 3 voxels with the values of Golden(), as written by TensorStore,
// cloud-volume and, for forms that neither writes, Pillow, pypng, libjpeg and imagecodecs
// (libjxl 0.11); x.voxels are the values that TensorStore or Pillow read from x.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/encodings/image_layout.h"
#include "dolium/domain/volume/encodings/jpeg.h"
#include "dolium/domain/volume/encodings/jxl.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

using ::testing::HasSubstr;

constexpr Vec3 kSize = {20, 7, 3};

ArrayShape GoldenShape(int64_t channels, DataType type = DataType::kUint8) {
  return {kSize, channels, type};
}

ByteVector Golden(int64_t channels, DataType type = DataType::kUint8) {
  ByteVector voxels;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t z = 0; z < kSize[2]; ++z) {
      for (int64_t y = 0; y < kSize[1]; ++y) {
        for (int64_t x = 0; x < kSize[0]; ++x) {
          const int64_t value = 10 + 5 * x + 9 * y + 20 * z + 3 * c;
          if (type == DataType::kUint8) {
            voxels.push_back(static_cast<std::byte>(value));
          } else {
            voxels.resize(voxels.size() + sizeof(uint16_t));
            StoreLE(voxels.data() + voxels.size() - sizeof(uint16_t),
                    static_cast<uint16_t>(257 * value + c));
          }
        }
      }
    }
  }
  return voxels;
}

ByteVector File(const std::string& name) {
  std::ifstream file(
      DOLIUM_SOURCE_DIR "/src/dolium/domain/volume/encodings/testdata/images/" + name,
      std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(text.empty()) << name;
  const BytesView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

using Decoder = Result<void> (*)(const ArrayShape&, BytesView, MutableBytes);

Result<ByteVector> Decode(Decoder decode, const ArrayShape& shape, BytesView stored) {
  ByteVector voxels(shape.bytes().value());
  DOLIUM_TRY_VOID(decode(shape, stored, voxels));
  return voxels;
}

Error DecodeError(Decoder decode, const ArrayShape& shape, BytesView stored) {
  auto voxels = Decode(decode, shape, stored);
  EXPECT_FALSE(voxels);
  return voxels ? Error{} : voxels.error();
}

int MaxDifference(BytesView a, BytesView b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most =
        std::max(most, std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i])));
  }
  return most;
}

// Every beginning of `stored` must be refused, but those that lack only some of `spare`
// bytes at the end.
void ExpectNoneOfItsPrefixes(Decoder decode, const ArrayShape& shape, BytesView stored,
                             size_t spare = 0) {
  ASSERT_TRUE(Decode(decode, shape, stored));
  for (size_t length = 0; length + spare < stored.size(); ++length) {
    // A copy, so that sanitizers see a read past its end.
    const ByteVector prefix(stored.begin(),
                            stored.begin() + static_cast<ptrdiff_t>(length));
    const auto voxels = Decode(decode, shape, prefix);
    ASSERT_FALSE(voxels) << length << " of " << stored.size();
    ASSERT_EQ(voxels.error().code, ErrorCode::kCorrupt) << voxels.error().message;
  }
}

TEST(ImageLayout, IsXByYZ) {
  EXPECT_EQ(Must(ImageSizeFor({{64, 32, 16}}, 65'500, "JPEG")), (ImageSize{64, 512}));
}

TEST(ImageLayout, IsXYByZWhereYZIsTooHigh) {
  EXPECT_EQ(Must(ImageSizeFor({{2, 256, 256}}, 65'500, "JPEG")), (ImageSize{512, 256}));
}

TEST(ImageLayout, IsRefusedWhereNeitherFits) {
  const auto size = ImageSizeFor({{256, 256, 256}}, 65'500, "JPEG");
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(size.error().message, HasSubstr("256,256,256"));
  EXPECT_FALSE(
      ImageSizeFor({{INT64_MAX, INT64_MAX, INT64_MAX}}, UINT32_MAX, "PNG").has_value());
}

TEST(ImageLayout, PartsAndJoinsPixelsOfEveryKind) {
  for (const DataType type : {DataType::kUint8, DataType::kUint16}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      // Longer and shorter than a register.
      for (const int64_t count : {1, 15, 16, 17, 100}) {
        const ArrayShape shape{{count, 1, 1}, channels, type};
        ByteVector pixels(shape.bytes().value());
        for (size_t i = 0; i < pixels.size(); ++i) {
          pixels[i] = static_cast<std::byte>(i * 7 + 1);
        }
        ByteVector voxels(pixels.size());
        SplitChannels(shape, pixels, 0, voxels);
        const size_t sample = SizeOf(type);
        const auto planes = static_cast<size_t>(channels);
        for (size_t i = 0; i < pixels.size(); ++i) {
          const size_t voxel = i / (sample * planes);
          const size_t plane = i / sample % planes;
          const size_t at = (plane * static_cast<size_t>(count) + voxel) * sample;
          ASSERT_EQ(voxels[at + i % sample], pixels[i]) << channels << " " << count;
        }
        ByteVector joined(pixels.size());
        JoinChannels(shape, voxels, 0, joined);
        EXPECT_EQ(joined, pixels);
      }
    }
  }
}

TEST(Jpeg, ReadsWhatTensorStoreWroteAsTensorStoreDoes) {
  const auto voxels =
      Must(Decode(&DecodeJpeg, GoldenShape(3), File("tensorstore_rgb.jpeg")));
  EXPECT_LE(MaxDifference(voxels, File("tensorstore_rgb.voxels")), 1);
  EXPECT_LE(MaxDifference(voxels, Golden(3)), 5);
}

TEST(Jpeg, ReadsProgressiveImagesOfAnyWidth) {
  const auto voxels =
      Must(Decode(&DecodeJpeg, GoldenShape(1), File("progressive_xy_by_z.jpeg")));
  EXPECT_LE(MaxDifference(voxels, Golden(1)), 12);
}

TEST(Jpeg, WritesSoThatLittleIsLost) {
  for (const int64_t channels : {1, 3}) {
    const ByteVector voxels = Golden(channels);
    const auto stored = Must(EncodeJpeg(GoldenShape(channels), 95, voxels));
    const auto read = Must(Decode(&DecodeJpeg, GoldenShape(channels), stored));
    EXPECT_LE(MaxDifference(read, voxels), 5) << channels;
  }
}

TEST(Jpeg, WritesChunksThatAreTooHighAsXYByZ) {
  const ArrayShape shape{{1, 300, 300}, 1, DataType::kUint8};
  ByteVector voxels(shape.bytes().value());
  for (size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::byte>(i / 400);
  const auto stored = Must(EncodeJpeg(shape, 90, voxels));
  EXPECT_LE(MaxDifference(Must(Decode(&DecodeJpeg, shape, stored)), voxels), 6);

  const ArrayShape too_large{{256, 256, 256}, 1, DataType::kUint8};
  const auto refused = EncodeJpeg(too_large, 90, ByteVector(too_large.bytes().value()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

TEST(Jpeg, RefusesWhatIsCutShort) {
  ExpectNoneOfItsPrefixes(&DecodeJpeg, GoldenShape(3), File("tensorstore_rgb.jpeg"));
  ExpectNoneOfItsPrefixes(&DecodeJpeg, GoldenShape(1), File("progressive_xy_by_z.jpeg"));
}

TEST(Jpeg, RefusesOtherShapes) {
  const ByteVector stored = File("tensorstore_rgb.jpeg");
  EXPECT_EQ(DecodeError(&DecodeJpeg, {{20, 7, 4}, 3, DataType::kUint8}, stored).message,
            "image of 20 x 21 pixels for a chunk of 20,7,4 voxels");
  EXPECT_EQ(DecodeError(&DecodeJpeg, GoldenShape(1), stored).message,
            "image of 3 components for a chunk of 1 channels");
  EXPECT_EQ(DecodeError(&DecodeJpeg, GoldenShape(3), File("cmyk.jpeg")).message,
            "image of 4 components for a chunk of 3 channels");
}

TEST(Jpeg, RefusesWhatIsNoJpeg) {
  const Error error = DecodeError(&DecodeJpeg, GoldenShape(1), File("grey1.png"));
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("JPEG: Not a JPEG file"));
}

TEST(Jpeg, RefusesMoreScansThanAnyWriterMakes) {
  // A progressive image of two scans, each at full precision, which may be said again.
  const ByteVector stored = File("full_scans.jpeg");
  EXPECT_LE(MaxDifference(Must(Decode(&DecodeJpeg, GoldenShape(1), stored)), Golden(1)),
            5);
  constexpr std::byte kStartOfScan[] = {std::byte{0xff}, std::byte{0xda}};
  const auto last = std::find_end(stored.begin(), stored.end(), std::begin(kStartOfScan),
                                  std::end(kStartOfScan));
  const auto end = stored.end() - 2;
  ASSERT_LT(last, end);
  const auto repeated = [&](int count) {
    ByteVector bytes(stored.begin(), last);
    for (int i = 0; i < count; ++i) bytes.insert(bytes.end(), last, end);
    bytes.insert(bytes.end(), end, stored.end());
    return bytes;
  };
  EXPECT_TRUE(Decode(&DecodeJpeg, GoldenShape(1), repeated(400)));
  EXPECT_THAT(DecodeError(&DecodeJpeg, GoldenShape(1), repeated(600)).message,
              HasSubstr("more scans"));
}

TEST(Png, ReadsWhatOthersWrote) {
  for (int64_t channels = 1; channels <= 4; ++channels) {
    const auto name = "tensorstore_uint16_" + std::to_string(channels) + ".png";
    EXPECT_EQ(
        Must(Decode(&DecodePng, GoldenShape(channels, DataType::kUint16), File(name))),
        Golden(channels, DataType::kUint16))
        << name;
  }
  EXPECT_EQ(Must(Decode(&DecodePng, GoldenShape(2), File("tensorstore_uint8_2.png"))),
            Golden(2));
  EXPECT_EQ(Must(Decode(&DecodePng, GoldenShape(4), File("cloudvolume_uint8_4.png"))),
            Golden(4));
}

TEST(Png, ReadsInterlacedImages) {
  EXPECT_EQ(Must(Decode(&DecodePng, GoldenShape(3), File("interlaced.png"))), Golden(3));
}

TEST(Png, ReadsPalettesAsThreeChannels) {
  EXPECT_EQ(Must(Decode(&DecodePng, GoldenShape(3), File("palette.png"))),
            File("palette.voxels"));
  EXPECT_EQ(DecodeError(&DecodePng, GoldenShape(1), File("palette.png")).message,
            "image of 3 components for a chunk of 1 channels");
}

TEST(Png, RefusesOtherDepths) {
  const Error few = DecodeError(&DecodePng, GoldenShape(1), File("grey1.png"));
  EXPECT_EQ(few.code, ErrorCode::kUnsupported);
  EXPECT_EQ(few.message, "PNG: grey of 1 bits; expected 8");
  const Error wide =
      DecodeError(&DecodePng, GoldenShape(1), File("tensorstore_uint16_1.png"));
  EXPECT_EQ(wide.code, ErrorCode::kCorrupt);
  EXPECT_EQ(wide.message, "PNG: samples of 16 bits for voxels of type uint8");
  EXPECT_EQ(DecodeError(&DecodePng, GoldenShape(2, DataType::kUint16),
                        File("tensorstore_uint8_2.png"))
                .code,
            ErrorCode::kCorrupt);
}

TEST(Png, RefusesWhatIsCutShort) {
  // libspng can do without the checksum of the last chunk, which is empty.
  constexpr size_t kChecksum = 4;
  ExpectNoneOfItsPrefixes(&DecodePng, GoldenShape(3), File("interlaced.png"), kChecksum);
  ExpectNoneOfItsPrefixes(&DecodePng, GoldenShape(2), File("tensorstore_uint8_2.png"),
                          kChecksum);
}

TEST(Png, RefusesChangedBytes) {
  // Every byte of a chunk is under a checksum; lengths and checksums themselves fail too.
  const ByteVector stored = File("tensorstore_uint8_2.png");
  for (size_t at = 0; at < stored.size(); ++at) {
    ByteVector damaged = stored;
    damaged[at] ^= std::byte{0x10};
    EXPECT_FALSE(Decode(&DecodePng, GoldenShape(2), damaged)) << at;
  }
}

TEST(Jxl, ReadsWhatCloudVolumeWrote) {
  EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(1), File("cloudvolume_lossless.jxl"))),
            Golden(1));
  // One grey frame for each channel.
  EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(3), File("cloudvolume_3.jxl"))),
            Golden(3));
}

TEST(Jxl, ReadsComponentsInFramesAndContainers) {
  EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(3), File("rgb_container.jxl"))),
            Golden(3));
  EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(4), File("rgba.jxl"))), Golden(4));
  // One frame for each z.
  EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(3), File("rgb_frames.jxl"))), Golden(3));
}

TEST(Jxl, IsLosslessAtQuality100Only) {
  for (const int64_t channels : {1, 3, 4}) {
    const ArrayShape shape = GoldenShape(channels);
    const auto exact = Must(EncodeJxl(shape, {.quality = 100}, Golden(channels)));
    EXPECT_EQ(Must(Decode(&DecodeJxl, shape, exact)), Golden(channels));
    const auto lossy = Must(EncodeJxl(shape, {.quality = 85}, Golden(channels)));
    EXPECT_LE(MaxDifference(Must(Decode(&DecodeJxl, shape, lossy)), Golden(channels)), 8);
  }
}

TEST(Jxl, TakesEveryEffortAndDecodingSpeed) {
  for (int effort = 1; effort <= 9; ++effort) {
    const JxlOptions options{
        .quality = 100, .effort = effort, .decoding_speed = effort / 2};
    const auto stored = Must(EncodeJxl(GoldenShape(1), options, Golden(1)));
    EXPECT_EQ(Must(Decode(&DecodeJxl, GoldenShape(1), stored)), Golden(1)) << effort;
  }
  const auto refused = EncodeJxl(GoldenShape(1), {.effort = 77}, Golden(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("effort 77"));
}

TEST(Jxl, MapsQualityToDistanceAsLibjxlDoes) {
  EXPECT_FLOAT_EQ(JxlDistance(100), 0.0F);
  EXPECT_FLOAT_EQ(JxlDistance(90), 1.0F);
  EXPECT_FLOAT_EQ(JxlDistance(85), 1.45F);
  EXPECT_FLOAT_EQ(JxlDistance(30), 6.4F);
  EXPECT_FLOAT_EQ(JxlDistance(0), 25.0F);
}

TEST(Jxl, RefusesOtherShapes) {
  const ByteVector grey = File("cloudvolume_lossless.jxl");
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(3), grey).message,
            "image of 20 x 21 pixels for a chunk of 20,7,3 voxels, 3 channels");
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(1), File("rgba.jxl")).message,
            "image of 4 components for a chunk of 1 channels");
  // Frames of the right size, but too many or too few of them.
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(1), File("cloudvolume_3.jxl")).message,
            "JPEG XL: more than the 1 frames of a chunk");
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(4), File("cloudvolume_3.jxl")).message,
            "JPEG XL: frames of 1260 pixels in all; expected 1680");
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(1), File("grey16.jxl")).message,
            "JPEG XL: samples of 16 bits; expected 8");
}

TEST(Jxl, RefusesWhatIsCutShort) {
  ExpectNoneOfItsPrefixes(&DecodeJxl, GoldenShape(1), File("cloudvolume_lossless.jxl"));
  ExpectNoneOfItsPrefixes(&DecodeJxl, GoldenShape(3), File("cloudvolume_3.jxl"));
  ExpectNoneOfItsPrefixes(&DecodeJxl, GoldenShape(3), File("rgb_container.jxl"));
}

TEST(Jxl, RefusesWhatIsNoJpegXl) {
  EXPECT_EQ(DecodeError(&DecodeJxl, GoldenShape(1), File("grey1.png")).code,
            ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace dolium::volume
