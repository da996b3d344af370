// SampleCopier: samples of a set, written to shards as they are or encoded again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/ops/job/job.h"

namespace dolium::dataset {

// What a part needs to know of the request; in the record.
struct CopyParameters {
  std::string output;  // its name, without a folder
  bool is_numbered = false;
  std::optional<unsigned> align_log2;
  bool recode = false;
  shardpack::ShardWriterOptions shard;
  std::vector<std::string> references;
  std::vector<std::string> overlays;
  uint64_t samples = 0;  // of the set
  bool has_order = false;
};

nlohmann::json CopyJson(const CopyParameters& parameters);
// kCorrupt if the text does not hold them.
Result<CopyParameters> ParseCopyParameters(const std::string& text);

// Const methods may be called from many threads. The set must outlive it.
class SampleCopier {
 public:
  // Looks at the shards of the set: alignment, compression and metadata of the new shards
  // are those of the old ones, where the parameters do not say otherwise.
  static Result<SampleCopier> Make(const SampleSet& set,
                                   const CopyParameters& parameters);

  // Writes shard `index` of the new set, with the samples of these numbers.
  Result<shardpack::ShardSummary> Write(const Location& location, uint64_t index,
                                        std::span<const uint64_t> numbers,
                                        const PartContext& context) const;

 private:
  SampleCopier(const SampleSet& set, const CopyParameters& parameters);

  Result<void> LoadFromSource();
  Result<void> CopySome(std::span<const uint64_t> numbers, shardpack::ShardWriter& writer,
                        const PartContext& context) const;
  bool IsCopied(const LoadedSample& sample) const;
  Result<std::vector<shardpack::EncodedRecord>> Prepare(const LoadedSample& sample) const;

  const SampleSet& set_;
  bool recode_;
  std::optional<unsigned> align_log2_;
  shardpack::ShardWriterOptions shard_options_;
};

}  // namespace dolium::dataset
