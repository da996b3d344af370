// pack export as a job: a stream whose parts are the files that a sink writes.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/xxh64.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/pack_export.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;

// The names of the files that are written.
struct ExportNames {
  std::string path;
  bool is_numbered = false;

  Result<std::string> NameOf(uint64_t number) const {
    if (!is_numbered) return path;
    return NumberedName(path, number);
  }
};

TaskReport ReportOfFile(const ExportSummary& so_far, const ExportSummary& before) {
  TaskReport report;
  report.written = {so_far.samples - before.samples, so_far.bytes - before.bytes,
                    so_far.bytes - before.bytes, 1};
  report.detail = json{
      {"taken", so_far.taken},
      {"samples", so_far.samples},
      {"files", so_far.files},
      {"bytes",
       so_far.bytes}}.dump();
  return report;
}

Result<ExportSummary> ParseSoFar(const std::string& detail) {
  return ParseJob(detail, "the report of an exported file",
                  [](const json& value) -> Result<ExportSummary> {
                    ExportSummary so_far;
                    value.at("taken").get_to(so_far.taken);
                    value.at("samples").get_to(so_far.samples);
                    value.at("files").get_to(so_far.files);
                    value.at("bytes").get_to(so_far.bytes);
                    return so_far;
                  });
}

// Which samples it exports, the process that runs it says; to finish it needs none.
class PackExportJob final : public Job {
 public:
  PackExportJob(Location folder, ExportNames names)
      : folder_(std::move(folder)), names_(std::move(names)) {}

  // All must outlive the job.
  void Take(const SampleSet& set, std::span<const uint64_t> numbers,
            const ExportFilesRequest& request) {
    set_ = &set;
    numbers_ = numbers;
    request_ = &request;
  }

  bool is_stream() const override { return true; }
  Result<void> Plan(const PartSink& /*sink*/) override { return {}; }
  Result<TaskReport> RunPart(const JobPart& /*part*/,
                             const PartContext& /*context*/) override {
    return Unsupported(folder_.Describe() + ": its parts are made one after another");
  }
  std::optional<Location> PartObject(uint64_t part) const override {
    const auto name = names_.NameOf(part);
    if (!name) return std::nullopt;
    return folder_.Child(*name);
  }
  Result<void> Finish() override { return {}; }

  Result<void> RunStream(std::span<const TaskReport> done, const PartContext& context,
                         const StreamSink& sink) override {
    if (set_ == nullptr) return Unsupported(folder_.Describe() + ": has no source");
    ExportSummary so_far;
    if (!done.empty()) {
      DOLIUM_TRY(so_far, ParseSoFar(done.back().detail));
    }
    if (so_far.taken > numbers_.size()) {
      return Corrupt(fmt::format("{}: {} samples are done, of {}", folder_.Describe(),
                                 so_far.taken, numbers_.size()));
    }
    ExportSummary before = so_far;
    SampleExportOptions options = request_->options;
    // In the folder of the job, only what a killed run left is in the way.
    options.force = true;
    options.files_before = done.size();
    options.file_done = [&](bool is_last) -> Result<void> {
      if (is_last) so_far.taken = numbers_.size();
      TaskReport report = ReportOfFile(so_far, before);
      before = so_far;
      return sink(std::move(report), is_last);
    };
    DOLIUM_TRY(const auto path,
               folder_.store->LocalPath(folder_.Child(names_.path).path));
    if (!path) return Unsupported(folder_.Describe() + ": not a local folder");
    DOLIUM_TRY(const auto files, OpenSampleSink(request_->kind, *path, options));
    ExportRequest request = request_->run;
    request.jobs = context.writer.jobs;
    request.memory = context.writer.memory;
    request.stop = context.writer.stop;
    DOLIUM_TRY_VOID(PutSamples(*set_, numbers_.subspan(static_cast<size_t>(so_far.taken)),
                               numbers_.size(), *files, request, so_far));
    return files->Finish();
  }

