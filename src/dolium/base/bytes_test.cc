#include "dolium/base/bytes.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(Bytes, KeepsItsOwnerThroughSlices) {
  Bytes part;
  {
    const Bytes whole = Bytes::Copy(AsBytes("some text"));
    part = whole.Slice(5, 4);
  }
  EXPECT_EQ(AsText(part), "text");
  EXPECT_EQ(AsText(part.Slice(4, 0)), "");
}

TEST(Bytes, TakesAVectorWithoutACopy) {
  ByteVector data(100, std::byte{7});
  const std::byte* const address = data.data();
  const Bytes bytes = Bytes::FromVector(std::move(data));
  EXPECT_EQ(bytes.data(), address);
  EXPECT_EQ(bytes.size(), 100U);
}

TEST(Bytes, TakesABufferWithoutACopy) {
  Buffer buffer(3);
  const std::byte* const address = buffer.view().data();
  std::memcpy(buffer.view().data(), "abc", 3);
  const Bytes bytes = std::move(buffer).Share();
  EXPECT_EQ(bytes.data(), address);
  EXPECT_EQ(AsText(bytes), "abc");
}

TEST(Bytes, ComparesContent) {
  EXPECT_TRUE(Equal(AsBytes("abc"), AsBytes(std::string("abc"))));
  EXPECT_FALSE(Equal(AsBytes("abc"), AsBytes("abd")));
  EXPECT_FALSE(Equal(AsBytes("abc"), AsBytes("ab")));
  EXPECT_TRUE(Equal({}, {}));
}

}  // namespace
}  // namespace dolium
