// An export as a stream whose parts are the files that a sink writes.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/export_job.h"
#include "dolium/ops/pack/job_samples.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;

constexpr std::string_view kMds = "mds";
constexpr std::string_view kMdsIndex = "index.json";

// The names of the files that are written.
struct ExportNames {
  std::string path;  // empty: those of an MDS, which has its own
  bool is_numbered = false;

  Result<std::string> NameOf(uint64_t number) const {
    if (!is_numbered) return path;
    return NumberedName(path, number);
  }
};

// Where the file lies that names of others are made from, if they are.
std::string FileOf(const ExportRequest& request) {
  const std::string& target = request.target;
  if (request.kind == "lmdb" && !target.ends_with(".mdb")) {
    return JoinPath(target, "data.mdb");
  }
  return target;
}

ExportNames NamesOf(const ExportRequest& request) {
  if (request.kind == kMds) return {};
  const bool has_limit =
      request.options.shard_bytes > 0 || request.options.shard_samples > 0;
  return {std::string(BaseName(FileOf(request))), has_limit && request.kind != "lmdb"};
}

// The file whose name the folder of the job has.
Result<Location> FirstFile(const ExportRequest& request) {
  if (request.kind == kMds) return ParseLocation(JoinPath(request.target, kMdsIndex));
  std::string path = FileOf(request);
  if (NamesOf(request).is_numbered) {
    DOLIUM_TRY(path, NumberedName(path, 0));
  }
  return ParseLocation(path);
}

// What a record says of the samples, and of the files.
struct RecordedExport {
  JobSamples::Origin origin;
  uint64_t samples = 0;
  ExportRequest request;
};

// Its samples are those of the process that began it, or, where another one runs it,
// those of which its record says. To finish it needs none.
class PackExportJob final : public Job {
 public:
  PackExportJob(Location folder, ExportNames names,
                std::optional<RecordedExport> recorded)
      : folder_(std::move(folder)),
        names_(std::move(names)),
        recorded_(std::move(recorded)) {}

  // All must outlive the job.
  void Take(const SampleSet& set, std::span<const uint64_t> numbers,
            const ExportRequest& request) {
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
    if (!name || name->empty()) return std::nullopt;
    return folder_.Child(*name);
  }
  Result<void> Finish() override { return {}; }

  Result<void> RunStream(std::span<const TaskReport> done, const PartContext& context,
                         const StreamSink& sink) override {
    if (set_ == nullptr) DOLIUM_TRY_VOID(Reopen());
    std::vector<std::string> details;
    for (const TaskReport& report : done) details.push_back(report.detail);
    DOLIUM_TRY(ExportSummary so_far, SumOfExports(details));
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
      TaskReport report = ReportOfExport(so_far, before);
      before = so_far;
      return sink(std::move(report), is_last);
    };
    const Location place = names_.path.empty() ? folder_ : folder_.Child(names_.path);
    DOLIUM_TRY(const auto path, place.store->LocalPath(place.path));
    if (!path) return Unsupported(folder_.Describe() + ": not a local folder");
    DOLIUM_TRY(const auto files, OpenSampleSink(request_->kind, *path, options));
    PutOptions put{.jobs = context.writer.jobs,
                   .memory = context.writer.memory,
                   .stop = context.writer.stop};
    ExportSummary last = so_far;
    put.progress = [&](const ExportSummary& sum) {
      if (request_->progress) {
        request_->progress({sum.samples, numbers_.size(), sum.bytes, 0});
      } else {
        context.progress(sum.samples - last.samples, sum.bytes - last.bytes);
      }
      last = sum;
    };
    DOLIUM_TRY_VOID(PutSamples(*set_, numbers_.subspan(static_cast<size_t>(so_far.taken)),
                               *files, put, so_far));
    return files->Finish();
  }

 private:
  Result<void> Reopen() {
    if (!recorded_) {
      return Unsupported(folder_.Describe() + ": only the request that began it runs it");
    }
    samples_.emplace(folder_, recorded_->origin);
    DOLIUM_TRY(set_, samples_->Set());
    if (!recorded_->origin.has_order && recorded_->samples != set_->size()) {
      return Corrupt(fmt::format("{}: {} samples of a set of {}", folder_.Describe(),
                                 recorded_->samples, set_->size()));
    }
    DOLIUM_TRY(order_, samples_->Numbers(0, recorded_->samples));
    numbers_ = order_;
    request_ = &recorded_->request;
    return {};
  }

  const Location folder_;
  const ExportNames names_;
  const std::optional<RecordedExport> recorded_;
  std::optional<JobSamples> samples_;
  std::vector<uint64_t> order_;
  const SampleSet* set_ = nullptr;
  std::span<const uint64_t> numbers_;
  const ExportRequest* request_ = nullptr;
};

