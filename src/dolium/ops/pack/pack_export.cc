#include "dolium/ops/pack/pack_export.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/parallel.h"
#include "dolium/base/xxh64.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/npy_file.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/pack/export_job.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

constexpr size_t kExportedAtOnce = 256;

uint64_t DecodedSize(const LoadedSample& sample) {
  uint64_t bytes = 0;
  for (const LoadedSample::FileRef file : sample.files()) {
    bytes += sample.header(file).raw_size;
  }
  return bytes;
}

Result<OpenJob> BeginExport(const SampleSet& set, std::span<const uint64_t> numbers,
                            const ExportRequest& request) {
  if (request.kind == "folder") return BeginExtract(set, numbers, request);
  return BeginExportStream(set, numbers, request);
}

}  // namespace

Result<void> PutSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                        SampleSink& sink, const PutOptions& options,
                        ExportSummary& summary) {
  uint64_t next = summary.taken;
  const SampleSink::Keeps keeps = sink.keeps();
  const auto count_left_out = [&](const shardpack::Sample& sample) {
    const auto has_any = [](const shardpack::Metadata& metadata) {
      return metadata.format != shardpack::MetadataFormat::kNone;
    };
    summary.metadata_left_out += !keeps.metadata && has_any(sample.metadata) ? 1 : 0;
    for (const shardpack::File& file : sample.files) {
      summary.file_metadata_left_out +=
          !keeps.file_metadata && has_any(file.metadata) ? 1 : 0;
      summary.content_types_left_out +=
          !keeps.content_types && !file.content_type.empty() &&
                  file.content_type != GuessContentType(file.name, file.data)
              ? 1
              : 0;
    }
  };
  const auto put = [&](shardpack::Sample& sample) -> Result<void> {
    summary.taken = next++;
    if (sample.tombstone) return {};
    for (shardpack::File& file : sample.files) {
      if (!file.array || sink.KeepsArray(*file.array)) continue;
      auto npy = AsNpy(file);
      if (!npy) {
        return std::move(npy).error().Within(fmt::format("sample \"{}\"", sample.key));
      }
      file = *std::move(npy);
    }
    DOLIUM_TRY_VOID(sink.Put(sample));
    count_left_out(sample);
    ++summary.samples;
    summary.files += sample.files.size();
    for (const shardpack::File& file : sample.files) summary.bytes += file.data.size();
    if (options.progress) options.progress(summary);
    return {};
  };
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(kExportedAtOnce, numbers.size()));
    numbers = numbers.subspan(some.size());
    const auto loaded = set.ReadMany(some);
    for (size_t begin = 0; begin < some.size();) {
      // As many as may be held at once, and at least one.
      size_t end = begin;
      for (uint64_t bytes = 0; end < some.size(); ++end) {
        if (!loaded[end]) return loaded[end].error();
        bytes += DecodedSize(*loaded[end]);
        if (bytes > options.memory && end > begin) break;
      }
      std::vector<std::optional<shardpack::Sample>> decoded(end - begin);
      DOLIUM_TRY_VOID(ParallelFor(
          decoded.size(), options.jobs,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(decoded[i], loaded[begin + i]->Decode());
            return {};
          },
          options.stop));
      for (auto& sample : decoded) DOLIUM_TRY_VOID(put(*sample));
      for (size_t i = begin; i < end; ++i) DOLIUM_TRY_VOID(loaded[i]->CheckMaps());
      begin = end;
    }
  }
  summary.taken = next;
  return {};
}

TaskReport ReportOfExport(const ExportSummary& after, const ExportSummary& before) {
  TaskReport report;
  const uint64_t bytes = after.bytes - before.bytes;
  report.written = {after.samples - before.samples, bytes, bytes, 1};
  report.detail = DumpJson(nlohmann::json{
      {"taken", after.taken - before.taken},
      {"samples", after.samples - before.samples},
      {"files", after.files - before.files},
      {"bytes", bytes},
      {"metadata_left_out", after.metadata_left_out - before.metadata_left_out},
      {"file_metadata_left_out",
       after.file_metadata_left_out - before.file_metadata_left_out},
      {"content_types_left_out",
       after.content_types_left_out - before.content_types_left_out}});
  return report;
}

Result<ExportSummary> SumOfExports(std::span<const std::string> details) {
  ExportSummary sum;
  for (const std::string& detail : details) {
    DOLIUM_TRY_VOID(ParseJob(detail, "the report of an export",
                             [&](const nlohmann::json& value) -> Result<void> {
                               sum.taken += value.at("taken").get<uint64_t>();
                               sum.samples += value.at("samples").get<uint64_t>();
                               sum.files += value.at("files").get<uint64_t>();
                               sum.bytes += value.at("bytes").get<uint64_t>();
                               // Not in the reports of earlier versions.
                               sum.metadata_left_out +=
                                   value.value("metadata_left_out", uint64_t{0});
                               sum.file_metadata_left_out +=
                                   value.value("file_metadata_left_out", uint64_t{0});
                               sum.content_types_left_out +=
                                   value.value("content_types_left_out", uint64_t{0});
                               return {};
                             }));
  }
  return sum;
}

nlohmann::json ExportJson(std::span<const uint64_t> numbers,
                          const ExportRequest& request) {
  const SampleExportOptions& options = request.options;
  return {{"references", PortableReferences(request.references)},
          {"order", Xxh64(std::as_bytes(numbers))},
          {"to", request.kind},
          {"shard_bytes", options.shard_bytes},
          {"shard_samples", options.shard_samples}};
}

RunOptions RunOptionsOf(const ExportRequest& request) {
  RunOptions options;
  options.writer.jobs = request.jobs;
  options.writer.memory = request.memory;
  options.writer.stop = request.stop;
  options.progress = request.progress;
  options.replace_files = request.options.force;
  options.at_step = request.at_step;
  return options;
}

Result<ExportSummary> ExportSamples(const SampleSet& set,
                                    std::span<const uint64_t> numbers,
                                    const ExportRequest& request) {
  DOLIUM_TRY(OpenJob job, BeginExport(set, numbers, request));
  DOLIUM_TRY(const JobReport report,
             RunOrDropJob(job, RunOptionsOf(request), /*can_resume=*/true));
  return SumOfExports(report.details);
}

Result<Plan> PlanExport(const SampleSet& set, std::span<const uint64_t> numbers,
                        const ExportRequest& request) {
  DOLIUM_TRY(const OpenJob job, BeginExport(set, numbers, request));
  DOLIUM_TRY(Plan plan, PlanOf(job));
  DOLIUM_TRY(const Location target, ParseLocation(request.target));
  DOLIUM_TRY(plan.target, PortableText(target, request.target));
  plan.force = request.options.force;
  return plan;
}

}  // namespace dolium::dataset
