// VolumePlanTest: what the tests of plans for volumes start from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/volume/verify_volume.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {

// Has a folder of the test's own, and makes volumes in it.
class VolumePlanTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // An array of uint32 of which voxel x, y, z is Value(x, y, z), in a raw file.
  static uint32_t Value(int64_t x, int64_t y, int64_t z) {
    return static_cast<uint32_t>(x / 10 + 7 * (y / 6) + 100 * (z / 5));
  }
  IngestRequest Ingest(const Vec3& size, const std::string& target) const {
    std::vector<uint32_t> values;
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        for (int64_t x = 0; x < size[0]; ++x) values.push_back(Value(x, y, z));
      }
    }
    std::ofstream(Path("in.raw"), std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(uint32_t)));
    IngestRequest request;
    request.source.path = Path("in.raw");
    request.source.raw = RawLayout{.shape = {size[0], size[1], size[2]},
                                   .type = NumberType::kUint32,
                                   .offset = std::nullopt};
    request.target = Path(target);
    request.resolution = {4, 4, 8};
    request.offset = {5, -3, 0};
    request.storage.chunk_size = Vec3{16, 16, 8};
    request.storage.shard_bytes = 64 << 10;
    return request;
  }

  static std::vector<uint32_t> ReadAll(const Volume& volume, size_t index) {
    const auto scale = volume.OpenCopy(index);
    EXPECT_TRUE(scale) << scale.error().message;
    const ArrayShape shape = (*scale)->ShapeOf((*scale)->bounds());
    std::vector<uint32_t> out(*shape.voxels());
    const auto read = (*scale)->Read(
        (*scale)->bounds(),
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(out.data())));
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }

  static Volume Open(const std::string& path) {
    auto volume = Volume::Open(*ParseLocation(path));
    EXPECT_TRUE(volume) << volume.error().message;
    return *std::move(volume);
  }

  static void ExpectValues(const Volume& volume, const Vec3& size) {
    const std::vector<uint32_t> found = ReadAll(volume, 0);
    ASSERT_EQ(found.size(), static_cast<size_t>(size[0] * size[1] * size[2]));
    size_t at = 0;
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        for (int64_t x = 0; x < size[0]; ++x) {
          ASSERT_EQ(found[at++], Value(x, y, z)) << x << ' ' << y << ' ' << z;
        }
      }
    }
  }

  static void ExpectGood(const Volume& volume) {
    std::vector<std::string> findings;
    const auto report =
        VerifyVolume(BuiltinFormats(), volume, {}, [&](const Finding& finding) {
          findings.push_back(finding.object + ": " + finding.key + ": " +
                             finding.message);
        });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(findings, ::testing::IsEmpty());
    EXPECT_GT(report->entries_read, 0u);
  }

  static JobReport Run(const Result<Plan>& plan) {
    EXPECT_TRUE(plan) << plan.error().message;
    auto report = RunPlan(BuiltinFormats(), *plan, {});
    EXPECT_TRUE(report) << report.error().message;
    return *std::move(report);
  }

 private:
  const TemporaryFolder own_;
  const std::filesystem::path folder_ = own_.path();
};

}  // namespace dolium::volume
