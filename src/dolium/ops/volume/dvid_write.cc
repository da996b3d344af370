#include "dolium/ops/volume/dvid_write.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/dvid_job.h"
#include "dolium/ops/volume/export_check.h"
#include "dolium/ops/volume/volume_folders.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

// All that makes a request what it is, but the target; ParseRequest() reads it again.
Result<std::string> TextOf(const DvidWriteRequest& request) {
  const bool is_seed = request.layout == dvid::ShardLayout::kSeed;
  const bool is_dvid = request.csv == dvid::CsvForm::kDvid;
  json text = {{"source", request.source},
               {"export", ToText(request.exported)},
               {"scales", request.scales},
               {"layout", is_seed ? "seed" : "stream"},
               {"csv", is_dvid ? "dvid" : "documented"},
               {"shard_side", request.shard_side}};
  if (request.skip_damaged) text["skip_damaged"] = true;
  return DumpJob(text);
}

class DvidDraft final : public JobDraft {
 public:
  DvidDraft(const DvidWriteRequest& request, const WriterOptions& options,
            const FindingVisitor& visitor)
      : request_(request), options_(options), visitor_(visitor) {}

  Result<void> Resolve(const Location& source, const Location& target) {
    DOLIUM_TRY_VOID(CheckDisjoint(source, target));
    if (request_.layout == dvid::ShardLayout::kSeed &&
        request_.csv != dvid::CsvForm::kDocumented) {
      return InvalidArgument("the seed's layout has no CSV, so none of DVID's form");
    }
    DOLIUM_TRY_VOID(CheckShardSide(request_.shard_side));
    DOLIUM_TRY(volume_, OpenVolume(source, {.exported = request_.exported}));
    if (request_.scales.empty()) {
      request_.scales.resize(volume_->info().scales.size());
      std::iota(request_.scales.begin(), request_.scales.end(), size_t{0});
    }
    DOLIUM_TRY_VOID(CheckDvidSource(*volume_, request_.scales));
    DOLIUM_TRY(request_.source, PortableText(source, request_.source));
    if (volume_->dvid_export() != nullptr) {
      // It is the blocks that are left out, when it is opened.
      request_.skip_damaged = false;
    } else {
      // How an export is read is of no matter to other volumes.
      request_.exported = {};
    }
    DOLIUM_TRY(text_, TextOf(request_));
    DvidWriteRequest strict = request_;
    strict.skip_damaged = false;
    strict.exported.salvage = false;
    DOLIUM_TRY(strict_text_, TextOf(strict));
    return {};
  }

  std::string_view kind() const override { return kDvidKind; }
  const std::string& request() const override { return text_; }
  Result<std::string> FindSourceState() override {
    return FindDvidSourceState(request_, {});
  }

  // Shards that were written without leaving out anything are the same.
  Result<std::optional<std::string>> TakeUp(const JobRecord& begun) const override {
    if (begun.request != strict_text_) return std::nullopt;
    return text_;
  }
  Result<void> TakeOver(const PlanFolder& folder) override { return WriteScan(folder); }

  Result<void> Prepare() override {
    DOLIUM_TRY(left_out_, CheckExportToRead(*volume_, options_, visitor_));
    return {};
  }

  Result<void> CheckReplaceable(const Location& folder) const override {
    return CheckDvidReplaceable(folder);
  }
  // The request says it all.
  Result<std::string> Plan(const PlanFolder& folder) override {
    DOLIUM_TRY(const auto damaged, FindDamageOfPlan(request_, folder.set()));
    std::ranges::copy(damaged, std::back_inserter(left_out_));
    DOLIUM_TRY_VOID(WriteScan(folder));
    return text_;
  }

  // Warnings of what the export will not have of the volume.
  Result<std::vector<Finding>> FindLeftOut() const { return FindBesideVoxels(*volume_); }

 private:
  Result<void> WriteScan(const PlanFolder& folder) const {
    if (left_out_.empty()) return {};
    return folder.WriteReport({.part = {}, .written = {}, .skipped = left_out_});
  }

  DvidWriteRequest request_;
  const WriterOptions& options_;
  const FindingVisitor& visitor_;
  std::optional<Volume> volume_;
  std::string text_;
  std::string strict_text_;  // of the request that leaves out nothing
  std::vector<Finding> left_out_;
};

}  // namespace

Result<OpenJob> BeginDvidWrite(const DvidWriteRequest& request, const RunOptions& options,
                               const FindingVisitor& visitor) {
  DOLIUM_TRY(const Location source, ParseLocation(request.source));
  DOLIUM_TRY(const Location target, ParseLocation(request.target));
  DvidDraft draft(request, options.writer, visitor);
  DOLIUM_TRY_VOID(draft.Resolve(source, target));
  DOLIUM_TRY(OpenJob open,
             BeginJob(BuiltinFormats(), draft, target, request.force, options));
  DOLIUM_TRY(const auto left_out, draft.FindLeftOut());
  if (visitor) std::ranges::for_each(left_out, visitor);
  return open;
}

Result<Plan> PlanDvidExport(const DvidWriteRequest& request, const RunOptions& options,
                            const FindingVisitor& visitor) {
  DOLIUM_TRY(const OpenJob open, BeginDvidWrite(request, options, visitor));
  return PlanOf(open);
}

Result<JobReport> WriteDvidExport(const DvidWriteRequest& request,
                                  const RunOptions& options) {
  DvidWriteRequest asked = request;
  return BeginAndRun(
      BuiltinFormats(),
      [&](bool again) {
        asked.force |= again;
        return BeginDvidWrite(asked, options);
      },
      options);
}

}  // namespace dolium::volume
