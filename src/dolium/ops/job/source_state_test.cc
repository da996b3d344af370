#include "dolium/ops/job/source_state.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/files/files_container.h"

namespace dolium {
namespace {

class SourceStateTest : public testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) {
    Must(store_->Put(name, AsBytes(text), Precondition::None()));
  }
  std::string OfFolder() const {
    SourceState state({});
    Must(state.AddFolder({store_, "set"}));
    return state.text();
  }
  std::string OfEntries() const {
    SourceState state({});
    Must(state.AddEntries(files::FilesContainer({store_, "set"})));
    return state.text();
  }
  std::string OfObjects(const std::vector<std::string>& names) const {
    SourceState state({});
    Must(state.AddObjects(*store_, names));
    return state.text();
  }

  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(SourceStateTest, ChangesWithEveryObject) {
  Put("set/a", "1");
  Put("set/b", "1");
  for (const bool by_entries : {false, true}) {
    const auto state = [&] { return by_entries ? OfEntries() : OfFolder(); };
    const std::string first = state();
    EXPECT_EQ(state(), first);
    Put("set/a", "1");
    const std::string replaced = state();
    EXPECT_NE(replaced, first);
    Put("set/c", "1");
    EXPECT_NE(state(), replaced);
    Must(store_->Remove("set/c", Precondition::None()));
    EXPECT_EQ(state(), replaced);
  }
}

TEST_F(SourceStateTest, IsThatOfTheFolderAndNotOfBookkeepingOrOtherFolders) {
  Put("set/a", "1");
  const std::string first = OfFolder();
  Put("set/.dolium-unfinished", "{}");
  Put("set/below/b", "1");
  Put("other/a", "1");
  EXPECT_EQ(OfFolder(), first);
}

TEST_F(SourceStateTest, HasTheSameTextInAnyOrder) {
  Put("a", "1");
  EXPECT_EQ(OfObjects({"a", "b"}), OfObjects({"b", "a"}));
}

TEST_F(SourceStateTest, CountsWhatIsAbsent) {
  const std::string absent = OfObjects({"a"});
  EXPECT_NE(OfObjects({"a", "b"}), absent);
  Put("a", "");
  EXPECT_NE(OfObjects({"a"}), absent);
}

TEST_F(SourceStateTest, OfAFolderThatIsNotThereIsThatOfAnEmptyOne) {
  EXPECT_EQ(OfFolder(), SourceState({}).text());
}

TEST_F(SourceStateTest, GoesThroughMoreObjectsThanItHoldsAtOnce) {
  std::vector<std::string> names;
  for (size_t i = 0; i < SourceState::kBatch + 5; ++i) {
    names.push_back(fmt::format("set/{}", i));
    Put(names.back(), "x");
  }
  EXPECT_EQ(OfFolder(), OfObjects(names));
  Put(names.back(), "y");
  const std::string changed = OfFolder();
  EXPECT_EQ(changed, OfObjects(names));
}

TEST_F(SourceStateTest, CountsTheSecondObjectOfAPair) {
  // A container of one shard in the older layout.
  class Pair final : public Container {
   public:
    explicit Pair(Location location) : location_(std::move(location)) {}
    const Location& location() const override { return location_; }
    std::string_view format_name() const override { return "pair"; }
    Properties properties() const override { return {}; }
    Result<std::optional<Entry>> Find(std::string_view) const override {
      return std::nullopt;
    }
    Result<std::vector<std::string>> Objects() const override {
      return std::vector<std::string>{"set/0.index"};
    }
    Result<void> ScanObject(std::string_view, const ScanVisitor&) const override {
      return {};
    }
    Result<void> CheckObject(std::string_view, const FindingVisitor&) const override {
      return {};
    }

   private:
    const Location location_;
  };
  Put("set/0.index", "i");
  Put("set/0.data", "d");
  const auto state_of = [&] {
    SourceState state({});
    Must(state.AddEntries(Pair({store_, "set"})));
    return state.text();
  };
  const std::string first = state_of();
  Put("set/0.data", "e");
  EXPECT_NE(state_of(), first);
}

}  // namespace
}  // namespace dolium
