// Which samples of a set are meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/sample_set.h"

namespace dolium::dataset {

// What is given must all be true of a sample.
struct PackSelection {
  std::string prefix = {};                            // of the key
  std::optional<std::vector<std::string>> keys = {};  // just these
  bool ignore_missing = false;                        // of `keys`
  uint64_t begin = 0;                                 // numbers [begin, end)
  uint64_t end = UINT64_MAX;
  uint64_t every = 1;  // of those left, the first of so many
  // Of those left, so many (or such a part of them) at random, in the order of the set;
  // the same for the same seed.
  std::optional<uint64_t> sample_count = {};
  std::optional<double> sample_fraction = {};
  uint64_t seed = 0;
};

// Numbers of the samples, in the order of the set. Looks at keys only if it must.
// kNotFound names a key of `keys` that is not there; kInvalidArgument if `begin` is past
// the end of the set.
Result<std::vector<uint64_t>> SelectSamples(const SampleSet& set,
                                            const PackSelection& selection);

// The numbers of all samples, ordered by the bytes of their keys; equal keys stay in
// their order. Holds all keys.
Result<std::vector<uint64_t>> OrderByKey(const SampleSet& set);

// The numbers of all samples in a random order, the same for the same seed.
std::vector<uint64_t> OrderAtRandom(uint64_t size, uint64_t seed);

}  // namespace dolium::dataset
