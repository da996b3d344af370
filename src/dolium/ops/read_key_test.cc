#include "dolium/ops/read_key.h"

#include <string>

#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/ops/testing/fake_container.h"

namespace dolium {
namespace {

TEST(ReadKey, LooksAgainIfTheObjectWasReplaced) {
  FakeContainer container;
  container.AddObject("one", 2);
  int attempts = 0;
  const bool is_there =
      Must(WithEntry(container, "one-0", [&](const Entry& entry) -> Result<void> {
        if (++attempts < 3) container.AddObject("one", 2);  // Replaced under the reader.
        DOLIUM_TRY([[maybe_unused]] const auto data, ReadEntry(container.store(), entry));
        return {};
      }));
  EXPECT_TRUE(is_there);
  EXPECT_EQ(attempts, 3);
}

TEST(ReadKey, EndsWithTheErrorIfItNeverHolds) {
  FakeContainer container;
  container.AddObject("one", 1);
  int attempts = 0;
  const auto read = WithEntry(container, "one-0", [&](const Entry&) -> Result<void> {
    ++attempts;
    return Conflict("replaced");
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kConflict);
  EXPECT_GT(attempts, 10);
}

TEST(ReadKey, DoesNotAskLongForWhatIsLost) {
  FakeContainer container;
  container.AddObject("one", 1);
  Must(container.location().store->Remove("one", Precondition::None()));
  const auto read = ReadKey(container, "one-0", /*raw=*/false);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  // What is known of it is still reported.
  EXPECT_TRUE(Must(FindCurrent(container, "one-0")).has_value());
}

TEST(ReadKey, GivesNothingForAnAbsentKey) {
  FakeContainer container;
  container.AddObject("one", 1);
  EXPECT_FALSE(Must(ReadKey(container, "two", /*raw=*/false)).has_value());
  EXPECT_FALSE(Must(FindCurrent(container, "two")).has_value());
}

}  // namespace
}  // namespace dolium
