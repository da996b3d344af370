#include "dolium/ops/convert_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/once.h"
#include "dolium/container/entry_error.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/part_entries.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/source_state.h"
#include "dolium/ops/job/work_list.h"
#include "dolium/ops/scan_source.h"
#include "dolium/ops/source/kinds.h"

namespace dolium {
namespace {

using nlohmann::json;

// The part of the memory that tables of work lists may take while tasks run.
constexpr uint64_t kTableShare = 8;

// The progress of one task: what its target reports, and the rest when it ends.
class TaskProgress {
 public:
  TaskProgress(const PartContext& context, uint64_t entries, uint64_t bytes)
      : context_(context), entries_(entries), bytes_(bytes) {}

  void Add(uint64_t entries, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    entries = std::min(entries, entries_);
    bytes = std::min(bytes, bytes_);
    entries_ -= entries;
    bytes_ -= bytes;
    context_.progress(entries, bytes);
  }
  void End() { Add(entries_, bytes_); }

 private:
  const PartContext& context_;
  std::mutex mutex_;
  uint64_t entries_;  // still to be reported, as are the bytes; guarded by mutex_
  uint64_t bytes_;
};

Finding SkippedFinding(const Store& store, const Entry& entry, const Error& error) {
  std::string object;
  std::optional<ByteRange> range;
  if (!entry.extents.empty()) {
    object = store.Describe(entry.extents.front().object->name);
    range = entry.extents.front().range;
  }
  return ErrorFinding(std::string(ErrorCodeName(error.code)), std::move(object),
                      entry.key, range, error);
}

// Keeps the tables in memory, as far as a budget allows, for tasks to search.
Result<void> KeepTables(std::span<WorkList> lists, uint64_t budget) {
  for (WorkList& list : lists) {
    const uint64_t bytes = list.parts() * sizeof(PartShare);
    if (bytes > budget) continue;
    budget -= bytes;
    DOLIUM_TRY_VOID(list.KeepTable());
  }
  return {};
}

// What the request of a conversion says of its source.
struct SourceRequest {
  Location location;
  SourceOptions options;
  std::string target_format;
  bool skip_damaged = false;
};

// kConflict if an object was replaced since the entry was listed.
Result<void> CheckSameObjects(const Store& store, const Entry& listed,
                              const Entry& found) {
  const size_t extents = std::min(listed.extents.size(), found.extents.size());
  for (size_t i = 0; i < extents; ++i) {
    const ObjectVersion& before = *listed.extents[i].object;
    const ObjectVersion& now = *found.extents[i].object;
    if (before.name == now.name && before.generation != now.generation) {
      return Conflict(fmt::format("{}: was replaced while it was converted",
                                  store.Describe(now.name)));
    }
  }
  return {};
}

// Listed entries, as the source has them.
class EntriesByKey final : public EntrySource {
 public:
  EntriesByKey(PartEntries& listed, const Container& source)
      : listed_(listed), source_(source) {}

  Result<std::span<const Entry>> Next() override {
    DOLIUM_TRY(const auto listed, listed_.Next());
    found_.clear();
    for (const Entry& entry : listed) {
      DOLIUM_TRY(auto found, source_.Find(entry.key));
      if (!found) {
        return NotFound(fmt::format("{}: \"{}\" was removed while it was converted",
                                    source_.location().Describe(), entry.key));
      }
      DOLIUM_TRY_VOID(CheckSameObjects(source_.store(), entry, *found));
      found_.push_back(*std::move(found));
    }
    return std::span<const Entry>(found_);
  }
  Result<void> Rewind() override { return listed_.Rewind(); }

 private:
  PartEntries& listed_;
  const Container& source_;
  std::vector<Entry> found_;
};

class ConvertJob final : public Job {
 public:
  ConvertJob(Formats formats, Location folder, ConvertParameters parameters,
             const Format* format, std::unique_ptr<Target> target, SourceRequest source)
      : formats_(formats),
        folder_(std::move(folder)),
        parameters_(std::move(parameters)),
        format_(format),
        target_(std::move(target)),
        source_(std::move(source)) {}

  Result<void> Plan(const PartSink& sink) override {
    DOLIUM_TRY(const auto lists, Lists());
    std::map<uint64_t, JobPart> sums;
    for (const WorkList& list : lists) {
      DOLIUM_TRY_VOID(list.ForEachShare([&](const PartShare& share) {
        JobPart& sum = sums[share.part];
        sum.number = share.part;
        sum.entries = SaturatingAdd(sum.entries, share.entries);
        sum.bytes = SaturatingAdd(sum.bytes, share.bytes);
      }));
    }
    for (auto& [number, part] : sums) sink(std::move(part));
    return {};
  }

  Result<void> PrepareRun(const WriterOptions& options) override {
    DOLIUM_TRY_VOID(Lists());
    return KeepTables(lists_, options.memory / kTableShare);
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    DOLIUM_TRY(const auto lists, Lists());
    DOLIUM_TRY(PartEntries entries, PartEntries::Find(lists, part.number));
    if (entries.count() == 0) {
      return InvalidArgument(
          fmt::format("{}: the plan has no part {}", folder_.Describe(), part.number));
    }
    TaskProgress progress(context, entries.count(), entries.bytes());
    std::mutex mutex;
    TaskReport report;
    PartSource source;
    source.store = source_.location.store.get();
    source.entries = &entries;
    std::optional<EntriesByKey> by_key;
    if (parameters_.by_key) {
      DOLIUM_TRY(const Container* const container, SourceEntries());
      source.store = &container->store();
      source.entries = &by_key.emplace(entries, *container);
    }
    source.progress = [&](uint64_t more, uint64_t bytes) { progress.Add(more, bytes); };
    if (source_.skip_damaged) {
      source.skip_damaged = [&](const Entry& entry, const Error& error) {
        if (!IsDamage(error)) return false;
        const std::lock_guard lock(mutex);
        report.skipped.push_back(SkippedFinding(*source_.location.store, entry, error));
        return true;
      };
    }
    // A target of its own: they hold what a part is made with.
    DOLIUM_TRY(const auto target, format_->reopen(folder_, parameters_.description));
    DOLIUM_TRY(report.written, target->WritePart(part.number, source, context.writer));
    std::ranges::sort(report.skipped, {}, &Finding::key);
    progress.End();
    return report;
  }

