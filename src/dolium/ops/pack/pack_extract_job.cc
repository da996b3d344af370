// Files of samples in a folder, as a job: a part is so many samples, and leaves a folder
// of its own, whose files are moved into place at the end.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/xxh64.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/folder.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/export_job.h"
#include "dolium/ops/pack/job_samples.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;

// Of a part, unless a limit is asked for.
constexpr uint64_t kPartSamples = 4096;
constexpr uint64_t kManifestLimit = uint64_t{1} << 32;

struct ExtractParameters {
  JobSamples::Origin origin;
  uint64_t samples = 0;
  uint64_t part_samples = kPartSamples;
  SampleExportOptions options;  // layout and manifest

  uint64_t parts() const { return (samples + part_samples - 1) / part_samples; }
};

class PackExtractJob final : public Job {
 public:
  PackExtractJob(Location folder, const ExtractParameters& parameters)
      : folder_(std::move(folder)),
        parameters_(parameters),
        samples_(folder_, parameters.origin) {}

  // All must outlive the job.
  void Take(const SampleSet& set, std::span<const uint64_t> numbers,
            const ExportRequest& request) {
    samples_.Take(set, numbers);
    // Said before the work is done, and enforced after it.
    if (!request.options.force) destination_ = request.target;
  }

  Result<void> Plan(const PartSink& sink) override {
    for (uint64_t number = 0; number < parameters_.parts(); ++number) {
      JobPart part;
      part.number = number;
      part.entries = EndOf(number) - number * parameters_.part_samples;
      sink(std::move(part));
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    if (part.number >= parameters_.parts()) {
      return InvalidArgument(fmt::format("{}: no part {}; there are {}",
                                         folder_.Describe(), part.number,
                                         parameters_.parts()));
    }
    DOLIUM_TRY(const SampleSet* const set, samples_.Set());
    DOLIUM_TRY(
        const auto numbers,
        samples_.Numbers(part.number * parameters_.part_samples, EndOf(part.number)));
    const std::string name = PartFolderName(part.number);
    DOLIUM_TRY(const auto job_folder, folder_.store->LocalPath(folder_.path));
    if (!job_folder) return Unsupported(folder_.Describe() + ": not a local folder");
    const std::string making = JoinPath(*job_folder, MakeTemporaryName(name));
    SampleExportOptions options = parameters_.options;
    options.destination = destination_;
    ExportSummary made;
    auto written = Write(*set, numbers, making, options, context, made);
    if (!written) {
      // The first error is the one to know of.
      [[maybe_unused]] const auto removed = RemoveFolder(making);
      return std::move(written).error();
    }
    const auto appeared = RenameFolder(making, JoinPath(*job_folder, name));
    if (!appeared) {
      if (appeared.error().code != ErrorCode::kExists) return appeared.error();
      // The same part, of a run that was killed before its report, or of another process.
      DOLIUM_TRY_VOID(RemoveFolder(making));
    }
    return ReportOfExport(made, {});
  }

  // The manifests of the parts become one.
  Result<void> Finish() override {
    if (!parameters_.options.manifest) return {};
    const Location whole = folder_.Child(kFolderManifest);
    DOLIUM_TRY(const auto there, whole.store->Stat(whole.path));
    if (!there) {
      DOLIUM_TRY(const auto writer, whole.store->Begin(whole.path));
      for (uint64_t part = 0; part < parameters_.parts(); ++part) {
        const Location lines = ManifestOf(part);
        DOLIUM_TRY(const auto text, lines.store->ReadWhole(lines.path, kManifestLimit));
        DOLIUM_TRY_VOID(writer->Append(text.bytes));
      }
      DOLIUM_TRY([[maybe_unused]] const auto made, writer->Commit(Precondition::None()));
    }
    for (uint64_t part = 0; part < parameters_.parts(); ++part) {
      const Location lines = ManifestOf(part);
      const auto removed = lines.store->Remove(lines.path, Precondition::None());
      if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
    }
    return {};
  }

 private:
  uint64_t EndOf(uint64_t part) const {
    return std::min(parameters_.samples, (part + 1) * parameters_.part_samples);
  }
  Location ManifestOf(uint64_t part) const {
    return folder_.Child(PartFolderName(part)).Child(kFolderManifest);
  }

  static Result<void> Write(const SampleSet& set, std::span<const uint64_t> numbers,
                            const std::string& path, const SampleExportOptions& options,
                            const PartContext& context, ExportSummary& made) {
    DOLIUM_TRY(const auto sink, CreateFolderSink(path, options));
    ExportSummary last;
    const PutOptions put{.jobs = context.writer.jobs,
                         .memory = context.writer.memory,
                         .stop = context.writer.stop,
                         .progress = [&](const ExportSummary& sum) {
                           context.progress(sum.samples - last.samples,
                                            sum.bytes - last.bytes);
                           last = sum;
                         }};
    DOLIUM_TRY_VOID(PutSamples(set, numbers, *sink, put, made));
    return sink->Finish();
  }

  const Location folder_;
  const ExtractParameters parameters_;
  JobSamples samples_;
  std::string destination_;
};

class PackExtractDraft final : public JobDraft {
 public:
  PackExtractDraft(const SampleSet& set, std::span<const uint64_t> numbers,
                   const ExportRequest& request, std::string state)
      : numbers_(numbers), request_(request), state_(std::move(state)) {
    has_order_ = !JobSamples::IsOrderOfTheSet(set, numbers);
    json text = ExportJson(numbers, request);
    text["stem"] = request.options.layout == FolderLayout::kStem;
    text["manifest"] = request.options.manifest;
    text_ = DumpJsonLossy(text);
  }

