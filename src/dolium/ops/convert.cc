#include "dolium/ops/convert.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/entry_error.h"
#include "dolium/ops/convert_job.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/job/work_list.h"
#include "dolium/ops/job/work_record.h"
#include "dolium/ops/scan_source.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/write_voxels.h"

namespace dolium {
namespace {

using nlohmann::json;

json OptionalText(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}

// All that makes a request what it is, by the names of its fields.
Result<std::string> RequestText(const ConvertRequest& request) {
  const json value = {{"source", request.source},
                      {"source_format", request.source_format},
                      {"source_spec", OptionalText(request.source_spec)},
                      {"target", request.target},
                      {"target_format", request.target_format},
                      {"target_spec", OptionalText(request.target_spec)},
                      {"parameters", request.parameters},
                      {"skip_damaged", request.skip_damaged},
                      {"allow_unfinished", request.allow_unfinished}};
  return DumpJob(value);
}

// What a work list can hold of an entry: enough to know its source again.
Entry WithoutCodecs(const Entry& entry) {
  Entry bare = entry;
  for (Extent& extent : bare.extents) extent.codecs.clear();
  return bare;
}

class ConvertDraft final : public JobDraft {
 public:
  ConvertDraft(Formats formats, const ConvertRequest& request, const RunOptions& options,
               const FindingVisitor& visitor)
      : formats_(formats), request_(request), options_(options), visitor_(visitor) {}

  Result<void> Resolve() {
    DOLIUM_TRY(const Location source, ParseLocation(request_.source));
    DOLIUM_TRY(const Location target, ParseLocation(request_.target));
    DOLIUM_TRY_VOID(CheckDisjoint(source, target));
    DOLIUM_TRY_VOID(CheckOutside(source, target));
    // Names in records must mean the same to processes that run elsewhere.
    DOLIUM_TRY(request_.source, PortableText(source, request_.source));
    DOLIUM_TRY(request_.target, PortableText(target, request_.target));
    DOLIUM_TRY(source_location_, ParseLocation(request_.source));
    DOLIUM_TRY(target_, ParseLocation(request_.target));
    DOLIUM_TRY(text_, RequestText(request_));
    ConvertRequest strict = request_;
    strict.skip_damaged = false;
    DOLIUM_TRY(strict_text_, RequestText(strict));
    return {};
  }

  const Location& target() const { return target_; }
  std::string_view kind() const override { return kConvertKind; }
  const std::string& request() const override { return text_; }

  Result<std::string> FindSourceState() override {
    return FindConvertState(formats_, source_location_, OptionsOfSource(),
                            request_.target_format, options_.writer);
  }

  // What was written without leaving out anything is the same, and nothing was damaged of
  // what the lists of entries were made of.
  Result<std::optional<std::string>> TakeUp(const JobRecord& begun) const override {
    if (!request_.skip_damaged || begun.request != strict_text_) return std::nullopt;
    return begun.parameters;
  }

  Result<void> Prepare() override {
    DOLIUM_TRY(source_, OpenSource(formats_, source_location_, OptionsOfSource()));
    DOLIUM_TRY(const auto parts, source_->parts());
    for (const SourcePart& part : parts) {
      DOLIUM_TRY_VOID(CheckDisjoint(part.location, target_));
      DOLIUM_TRY_VOID(CheckOutside(part.location, target_));
    }
    DOLIUM_TRY(copy_, source_->OpenForCopy(request_.target_format));
    if (visitor_) std::ranges::for_each(copy_.left_out, visitor_);
    if (request_.skip_damaged && copy_.is_unchecked) {
      return Unsupported(
          fmt::format("{}: a {} is copied file by file, so that damaged chunks within "
                      "its files cannot "
                      "be left out; verify it instead, and convert its parts one by one",
                      source_location_.Describe(), source_->kind()));
    }
    return {};
  }

  Result<void> CheckReplaceable(const Location& folder) const override {
    return CheckTargetReplaceable(formats_, folder, *copy_.format);
  }

  Result<std::string> Plan(const PlanFolder& folder) override {
    DOLIUM_TRY(const auto target, CreateTarget(folder.set()));
    WorkListWriter lists(folder.folder(), options_.writer.memory);
    std::atomic<bool> by_key = false;
    PartReport scan;
    DOLIUM_TRY(scan.skipped, ScanSource(*copy_.entries, ScanOptions(),
                                        [&](const Entry& entry) -> Result<void> {
                                          const auto part = target->PartOf(entry.key);
                                          if (part && !CheckEntry(entry)) {
                                            by_key = true;
                                            return lists.Add(*part, WithoutCodecs(entry));
                                          }
                                          if (part) return lists.Add(*part, entry);
                                          return EntryError(source_location_.Describe(),
                                                            entry.key, part.error());
                                        }));
    DOLIUM_TRY(const auto summary, lists.Finish());
    if (!scan.skipped.empty()) DOLIUM_TRY_VOID(folder.WriteReport(scan));
    return ToText(ConvertParameters{std::string(copy_.format->name), target->Describe(),
                                    summary.lists, summary.entries, summary.bytes,
                                    by_key});
  }

