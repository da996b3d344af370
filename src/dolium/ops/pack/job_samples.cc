#include "dolium/ops/pack/job_samples.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

constexpr std::string_view kOrderName = "work-order";

}  // namespace

Result<void> PutNumbers(const Location& object, std::span<const uint64_t> numbers) {
  constexpr size_t kAtOnce = 8192;
  DOLIUM_TRY(const auto writer, object.store->Begin(object.path));
  ByteVector bytes(kAtOnce * sizeof(uint64_t));
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(kAtOnce, numbers.size()));
    for (size_t i = 0; i < some.size(); ++i) {
      StoreLE<uint64_t>(bytes.data() + i * sizeof(uint64_t), some[i]);
    }
    DOLIUM_TRY_VOID(writer->Append(BytesView(bytes).first(some.size_bytes())));
    numbers = numbers.subspan(some.size());
  }
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             writer->Commit(Precondition::None()));
  return {};
}

Result<std::vector<uint64_t>> ParseNumbers(BytesView bytes, const Location& object) {
  if (bytes.size() % sizeof(uint64_t) != 0) {
    return Corrupt(fmt::format("{}: {} bytes, expected a multiple of {}",
                               object.Describe(), bytes.size(), sizeof(uint64_t)));
  }
  std::vector<uint64_t> numbers(bytes.size() / sizeof(uint64_t));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = LoadLE<uint64_t>(bytes.data() + i * sizeof(uint64_t));
  }
  return numbers;
}

JobSamples::JobSamples(const Location& folder, Origin origin)
    : folder_(folder), origin_(std::move(origin)) {}

bool JobSamples::IsOrderOfTheSet(const SampleSet& set, std::span<const uint64_t> order) {
  if (order.size() != set.size()) return false;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

Result<void> JobSamples::PutOrder(const PlanFolder& folder,
                                  std::span<const uint64_t> order) {
  return PutNumbers(folder.folder().Child(kOrderName), order);
}

void JobSamples::Take(const SampleSet& set, std::span<const uint64_t> order) {
  set_ = &set;
  order_ = order;
}

Result<const SampleSet*> JobSamples::Set() {
  const std::scoped_lock lock(mutex_);
  if (set_ != nullptr) return set_;
  DOLIUM_TRY(opened_, OpenSampleSet(origin_.references));
  std::vector<std::shared_ptr<const SampleSet>> layers;
  for (const std::string& overlay : origin_.overlays) {
    DOLIUM_TRY(auto layer, OpenSampleSet({&overlay, 1}));
    layers.push_back(std::move(layer));
  }
  if (!layers.empty()) {
    DOLIUM_TRY(opened_, Overlay(std::move(opened_), std::move(layers)));
  }
  DOLIUM_TRY(const std::string state, StateOfSet(*opened_, origin_.overlays));
  if (state != origin_.state) {
    return Conflict(fmt::format("{}: is not what it was when the job began",
                                origin_.references.front()));
  }
  set_ = opened_.get();
  return set_;
}

Result<std::vector<uint64_t>> JobSamples::Numbers(uint64_t begin, uint64_t end) {
  DOLIUM_TRY(const SampleSet* const set, Set());
  std::vector<uint64_t> numbers;
  if (!order_.empty() && end <= order_.size()) {
    const auto some = order_.subspan(begin, end - begin);
    numbers.assign(some.begin(), some.end());
  } else if (origin_.has_order) {
    const Location object = folder_.folder().Child(kOrderName);
    const auto range =
        ByteRange::Make(begin * sizeof(uint64_t), (end - begin) * sizeof(uint64_t));
    if (!range) return Corrupt(object.Describe() + ": a part ends past 2^64");
    DOLIUM_TRY(const Bytes bytes, object.store->ReadRange(object.path, *range));
    DOLIUM_TRY(numbers, ParseNumbers(bytes, object));
  } else {
    numbers.resize(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
  }
  for (const uint64_t number : numbers) {
    if (number < set->size()) continue;
    return Corrupt(fmt::format("{}: sample {} of a set of {}", folder_.set().Describe(),
                               number, set->size()));
  }
  return numbers;
}

}  // namespace dolium::dataset
