#include "dolium/domain/volume/arrays/array_source.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ArraySourceTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Writes a file and opens it.
  std::unique_ptr<ArraySource> Open(const std::string& name, const std::string& bytes,
                                    ArraySourceRequest request = {}) const {
    WriteFile(Path(name), bytes);
    request.path = Path(name);
    return Must(OpenArraySource(request));
  }
  Error ErrorFor(const std::string& name, const std::string& bytes,
                 ArraySourceRequest request = {}) const {
    WriteFile(Path(name), bytes);
    request.path = Path(name);
    return ErrorOf(request);
  }

  const TemporaryFolder folder_;
};

TEST_F(ArraySourceTest, ReadsNumPyInFortranOrder) {
  const auto source =
      Open("a.npy", NpyFile("{'descr': '<u2', 'fortran_order': True, 'shape': (3, 2, 2)}",
                            BytesOf(Count<uint16_t>(12))));
  EXPECT_EQ(source->shape(), (ArrayShape{{3, 2, 2}, 1, DataType::kUint16}));
  EXPECT_FALSE(source->reads_whole_pages());
  EXPECT_EQ(ReadAll<uint16_t>(*source), Count<uint16_t>(12));
  EXPECT_THAT(ReadBox<uint16_t>(*source, {{1, 0, 1}, {3, 2, 2}}),
              ElementsAre(7, 8, 10, 11));
}

TEST_F(ArraySourceTest, ReadsNumPyInCOrder) {
  const auto source = Open(
      "a.npy", NpyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2, 3)}",
                       BytesOf(Count<int8_t>(12, -5))));
  EXPECT_EQ(source->shape(), (ArrayShape{{2, 2, 3}, 1, DataType::kInt8}));
  EXPECT_THAT(ReadAll<int8_t>(*source),
              ElementsAre(-5, 1, -2, 4, -4, 2, -1, 5, -3, 3, 0, 6));
}

TEST_F(ArraySourceTest, ReadsBigEndianNumbers) {
  const auto source =
      Open("a.npy", NpyFile("{'descr': '>u4', 'fortran_order': True, 'shape': (2, 1)}",
                            std::string("\0\0\1\2\0\0\3\4", 8)));
  EXPECT_THAT(ReadAll<uint32_t>(*source), ElementsAre(0x102, 0x304));
}

TEST_F(ArraySourceTest, FollowsTheAxesGiven) {
  const auto source =
      Open("a.npy",
           NpyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 2, 3)}",
                   BytesOf(Count<uint8_t>(12))),
           {.axes = "czyx"});
  EXPECT_EQ(source->shape(), (ArrayShape{{3, 2, 1}, 2, DataType::kUint8}));
  EXPECT_EQ(ReadAll<uint8_t>(*source), Count<uint8_t>(12));
  EXPECT_THAT(ReadBox<uint8_t>(*source, {{2, 0, 0}, {3, 2, 1}}),
              ElementsAre(2, 5, 8, 11));
}

TEST_F(ArraySourceTest, TakesBooleansAsUint8) {
  const auto source =
      Open("a.npy", NpyFile("{'descr': '|b1', 'fortran_order': True, 'shape': (2, 2)}",
                            std::string("\0\1\1\0", 4)));
  EXPECT_EQ(source->shape().type, DataType::kUint8);
  EXPECT_THAT(ReadAll<uint8_t>(*source), ElementsAre(0, 1, 1, 0));
}

TEST_F(ArraySourceTest, TakesInt64AsUint64UnlessNegative) {
  const std::string header =
      "{'descr': '<i8', 'fortran_order': True, 'shape': (1, 2, 2)}";
  const auto source = Open("a.npy", NpyFile(header, BytesOf(Count<int64_t>(4, 1))));
  EXPECT_THAT(ReadAll<uint64_t>(*source), ElementsAre(1, 2, 3, 4));
  const Error error = ErrorFor("b.npy", NpyFile(header, BytesOf<int64_t>({1, 2, 3, -4})));
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(error.message,
            Path("b.npy") + ": voxel 0,1,1, channel 0: -4 does not fit uint64");
}

