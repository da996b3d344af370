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

// The key as the volume has it.
Entry WithPart(const Entry& entry, const std::string& part) {
  Entry named = entry;
  named.key = fmt::format("{}/{}", part, entry.key);
  return named;
}

Finding WithPart(const Finding& finding, const std::string& part) {
  Finding named = finding;
  if (!finding.key.empty()) named.key = fmt::format("{}/{}", part, finding.key);
  return named;
}

}  // namespace

std::vector<SourcePart> PartsOf(const volume::Volume& volume) {
  std::vector<SourcePart> parts;
  const auto add = [&](std::string_view kind, const std::string& key) {
    SourcePart part{key, std::string(kind),
                    volume::ResolveScaleKey(volume.folder(), key)};
    const auto is_same = [&](const SourcePart& other) {
      return other.name == part.name || other.location.path == part.location.path;
    };
    if (!std::ranges::any_of(parts, is_same)) parts.push_back(std::move(part));
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
    : formats_(formats),
      volume_(std::move(volume)),
      options_(std::move(options)),
      parts_(PartsOf(*volume_)),
      opened_(std::make_unique<Once<std::shared_ptr<const Container>>[]>(parts_.size())) {
}

std::string_view VolumeEntries::format_name() const { return "precomputed"; }

Properties VolumeEntries::properties() const {
  const volume::VolumeInfo& info = volume_->info();
  Properties properties = {{"type", std::string(ToString(info.type))},
                           {"data_type", std::string(ToString(info.data_type))},
                           {"channels", static_cast<uint64_t>(info.num_channels)}};
  for (const volume::ScaleInfo& scale : info.scales) {
    properties.emplace_back(fmt::format("scale {}", scale.key), DescribeScale(scale));
  }
  for (const SourcePart& part : parts_) {
    if (part.kind != kScalePart) properties.emplace_back(part.kind, part.name);
  }
  return properties;
}

Result<std::shared_ptr<const Container>> VolumeEntries::Load(size_t part) const {
  const SourcePart& one = parts_[part];
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
  auto opened = OpenContainer(formats_, one.location, format, options);
  if (!opened && format.empty() && opened.error().code == ErrorCode::kInvalidArgument) {
    // Files that cannot be listed are not recognised, and can be read.
    auto files = OpenContainer(formats_, one.location, "files", options);
    if (files) opened = std::move(files);
  }
  if (!opened && opened.error().code == ErrorCode::kNotFound) {
    return std::shared_ptr<const Container>();
  }
  if (!opened) return std::move(opened).error();
  return std::shared_ptr<const Container>(*std::move(opened));
}

Result<const Container*> VolumeEntries::OpenPart(size_t part) const {
  DOLIUM_TRY(const auto* const opened, opened_[part].Get([&] { return Load(part); }));
  return opened->get();
}

std::optional<std::pair<size_t, std::string_view>> VolumeEntries::SplitKey(
    std::string_view key) const {
  std::optional<std::pair<size_t, std::string_view>> longest;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::string& name = parts_[i].name;
    if (key.size() <= name.size() || !key.starts_with(name) || key[name.size()] != '/') {
      continue;
    }
    if (longest && parts_[longest->first].name.size() > name.size()) continue;
    longest = {i, key.substr(name.size() + 1)};
  }
  return longest;
}

Result<size_t> VolumeEntries::PartOfObject(std::string_view object) const {
  // A plain folder is its own object; shards lie in theirs.
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].location.path == object) return i;
  }
  const std::string folder = ParentPath(object);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].location.path == folder) return i;
  }
  return InvalidArgument(fmt::format("{}: not an object of {}", store().Describe(object),
                                     location().Describe()));
}

Result<std::optional<Entry>> VolumeEntries::Find(std::string_view key) const {
  const auto split = SplitKey(key);
  if (!split) return std::nullopt;
  DOLIUM_TRY(const Container* const part, OpenPart(split->first));
  if (part == nullptr) return std::nullopt;
  DOLIUM_TRY(const auto entry, part->Find(split->second));
  if (!entry) return std::nullopt;
  return WithPart(*entry, parts_[split->first].name);
}

Result<std::vector<std::string>> VolumeEntries::Objects() const {
  std::vector<std::string> objects;
  for (size_t i = 0; i < parts_.size(); ++i) {
    DOLIUM_TRY(const Container* const part, OpenPart(i));
    if (part == nullptr) continue;
    auto own = part->Objects();
    // Nothing was written to it.
    if (!own && own.error().code == ErrorCode::kNotFound) continue;
    if (!own) return std::move(own).error();
    objects.insert(objects.end(), own->begin(), own->end());
  }
  return objects;
}

Result<void> VolumeEntries::ScanObject(std::string_view object,
                                       const ScanVisitor& visitor) const {
  DOLIUM_TRY(const size_t number, PartOfObject(object));
  DOLIUM_TRY(const Container* const part, OpenPart(number));
  if (part == nullptr) return {};
  const std::string& name = parts_[number].name;
  ScanVisitor named;
  named.entry = [&](const Entry& entry) { return visitor.entry(WithPart(entry, name)); };
  if (visitor.damage) {
    named.damage = [&](const Finding& finding) {
      return visitor.damage(WithPart(finding, name));
    };
  }
  return part->ScanObject(object, named);
}

Result<void> VolumeEntries::CheckObject(std::string_view object,
                                        const FindingVisitor& visitor) const {
  DOLIUM_TRY(const size_t number, PartOfObject(object));
  DOLIUM_TRY(const Container* const part, OpenPart(number));
  if (part == nullptr) return {};
  return part->CheckObject(object, [&](const Finding& finding) {
    visitor(WithPart(finding, parts_[number].name));
  });
}

void VolumeEntries::Forget(std::string_view key) const {
  const auto split = SplitKey(key);
  if (!split) return;
  const auto part = OpenPart(split->first);
  if (!part || *part == nullptr) return;
  if (const auto* const cache = dynamic_cast<const IndexCache*>(*part)) {
    cache->Forget(split->second);
  }
}

}  // namespace dolium
