#include "dolium/domain/volume/encodings/encoding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium::volume {
namespace {

using enum DataType;

constexpr std::array kEncodings = {
    Encoding::kRaw,
    Encoding::kJpeg,
    Encoding::kPng,
    Encoding::kJxl,
    Encoding::kCompressedSegmentation,
    Encoding::kCompresso,
};
constexpr std::array kTypes = {kUint8,  kInt8,  kUint16, kInt16,
                               kUint32, kInt32, kUint64, kFloat32};
constexpr int64_t kMaxChannels = 5;

// What section "Chunk encodings" of the format allows.
bool Allowed(Encoding encoding, DataType type, int64_t channels) {
  const auto one_of = [](auto value, std::initializer_list<decltype(value)> values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  switch (encoding) {
    case Encoding::kRaw:
      return true;
    case Encoding::kJpeg:
      return type == kUint8 && one_of(channels, {1, 3});
    case Encoding::kPng:
      return one_of(type, {kUint8, kUint16}) && channels <= 4;
    case Encoding::kJxl:
      return type == kUint8 && one_of(channels, {1, 3, 4});
    case Encoding::kCompressedSegmentation:
      return one_of(type, {kUint32, kUint64});
    case Encoding::kCompresso:
      return one_of(type, {kUint8, kUint16, kUint32, kUint64}) && channels == 1;
  }
  return false;
}

void ForEachAllowed(const auto& visit) {
  for (const Encoding encoding : kEncodings) {
    for (const DataType type : kTypes) {
      for (int64_t channels = 1; channels <= kMaxChannels; ++channels) {
        if (!Allowed(encoding, type, channels)) continue;
        SCOPED_TRACE(std::string(ToString(encoding)) + " " + std::string(ToString(type)) +
                     " x " + std::to_string(channels));
        visit(encoding, ArrayShape{{1, 1, 1}, channels, type});
      }
    }
  }
}

// Few labels, in runs: what every lossless encoding can do, and segmentations look like.
ByteVector Labels(const ArrayShape& shape, std::mt19937_64& random) {
  const size_t bytes = SizeOf(shape.type);
  ByteVector labels(5 * bytes);
  for (std::byte& byte : labels) byte = static_cast<std::byte>(random());
  ByteVector voxels(shape.bytes().value());
  size_t label = 0;
  for (size_t at = 0; at < voxels.size(); at += bytes) {
    if (random() % 4 == 0) label = random() % 5;
    std::copy_n(labels.begin() + static_cast<ptrdiff_t>(label * bytes), bytes,
                voxels.begin() + static_cast<ptrdiff_t>(at));
  }
  return voxels;
}

ByteVector Noise(const ArrayShape& shape, std::mt19937_64& random) {
  ByteVector voxels(shape.bytes().value());
  for (std::byte& byte : voxels) byte = static_cast<std::byte>(random());
  return voxels;
}

// Hills, which lossy encodings do not change much; the same in all channels.
ByteVector Smooth(const ArrayShape& shape) {
  ByteVector voxels;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t z = 0; z < shape.size[2]; ++z) {
      for (int64_t y = 0; y < shape.size[1]; ++y) {
        for (int64_t x = 0; x < shape.size[0]; ++x) {
          const double value = 128 + 60 * std::sin(static_cast<double>(x) / 9) +
                               40 * std::cos(static_cast<double>(y) / 11);
          voxels.push_back(static_cast<std::byte>(value));
        }
      }
    }
  }
  return voxels;
}

ByteVector RoundTrip(const EncodingSpec& spec, const ArrayShape& shape,
                     BytesView voxels) {
  const ByteVector stored = Must(EncodeVoxels(spec, shape, voxels));
  ByteVector read(voxels.size(), std::byte{0xa5});
  Must(DecodeVoxels(spec, shape, stored, read));
  return read;
}

TEST(Encoding, HasNames) {
  for (const Encoding encoding : kEncodings) {
    EXPECT_EQ(ParseEncoding(ToString(encoding)), encoding);
  }
  EXPECT_EQ(ParseEncoding("Compressed_Segmentation"), Encoding::kCompressedSegmentation);
  EXPECT_EQ(ParseEncoding("JPEG"), Encoding::kJpeg);
  EXPECT_EQ(ParseEncoding("fpzip"), std::nullopt);
  EXPECT_EQ(ParseEncoding("jpe"), std::nullopt);
  EXPECT_EQ(ParseEncoding(""), std::nullopt);
}

TEST(CheckEncodable, AllowsWhatTheFormatAllows) {
  for (const Encoding encoding : kEncodings) {
    for (const DataType type : kTypes) {
      for (int64_t channels = 1; channels <= kMaxChannels; ++channels) {
        const auto checked = CheckEncodable({.encoding = encoding}, type, channels);
        EXPECT_EQ(checked.has_value(), Allowed(encoding, type, channels))
            << ToString(encoding) << " " << ToString(type) << " " << channels;
        if (!checked) {
          EXPECT_EQ(checked.error().code, ErrorCode::kUnsupported);
        }
      }
    }
  }
}

TEST(CheckEncodable, SaysWhatIsHeldAndWhatWasAsked) {
  EXPECT_EQ(CheckEncodable({.encoding = Encoding::kJpeg}, kUint16, 2).error().message,
            "encoding jpeg holds uint8 with 1 or 3 channels, not uint16 with 2 channels");
  EXPECT_EQ(CheckEncodable({.encoding = Encoding::kCompressedSegmentation}, kUint8, 1)
                .error()
                .message,
            "encoding compressed_segmentation holds uint32 or uint64, not uint8 with 1 "
            "channel");
}

