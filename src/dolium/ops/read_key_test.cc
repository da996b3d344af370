#include "dolium/ops/read_key.h"

#include <optional>
#include <string>
#include <vector>

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

TEST(ReadKey, ReadsManyWhoseObjectsWereReplaced) {
  FakeContainer container;
  container.AddObject("one", 2);
  container.AddObject("two", 1);
  const std::string keys[] = {"one-1", "absent", "two-0"};
  const auto text = [](const std::optional<Bytes>& value) {
    return value ? std::string(AsText(*value)) : "absent";
  };
  auto values = Must(ReadKeys(container, keys));
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(text(values[0]), "one-1");
  EXPECT_EQ(text(values[1]), "absent");
  EXPECT_EQ(text(values[2]), "two-0");

  std::vector<Entry> entries = {*Must(container.Find("one-0")),
                                *Must(container.Find("two-0"))};
  container.AddObject("one", 2);
  values = Must(ReadValues(container, entries));
  EXPECT_EQ(text(values[0]), "one-0") << "found again";
  EXPECT_EQ(text(values[1]), "two-0");
}

}  // namespace
}  // namespace dolium
