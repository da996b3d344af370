#include <tiffio.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class TiffStackTest : public ::testing::Test {
 protected:
  std::unique_ptr<ArraySource> Open() const {
    return Must(OpenArraySource({.path = path_}));
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/a.tif";
};

// Pages of consecutive numbers, and what they are as an array.
template <typename T>
struct Numbered {
  std::vector<std::string> pages;
  std::vector<T> array;

  Numbered(const TiffPages& how, size_t depth) {
    const size_t width = static_cast<size_t>(how.width);
    const size_t height = static_cast<size_t>(how.height);
    const size_t channels = static_cast<size_t>(how.channels);
    array.resize(width * height * depth * channels);
    for (size_t z = 0; z < depth; ++z) {
      std::vector<T> page;
      for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) {
          for (size_t c = 0; c < channels; ++c) {
            const T value = static_cast<T>(x + 10 * y + 100 * z + 50 * c);
            page.push_back(value);
            array[((c * depth + z) * height + y) * width + x] = value;
          }
        }
      }
      pages.push_back(BytesOf(page));
    }
  }
};

TEST_F(TiffStackTest, ReadsStripsAndTilesOfEveryLayout) {
  for (const char* mode : {"w", "w8", "wb"}) {
    for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW,
                                  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
      for (const auto& [rows, tile] : {std::tuple(1000, 0), {3, 0}, {1000, 16}}) {
        for (const bool separate : {false, true}) {
          const TiffPages how = {.mode = mode,
                                 .width = 37,
                                 .height = 20,
                                 .channels = 2,
                                 .bits = 16,
                                 .compression = compression,
                                 .rows_per_strip = rows,
                                 .tile = tile,
                                 .separate = separate};
          SCOPED_TRACE(testing::Message() << mode << " " << compression << " " << rows
                                          << " " << tile << " " << separate);
          const Numbered<uint16_t> numbers(how, 3);
          WriteTiff(path_, how, numbers.pages);
          const auto source = Open();
          ASSERT_EQ(source->shape(), (ArrayShape{{37, 20, 3}, 2, DataType::kUint16}));
          EXPECT_EQ(source->reads_whole_pages(),
                    tile == 0 && compression != COMPRESSION_NONE);
          EXPECT_EQ(ReadAll<uint16_t>(*source), numbers.array);
          EXPECT_THAT(ReadBox<uint16_t>(*source, {{35, 16, 1}, {37, 18, 2}}),
                      ElementsAre(295, 296, 305, 306, 345, 346, 355, 356));
        }
      }
    }
  }
}

template <typename T>
void ReadsBack(const std::string& path, int format, DataType type) {
  const TiffPages how = {
      .width = 5, .height = 4, .bits = 8 * int{sizeof(T)}, .format = format};
  const Numbered<T> numbers(how, 2);
  WriteTiff(path, how, numbers.pages);
  const auto source = Must(OpenArraySource({.path = path}));
  EXPECT_EQ(source->shape().type, type);
  EXPECT_EQ(ReadAll<T>(*source), numbers.array);
}

TEST_F(TiffStackTest, ReadsEveryTypeOfNumber) {
  ReadsBack<uint8_t>(path_, SAMPLEFORMAT_UINT, DataType::kUint8);
  ReadsBack<int8_t>(path_, SAMPLEFORMAT_INT, DataType::kInt8);
  ReadsBack<int16_t>(path_, SAMPLEFORMAT_INT, DataType::kInt16);
  ReadsBack<uint32_t>(path_, SAMPLEFORMAT_UINT, DataType::kUint32);
  ReadsBack<int32_t>(path_, SAMPLEFORMAT_INT, DataType::kInt32);
  ReadsBack<uint64_t>(path_, SAMPLEFORMAT_UINT, DataType::kUint64);
  ReadsBack<float>(path_, SAMPLEFORMAT_IEEEFP, DataType::kFloat32);
  ReadsBack<uint8_t>(path_, SAMPLEFORMAT_VOID, DataType::kUint8);
}

