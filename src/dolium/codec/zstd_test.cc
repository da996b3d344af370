#include "dolium/codec/zstd.h"

#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

using testing::HasSubstr;

std::string Note(int i) {
  return fmt::format(R"({{"id":{},"label":"person","box":[{},{}],"camera":{}}})", i,
                     i % 97, i % 89, i % 5);
}

Bytes TrainedDictionary() {
  std::vector<Bytes> samples;
  for (int i = 0; i < 2000; ++i) samples.push_back(Bytes::Copy(AsBytes(Note(i))));
  const auto trained = ZstdDictionary::Train(samples, 4096);
  EXPECT_TRUE(trained);
  return Bytes::FromVector(*trained);
}

std::string Decoded(BytesView stored, size_t size,
                    const ZstdDictionary* dictionary = nullptr) {
  ByteVector into(size);
  const auto done = ZstdDecodeInto(stored, into, dictionary);
  return done ? std::string(AsText(into)) : "error: " + done.error().message;
}

TEST(Zstd, RoundTripsAndSaysItsSize) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(99'999, 'x')}) {
    for (const int level : {1, 3, 19}) {
      const ByteVector stored = ZstdEncode(AsBytes(text), level);
      EXPECT_EQ(Decoded(stored, text.size()), text);
      EXPECT_EQ(ZstdClaimedSize(stored), text.size());
      EXPECT_EQ(ZstdDictionaryId(stored), 0U);
      EXPECT_EQ(ZstdEncode(AsBytes(text), level), stored);
    }
  }
  EXPECT_EQ(ZstdClaimedSize(AsBytes("no frame")), std::nullopt);
}

TEST(Zstd, RefusesAnotherSizeAndDamage) {
  const std::string text(1000, 'x');
  const ByteVector stored = ZstdEncode(AsBytes(text));
  EXPECT_THAT(Decoded(stored, 999), HasSubstr("error: zstd"));
  EXPECT_THAT(Decoded(stored, 1001),
              HasSubstr("error: zstd frame decodes to 1000 bytes, 1001 expected"));
  for (size_t size = 0; size < stored.size(); ++size) {
    EXPECT_THAT(Decoded(BytesView(stored).first(size), 1000), HasSubstr("error"));
  }
}

TEST(Zstd, TakesOneFrameAndNothingElse) {
  const ByteVector frame = ZstdEncode(AsBytes("half"));
  ByteVector two = frame;
  Append(two, frame);
  EXPECT_THAT(Decoded(two, 8), HasSubstr("not one zstd frame"));
  const std::string skippable("\x50\x2a\x4d\x18\4\0\0\0skip", 12);
  EXPECT_THAT(Decoded(AsBytes(skippable), 0), HasSubstr("not one zstd frame"));
  ByteVector after = frame;
  after.push_back(std::byte{0});
  EXPECT_THAT(Decoded(after, 4), HasSubstr("error"));
  EXPECT_THAT(Decoded({}, 0), HasSubstr("error"));
}

TEST(ZstdDictionary, MakesSmallValuesSmaller) {
  const auto dictionary = ZstdDictionary::Load(TrainedDictionary());
  ASSERT_TRUE(dictionary) << dictionary.error().message;
  const std::string note = Note(123'456);
  const ByteVector with = ZstdEncode(AsBytes(note), 3, dictionary->get());
  EXPECT_LT(with.size(), ZstdEncode(AsBytes(note)).size() * 3 / 4);
  EXPECT_EQ(ZstdDictionaryId(with), (*dictionary)->id());
  EXPECT_EQ(ZstdIdOfDictionary((*dictionary)->bytes()), (*dictionary)->id());
  EXPECT_EQ(Decoded(with, note.size(), dictionary->get()), note);
  EXPECT_THAT(Decoded(with, note.size()), HasSubstr("error"));
}

TEST(ZstdDictionary, MayBeUsedByManyThreads) {
  const auto dictionary = *ZstdDictionary::Load(TrainedDictionary());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string note = Note(1000 * t + i);
        const ByteVector stored = ZstdEncode(AsBytes(note), 3, dictionary.get());
        EXPECT_EQ(Decoded(stored, note.size(), dictionary.get()), note);
      }
    });
  }
}

TEST(ZstdDictionary, IsNotMadeOfAnything) {
  EXPECT_FALSE(ZstdDictionary::Load(Bytes::Copy(AsBytes("no dictionary"))));
  EXPECT_FALSE(ZstdDictionary::Load({}));
  EXPECT_FALSE(ZstdDictionary::Train({}, 4096));
  Bytes cut = TrainedDictionary();
  EXPECT_FALSE(ZstdDictionary::Load(cut.Slice(0, 20)));
}

TEST(ZstdDecode, TakesFramesThatDoNotSayTheirSize) {
  // A streamed frame of "hello", as other programs write it: no size of its content.
  const ByteVector streamed = {
      std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd}, std::byte{0x00},
      std::byte{0x58}, std::byte{0x29}, std::byte{0x00}, std::byte{0x00}, std::byte{'h'},
      std::byte{'e'},  std::byte{'l'},  std::byte{'l'},  std::byte{'o'}};
  EXPECT_EQ(ZstdClaimedSize(streamed), std::nullopt);
  ByteVector two = streamed;
  Append(two, ZstdEncode(ByteVector(100'000, std::byte{7})));
  auto decoded = ZstdDecode(two, 100'005);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->size(), 100'005U);
  EXPECT_EQ(AsText(BytesView(*decoded).first(5)), "hello");
  decoded = ZstdDecode(two, 100'004);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  for (size_t size = 0; size < streamed.size(); ++size) {
    EXPECT_FALSE(ZstdDecode(BytesView(streamed).first(size), 100)) << size;
  }
}

}  // namespace
}  // namespace dolium