TEST_F(ArraySourceTest, ConvertsFloat64OnlyIfAsked) {
  const std::string file =
      NpyFile("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 1)}",
              BytesOf<double>({0, 1, 2.5}));
  EXPECT_THAT(ErrorFor("a.npy", file).message, HasSubstr("float64"));
  EXPECT_THAT(ReadAll<float>(*Open("a.npy", file, {.type = DataType::kFloat32})),
              ElementsAre(0, 1, 2.5));
  EXPECT_THAT(ErrorFor("a.npy", file, {.type = DataType::kUint8}).message,
              EndsWith("voxel 2,0,0, channel 0: 2.5 does not fit uint8"));
}

TEST_F(ArraySourceTest, NamesTheVoxelAndChannelThatDoNotFit) {
  std::vector<uint16_t> values(2 * 3 * 2 * 2, 7);
  values[12 + 6 + 3] = 256;
  const Error error =
      ErrorFor("a.npy",
               NpyFile("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 2, 2)}",
                       BytesOf(values)),
               {.type = DataType::kUint8});
  EXPECT_THAT(error.message, EndsWith("voxel 1,1,1, channel 1: 256 does not fit uint8"));
}

TEST_F(ArraySourceTest, RejectsNumPyFilesShorterThanTheyClaim) {
  const Error cut = ErrorFor(
      "a.npy",
      NpyFile("{'descr': '<u2', 'fortran_order': True, 'shape': (3, 2)}", "12345678901"));
  EXPECT_EQ(cut.code, ErrorCode::kCorrupt);
  EXPECT_THAT(cut.message, HasSubstr("shape (3, 2) and type uint16 ends at"));
  const Error absurd = ErrorFor(
      "a.npy",
      NpyFile(
          "{'descr': '<u8', 'fortran_order': True, 'shape': (1000000, 1000000, 1000)}",
          "x"));
  EXPECT_EQ(absurd.code, ErrorCode::kCorrupt);
  const Error overflow =
      ErrorFor("a.npy", NpyFile("{'descr': '<u8', 'fortran_order': True, 'shape': "
                                "(4294967296, 4294967296, 4294967296)}",
                                "x"));
  EXPECT_THAT(overflow.message, HasSubstr("is too big"));
}