  std::string_view kind() const override { return kPackExtractKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override { return state_; }
  bool makes_files() const override { return true; }
  Result<std::string> Plan(const PlanFolder& folder) override {
    if (has_order_) DOLIUM_TRY_VOID(JobSamples::PutOrder(folder, numbers_));
    const SampleExportOptions& options = request_.options;
    return DumpJob({{"references", PortableReferences(request_.references)},
                    {"has_order", has_order_},
                    {"samples", numbers_.size()},
                    {"part_samples",
                     options.shard_samples > 0 ? options.shard_samples : kPartSamples},
                    {"stem", options.layout == FolderLayout::kStem},
                    {"manifest", options.manifest}});
  }

  // Several requests may write to one folder at once, so that each has its own.
  Result<Location> Place() const {
    return ParseLocation(
        JoinPath(request_.target, fmt::format("extract-{:016x}", Xxh64(AsBytes(text_)))));
  }

 private:
  const std::span<const uint64_t> numbers_;
  const ExportRequest& request_;
  const std::string state_;
  bool has_order_ = false;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Job>> OpenPackExtractJob(Formats /*formats*/,
                                                const Location& folder,
                                                const JobRecord& record) {
  DOLIUM_TRY(ExtractParameters parameters,
             ParseJob(record.parameters, "the record of files of samples",
                      [](const json& value) -> Result<ExtractParameters> {
                        ExtractParameters read;
                        value.at("references").get_to(read.origin.references);
                        value.at("has_order").get_to(read.origin.has_order);
                        value.at("samples").get_to(read.samples);
                        value.at("part_samples").get_to(read.part_samples);
                        value.at("manifest").get_to(read.options.manifest);
                        if (value.at("stem").get<bool>()) {
                          read.options.layout = FolderLayout::kStem;
                        }
                        if (read.part_samples == 0) return Corrupt("parts of 0 samples");
                        return read;
                      }));
  parameters.origin.state = record.source;
  return std::make_unique<PackExtractJob>(folder, parameters);
}

Result<OpenJob> BeginExtract(const SampleSet& set, std::span<const uint64_t> numbers,
                             const ExportRequest& request) {
  DOLIUM_TRY(std::string state, StateOfSet(set, {}));
  PackExtractDraft draft(set, numbers, request, std::move(state));
  DOLIUM_TRY(const Location place, draft.Place());
  DOLIUM_TRY(OpenJob job,
             BeginJob({}, draft, place, request.options.force, RunOptionsOf(request)));
  if (job.job) static_cast<PackExtractJob&>(*job.job).Take(set, numbers, request);
  return job;
}

}  // namespace dolium::dataset
