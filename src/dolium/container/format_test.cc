#include "dolium/container/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/testing/must.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

// A container of the objects "a" and "b", with two entries each; the second of "a" is
// damaged.
class FakeContainer final : public Container {
 public:
  FakeContainer(Location location, std::string_view name)
      : location_(std::move(location)), name_(name) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return name_; }
  Properties properties() const override { return {}; }
  Result<std::optional<Entry>> Find(std::string_view) const override {
    return std::nullopt;
  }
  Result<std::vector<std::string>> Objects() const override {
    return std::vector<std::string>{"a", "b"};
  }
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override {
    for (const std::string_view number : {"1", "2"}) {
      Entry entry;
      entry.key = std::string(object).append(number);
      if (entry.key != "a2") {
        if (!visitor.entry(entry)) return {};
      } else if (!visitor.damage) {
        return Corrupt("a2 is damaged");
      } else if (!visitor.damage({Severity::kError, "index", "a", "a2", {}, "damaged"})) {
        return {};
      }
    }
    return {};
  }
  Result<void> CheckObject(std::string_view, const FindingVisitor&) const override {
    return {};
  }

 private:
  const Location location_;
  const std::string_view name_;
};

template <int kScore>
Result<int> Score(const Location&) {
  return kScore;
}
Result<int> FailToProbe(const Location&) { return Unavailable("no connection"); }
Result<std::unique_ptr<Container>> OpenLow(const Location& location, const OpenOptions&) {
  return std::make_unique<FakeContainer>(location, "low");
}
Result<std::unique_ptr<Container>> OpenHigh(const Location& location,
                                            const OpenOptions&) {
  return std::make_unique<FakeContainer>(location, "high");
}

constexpr Format kLow{"low", "", Score<5>, OpenLow, nullptr, nullptr, nullptr};
constexpr Format kHigh{"high", "", Score<90>, OpenHigh, nullptr, nullptr, nullptr};
constexpr Format kNone{"none", "", Score<0>, nullptr, nullptr, nullptr, nullptr};
constexpr Format kBroken{"broken", "", FailToProbe, nullptr, nullptr, nullptr, nullptr};

class OpenContainerTest : public testing::Test {
 protected:
  OpenContainerTest() {
    Must(location_.store->Put("set/object", AsBytes("x"), Precondition::None()));
  }
  const Location location_{std::make_shared<MemoryStore>("m"), "set"};
};

TEST_F(OpenContainerTest, TakesTheBestMatch) {
  const Format formats[] = {kNone, kLow, kBroken, kHigh};
  EXPECT_EQ(Must(OpenContainer(formats, location_, "", {}))->format_name(), "high");
}

TEST_F(OpenContainerTest, AsksNobodyElseAboutAnEndingThatAFormatOwns) {
  static constexpr std::string_view kOwn[] = {"ject"};
  static int asked = 0;
  const auto count = [](const Location&) -> Result<int> {
    ++asked;
    return 100;
  };
  Format other = kLow;
  other.probe = count;
  Format own = kHigh;
  own.endings = kOwn;
  const Format formats[] = {other, own};
  const Location object = location_.Child("object");
  EXPECT_EQ(Must(OpenContainer(formats, object, "", {}))->format_name(), "high");
  EXPECT_EQ(asked, 0);
  // Not another name, and not for a guess.
  EXPECT_EQ(Must(OpenContainer(formats, location_, "", {}))->format_name(), "low");
  EXPECT_EQ(asked, 1);
  Format guess = kLow;
  guess.endings = kOwn;
  const Format guesses[] = {kHigh, guess};
  EXPECT_EQ(Must(OpenContainer(guesses, object, "", {}))->format_name(), "high");
}

