// The sharded format passes the suite that every format passes.
#include "dolium/container/testing/conformance.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/base/endian.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {
namespace {

FormatCase ShardedCase(std::string name, std::function<Location()> new_location,
                       const ShardingSpec& spec) {
  FormatCase format_case =
      MakeFormatCase(std::move(name), kFormat, std::move(new_location));
  format_case.options.spec = nlohmann::json{
      {"@type", "neuroglancer_skeletons"},
      {"sharding", ToJson(spec)}}.dump();
  format_case.key = [](uint64_t i) { return std::to_string(i * i * 1234567891); };
  format_case.bad_key = "not-a-number";
  return format_case;
}

constexpr ShardingSpec kRaw{.minishard_bits = 2, .shard_bits = 3};
constexpr ShardingSpec kGzip{.preshift_bits = 3,
                             .hash = ShardHash::kMurmur3,
                             .minishard_bits = 3,
                             .shard_bits = 1,
                             .minishard_index_encoding = Encoding::kGzip,
                             .data_encoding = Encoding::kGzip};

const auto kCases =
    testing::Values(ShardedCase("RawInMemory", NewMemoryLocation, kRaw),
                    ShardedCase("RawInFiles", NewFileLocation, kRaw),
                    ShardedCase("GzipInFiles", NewFileLocation, kGzip),
                    ShardedCase("GzipInObjects", NewObjectStoreLocation, kGzip));

INSTANTIATE_TEST_SUITE_P(Neuroglancer, ReadSuite, kCases, FormatCaseName);
INSTANTIATE_TEST_SUITE_P(Neuroglancer, FormatSuite, kCases, FormatCaseName);
INSTANTIATE_TEST_SUITE_P(Neuroglancer, ChangeSuite, kCases, FormatCaseName);

// A manifest with one fragment, and that fragment.
TestValue Mesh(uint64_t i) {
  TestValue mesh;
  mesh.preceding.resize(i * 37 % 5000, static_cast<std::byte>(i));
  mesh.value.resize(64);
  mesh.value[24] = std::byte{1};  // num_lods
  mesh.value[44] = std::byte{1};  // num_fragments_per_lod
  StoreLE(mesh.value.data() + 60, static_cast<uint32_t>(mesh.preceding.size()));
  return mesh;
}

FormatCase MeshCase(std::string name, std::function<Location()> new_location) {
  FormatCase format_case = ShardedCase(std::move(name), std::move(new_location), kGzip);
  format_case.options.spec = nlohmann::json{
      {"@type", "neuroglancer_multilod_draco"},
      {"sharding",
       ToJson(kGzip)}}.dump();
  format_case.with_preceding = Mesh;
  return format_case;
}

INSTANTIATE_TEST_SUITE_P(Neuroglancer, PrecedingSuite,
                         testing::Values(MeshCase("InMemory", NewMemoryLocation),
                                         MeshCase("InFiles", NewFileLocation),
                                         MeshCase("InObjects", NewObjectStoreLocation)),
                         FormatCaseName);

}  // namespace
}  // namespace dolium::neuroglancer
