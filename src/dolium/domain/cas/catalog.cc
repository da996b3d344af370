#include "dolium/domain/cas/catalog.h"

#include <ctime>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/formats/xet/mdb_lookup.h"

namespace dolium::cas {
namespace {

// How often shards may be replaced while one looks for a file.
constexpr int kReadAttempts = 5;

uint64_t Now() { return static_cast<uint64_t>(time(nullptr)); }

Result<std::shared_ptr<const MappedShard>> OpenShard(const Layout& layout,
                                                     const xet::Hash& name) {
  const std::string object = layout.shard(name);
  auto bytes = layout.objects().Load(object);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kNotFound) {
      return std::shared_ptr<const MappedShard>();
    }
    return std::move(bytes).error();
  }
  const std::string described = layout.objects().Describe(object);
  DOLIUM_TRY(const auto view, xet::ShardView::Open(*bytes).Within(described));
  if (!view.key().is_zero()) return Corrupt(fmt::format("{}: is keyed", described));
  return std::make_shared<const MappedShard>(MappedShard{name, *std::move(bytes), view});
}

}  // namespace

Result<std::shared_ptr<Catalog>> Catalog::Open(const Layout& layout) {
  std::shared_ptr<Catalog> catalog(new Catalog(layout));
  // A store that may only be read, or an index that is damaged, does not keep anybody
  // from reading files.
  if (auto index = Index::Open(layout.index())) catalog->index_ = *std::move(index);
  return catalog;
}

Result<std::vector<xet::Hash>> Catalog::ShardNames() const {
  std::vector<xet::Hash> names;
  DOLIUM_TRY(const auto files, layout_.objects().List(layout_.shards()));
  for (const std::string& file : files) {
    if (const auto hash = HashOfFileName(file, ".mdb")) names.push_back(*hash);
  }
  return names;
}

Result<std::shared_ptr<const MappedShard>> Catalog::Shard(const xet::Hash& name) {
  {
    const std::lock_guard hold(mutex_);
    const auto found = opened_.find(name);
    if (found != opened_.end()) return found->second;
  }
  DOLIUM_TRY(auto shard, OpenShard(layout_, name));
  if (shard) {
    const std::lock_guard hold(mutex_);
    opened_[name] = shard;
  }
  return shard;
}

void Catalog::Forget(const xet::Hash& name) {
  const std::lock_guard hold(mutex_);
  opened_.erase(name);
}

bool IsDamagedShard(const Error& error) {
  return (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported) &&
         error.kind != kDamagedIndex;
}

std::shared_ptr<Index> Catalog::index() const {
  const std::lock_guard hold(mutex_);
  return index_;
}

void Catalog::SetIndex(std::shared_ptr<Index> index) {
  const std::lock_guard hold(mutex_);
  if (index_ == index) return;
  index_ = std::move(index);
  numbers_.clear();  // Another index numbers shards in another way.
}

Result<size_t> Catalog::AddShards(Index& index, std::map<xet::Hash, uint32_t>& known) {
  size_t count = 0;
  DOLIUM_TRY(const auto names, ShardNames());
  // The oldest first: what was damaged and stored again is found where it was stored
  // last.
  std::multimap<int64_t, xet::Hash> missing;
  for (const xet::Hash& name : names) {
    if (known.erase(name) > 0) {
      ++count;
      continue;
    }
    DOLIUM_TRY(const auto info, layout_.objects().Stat(layout_.shard(name)));
    if (info) missing.emplace(info->modified.value_or(0), name);
  }
  for (const auto& [modified, name] : missing) {
    const auto shard = Shard(name);
    if (!shard && !IsDamagedShard(shard.error())) return shard.error();
    if (!shard || !*shard || (*shard)->view.IsExpired(Now())) continue;
    const auto added = index.Add(name, (*shard)->view)
                           .Within(layout_.objects().Describe(layout_.shard(name)));
    if (!added && !IsDamagedShard(added.error())) return added.error();
    if (added) ++count;
  }
  return count;
}

Result<void> Catalog::Sync(Index& index) {
  DOLIUM_TRY(auto known, index.Shards());
  DOLIUM_TRY([[maybe_unused]] const size_t count, AddShards(index, known));
  for (const auto& [name, number] : known) {
    DOLIUM_TRY_VOID(index.Remove(name, nullptr));
  }
  return {};
}

