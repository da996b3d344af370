#include <hdf5.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/arrays/testing/array_files.h"

namespace dolium::volume {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// An HDF5 file in the making.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
    if (file_ < 0) throw std::runtime_error("cannot write a test file");
  }
  ~Hdf5File() { H5Fclose(file_); }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Chunked and deflated if there is a `chunk`; or filtered by `filter`, which may skip
  // chunks and need not be known.
  template <typename T>
  void Add(const std::string& name, hid_t stored, hid_t in_memory,
           const std::vector<hsize_t>& sizes, const std::vector<T>& values,
           const std::vector<hsize_t>& chunk = {}, H5Z_filter_t filter = 0) {
    const int rank = static_cast<int>(sizes.size());
    const hid_t space = H5Screate_simple(rank, sizes.data(), nullptr);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
      H5Pset_chunk(creation, rank, chunk.data());
      if (filter == 0) {
        H5Pset_deflate(creation, 1);
      } else {
        H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
      }
    }
    const hid_t dataset =
        H5Dcreate2(file_, name.c_str(), stored, space, links, creation, H5P_DEFAULT);
    if (dataset < 0 ||
        H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      throw std::runtime_error("cannot write a test dataset");
    }
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Pclose(links);
    H5Sclose(space);
  }

 private:
  hid_t file_;
};

class Hdf5ArrayTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/a.h5";
};

TEST_F(Hdf5ArrayTest, FindsTheOnlyArrayOfThreeDimensions) {
  Hdf5File(path_).Add("deep/in/volume", H5T_STD_U16BE, H5T_NATIVE_UINT16, {2, 2, 3},
                      Count<uint16_t>(12));
  const auto source = Must(OpenArraySource({.path = path_}));
  EXPECT_EQ(source->shape(), (ArrayShape{{2, 2, 3}, 1, DataType::kUint16}));
  EXPECT_FALSE(source->reads_whole_pages());
  EXPECT_THAT(ReadAll<uint16_t>(*source),
              ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
  const auto turned = Must(OpenArraySource({.path = path_, .axes = "zyx"}));
  EXPECT_EQ(turned->shape().size, (Vec3{3, 2, 2}));
  EXPECT_EQ(ReadAll<uint16_t>(*turned), Count<uint16_t>(12));
  EXPECT_NE(turned->Fingerprint(), source->Fingerprint());
}

TEST_F(Hdf5ArrayTest, AsksWhichOfSeveral) {
  {
    Hdf5File file(path_);
    file.Add("a", H5T_STD_U8LE, H5T_NATIVE_UINT8, {2, 2, 3}, Count<uint8_t>(12));
    file.Add("g/b", H5T_STD_U8LE, H5T_NATIVE_UINT8, {1, 2, 3, 2}, Count<uint8_t>(12));
    file.Add("page", H5T_STD_U8LE, H5T_NATIVE_UINT8, {3, 4}, Count<uint8_t>(12));
  }
  const Error error = ErrorOf({.path = path_});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, EndsWith("2 datasets, which of them? a (2x2x3), g/b "
                                      "(1x2x3x2)"));
  EXPECT_EQ(Must(OpenArraySource({.path = path_, .dataset = "/g/b"}))->shape().channels,
            2);
  const auto page =
      Must(OpenArraySource({.path = path_, .dataset = "page", .axes = "yx"}));
  EXPECT_EQ(ReadAll<uint8_t>(*page), Count<uint8_t>(12));
  EXPECT_EQ(ErrorOf({.path = path_, .dataset = "none"}).code, ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf({.path = path_, .dataset = "g"}).code, ErrorCode::kNotFound);
}

TEST_F(Hdf5ArrayTest, ReadsBoxesOfCompressedChunks) {
  const std::vector<hsize_t> sizes = {2, 40, 50, 60};  // channel, z, y, x
  const auto values = Count<uint32_t>(2 * 40 * 50 * 60);
  Hdf5File(path_).Add("v", H5T_STD_U32LE, H5T_NATIVE_UINT32, sizes, values,
                      {1, 16, 16, 16});
  const Box box = {{15, 30, 7}, {50, 49, 33}};
  std::vector<uint32_t> expected;
  for (uint32_t c = 0; c < 2; ++c) {
    for (uint32_t z = 7; z < 33; ++z) {
      for (uint32_t y = 30; y < 49; ++y) {
        for (uint32_t x = 15; x < 50; ++x) {
          expected.push_back(((c * 40 + z) * 50 + y) * 60 + x);
        }
      }
    }
  }
  const auto source = Must(OpenArraySource({.path = path_, .axes = "czyx"}));
  EXPECT_EQ(ReadBox<uint32_t>(*source, box), expected);
  const auto mixed = Must(OpenArraySource({.path = path_, .axes = "czxy"}));
  const auto turned = ReadBox<uint32_t>(*mixed, {{30, 15, 7}, {49, 50, 33}});
  EXPECT_EQ(turned[0], expected[0]);
  EXPECT_EQ(turned[1], expected[35]);
  EXPECT_EQ(turned[19], expected[1]);
}

