#include "cli/terminal/hint_text.h"

#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

TEST(WithHintText, AddsNothingWithoutAHint) {
  EXPECT_EQ(WithHintText("a: is there already", Hint::kNone), "a: is there already");
}

TEST(WithHintText, NamesTheOptionBehindTheMessage) {
  EXPECT_EQ(WithHintText("a: is there already", Hint::kReplace),
            "a: is there already; --force replaces it");
}

// Context is added in front, so that the hint stays behind all of it.
TEST(WithHintText, NamesTheCommandThatDoesIt) {
  EXPECT_EQ(WithHintText("a: made of samples", Hint::kPackSamples),
            "a: made of samples; use: shardpack create, or shardpack import");
  EXPECT_EQ(WithHintText("a: has a dictionary", Hint::kExportSamples),
            "a: has a dictionary; use: shardpack export");
}

TEST(WithHintText, StaysBehindContextThatErrorsGain) {
  const Error error = Exists("is there already").WithHint(Hint::kReplace).Within("a");
  EXPECT_EQ(WithHintText(error.message, error.hint),
            "a: is there already; --force replaces it");
}

}  // namespace
}  // namespace dolium::cli
