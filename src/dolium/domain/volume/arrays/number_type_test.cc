#include "dolium/domain/volume/arrays/number_type.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace dolium::volume {
namespace {

// How many of `values` were converted.
template <typename To, typename From>
size_t Convert(NumberType from, DataType to, const std::vector<From>& values,
               std::vector<To>& out) {
  out.assign(values.size(), To{});
  return ConvertNumbers(from, reinterpret_cast<const std::byte*>(values.data()), to,
                        reinterpret_cast<std::byte*>(out.data()), values.size());
}

TEST(NumberType, HasNames) {
  EXPECT_EQ(ToString(NumberType::kFloat64), "float64");
  EXPECT_EQ(ParseNumberType("Int64"), NumberType::kInt64);
  EXPECT_EQ(ParseNumberType("int65"), std::nullopt);
  EXPECT_EQ(SizeOf(NumberType::kInt16), 2);
  EXPECT_EQ(ToNumberType(DataType::kFloat32), NumberType::kFloat32);
}

TEST(ChooseDataType, KeepsTheTypeWhereItCan) {
  EXPECT_EQ(*ChooseDataType(NumberType::kInt32, std::nullopt), DataType::kInt32);
  EXPECT_EQ(*ChooseDataType(NumberType::kInt64, std::nullopt), DataType::kUint64);
  EXPECT_EQ(*ChooseDataType(NumberType::kFloat64, DataType::kUint8), DataType::kUint8);
  EXPECT_EQ(ChooseDataType(NumberType::kFloat64, std::nullopt).error().code,
            ErrorCode::kUnsupported);
}

TEST(ConvertNumbers, StopsAtAnIntegerOutOfRange) {
  std::vector<uint8_t> bytes;
  EXPECT_EQ(Convert<uint8_t>(NumberType::kInt32, DataType::kUint8,
                             std::vector<int32_t>{0, 255, 256}, bytes),
            2);
  EXPECT_EQ(bytes[1], 255);
  std::vector<uint64_t> words;
  EXPECT_EQ(Convert<uint64_t>(NumberType::kInt64, DataType::kUint64,
                              std::vector<int64_t>{INT64_MAX, -1}, words),
            1);
  EXPECT_EQ(words[0], uint64_t{INT64_MAX});
  std::vector<int8_t> small;
  EXPECT_EQ(Convert<int8_t>(NumberType::kUint64, DataType::kInt8,
                            std::vector<uint64_t>{127, 128}, small),
            1);
}

TEST(ConvertNumbers, TakesOnlyWholeFloatsForIntegers) {
  std::vector<uint64_t> words;
  const std::vector<double> good = {0, -0.0, 9007199254740992.0, 18446744073709549568.0};
  EXPECT_EQ(Convert<uint64_t>(NumberType::kFloat64, DataType::kUint64, good, words), 4);
  EXPECT_EQ(words[3], 18446744073709549568u);
  for (const double bad : {18446744073709551616.0, -1.0, 0.5, std::nan(""),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Convert<uint64_t>(NumberType::kFloat64, DataType::kUint64,
                                std::vector<double>{bad}, words),
              0)
        << bad;
  }
  std::vector<int8_t> small;
  EXPECT_EQ(Convert<int8_t>(NumberType::kFloat32, DataType::kInt8,
                            std::vector<float>{-128, 127, 128}, small),
            2);
}

TEST(ConvertNumbers, RoundsToFloat32ButDoesNotOverflow) {
  std::vector<float> floats;
  EXPECT_EQ(
      Convert<float>(NumberType::kFloat64, DataType::kFloat32,
                     std::vector<double>{0.1, -HUGE_VAL, std::nan(""), 1e39}, floats),
      3);
  EXPECT_EQ(floats[0], 0.1f);
  EXPECT_EQ(floats[1], -HUGE_VALF);
  EXPECT_TRUE(std::isnan(floats[2]));
  EXPECT_EQ(Convert<float>(NumberType::kUint64, DataType::kFloat32,
                           std::vector<uint64_t>{UINT64_MAX}, floats),
            1);
}

TEST(ConvertNumbers, WorksInPlaceForEqualSizes) {
  std::vector<int16_t> values = {1, 2, -3};
  auto* bytes = reinterpret_cast<std::byte*>(values.data());
  EXPECT_EQ(ConvertNumbers(NumberType::kInt16, bytes, DataType::kUint16, bytes, 3), 2);
  EXPECT_EQ(NumberText(NumberType::kInt16, bytes + 4), "-3");
}

}  // namespace
}  // namespace dolium::volume
