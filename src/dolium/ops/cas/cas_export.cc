#include "dolium/ops/cas/cas_export.h"

#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/xxh64.h"
#include "dolium/domain/cas/export.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {
namespace {

using nlohmann::json;
using xet::Hash;

// In the bookkeeping of the job: hashes, one on a line.
constexpr std::string_view kFilesName = "work-files";
constexpr std::string_view kXorbsName = "work-xorbs";
constexpr uint64_t kListLimit = uint64_t{1} << 34;

std::string TextOf(const std::vector<Hash>& hashes) {
  std::string text;
  for (const Hash& hash : hashes) text += ToString(hash) + '\n';
  return text;
}

Result<void> PutHashes(const Location& object, const std::vector<Hash>& hashes) {
  DOLIUM_TRY(
      [[maybe_unused]] const Generation made,
      object.store->Put(object.path, AsBytes(TextOf(hashes)), Precondition::None()));
  return {};
}

Result<std::vector<Hash>> ReadHashes(const Location& object) {
  DOLIUM_TRY(const WholeObject whole, object.store->ReadWhole(object.path, kListLimit));
  std::vector<Hash> hashes;
  std::string_view text = AsText(whole.bytes);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    DOLIUM_TRY(const Hash hash,
               xet::ParseHash(text.substr(0, end)).Within(object.Describe()));
    hashes.push_back(hash);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return hashes;
}

struct CasExportParameters {
  std::string store;
  std::string name;   // of the shard
  std::string xorbs;  // folder
  bool upload = false;
  bool force = false;
  cas::ExchangeReport planned;
};

Result<CasExportParameters> ParseParameters(const JobRecord& record) {
  return ParseJob(record.parameters, "the record of an export of a store",
                  [](const json& value) -> Result<CasExportParameters> {
                    CasExportParameters read;
                    value.at("store").get_to(read.store);
                    value.at("name").get_to(read.name);
                    value.at("xorbs").get_to(read.xorbs);
                    read.upload = value.value("upload", false);
                    value.at("force").get_to(read.force);
                    value.at("file_count").get_to(read.planned.files);
                    value.at("xorb_count").get_to(read.planned.xorbs);
                    value.at("bytes").get_to(read.planned.bytes);
                    return read;
                  });
}

class CasExportJob final : public Job {
 public:
  CasExportJob(Location folder, CasExportParameters parameters)
      : folder_(std::move(folder)), parameters_(std::move(parameters)) {}

  // The store must outlive the job.
  void Take(const cas::CasStore& store, bool force) {
    store_ = &store;
    parameters_.force |= force;
  }

  Result<void> Plan(const PartSink& sink) override {
    if (parameters_.xorbs.empty()) return {};
    DOLIUM_TRY_VOID(LoadXorbs());
    for (uint64_t number = 0; number < xorbs_.size(); ++number) {
      JobPart part;
      part.number = number;
      part.entries = 1;
      sink(std::move(part));
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    DOLIUM_TRY_VOID(LoadXorbs());
    if (part.number >= xorbs_.size() || parameters_.xorbs.empty()) {
      return InvalidArgument(fmt::format("{}: no part {}; there are {}",
                                         folder_.Describe(), part.number, xorbs_.size()));
    }
    DOLIUM_TRY(const auto opened, Open(context.writer.stop));
    DOLIUM_TRY(const bool is_copied,
               cas::ExportXorb(*opened.store, *opened.lease, xorbs_[part.number],
                               parameters_.xorbs, parameters_.force));
    context.progress(1, 0);
    TaskReport report;
    report.written = {1, 0, 0, 1};
    report.detail = is_copied ? "copied" : "there";
    return report;
  }

  std::optional<Location> PartObject(uint64_t part) const override {
    if (part >= xorbs_.size()) return std::nullopt;
    const auto location =
        ParseLocation(cas::ExportedXorbPath(parameters_.xorbs, xorbs_[part]));
    return location ? std::optional(*location) : std::nullopt;
  }

  // Writes the shard.
  Result<void> Finish() override {
    DOLIUM_TRY(const auto files,
               ReadHashes(PlanFolder(folder_).folder().Child(kFilesName)));
    DOLIUM_TRY(const auto opened, Open({}));
    DOLIUM_TRY(const ByteVector bytes, cas::MakeExportShard(*opened.store, *opened.lease,
                                                            files, parameters_.upload));
    const Location shard = folder_.Child(parameters_.name);
    DOLIUM_TRY([[maybe_unused]] const Generation made,
               shard.store->Put(shard.path, bytes, Precondition::None()));
    return {};
  }

 private:
  struct Opened {
    const cas::CasStore* store = nullptr;
    std::shared_ptr<cas::Lease> lease;
  };

  Result<void> LoadXorbs() {
    const std::scoped_lock lock(mutex_);
    if (!xorbs_.empty()) return {};
    DOLIUM_TRY(xorbs_, ReadHashes(PlanFolder(folder_).folder().Child(kXorbsName)));
    return {};
  }

  Result<Opened> Open(const std::stop_token& stop) {
    const std::scoped_lock lock(mutex_);
    if (store_ == nullptr) {
      DOLIUM_TRY(opened_, cas::CasStore::Open(parameters_.store));
      store_ = opened_.get();
    }
    if (!lease_) {
      DOLIUM_TRY(lease_, store_->TakeLease(stop));
    }
    return Opened{store_, lease_};
  }

  const Location folder_;
  CasExportParameters parameters_;
  std::mutex mutex_;
  std::vector<Hash> xorbs_;
  std::shared_ptr<cas::CasStore> opened_;
  const cas::CasStore* store_ = nullptr;
  std::shared_ptr<cas::Lease> lease_;
};

class CasExportDraft final : public JobDraft {
 public:
  CasExportDraft(const CasExportRequest& request, Location target,
                 const cas::ExportList& list)
      : request_(request),
        target_(std::move(target)),
        list_(list),
        state_(fmt::format("{:016x}", Xxh64(AsBytes(TextOf(list.files))))) {}

