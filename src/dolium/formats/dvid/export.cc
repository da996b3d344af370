#include "dolium/formats/dvid/export.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/dvid/spec_names.h"

namespace dolium::dvid {
namespace {

constexpr size_t kMaxScale = 30;  // sizes are to count in 64 bits
// Shards this long, in voxels, are taken to be full of blocks; DVID's have 2048 or less.
constexpr int64_t kMaxFullSide = 4096;
// Requests under way at once, for what cannot be listed.
constexpr size_t kProbes = 16;

std::optional<Key> CornerOf(std::string_view object) {
  std::string_view name = BaseName(object);
  name.remove_suffix(kExtension.size());
  const auto key = ParseKey(name);
  if (!key || std::ranges::any_of(*key, [](int32_t at) { return at < 0; })) {
    return std::nullopt;
  }
  return key;
}

// The number of a scale that is the whole of what is asked for.
Result<size_t> NumberOfFolder(const Location& folder) {
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  return ParseScaleName(BaseName(path ? *path : folder.path)).value_or(0);
}

// The names of shards directly in a folder, and of folders `s<n>`.
struct Listing {
  std::vector<std::string> shards;
  std::vector<size_t> scales;
};

Result<Listing> ListFolder(const Location& folder) {
  Listing listing;
  DOLIUM_TRY_VOID(
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (!is_folder && name.ends_with(kExtension)) {
          listing.shards.push_back(JoinPath(folder.path, name));
        }
        const auto scale = is_folder ? ParseScaleName(name) : std::nullopt;
        if (scale) listing.scales.push_back(*scale);
        return true;
      }));
  std::ranges::sort(listing.shards);
  std::ranges::sort(listing.scales);
  return listing;
}

// Whether a location is an object. Of a remote one the name says it: a server may answer
// for folders, and a request saved is a request.
Result<bool> IsShard(const Location& location) {
  DOLIUM_TRY(const auto path, location.store->LocalPath(location.path));
  const auto listed =
      location.store->List(location.path, [](auto, bool) { return false; });
  const bool can_list = listed || listed.error().code != ErrorCode::kUnsupported;
  if (!path && !can_list) return location.path.ends_with(kExtension);
  DOLIUM_TRY(const auto object, location.store->Stat(location.path));
  return object.has_value();
}

// The scales that the spec of an export lists and that have a shard, by asking for each
// that there can be. `unlisted` says why.
Result<std::vector<ScaleFolder>> ListBySpec(const Location& location,
                                            const Error& unlisted) {
  const Location spec = location.Child(kSpecName);
  const auto text = spec.store->ReadWhole(spec.path, kMaxSpecBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return unlisted;
  if (!text) return text.error();
  DOLIUM_TRY(const auto names,
             ParseSpecNames(AsText(text->bytes)).Within(spec.Describe()));
  std::vector<ScaleFolder> scales;
  for (size_t n = 0; n < names.size() && n <= kMaxScale; ++n) {
    const std::string name = fmt::format("s{}", n);
    const Location folder = location.Child(name);
    DOLIUM_TRY(const auto corners, names[n].Corners().Within(folder.Describe()));
    std::vector<std::string> objects(corners.size());
    DOLIUM_TRY_VOID(ParallelFor(corners.size(), kProbes, [&](size_t i) -> Result<void> {
      const Location shard = folder.Child(ToString(corners[i]) + std::string(kExtension));
      DOLIUM_TRY(const auto there, shard.store->Stat(shard.path));
      if (there) objects[i] = shard.path;
      return {};
    }));
    std::erase(objects, "");
    std::ranges::sort(objects);
    if (!objects.empty()) scales.push_back({n, folder, name + '/', std::move(objects)});
  }
  return scales;
}

}  // namespace

Result<std::shared_ptr<const ExportScale>> ExportScale::Open(
    const Location& location, const ShardOptions& options, uint64_t index_bytes,
    const std::optional<Key>& volume_end,
    std::optional<std::vector<std::string>> objects) {
  std::shared_ptr<ExportScale> scale(
      new ExportScale(location, options, index_bytes, volume_end));
  DOLIUM_TRY(const bool is_shard, IsShard(location));
  if (is_shard) {
    scale->objects_ = {location.path};
  } else if (objects) {
    scale->objects_ = *std::move(objects);
  } else {
    DOLIUM_TRY(Listing listing, ListFolder(location));
    scale->objects_ = std::move(listing.shards);
    if (scale->objects_.empty()) {
      return NotFound(
          fmt::format("{}: no file *{} in it", location.Describe(), kExtension));
    }
  }
  scale->LoadNames();
  return std::shared_ptr<const ExportScale>(std::move(scale));
}

void ExportScale::LoadNames() {
  int64_t side = 0;
  for (size_t i = 0; i < objects_.size(); ++i) {
    const auto corner =
        objects_[i].ends_with(kExtension) ? CornerOf(objects_[i]) : std::nullopt;
    if (!corner) {
      corners_.clear();
      return;
    }
    corners_[*corner] = i;
    for (const int32_t at : *corner) side = std::gcd(side, int64_t{at});
  }
  // Files that are not there make it a multiple of the true side, which does no harm.
  if (side % kBlockSide == 0) side_ = side;
  if (!side_) corners_.clear();
}

