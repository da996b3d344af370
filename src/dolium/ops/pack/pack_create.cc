#include "dolium/ops/pack/pack_create.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/worker_pool.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/pack_job.h"
#include "dolium/ops/pack/pack_output.h"

namespace dolium::dataset {
namespace {

using shardpack::PackOptions;
using shardpack::PackWriter;
using shardpack::Sample;
using shardpack::ShardSummary;

// What the reader hands over at once.
constexpr size_t kBatchSamples = 64;
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
// How much the reader may be ahead: this, and no more than a part of the memory.
constexpr uint64_t kMostAhead = uint64_t{64} << 20;
constexpr uint64_t kAheadPart = 4;
constexpr size_t kMostBatches = 64;

uint64_t BytesOf(const Sample& sample) {
  uint64_t bytes = 0;
  for (const shardpack::File& file : sample.files) bytes += file.data.size();
  return bytes;
}

// Reads a source on a thread of its own, a little ahead of whoever takes its samples.
class ReadAhead {
 public:
  struct Batch {
    std::vector<Sample> samples;
    uint64_t bytes = 0;
    Progress progress;
  };

  ReadAhead(SampleSource& source, uint64_t most_bytes)
      : source_(source), most_bytes_(most_bytes) {
    // Without a thread there is an error at once, and nothing is read.
    if (auto started = reader_.status(); !started) end_ = std::move(started);
    reader_.Submit([this] { return Read(); });
  }
  ~ReadAhead() {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next samples; none after the last.
  Result<Batch> Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || end_; });
    if (batches_.empty()) {
      if (!*end_) return end_->error();
      return Batch();
    }
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    bytes_ -= batch.bytes;
    changed_.notify_all();
    return batch;
  }

 private:
  // Errors are handed over in their place, behind the samples before them.
  Result<void> Read() {
    std::optional<Result<void>> end;
    while (!end) {
      Batch batch;
      while (!end && batch.samples.size() < kBatchSamples && batch.bytes < kBatchBytes) {
        auto sample = source_.Next();
        if (!sample) {
          end = Result<void>(sample.error());
        } else if (!*sample) {
          end = Result<void>();
        } else {
          batch.bytes += BytesOf(**sample);
          batch.samples.push_back(**std::move(sample));
        }
      }
      batch.progress = source_.progress();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return is_stopped_ || batches_.empty() ||
               (bytes_ + batch.bytes <= most_bytes_ && batches_.size() < kMostBatches);
      });
      if (is_stopped_) return {};
      bytes_ += batch.bytes;
      if (!batch.samples.empty()) batches_.push_back(std::move(batch));
      end_ = end;
      changed_.notify_all();
    }
    return {};
  }

  SampleSource& source_;
  const uint64_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  uint64_t bytes_ = 0;  // of those batches
  bool is_stopped_ = false;
  std::optional<Result<void>> end_;
  // Last: its thread uses what is above.
  WorkerPool reader_{1};
};

// What a record says of the source and of the shards.
struct RecordedCreate {
  std::string kind;
  std::string path;
  ImportOptions options;
  CreateRequest request;
};

// The value of an enumeration that ends with `last`.
template <typename Enum>
Result<Enum> GetEnum(const nlohmann::json& value, const char* name, Enum last) {
  const auto number = value.at(name).get<uint64_t>();
  if (number <= static_cast<uint64_t>(last)) return static_cast<Enum>(number);
  return Corrupt(fmt::format("{} is {}", name, number));
}

Result<RecordedCreate> ParseCreate(const std::string& request) {
  constexpr std::string_view kWhat = "the record of new shards";
  RecordedCreate read;
  DOLIUM_TRY(
      const std::string source,
      ParseJob(request, kWhat, [&](const nlohmann::json& value) -> Result<std::string> {
        PackOptions& pack = read.request.pack;
        DOLIUM_TRY(pack.shard, ParseShardOptions(value));
        value.at("shard_bytes").get_to(pack.shard_bytes);
        value.at("shard_records").get_to(pack.shard_records);
        DOLIUM_TRY(pack.oversize, GetEnum(value, "oversize", shardpack::Oversize::kSkip));
        value.at("dictionary_bytes").get_to(pack.dictionary_bytes);
        return value.at("source").get<std::string>();
      }));
  if (source.empty()) {
    return Unsupported("its source cannot be read twice: only who began the job runs it");
  }
  DOLIUM_TRY_VOID(
      ParseJob(source, kWhat, [&](const nlohmann::json& value) -> Result<void> {
        ImportOptions& options = read.options;
        value.at("kind").get_to(read.kind);
        value.at("path").get_to(read.path);
        DOLIUM_TRY(options.grouping, GetEnum(value, "grouping", Grouping::kManifest));
        value.at("manifest").get_to(options.manifest);
        value.at("skip_links").get_to(options.skip_links);
        value.at("keep_attributes").get_to(options.keep_attributes);
        value.at("keep_case").get_to(options.keep_case);
        DOLIUM_TRY(options.records, GetEnum(value, "records", TfRecords::kExample));
        value.at("database").get_to(options.database);
        value.at("jsonl_files").get_to(options.jsonl_files);
        value.at("key_prefix").get_to(options.key_prefix);
        value.at("skip_damaged").get_to(options.skip_damaged);
        return {};
      }));
  return read;
}

