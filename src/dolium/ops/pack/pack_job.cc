#include "dolium/ops/pack/pack_job.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/ops/job/job_json.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;
using shardpack::EncodeOptions;
using shardpack::ShardSummary;
using shardpack::ShardWriterOptions;
using shardpack::TailOptions;

bool IsWorthCompressing(std::string_view content_type) {
  return !IsAlreadyCompressed(content_type);
}

}  // namespace

std::string PortableReference(const std::string& reference) {
  const bool is_list = reference.starts_with('@');
  const std::string path = reference.substr(is_list ? 1 : 0);
  if (path.starts_with('/') || path.find("://") != std::string::npos) return reference;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return reference;
  return (is_list ? "@" : "") + JoinPath(here.native(), path);
}

std::vector<std::string> PortableReferences(std::span<const std::string> references) {
  std::vector<std::string> portable;
  portable.reserve(references.size());
  for (const std::string& reference : references) {
    portable.push_back(PortableReference(reference));
  }
  return portable;
}

json ShardOptionsJson(const ShardWriterOptions& options) {
  const EncodeOptions& encode = options.encode;
  const TailOptions& tail = options.tail;
  return {{"align_log2", encode.align_log2},
          {"compression", shardpack::CompressionName(encode.compression)},
          {"level", encode.level},
          {"chunk_threshold", encode.chunk_threshold},
          {"chunk_size", encode.chunk_size},
          {"chunk_uncompressed", encode.chunk_uncompressed},
          {"by_type", static_cast<bool>(encode.worth_compressing)},
          {"record_limit", encode.record_limit},
          {"stat", tail.stat},
          {"key_index", tail.key_index},
          {"keys", tail.keys},
          {"entry_index", static_cast<int>(tail.entry_index)},
          {"metadata", tail.metadata},
          // As text: the order of the fields is kept.
          {"user", DumpJsonLossy(options.user)},
          {"dataset", options.dataset},
          {"reproducible", options.reproducible}};
}

Result<ShardWriterOptions> ParseShardOptions(const json& value) {
  ShardWriterOptions options;
  EncodeOptions& encode = options.encode;
  value.at("align_log2").get_to(encode.align_log2);
  DOLIUM_TRY(encode.compression,
             shardpack::ParseCompression(value.at("compression").get<std::string>()));
  value.at("level").get_to(encode.level);
  value.at("chunk_threshold").get_to(encode.chunk_threshold);
  value.at("chunk_size").get_to(encode.chunk_size);
  value.at("chunk_uncompressed").get_to(encode.chunk_uncompressed);
  if (value.at("by_type").get<bool>()) encode.worth_compressing = IsWorthCompressing;
  value.at("record_limit").get_to(encode.record_limit);
  TailOptions& tail = options.tail;
  value.at("stat").get_to(tail.stat);
  value.at("key_index").get_to(tail.key_index);
  value.at("keys").get_to(tail.keys);
  const int wanted = value.at("entry_index").get<int>();
  if (wanted < 0 || wanted > static_cast<int>(shardpack::Wanted::kAuto)) {
    return Corrupt(fmt::format("entry_index is {}, expected 0 to 2", wanted));
  }
  tail.entry_index = static_cast<shardpack::Wanted>(wanted);
  value.at("metadata").get_to(tail.metadata);
  DOLIUM_TRY(options.user, ParseOrderedJson(value.at("user").get<std::string>()));
  value.at("dataset").get_to(options.dataset);
  value.at("reproducible").get_to(options.reproducible);
  DOLIUM_TRY_VOID(CheckOptions(encode));
  return options;
}

TaskReport ReportOf(const MadeShard& made) {
  const ShardSummary& shard = made.shard;
  const shardpack::Stat& stat = shard.stat;
  TaskReport report;
  report.written = {shard.records, stat.raw_bytes, shard.bytes, 1};
  report.detail = DumpJson(json{{"records", shard.records},
                                {"bytes", shard.bytes},
                                {"samples", made.samples},
                                {"skipped", made.skipped},
                                {"entries", stat.entries},
                                {"raw_bytes", stat.raw_bytes},
                                {"stored_bytes", stat.stored_bytes},
                                {"min_record", stat.min_record},
                                {"max_record", stat.max_record},
                                {"keys_digest", stat.keys_digest},
                                {"keys_unique", stat.keys_unique},
                                {"keys_ascending", stat.keys_ascending},
                                {"all_plain", stat.all_plain},
                                {"is_regular", stat.is_regular},
                                {"has_parts", stat.has_parts},
                                {"largest_raw", stat.largest_raw}});
  return report;
}

Result<MadeShard> ParseMadeShard(const std::string& detail) {
  return ParseJob(detail, "the report of a shard",
                  [](const json& value) -> Result<MadeShard> {
                    MadeShard made;
                    value.at("records").get_to(made.shard.records);
                    value.at("bytes").get_to(made.shard.bytes);
                    value.at("samples").get_to(made.samples);
                    value.at("skipped").get_to(made.skipped);
                    shardpack::Stat& stat = made.shard.stat;
                    value.at("entries").get_to(stat.entries);
                    value.at("raw_bytes").get_to(stat.raw_bytes);
                    value.at("stored_bytes").get_to(stat.stored_bytes);
                    value.at("min_record").get_to(stat.min_record);
                    value.at("max_record").get_to(stat.max_record);
                    value.at("keys_digest").get_to(stat.keys_digest);
                    value.at("keys_unique").get_to(stat.keys_unique);
                    value.at("keys_ascending").get_to(stat.keys_ascending);
                    value.at("all_plain").get_to(stat.all_plain);
                    value.at("is_regular").get_to(stat.is_regular);
                    value.at("has_parts").get_to(stat.has_parts);
                    value.at("largest_raw").get_to(stat.largest_raw);
                    return made;
                  });
}

Result<std::string> StateOfSet(const SampleSet& set,
                               std::span<const std::string> overlays) {
  uint64_t hash = set.size();
  const auto add = [&](const SampleSet& some) -> Result<void> {
    for (size_t i = 0; i < some.shard_count(); ++i) {
      DOLIUM_TRY(const auto shard, some.shard(i));
      // The last part of the name: other processes know the same shard by another path.
      hash = StableHash(BaseName(shard->Describe()), hash);
      hash = StableHash(shard->generation().token, hash);
    }
    return {};
  };
  DOLIUM_TRY_VOID(add(set));
  for (const std::string& overlay : overlays) {
    DOLIUM_TRY(const auto layer, OpenSampleSet({&overlay, 1}));
    DOLIUM_TRY_VOID(add(*layer));
  }
  return fmt::format("{:016x}", hash);
}

Result<PackReport> RunPackJob(OpenJob& job, const PackOutput& output,
                              const RunOptions& options, bool can_resume) {
  DOLIUM_TRY(JobReport ran, RunOrDropJob(job, options, can_resume));
  PackReport report;
  report.left_out = std::move(ran.skipped);
  report.parts_done_before = ran.parts_done_before;
  report.began_again = job.began_again;
  for (size_t i = 0; i < ran.details.size(); ++i) {
    DOLIUM_TRY(MadeShard made, ParseMadeShard(ran.details[i]));
    made.shard.location = output.At(i);
    report.summary.records += made.shard.records;
    report.summary.raw_bytes += made.shard.stat.raw_bytes;
    report.summary.skipped += made.skipped;
    report.summary.shards.push_back(std::move(made.shard));
  }
  DOLIUM_TRY(report.leftover, output.Leftover(report.summary.shards.size()));
  return report;
}

}  // namespace dolium::dataset