std::optional<Key> ExportScale::CornerFor(const Key& block) const {
  Key corner = {0, 0, 0};
  if (*side_ == 0) return corner;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t at = int64_t{block[d]} * kBlockSide / *side_ * *side_;
    if (block[d] < 0 || at > INT32_MAX) return std::nullopt;
    corner[d] = static_cast<int32_t>(at);
  }
  return corner;
}

const std::string* ExportScale::ObjectOf(const Key& block) const {
  const auto corner = CornerFor(block);
  if (!corner) return nullptr;
  const auto found = corners_.find(*corner);
  return found == corners_.end() ? nullptr : &objects_[found->second];
}

bool ExportScale::IsInVolume(const Key& block) const {
  if (!volume_end_) return true;
  for (size_t d = 0; d < 3; ++d) {
    if (block[d] < 0 || block[d] >= (*volume_end_)[d]) return false;
  }
  return true;
}

ExportScale::Misplaced ExportScale::MisplacedIn(const Shard& shard) const {
  Misplaced out;
  out.of = shard.size();
  if (!side_) return out;
  const auto own = CornerOf(shard.location().path);
  for (size_t i = 0; i < shard.size(); ++i) {
    const Key block = shard.BlockOf(i);
    if (CornerFor(block) == own || !IsInVolume(block)) continue;
    if (out.count++ == 0) out.first = shard.key(i);
  }
  return out;
}

std::string ExportScale::Misplaced::Explain() const {
  return fmt::format(
      "{} of {} blocks do not belong into a file of this name, {} for one: it was "
      "renamed, "
      "or shards of two sizes are in one folder",
      count, of, ToString(first));
}

Result<std::map<Key, size_t>> ExportScale::FindOrphans() const {
  std::map<Key, size_t> orphans;
  for (size_t object = 0; object < objects_.size(); ++object) {
    DOLIUM_TRY(const auto shard, OpenShard(objects_[object]));
    const auto own = CornerOf(objects_[object]);
    for (size_t i = 0; i < shard->size(); ++i) {
      const Key block = shard->BlockOf(i);
      if (CornerFor(block) != own && IsInVolume(block)) orphans[block] = object;
    }
  }
  return orphans;
}

Result<std::shared_ptr<const Shard>> ExportScale::OpenShard(
    const std::string& object) const {
  if (auto known = open_.Get(object)) return known;
  DOLIUM_TRY(auto shard, Shard::Open({location_.store, object}, options_, batches_));
  if (volume_end_ && !options_.salvage) {
    if (const Misplaced misplaced = MisplacedIn(*shard); misplaced.count > 0) {
      return Corrupt(fmt::format("{}: {}; salvaging takes them from where they are",
                                 shard->Describe(), misplaced.Explain()))
          .WithKind("misplaced")
          .WithHint(Hint::kSalvage);
    }
  }
  open_.Put(object, shard, shard->index_bytes());
  return shard;
}

Result<std::optional<ExportScale::Found>> ExportScale::FindBlock(const Key& block) const {
  const auto look = [&](const std::string& object) -> Result<std::optional<Found>> {
    DOLIUM_TRY(auto shard, OpenShard(object));
    const auto number = shard->FindBlock(block);
    if (!number) return std::nullopt;
    return Found{std::move(shard), *number};
  };
  if (side_) {
    if (const std::string* object = ObjectOf(block)) {
      DOLIUM_TRY(auto found, look(*object));
      if (found) return found;
    }
    if (!options_.salvage) return std::nullopt;
    DOLIUM_TRY(const auto* orphans, orphans_.Get([&] { return FindOrphans(); }));
    const auto orphan = orphans->find(block);
    if (orphan == orphans->end()) return std::nullopt;
    return look(objects_[orphan->second]);
  }
  for (const std::string& object : objects_) {
    DOLIUM_TRY(auto found, look(object));
    if (found) return found;
  }
  return std::nullopt;
}

Result<std::optional<ExportScale::Found>> ExportScale::FindKey(const Key& key) const {
  const auto look = [&](const Key& block) -> Result<std::optional<Found>> {
    DOLIUM_TRY(auto found, FindBlock(block));
    if (!found || found->shard->key(found->number) != key) return std::nullopt;
    return found;
  };
  DOLIUM_TRY(auto found, look(key));
  if (found) return found;
  Key block = key;
  for (int32_t& at : block) {
    if (at % kBlockSide != 0) return std::nullopt;
    at /= kBlockSide;
  }
  return look(block);
}

bool ExportScale::BlockBox::Contains(const Key& block) const {
  for (size_t d = 0; d < 3; ++d) {
    if (block[d] < begin[d] || block[d] >= end[d]) return false;
  }
  return true;
}