TEST_F(TiffStackTest, SkipsReducedImages) {
  const TiffPages how = {.width = 4, .height = 3, .reduced_copies = true};
  const Numbered<uint8_t> numbers(how, 3);
  WriteTiff(path_, how, numbers.pages);
  const auto source = Open();
  EXPECT_EQ(source->shape().size, (Vec3{4, 3, 3}));
  EXPECT_EQ(ReadAll<uint8_t>(*source), numbers.array);
}

TEST_F(TiffStackTest, NamesThePageThatDiffers) {
  WriteTiff(path_, {.width = 4, .height = 3}, {std::string(12, 'a')});
  WriteTiff(path_, {.mode = "a", .width = 3, .height = 4}, {std::string(12, 'b')});
  const Error error = ErrorOf({.path = path_});
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, EndsWith("page 1: it is 3x4, 1 channel of uint8, and the "
                                      "first page 4x3, 1 channel of uint8"));
}

TEST_F(TiffStackTest, SaysWhatItCannotRead) {
  WriteTiff(path_, {.width = 8, .height = 1, .bits = 16, .format = SAMPLEFORMAT_IEEEFP},
            {std::string(16, '\0')});
  EXPECT_EQ(ErrorOf({.path = path_}).code, ErrorCode::kUnsupported);
  WriteTiff(path_, {.width = 1, .height = 1, .bits = 64, .format = SAMPLEFORMAT_IEEEFP},
            {std::string(8, '\0')});
  EXPECT_THAT(ErrorOf({.path = path_}).message, HasSubstr("float64"));
}

