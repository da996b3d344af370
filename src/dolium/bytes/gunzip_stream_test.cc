#include "dolium/bytes/gunzip_stream.h"

#include <string>

#include <gtest/gtest.h>

#include "dolium/bytes/testing/gzip_text.h"

namespace dolium {
namespace {

// Feeds `stored` in segments of `step` bytes.
Result<std::string> Gunzip(const std::string& stored, size_t step, uint64_t limit,
                           bool* finished = nullptr) {
  GunzipStream stream;
  ByteVector out;
  for (size_t i = 0; i < stored.size(); i += step) {
    DOLIUM_TRY_VOID(
        stream.Write(AsBytes(std::string_view(stored).substr(i, step)), out, limit));
  }
  if (finished != nullptr) *finished = stream.finished();
  return std::string(AsText(out));
}

TEST(GunzipStream, DecodesInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919);
  const std::string stored = GzipText(text);
  for (const size_t step : {size_t{1}, size_t{1000}, stored.size()}) {
    bool finished = false;
    auto decoded = Gunzip(stored, step, text.size(), &finished);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, text);
    EXPECT_TRUE(finished);
  }
}

TEST(GunzipStream, DecodesSeveralMembers) {
  const std::string stored = GzipText("one ") + GzipText("") + GzipText("two");
  for (const size_t step : {size_t{1}, stored.size()}) {
    auto decoded = Gunzip(stored, step, 100);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, "one two");
  }
}

TEST(GunzipStream, NoticesThatTheEndIsMissing) {
  const std::string stored = GzipText("hello");
  for (size_t length = 0; length < stored.size(); ++length) {
    bool finished = true;
    auto decoded = Gunzip(stored.substr(0, length), 1, 100, &finished);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_FALSE(finished) << length;
  }
}

TEST(GunzipStream, StopsABombAtTheLimit) {
  const std::string stored = GzipText(std::string(100'000'000, '\0'));
  ASSERT_LT(stored.size(), 200'000u);
  auto decoded = Gunzip(stored, stored.size(), 1'000'000);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(decoded.error().message,
            "gzip body decodes to more than the limit of 1000000 bytes");
}

TEST(GunzipStream, TakesExactlyTheLimit) {
  const std::string stored = GzipText(std::string(1000, 'x'));
  EXPECT_TRUE(Gunzip(stored, 1, 1000));
  EXPECT_FALSE(Gunzip(stored, 1, 999));
}

TEST(GunzipStream, RejectsDamage) {
  std::string stored = GzipText("hello");
  stored[stored.size() - 8] ^= 1;  // The checksum.
  auto decoded = Gunzip(stored, 1, 100);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message,
            "gzip body is damaged after 5 decoded bytes: incorrect data check");
  decoded = Gunzip("not gzip", 8, 100);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message,
            "gzip body is damaged after 0 decoded bytes: incorrect header check");
}

}  // namespace
}  // namespace dolium
