#include "dolium/domain/volume/arrays/slice_folder.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"
#include "dolium/domain/volume/encodings/jpeg.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(NaturallyLess, CountsAsPeopleDo) {
  std::vector<std::string> names = {"z10",
                                    "z2",
                                    "z1",
                                    "a",
                                    "z02",
                                    "z2b",
                                    "z",
                                    "z2a3",
                                    "z2a 03",
                                    "Z100",
                                    "z99999999999999999999"};
  std::sort(names.begin(), names.end(), NaturallyLess);
  EXPECT_THAT(names, ElementsAre("Z100", "a", "z", "z1", "z02", "z2", "z2a 03", "z2a3",
                                 "z2b", "z10", "z99999999999999999999"));
  EXPECT_FALSE(NaturallyLess("z2", "z2"));
}

class SliceFolderTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  template <typename T>
  void WritePng(const std::string& name, const ArrayShape& shape,
                const std::vector<T>& values) const {
    WriteFile(Path(name),
              AsText(Must(EncodePng(shape, 1, std::as_bytes(std::span(values))))));
  }
  std::unique_ptr<ArraySource> Open() const {
    return Must(OpenArraySource({.path = folder_.path()}));
  }
  Error OpenError() const { return ErrorOf({.path = folder_.path()}); }

  const TemporaryFolder folder_;
};

TEST_F(SliceFolderTest, StacksFilesInNaturalOrder) {
  for (uint16_t z = 0; z < 12; ++z) {
    WritePng("z" + std::to_string(z) + ".PNG", {{3, 2, 1}, 1, DataType::kUint16},
             Count<uint16_t>(6, static_cast<uint16_t>(6000 + 6 * z)));
  }
  WriteFile(Path("notes.txt"), "x");
  WriteFile(Path("info.json"), "{}");
  WriteFile(Path(".hidden.tif"), "x");
  std::filesystem::create_directory(Path("folder.tif"));
  const auto source = Open();
  EXPECT_EQ(source->shape(), (ArrayShape{{3, 2, 12}, 1, DataType::kUint16}));
  EXPECT_TRUE(source->reads_whole_pages());
  EXPECT_EQ(ReadAll<uint16_t>(*source), Count<uint16_t>(72, 6000));
  EXPECT_THAT(ReadBox<uint16_t>(*source, {{1, 1, 10}, {3, 2, 12}}),
              ElementsAre(6064, 6065, 6070, 6071));
}

TEST_F(SliceFolderTest, MakesChannelsOfColours) {
  const ArrayShape shape = {{2, 2, 1}, 3, DataType::kUint8};
  WritePng("a.png", shape, Count<uint8_t>(12));
  WritePng("b.png", shape, Count<uint8_t>(12, 100));
  const auto source = Open();
  EXPECT_EQ(source->shape(), (ArrayShape{{2, 2, 2}, 3, DataType::kUint8}));
  EXPECT_THAT(ReadBox<uint8_t>(*source, {{0, 1, 0}, {2, 2, 2}}),
              ElementsAre(2, 3, 102, 103, 6, 7, 106, 107, 10, 11, 110, 111));
  const auto one = Must(OpenArraySource({.path = Path("b.png")}));
  EXPECT_EQ(ReadAll<uint8_t>(*one), Count<uint8_t>(12, 100));
}

TEST_F(SliceFolderTest, ReadsJpeg) {
  for (const int64_t channels : {1, 3}) {
    const ArrayShape shape = {{20, 10, 1}, channels, DataType::kUint8};
    const ByteVector grey(*shape.bytes(), std::byte{128});
    for (const char* name : {"1.jpg", "2.jpeg"}) {
      WriteFile(Path(name), AsText(Must(EncodeJpeg(shape, 95, grey))));
    }
    const auto source = Open();
    EXPECT_EQ(source->shape(), (ArrayShape{{20, 10, 2}, channels, DataType::kUint8}));
    const auto values = ReadBox<uint8_t>(*source, {{3, 3, 0}, {6, 6, 2}});
    EXPECT_EQ(values, std::vector<uint8_t>(static_cast<size_t>(18 * channels), 128));
  }
}

