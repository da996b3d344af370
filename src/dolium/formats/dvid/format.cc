#include "dolium/formats/dvid/format.h"

#include <fmt/format.h>

#include "dolium/container/unfinished.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/export.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/spec_names.h"

namespace dolium::dvid {
namespace {

constexpr int kHasMagic = kUnmistakable;
constexpr int kHasShards = 60;

Error CannotWrite(const Location& location) {
  return Unsupported(
      fmt::format("{}: exports are made of the voxels of a volume, which the source is "
                  "not",
                  location.Describe()));
}

}  // namespace

Result<int> Probe(const Location& location) {
  // Elsewhere than here, a look at every object would be a request for nothing.
  if (location.path.ends_with(kExtension)) {
    DOLIUM_TRY(const bool is_shard, LooksLikeShard(location));
    return is_shard ? kHasMagic : 0;
  }
  // A spec names the export that it is in: where nothing can be listed, the one way.
  if (BaseName(location.path) == kSpecName) {
    const auto spec = location.store->ReadWhole(location.path, kMaxSpecBytes);
    return spec && ParseSpecNames(AsText(spec->bytes)) ? kHasShards : 0;
  }
  // Over plain HTTP this is no request.
  if (!location.store->List(location.path, [](auto, bool) { return false; })) return 0;
  const auto scales = ListScales(location);
  if (!scales || scales->empty()) return 0;  // No listing, no score.
  // A file of another kind is a scale of one shard to ListScales.
  DOLIUM_TRY(const auto object, location.store->Stat(location.path));
  return object ? 0 : kHasShards;
}

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  if (options.spec) {
    return InvalidArgument(fmt::format(
        "{}: a shard says itself what it is; there is no spec to read it with",
        location.Describe()));
  }
  ShardOptions shard_options;
  if (const auto found = options.parameters.find("coordinates");
      found != options.parameters.end()) {
    const auto coordinates = ParseCoordinates(found->second);
    if (!coordinates) {
      return InvalidArgument(fmt::format(
          "coordinates \"{}\", expected auto, block or voxel", found->second));
    }
    shard_options.coordinates = *coordinates;
  }
  shard_options.salvage = options.parameters.contains("salvage");
  if (!options.allow_unfinished && !location.path.ends_with(kExtension)) {
    DOLIUM_TRY_VOID(CheckFinished(ExportFolder(location)));
  }
  DOLIUM_TRY(auto container,
             DvidContainer::Open(location, shard_options, options.cache_bytes));
  return std::unique_ptr<Container>(std::move(container));
}

Result<std::unique_ptr<Target>> Create(const Location& location, const CreateOptions&) {
  return CannotWrite(location);
}

Result<std::unique_ptr<Target>> Reopen(const Location& location, std::string_view) {
  return CannotWrite(location);
}

bool OwnsShard(std::string_view name) {
  for (const std::string_view suffix : kShardSuffixes) {
    if (!name.ends_with(suffix)) continue;
    return ParseKey(name.substr(0, name.size() - suffix.size())).has_value();
  }
  return false;
}

bool OwnsObject(std::string_view name) {
  // Beside the shards: what the export was made with, and what DVID says of it.
  return OwnsShard(name) || name == "spec.json" || name == "export.log";
}

}  // namespace dolium::dvid
