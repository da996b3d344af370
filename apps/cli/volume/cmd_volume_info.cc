#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "cli/volume/export_arguments.h"
#include "cli/volume/volume_arguments.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/domain/volume/volume_sharding.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

using volume::ScaleInfo;
using volume::Vec3;
using volume::VolumeInfo;

std::string EncodingName(const ScaleInfo& scale) {
  if (!scale.foreign_encoding.empty()) return scale.foreign_encoding;
  return std::string(ToString(scale.encoding.encoding));
}

// Shards that have a chunk, if the volume is complete. Nullopt if they are not boxes of
// chunks, which alone can be counted without looking at each chunk.
std::optional<uint64_t> CountShards(const ScaleInfo& scale) {
  const auto grid = volume::Grid::Make(scale.bounds(), scale.chunk_sizes.front());
  if (!grid) return std::nullopt;
  const auto morton = volume::MortonCode::Make(grid->shape());
  if (!morton) return std::nullopt;
  const auto first = volume::ShardCells(*scale.sharding, *morton, 0);
  if (!first) return std::nullopt;
  if (first->empty()) return 0;
  uint64_t shards = 1;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t cells = first->size()[d];
    shards *= static_cast<uint64_t>((grid->shape()[d] + cells - 1) / cells);
  }
  return shards;
}

std::string ChunkSizes(const ScaleInfo& scale) {
  std::string text;
  for (const Vec3& size : scale.chunk_sizes) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", volume::ToString(size));
  }
  return text;
}

std::string ShardText(const ScaleInfo& scale) {
  if (!scale.sharding) return "-";
  const auto shards = CountShards(scale);
  return shards ? FormatCount(*shards) : "?";
}

std::string ShardingText(const ScaleInfo& scale) {
  if (!scale.sharding) return "-";
  const neuroglancer::ShardingSpec& spec = *scale.sharding;
  return fmt::format("{} {}+{}+{} {}", ToString(spec.hash), spec.preshift_bits,
                     spec.minishard_bits, spec.shard_bits, ToString(spec.data_encoding));
}

Json ScaleJson(const ScaleInfo& scale) {
  Json json = {{"key", scale.key},
               {"size", scale.size},
               {"voxel_offset", scale.voxel_offset},
               {"resolution", scale.resolution},
               {"chunk_sizes", scale.chunk_sizes},
               {"encoding", EncodingName(scale)},
               {"sharding", Json()},
               {"shards", Json()}};
  if (scale.sharding) {
    json["sharding"] = Json(ToJson(*scale.sharding));
    if (const auto shards = CountShards(scale)) json["shards"] = *shards;
  }
  return json;
}

void PrintJson(Context& context, const volume::Volume& volume) {
  const VolumeInfo& info = volume.info();
  Json json = {{"location", volume.folder().Describe()},
               {"volume_type", ToString(info.type)},
               {"data_type", ToString(info.data_type)},
               {"channels", info.num_channels},
               {"scales", Json::array()},
               {"warnings", Json::array()}};
  if (info.mesh) json["mesh"] = *info.mesh;
  if (info.skeletons) json["skeletons"] = *info.skeletons;
  if (info.segment_properties) json["segment_properties"] = *info.segment_properties;
  for (const ScaleInfo& scale : info.scales) json["scales"].push_back(ScaleJson(scale));
  for (const volume::InfoWarning& warning : CheckVolumeInfo(info)) {
    json["warnings"].push_back({{"member", warning.path}, {"message", warning.text}});
  }
  context.terminal.JsonLine("volume", json);
}

void PrintTables(Context& context, const volume::Volume& volume) {
  const auto print = [&](std::string_view line) { context.terminal.Line(line); };
  const VolumeInfo& info = volume.info();
  Table head({{}, {}}, print);
  head.Add({"location", volume.folder().Describe()});
  head.Add({"type", std::string(ToString(info.type))});
  head.Add({"data type", std::string(ToString(info.data_type))});
  head.Add({"channels", std::to_string(info.num_channels)});
  if (info.mesh) head.Add({"mesh", *info.mesh});
  if (info.skeletons) head.Add({"skeletons", *info.skeletons});
  if (info.segment_properties) {
    head.Add({"segment properties", *info.segment_properties});
  }
  head.Finish();
  print("");

  using enum Table::Align;
  Table scales({{"scale", kRight},
                {"key"},
                {"size"},
                {"offset"},
                {"resolution"},
                {"chunk"},
                {"encoding"},
                {"shards", kRight},
                {"sharding"}},
               print);
  for (size_t i = 0; i < info.scales.size(); ++i) {
    const ScaleInfo& scale = info.scales[i];
    scales.Add({std::to_string(i), scale.key, volume::ToString(scale.size),
                volume::ToString(scale.voxel_offset), ToText(scale.resolution),
                ChunkSizes(scale), EncodingName(scale), ShardText(scale),
                ShardingText(scale)});
  }
  scales.Finish();
  const std::vector<volume::InfoWarning> warnings = CheckVolumeInfo(info);
  if (!warnings.empty()) print("");
  for (const volume::InfoWarning& warning : warnings) {
    print(fmt::format("warning: {}: {}", warning.path, warning.text));
  }
}

}  // namespace

ExitStatus RunVolumeInfo(Context& context) {
  const auto location = ParseLocation(context.arguments[0]);
  if (!location) return context.FailLocation(location.error());
  const auto exported = ExportOptionsOf(context);
  if (!exported) return context.FailLocation(exported.error().Within("volume info"));
  const auto volume = OpenVolume(*location, {.exported = *exported});
  if (!volume) return context.FailLocation(volume.error());
  if (context.terminal.json()) {
    PrintJson(context, *volume);
  } else {
    PrintTables(context, *volume);
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
