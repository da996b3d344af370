#include "dolium/ops/pack/pack_copy.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/xxh64.h"
#include "dolium/container/json.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/job_samples.h"
#include "dolium/ops/pack/pack_job.h"
#include "dolium/ops/pack/pack_output.h"
#include "dolium/ops/pack/sample_copier.h"

namespace dolium::dataset {
namespace {

using shardpack::Shard;

// In the bookkeeping of the job: where each shard ends, as a position in the order.
constexpr std::string_view kEndsName = "work-ends";
constexpr uint64_t kEndsLimit = uint64_t{1} << 30;

// How many bytes the records of each sample take, without reading them where the index of
// their shard says.
class SampleSizes {
 public:
  static Result<SampleSizes> Make(const SampleSet& set) {
    SampleSizes sizes(set);
    uint64_t begin = 0;
    const std::vector<ShardExtent> extents = set.extents();
    for (size_t i = 0; i < extents.size(); ++i) {
      std::shared_ptr<const Shard> shard;
      if (extents.size() == set.shard_count()) {
        DOLIUM_TRY(shard, set.shard(i));
        // Samples of several records are not numbered as records are.
        if (shard->size() != extents[i].records) shard = nullptr;
      }
      sizes.slots_.push_back({begin, std::move(shard)});
      begin += extents[i].records;
    }
    return sizes;
  }

  Result<uint64_t> Of(uint64_t number) const {
    const auto after = std::ranges::upper_bound(slots_, number, {}, &Slot::begin);
    const Slot& slot = *(after - 1);
    if (slot.shard) return slot.shard->range(number - slot.begin).length;
    DOLIUM_TRY(const LoadedSample sample, set_.Read(number));
    uint64_t bytes = 0;
    for (const SamplePart& part : sample.parts()) bytes += part.record.block().size();
    return bytes;
  }

 private:
  struct Slot {
    uint64_t begin = 0;
    std::shared_ptr<const Shard> shard;  // nullptr: look at the records
  };
  explicit SampleSizes(const SampleSet& set) : set_(set) {}

  const SampleSet& set_;
  std::vector<Slot> slots_;
};

class PackCopyJob final : public Job {
 public:
  PackCopyJob(const Location& folder, CopyParameters parameters, PackOutput names,
              std::string state)
      : folder_(folder),
        parameters_(std::move(parameters)),
        names_(std::move(names)),
        samples_(folder, {parameters_.references, parameters_.overlays,
                          parameters_.has_order, std::move(state)}) {}

  JobSamples& samples() { return samples_; }

