// ls and cat: the samples of a set, and one file of one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/ops/pack/pack_sample.h"

namespace dolium::dataset {

struct SampleVisitor {
  std::function<bool(const SampleFacts&)> sample;
  // A sample that cannot be read, or not all of it; the listing goes on behind it.
  std::function<bool(const Error&)> damage;
};

// Visits samples in the order of `numbers`, until a function returns false.
Result<void> ListSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                         const SampleVisitor& visitor);

// The number of the sample with that key; else, for a text like `#17`, the number that it
// says. kNotFound if there is no such sample.
Result<uint64_t> FindSample(const SampleSet& set, std::string_view key);

// The number of the sample that begins at `offset` of the only shard of a set. kNotFound
// if none does; kInvalidArgument if there are several shards.
Result<uint64_t> SampleAtOffset(const SampleSet& set, uint64_t offset);

// One file, decoded; without a name, the only one. kNotFound if there is none of that
// name; kInvalidArgument if a name is needed. Messages list the names that there are.
Result<Bytes> ReadFileOf(const LoadedSample& sample,
                         const std::optional<std::string>& name);

}  // namespace dolium::dataset
