#include "dolium/domain/dataset/imports/skipping_source.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "dolium/formats/shardpack/encode.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;

// Errors that are about the bytes, and stay whatever is tried.
bool IsOfSample(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kNotFound;
}

Finding FindingOf(const Error& error, std::string key) {
  Finding finding{.severity = Severity::kError,
                  .kind = std::string(error.kind.empty() ? "sample" : error.kind),
                  .object = {},
                  .key = std::move(key),
                  .range = std::nullopt,
                  .message = error.message};
  // Messages of sources begin with the file.
  if (const size_t colon = error.message.find(": "); colon != std::string::npos) {
    finding.object = error.message.substr(0, colon);
    finding.message = error.message.substr(colon + 2);
  }
  return finding;
}

class SkippingSource final : public SampleSource {
 public:
  explicit SkippingSource(std::unique_ptr<SampleSource> source)
      : source_(std::move(source)) {}

  Result<std::string> Bind() override { return source_->Bind(); }
  std::optional<GroupingChoice> grouping_choice() const override {
    return source_->grouping_choice();
  }
  Progress progress() const override { return source_->progress(); }

  Result<std::optional<Sample>> Next() override {
    while (true) {
      auto sample = source_->Next();
      if (!sample) {
        if (!IsOfSample(sample.error()) || !source_->can_go_on()) return sample;
        Note(FindingOf(sample.error(), {}));
        continue;
      }
      if (!*sample) return sample;
      if (const auto fits = CheckSample(**sample); !fits) {
        Note(FindingOf(fits.error(), (*sample)->key));
        continue;
      }
      const std::scoped_lock lock(mutex_);
      ++taken_;
      return sample;
    }
  }

  std::vector<Finding> TakeDamaged(uint64_t before) override {
    const std::scoped_lock lock(mutex_);
    const auto end = std::ranges::find_if(
        damaged_, [&](const Damaged& one) { return one.position >= before; });
    std::vector<Finding> findings;
    for (auto one = damaged_.begin(); one != end; ++one) {
      findings.push_back(std::move(one->finding));
    }
    damaged_.erase(damaged_.begin(), end);
    return findings;
  }

 private:
  struct Damaged {
    uint64_t position = 0;  // how many good samples come before it
    Finding finding;
  };

  void Note(Finding finding) {
    const std::scoped_lock lock(mutex_);
    damaged_.push_back({taken_, std::move(finding)});
  }

  const std::unique_ptr<SampleSource> source_;
  std::mutex mutex_;
  uint64_t taken_ = 0;            // guarded by mutex_
  std::vector<Damaged> damaged_;  // guarded by mutex_; by position
};

}  // namespace

std::unique_ptr<SampleSource> SkipDamaged(std::unique_ptr<SampleSource> source) {
  return std::make_unique<SkippingSource>(std::move(source));
}

}  // namespace dolium::dataset