// 48 MiB, which is more than a step, in steps that end between chunks.
TEST_F(Hdf5ArrayTest, ReadsBoxesLargerThanAStep) {
  const size_t total = 130 * 440 * 220;
  const auto values = Count<uint32_t>(total);
  {
    Hdf5File file(path_);
    file.Add("v", H5T_STD_U32LE, H5T_NATIVE_UINT32, {130, 440, 220}, values,
             {32, 64, 64});
  }
  const auto source = Must(OpenArraySource({.path = path_}));
  const auto read = ReadBox<uint32_t>(*source, {{3, 0, 0}, {130, 440, 220}});
  for (size_t i = 0; i < read.size(); ++i) {
    const size_t x = 3 + i % 127;
    const size_t y = i / 127 % 440;
    const size_t z = i / 127 / 440;
    ASSERT_EQ(read[i], (x * 440 + y) * 220 + z);
  }
}

TEST_F(Hdf5ArrayTest, KnowsTypesOfNumbers) {
  {
    Hdf5File file(path_);
    file.Add("f4", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, {1, 1, 2},
             std::vector<float>{1.5, -2});
    file.Add("i8", H5T_STD_I64LE, H5T_NATIVE_INT64, {1, 1, 2},
             std::vector<int64_t>{1, -2});
    file.Add("f8", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 1, 2},
             std::vector<double>{1, 2});
    const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);  // as h5py has it
    int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    file.Add("bool", boolean, boolean, {1, 1, 2}, std::vector<int8_t>{0, 1});
    H5Tclose(boolean);
    const hid_t text = H5Tcopy(H5T_C_S1);
    file.Add("text", text, text, {1, 1, 2}, std::vector<char>{'a', 'b'});
    H5Tclose(text);
  }
  const auto open = [&](const char* name, std::optional<DataType> type = {}) {
    return Must(OpenArraySource({.path = path_, .dataset = name, .type = type}));
  };
  EXPECT_THAT(ReadAll<float>(*open("f4")), ElementsAre(1.5, -2));
  EXPECT_THAT(ErrorOf({.path = path_, .dataset = "i8"}).message,
              EndsWith("voxel 0,0,1, channel 0: -2 does not fit uint64"));
  EXPECT_EQ(ErrorOf({.path = path_, .dataset = "f8"}).code, ErrorCode::kUnsupported);
  EXPECT_THAT(ReadAll<uint8_t>(*open("f8", DataType::kUint8)), ElementsAre(1, 2));
  EXPECT_EQ(open("bool")->shape().type, DataType::kUint8);
  EXPECT_THAT(ReadAll<uint8_t>(*open("bool")), ElementsAre(0, 1));
  EXPECT_EQ(ErrorOf({.path = path_, .dataset = "text"}).code, ErrorCode::kUnsupported);
}

TEST_F(Hdf5ArrayTest, NamesAFilterThatTheLibraryLacks) {
  constexpr H5Z_filter_t kForTests = 300;
  Hdf5File(path_).Add("v", H5T_STD_U8LE, H5T_NATIVE_UINT8, {2, 2, 3}, Count<uint8_t>(12),
                      {2, 2, 3}, kForTests);
  const Error error = ErrorOf({.path = path_});
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("v: its chunks are compressed by filter 300"));
}

TEST_F(Hdf5ArrayTest, ReportsDamageWithoutPrinting) {
  testing::internal::CaptureStderr();
  WriteFile(path_, std::string(3000, 'x'));
  EXPECT_THAT(ErrorOf({.path = path_}).message,
              EndsWith("not an HDF5 file, or damaged: file signature not found"));
  Hdf5File(path_).Add("v", H5T_STD_U8LE, H5T_NATIVE_UINT8, {40, 40, 40},
                      std::vector<uint8_t>(64'000, 7), {20, 20, 20});
  std::string file = ReadFile(path_);
  WriteFile(path_, file.substr(0, file.size() / 2));
  EXPECT_EQ(ErrorOf({.path = path_}).code, ErrorCode::kCorrupt);
  // A deflated chunk begins with these two.
  const size_t chunk = file.find("\x78\x01");
  ASSERT_NE(chunk, std::string::npos);
  file[chunk] = '\xff';
  WriteFile(path_, file);
  EXPECT_THAT(ErrorOf({.path = path_}).message,
              HasSubstr("cannot read 40x40x40 values at 0,0,0: inflate() failed"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Hdf5ArrayTest, IsReadByManyThreads) {
  Hdf5File(path_).Add("v", H5T_STD_U16LE, H5T_NATIVE_UINT16, {20, 30, 40},
                      Count<uint16_t>(24'000), {8, 8, 8});
  const auto source = Must(OpenArraySource({.path = path_}));
  Must(ParallelFor(20, 4, [&](size_t i) -> Result<void> {
    const int64_t x = static_cast<int64_t>(i);
    const auto values = ReadBox<uint16_t>(*source, {{x, 0, 0}, {x + 1, 30, 40}});
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