  // Paths as every process knows them.
  Result<void> Start() {
    DOLIUM_TRY(store_, AbsolutePath(request_.store));
    if (!request_.xorbs.empty()) {
      DOLIUM_TRY(xorbs_, AbsolutePath(request_.xorbs));
    }
    DOLIUM_TRY(text_, DumpJob({{"store", store_},
                               {"references", request_.references},
                               {"xorbs", xorbs_},
                               {"upload", request_.upload}}));
    return {};
  }

  std::string_view kind() const override { return kCasExportKind; }
  const std::string& request() const override { return text_; }
  std::string source() const override { return state_; }
  bool makes_files() const override { return true; }
  Result<void> Prepare() override {
    if (request_.force) return {};
    DOLIUM_TRY(const auto there, target_.store->Stat(target_.path));
    if (there) return Exists(target_.Describe() + ": exists already");
    return {};
  }
  Result<std::string> Plan(const PlanFolder& folder) override {
    DOLIUM_TRY_VOID(PutHashes(folder.folder().Child(kFilesName), list_.files));
    DOLIUM_TRY_VOID(PutHashes(folder.folder().Child(kXorbsName), list_.xorbs));
    return DumpJob({{"store", store_},
                    {"name", BaseName(target_.path)},
                    {"xorbs", xorbs_},
                    {"upload", request_.upload},
                    {"force", request_.force},
                    {"file_count", list_.files.size()},
                    {"xorb_count", list_.xorbs.size()},
                    {"bytes", list_.bytes}});
  }

 private:
  static Result<std::string> AbsolutePath(const std::string& path) {
    DOLIUM_TRY(const Location location, ParseLocation(path));
    return PortableText(location, path);
  }

  const CasExportRequest& request_;
  const Location target_;
  const cas::ExportList& list_;
  const std::string state_;
  std::string store_;
  std::string xorbs_;
  std::string text_;
};

RunOptions RunOptionsOf(const CasExportRequest& request) {
  RunOptions options;
  options.writer.jobs = request.jobs;
  options.writer.stop = request.stop;
  options.replace_files = request.force;
  options.at_step = request.at_step;
  return options;
}

Result<OpenJob> BeginCasExport(const cas::CasStore& store,
                               const CasExportRequest& request, cas::Lease& lease) {
  std::vector<cas::Reference> references;
  for (const std::string& text : request.references) {
    DOLIUM_TRY(auto reference, cas::ParseReference(text));
    references.push_back(std::move(reference));
  }
  DOLIUM_TRY(const cas::ExportList list, ListExport(store, references, lease));
  DOLIUM_TRY(const Location target, ParseLocation(request.target));
  CasExportDraft draft(request, target, list);
  DOLIUM_TRY_VOID(draft.Start());
  DOLIUM_TRY(OpenJob job,
             BeginJob({}, draft, target, request.force, RunOptionsOf(request)));
  if (job.job) static_cast<CasExportJob&>(*job.job).Take(store, request.force);
  return job;
}

}  // namespace

Result<std::unique_ptr<Job>> OpenCasExportJob(Formats /*formats*/, const Location& folder,
                                              const JobRecord& record) {
  DOLIUM_TRY(CasExportParameters parameters, ParseParameters(record));
  return std::make_unique<CasExportJob>(folder, std::move(parameters));
}

Result<cas::ExchangeReport> ExportFromCas(const cas::CasStore& store,
                                          const CasExportRequest& request) {
  // What is needed stays while this process is at work.
  DOLIUM_TRY(const auto lease, store.TakeLease(request.stop));
  DOLIUM_TRY(OpenJob job, BeginCasExport(store, request, *lease));
  DOLIUM_TRY(const JobReport ran,
             RunOrDropJob(job, RunOptionsOf(request), /*can_resume=*/true));
  DOLIUM_TRY(const CasExportParameters parameters, ParseParameters(*job.state.record));
  cas::ExchangeReport report = parameters.planned;
  for (const std::string& detail : ran.details) {
    report.copied_xorbs += detail == "copied" ? 1 : 0;
  }
  return report;
}

Result<Plan> PlanCasExport(const cas::CasStore& store, const CasExportRequest& request) {
  DOLIUM_TRY(const auto lease, store.TakeLease(request.stop));
  DOLIUM_TRY(const OpenJob job, BeginCasExport(store, request, *lease));
  DOLIUM_TRY(Plan plan, PlanOf(job));
  plan.force = request.force;
  return plan;
}

}  // namespace dolium