 private:
  const Location folder_;
  const ExportNames names_;
  const SampleSet* set_ = nullptr;
  std::span<const uint64_t> numbers_;
  const ExportFilesRequest* request_ = nullptr;
};

class PackExportDraft final : public JobDraft {
 public:
  PackExportDraft(const ExportFilesRequest& request, std::span<const uint64_t> numbers,
                  ExportNames names, std::string state)
      : request_(request), names_(std::move(names)), state_(std::move(state)) {
    const SampleExportOptions& options = request.options;
    std::vector<std::string> references;
    references.reserve(request.references.size());
    for (const std::string& reference : request.references) {
      references.push_back(PortableReference(reference));
    }
    text_ = LossyText({{"references", references},
                       {"order", Xxh64(std::as_bytes(numbers))},
                       {"to", request.kind},
                       {"shard_bytes", options.shard_bytes},
                       {"shard_samples", options.shard_samples},
                       {"gzip", options.gzip},
                       {"dot_replacement", options.dot_replacement},
                       {"keys", options.keys}});
  }

  std::string_view kind() const override { return kPackExportKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override { return state_; }
  bool makes_files() const override { return true; }
  Result<void> Prepare() override {
    if (request_.options.force) return {};
    DOLIUM_TRY(const Location first, FirstFile(request_, names_.is_numbered));
    DOLIUM_TRY(const auto there, first.store->Stat(first.path));
    if (!there) return {};
    return Exists(first.Describe() + ": is there already");
  }
  Result<void> CheckReplaceable(const Location& folder) const override {
    return CheckPackReplaceable({}, {}, folder);
  }
  Result<std::string> Plan(const PlanFolder& /*folder*/) override {
    return DumpJob({{"path", names_.path}, {"numbered", names_.is_numbered}});
  }

  static Result<Location> FirstFile(const ExportFilesRequest& request, bool is_numbered) {
    std::string path = request.target;
    if (is_numbered) {
      DOLIUM_TRY(path, NumberedName(request.target, 0));
    }
    return ParseLocation(path);
  }

 private:
  const ExportFilesRequest& request_;
  const ExportNames names_;
  const std::string state_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Job>> OpenPackExportJob(Formats /*formats*/,
                                               const Location& folder,
                                               const JobRecord& record) {
  DOLIUM_TRY(ExportNames names,
             ParseJob(record.parameters, "the record of an export of samples",
                      [](const json& value) -> Result<ExportNames> {
                        return ExportNames{value.at("path").get<std::string>(),
                                           value.at("numbered").get<bool>()};
                      }));
  return std::make_unique<PackExportJob>(folder, std::move(names));
}

Result<ExportSummary> ExportFiles(const SampleSet& set, std::span<const uint64_t> numbers,
                                  const ExportFilesRequest& request) {
  const bool is_numbered =
      request.options.shard_bytes > 0 || request.options.shard_samples > 0;
  DOLIUM_TRY(const Location first, PackExportDraft::FirstFile(request, is_numbered));
  RunOptions options;
  options.writer.jobs = request.run.jobs;
  options.writer.memory = request.run.memory;
  options.writer.stop = request.run.stop;
  options.replace_files = request.options.force;
  options.at_step = request.at_step;
  DOLIUM_TRY(std::string state, StateOfSet(set, {}));
  PackExportDraft draft(request, numbers,
                        {std::string(BaseName(request.target)), is_numbered},
                        std::move(state));
  DOLIUM_TRY(OpenJob job, BeginJob({}, draft, first, request.options.force, options));
  if (job.job) static_cast<PackExportJob&>(*job.job).Take(set, numbers, request);
  DOLIUM_TRY(const JobReport report, RunOrDropJob(job, options, /*can_resume=*/true));
  if (report.details.empty()) return Corrupt(first.Describe() + ": has no report");
  return ParseSoFar(report.details.back());
}

}  // namespace dolium::dataset
