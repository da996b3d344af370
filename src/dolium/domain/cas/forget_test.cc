#include "dolium/domain/cas/forget.h"

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Nanoseconds of a local time.
int64_t At(const char* text) {
  tm parts{};
  EXPECT_NE(strptime(text, "%Y-%m-%d %H:%M:%S", &parts), nullptr) << text;
  parts.tm_isdst = -1;
  return int64_t{mktime(&parts)} * 1'000'000'000;
}

std::vector<Version> VersionsAt(const std::vector<const char*>& times) {
  std::vector<Version> versions;
  for (const char* time : times) {
    Version& version = versions.emplace_back();
    version.sequence = versions.size();
    version.created = At(time);
  }
  return versions;
}

// "3: last, daily" for each version that is kept, by its number.
std::vector<std::string> Kept(const std::vector<Version>& versions,
                              const KeepPolicy& policy) {
  std::vector<std::string> kept;
  for (const KeepChoice& choice : ChooseVersions(versions, policy)) {
    if (!choice.is_kept()) continue;
    kept.push_back(
        fmt::format("{}: {}", choice.version.sequence, fmt::join(choice.reasons, ", ")));
  }
  return kept;
}

class KeepTest : public testing::Test {
 protected:
  KeepTest() {
    if (const char* zone = getenv("TZ")) zone_ = zone;
    SetZone("UTC");
  }
  ~KeepTest() override { SetZone(zone_); }
  static void SetZone(const std::string& zone) {
    if (zone.empty()) {
      unsetenv("TZ");
    } else {
      setenv("TZ", zone.c_str(), 1);
    }
    tzset();
  }
  std::string zone_;
};

// What restic keeps of the same times: by its rules, the latest of each period, newest
// first, and the oldest of all while a rule has some left.
TEST_F(KeepTest, KeepsWhatResticKeeps) {
  const auto versions = VersionsAt({
      "2023-12-30 10:00:00",  // 1: Saturday of week 52
      "2023-12-31 10:00:00",  // 2: Sunday of week 52
      "2024-01-01 08:00:00",  // 3: Monday of week 1
      "2024-01-01 20:00:00",  // 4
      "2024-01-02 09:00:00",  // 5
      "2024-01-08 09:00:00",  // 6: Monday of week 2
      "2024-02-01 09:00:00",  // 7: Thursday of week 5
      "2024-02-01 21:00:00",  // 8
  });
  EXPECT_THAT(Kept(versions, {.last = 1}), ElementsAre("8: last"));
  EXPECT_THAT(Kept(versions, {.last = 3}), ElementsAre("8: last", "7: last", "6: last"));
  EXPECT_THAT(Kept(versions, {.daily = 3}),
              ElementsAre("8: daily", "6: daily", "5: daily"));
  EXPECT_THAT(Kept(versions, {.daily = 4}),
              ElementsAre("8: daily", "6: daily", "5: daily", "4: daily"));
  EXPECT_THAT(Kept(versions, {.daily = 100}),
              ElementsAre("8: daily", "6: daily", "5: daily", "4: daily", "2: daily",
                          "1: daily"));
  EXPECT_THAT(Kept(versions, {.weekly = 3}),
              ElementsAre("8: weekly", "6: weekly", "5: weekly"));
  // The oldest fills what is left.
  EXPECT_THAT(Kept(versions, {.weekly = 5}),
              ElementsAre("8: weekly", "6: weekly", "5: weekly", "2: weekly",
                          "1: oldest weekly"));
  EXPECT_THAT(Kept(versions, {.weekly = 4}),
              ElementsAre("8: weekly", "6: weekly", "5: weekly", "2: weekly"));
  EXPECT_THAT(Kept(versions, {.monthly = 2}), ElementsAre("8: monthly", "6: monthly"));
  EXPECT_THAT(Kept(versions, {.monthly = 4}),
              ElementsAre("8: monthly", "6: monthly", "2: monthly", "1: oldest monthly"));
  EXPECT_THAT(Kept(versions, {.yearly = 1}), ElementsAre("8: yearly"));
  EXPECT_THAT(Kept(versions, {.yearly = 2}), ElementsAre("8: yearly", "2: yearly"));
  EXPECT_THAT(Kept(versions, {.yearly = 3}),
              ElementsAre("8: yearly", "2: yearly", "1: oldest yearly"));
  EXPECT_THAT(Kept(versions, {.last = 2, .daily = 2, .yearly = 2}),
              ElementsAre("8: last, daily, yearly", "7: last", "6: daily", "2: yearly"));
}

// A week belongs to the year that has its Thursday.
TEST_F(KeepTest, CountsWeeksAsIsoDoes) {
  const auto versions = VersionsAt({
      "2020-12-27 12:00:00",  // Sunday of week 52
      "2020-12-28 12:00:00",  // Monday of week 53
      "2021-01-03 12:00:00",  // Sunday of week 53
      "2021-01-04 12:00:00",  // Monday of week 1
  });
  EXPECT_THAT(Kept(versions, {.weekly = 3}),
              ElementsAre("4: weekly", "3: weekly", "1: weekly"));
}

