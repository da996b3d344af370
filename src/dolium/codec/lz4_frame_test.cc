#include "dolium/codec/lz4_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/codec/codec.h"

namespace dolium {
namespace {

using testing::HasSubstr;

TEST(Lz4Frame, DecodesWhatItEncoded) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    ByteVector value(size, std::byte{7});
    if (size > 2) value[size / 2] = std::byte{9};
    const ByteVector stored = Lz4FrameEncode(value);
    ByteVector back(size);
    ASSERT_TRUE(Lz4FrameDecodeInto(stored, back));
    EXPECT_EQ(back, value);
  }
}

TEST(Lz4Frame, RejectsAnotherSizeACutAndWhatFollows) {
  const ByteVector value(1000, std::byte{1});
  ByteVector stored = Lz4FrameEncode(value);
  ByteVector small(999);
  EXPECT_FALSE(Lz4FrameDecodeInto(stored, small));
  ByteVector large(1001);
  EXPECT_THAT(Lz4FrameDecodeInto(stored, large).error().message,
              HasSubstr("decodes to 1000 bytes, 1001 expected"));
  ByteVector right(1000);
  EXPECT_THAT(Lz4FrameDecodeInto(BytesView(stored).first(stored.size() - 5), right)
                  .error()
                  .message,
              HasSubstr("cut short"));
  stored.push_back(std::byte{0});
  EXPECT_THAT(Lz4FrameDecodeInto(stored, right).error().message,
              HasSubstr("not one lz4 frame"));
}

TEST(Codec, CutsASliceOutOfWhatItDecoded) {
  ByteVector value(5000);
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::byte>(i);
  const Bytes stored = Bytes::FromVector(Lz4FrameEncode(value));
  const CodecStep frame{CodecId::kLz4Frame, 5000};
  CodecStep slice{CodecId::kSlice, 10};
  slice.slice_offset = 300;
  const auto part = Decode({frame, slice}, stored, 10'000);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_TRUE(Equal(*part, BytesView(value).subspan(300, 10)));
  ByteVector into(10);
  EXPECT_TRUE(*DecodeInto({frame, slice}, stored, into));
  EXPECT_TRUE(Equal(into, *part));
  slice.slice_offset = 4991;
  EXPECT_THAT(Decode({frame, slice}, stored, 10'000).error().message,
              HasSubstr("10 bytes at 4991 end past the 5000 that hold them"));
  EXPECT_EQ(Encode({slice}, value).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace dolium
