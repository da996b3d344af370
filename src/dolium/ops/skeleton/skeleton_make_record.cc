// The record of a job that makes skeletons, and what it may replace.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/domain/skeleton/making/label_components.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/skeleton/skeleton_make_job.h"
#include "dolium/ops/volume/volume_job.h"
#include "dolium/ops/volume/volume_source.h"

namespace dolium::skeleton {
namespace {

using nlohmann::json;

// 2^that groups, at most.
constexpr unsigned kMostSkeletonGroups = 20;

bool IsSkeletonFile(std::string_view name) {
  name.remove_suffix(volume::FormOf(name).suffix.size());
  if (name == "info") return true;
  std::string_view digits = "0123456789";
  if (name.ends_with(".shard")) {
    name.remove_suffix(std::string_view(".shard").size());
    digits = "0123456789abcdef";
  }
  return !name.empty() && name.find_first_not_of(digits) == std::string_view::npos;
}

json TeasarJson(const TeasarOptions& teasar) {
  return {teasar.scale,          teasar.constant,
          teasar.penalty_scale,  teasar.penalty_exponent,
          teasar.soma_detection, teasar.soma_acceptance,
          teasar.soma_scale,     teasar.soma_constant};
}

Result<TeasarOptions> GetTeasar(const json& value) {
  std::array<double, 8> numbers = {};
  value.get_to(numbers);
  for (const double number : numbers) {
    if (!std::isfinite(number) || number < 0) {
      return Corrupt(
          fmt::format("not a job of skeletons: {} is no number of the method", number));
    }
  }
  return TeasarOptions{numbers[0], numbers[1], numbers[2], numbers[3],
                       numbers[4], numbers[5], numbers[6], numbers[7]};
}

json RequestJson(const SkeletonMakeJob& job) {
  return {{"source", job.source},
          {"export", volume::ToText(job.exported)},
          {"scale", job.scale},
          {"teasar", TeasarJson(job.teasar)},
          {"cross_sections", job.cross_sections},
          {"min_voxels", job.min_voxels},
          {"dust", job.dust},
          {"tick", job.tick},
          {"segments", job.segments},
          {"group_bits", job.group_bits},
          {"sharding", job.sharding ? ToJson(*job.sharding) : json(nullptr)},
          {"volume", job.volume},
          {"key", job.key}};
}

Result<void> CheckSkeletonJob(const SkeletonMakeJob& job) {
  const bool is_block = std::ranges::all_of(
      job.block, [](int64_t side) { return side > 0 && side <= kMaxBlockSide / 2; });
  if (!is_block) return Corrupt("not a job of skeletons: its blocks are none");
  const bool is_good = std::isfinite(job.dust) && std::isfinite(job.tick) &&
                       job.group_bits <= kMostSkeletonGroups;
  if (!is_good) return Corrupt("not a job of skeletons: a number is out of its range");
  if (!job.sharding) return {};
  DOLIUM_TRY_VOID(job.sharding->Validate());
  if (job.sharding->shard_bits != job.group_bits) {
    return Corrupt("not a job of skeletons: its shards are no groups");
  }
  return {};
}

}  // namespace

Result<std::string> RequestText(const SkeletonMakeJob& job) {
  return DumpJob(RequestJson(job));
}

Result<std::string> ToText(const SkeletonMakeJob& job) {
  json text = RequestJson(job);
  text["block"] = job.block;
  return DumpJob(text);
}

Result<SkeletonMakeJob> ParseSkeletonMakeJob(std::string_view text) {
  return ParseJob(
      text, "a job of skeletons", [](const json& value) -> Result<SkeletonMakeJob> {
        SkeletonMakeJob job;
        value.at("source").get_to(job.source);
        DOLIUM_TRY(job.exported,
                   volume::ParseDvidReadOptions(value.at("export").get<std::string>()));
        value.at("scale").get_to(job.scale);
        DOLIUM_TRY(job.teasar, GetTeasar(value.at("teasar")));
        value.at("cross_sections").get_to(job.cross_sections);
        value.at("min_voxels").get_to(job.min_voxels);
        value.at("dust").get_to(job.dust);
        value.at("tick").get_to(job.tick);
        value.at("segments").get_to(job.segments);
        value.at("group_bits").get_to(job.group_bits);
        if (!value.at("sharding").is_null()) {
          DOLIUM_TRY(job.sharding, neuroglancer::ParseSharding(value.at("sharding")));
        }
        value.at("volume").get_to(job.volume);
        value.at("key").get_to(job.key);
        value.at("block").get_to(job.block);
        DOLIUM_TRY_VOID(CheckSkeletonJob(job));
        return job;
      });
}

Result<std::string> FindSkeletonSourceState(const SkeletonMakeJob& job,
                                            const WriterOptions& options) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  return volume::FindScaleState(source, job.exported, job.scale, options);
}

Result<void> CheckSkeletonsReplaceable(const Location& folder) {
  DOLIUM_TRY(const auto foreign, FindForeign(folder, IsSkeletonFile));
  if (!foreign) return {};
  return Exists(
      fmt::format("{}: holds \"{}\", which is not part of a folder of "
                  "skeletons; move it away",
                  folder.Describe(), *foreign));
}

Result<void> CheckSkeletonMakeReplaceable(Formats /*formats*/,
                                          const JobRecord& /*record*/,
                                          const Location& folder) {
  return CheckSkeletonsReplaceable(folder);
}

}  // namespace dolium::skeleton
