#include "cli/terminal/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

using ::testing::HasSubstr;

uint64_t Size(std::string_view text) {
  const auto size = ParseSize(text);
  EXPECT_TRUE(size) << text << ": " << size.error().message;
  return size ? *size : 0;
}

TEST(ParseSize, KnowsPowersOfThousandAndOf1024) {
  EXPECT_EQ(Size("0"), 0u);
  EXPECT_EQ(Size("4096"), 4096u);
  EXPECT_EQ(Size("4096B"), 4096u);
  EXPECT_EQ(Size("512k"), 512'000u);
  EXPECT_EQ(Size("1GB"), 1'000'000'000u);
  EXPECT_EQ(Size("1GiB"), 1u << 30);
  EXPECT_EQ(Size("64MiB"), 64u << 20);
  EXPECT_EQ(Size("2gi"), 2u << 30);
  EXPECT_EQ(Size("1EiB"), uint64_t{1} << 60);
}

TEST(ParseSize, TakesFractionsExactly) {
  EXPECT_EQ(Size("1.5GB"), 1'500'000'000u);
  EXPECT_EQ(Size("0.5KiB"), 512u);
  EXPECT_EQ(Size("0.0001k"), 0u);
}

TEST(ParseSize, RejectsWhatIsNoSize) {
  for (const char* text : {"", "k", "-1", "+1", "1.", "1.GB", ".5k", "1 GB", "1GBx",
                           "1ib", "0x10", "1e9", "1kk", "GB", "1iB", "1.0000000001k"}) {
    const auto size = ParseSize(text);
    ASSERT_FALSE(size) << text << " gave " << *size;
    EXPECT_EQ(size.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(size.error().message, HasSubstr("is not a size; write 4096"));
  }
}

TEST(ParseSize, RejectsMoreThan64Bits) {
  EXPECT_EQ(Size("18446744073709551615"), ~uint64_t{0});
  for (const char* text : {"18446744073709551616", "16EiB", "99999999999999999999E"}) {
    const auto size = ParseSize(text);
    ASSERT_FALSE(size) << text << " gave " << *size;
    EXPECT_THAT(size.error().message, HasSubstr("more than 64 bits hold"));
  }
}

TEST(ParseNumber, TakesWholeDecimalNumbersOnly) {
  EXPECT_EQ(*ParseNumber("0"), 0u);
  EXPECT_EQ(*ParseNumber("18446744073709551615"), ~uint64_t{0});
  for (const char* text : {"", "-1", "1.5", "1k", " 1", "18446744073709551616"}) {
    EXPECT_FALSE(ParseNumber(text)) << text;
  }
}

TEST(FormatSize, ShowsOneDecimalAndTheUnit) {
  EXPECT_EQ(FormatSize(0), "0 B");
  EXPECT_EQ(FormatSize(999), "999 B");
  EXPECT_EQ(FormatSize(1000), "1.0 kB");
  EXPECT_EQ(FormatSize(51'249'999), "51.2 MB");
  EXPECT_EQ(FormatSize(999'949), "999.9 kB");
  EXPECT_EQ(FormatSize(999'999), "1.0 MB");
  EXPECT_EQ(FormatSize(~uint64_t{0}), "18.4 EB");
}

TEST(FormatCount, GroupsDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(1, "entry"), "1 entry");
  EXPECT_EQ(FormatCount(0, "entry"), "0 entries");
  EXPECT_EQ(FormatCount(2, "mesh"), "2 meshes");
  EXPECT_EQ(FormatCount(1000, "chunk"), "1,000 chunks");
}

TEST(FormatDuration, ShowsHoursOnlyWhereThereAreSome) {
  EXPECT_EQ(FormatDuration(std::chrono::seconds(7)), "0:07");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(754)), "12:34");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(10800)), "3:00:00");
}

}  // namespace
}  // namespace dolium::cli
