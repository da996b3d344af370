// What the jobs that write shards have in common. A part is a shard.
//
// They make files, so they work in `<first shard>.dolium-new` (see ops/job/job.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/job_record.h"
#include "dolium/ops/pack/pack_create.h"
#include "dolium/ops/pack/pack_output.h"

namespace dolium::dataset {

inline constexpr std::string_view kPackCopyKind = "pack-copy";
inline constexpr std::string_view kPackCreateKind = "pack-create";
inline constexpr std::string_view kPackExportKind = "pack-export";
inline constexpr std::string_view kPackExtractKind = "pack-extract";

// Of the rows in the table of kinds.
Result<std::unique_ptr<Job>> OpenPackCopyJob(Formats formats, const Location& folder,
                                             const JobRecord& record);
Result<std::unique_ptr<Job>> OpenPackCreateJob(Formats formats, const Location& folder,
                                               const JobRecord& record);
Result<std::unique_ptr<Job>> OpenPackExportJob(Formats formats, const Location& folder,
                                               const JobRecord& record);
Result<std::unique_ptr<Job>> OpenPackExtractJob(Formats formats, const Location& folder,
                                                const JobRecord& record);

// A local path as every process knows it; other references as they are.
std::string PortableReference(const std::string& reference);
std::vector<std::string> PortableReferences(std::span<const std::string> references);

// How shards are written, in a record. Neither `force` nor a dictionary is kept, and of
// `worth_compressing` only whether types that are compressed already are left alone.
nlohmann::json ShardOptionsJson(const shardpack::ShardWriterOptions& options);
Result<shardpack::ShardWriterOptions> ParseShardOptions(const nlohmann::json& value);

// What is to be known of a shard that is made, besides what is in it.
struct MadeShard {
  shardpack::ShardSummary shard;  // without its location
  uint64_t samples = 0;           // that this and all shards before it took
  uint64_t skipped = 0;           // too large, since the shard before
};
TaskReport ReportOf(const MadeShard& made);
Result<MadeShard> ParseMadeShard(const std::string& detail);

// A text that is another one if the shards of the set, or of the sets laid over it, are.
Result<std::string> StateOfSet(const SampleSet& set,
                               std::span<const std::string> overlays);

// RunOrDropJob() for one that writes these shards.
Result<PackReport> RunPackJob(OpenJob& job, const PackOutput& output,
                              const RunOptions& options, bool can_resume);

}  // namespace dolium::dataset
