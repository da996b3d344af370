#include "dolium/ops/write_voxels.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/formats/dvid/format.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium {
namespace {

constexpr std::string_view kToVolume = "precomputed";
constexpr std::string_view kToBoth = "precomputed dvid";

constexpr VoxelParameter kVoxelParameters[] = {
    {{"scale", Parameter::Kind::kChoice, "<n,...>",
      "just these scales of the source, by number [all]"},
     kToBoth},
    {{"shard-size", Parameter::Kind::kSize, "<size>",
      "about this much in a shard, as stored, by a sample [1GiB of voxels]"},
     kToVolume},
    {{"downsample", Parameter::Kind::kNumber, "<n>",
      "add so many coarser scales, by most frequent label [0]"},
     kToVolume},
    {{"labels", Parameter::Kind::kChoice, "",
      "of a DVID export: agglomerated labels [the default]"},
     kToVolume},
    {{"supervoxels", Parameter::Kind::kChoice, "",
      "of a DVID export: supervoxels, not labels"},
     kToVolume},
    {{"resolution", Parameter::Kind::kChoice, "<x,y,z>",
      "of a DVID export without a spec: nanometres of a voxel [1,1,1]"},
     kToBoth},
    {{"coordinates", Parameter::Kind::kChoice, "<name>",
      "what keys of DVID blocks count: auto, block or voxel [auto]", "auto block voxel"},
     kToBoth},
};

bool Takes(const VoxelTarget& target, std::string_view name) {
  return std::ranges::count(target.parameters, name, &Parameter::name) > 0 ||
         std::ranges::any_of(kVoxelParameters, [&](const VoxelParameter& row) {
           return row.parameter.name == name &&
                  row.targets.find(target.format) != std::string_view::npos;
         });
}

// kInvalidArgument for what a conversion of voxels cannot honour.
Result<void> CheckVoxelRequest(const ConvertRequest& request) {
  const auto refuse = [&](std::string_view what) {
    return InvalidArgument(fmt::format("{}: a conversion to {} takes no {}",
                                       request.target, request.target_format, what));
  };
  if (!request.source_format.empty()) return refuse("format of the source");
  if (request.target_spec) return refuse("sharding spec of the target");
  if (request.allow_unfinished) return refuse("unfinished source");
  for (const auto& [name, value] : request.parameters) {
    if (!Takes(*FindVoxelTarget(request.target_format), name)) {
      return refuse(fmt::format("parameter \"{}\"", name));
    }
  }
  const auto* const excluded =
      FindExclusion(*FindVoxelTarget(request.target_format), request.parameters);
  if (excluded == nullptr) return {};
  return refuse(fmt::format("parameter \"{}\" beside \"{}\"{}{}", excluded->name,
                            excluded->other, excluded->value.empty() ? "" : " ",
                            excluded->value));
}

Result<uint64_t> NumberParameter(const ConvertRequest& request, const std::string& name,
                                 uint64_t otherwise, uint64_t least = 1) {
  const auto found = request.parameters.find(name);
  if (found == request.parameters.end()) return otherwise;
  const std::string& text = found->second;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least) {
    return value;
  }
  return InvalidArgument(
      fmt::format("{} is \"{}\", expected a number of {} or more", name, text, least));
}

// Whether a parameter is the second of its two words, and not the first.
Result<bool> IsSecondWord(const ConvertRequest& request, const std::string& name,
                          std::string_view first, std::string_view second) {
  const auto found = request.parameters.find(name);
  if (found == request.parameters.end() || found->second == first) return false;
  if (found->second == second) return true;
  return InvalidArgument(
      fmt::format("{} is \"{}\", expected {} or {}", name, found->second, first, second));
}

// Numbers of scales, separated by commas; none: all.
Result<std::vector<size_t>> ScalesOf(const ConvertRequest& request) {
  std::vector<size_t> scales;
  const auto found = request.parameters.find("scale");
  if (found == request.parameters.end()) return scales;
  const std::string& text = found->second;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    size_t scale = 0;
    const auto [next, error] = std::from_chars(at, end, scale);
    if (error != std::errc() || (next != end && *next != ',')) {
      return InvalidArgument(
          fmt::format("scale is \"{}\", expected numbers separated by commas", text));
    }
    scales.push_back(scale);
    if (next == end) return scales;
    at = next + 1;
  }
}

