#include "dolium/formats/xet/compression.h"

#include <lz4frame.h>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/formats/xet/bg4.h"
#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

using ::testing::HasSubstr;

Result<ByteVector> Decoded(Scheme scheme, BytesView stored, size_t size) {
  ChunkDecompressor decompressor;
  ByteVector into(size);
  DOLIUM_TRY_VOID(decompressor.Decode(scheme, stored, into));
  return into;
}

ByteVector Numbers(size_t count, uint32_t (*value)(uint64_t word, size_t index)) {
  const ByteVector words = SplitMix(0, 8 * count);
  ByteVector out(4 * count);
  for (size_t i = 0; i < count; ++i) {
    StoreLE(out.data() + 4 * i, value(LoadLE<uint64_t>(words.data() + 8 * i), i));
  }
  return out;
}

std::vector<ByteVector> PredictorInputs() {
  return {
      Repeated(0, 65536),
      SplitMix(0, 65536),
      Numbers(16384, [](uint64_t w,
                        size_t) { return static_cast<uint32_t>(0x3f800000 | w >> 41); }),
      Numbers(16384,
              [](uint64_t w, size_t) {
                return static_cast<uint32_t>((w >> 32 & 0xffffff) |
                                             (w & 0xff & (w >> 8 & 0xff)) << 24);
              }),
      Numbers(16384, [](uint64_t, size_t i) { return static_cast<uint32_t>(i); }),
  };
}

ByteVector FrameBy(BytesView raw, LZ4F_preferences_t preferences) {
  ByteVector frame(LZ4F_compressFrameBound(raw.size(), &preferences));
  const size_t size = LZ4F_compressFrame(frame.data(), frame.size(), raw.data(),
                                         raw.size(), &preferences);
  EXPECT_FALSE(LZ4F_isError(size));
  frame.resize(size);
  return frame;
}

TEST(Bg4, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["bg4"]) {
    ByteVector input;
    for (const auto& byte : v["input"]) {
      input.push_back(static_cast<std::byte>(byte.get<int>()));
    }
    ByteVector output(input.size());
    Bg4Split(input, output);
    for (size_t i = 0; i < output.size(); ++i) {
      EXPECT_EQ(std::to_integer<int>(output[i]), v["output"][i]);
    }
  }
}

TEST(Bg4, JoinsWhatItSplit) {
  for (size_t size = 0; size < 400; ++size) {
    const ByteVector data = SplitMix(size, size);
    ByteVector split(size);
    ByteVector joined(size);
    Bg4Split(data, split);
    // The definition, byte by byte.
    size_t at = 0;
    for (size_t group = 0; group < 4; ++group) {
      for (size_t i = group; i < size; i += 4) ASSERT_EQ(split[at++], data[i]);
    }
    Bg4Join(split, joined);
    ASSERT_EQ(joined, data);
  }
}

TEST(ChooseScheme, AgreesWithTheVectors) {
  const auto inputs = PredictorInputs();
  const auto& cases = Vectors()["bg4_predictor"]["cases"];
  ASSERT_EQ(cases.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto spread = BitSpread(inputs[i]);
    for (size_t position = 0; position < 4; ++position) {
      const auto& expected = cases[i]["kl_per_byte_position"][position];
      if (expected.is_null()) {
        EXPECT_TRUE(std::isnan(spread[position]));
      } else {
        EXPECT_NEAR(spread[position], expected.get<double>(), 1e-8);
      }
    }
    EXPECT_EQ(ChooseScheme(inputs[i]) == Scheme::kBg4Lz4, cases[i]["bg4_recommended"]);
  }
}

TEST(ChooseScheme, TakesAnySize) {
  for (size_t size = 0; size < 6; ++size) {
    EXPECT_EQ(ChooseScheme(Repeated(1, size)), Scheme::kLz4);
  }
}

TEST(ChunkDecompressor, ReadsTheFramesOfTheVectors) {
  const auto& cases = Vectors()["lz4_frame"]["cases"];
  EXPECT_EQ(Decoded(Scheme::kLz4, FromHex(cases[0]["frame_hex"].get<std::string>()), 100)
                .value(),
            Repeated(0x61, 100));
  EXPECT_EQ(Decoded(Scheme::kLz4, FromHex(cases[1]["frame_hex"].get<std::string>()), 12)
                .value(),
            Text("Hello World!"));
}

TEST(ChunkCompressor, MakesTheSmallestFrame) {
  ChunkCompressor compressor;
  const ByteVector small = Repeated(0x61, 100);
  const EncodedChunk encoded = compressor.Encode(small, Scheme::kLz4);
  EXPECT_EQ(encoded.scheme, Scheme::kLz4);
  EXPECT_TRUE(
      Equal(encoded.bytes,
            FromHex(Vectors()["lz4_frame"]["cases"][0]["frame_hex"].get<std::string>())));
  const ByteVector large(65537);
  const BytesView frame = compressor.Encode(large, Scheme::kLz4).bytes;
  EXPECT_TRUE(Equal(frame.first(7), FromHex("04224d186050fb")));
}