// Its samples come from the source of the process that began it, or, where another one
// runs it, from what its record says. To finish it needs none.
class PackCreateJob final : public Job {
 public:
  PackCreateJob(Location folder, PackOutput names, const JobRecord& record)
      : folder_(std::move(folder)),
        names_(std::move(names)),
        asked_(record.request),
        state_(record.source) {}

  // Both must outlive the job.
  void Take(SampleSource& source, const CreateRequest& request) {
    source_ = &source;
    request_ = &request;
  }

  bool is_stream() const override { return true; }
  Result<void> Plan(const PartSink& /*sink*/) override { return {}; }
  Result<TaskReport> RunPart(const JobPart& /*part*/,
                             const PartContext& /*context*/) override {
    return Unsupported(folder_.Describe() + ": its parts are made one after another");
  }
  std::optional<Location> PartObject(uint64_t part) const override {
    return folder_.Child(names_.NameOf(part));
  }
  Result<void> Finish() override { return {}; }

  Result<void> RunStream(std::span<const TaskReport> done, const PartContext& context,
                         const StreamSink& sink) override {
    const bool is_reopened = source_ == nullptr;
    if (is_reopened) DOLIUM_TRY_VOID(Reopen());
    PackOptions options = request_->pack;
    DOLIUM_TRY(const PackOutput output,
               PackOutput::Make(request_->output, names_.is_numbered()));
    const bool may_replace = options.shard.force || is_reopened;
    options.jobs = context.writer.jobs;
    options.memory = context.writer.memory;
    options.stop = context.writer.stop;
    // In the folder of the job, only what a killed run left is in the way.
    options.shard.force = true;
    options.place = [&](uint64_t number) { return folder_.Child(names_.NameOf(number)); };
    options.shard_done = [&](const ShardSummary& shard, uint64_t samples,
                             uint64_t skipped, bool is_last) -> Result<void> {
      TaskReport report = ReportOf({shard, samples, skipped});
      // That of shards that were made before is reported already.
      source_->TakeLeftOut(std::exchange(reported_before_, 0));
      report.skipped = source_->TakeLeftOut(is_last ? UINT64_MAX : samples);
      DOLIUM_TRY_VOID(sink(std::move(report), is_last));
      // Said before the work on the next, and enforced when all are done.
      if (is_last || may_replace) return {};
      return output.CheckFree(++shards_);
    };
    DOLIUM_TRY_VOID(GoOnBehind(done, options));
    return WriteAll(std::move(options), context);
  }

 private:
  Result<void> Reopen() {
    DOLIUM_TRY(recorded_, ParseCreate(asked_));
    recorded_->request.output = folder_.Parent().Child(names_.NameOf(0)).Describe();
    DOLIUM_TRY(opened_,
               OpenSampleSource(recorded_->kind, recorded_->path, recorded_->options));
    DOLIUM_TRY(const std::string state, opened_->Bind());
    if (state != state_) return SourceChangedError(folder_);
    Take(*opened_, recorded_->request);
    return {};
  }

  Result<void> GoOnBehind(std::span<const TaskReport> done, PackOptions& options) {
    if (done.empty()) return {};
    DOLIUM_TRY(const MadeShard last, ParseMadeShard(done.back().detail));
    shards_ = options.shards_before = done.size();
    options.samples_before = reported_before_ = last.samples;
    // The dictionary is made from the first samples again.
    if (options.dictionary_bytes > 0) {
      options.samples_to_drop = last.samples;
      return {};
    }
    return source_->Skip(last.samples);
  }

  Result<void> WriteAll(PackOptions options, const PartContext& context) {
    const uint64_t ahead = std::min(kMostAhead, options.memory / kAheadPart);
    DOLIUM_TRY(const auto writer, PackWriter::Create(std::move(options)));
    ReadAhead reader(*source_, ahead);
    while (true) {
      DOLIUM_TRY(ReadAhead::Batch batch, reader.Next());
      if (batch.samples.empty()) break;
      for (Sample& sample : batch.samples) {
        DOLIUM_TRY_VOID(writer->Add(std::move(sample)));
      }
      if (request_->progress) {
        request_->progress(batch.progress);
      } else {
        context.progress(batch.samples.size(), batch.bytes);
      }
    }
    DOLIUM_TRY([[maybe_unused]] const auto summary, writer->Finish());
    return {};
  }

  const Location folder_;
  const PackOutput names_;
  const std::string asked_;  // JobRecord::request
  const std::string state_;  // of the source
  std::optional<RecordedCreate> recorded_;
  std::unique_ptr<SampleSource> opened_;
  SampleSource* source_ = nullptr;
  const CreateRequest* request_ = nullptr;
  uint64_t shards_ = 0;           // that are complete
  uint64_t reported_before_ = 0;  // samples in front of which all damage is reported
};

