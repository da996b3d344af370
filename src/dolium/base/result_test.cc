#include "dolium/base/result.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return InvalidArgument(std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  DOLIUM_TRY(const int half, Half(number));
  return Half(half);
}

Result<void> CheckEven(int number) {
  DOLIUM_TRY_VOID(Half(number));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = Half(8);
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(*good, 4);
  const Result<int> bad = Half(7);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bad.error().message, "7 is odd");
}

TEST(Result, PassesTheFirstErrorOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(5).error().message, "5 is odd");
  EXPECT_EQ(Quarter(6).error().message, "3 is odd");
  EXPECT_TRUE(CheckEven(2));
  EXPECT_EQ(CheckEven(3).error().message, "3 is odd");
}

TEST(Result, GainsContextOnlyAsAnError) {
  EXPECT_EQ(*Half(8).Within("shard"), 4);
  EXPECT_EQ(Half(7).Within("chunk 5").Within("shard").error().message,
            "shard: chunk 5: 7 is odd");
  EXPECT_TRUE(CheckEven(2).Within("shard"));
  const Result<void> bad = CheckEven(3).Within("shard");
  EXPECT_EQ(bad.error().message, "shard: 3 is odd");
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

TEST(Result, TakesWhatConvertsToItsValue) {
  const auto nothing = []() -> Result<std::optional<int>> { return std::nullopt; };
  const auto number = []() -> Result<std::optional<int>> { return 3; };
  ASSERT_TRUE(nothing());
  EXPECT_FALSE(nothing()->has_value());
  EXPECT_EQ(**number(), 3);
}

TEST(ResultDeathTest, EndsTheProgramWhenAnErrorIsTakenForAValue) {
  EXPECT_DEATH(static_cast<void>(Half(7).value()), "");
}

TEST(SystemError, ChoosesTheKindByNumber) {
  EXPECT_EQ(SystemError(ENOENT, "open").code, ErrorCode::kNotFound);
  EXPECT_EQ(SystemError(EEXIST, "open").code, ErrorCode::kExists);
  EXPECT_EQ(SystemError(EMFILE, "open").code, ErrorCode::kUnavailable);
  EXPECT_EQ(SystemError(EIO, "read").code, ErrorCode::kIo);
  EXPECT_EQ(SystemError(ENOENT, "open a/b").message,
            "open a/b: No such file or directory");
}

TEST(ErrorCodeName, NamesEveryCode) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNotFound), "not_found");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kCorrupt), "corrupt");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kExists), "exists");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kConflict), "conflict");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kIo), "io");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnavailable), "unavailable");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnsupported), "unsupported");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kCancelled), "cancelled");
}

}  // namespace
}  // namespace dolium
