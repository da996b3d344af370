#include "dolium/domain/cas/catalog.h"

#include <ctime>

#include <fmt/format.h>

#include "dolium/bytes/folder_swap.h"
#include "dolium/domain/cas/files.h"
#include "dolium/formats/xet/mdb_lookup.h"

namespace dolium::cas {
namespace {

Result<std::shared_ptr<const MappedShard>> OpenShard(const Layout& layout,
                                                     const xet::Hash& name) {
  const std::string path = layout.shard(name);
  auto bytes = MapFile(path);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kNotFound) {
      return std::shared_ptr<const MappedShard>();
    }
    return std::move(bytes).error();
  }
  DOLIUM_TRY(const auto view, xet::ShardView::Open(*bytes).Within(path));
  if (!view.key().is_zero()) return Corrupt(fmt::format("{}: is keyed", path));
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
  DOLIUM_TRY(const auto files, SortedFolder(layout_.shards()));
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

Result<void> Catalog::Refresh() {
  if (!index_) {
    DOLIUM_TRY(index_, Index::Open(layout_.index()));
  }
  DOLIUM_TRY(const auto names, ShardNames());
  DOLIUM_TRY(auto known, index_->Shards());
  for (const xet::Hash& name : names) {
    if (known.erase(name) > 0) continue;
    const auto shard = Shard(name);
    if (!shard) {
      // One bad shard must not keep all others from use; verify tells of it.
      if (shard.error().code == ErrorCode::kCorrupt) continue;
      return shard.error();
    }
    if (!*shard || (*shard)->view.IsExpired(static_cast<uint64_t>(time(nullptr)))) {
      continue;
    }
    const auto added = index_->Add(name, (*shard)->view);
    if (!added && added.error().code != ErrorCode::kCorrupt) return added.error();
  }
  for (const auto& [name, number] : known) {
    DOLIUM_TRY_VOID(index_->Remove(name, nullptr));
  }
  return {};
}

Result<std::optional<FoundFile>> Catalog::FindIn(const xet::Hash& shard_name,
                                                 const xet::Hash& hash) {
  DOLIUM_TRY(auto shard, Shard(shard_name));
  if (!shard) return std::nullopt;
  DOLIUM_TRY(const auto block,
             xet::FindFile(shard->view, hash).Within(layout_.shard(shard_name)));
  if (!block) return std::nullopt;
  return FoundFile{std::move(shard), *block};
}

Result<std::optional<FoundFile>> Catalog::FindFile(const xet::Hash& hash) {
  if (index_) {
    std::optional<xet::Hash> name;
    if (const auto view = index_->Look()) {
      if (const auto row = view->FindFile(hash)) name = view->ShardName(row->shard);
    }
    if (name) {
      // A shard that is unlinked stays mapped: its files may be in another one by now.
      DOLIUM_TRY(const auto status, StatusOf(layout_.shard(*name)));
      if (status) {
        auto found = FindIn(*name, hash);
        if (found && *found) return found;
      }
    }
  }
  DOLIUM_TRY(const auto names, ShardNames());
  std::optional<Error> damage;
  for (const xet::Hash& name : names) {
    auto found = FindIn(name, hash);
    if (!found) {
      damage = std::move(found).error();
    } else if (*found) {
      return found;
    }
  }
  if (damage) return *std::move(damage);
  return std::nullopt;
}

std::optional<FoundChunk> Catalog::FindChunk(const xet::Hash& hash) {
  if (!index_) return std::nullopt;
  std::optional<ChunkRow> row;
  std::optional<xet::Hash> name;
  {
    const auto view = index_->Look();
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
  if (!shard || !*shard) return std::nullopt;
  const auto xorb =
      xet::BlockAt<xet::XorbBlock>((*shard)->view.xorb_section(), row->xorb);
  if (!xorb || row->chunk >= xorb->size() || xorb->chunk_hash(row->chunk) != hash) {
    return std::nullopt;
  }
  return FoundChunk{xorb->hash(), row->chunk};
}

Result<size_t> MakeIndexAnew(const Layout& layout, std::string_view lease) {
  const std::string fresh = fmt::format("{}/{}.index", layout.temporaries(), lease);
  // Not Open(): an index that is damaged must not be looked at.
  Catalog catalog(layout);
  size_t count = 0;
  {
    DOLIUM_TRY(const auto index, Index::Open(fresh));
    DOLIUM_TRY(const auto names, catalog.ShardNames());
    for (const xet::Hash& name : names) {
      const auto shard = catalog.Shard(name);
      if (!shard && shard.error().code != ErrorCode::kCorrupt) return shard.error();
      if (!shard || !*shard) continue;
      const auto added = index->Add(name, (*shard)->view);
      if (!added && added.error().code != ErrorCode::kCorrupt) return added.error();
      if (added) ++count;
    }
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