TEST(ChunkCompressor, RoundTrips) {
  ChunkCompressor compressor;
  for (const Scheme scheme : {Scheme::kNone, Scheme::kLz4, Scheme::kBg4Lz4}) {
    for (const size_t size :
         {1UL, 15UL, 16UL, 17UL, 100UL, 65535UL, 65536UL, 65537UL, 131069UL, 131072UL}) {
      ByteVector data = PredictorInputs()[2];
      data.resize(size);
      const EncodedChunk encoded = compressor.Encode(data, scheme);
      EXPECT_LE(encoded.bytes.size(), size);
      if (encoded.scheme != Scheme::kNone) {
        EXPECT_LT(encoded.bytes.size(), size);
      }
      EXPECT_EQ(Decoded(encoded.scheme, encoded.bytes, size).value(), data);
    }
  }
}

TEST(ChunkCompressor, StoresWhatDoesNotGetSmaller) {
  ChunkCompressor compressor;
  for (const Scheme scheme : {Scheme::kLz4, Scheme::kBg4Lz4}) {
    const ByteVector random = SplitMix(3, 65536);
    const EncodedChunk encoded = compressor.Encode(random, scheme);
    EXPECT_EQ(encoded.scheme, Scheme::kNone);
    EXPECT_EQ(encoded.bytes.data(), random.data());
  }
}

TEST(ChunkDecompressor, ReadsEveryKindOfFrame) {
  ByteVector raw = PredictorInputs()[4];
  Append(raw, SplitMix(1, 131072 - raw.size()));  // blocks that are stored, too
  for (const auto block : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB}) {
    for (const auto mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
      for (const int checks : {0, 1, 2, 3}) {
        LZ4F_preferences_t preferences{};
        preferences.frameInfo.blockSizeID = block;
        preferences.frameInfo.blockMode = mode;
        preferences.frameInfo.contentChecksumFlag =
            (checks & 1) != 0 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
        preferences.frameInfo.blockChecksumFlag =
            (checks & 2) != 0 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
        preferences.frameInfo.contentSize = (checks & 1) != 0 ? raw.size() : 0;
        const ByteVector frame = FrameBy(raw, preferences);
        EXPECT_EQ(Decoded(Scheme::kLz4, frame, raw.size()).value(), raw);
        EXPECT_FALSE(Decoded(Scheme::kLz4, frame, raw.size() - 1));
        EXPECT_FALSE(Decoded(Scheme::kLz4, frame, raw.size() + 1));
      }
    }
  }
}

TEST(ChunkDecompressor, RefusesFramesThatAreNotWhole) {
  const ByteVector raw =
      Numbers(5000, [](uint64_t, size_t i) { return static_cast<uint32_t>(i * i); });
  ChunkCompressor compressor;
  const EncodedChunk plain = compressor.Encode(raw, Scheme::kBg4Lz4);
  ASSERT_EQ(plain.scheme, Scheme::kBg4Lz4);
  for (size_t size = 0; size < plain.bytes.size(); size += 1 + size / 10) {
    EXPECT_FALSE(Decoded(Scheme::kBg4Lz4, plain.bytes.first(size), raw.size()));
  }
  ByteVector longer(plain.bytes.begin(), plain.bytes.end());
  longer.push_back(std::byte{0});
  EXPECT_THAT(Decoded(Scheme::kBg4Lz4, longer, raw.size()).error().message,
              HasSubstr("1 bytes follow the LZ4 frame"));
  EXPECT_THAT(Decoded(Scheme::kLz4, plain.bytes, raw.size() + 1).error().message,
              HasSubstr("LZ4 frame holds 20000 bytes, 20001 expected"));
}

TEST(ChunkDecompressor, RefusesOtherMagicNumbersAndDictionaries) {
  EXPECT_THAT(
      Decoded(Scheme::kLz4, FromHex("502a4d1804000000000000000000"), 1).error().message,
      HasSubstr("does not begin like an LZ4 frame"));
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.dictID = 7;
  const ByteVector raw = Repeated(1, 100);
  const ByteVector frame = FrameBy(raw, preferences);
  EXPECT_EQ(Decoded(Scheme::kLz4, frame, raw.size()).error().code,
            ErrorCode::kUnsupported);
}

TEST(ChunkDecompressor, RefusesStoredBytesOfAnotherSize) {
  EXPECT_EQ(Decoded(Scheme::kNone, Text("abc"), 4).error().message,
            "3 stored bytes are said to be 4 raw ones");
}

}  // namespace
}  // namespace dolium::xet