class PackCreateDraft final : public JobDraft {
 public:
  PackCreateDraft(const CreateRequest& request, const PackOutput& output)
      : request_(request), output_(output) {
    const PackOptions& pack = request.pack;
    // Flat, so that a message can name what differs.
    nlohmann::json text = ShardOptionsJson(pack.shard);
    text["source"] = request.source ? request.source->text : "";
    text["shard_bytes"] = pack.shard_bytes;
    text["shard_records"] = pack.shard_records;
    text["oversize"] = static_cast<int>(pack.oversize);
    text["dictionary_bytes"] = pack.dictionary_bytes;
    text_ = DumpJsonLossy(text);
  }

  std::string_view kind() const override { return kPackCreateKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override {
    return request_.source ? request_.source->state : "";
  }
  bool makes_files() const override { return true; }
  bool can_resume() const override { return request_.source.has_value(); }
  Result<void> Prepare() override {
    if (request_.pack.shard.force) return {};
    DOLIUM_TRY_VOID(output_.CheckFree(0));
    return output_.is_numbered() ? output_.CheckFree(1) : Result<void>();
  }
  Result<std::string> Plan(const PlanFolder& /*folder*/) override {
    return DumpJob(
        {{"output", BaseName(request_.output)}, {"numbered", output_.is_numbered()}});
  }

 private:
  const CreateRequest& request_;
  const PackOutput& output_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Job>> OpenPackCreateJob(Formats /*formats*/,
                                               const Location& folder,
                                               const JobRecord& record) {
  DOLIUM_TRY(PackOutput names,
             ParseJob(record.parameters, "the record of new shards",
                      [](const nlohmann::json& value) -> Result<PackOutput> {
                        return PackOutput::Make(value.at("output").get<std::string>(),
                                                value.at("numbered").get<bool>());
                      }));
  return std::make_unique<PackCreateJob>(folder, std::move(names), record);
}

Result<SourceName> NameSource(std::string_view kind, const std::string& path,
                              const ImportOptions& options, SampleSource& source) {
  SourceName name;
  name.text = DumpJsonLossy(nlohmann::json{
      {"kind", kind},
      {"path", PortableReference(path)},
      {"grouping", static_cast<int>(options.grouping)},
      {"manifest", options.manifest.empty() ? "" : PortableReference(options.manifest)},
      {"skip_links", options.skip_links},
      {"keep_attributes", options.keep_attributes},
      {"keep_case", options.keep_case},
      {"records", static_cast<int>(options.records)},
      {"database", options.database},
      {"jsonl_files", options.jsonl_files},
      {"key_prefix", options.key_prefix},
      {"skip_damaged", options.skip_damaged}});
  DOLIUM_TRY(name.state, source.Bind());
  return name;
}

namespace {

RunOptions RunOptionsOf(const CreateRequest& request) {
  const PackOptions& pack = request.pack;
  RunOptions options;
  options.writer.jobs = pack.jobs;
  options.writer.memory = pack.memory;
  options.writer.stop = pack.stop;
  options.replace_files = pack.shard.force;
  options.at_step = request.at_step;
  return options;
}

Result<OpenJob> BeginCreate(SampleSource& source, const CreateRequest& request,
                            const PackOutput& output) {
  PackCreateDraft draft(request, output);
  DOLIUM_TRY(OpenJob job, BeginJob({}, draft, output.At(0), request.pack.shard.force,
                                   RunOptionsOf(request)));
  // A job whose shards are all there has no use for the source.
  if (job.job) static_cast<PackCreateJob&>(*job.job).Take(source, request);
  return job;
}

Result<PackOutput> OutputOf(const CreateRequest& request) {
  return PackOutput::Make(request.output,
                          request.pack.shard_bytes > 0 || request.pack.shard_records > 0);
}

}  // namespace

Result<Plan> PlanCreate(SampleSource& source, const CreateRequest& request) {
  if (!request.source) {
    return Unsupported("samples that can be read only once cannot be planned for");
  }
  DOLIUM_TRY(const PackOutput output, OutputOf(request));
  DOLIUM_TRY(const OpenJob job, BeginCreate(source, request, output));
  DOLIUM_TRY(Plan plan, PlanOf(job));
  plan.force = request.pack.shard.force;
  return plan;
}

Result<PackReport> CreatePack(SampleSource& source, const CreateRequest& request) {
  DOLIUM_TRY(const PackOutput output, OutputOf(request));
  DOLIUM_TRY(OpenJob job, BeginCreate(source, request, output));
  DOLIUM_TRY(PackReport report,
             RunPackJob(job, output, RunOptionsOf(request), request.source.has_value()));
  report.grouping = source.grouping_choice();
  return report;
}

}  // namespace dolium::dataset