TEST_F(SliceFolderTest, ReadsTiffFilesOfOnePage) {
  for (const int compression : {1, 5}) {
    const TiffPages how = {
        .width = 4, .height = 2, .bits = 32, .compression = compression};
    for (uint32_t z = 0; z < 3; ++z) {
      WriteTiff(Path(std::to_string(z) + ".tiff"), how,
                {BytesOf(Count<uint32_t>(8, 8 * z))});
    }
    const auto source = Open();
    EXPECT_EQ(source->reads_whole_pages(), compression != 1);
    EXPECT_EQ(ReadAll<uint32_t>(*source), Count<uint32_t>(24));
  }
  WriteTiff(Path("3.tiff"), {.width = 4, .height = 2, .bits = 32},
            {std::string(32, 'x'), std::string(32, 'x')});
  EXPECT_THAT(OpenError().message, EndsWith("3.tiff: has several pages; files in a "
                                            "folder must have one"));
}

TEST_F(SliceFolderTest, RejectsFilesThatDiffer) {
  const ArrayShape shape = {{2, 2, 1}, 1, DataType::kUint8};
  WritePng("a.png", shape, Count<uint8_t>(4));
  WritePng("b.png", {{4, 1, 1}, 1, DataType::kUint8}, Count<uint8_t>(4));
  EXPECT_THAT(OpenError().message, EndsWith("b.png: it is 4x1, 1 channel of uint8, and "
                                            "the first page 2x2, 1 channel of uint8"));
  WriteFile(Path("b.png"), "x");
  EXPECT_THAT(OpenError().message, EndsWith("b.png: not a PNG file"));
  std::filesystem::rename(Path("b.png"), Path("b.jpg"));
  const Error mixed = OpenError();
  EXPECT_EQ(mixed.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(mixed.message, HasSubstr("which of them?"));
}

TEST_F(SliceFolderTest, NoticesAFileThatChangedSinceItWasOpened) {
  WritePng("a.png", {{2, 2, 1}, 1, DataType::kUint8}, Count<uint8_t>(4));
  const auto source = Open();
  const std::string before = source->Fingerprint();
  WritePng("a.png", {{4, 1, 1}, 1, DataType::kUint8}, Count<uint8_t>(4));
  std::array<std::byte, 4> into;
  const auto read = source->Read({{0, 0, 0}, {2, 2, 1}}, into);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("a.png: it is 4x1"));
  EXPECT_NE(Open()->Fingerprint(), before);
}

TEST_F(SliceFolderTest, RefusesImagesThatClaimTooMuch) {
  EXPECT_EQ(OpenError().code, ErrorCode::kNotFound);
  const std::string head("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", 16);
  const std::string huge("\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x00\0\0\0\0\0\0\0", 17);
  WriteFile(Path("a.png"), head + huge);
  EXPECT_THAT(OpenError().message,
              EndsWith("a.png: a page of 2147483647x2147483647, 1 channel of uint8 does "
                       "not come out of 33 bytes"));
  std::filesystem::remove(Path("a.png"));
  WriteFile(Path("a.jpg"), std::string("\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01"
                                       "\x01\x11\0\xff\xd9",
                                       17));
  EXPECT_THAT(OpenError().message, HasSubstr("a page of 65535x65535"));
  WriteFile(Path("a.jpg"), std::string("\xff\xd8\xff\xe0\0\2", 6));
  EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt);
}

TEST_F(SliceFolderTest, ReportsImagesThatAreCutShort) {
  const ArrayShape shape = {{64, 64, 1}, 1, DataType::kUint8};
  const std::string png(
      AsText(Must(EncodePng(shape, 1, AsBytes(BytesOf(Count<uint8_t>(4096)))))));
  for (const size_t length : {size_t{0}, size_t{20}, png.size() / 2, png.size() - 16}) {
    WriteFile(Path("a.png"), png.substr(0, length));
    EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt) << length;
  }
}

}  // namespace
}  // namespace dolium::volume
