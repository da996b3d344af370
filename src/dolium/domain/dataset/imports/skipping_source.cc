#include "dolium/domain/dataset/imports/skipping_source.h"

#include <utility>

#include "dolium/domain/dataset/imports/left_out.h"
#include "dolium/formats/shardpack/encode.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;

// Errors that are about the bytes, and stay whatever is tried.
bool IsOfSample(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kNotFound;
}

Finding FindingOfError(const Error& error, std::string key) {
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
      for (Finding& finding : source_->TakeLeftOut(UINT64_MAX)) {
        left_out_.Note(taken_, std::move(finding));
      }
      if (!sample) {
        if (!IsOfSample(sample.error()) || !source_->can_go_on()) return sample;
        left_out_.Note(taken_, FindingOfError(sample.error(), {}));
        continue;
      }
      if (!*sample) return sample;
      if (const auto fits = CheckSample(**sample); !fits) {
        left_out_.Note(taken_, FindingOfError(fits.error(), (*sample)->key));
        continue;
      }
      ++taken_;
      return sample;
    }
  }

  std::vector<Finding> TakeLeftOut(uint64_t before) override {
    return left_out_.Take(before);
  }

 private:
  const std::unique_ptr<SampleSource> source_;
  uint64_t taken_ = 0;
  LeftOut left_out_;
};

}  // namespace

std::unique_ptr<SampleSource> SkipDamaged(std::unique_ptr<SampleSource> source) {
  return std::make_unique<SkippingSource>(std::move(source));
}

}  // namespace dolium::dataset