 private:
  SourceOptions OptionsOfSource() const {
    SourceOptions options;
    options.format = request_.source_format;
    options.open.spec = request_.source_spec;
    options.open.allow_unfinished = request_.allow_unfinished;
    if (request_.skip_damaged) options.open.parameters["salvage"] = "yes";
    return options;
  }

  Result<std::unique_ptr<Target>> CreateTarget(const Location& location) const {
    CreateOptions create;
    create.spec = request_.target_spec;
    create.parameters = request_.parameters;
    create.like = copy_.entries.get();
    create.own_info = copy_.own_info;
    // A spec leaves nothing to choose, and so nothing to count for.
    if (!create.spec) DOLIUM_TRY_VOID(CountEntries(create));
    return copy_.format->create(location, create);
  }

  Result<void> CountEntries(CreateOptions& create) const {
    std::mutex mutex;
    DOLIUM_TRY([[maybe_unused]] const auto skipped,
               ScanSource(*copy_.entries, ScanOptions(),
                          [&](const Entry& entry) -> Result<void> {
                            const uint64_t bytes = PayloadBytes(entry);
                            const std::lock_guard lock(mutex);
                            create.expected_entries += 1;
                            create.expected_bytes =
                                SaturatingAdd(create.expected_bytes, bytes);
                            create.largest_entry = std::max(create.largest_entry, bytes);
                            return {};
                          }));
    return {};
  }

  ScanSourceOptions ScanOptions() const {
    return {options_.writer.jobs, request_.skip_damaged, options_.writer.stop};
  }

  const Formats formats_;
  ConvertRequest request_;
  const RunOptions& options_;
  const FindingVisitor& visitor_;
  std::string text_;
  std::string strict_text_;  // of the request that leaves out nothing
  Location source_location_;
  Location target_;
  std::unique_ptr<Source> source_;
  CopySource copy_;
};

// The target of a request that names none, where that is made of voxels.
Result<std::string> OwnVoxelTarget(Formats formats, const ConvertRequest& request) {
  if (!request.target_format.empty() || !request.source_format.empty()) {
    return request.target_format;
  }
  DOLIUM_TRY(const Location location, ParseLocation(request.source));
  SourceOptions options;
  options.open.spec = request.source_spec;
  options.open.allow_unfinished = true;
  const auto source = OpenSource(formats, location, options);
  // Of a job that is nearly done, the source may be gone; else its error follows.
  return source ? std::string((*source)->own_voxel_target()) : std::string();
}

Result<OpenJob> BeginConvert(Formats formats, const ConvertRequest& request,
                             const RunOptions& options, const FindingVisitor& visitor) {
  DOLIUM_TRY(const std::string target, OwnVoxelTarget(formats, request));
  if (const auto* const voxels = FindVoxelTarget(target)) {
    ConvertRequest named = request;
    named.target_format = target;
    return voxels->begin(named, options, visitor);
  }
  ConvertDraft draft(formats, request, options, visitor);
  DOLIUM_TRY_VOID(draft.Resolve());
  return BeginJob(formats, draft, draft.target(), request.force, options);
}

}  // namespace

Result<Plan> PlanConvert(Formats formats, const ConvertRequest& request,
                         const RunOptions& options, const FindingVisitor& visitor) {
  DOLIUM_TRY(const OpenJob open, BeginConvert(formats, request, options, visitor));
  return PlanOf(open);
}

Result<ConvertReport> Convert(Formats formats, const ConvertRequest& request,
                              const RunOptions& options, const FindingVisitor& visitor) {
  const auto* const voxels = FindVoxelTarget(request.target_format);
  ConvertRequest asked = request;
  size_t scales = 0;
  DOLIUM_TRY(ConvertReport report,
             BeginAndRun(
                 formats,
                 [&](bool again) -> Result<OpenJob> {
                   asked.force |= again;
                   DOLIUM_TRY(OpenJob open,
                              BeginConvert(formats, asked, options, visitor));
                   if (voxels != nullptr && voxels->count_scales != nullptr) {
                     DOLIUM_TRY(scales, voxels->count_scales(open));
                   }
                   return open;
                 },
                 options));
  report.scales = scales;
  return report;
}

}  // namespace dolium