TEST_F(KeepTest, CountsDaysOfTheLocalZone) {
  const auto versions = VersionsAt({"2024-03-01 22:30:00", "2024-03-01 23:30:00"});
  EXPECT_THAT(Kept(versions, {.daily = 1}), ElementsAre("2: daily"));
  EXPECT_THAT(Kept(versions, {.daily = 2}), ElementsAre("2: daily", "1: oldest daily"));
  SetZone("CET-1");
  EXPECT_THAT(Kept(versions, {.daily = 2}), ElementsAre("2: daily", "1: daily"));
}

TEST_F(KeepTest, TakesNumbersWhereTimesAreEqual) {
  const auto versions = VersionsAt({"2024-03-01 22:30:00", "2024-03-01 22:30:00"});
  EXPECT_THAT(Kept(versions, {.last = 1}), ElementsAre("2: last"));
  EXPECT_THAT(Kept({}, {.last = 1}), IsEmpty());
}

TEST(ParseTagLists, SplitsAtCommas) {
  EXPECT_THAT(*ParseTagLists({"a,b", "c"}),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  for (const char* text : {"", "a,", ",a", "a,,b", "a\nb", "\xff"}) {
    EXPECT_EQ(ParseTagLists({text}).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(VersionFilter, TakesAllTagsOfAnyList) {
  Version version;
  version.tags = {"a", "b"};
  version.host = "box";
  EXPECT_TRUE(VersionFilter().Match(version));
  EXPECT_TRUE((VersionFilter{.tags = {{"a"}}, .host = "box"}.Match(version)));
  EXPECT_TRUE((VersionFilter{.tags = {{"a", "c"}, {"b", "a"}}}.Match(version)));
  EXPECT_FALSE((VersionFilter{.tags = {{"a", "c"}}}.Match(version)));
  EXPECT_FALSE((VersionFilter{.host = "other"}.Match(version)));
}

class ForgetTest : public StoreTest {
 protected:
  std::vector<uint64_t> Sequences(const std::string& name) const {
    std::vector<uint64_t> found;
    const auto versions = ListVersions(store_->layout(), name).value();
    for (const Version& version : versions) {
      found.push_back(version.sequence);
    }
    return found;
  }
};

TEST_F(ForgetTest, RemovesWhatNoRuleKeeps) {
  for (int i = 0; i < 4; ++i) PutText("a", fmt::format("text {}", i));
  for (int i = 0; i < 2; ++i) PutText("b", fmt::format("text {}", i));
  ForgetOptions options;
  options.policy.last = 1;
  options.names = {"a"};
  options.dry_run = true;
  std::vector<std::string> seen;
  options.visit = [&](const KeepChoice& choice) {
    seen.push_back(choice.version.reference() + (choice.is_kept() ? " stays" : " goes"));
  };
  auto report = ForgetVersions(*store_, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->removed, 3u);
  EXPECT_EQ(report->kept, 1u);
  EXPECT_THAT(seen, ElementsAre("a@4 stays", "a@3 goes", "a@2 goes", "a@1 goes"));
  EXPECT_THAT(Sequences("a"), ElementsAre(1, 2, 3, 4));
  options.dry_run = false;
  ASSERT_TRUE(ForgetVersions(*store_, options));
  EXPECT_THAT(Sequences("a"), ElementsAre(4));
  EXPECT_THAT(Sequences("b"), ElementsAre(1, 2));
  options.names = {};
  ASSERT_TRUE(ForgetVersions(*store_, options));
  EXPECT_THAT(Sequences("b"), ElementsAre(2));
}

TEST_F(ForgetTest, LeavesAloneWhatItIsNotAbout) {
  PutText("a", "1", {.tags = {"nightly"}, .host = "one"});
  PutText("a", "2", {.tags = {"release", "nightly"}, .host = "one"});
  PutText("a", "3", {.tags = {"nightly"}, .host = "two"});
  PutText("a", "4", {.tags = {"nightly"}, .host = "one"});
  ForgetOptions options;
  options.policy.last = 1;
  options.filter.tags = {{"nightly"}};
  options.filter.host = "one";
  ASSERT_TRUE(ForgetVersions(*store_, options));
  EXPECT_THAT(Sequences("a"), ElementsAre(3, 4));
}

TEST_F(ForgetTest, RefusesToRemoveAll) {
  PutText("a", "1");
  const auto report = ForgetVersions(*store_, {});
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
  ForgetOptions options;
  options.policy.last = 1;
  options.names = {"none"};
  EXPECT_EQ(ForgetVersions(*store_, options).error().code, ErrorCode::kNotFound);
}

TEST_F(ForgetTest, RemovesNothingOfANameWithADamagedVersion) {
  for (int i = 0; i < 3; ++i) PutText("a", fmt::format("text {}", i));
  for (const auto& [name, text] : FilesBelow(path("store/names/a"))) {
    if (name.starts_with("00000003")) WriteText(path("store/names/a/" + name), "x");
  }
  ForgetOptions options;
  options.policy.last = 1;
  EXPECT_EQ(ForgetVersions(*store_, options).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(FilesBelow(path("store/names/a")).size(), 3u);
}

}  // namespace
}  // namespace dolium::cas