TEST_F(TiffStackTest, ReportsDamageWithoutPrinting) {
  testing::internal::CaptureStderr();
  const TiffPages how = {
      .width = 300, .height = 200, .compression = COMPRESSION_LZW, .rows_per_strip = 50};
  const Numbered<uint8_t> numbers(how, 2);
  WriteTiff(path_, how, numbers.pages);
  const std::string file = ReadFile(path_);
  for (size_t length = 0; length < file.size(); length += 97) {
    WriteFile(path_, file.substr(0, length));
    EXPECT_EQ(ErrorOf({.path = path_}).code, ErrorCode::kCorrupt) << length;
  }
  std::string damaged = file;
  std::fill(damaged.begin() + 100, damaged.begin() + 200, '\xff');
  WriteFile(path_, damaged);
  EXPECT_THAT(ErrorOf({.path = path_}).message,
              HasSubstr("page 0: strip 0 is damaged: "));
  WriteFile(path_, "II*\0 and no more");
  EXPECT_EQ(ErrorOf({.path = path_}).code, ErrorCode::kCorrupt);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// A number in either order of bytes.
template <typename T>
std::string Stored(T value, bool big_endian) {
  std::byte bytes[sizeof value];
  StoreLE(bytes, big_endian ? SwapBytes(value) : value);
  return std::string(AsText(bytes));
}

struct TiffTag {
  uint16_t tag = 0;
  uint32_t value = 0;
  uint16_t type = 4;  // a 32-bit number
  uint32_t count = 1;
};

// The header of a TIFF: one directory with these tags, `next` for the offset of another.
std::string TiffHeader(const std::vector<TiffTag>& tags, uint32_t next = 0,
                       bool big_endian = false) {
  std::string out = big_endian ? "MM" : "II";
  out += Stored(uint16_t{42}, big_endian) + Stored(uint32_t{8}, big_endian);
  out += Stored(static_cast<uint16_t>(tags.size()), big_endian);
  for (const TiffTag& tag : tags) {
    out += Stored(tag.tag, big_endian) + Stored(tag.type, big_endian) +
           Stored(tag.count, big_endian) + Stored(tag.value, big_endian);
  }
  return out + Stored(next, big_endian);
}

TEST_F(TiffStackTest, ReadsImageJStacksOfOneDirectory) {
  const std::string description = "ImageJ=1.53t\nimages=3\nslices=3\n";
  const uint32_t length = static_cast<uint32_t>(description.size()) + 1;
  const uint32_t head = 8 + 2 + 8 * 12 + 4;
  for (const bool big_endian : {false, true}) {
    std::string file = TiffHeader({{TIFFTAG_IMAGEWIDTH, 4},
                                   {TIFFTAG_IMAGELENGTH, 3},
                                   {TIFFTAG_BITSPERSAMPLE, 16},
                                   {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK},
                                   {TIFFTAG_IMAGEDESCRIPTION, head, 2, length},
                                   {TIFFTAG_STRIPOFFSETS, head + length},
                                   {TIFFTAG_ROWSPERSTRIP, 3},
                                   {TIFFTAG_STRIPBYTECOUNTS, 24}},
                                  0, big_endian);
    ASSERT_EQ(file.size(), head);
    file += description + '\0';
    for (uint16_t i = 0; i < 36; ++i) file += Stored(i, big_endian);
    WriteFile(path_, file);
    const auto source = Open();
    EXPECT_EQ(source->shape(), (ArrayShape{{4, 3, 3}, 1, DataType::kUint16}));
    EXPECT_EQ(ReadAll<uint16_t>(*source), Count<uint16_t>(36));

    WriteFile(path_, file.substr(0, file.size() - 1));
    EXPECT_THAT(ErrorOf({.path = path_}).message,
                HasSubstr("says 3 images of 4x3, 1 channel of uint16, and the file has"));
  }
}

// Six pages of four pixels: 0 to 3, 4 to 7, ...
TiffPages WithDescription(const std::string& text) {
  return {.width = 2, .height = 2, .description = "ImageJ=1.53t\nimages=6\n" + text};
}

std::vector<std::string> SixPages() {
  std::vector<std::string> pages;
  for (uint8_t i = 0; i < 6; ++i) {
    pages.push_back(BytesOf(Count<uint8_t>(4, static_cast<uint8_t>(4 * i))));
  }
  return pages;
}

TEST_F(TiffStackTest, ReadsImageJChannelsThatArePages) {
  WriteTiff(path_, WithDescription("channels=2\nslices=3\nhyperstack=true\n"),
            SixPages());
  const auto source = Open();
  EXPECT_EQ(source->shape(), (ArrayShape{{2, 2, 3}, 2, DataType::kUint8}));
  EXPECT_THAT(ReadAll<uint8_t>(*source),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19,  //
                          4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23));
  EXPECT_THAT(ReadBox<uint8_t>(*source, {{1, 1, 1}, {2, 2, 3}}),
              ElementsAre(11, 19, 15, 23));
}

TEST_F(TiffStackTest, ReadsImageJChannelsOfOneDirectory) {
  const std::string description = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\n";
  const uint32_t length = static_cast<uint32_t>(description.size()) + 1;
  const uint32_t head = 8 + 2 + 8 * 12 + 4;
  std::string file = TiffHeader({{TIFFTAG_IMAGEWIDTH, 2},
                                 {TIFFTAG_IMAGELENGTH, 1},
                                 {TIFFTAG_BITSPERSAMPLE, 8},
                                 {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK},
                                 {TIFFTAG_IMAGEDESCRIPTION, head, 2, length},
                                 {TIFFTAG_STRIPOFFSETS, head + length},
                                 {TIFFTAG_ROWSPERSTRIP, 1},
                                 {TIFFTAG_STRIPBYTECOUNTS, 2}});
  file += description + '\0' + BytesOf(Count<uint8_t>(12));
  WriteFile(path_, file);
  const auto source = Open();
  EXPECT_EQ(source->shape(), (ArrayShape{{2, 1, 3}, 2, DataType::kUint8}));
  EXPECT_THAT(ReadAll<uint8_t>(*source),
              ElementsAre(0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11));
}