  Result<void> Plan(const PartSink& sink) override {
    DOLIUM_TRY(const auto ends, Ends());
    for (uint64_t number = 0; number < ends->size(); ++number) {
      JobPart part;
      part.number = number;
      part.entries = (*ends)[number] - (number == 0 ? 0 : (*ends)[number - 1]);
      sink(std::move(part));
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    DOLIUM_TRY(const auto ends, Ends());
    if (part.number >= ends->size()) {
      return InvalidArgument(fmt::format("{}: no part {}; there are {}",
                                         folder_.Describe(), part.number, ends->size()));
    }
    DOLIUM_TRY(const SampleCopier* const copier, Copier());
    const uint64_t end = (*ends)[part.number];
    const uint64_t begin = part.number == 0 ? 0 : (*ends)[part.number - 1];
    DOLIUM_TRY(const std::vector<uint64_t> numbers, samples_.Numbers(begin, end));
    DOLIUM_TRY(auto shard,
               copier->Write(*PartObject(part.number), part.number, numbers, context));
    return ReportOf({std::move(shard), end, 0});
  }

  std::optional<Location> PartObject(uint64_t part) const override {
    return folder_.Child(names_.NameOf(part));
  }

  Result<void> Finish() override { return {}; }

 private:
  using Numbers = std::shared_ptr<const std::vector<uint64_t>>;

  Result<Numbers> Ends() {
    const std::scoped_lock lock(mutex_);
    if (ends_) return ends_;
    const Location object = PlanFolder(folder_).folder().Child(kEndsName);
    DOLIUM_TRY(const auto whole, object.store->ReadWhole(object.path, kEndsLimit));
    DOLIUM_TRY(auto ends, ParseNumbers(whole.bytes, object));
    if (!std::ranges::is_sorted(ends)) {
      return Corrupt(object.Describe() + ": its numbers are not in order");
    }
    ends_ = std::make_shared<const std::vector<uint64_t>>(std::move(ends));
    return ends_;
  }

  Result<const SampleCopier*> Copier() {
    DOLIUM_TRY(const SampleSet* const set, samples_.Set());
    const std::scoped_lock lock(mutex_);
    if (copier_) return &*copier_;
    DOLIUM_TRY(SampleCopier copier, SampleCopier::Make(*set, parameters_));
    copier_.emplace(std::move(copier));
    return &*copier_;
  }

  const Location folder_;
  const CopyParameters parameters_;
  const PackOutput names_;
  JobSamples samples_;
  std::mutex mutex_;
  Numbers ends_;
  std::optional<SampleCopier> copier_;
};

class PackCopyDraft final : public JobDraft {
 public:
  PackCopyDraft(const SampleSet& set, std::span<const uint64_t> order,
                const CopyRequest& request, const PackOutput& output, std::string state)
      : set_(set),
        order_(order),
        request_(request),
        output_(output),
        state_(std::move(state)) {
    parameters_.output = BaseName(request.output);
    parameters_.is_numbered = output.is_numbered();
    parameters_.align_log2 = request.align_log2;
    parameters_.recode = request.recode;
    parameters_.shard = request.shard;
    parameters_.references = PortableReferences(request.references);
    parameters_.overlays = PortableReferences(request.overlays);
    parameters_.samples = set.size();
    parameters_.has_order = !JobSamples::IsOrderOfTheSet(set, order);
    // Flat, so that a message can name what differs.
    nlohmann::json text = ShardOptionsJson(parameters_.shard);
    text.update(CopyJson(parameters_));
    text.erase("shard");
    text["shard_bytes"] = request.shard_bytes;
    text["shard_records"] = request.shard_records;
    text["shards"] = request.shards;
    text["order"] = Xxh64(std::as_bytes(order));
    text_ = DumpJsonLossy(text);
  }

