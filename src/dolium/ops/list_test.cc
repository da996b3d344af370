#include "dolium/ops/list.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/ops/testing/fake_container.h"

namespace dolium {
namespace {

using ::testing::ElementsAre;

TEST(List, VisitsEveryEntryPastDamage) {
  FakeContainer container;
  container.AddObject("one", 2);
  container.AddObject("two", 1);
  container.damaged = "two";
  std::vector<std::string> met;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    met.push_back(entry.key);
    return true;
  };
  visitor.damage = [&](const Finding& finding) {
    met.push_back(finding.message);
    return true;
  };
  Must(List(container, visitor));
  EXPECT_THAT(met, ElementsAre("one-0", "one-1", "a damaged block", "two-0"));
}

TEST(Cat, GivesOnePieceDecodedOrRaw) {
  FakeContainer container;
  container.AddObject("one", 2);
  EXPECT_EQ(AsText(Must(Cat(container, "one-1", false)).value), "one-1");
  EXPECT_TRUE(
      Equal(Must(Cat(container, "one-1", true)).value, GzipEncode(AsBytes("one-1"), 1)));
  const auto absent = Cat(container, "one-2", false);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(absent.error().message, "memory://m: no entry \"one-2\"");
}

}  // namespace
}  // namespace dolium
