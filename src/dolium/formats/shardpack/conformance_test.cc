// Sets of samples pass the suite of all formats that are read.
#include "dolium/container/testing/conformance.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/format.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

constexpr uint64_t kFilesOfASample = 3;

// Whether the set is one shard or a folder of them.
enum class Shards : uint8_t { kOne, kThree };

std::vector<Sample> SamplesOf(const TestSet& set) {
  std::map<std::string, Sample> samples;
  for (const auto& [key, value] : set) {
    const size_t slash = key.rfind('/');
    Sample& sample = samples[key.substr(0, slash)];
    sample.key = key.substr(0, slash);
    sample.files.push_back(
        {.name = key.substr(slash + 1), .data = Bytes::Copy(value.value)});
  }
  std::vector<Sample> ordered;
  for (auto& [key, sample] : samples) ordered.push_back(std::move(sample));
  return ordered;
}

void WriteSet(const Location& location, const TestSet& set, Shards shards,
              const EncodeOptions& encode) {
  const std::vector<Sample> samples = SamplesOf(set);
  ShardWriterOptions options;
  options.encode = encode;
  const auto put = [&](const Location& shard, std::vector<Sample> part) {
    Must(shard.store->Put(shard.path, AsBytes(MakeShard(part, options)),
                          Precondition::None()));
  };
  if (shards == Shards::kOne) {
    put(location, samples);
    return;
  }
  const auto third = static_cast<std::ptrdiff_t>(samples.size() / 3);
  put(location.Child("a.shardpack"), {samples.begin(), samples.begin() + third});
  put(location.Child("b.shardpack"),
      {samples.begin() + third, samples.begin() + 2 * third});
  put(location.Child("c.shardpack"), {samples.begin() + 2 * third, samples.end()});
}

FormatCase PackCase(std::string name, const std::function<Location()>& new_location,
                    Shards shards, Compression compression, bool is_chunked = false) {
  FormatCase made = MakeFormatCase(std::move(name), kFormat, [new_location, shards] {
    return shards == Shards::kOne ? new_location().Child("a.shardpack") : new_location();
  });
  // Keys of samples and names of files may have slashes themselves.
  made.key = [](uint64_t i) {
    return fmt::format("images/{}/f{}", i / kFilesOfASample, i % kFilesOfASample);
  };
  EncodeOptions encode;
  encode.compression = compression;
  if (is_chunked) {
    encode.chunk_threshold = uint64_t{64} << 10;
    encode.chunk_size = uint64_t{64} << 10;
    encode.chunk_uncompressed = true;
  }
  made.write = [shards, encode](const Location& location, const TestSet& set) {
    WriteSet(location, set, shards, encode);
  };
  // Any text may be the key of a sample: one that names no file of it is just absent.
  made.bad_key = "a-sample-alone";
  made.refuses_bad_keys = false;
  return made;
}

INSTANTIATE_TEST_SUITE_P(
    ShardPack, ReadSuite,
    testing::Values(
        PackCase("OneInMemory", NewMemoryLocation, Shards::kOne, Compression::kNone),
        PackCase("OneInFiles", NewFileLocation, Shards::kOne, Compression::kLz4),
        PackCase("InMemory", NewMemoryLocation, Shards::kThree, Compression::kGzip),
        PackCase("InFiles", NewFileLocation, Shards::kThree, Compression::kZstd),
        PackCase("InObjects", NewObjectStoreLocation, Shards::kThree, Compression::kLz4),
        PackCase("ChunkedInFiles", NewFileLocation, Shards::kOne, Compression::kNone,
                 true),
        PackCase("ChunkedInObjects", NewObjectStoreLocation, Shards::kThree,
                 Compression::kZstd, true)),
    FormatCaseName);

}  // namespace
}  // namespace dolium::shardpack