Result<void> Catalog::Refresh(std::string_view lease) {
  auto there = index();
  if (!there) {
    auto opened = Index::Open(layout_.index());
    if (!opened && opened.error().kind != kDamagedIndex) return opened.error();
    if (opened) there = *std::move(opened);
  }
  if (there) {
    auto brought = Sync(*there);
    if (brought) SetIndex(std::move(there));
    if (brought || brought.error().kind != kDamagedIndex) return brought;
  }
  SetIndex(nullptr);
  there.reset();
  DOLIUM_TRY([[maybe_unused]] const size_t count, RebuildIndex(layout_, lease));
  DOLIUM_TRY(there, Index::Open(layout_.index()));
  SetIndex(std::move(there));
  return {};
}

Result<std::optional<FoundFile>> Catalog::FindIn(std::shared_ptr<const MappedShard> shard,
                                                 const xet::Hash& hash) const {
  const auto block = xet::FindFile(shard->view, hash);
  if (!block) {
    return block.error().Within(layout_.objects().Describe(layout_.shard(shard->name)));
  }
  if (!*block) return std::nullopt;
  return FoundFile{std::move(shard), **block};
}

Result<std::optional<FoundFile>> Catalog::FindFile(const xet::Hash& hash,
                                                   const Accept& accept) {
  std::optional<xet::Hash> likely;
  if (const auto there = index()) {
    if (const auto view = there->Snapshot()) {
      if (const auto row = view->FindFile(hash)) likely = view->ShardName(row->shard);
    }
  }
  if (likely) {
    // A shard that is unlinked stays mapped: its files may be in another one by now.
    DOLIUM_TRY(const bool is_there, layout_.objects().IsThere(layout_.shard(*likely)));
    const auto shard = Shard(*likely);
    if (is_there && shard && *shard) {
      auto found = FindIn(*shard, hash);
      if (found && *found && (!accept || accept(**found))) return found;
      if (!found) likely.reset();  // To be reported if no other shard has the file.
    } else {
      likely.reset();
    }
  }
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    DOLIUM_TRY(const auto names, ShardNames());
    std::optional<Error> damage;
    bool has_changed = false;
    for (const xet::Hash& name : names) {
      if (likely && name == *likely) continue;
      const auto shard = Shard(name);
      if (shard && !*shard) {
        has_changed = true;  // Replaced meanwhile by one that the list lacks.
        continue;
      }
      auto found =
          shard ? FindIn(*shard, hash) : Result<std::optional<FoundFile>>(shard.error());
      if (!found) {
        damage = std::move(found).error();
      } else if (*found && (!accept || accept(**found))) {
        return found;
      }
    }
    if (has_changed) continue;
    if (damage) return *std::move(damage);
    break;
  }
  return std::nullopt;
}

std::optional<FoundChunk> Catalog::FindChunk(const xet::Hash& hash) {
  const auto there = index();
  if (!there) return std::nullopt;
  std::optional<ChunkRow> row;
  std::optional<xet::Hash> name;
  {
    const auto view = there->Snapshot();
    if (!view) return std::nullopt;
    row = view->FindChunk(hash);
    if (!row) return std::nullopt;
    const std::lock_guard hold(mutex_);
    const auto known = numbers_.find(row->shard);
    name = known != numbers_.end() ? known->second : view->ShardName(row->shard);
    if (name) numbers_[row->shard] = *name;
  }
  if (!name) return std::nullopt;
  const auto shard = Shard(*name);
  if (!shard || !*shard || (*shard)->view.IsExpired(Now())) return std::nullopt;
  const auto xorb =
      xet::BlockAt<xet::XorbBlock>((*shard)->view.xorb_section(), row->xorb);
  if (!xorb || row->chunk >= xorb->size() || xorb->chunk_hash(row->chunk) != hash) {
    return std::nullopt;
  }
  return FoundChunk{xorb->hash(), row->chunk};
}

Result<size_t> RebuildIndex(const Layout& layout, std::string_view lease) {
  const std::string fresh = fmt::format("{}/{}.index", layout.temporaries(), lease);
  // Not Open(): an index that is damaged must not be looked at.
  Catalog catalog(layout);
  size_t count = 0;
  {
    DOLIUM_TRY(const auto index, Index::Open(fresh));
    std::map<xet::Hash, uint32_t> none;
    DOLIUM_TRY(count, catalog.AddShards(*index, none));
  }
  DOLIUM_TRY(const bool is_there, FolderExists(layout.index()));
  if (is_there) {
    DOLIUM_TRY_VOID(ExchangeFolders(fresh, layout.index()));
    DOLIUM_TRY_VOID(RemoveFolder(fresh));
    return count;
  }
  DOLIUM_TRY_VOID(RenameFolder(fresh, layout.index()));
  return count;
}

}  // namespace dolium::cas