  std::string_view kind() const override { return kPackCopyKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override { return state_; }
  bool makes_files() const override { return true; }
  bool can_resume() const override { return !request_.references.empty(); }
  Result<void> Prepare() override {
    if (request_.shard.force) return {};
    DOLIUM_TRY_VOID(output_.CheckFree(0));
    return output_.is_numbered() ? output_.CheckFree(1) : Result<void>();
  }

  Result<std::string> Plan(const PlanFolder& folder) override {
    DOLIUM_TRY(const std::vector<uint64_t> ends, CutShards());
    DOLIUM_TRY_VOID(CheckDisjointFromSource(ends.size()));
    DOLIUM_TRY_VOID(PutNumbers(folder.folder().Child(kEndsName), ends));
    if (parameters_.has_order) {
      DOLIUM_TRY_VOID(JobSamples::PutOrder(folder, order_));
    }
    return DumpJob(CopyJson(parameters_));
  }

 private:
  // Where each shard ends, as a position in the order.
  Result<std::vector<uint64_t>> CutShards() const {
    std::vector<uint64_t> ends;
    const uint64_t total = order_.size();
    if (request_.shards > 0) {
      const uint64_t shards = std::min(request_.shards, std::max<uint64_t>(total, 1));
      for (uint64_t i = 1; i <= shards; ++i) {
        // No overflow: both are numbers of things in memory.
        ends.push_back(total / shards * i + total % shards * i / shards);
      }
    } else if (request_.shard_records > 0) {
      for (uint64_t end = request_.shard_records; end < total;
           end += request_.shard_records) {
        ends.push_back(end);
      }
      ends.push_back(total);
    } else if (request_.shard_bytes > 0) {
      DOLIUM_TRY(const SampleSizes sizes, SampleSizes::Make(set_));
      uint64_t bytes = 0;
      for (size_t i = 0; i < order_.size(); ++i) {
        DOLIUM_TRY(const uint64_t size, sizes.Of(order_[i]));
        if (bytes > 0 && bytes + size > request_.shard_bytes) {
          ends.push_back(i);
          bytes = 0;
        }
        bytes += size;
      }
      ends.push_back(total);
    } else {
      ends.push_back(total);
    }
    return ends;
  }

  Result<void> CheckDisjointFromSource(uint64_t shards) const {
    if (!output_.is_numbered()) return {};
    std::set<std::string> sources;
    for (size_t i = 0; i < set_.shard_count(); ++i) {
      DOLIUM_TRY(const auto shard, set_.shard(i));
      sources.insert(shard->Describe());
    }
    for (uint64_t i = 0; i < shards; ++i) {
      const std::string name = output_.At(i).Describe();
      if (!sources.contains(name)) continue;
      return InvalidArgument(name + ": is a shard of the source; name another output");
    }
    return {};
  }

  const SampleSet& set_;
  const std::span<const uint64_t> order_;
  const CopyRequest& request_;
  const PackOutput& output_;
  const std::string state_;
  CopyParameters parameters_;
  std::string text_;
};

RunOptions RunOptionsOf(const CopyRequest& request) {
  RunOptions options;
  options.writer.jobs = request.jobs;
  options.writer.memory = request.memory;
  options.writer.stop = request.stop;
  options.progress = request.progress;
  options.replace_files = request.shard.force;
  options.at_step = request.at_step;
  return options;
}

Result<PackOutput> OutputOf(const CopyRequest& request) {
  return PackOutput::Make(request.output, request.shard_bytes > 0 ||
                                              request.shard_records > 0 ||
                                              request.shards > 0);
}

Result<OpenJob> BeginCopy(const SampleSet& set, std::span<const uint64_t> order,
                          const CopyRequest& request, const PackOutput& output) {
  DOLIUM_TRY(std::string state, StateOfSet(set, request.overlays));
  PackCopyDraft draft(set, order, request, output, std::move(state));
  DOLIUM_TRY(OpenJob job, BeginJob({}, draft, output.At(0), request.shard.force,
                                   RunOptionsOf(request)));
  if (job.job) static_cast<PackCopyJob&>(*job.job).samples().Take(set, order);
  return job;
}

}  // namespace

Result<std::unique_ptr<Job>> OpenPackCopyJob(Formats /*formats*/, const Location& folder,
                                             const JobRecord& record) {
  DOLIUM_TRY(CopyParameters parameters, ParseCopyParameters(record.parameters));
  DOLIUM_TRY(PackOutput names,
             PackOutput::Make(parameters.output, parameters.is_numbered));
  return std::make_unique<PackCopyJob>(folder, std::move(parameters), std::move(names),
                                       record.source);
}

Result<PackReport> CopySamples(const SampleSet& set, std::span<const uint64_t> order,
                               const CopyRequest& request) {
  DOLIUM_TRY(const PackOutput output, OutputOf(request));
  DOLIUM_TRY(OpenJob job, BeginCopy(set, order, request, output));
  return RunPackJob(job, output, RunOptionsOf(request), !request.references.empty());
}

Result<Plan> PlanCopy(const SampleSet& set, std::span<const uint64_t> order,
                      const CopyRequest& request) {
  if (request.references.empty()) {
    return Unsupported("a set that has no name cannot be opened by other processes");
  }
  DOLIUM_TRY(const PackOutput output, OutputOf(request));
  DOLIUM_TRY(const OpenJob job, BeginCopy(set, order, request, output));
  DOLIUM_TRY(Plan plan, PlanOf(job));
  plan.force = request.shard.force;
  return plan;
}

}  // namespace dolium::dataset