  std::optional<Location> PartObject(uint64_t part) const override {
    return Location{folder_.store, target_->PartObject(part)};
  }

  Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const override {
    DOLIUM_TRY(std::string state,
               FindConvertState(formats_, source_.location, source_.options,
                                source_.target_format, options));
    return state;
  }

  Result<void> Finish() override { return target_->Finish(); }

 private:
  // Opened when they are first needed: a job that is finished has none any more.
  Result<std::span<const WorkList>> Lists() {
    const std::lock_guard lock(mutex_);
    if (lists_.empty()) {
      const Location folder = PlanFolder(folder_).folder();
      std::vector<WorkList> lists;
      for (uint64_t i = 0; i < parameters_.lists; ++i) {
        DOLIUM_TRY(WorkList list, WorkList::Open(WorkList::ObjectOf(folder, i)));
        lists.push_back(std::move(list));
      }
      lists_ = std::move(lists);
    }
    return std::span<const WorkList>(lists_);
  }

  Result<const Container*> SourceEntries() {
    DOLIUM_TRY(const auto* const entries,
               opened_.Get([&]() -> Result<std::shared_ptr<const Container>> {
                 DOLIUM_TRY(const auto source,
                            OpenSource(formats_, source_.location, source_.options));
                 DOLIUM_TRY(CopySource copy, source->OpenForCopy(source_.target_format));
                 return std::move(copy.entries);
               }));
    return entries->get();
  }

  const Formats formats_;
  const Location folder_;
  const ConvertParameters parameters_;
  const Format* const format_;
  const std::unique_ptr<Target> target_;
  const SourceRequest source_;
  Once<std::shared_ptr<const Container>> opened_;
  std::mutex mutex_;
  std::vector<WorkList> lists_;  // guarded by mutex_ until they are opened
};

}  // namespace

Result<std::string> FindConvertState(Formats formats, const Location& location,
                                     const SourceOptions& source, std::string_view format,
                                     const WriterOptions& options) {
  DOLIUM_TRY(const auto opened, OpenSource(formats, location, source));
  DOLIUM_TRY(const CopySource copy, opened->OpenForCopy(format));
  SourceState state(options);
  // How entries are found and decoded, too.
  for (const auto& [name, value] : copy.entries->properties()) {
    state.AddText(fmt::format("{}: {}", name, value.text()));
  }
  const Location info = copy.entries->folder().Child("info");
  DOLIUM_TRY_VOID(state.AddObjects(*info.store, std::array{info.path}));
  DOLIUM_TRY_VOID(state.AddEntries(*copy.entries));
  return state.text();
}

Result<std::string> ToText(const ConvertParameters& parameters) {
  return DumpJob({{"format", parameters.format},
                  {"description", parameters.description},
                  {"work_lists", parameters.lists},
                  {"entries", parameters.entries},
                  {"bytes", parameters.bytes},
                  {"by_key", parameters.by_key}});
}

Result<ConvertParameters> ParseConvertParameters(std::string_view text) {
  return ParseJob(text, "the record of a conversion",
                  [](const json& value) -> Result<ConvertParameters> {
                    ConvertParameters parameters;
                    value.at("format").get_to(parameters.format);
                    value.at("description").get_to(parameters.description);
                    value.at("work_lists").get_to(parameters.lists);
                    value.at("entries").get_to(parameters.entries);
                    value.at("bytes").get_to(parameters.bytes);
                    // Records of earlier versions do not have it.
                    parameters.by_key = value.value("by_key", false);
                    return parameters;
                  });
}

Result<std::unique_ptr<Job>> OpenConvertJob(Formats formats, const Location& folder,
                                            const JobRecord& record) {
  DOLIUM_TRY(ConvertParameters parameters, ParseConvertParameters(record.parameters));
  std::string location;
  SourceRequest source;
  DOLIUM_TRY_VOID(ParseJob(
      record.request, "the record of a conversion",
      [&](const json& request) -> Result<void> {
        request.at("source").get_to(location);
        request.at("source_format").get_to(source.options.format);
        request.at("target_format").get_to(source.target_format);
        request.at("skip_damaged").get_to(source.skip_damaged);
        request.at("allow_unfinished").get_to(source.options.open.allow_unfinished);
        if (const json& spec = request.at("source_spec"); spec.is_string()) {
          source.options.open.spec = spec.get<std::string>();
        }
        if (source.skip_damaged) source.options.open.parameters["salvage"] = "yes";
        return {};
      }));
  DOLIUM_TRY(source.location, ParseLocation(location));
  DOLIUM_TRY(const Format* format, FindTargetFormat(formats, parameters.format));
  DOLIUM_TRY(auto target, format->reopen(folder, parameters.description));
  return std::make_unique<ConvertJob>(formats, folder, std::move(parameters), format,
                                      std::move(target), std::move(source));
}

Result<void> CheckConvertReplaceable(Formats formats, const JobRecord& record,
                                     const Location& folder) {
  DOLIUM_TRY(const auto parameters, ParseConvertParameters(record.parameters));
  DOLIUM_TRY(const Format* format, FindTargetFormat(formats, parameters.format));
  return CheckTargetReplaceable(formats, folder, *format);
}

}  // namespace dolium
