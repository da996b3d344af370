#include "dolium/container/properties.h"

#include <gtest/gtest.h>

namespace dolium {
namespace {

TEST(PropertyValue, KeepsItsType) {
  EXPECT_EQ(PropertyValue("7").value(), PropertyValue::Value(std::string("7")));
  EXPECT_EQ(PropertyValue(size_t{7}).value(), PropertyValue::Value(uint64_t{7}));
  EXPECT_EQ(PropertyValue(true).value(), PropertyValue::Value(true));
  EXPECT_NE(PropertyValue("7"), PropertyValue(7U));
}

TEST(PropertyValue, IsTextForPeople) {
  EXPECT_EQ(PropertyValue("gzip").text(), "gzip");
  EXPECT_EQ(PropertyValue(uint64_t{12345}).text(), "12345");
  EXPECT_EQ(PropertyValue(2.0 / 3).text(), "0.67");
  EXPECT_EQ(PropertyValue(false).text(), "no");
}

}  // namespace
}  // namespace dolium
