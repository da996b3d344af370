// PackFixture: shards of small samples in a temporary folder.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/dataset/sample_source.h"
#include "dolium/formats/shardpack/pack_writer.h"
#include "dolium/ops/pack/pack_create.h"

namespace dolium::dataset {

// Samples that are at hand.
class ListedSamples final : public SampleSource {
 public:
  explicit ListedSamples(std::vector<shardpack::Sample> samples)
      : samples_(std::make_move_iterator(samples.begin()),
                 std::make_move_iterator(samples.end())) {}

  Result<std::optional<shardpack::Sample>> Next() override {
    if (samples_.empty() && failure_) return *failure_;
    if (samples_.empty()) return std::nullopt;
    shardpack::Sample sample = std::move(samples_.front());
    samples_.pop_front();
    ++done_;
    return sample;
  }
  Progress progress() const override { return {.entries = done_}; }

  // What comes after the last sample, instead of the end.
  void FailAtTheEnd(Error error) { failure_ = std::move(error); }

 private:
  std::deque<shardpack::Sample> samples_;
  std::optional<Error> failure_;
  uint64_t done_ = 0;
};

inline shardpack::File TextFile(std::string name, std::string_view text) {
  return {.name = std::move(name),
          .content_type = "text/plain",
          .data = Bytes::Copy(AsBytes(text))};
}

// s000, s001, ...: a file `text` with "text of i", and a file `number` with i.
inline std::vector<shardpack::Sample> NumberedSamples(size_t count) {
  std::vector<shardpack::Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back({.key = fmt::format("s{:03}", i),
                       .files = {TextFile("text", fmt::format("text of {}", i)),
                                 TextFile("number", std::to_string(i))}});
  }
  return samples;
}

class PackFixture : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", folder_.path(), name);
  }

  // Packs samples, reproducibly, and returns the path of the (first) shard.
  std::string Pack(std::string_view name, std::vector<shardpack::Sample> samples,
                   shardpack::PackOptions options = {}) const {
    ListedSamples source(std::move(samples));
    options.shard.reproducible = true;
    Must(CreatePack(source, {.output = Path(name), .pack = std::move(options)}));
    return Path(name);
  }

  static std::shared_ptr<const SampleSet> Open(std::vector<std::string> references) {
    return Must(OpenSampleSet(references));
  }

  static std::vector<std::string> KeysOf(const SampleSet& set) {
    std::vector<std::string> keys;
    Must(set.VisitKeys([&](uint64_t, std::string_view key) {
      keys.emplace_back(key);
      return true;
    }));
    return keys;
  }

  static Bytes BytesOf(const std::string& path) {
    const Location location = Must(ParseLocation(path));
    return Must(location.store->ReadWhole(location.path, UINT64_MAX)).bytes;
  }

  static bool IsThere(const std::string& path) {
    const Location location = Must(ParseLocation(path));
    return Must(location.store->Stat(location.path)).has_value();
  }

  const TemporaryFolder folder_;
};

}  // namespace dolium::dataset
