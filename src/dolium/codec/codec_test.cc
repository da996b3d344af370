#include "dolium/codec/codec.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/codec/zstd.h"

namespace dolium {
namespace {

using testing::HasSubstr;

const std::string kText(1000, 'x');

class SizedCodecTest : public testing::TestWithParam<CodecId> {
 protected:
  CodecChain Chain(uint64_t size = kText.size()) const { return {{GetParam(), size}}; }
  Bytes Stored() const {
    auto stored = Encode(Chain(), AsBytes(kText));
    EXPECT_TRUE(stored) << stored.error().message;
    return Bytes::FromVector(*std::move(stored));
  }
};

TEST_P(SizedCodecTest, RoundTrips) {
  const Bytes stored = Stored();
  EXPECT_LT(stored.size(), 50U);
  EXPECT_EQ(AsText(*Decode(Chain(), stored, 1000)), kText);
  EXPECT_EQ(ClaimedSize(Chain(), stored), 1000U);
  ByteVector into(1000);
  EXPECT_TRUE(*DecodeInto(Chain(), stored, into));
  EXPECT_EQ(AsText(into), kText);
}

TEST_P(SizedCodecTest, RefusesAnotherSize) {
  const Bytes stored = Stored();
  for (const uint64_t size : {0, 999, 1001}) {
    EXPECT_EQ(Decode(Chain(size), stored, 5000).error().code, ErrorCode::kCorrupt);
    ByteVector into(size);
    EXPECT_FALSE(*DecodeInto(Chain(), stored, into));
    EXPECT_EQ(Encode(Chain(size), AsBytes(kText)).error().code,
              ErrorCode::kInvalidArgument);
  }
}

TEST_P(SizedCodecTest, TakesNoMemoryOnAClaimThatCannotBe) {
  const Bytes stored = Stored();
  EXPECT_THAT(Decode(Chain(), stored, 999).error().message,
              HasSubstr("more than the limit of 999 bytes"));
  EXPECT_THAT(Decode(Chain(uint64_t{1} << 40), stored, UINT64_MAX).error().message,
              HasSubstr("cannot decode to 1099511627776"));
  EXPECT_EQ(ClaimedSize(Chain(uint64_t{1} << 40), stored), std::nullopt);
}

TEST_P(SizedCodecTest, StandsInAChain) {
  const CodecChain chain{{CodecId::kGzip}, {GetParam(), kText.size()}};
  const auto stored = Encode(chain, AsBytes(kText));
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(AsText(*Decode(chain, Bytes::Copy(*stored), 1000)), kText);
  EXPECT_EQ(ClaimedSize(chain, *stored), 1000U);
  EXPECT_EQ(ToString(chain), fmt::format("gzip+{}", CodecName(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, SizedCodecTest,
                         testing::Values(CodecId::kLz4Block, CodecId::kZstd,
                                         CodecId::kLz4Frame));

TEST(Slice, GivesAPartOfWhatItIsGiven) {
  CodecStep step{CodecId::kSlice, 3};
  step.slice_offset = 4;
  const CodecChain alone{step};
  const Bytes text = Bytes::Copy(AsBytes("one two three"));
  EXPECT_EQ(AsText(*Decode(alone, text, 3)), "two");
  EXPECT_EQ(Decode(alone, text, 3)->data(), text.data() + 4) << "nothing is copied";
  EXPECT_EQ(ClaimedSize(alone, text), 3U);
  ByteVector into(3);
  EXPECT_TRUE(*DecodeInto(alone, text, into));
  EXPECT_EQ(AsText(into), "two");
  const CodecChain chain{{CodecId::kZstd, text.size()}, step};
  EXPECT_EQ(ToString(chain), "zstd+slice");
  const Bytes stored = Bytes::FromVector(ZstdEncode(text));
  EXPECT_EQ(AsText(*Decode(chain, stored, 100)), "two");
  EXPECT_EQ(Encode(chain, AsBytes("two")).error().code, ErrorCode::kInvalidArgument);
}

TEST(Slice, EndsWithinWhatItIsGiven) {
  CodecStep step{CodecId::kSlice, 3};
  const Bytes text = Bytes::Copy(AsBytes("12345"));
  for (const uint64_t offset : {uint64_t{3}, uint64_t{6}, ~uint64_t{0}}) {
    step.slice_offset = offset;
    EXPECT_EQ(Decode({step}, text, 100).error().message,
              fmt::format("3 bytes at {} end past the 5 that hold them", offset));
    EXPECT_EQ(ClaimedSize({step}, text), std::nullopt);
  }
}

TEST(Codec, DecodesWithADictionary) {
  std::vector<Bytes> samples;
  for (int i = 0; i < 2000; ++i) {
    samples.push_back(
        Bytes::Copy(AsBytes(fmt::format("sample {} of many, {}", i, i * i))));
  }
  const auto dictionary =
      *ZstdDictionary::Load(Bytes::FromVector(*ZstdDictionary::Train(samples, 1024)));
  const BytesView value = samples[7];
  const Bytes stored = Bytes::FromVector(ZstdEncode(value, 3, dictionary.get()));
  const CodecChain chain{{CodecId::kZstd, value.size(), dictionary}};
  EXPECT_EQ(AsText(*Decode(chain, stored, 1000)), AsText(value));
  EXPECT_FALSE(Decode({{CodecId::kZstd, value.size()}}, stored, 1000));
  EXPECT_EQ(Encode(chain, value).error().code, ErrorCode::kInvalidArgument);
}

// Turns every byte round.
class Inverter final : public StepDecoder {
 public:
  Result<void> DecodeInto(BytesView stored, MutableBytes into) const override {
    if (stored.size() != into.size()) return Corrupt("another size");
    for (size_t i = 0; i < stored.size(); ++i) into[i] = ~stored[i];
    return {};
  }
};

TEST(XetChunks, AreUndoneByWhatTheStepBrings) {
  CodecStep step{CodecId::kXetChunks, 3};
  step.decoder = std::make_shared<Inverter>();
  const CodecChain chain{step};
  EXPECT_EQ(ToString(chain), "xet");
  const Bytes stored = Bytes::Copy(AsBytes("\x9e\x9d\x9c"));
  EXPECT_EQ(AsText(*Decode(chain, stored, 3)), "abc");
  EXPECT_THAT(Decode(chain, stored, 2).error().message, HasSubstr("more than the limit"));
  EXPECT_EQ(Decode(chain, stored.Slice(0, 2), 3).error().message, "another size");
  ByteVector into(3);
  EXPECT_TRUE(*DecodeInto(chain, stored, into));
  EXPECT_EQ(AsText(into), "abc");
  EXPECT_EQ(ClaimedSize(chain, stored), 3U);
  EXPECT_EQ(Encode(chain, AsBytes("abc")).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace dolium