TEST_F(TiffStackTest, DoesNotTakeOtherImageJPagesForZ) {
  for (const auto& [description, message] :
       {std::tuple("frames=6\n", "says 6 frames, and a volume has one point in time"),
        {"channels=2\nframes=3\n", "says 3 frames"},
        {"channels=2\nslices=2\n", "says 2 channels of 2 slices, and there are 6 pages"},
        {"channels=4\n", "says 4 channels of 1 slices, and there are 6 pages"}}) {
    WriteTiff(path_, WithDescription(description), SixPages());
    const Error error = ErrorOf({.path = path_});
    EXPECT_EQ(error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr(message));
  }
  TiffPages samples = WithDescription("channels=2\nslices=3\n");
  samples.width = 1;
  samples.channels = 2;
  WriteTiff(path_, samples, SixPages());
  EXPECT_THAT(ErrorOf({.path = path_}).message,
              HasSubstr("says 2 channels, and each page has 2 samples"));
  WriteTiff(path_, WithDescription("slices=6\nloop=false\n"), SixPages());
  EXPECT_EQ(Open()->shape().size, (Vec3{2, 2, 6}));
}

TEST_F(TiffStackTest, RefusesPalettes) {
  WriteTiff(path_, {.width = 2, .height = 2, .palette = true}, SixPages());
  const Error error = ErrorOf({.path = path_});
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("page 0: colours by a palette"));
}

TEST_F(TiffStackTest, RefusesAbsurdSizesWithoutAllocatingThem) {
  const uint32_t huge = 0xffffffff;
  const std::vector<std::vector<TiffTag>> cases = {
      // A page far larger than the file.
      {{256, huge}, {257, huge}, {258, 8}, {273, 8}, {278, huge}, {279, 100}},
      // As many strips as rows.
      {{256, 1}, {257, huge}, {258, 8}, {273, 8}, {278, 1}, {279, 100}},
      // One deflated strip of 4 GB.
      {{256, 65536}, {257, 65535}, {258, 8}, {259, 8}, {273, 8}, {278, huge}, {279, 9}},
      // A tile far larger than its small page.
      {{256, 16},
       {257, 16},
       {258, 8},
       {259, 8},
       {322, 1u << 31},
       {323, 1u << 31},
       {324, 8},
       {325, 9}},
      // More samples than fit.
      {{256, 65536},
       {257, 65536},
       {258, 8},
       {273, 8},
       {277, 65535},
       {278, huge},
       {279, 9}},
      // No size at all.
      {{258, 8}, {273, 8}},
  };
  for (const auto& tags : cases) {
    WriteFile(path_, TiffHeader(tags) + std::string(100, 'x'));
    const auto source = OpenArraySource({.path = path_});
    if (!source) {
      EXPECT_EQ(source.error().code, ErrorCode::kCorrupt) << source.error().message;
      continue;
    }
    std::byte voxel;
    const auto read = (*source)->Read({{0, 0, 0}, {1, 1, 1}}, {&voxel, 1});
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().code == ErrorCode::kCorrupt ||
                read.error().code == ErrorCode::kUnsupported)
        << read.error().message;
  }
}

TEST_F(TiffStackTest, RefusesDirectoriesInACircle) {
  WriteFile(path_, TiffHeader({{256, 1}, {257, 1}, {258, 8}, {273, 8}, {279, 1}}, 8));
  EXPECT_EQ(ErrorOf({.path = path_}).code, ErrorCode::kCorrupt);
}

TEST_F(TiffStackTest, IsReadByManyThreads) {
  const TiffPages how = {.width = 40, .height = 30, .compression = COMPRESSION_LZW};
  const Numbered<uint8_t> numbers(how, 16);
  WriteTiff(path_, how, numbers.pages);
  const auto source = Open();
  Must(ParallelFor(64, 4, [&](size_t i) -> Result<void> {
    const int64_t z = static_cast<int64_t>(i % 16);
    const auto page = ReadBox<uint8_t>(*source, {{0, 0, z}, {40, 30, z + 1}});
    if (BytesOf(page) != numbers.pages[i % 16]) return Corrupt("wrong");
    return {};
  }));
}

}  // namespace
}  // namespace dolium::volume
