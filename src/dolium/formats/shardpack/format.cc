#include "dolium/formats/shardpack/format.h"

#include <fmt/format.h>

#include "dolium/container/unfinished.h"
#include "dolium/formats/shardpack/container.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::shardpack {

namespace {

constexpr int kHasMagic = 90;
constexpr int kHasShards = 60;
// Names that a probe looks at; a folder may have millions.
constexpr size_t kProbeNames = 1000;

Error CannotWrite(const Location& location) {
  return Unsupported(fmt::format("{}: shards are made of samples, not of entries",
                                 location.Describe()))
      .WithHint(Hint::kPackSamples);
}

Result<bool> HasShards(const Location& folder) {
  bool has_shards = false;
  size_t seen = 0;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        has_shards = !is_folder && name.ends_with(kExtension);
        return !has_shards && ++seen < kProbeNames;
      });
  if (!listed) return listed.error();
  return has_shards;
}

}  // namespace

Result<int> Probe(const Location& location) {
  // Elsewhere than here, a look at every object would be a request for nothing.
  if (location.path.ends_with(kExtension) || IsLocal(location)) {
    DOLIUM_TRY(const bool is_shard, LooksLikeShard(location));
    if (is_shard) return kHasMagic;
  }
  const auto has_shards = HasShards(location);
  return has_shards && *has_shards ? kHasShards : 0;  // No listing, no score.
}

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  if (options.spec) {
    return InvalidArgument(fmt::format(
        "{}: a shard says itself what it is; there is no spec to read it with",
        location.Describe()));
  }
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  if (!info && !options.allow_unfinished) {
    DOLIUM_TRY_VOID(CheckFinished(location));
    DOLIUM_TRY_VOID(CheckAllMoved(location));
  }
  if (!info) {
    DOLIUM_TRY(const bool has_shards, HasShards(location));
    if (!has_shards) {
      return NotFound(
          fmt::format("{}: no file *{} in it", location.Describe(), kExtension));
    }
  }
  return std::make_unique<PackContainer>(location, /*is_folder=*/!info);
}

Result<std::unique_ptr<Target>> Create(const Location& location, const CreateOptions&) {
  return CannotWrite(location);
}

Result<std::unique_ptr<Target>> Reopen(const Location& location, std::string_view) {
  return CannotWrite(location);
}

bool OwnsObject(std::string_view name) { return name.ends_with(kExtension); }

}  // namespace dolium::shardpack
