// The sharded format passes the suite that every format passes.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/container/testing/conformance.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {
namespace {

FormatCase ShardedCase(std::string name, std::function<Location()> new_location,
                       const ShardingSpec& spec) {
  FormatCase format_case = MakeFormatCase(std::move(name), kFormat, std::move(new_location));
  format_case.options.spec =
      nlohmann::json{{"@type", "neuroglancer_skeletons"}, {"sharding", ToJson(spec)}}.dump();
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

INSTANTIATE_TEST_SUITE_P(Neuroglancer, FormatSuite,
                         testing::Values(ShardedCase("RawInMemory", NewMemoryLocation, kRaw),
                                         ShardedCase("RawInFiles", NewFileLocation, kRaw),
                                         ShardedCase("GzipInFiles", NewFileLocation, kGzip),
                                         ShardedCase("GzipInObjects", NewObjectStoreLocation,
                                                     kGzip)),
                         FormatCaseName);

}  // namespace
}  // namespace dolium::neuroglancer