TEST_F(ArraySourceTest, ReadsRawFilesInEitherOrder) {
  const std::string bytes = BytesOf(Count<uint8_t>(12));
  EXPECT_EQ(ReadAll<uint8_t>(*Open("a.raw", bytes, {.raw = RawLayout{{3, 2, 2}}})),
            Count<uint8_t>(12));
  EXPECT_THAT(
      ReadAll<uint8_t>(
          *Open("a.bin", bytes, {.raw = RawLayout{.shape = {2, 2, 3}, .c_order = true}})),
      ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
  EXPECT_THAT(ReadAll<uint16_t>(*Open("a.dat", bytes,
                                      {.raw = RawLayout{.shape = {2, 2},
                                                        .type = NumberType::kUint16,
                                                        .offset = 3,
                                                        .big_endian = true}})),
              ElementsAre(0x304, 0x506, 0x708, 0x90a));
}

TEST_F(ArraySourceTest, WantsRawFilesToBeOfTheRightSize) {
  const std::string bytes(12, 'x');
  EXPECT_THAT(ErrorFor("a.raw", bytes).message, HasSubstr("give their shape and type"));
  const Error longer = ErrorFor("a.raw", bytes, {.raw = RawLayout{{3, 2, 1}}});
  EXPECT_EQ(longer.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(longer.message, HasSubstr("give an offset"));
  EXPECT_EQ(ReadAll<uint8_t>(
                *Open("a.raw", bytes, {.raw = RawLayout{.shape = {3, 2}, .offset = 0}}))
                .size(),
            6);
  EXPECT_THAT(
      ErrorFor("a.raw", bytes, {.raw = RawLayout{.shape = {3, 2, 2}, .offset = 1}})
          .message,
      EndsWith("the file is 12 bytes, and 3x2x2 numbers of uint8 from byte 1 on end at "
               "13"));
  EXPECT_EQ(ErrorFor("a.raw", bytes, {.raw = RawLayout{{3, -2, 2}}}).code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      ErrorFor("a.raw", bytes, {.raw = RawLayout{.shape = {3, 2}, .offset = UINT64_MAX}})
          .code,
      ErrorCode::kInvalidArgument);
}

TEST_F(ArraySourceTest, RejectsOptionsThatMeanNothing) {
  const std::string file =
      NpyFile("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1)}", "x");
  EXPECT_THAT(ErrorFor("a.npy", file, {.dataset = "v"}).message,
              EndsWith("a dataset means nothing for a NumPy file"));
  EXPECT_EQ(ErrorFor("a.npy", file, {.raw = RawLayout{{1, 1}}}).code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorFor("a.tif", file, {.axes = "xy"}).code, ErrorCode::kInvalidArgument);
}

TEST_F(ArraySourceTest, SaysWhatItCannotOpen) {
  EXPECT_EQ(ErrorOf({.path = Path("none.npy")}).code, ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf({.path = "https://host/a.npy"}).message,
            "https://host/a.npy: not a local file");
  EXPECT_EQ(ErrorFor("a.txt", "x").code, ErrorCode::kUnsupported);
  EXPECT_THAT(ErrorFor("a.npy", "").message, EndsWith("a.npy: not a NumPy file"));
  ASSERT_EQ(mkfifo(Path("pipe.npy").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf({.path = Path("pipe.npy")}).message,
              EndsWith("not a regular file"));
}

TEST_F(ArraySourceTest, RejectsBoxesThatAreNotWithinTheArray) {
  const auto source = Open(
      "a.npy",
      NpyFile("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}", "12345678"));
  std::array<std::byte, 8> into;
  EXPECT_EQ(source->Read({{0, 0, 1}, {2, 2, 3}}, into).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(source->Read({{-1, 0, 0}, {1, 2, 2}}, into));
  EXPECT_FALSE(source->Read({{1, 1, 1}, {1, 2, 2}}, {}));
  EXPECT_THAT(source->Read({{0, 0, 0}, {2, 2, 1}}, into).error().message,
              EndsWith("8 bytes for box 0:2,0:2,0:1"));
  EXPECT_TRUE(source->Read({{0, 0, 0}, {2, 2, 2}}, into));
}

TEST_F(ArraySourceTest, HasAFingerprintThatChangesWithTheFileAndTheRequest) {
  const std::string file =
      NpyFile("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}", "12345678");
  const std::string first = Open("a.npy", file)->Fingerprint();
  EXPECT_EQ(Must(OpenArraySource({.path = Path("a.npy")}))->Fingerprint(), first);
  EXPECT_THAT(first, StartsWith(Path("a.npy")));
  EXPECT_NE(Must(OpenArraySource({.path = Path("a.npy"), .axes = "zyx"}))->Fingerprint(),
            first);
  EXPECT_NE(Must(OpenArraySource({.path = Path("a.npy"), .type = DataType::kUint16}))
                ->Fingerprint(),
            first);
  const auto time = std::filesystem::last_write_time(Path("a.npy"));
  std::filesystem::last_write_time(Path("a.npy"), time + std::chrono::seconds(1));
  EXPECT_NE(Must(OpenArraySource({.path = Path("a.npy")}))->Fingerprint(), first);
}

TEST_F(ArraySourceTest, IsReadByManyThreads) {
  const auto source = Open(
      "a.npy", NpyFile("{'descr': '<u4', 'fortran_order': False, 'shape': (20, 30, 40)}",
                       BytesOf(Count<uint32_t>(24'000))));
  Must(ParallelFor(20, 4, [&](size_t i) -> Result<void> {
    const int64_t x = static_cast<int64_t>(i);
    const auto values = ReadBox<uint32_t>(*source, {{x, 0, 0}, {x + 1, 30, 40}});
    for (size_t y = 0; y < 30; ++y) {
      for (size_t z = 0; z < 40; ++z) {
        if (values[z * 30 + y] != (i * 30 + y) * 40 + z) return Corrupt("wrong");
      }
    }
    return {};
  }));
}

}  // namespace
}  // namespace dolium::volume