TEST(Encoding, IsLosslessButForJpegAndMostOfJxl) {
  EXPECT_TRUE(IsLossless({.encoding = Encoding::kRaw}));
  EXPECT_TRUE(IsLossless({.encoding = Encoding::kPng}));
  EXPECT_TRUE(IsLossless({.encoding = Encoding::kCompressedSegmentation}));
  EXPECT_TRUE(IsLossless({.encoding = Encoding::kCompresso}));
  EXPECT_FALSE(IsLossless({.encoding = Encoding::kJpeg, .jpeg_quality = 100}));
  EXPECT_FALSE(IsLossless({.encoding = Encoding::kJxl, .jxl_quality = 99}));
  EXPECT_TRUE(IsLossless({.encoding = Encoding::kJxl, .jxl_quality = 100}));
}

TEST(Encoding, IsCompressedIfItIsAnImage) {
  EXPECT_TRUE(IsCompressed(Encoding::kJpeg));
  EXPECT_TRUE(IsCompressed(Encoding::kPng));
  EXPECT_TRUE(IsCompressed(Encoding::kJxl));
  EXPECT_FALSE(IsCompressed(Encoding::kRaw));
  EXPECT_FALSE(IsCompressed(Encoding::kCompressedSegmentation));
  EXPECT_FALSE(IsCompressed(Encoding::kCompresso));
}

TEST(EncodeVoxels, LosesNothingIfLossless) {
  std::mt19937_64 random(1);
  constexpr std::array<Vec3, 5> kSizes = {
      {{1, 1, 1}, {8, 8, 8}, {17, 5, 3}, {1, 33, 2}, {3, 2, 19}}};
  ForEachAllowed([&](Encoding encoding, ArrayShape shape) {
    EncodingSpec spec{.encoding = encoding, .jxl_quality = 100};
    if (!IsLossless(spec)) return;
    for (const Vec3& size : kSizes) {
      shape.size = size;
      const ByteVector labels = Labels(shape, random);
      EXPECT_EQ(RoundTrip(spec, shape, labels), labels) << ToString(size);
      const ByteVector noise = Noise(shape, random);
      EXPECT_EQ(RoundTrip(spec, shape, noise), noise) << ToString(size);
    }
  });
}

TEST(EncodeVoxels, LosesLittleIfLossy) {
  constexpr std::array<Vec3, 3> kSizes = {{{64, 64, 4}, {33, 16, 5}, {1, 1, 1}}};
  ForEachAllowed([&](Encoding encoding, ArrayShape shape) {
    const EncodingSpec spec{.encoding = encoding, .jpeg_quality = 90, .jxl_quality = 90};
    if (IsLossless(spec)) return;
    for (const Vec3& size : kSizes) {
      shape.size = size;
      const ByteVector voxels = Smooth(shape);
      const ByteVector read = RoundTrip(spec, shape, voxels);
      int most = 0;
      for (size_t i = 0; i < voxels.size(); ++i) {
        most = std::max(most, std::abs(std::to_integer<int>(read[i]) -
                                       std::to_integer<int>(voxels[i])));
      }
      EXPECT_LE(most, 12) << ToString(size);
    }
  });
}

TEST(EncodeVoxels, HonoursItsOptions) {
  const ArrayShape shape{{64, 64, 4}, 1, kUint8};
  const ByteVector voxels = Smooth(shape);
  const auto size = [&](const EncodingSpec& spec) {
    return Must(EncodeVoxels(spec, shape, voxels)).size();
  };
  EXPECT_LT(size({.encoding = Encoding::kJpeg, .jpeg_quality = 20}),
            size({.encoding = Encoding::kJpeg, .jpeg_quality = 95}));
  EXPECT_LT(size({.encoding = Encoding::kPng, .png_level = 9}),
            size({.encoding = Encoding::kPng, .png_level = 0}));
  EXPECT_LT(size({.encoding = Encoding::kJxl, .jxl_quality = 20}),
            size({.encoding = Encoding::kJxl, .jxl_quality = 100}));
}

TEST(DecodeVoxels, WantsRawChunksOfTheVeryLength) {
  const ArrayShape shape{{4, 3, 2}, 1, kUint16};
  ByteVector voxels(48);
  for (const size_t length : {size_t{0}, size_t{47}, size_t{49}}) {
    const auto decoded = DecodeVoxels({}, shape, ByteVector(length), voxels);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(decoded.error().message,
              "raw chunk of " + std::to_string(length) + " bytes; expected 48");
  }
}

TEST(DecodeVoxels, RefusesNoBytesAndNoise) {
  std::mt19937_64 random(2);
  ForEachAllowed([&](Encoding encoding, ArrayShape shape) {
    if (encoding == Encoding::kRaw) return;
    shape.size = {9, 8, 7};
    ByteVector voxels(shape.bytes().value());
    const EncodingSpec spec{.encoding = encoding};
    const auto nothing = DecodeVoxels(spec, shape, {}, voxels);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, ErrorCode::kCorrupt);
    const auto noise = DecodeVoxels(spec, shape, Noise(shape, random), voxels);
    ASSERT_FALSE(noise);
    EXPECT_EQ(noise.error().code, ErrorCode::kCorrupt);
  });
}

}  // namespace
}  // namespace dolium::volume