Result<volume::Resolution> ParseResolution(std::string_view text) {
  volume::Resolution resolution{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (size_t i = 0; i < resolution.size(); ++i) {
    const bool has_comma = i == 0 || (at != end && *at == ',');
    if (i > 0 && has_comma) ++at;
    const auto [next, error] = std::from_chars(at, end, resolution[i]);
    if (!has_comma || error != std::errc() || !(resolution[i] > 0)) break;
    at = next;
    if (i + 1 == resolution.size() && at == end) return resolution;
  }
  return InvalidArgument(
      fmt::format("resolution is \"{}\", expected three numbers above 0", text));
}

Result<volume::DvidReadOptions> ReadOptionsOf(const ConvertRequest& request) {
  volume::DvidReadOptions options;
  const auto find = [&](const char* name) -> const std::string* {
    const auto found = request.parameters.find(name);
    return found == request.parameters.end() ? nullptr : &found->second;
  };
  if (find("supervoxels") != nullptr) options.labels = dvid::LabelKind::kSupervoxels;
  options.spec = request.source_spec;
  options.salvage = request.skip_damaged;
  if (const auto* const text = find("resolution")) {
    DOLIUM_TRY(options.resolution, ParseResolution(*text));
  }
  if (const auto* const word = find("coordinates")) {
    const auto known = dvid::ParseCoordinates(*word);
    if (!known) {
      return InvalidArgument(
          fmt::format("coordinates is \"{}\", expected auto, block or voxel", *word));
    }
    options.coordinates = *known;
  }
  return options;
}

Result<volume::TranscodeRequest> VolumeRequest(const ConvertRequest& request) {
  DOLIUM_TRY_VOID(CheckVoxelRequest(request));
  volume::TranscodeRequest transcode;
  transcode.source = request.source;
  transcode.target = request.target;
  DOLIUM_TRY(transcode.exported, ReadOptionsOf(request));
  transcode.skip_damaged = request.skip_damaged;
  transcode.force = request.force;
  DOLIUM_TRY(transcode.scales, ScalesOf(request));
  if (request.parameters.contains("shard-size")) {
    DOLIUM_TRY(transcode.storage.stored_shard_bytes,
               NumberParameter(request, "shard-size", 1));
  }
  DOLIUM_TRY(const uint64_t scales, NumberParameter(request, "downsample", 0, 0));
  if (scales > 0) {
    volume::PyramidRequest& pyramid = transcode.pyramid.emplace();
    pyramid.scales = scales;
    pyramid.factor = volume::Vec3{2, 2, 2};
    pyramid.method = volume::DownsampleMethod::kMode;
    pyramid.ignore_zero = true;
  }
  return transcode;
}

Result<OpenJob> BeginToVolume(const ConvertRequest& request, const RunOptions& options,
                              const FindingVisitor& visitor) {
  DOLIUM_TRY(const auto transcode, VolumeRequest(request));
  return BeginTranscode(transcode, options, visitor);
}

Result<volume::DvidWriteRequest> DvidRequest(const ConvertRequest& request) {
  DOLIUM_TRY_VOID(CheckVoxelRequest(request));
  volume::DvidWriteRequest write;
  write.source = request.source;
  write.target = request.target;
  DOLIUM_TRY(write.exported, ReadOptionsOf(request));
  write.skip_damaged = request.skip_damaged;
  write.force = request.force;
  DOLIUM_TRY(write.scales, ScalesOf(request));
  DOLIUM_TRY(const bool is_seed, IsSecondWord(request, "layout", "stream", "seed"));
  if (is_seed) write.layout = dvid::ShardLayout::kSeed;
  DOLIUM_TRY(const bool is_dvid, IsSecondWord(request, "csv", "documented", "dvid"));
  if (is_dvid) write.csv = dvid::CsvForm::kDvid;
  DOLIUM_TRY(
      const uint64_t side,
      NumberParameter(request, "shard-side", static_cast<uint64_t>(write.shard_side)));
  write.shard_side = static_cast<int64_t>(std::min<uint64_t>(side, INT32_MAX));
  return write;
}

Result<OpenJob> BeginToDvid(const ConvertRequest& request, const RunOptions& options,
                            const FindingVisitor& visitor) {
  DOLIUM_TRY(const auto write, DvidRequest(request));
  return BeginDvidWrite(write, options, visitor);
}

constexpr VoxelExclusion kVolumeExclusions[] = {{"labels", "supervoxels"}};
constexpr VoxelExclusion kDvidExclusions[] = {{"csv", "layout", "seed"}};

constexpr VoxelTarget kVoxelTargets[] = {
    {.format = kToVolume,
     .made = "a volume",
     .about = "the source is a volume or a DVID export, with all of its scales, and the "
              "target a sharded volume; blocks become chunks of compressed_segmentation "
              "without being decoded. Damage that DVID does to exports silently is "
              "explained before anything is written, and blocks outside of the volume "
              "are counted.",
     .parameters = {},
     .exclusions = kVolumeExclusions,
     .entry = "chunk",
     .begin = BeginToVolume,
     .count_scales = volume::CountStages},
    {.format = dvid::kFormat.name,
     .made = "a DVID export",
     .about =
         "the source is a volume of labels or another DVID export, and the target a "
         "DVID export; its spec.json keeps sizes and resolutions. Exports hold voxels "
         "only: mesh, skeletons, segment properties and other files of a volume are "
         "left out, with a warning for each.",
     .parameters = dvid::kFormat.parameters,
     .exclusions = kDvidExclusions,
     .entry = "block",
     .begin = BeginToDvid},
};

}  // namespace

std::span<const VoxelTarget> VoxelTargets() { return kVoxelTargets; }

const VoxelTarget* FindVoxelTarget(std::string_view format) {
  for (const VoxelTarget& target : kVoxelTargets) {
    if (target.format == format) return &target;
  }
  return nullptr;
}

std::span<const VoxelParameter> VoxelParameters() { return kVoxelParameters; }

const VoxelExclusion* FindExclusion(
    const VoxelTarget& target, const std::map<std::string, std::string>& parameters) {
  const auto contradicts = [&](const VoxelExclusion& exclusion) {
    const auto other = parameters.find(std::string(exclusion.other));
    return parameters.contains(std::string(exclusion.name)) &&
           other != parameters.end() &&
           (exclusion.value.empty() || other->second == exclusion.value);
  };
  const auto found = std::ranges::find_if(target.exclusions, contradicts);
  return found == target.exclusions.end() ? nullptr : &*found;
}

std::string_view LabelsOf(const std::map<std::string, std::string>& parameters) {
  return parameters.contains("supervoxels") ? "supervoxels" : "labels";
}

}  // namespace dolium
