#include "dolium/ops/source/volume_entries.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium {
namespace {

constexpr std::string_view kScalePart = "scale";

std::string DescribeScale(const volume::ScaleInfo& scale) {
  std::string text = fmt::format("{} voxels, {}", volume::ToString(scale.size),
                                 scale.foreign_encoding.empty()
                                     ? ToString(scale.encoding.encoding)
                                     : std::string_view(scale.foreign_encoding));
  for (const volume::Vec3& size : scale.chunk_sizes) {
    text += fmt::format(", chunks of {}", volume::ToString(size));
  }
  return text + (scale.sharding ? ", sharded" : ", one file for each");
}

}  // namespace

std::vector<SourcePart> PartsOf(const volume::Volume& volume) {
  std::vector<SourcePart> parts;
  const auto add = [&](std::string_view kind, const std::string& key) {
    AddPart({key, std::string(kind), volume::ResolveScaleKey(volume.folder(), key)},
            parts);
  };
  const volume::VolumeInfo& info = volume.info();
  for (const volume::ScaleInfo& scale : info.scales) add(kScalePart, scale.key);
  if (info.mesh) add("mesh", *info.mesh);
  if (info.skeletons) add("skeletons", *info.skeletons);
  if (info.segment_properties) add("segment_properties", *info.segment_properties);
  return parts;
}

VolumeEntries::VolumeEntries(Formats formats,
                             std::shared_ptr<const volume::Volume> volume,
                             OpenOptions options)
    : PartContainer(PartsOf(*volume)),
      formats_(formats),
      volume_(std::move(volume)),
      options_(std::move(options)) {}

std::string_view VolumeEntries::format_name() const { return "precomputed"; }

Properties VolumeEntries::properties() const {
  const volume::VolumeInfo& info = volume_->info();
  Properties properties = {{"type", std::string(ToString(info.type))},
                           {"data_type", std::string(ToString(info.data_type))},
                           {"channels", static_cast<uint64_t>(info.num_channels)}};
  for (const volume::ScaleInfo& scale : info.scales) {
    properties.emplace_back(fmt::format("scale {}", scale.key), DescribeScale(scale));
  }
  for (const SourcePart& part : parts()) {
    if (part.kind != kScalePart) properties.emplace_back(part.kind, part.name);
  }
  return properties;
}

Result<std::shared_ptr<const Container>> VolumeEntries::Load(
    const SourcePart& one) const {
  OpenOptions options = options_;
  options.spec.reset();
  // Only the folder of the info carries the marker of a volume.
  options.allow_unfinished = true;
  std::string_view format;
  for (const volume::ScaleInfo& scale : volume_->info().scales) {
    if (one.kind != kScalePart || scale.key != one.name) continue;
    format = scale.sharding ? "neuroglancer" : "files";
    if (scale.sharding) options.spec = DumpJson(ToJson(*scale.sharding));
    break;
  }
  return OpenPartFolder(formats_, one.location, format, options);
}

}  // namespace dolium
