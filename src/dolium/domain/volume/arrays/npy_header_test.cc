#include "dolium/domain/volume/arrays/npy_header.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<NpyHeader> Parse(std::string_view file) { return ParseNpyHeader(AsBytes(file)); }

TEST(ParseNpyHeader, ReadsWhatNumPyWrites) {
  const std::string file =
      NpyFile("{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4, 5), }     ", "");
  const auto header = Parse(file);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->type, NumberType::kInt16);
  EXPECT_TRUE(header->big_endian);
  EXPECT_TRUE(header->fortran_order);
  EXPECT_THAT(header->shape, ElementsAre(3, 4, 5));
  EXPECT_EQ(header->data_offset, file.size());
}

TEST(ParseNpyHeader, TakesAnyOrderOfKeysAndSpaces) {
  const auto header =
      Parse(NpyFile("{ \"shape\":(7L,),\"fortran_order\" :False,'descr': '|b1'}", ""));
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->type, NumberType::kUint8);
  EXPECT_FALSE(header->fortran_order);
  EXPECT_THAT(header->shape, ElementsAre(7));
}

TEST(ParseNpyHeader, ReadsVersionsTwoAndThree) {
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': ()}";
  for (const char version : {'\x02', '\x03'}) {
    std::string file = "\x93NUMPY";
    file += version;
    file += '\0';
    file += static_cast<char>(text.size());
    file += std::string(3, '\0') + text;
    const auto header = Parse(file);
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->type, NumberType::kFloat32);
    EXPECT_THAT(header->shape, IsEmpty());
    EXPECT_EQ(header->data_offset, file.size());
  }
}

TEST(ParseNpyHeader, RejectsWhatIsNoHeader) {
  const auto error = [](std::string_view dictionary) {
    return Parse(NpyFile(dictionary, "")).error().message;
  };
  EXPECT_EQ(Parse("").error().message, "not a NumPy file");
  EXPECT_EQ(Parse("\x93NUMPX\x01").error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(Parse(std::string("\x93NUMPY\x01\0\x40\0{", 11)).error().message,
              HasSubstr("needs 64 bytes at 10, 1 remain"));
  EXPECT_THAT(Parse(std::string("\x93NUMPY\x04\0\x01\0\0\0{", 13)).error().message,
              HasSubstr("version 4.0"));
  EXPECT_EQ(error("{'descr': '<u1'}"),
            "NumPy header: 'descr', 'fortran_order' or 'shape' is missing");
  EXPECT_EQ(error("{'descr': '<u1', 'descr': '<u1'}"),
            "NumPy header: 'descr' is no key, or twice there");
  EXPECT_EQ(error("{'shape': (-1,)}"),
            "NumPy header: a number below 2^64 expected at character 11");
  EXPECT_EQ(error("{'shape': (99999999999999999999,)}"),
            "NumPy header: a number below 2^64 expected at character 11");
  EXPECT_EQ(error("{'shape': (1 2)}"), "NumPy header: ',' expected at character 13");
  EXPECT_EQ(error("{'shape"),
            "NumPy header: the end of a string expected at character 1");
  EXPECT_THAT(error("{'descr': '<u1', 'fortran_order': 1, 'shape': ()}"),
              HasSubstr("True or False expected"));
  EXPECT_THAT(error("{'descr': '<u1', 'fortran_order': True, 'shape': ()} x"),
              HasSubstr("text after the dictionary"));
}

TEST(ParseNpyHeader, SaysWhatItCannotRead) {
  const auto complex =
      Parse(NpyFile("{'descr': '<c8', 'fortran_order': True, 'shape': ()}", ""));
  EXPECT_EQ(complex.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(complex.error().message, HasSubstr("'<c8'"));
  const auto records =
      Parse(NpyFile("{'descr': [('a', '<u1')], 'fortran_order': True, 'shape': ()}", ""));
  EXPECT_EQ(records.error().message, "an array of records, not of numbers");
}

TEST(ParseNpyHeader, RefusesALongHeaderBeforeReadingIt) {
  const auto header = Parse(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12));
  EXPECT_EQ(header.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(header.error().message, HasSubstr("4294967295 bytes"));
}

TEST(MakeNpyHeader, IsReadBack) {
  const std::string text =
      MakeNpyHeader(NumberType::kUint64, std::vector<uint64_t>{100, 20, 3, 2}, true);
  EXPECT_EQ(text.size() % 64, 0);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_THAT(
      text,
      HasSubstr("{'descr': '<u8', 'fortran_order': True, 'shape': (100, 20, 3, 2), }"));
  const auto header = Parse(text);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->type, NumberType::kUint64);
  EXPECT_THAT(header->shape, ElementsAre(100, 20, 3, 2));
  EXPECT_EQ(header->data_offset, text.size());
  EXPECT_THAT(MakeNpyHeader(NumberType::kInt8, std::vector<uint64_t>{1, 2, 3}, true),
              HasSubstr("'|i1', 'fortran_order': True, 'shape': (1, 2, 3), }"));
}

}  // namespace
}  // namespace dolium::volume