TEST_F(OpenContainerTest, TakesTheNamedFormatWhateverTheOthersSay) {
  const Format formats[] = {kHigh, kLow};
  EXPECT_EQ(Must(OpenContainer(formats, location_, "low", {}))->format_name(), "low");
  const auto unknown = OpenContainer(formats, location_, "zip", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(unknown.error().message, "no format \"zip\"; there are: high, low");
}

TEST_F(OpenContainerTest, SaysWhichFormatsThereAreIfNoneFits) {
  const Format formats[] = {kNone, kNone};
  for (const Location& location : {location_, location_.Child("object")}) {
    const auto opened = OpenContainer(formats, location, "", {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(opened.error().message,
              location.Describe() + ": no format recognises it; formats: none, none");
    EXPECT_EQ(opened.error().hint, Hint::kNameFormat);
  }
}

TEST_F(OpenContainerTest, DistinguishesAbsenceFromStrangeness) {
  const Format formats[] = {kNone};
  const auto opened = OpenContainer(formats, location_.Child("absent"), "", {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(opened.error().message, "memory://m/set/absent: no such file or folder");
}

TEST_F(OpenContainerTest, PassesOnWhatKeptItFromLooking) {
  const Format formats[] = {kNone, kBroken};
  const auto opened = OpenContainer(formats, location_, "", {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
}

TEST_F(OpenContainerTest, ScansObjectAfterObjectPastDamage) {
  const FakeContainer container(location_, "fake");
  std::vector<std::string> met;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    met.push_back(entry.key);
    return true;
  };
  const auto scanned = Scan(container, visitor);
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(met, testing::ElementsAre("a1"));

  met.clear();
  visitor.damage = [&](const Finding& finding) {
    met.push_back("damaged " + finding.key);
    return true;
  };
  EXPECT_TRUE(Scan(container, visitor));
  EXPECT_THAT(met, testing::ElementsAre("a1", "damaged a2", "b1", "b2"));

  met.clear();
  visitor.damage = [&](const Finding&) { return false; };
  EXPECT_TRUE(Scan(container, visitor));
  EXPECT_THAT(met, testing::ElementsAre("a1"));
}

TEST_F(OpenContainerTest, ContainersCannotChangeUnlessTheySaySo) {
  FakeContainer container(location_, "fake");
  const auto applied = container.Apply({});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(applied.error().message,
            "memory://m/set: entries of format fake cannot be changed");
}

TEST_F(OpenContainerTest, MarkerComesAndGoes) {
  EXPECT_EQ(Must(ReadMarker(location_)), std::nullopt);
  Must(RemoveMarker(location_));
  Must(WriteMarker(location_, "{\"first\": 1}"));
  Must(WriteMarker(location_, "{}"));
  EXPECT_EQ(Must(ReadMarker(location_)), "{}");
  EXPECT_TRUE(Must(location_.store->Stat("set/.dolium-unfinished")));
  Must(RemoveMarker(location_));
  EXPECT_EQ(Must(ReadMarker(location_)), std::nullopt);
}

TEST_F(OpenContainerTest, FolderOfAJobIsUnfinishedWithoutAMarkerToo) {
  const Location job{location_.store, "set.dolium-new"};
  const auto finished = CheckFinished(job);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(finished.error().message, testing::HasSubstr("a job works in this folder"));
  EXPECT_TRUE(CheckFinished(location_));
}

TEST_F(OpenContainerTest, FilesThatAJobHasNotMovedYetAreMissing) {
  const Location job = location_.Child("a.dolium-new");
  const auto put = [&](const Location& object) {
    Must(object.store->Put(object.path, {}, Precondition::None()));
  };
  put(location_.Child("a"));
  put(job.Child("b"));
  const auto moved = CheckAllMoved(location_);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(moved.error().message,
              testing::HasSubstr("files of it are still in a.dolium-new"));
  // What the job is still making is none of this set's.
  Must(WriteMarker(job, "{}"));
  EXPECT_TRUE(CheckAllMoved(location_));
}

TEST(IsBookkeeping, KnowsItsOwnNames) {
  EXPECT_TRUE(IsBookkeeping(kMarkerName));
  EXPECT_TRUE(IsBookkeeping(".dolium-part-0"));
  EXPECT_FALSE(IsBookkeeping("dolium"));
  EXPECT_FALSE(IsBookkeeping("0.shard"));
}

TEST(EntryError, NamesObjectAndKeyOnce) {
  EXPECT_EQ(EntryError("o", "k", Corrupt("bad")).message, "o: k: bad");
  EXPECT_EQ(EntryError("o", "k", Corrupt("o: bad")).message, "o: k: bad");
  EXPECT_EQ(EntryError("o", "k", Corrupt("o: k: bad")).message, "o: k: bad");
  EXPECT_EQ(EntryError("o", "k", Corrupt("other: bad")).message, "o: k: other: bad");
  const Finding finding =
      ErrorFinding("read", "o", "k", ByteRange{1, 2}, IoError("o: k: bad"));
  EXPECT_EQ(finding.message, "bad");
  EXPECT_EQ(finding.key, "k");
  EXPECT_EQ(finding.severity, Severity::kError);
}

}  // namespace
}  // namespace dolium
