#include "dolium/bytes/stream_decoder.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/encoded_text.h"

namespace dolium {
namespace {

using testing::HasSubstr;

struct StreamEncoding {
  std::string content_encoding;
  std::string name;
  std::string (*encode)(const std::string& text);
};

class StreamDecoders : public testing::TestWithParam<StreamEncoding> {
 protected:
  static std::string Encode(const std::string& text) { return GetParam().encode(text); }

  // Feeds `stored` in segments of `step` bytes.
  static Result<std::string> Decode(const std::string& stored, size_t step,
                                    uint64_t limit, bool* finished = nullptr) {
    const auto stream = NewStreamDecoder(GetParam().content_encoding);
    EXPECT_EQ(stream->name(), GetParam().name);
    ByteVector out;
    for (size_t i = 0; i < stored.size(); i += step) {
      DOLIUM_TRY_VOID(
          stream->Write(AsBytes(std::string_view(stored).substr(i, step)), out, limit));
    }
    if (finished != nullptr) *finished = stream->finished();
    return std::string(AsText(out));
  }
};

TEST_P(StreamDecoders, DecodeInSegmentsOfAnySize) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919);
  const std::string stored = Encode(text);
  for (const size_t step : {size_t{1}, size_t{1000}, stored.size()}) {
    bool finished = false;
    auto decoded = Decode(stored, step, text.size(), &finished);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, text);
    EXPECT_TRUE(finished);
  }
}

TEST_P(StreamDecoders, NoticeThatTheEndIsMissing) {
  const std::string stored = Encode("hello");
  for (size_t length = 0; length < stored.size(); ++length) {
    bool finished = true;
    auto decoded = Decode(stored.substr(0, length), 1, 100, &finished);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_FALSE(finished) << length;
  }
}

TEST_P(StreamDecoders, StopABombAtTheLimit) {
  const std::string stored = Encode(std::string(100'000'000, '\0'));
  ASSERT_LT(stored.size(), 200'000u);
  auto decoded = Decode(stored, stored.size(), 1'000'000);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(decoded.error().message,
              HasSubstr("decodes to more than the limit of 1000000 bytes"));
}

TEST_P(StreamDecoders, TakeExactlyTheLimit) {
  const std::string stored = Encode(std::string(1000, 'x'));
  EXPECT_TRUE(Decode(stored, 1, 1000));
  EXPECT_FALSE(Decode(stored, 1, 999));
}

TEST_P(StreamDecoders, RejectWhatIsNotTheirs) {
  auto decoded = Decode("not encoded like that", 8, 100);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(decoded.error().message, HasSubstr("is damaged after 0 decoded bytes: "));
}

INSTANTIATE_TEST_SUITE_P(All, StreamDecoders,
                         testing::Values(StreamEncoding{"gzip", "gzip", GzipText},
                                         StreamEncoding{"x-gzip", "gzip", GzipText},
                                         StreamEncoding{"br", "brotli", BrotliText},
                                         StreamEncoding{"zstd", "zstd", ZstdText}),
                         [](const auto& tested) {
                           return tested.param.content_encoding == "x-gzip"
                                      ? std::string("x_gzip")
                                      : tested.param.content_encoding;
                         });

Result<std::string> DecodeAll(std::string_view encoding, const std::string& stored) {
  const auto stream = NewStreamDecoder(encoding);
  ByteVector out;
  for (const char& one : stored) {
    DOLIUM_TRY_VOID(stream->Write(AsBytes(std::string_view(&one, 1)), out, 100));
  }
  return std::string(AsText(out));
}

TEST(StreamDecoder, TakesSeveralMembersOrFrames) {
  const auto members =
      DecodeAll("gzip", GzipText("one ") + GzipText("") + GzipText("two"));
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_EQ(*members, "one two");
  const auto frames =
      DecodeAll("zstd", ZstdText("one ") + ZstdText("") + ZstdText("two"));
  ASSERT_TRUE(frames) << frames.error().message;
  EXPECT_EQ(*frames, "one two");
}

TEST(StreamDecoder, TakesOneStreamOfBrotli) {
  const auto two = DecodeAll("br", BrotliText("one ") + BrotliText("two"));
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().message, "1 bytes follow the end of the brotli stream");
}

TEST(StreamDecoder, RejectsAWrongChecksumOfGzip) {
  std::string stored = GzipText("hello");
  stored[stored.size() - 8] ^= 1;
  const auto decoded = DecodeAll("gzip", stored);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message,
            "gzip stream is damaged after 5 decoded bytes: incorrect data check");
}

TEST(StreamDecoder, IsNoneForOtherEncodings) {
  for (const std::string_view other : {"deflate", "identity", "", "gzip, br"}) {
    EXPECT_EQ(NewStreamDecoder(other), nullptr) << other;
  }
}

}  // namespace
}  // namespace dolium
