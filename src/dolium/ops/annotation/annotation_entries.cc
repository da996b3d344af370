#include "dolium/ops/annotation/annotation_entries.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"

namespace dolium {
namespace {

constexpr std::string_view kAnnotationsFormat = "annotations";

std::string DescribeLevel(const annotation::SpatialLevel& level) {
  return fmt::format("{} cells of {}, up to {} in a cell, {}",
                     fmt::join(level.grid_shape, " x "),
                     fmt::join(level.chunk_size, " x "), level.limit,
                     level.sharding ? "sharded" : "one file for each");
}

}  // namespace

std::vector<SourcePart> PartsOf(const annotation::AnnotationSource& annotations) {
  std::vector<SourcePart> parts;
  const Location& folder = annotations.folder();
  const auto add = [&](std::string_view kind, const std::string& key) {
    AddPart({key,
             std::string(kind),
             {folder.store, NormalizePath(JoinPath(folder.path, key))}},
            parts);
  };
  const annotation::AnnotationInfo& info = annotations.info();
  add("by_id", info.by_id.key);
  for (const auto& relationship : info.relationships) {
    add("relationship", relationship.key);
  }
  for (const auto& level : info.spatial) add("spatial", level.key);
  return parts;
}

AnnotationEntries::AnnotationEntries(
    Formats formats, std::shared_ptr<const annotation::AnnotationSource> annotations,
    OpenOptions options)
    : PartContainer(PartsOf(*annotations)),
      formats_(formats),
      annotations_(std::move(annotations)),
      options_(std::move(options)) {}

std::string_view AnnotationEntries::format_name() const { return kAnnotationsFormat; }

Properties AnnotationEntries::properties() const {
  const annotation::AnnotationInfo& info = annotations_->info();
  Properties properties = {{"type", ToString(info.type)}};
  for (size_t d = 0; d < info.rank(); ++d) {
    const annotation::Dimension& dimension = info.dimensions[d];
    properties.emplace_back(
        fmt::format("dimension {}", dimension.name),
        fmt::format("{} to {}, {} {}", info.lower_bound[d], info.upper_bound[d],
                    dimension.scale, dimension.unit));
  }
  for (const auto& property : info.properties) {
    properties.emplace_back(fmt::format("property {}", property.id),
                            std::string(ToString(property.type)));
  }
  for (const auto& relationship : info.relationships) {
    properties.emplace_back(fmt::format("relationship {}", relationship.id),
                            relationship.sharding ? "sharded" : "one file for each");
  }
  properties.emplace_back("by id", info.by_id.sharding ? "sharded" : "one file for each");
  for (const auto& level : info.spatial) {
    properties.emplace_back(fmt::format("level {}", level.key), DescribeLevel(level));
  }
  return properties;
}

Result<std::shared_ptr<const Container>> AnnotationEntries::Load(
    const SourcePart& part) const {
  OpenOptions options = options_;
  options.spec.reset();
  // Only the folder of the info carries the marker.
  options.allow_unfinished = true;
  const annotation::AnnotationInfo& info = annotations_->info();
  std::optional<neuroglancer::ShardingSpec> sharding;
  if (part.name == info.by_id.key) sharding = info.by_id.sharding;
  for (const auto& one : info.relationships) {
    if (one.key == part.name) sharding = one.sharding;
  }
  for (const auto& one : info.spatial) {
    if (one.key == part.name) sharding = one.sharding;
  }
  if (sharding) options.spec = DumpJson(neuroglancer::ToJson(*sharding));
  return OpenPartFolder(formats_, part.location, sharding ? "neuroglancer" : "files",
                        options);
}

}  // namespace dolium
