#include "dolium/ops/pack/sample_copier.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/pack/pack_job.h"

namespace dolium::dataset {
namespace {

using shardpack::Check;
using shardpack::EncodedRecord;
using shardpack::Shard;
using shardpack::ShardWriter;

constexpr size_t kSamplesAtOnce = 256;

bool HasDictionaries(const Shard& shard) {
  return (shard.footer().features_optional & shardpack::kFeatureDictionaries) != 0;
}

}  // namespace

nlohmann::json CopyJson(const CopyParameters& parameters) {
  nlohmann::json value = {{"output", parameters.output},
                          {"numbered", parameters.is_numbered},
                          {"recode", parameters.recode},
                          {"shard", ShardOptionsJson(parameters.shard)},
                          {"references", parameters.references},
                          {"overlays", parameters.overlays},
                          {"samples", parameters.samples},
                          {"ordered", parameters.has_order}};
  if (parameters.align_log2) value["align_log2"] = *parameters.align_log2;
  return value;
}

Result<CopyParameters> ParseCopyParameters(const std::string& text) {
  return ParseJob(text, "the record of a copy of samples",
                  [](const nlohmann::json& value) -> Result<CopyParameters> {
                    CopyParameters parameters;
                    value.at("output").get_to(parameters.output);
                    value.at("numbered").get_to(parameters.is_numbered);
                    value.at("recode").get_to(parameters.recode);
                    DOLIUM_TRY(parameters.shard, ParseShardOptions(value.at("shard")));
                    value.at("references").get_to(parameters.references);
                    value.at("overlays").get_to(parameters.overlays);
                    value.at("samples").get_to(parameters.samples);
                    value.at("ordered").get_to(parameters.has_order);
                    if (value.contains("align_log2")) {
                      parameters.align_log2 = value.at("align_log2").get<unsigned>();
                    }
                    return parameters;
                  });
}

SampleCopier::SampleCopier(const SampleSet& set, const CopyParameters& parameters)
    : set_(set),
      recode_(parameters.recode),
      align_log2_(parameters.align_log2),
      shard_options_(parameters.shard) {
  // In the folder of the job, only what a killed run left is in the way.
  shard_options_.force = true;
}

Result<SampleCopier> SampleCopier::Make(const SampleSet& set,
                                        const CopyParameters& parameters) {
  SampleCopier copier(set, parameters);
  DOLIUM_TRY_VOID(copier.LoadFromSource());
  return copier;
}

Result<shardpack::ShardSummary> SampleCopier::Write(const Location& location,
                                                    uint64_t index,
                                                    std::span<const uint64_t> numbers,
                                                    const PartContext& context) const {
  DOLIUM_TRY(const auto writer, ShardWriter::Create(location, shard_options_));
  while (!numbers.empty()) {
    if (context.writer.stop.stop_requested()) return Cancelled();
    const auto some = numbers.first(std::min(kSamplesAtOnce, numbers.size()));
    numbers = numbers.subspan(some.size());
    DOLIUM_TRY_VOID(CopySome(some, *writer, context));
  }
  return writer->Finish(index);
}

Result<void> SampleCopier::LoadFromSource() {
  for (size_t i = 0; i < set_.shard_count(); ++i) {
    DOLIUM_TRY(const auto shard, set_.shard(i));
    if (i == 0) {
      shard_options_.encode.align_log2 = align_log2_.value_or(shard->footer().align_log2);
    }
    const auto metadata = shard->metadata();
    if (!metadata) continue;
    if (const auto user = metadata->find("user");
        user != metadata->end() && user->is_object()) {
      for (const auto& [name, value] : user->items()) {
        if (!shard_options_.user.contains(name)) shard_options_.user[name] = value;
      }
    }
    const auto own = metadata->find("shardpack");
    if (i > 0 || recode_ || own == metadata->end() || !own->is_object()) continue;
    if (const auto name = own->find("compression");
        name != own->end() && name->is_string()) {
      const auto compression = shardpack::ParseCompression(name->get<std::string>());
      if (compression) shard_options_.encode.compression = *compression;
    }
  }
  return {};
}

Result<void> SampleCopier::CopySome(std::span<const uint64_t> numbers,
                                    ShardWriter& writer,
                                    const PartContext& context) const {
  const auto loaded = set_.ReadMany(numbers);
  uint64_t copied = 0;
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = begin;
    for (uint64_t bytes = 0; end < numbers.size(); ++end) {
      if (!loaded[end]) return loaded[end].error();
      if (!IsCopied(*loaded[end])) {
        for (const auto file : loaded[end]->files()) {
          bytes += loaded[end]->header(file).raw_size;
        }
      }
      if (bytes > context.writer.memory && end > begin) break;
    }
    std::vector<std::vector<EncodedRecord>> records(end - begin);
    DOLIUM_TRY_VOID(ParallelFor(
        records.size(), context.writer.jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY(records[i], Prepare(*loaded[begin + i]));
          return {};
        },
        context.writer.stop));
    for (const std::vector<EncodedRecord>& of_sample : records) {
      for (const EncodedRecord& record : of_sample) {
        DOLIUM_TRY_VOID(writer.Append(record));
        copied += record.size;
      }
    }
    for (size_t i = begin; i < end; ++i) DOLIUM_TRY_VOID(loaded[i]->CheckMaps());
    begin = end;
  }
  context.progress(numbers.size(), copied);
  return {};
}

bool SampleCopier::IsCopied(const LoadedSample& sample) const {
  if (recode_) return false;
  const std::vector<SamplePart>& parts = sample.parts();
  const Shard& shard = *parts.front().shard;
  if (HasDictionaries(shard) ||
      shard.footer().align_log2 != shard_options_.encode.align_log2) {
    return false;
  }
  // Several records are the parts of one sample, as they were cut, or an overlay's.
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].shard != parts.front().shard ||
        (parts[i].record.header().flags & shardpack::kRecordPart) == 0) {
      return false;
    }
  }
  return true;
}

Result<std::vector<EncodedRecord>> SampleCopier::Prepare(
    const LoadedSample& sample) const {
  std::vector<EncodedRecord> records;
  if (!IsCopied(sample)) {
    DOLIUM_TRY(shardpack::Sample decoded, sample.Decode());
    if (recode_) {
      for (shardpack::File& file : decoded.files) file.compression = std::nullopt;
    }
    DOLIUM_TRY(EncodedRecord record, EncodeRecord(decoded, shard_options_.encode));
    records.push_back(std::move(record));
    return records;
  }
  for (const SamplePart& part : sample.parts()) {
    auto record = SummarizeBlock(part.record.block(), Check::kFull);
    DOLIUM_TRY_VOID(part.shard->CheckMap());
    if (!record) {
      return std::move(record).error().Within(
          fmt::format("{}: record {}", part.shard->Describe(), part.number));
    }
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace dolium::dataset
