#include "dolium/formats/xet/format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/formats/xet/mdb_records.h"
#include "dolium/formats/xet/shard_container.h"
#include "dolium/formats/xet/xorb_container.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

namespace {

constexpr int kHasTag = 95;
constexpr int kHasFooter = 90;
constexpr int kHasNameAndChunk = 70;
constexpr int kHasShards = 60;
// Names that a probe looks at; a folder may have millions.
constexpr size_t kProbeNames = 1000;
constexpr std::string_view kXorbs = "xorbs";

enum class Kind : uint8_t { kNone, kShard, kXorb };

struct Guess {
  Kind kind = Kind::kNone;
  int score = 0;
};

// What the object is, by its first and its last bytes. Both kinds begin with at least
// this many.
Result<Guess> GuessObject(const Location& location, uint64_t size) {
  if (size < kChunkHeaderSize + 1) return Guess();
  const uint64_t beginning = std::min(size, kRecordSize);
  DOLIUM_TRY(const Bytes first, location.store->ReadRange(location.path, {0, beginning}));
  if (first.size() == kRecordSize && HasShardTag(first)) {
    return Guess{Kind::kShard, kHasTag};
  }
  if (!ParseChunkHeader(first.view().first(kChunkHeaderSize))) return Guess();
  DOLIUM_TRY(const Suffix end,
             location.store->ReadSuffix(location.path, kXorbFooterLengthSize));
  const auto footer = FooterBytesOf(end.bytes, end.info.size);
  if (footer && *footer >= kChunkHeaderSize + kXorbFooterLengthSize) {
    DOLIUM_TRY(const Bytes magic,
               location.store->ReadRange(location.path,
                                         {end.info.size - *footer, kChunkHeaderSize}));
    if (IsXorbFooter(magic)) return Guess{Kind::kXorb, kHasFooter};
  }
  if (XorbNameOf(location.path)) return Guess{Kind::kXorb, kHasNameAndChunk};
  return Guess();
}

Result<bool> HasShards(const Location& folder) {
  bool has_shards = false;
  size_t seen = 0;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        // Other things than shards are called *.mdb, too.
        has_shards = !is_folder && ShardNameOf(name);
        return !has_shards && ++seen < kProbeNames;
      });
  if (!listed) return listed.error();
  return has_shards;
}

bool MayBeOurs(const Location& location) {
  // Elsewhere than here, a look at every object would be a request for nothing.
  return IsLocal(location) || location.path.ends_with(kShardExtension) ||
         XorbNameOf(location.path);
}

Result<std::unique_ptr<XorbFolder>> FindXorbs(const Location& folder,
                                              const OpenOptions& options) {
  std::vector<Location> folders;
  const auto named = options.parameters.find(std::string(kXorbs));
  if (named != options.parameters.end()) {
    DOLIUM_TRY(Location xorbs, ParseLocation(named->second));
    if (xorbs.store != folder.store) {
      return InvalidArgument(fmt::format("{}: xorbs are read from where the shard is, {}",
                                         named->second, folder.Describe()));
    }
    folders.push_back(std::move(xorbs));
  } else {
    folders = {folder.Parent().Child(kXorbs), folder};
  }
  return std::make_unique<XorbFolder>(std::move(folders), options.cache_bytes);
}

Error CannotWrite(const Location& location) {
  return Unsupported(
             fmt::format("{}: files are kept as chunks by a store", location.Describe()))
      .WithHint(Hint::kUseCas);
}

}  // namespace

Result<int> Probe(const Location& location) {
  if (MayBeOurs(location)) {
    DOLIUM_TRY(const auto info, location.store->Stat(location.path));
    if (info) {
      DOLIUM_TRY(const Guess guess, GuessObject(location, info->size));
      return guess.score;
    }
  }
  const auto has_shards = HasShards(location);
  return has_shards && *has_shards ? kHasShards : 0;  // No listing, no score.
}

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  if (options.spec) {
    return InvalidArgument(fmt::format(
        "{}: shards and xorbs say themselves what they are; there is no spec to read "
        "them with",
        location.Describe()));
  }
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  if (!info) {
    DOLIUM_TRY(const bool has_shards, HasShards(location));
    if (!has_shards) {
      return NotFound(fmt::format("{}: no file <hash>{} in it", location.Describe(),
                                  kShardExtension));
    }
    DOLIUM_TRY(auto xorbs, FindXorbs(location, options));
    return std::make_unique<ShardContainer>(location, /*is_folder=*/true,
                                            std::move(xorbs));
  }
  DOLIUM_TRY(const Guess guess, GuessObject(location, info->size));
  if (guess.kind == Kind::kXorb) return std::make_unique<XorbContainer>(location);
  if (guess.kind == Kind::kShard || location.path.ends_with(kShardExtension)) {
    DOLIUM_TRY(auto xorbs, FindXorbs(location.Parent(), options));
    return std::make_unique<ShardContainer>(location, /*is_folder=*/false,
                                            std::move(xorbs));
  }
  return std::make_unique<XorbContainer>(location);
}

Result<std::unique_ptr<Target>> Create(const Location& location, const CreateOptions&) {
  return CannotWrite(location);
}

Result<std::unique_ptr<Target>> Reopen(const Location& location, std::string_view) {
  return CannotWrite(location);
}

bool OwnsObject(std::string_view name) { return ShardNameOf(name) || XorbNameOf(name); }

}  // namespace dolium::xet