Result<void> ExportScale::VisitOccupied(
    const std::function<Result<void>(const BlockBox&)>& visit) const {
  const bool by_name = side_ && *side_ > 0 && *side_ <= kMaxFullSide && !options_.salvage;
  if (by_name) {
    const auto side = static_cast<int32_t>(*side_ / kBlockSide);
    for (const auto& [corner, object] : corners_) {
      BlockBox box;
      for (size_t d = 0; d < 3; ++d) {
        box.begin[d] = corner[d] / kBlockSide;
        box.end[d] = box.begin[d] + side;
      }
      DOLIUM_TRY_VOID(visit(box));
    }
    return {};
  }
  for (const std::string& object : objects_) {
    DOLIUM_TRY(const auto shard, OpenShard(object));
    for (size_t i = 0; i < shard->size(); ++i) {
      const Key block = shard->BlockOf(i);
      if (!IsInVolume(block) || std::ranges::count(block, INT32_MAX) > 0) continue;
      DOLIUM_TRY_VOID(visit({block, {block[0] + 1, block[1] + 1, block[2] + 1}}));
    }
  }
  return {};
}

std::vector<size_t> ExportScale::ObjectsTouching(const BlockBox& box) const {
  std::vector<size_t> found;
  if (!side_) {
    found.resize(objects_.size());
    std::iota(found.begin(), found.end(), size_t{0});
    return found;
  }
  const int64_t side = *side_ == 0 ? INT64_MAX : *side_ / kBlockSide;
  for (const auto& [corner, object] : corners_) {
    bool touches = true;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t begin = corner[d] / kBlockSide;
      touches = touches && begin < box.end[d] &&
                (side == INT64_MAX || begin + side > box.begin[d]);
    }
    if (touches) found.push_back(object);
  }
  return found;
}

Result<std::vector<Key>> ExportScale::BlocksWithin(const BlockBox& box) const {
  std::vector<Key> blocks;
  for (const size_t object : ObjectsTouching(box)) {
    DOLIUM_TRY(const auto shard, OpenShard(objects_[object]));
    for (size_t i = 0; i < shard->size(); ++i) {
      const Key block = shard->BlockOf(i);
      if (box.Contains(block)) blocks.push_back(block);
    }
  }
  if (side_ && options_.salvage) {
    DOLIUM_TRY(const auto* orphans, orphans_.Get([&] { return FindOrphans(); }));
    for (const auto& [block, object] : *orphans) {
      if (box.Contains(block)) blocks.push_back(block);
    }
  }
  std::ranges::sort(blocks);
  const auto repeated = std::ranges::unique(blocks);
  blocks.erase(repeated.begin(), repeated.end());
  return blocks;
}

Result<Key> ExportScale::BlockEnd() const {
  // Shards at the end along an axis.
  std::vector<size_t> outer;
  if (side_ && !options_.salvage) {
    Key last = {0, 0, 0};
    for (const auto& [corner, object] : corners_) {
      for (size_t d = 0; d < 3; ++d) last[d] = std::max(last[d], corner[d]);
    }
    for (const auto& [corner, object] : corners_) {
      const bool at_end =
          corner[0] == last[0] || corner[1] == last[1] || corner[2] == last[2];
      if (at_end) outer.push_back(object);
    }
  } else {
    outer.resize(objects_.size());
    std::iota(outer.begin(), outer.end(), size_t{0});
  }
  Key end = {0, 0, 0};
  for (const size_t object : outer) {
    DOLIUM_TRY(const auto shard, OpenShard(objects_[object]));
    for (size_t i = 0; i < shard->size(); ++i) {
      const Key block = shard->BlockOf(i);
      for (size_t d = 0; d < 3; ++d) {
        if (block[d] >= end[d] && block[d] < INT32_MAX) end[d] = block[d] + 1;
      }
    }
  }
  return end;
}

std::optional<size_t> ParseScaleName(std::string_view name) {
  if (!name.starts_with('s')) return std::nullopt;
  size_t scale = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + 1, end, scale);
  if (error != std::errc() || at != end || scale > kMaxScale) return std::nullopt;
  if (fmt::format("s{}", scale) != name) return std::nullopt;
  return scale;
}

Location ExportFolder(const Location& location) {
  return BaseName(location.path) == kSpecName ? location.Parent() : location;
}

Result<std::vector<ScaleFolder>> ListScales(const Location& named) {
  const Location location = ExportFolder(named);
  DOLIUM_TRY(const bool is_shard, IsShard(location));
  if (is_shard) {
    DOLIUM_TRY(const size_t number, NumberOfFolder(location.Parent()));
    return std::vector<ScaleFolder>{{number, location, ""}};
  }
  const auto listing = ListFolder(location);
  if (!listing && listing.error().code == ErrorCode::kUnsupported) {
    return ListBySpec(location, listing.error());
  }
  if (!listing) return listing.error();
  if (!listing->shards.empty()) {
    DOLIUM_TRY(const size_t number, NumberOfFolder(location));
    return std::vector<ScaleFolder>{{number, location, ""}};
  }
  std::vector<ScaleFolder> scales;
  for (const size_t scale : listing->scales) {
    const std::string name = fmt::format("s{}", scale);
    DOLIUM_TRY(const Listing shards, ListFolder(location.Child(name)));
    if (shards.shards.empty()) continue;
    scales.push_back({scale, location.Child(name), name + '/'});
  }
  return scales;
}

}  // namespace dolium::dvid