// Throws what the JSON library does.
RecordedExport GetRecorded(const json& value) {
  RecordedExport read;
  value.at("references").get_to(read.origin.references);
  value.at("has_order").get_to(read.origin.has_order);
  value.at("count").get_to(read.samples);
  value.at("to").get_to(read.request.kind);
  SampleExportOptions& options = read.request.options;
  value.at("shard_bytes").get_to(options.shard_bytes);
  value.at("shard_samples").get_to(options.shard_samples);
  value.at("gzip").get_to(options.gzip);
  value.at("dot_replacement").get_to(options.dot_replacement);
  value.at("keys").get_to(options.keys);
  return read;
}

class PackExportDraft final : public JobDraft {
 public:
  PackExportDraft(const SampleSet& set, const ExportRequest& request,
                  std::span<const uint64_t> numbers, Location first, std::string state)
      : request_(request),
        numbers_(numbers),
        has_order_(!JobSamples::IsOrderOfTheSet(set, numbers)),
        first_(std::move(first)),
        state_(std::move(state)) {
    json text = ExportJson(numbers, request);
    text["gzip"] = request.options.gzip;
    text["dot_replacement"] = request.options.dot_replacement;
    text["keys"] = request.options.keys;
    text_ = DumpJsonLossy(text);
  }

  std::string_view kind() const override { return kPackExportKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override { return state_; }
  bool makes_files() const override { return true; }
  Result<void> Prepare() override {
    if (request_.options.force) return {};
    DOLIUM_TRY(const auto there, first_.store->Stat(first_.path));
    if (!there) return {};
    return Exists(first_.Describe() + ": is there already");
  }
  Result<std::string> Plan(const PlanFolder& folder) override {
    const ExportNames names = NamesOf(request_);
    json text = {{"path", names.path}, {"numbered", names.is_numbered}};
    if (!request_.references.empty()) {
      if (has_order_) DOLIUM_TRY_VOID(JobSamples::PutOrder(folder, numbers_));
      const SampleExportOptions& options = request_.options;
      text["samples"] = {{"references", PortableReferences(request_.references)},
                         {"has_order", has_order_},
                         {"count", numbers_.size()},
                         {"to", request_.kind},
                         {"shard_bytes", options.shard_bytes},
                         {"shard_samples", options.shard_samples},
                         {"gzip", options.gzip},
                         {"dot_replacement", options.dot_replacement},
                         {"keys", options.keys}};
    }
    auto all = DumpJob(text);
    if (all) return all;
    // Names that JSON cannot hold: only the same request can go on.
    text.erase("samples");
    return DumpJob(text);
  }

 private:
  const ExportRequest& request_;
  const std::span<const uint64_t> numbers_;
  const bool has_order_;
  const Location first_;
  const std::string state_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Job>> OpenPackExportJob(Formats /*formats*/,
                                               const Location& folder,
                                               const JobRecord& record) {
  std::optional<RecordedExport> recorded;
  DOLIUM_TRY(ExportNames names,
             ParseJob(record.parameters, "the record of an export of samples",
                      [&](const json& value) -> Result<ExportNames> {
                        if (value.contains("samples")) {
                          recorded = GetRecorded(value.at("samples"));
                          recorded->origin.state = record.source;
                        }
                        return ExportNames{value.at("path").get<std::string>(),
                                           value.at("numbered").get<bool>()};
                      }));
  return std::make_unique<PackExportJob>(folder, std::move(names), std::move(recorded));
}

Result<OpenJob> BeginExportStream(const SampleSet& set, std::span<const uint64_t> numbers,
                                  const ExportRequest& request) {
  DOLIUM_TRY(Location first, FirstFile(request));
  DOLIUM_TRY(std::string state, StateOfSet(set, {}));
  PackExportDraft draft(set, request, numbers, first, std::move(state));
  DOLIUM_TRY(OpenJob job,
             BeginJob({}, draft, first, request.options.force, RunOptionsOf(request)));
  if (job.job) static_cast<PackExportJob&>(*job.job).Take(set, numbers, request);
  return job;
}

}  // namespace dolium::dataset
