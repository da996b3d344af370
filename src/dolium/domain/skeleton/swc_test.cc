#include "dolium/domain/skeleton/swc.h"

#include <bit>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"

namespace dolium::skeleton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string SwcErrorOf(std::string_view text) {
  const auto skeleton = ParseSwc(text);
  return skeleton ? "no error" : skeleton.error().message;
}

TEST(Swc, HasParentsBeforeOrAfterTheirChildren) {
  const Skeleton skeleton = Must(
      ParseSwc("# neuron\n\n1 1 0 0 0 2.5 -1\n 3 0 2 0 0 1 2\n2 3 1 0 0 1.5 1 # near\n"));
  EXPECT_THAT(skeleton.vertices,
              ElementsAre(Point{0, 0, 0}, Point{2, 0, 0}, Point{1, 0, 0}));
  EXPECT_THAT(skeleton.edges, ElementsAre(Edge{2, 1}, Edge{0, 2}));
  EXPECT_EQ(std::bit_cast<float>(LoadLE<uint32_t>(skeleton.attributes[0].data())), 2.5F);
  EXPECT_EQ(skeleton.attributes[1][2], std::byte{3});
}

TEST(Swc, IsRefusedWithAReason) {
  EXPECT_EQ(SwcErrorOf("1 0 0 0 0 1"),
            "line 1: parent: found \"\", expected a whole number");
  EXPECT_EQ(SwcErrorOf("\n1 0 nan 0 0 1 -1"),
            "line 2: x: found \"nan\", expected a finite number");
  EXPECT_EQ(SwcErrorOf("1 0 0 0 0 1e99 -1"),
            "line 1: radius: found \"1e99\", expected a finite number");
  EXPECT_EQ(SwcErrorOf("1 300 0 0 0 1 -1"), "line 1: type 300, expected 0 to 255");
  EXPECT_EQ(SwcErrorOf("1 0 0 0 0 1 7"), "line 1: no sample 7, which is the parent of 1");
  EXPECT_EQ(SwcErrorOf("1 0 0 0 0 1 1"), "line 1: a sample that is its own parent");
  EXPECT_EQ(SwcErrorOf("1 0 0 0 0 1 -1\n1 0 0 0 0 1 -1"),
            "line 2: sample 1 is there twice");
  EXPECT_THAT(SwcErrorOf("1e300 0 0 0 0 1 -1"), HasSubstr("expected a whole number"));
}

TEST(Swc, HasOneRootForEachTree) {
  Skeleton skeleton;
  skeleton.vertices = {{1, 0, 0}, {0, 0, 0}, {2, 0, 0}, {9, 9, 9}, {1, 1, 0}};
  skeleton.edges = {{0, 1}, {0, 2}, {4, 0}};
  SkeletonInfo info;
  info.attributes = {{.id = "radius", .type = AttributeType::kUint8}};
  skeleton.attributes = {
      {std::byte{3}, std::byte{1}, std::byte{2}, std::byte{9}, std::byte{4}}};
  const SwcText swc = WriteSwc(skeleton, info, "label 7", 2);
  EXPECT_EQ(swc.trees, 2U);
  EXPECT_EQ(swc.dropped_edges, 0U);
  EXPECT_EQ(swc.text,
            "# label 7\n# sample type x y z radius parent\n"
            "1 0 0 0 0 2 -1\n2 0 1 0 0 6 1\n3 0 1 1 0 8 2\n4 0 2 0 0 4 2\n"
            "5 0 9 9 9 18 -1\n");
}

TEST(Swc, SaysWhatItCannotHold) {
  Skeleton ring;
  ring.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
  ring.edges = {{0, 1}, {1, 2}, {2, 0}};
  const SwcText swc = WriteSwc(ring, {}, "");
  EXPECT_EQ(swc.trees, 1U);
  EXPECT_EQ(swc.dropped_edges, 1U);
  EXPECT_EQ(Must(ParseSwc(swc.text)).edges.size(), 2U);
}

TEST(Swc, IsReadAsItIsWritten) {
  const std::string text =
      "# sample type x y z radius parent\n1 1 0.1 0.2 0.3 5 -1\n2 3 1 2 3 0.25 1\n";
  EXPECT_EQ(WriteSwc(Must(ParseSwc(text)), SwcInfo(), "").text, text);
}

}  // namespace
}  // namespace dolium::skeleton
