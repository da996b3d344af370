// JobSamples: which samples of which set a job takes, as any process that makes a part of
// it knows.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/ops/job/plan_folder.h"

namespace dolium::dataset {

// A list of numbers in the bookkeeping of a job, each of 64 bits.
Result<void> PutNumbers(const Location& object, std::span<const uint64_t> numbers);
Result<std::vector<uint64_t>> ParseNumbers(BytesView bytes, const Location& object);

// May be used from many threads, but for Take().
class JobSamples {
 public:
  // What any process opens the set by, and what it was like when the job began.
  struct Origin {
    std::vector<std::string> references = {};
    std::vector<std::string> overlays = {};
    bool has_order = false;  // another one than that of the set
    std::string state = {};  // StateOfSet()
  };

  JobSamples(const Location& folder, Origin origin);

  static bool IsOrderOfTheSet(const SampleSet& set, std::span<const uint64_t> order);
  // Keeps the order for those that make parts.
  static Result<void> PutOrder(const PlanFolder& folder, std::span<const uint64_t> order);

  // Spares opening the set, and reading the order, in the process that has them. They
  // must outlive the job.
  void Take(const SampleSet& set, std::span<const uint64_t> order);

  // The set, opened if need be. kConflict if it is not what it was.
  Result<const SampleSet*> Set();
  // Samples of the positions [begin, end) of the order.
  Result<std::vector<uint64_t>> Numbers(uint64_t begin, uint64_t end);

 private:
  const PlanFolder folder_;
  const Origin origin_;
  std::mutex mutex_;
  std::shared_ptr<const SampleSet> opened_;
  const SampleSet* set_ = nullptr;
  std::span<const uint64_t> order_;
};

}  // namespace dolium::dataset
