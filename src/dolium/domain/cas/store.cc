#include "dolium/domain/cas/store.h"

#include <fmt/format.h>

namespace dolium::cas {
namespace {

// How often a shard may be replaced while one looks for a file.
constexpr int kAttempts = 5;

}  // namespace

CasStore::CasStore(std::shared_ptr<Catalog> catalog)
    : catalog_(std::move(catalog)),
      xorbs_(std::make_shared<XorbCache>(catalog_->layout())) {}

Result<std::shared_ptr<CasStore>> CasStore::Open(const std::string& path) {
  DOLIUM_TRY(const Layout layout, OpenLayout(path));
  DOLIUM_TRY(auto catalog, Catalog::Open(layout));
  return std::shared_ptr<CasStore>(new CasStore(std::move(catalog)));
}

Result<std::shared_ptr<CasStore>> CasStore::Open(const Layout& layout) {
  DOLIUM_TRY_VOID(OpenLayout(layout));
  DOLIUM_TRY(auto catalog, Catalog::Open(layout));
  return std::shared_ptr<CasStore>(new CasStore(std::move(catalog)));
}

Result<std::shared_ptr<const StoredFile>> CasStore::OpenFile(const xet::Hash& hash,
                                                             Lease& lease,
                                                             Pin pin) const {
  if (hash.is_zero()) return OpenCovered(hash);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    DOLIUM_TRY(const auto found, catalog_->FindFile(hash));
    if (!found) break;
    {
      DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout(), lease.stop()));
      DOLIUM_TRY(const bool is_there,
                 layout().objects().IsThere(layout().shard(found->shard->name)));
      if (!is_there) {
        catalog_->Forget(found->shard->name);
        continue;
      }
      DOLIUM_TRY_VOID(lease.Note(pin, hash));
    }
    return OpenBest(hash, *found);
  }
  return NotFound(fmt::format("file {}: is not in the store", ToString(hash)));
}

Result<std::shared_ptr<const StoredFile>> CasStore::OpenCovered(
    const xet::Hash& hash) const {
  if (hash.is_zero()) return StoredFile::Open(hash, std::nullopt, xorbs_);
  DOLIUM_TRY(const auto found, catalog_->FindFile(hash));
  if (!found) return StoredFile::Open(hash, found, xorbs_);
  return OpenBest(hash, *found);
}

// Whether no xorb of it was quarantined.
bool CasStore::IsInPlace(const StoredFile& file) const {
  const xet::Hash* last = nullptr;
  for (const xet::Term& term : file.terms()) {
    if (last != nullptr && *last == term.xorb) continue;
    last = &term.xorb;
    const auto xorb = xorbs_->Get(term.xorb);
    if (!xorb || (*xorb)->is_quarantined) return false;
  }
  return true;
}

Result<std::shared_ptr<const StoredFile>> CasStore::OpenBest(
    const xet::Hash& hash, const FoundFile& first) const {
  auto file = StoredFile::Open(hash, first, xorbs_);
  bool is_whole = file && (*file)->CheckHash();
  if (is_whole && IsInPlace(**file)) return file;
  // Of what is left, the best; the first if all are bad, so that the error says what is.
  [[maybe_unused]] const auto other =
      catalog_->FindFile(hash, [&](const FoundFile& found) {
        if (found.shard->name == first.shard->name) return false;
        auto opened = StoredFile::Open(hash, found, xorbs_);
        if (!opened || !(*opened)->CheckHash()) return false;
        const bool is_in_place = IsInPlace(**opened);
        if (is_in_place || !is_whole) file = std::move(opened);
        is_whole = true;
        return is_in_place;
      });
  return file;
}

Result<Version> CasStore::Find(const Reference& reference) const {
  if (!reference.name.empty()) return FindVersion(layout(), reference);
  Version version;
  version.name = ToString(reference.hash);
  version.hash = reference.hash;
  version.mode = 0644;
  DOLIUM_TRY(const auto file, OpenCovered(reference.hash));
  version.totals.files = 1;
  version.totals.bytes = file->size();
  return version;
}

Result<Version> CasStore::FindPart(const Version& version, const std::string& path,
                                   Lease& lease) const {
  if (path.empty()) return version;
  std::optional<ManifestEntry> found;
  if (version.kind != VersionKind::kFile) {
    DOLIUM_TRY_VOID(
        VisitManifest(version, lease, [&](ManifestEntry entry) -> Result<void> {
          if (entry.path == path) found = std::move(entry);
          return {};
        }));
  }
  if (!found) {
    return NotFound(fmt::format("{}: {}: no such path", version.reference(), path));
  }
  Version part = version;
  part.mode = found->mode;
  part.modified = found->modified;
  if (found->type == EntryType::kFolder) return part;
  if (found->type == EntryType::kLink) {
    return Unsupported(
        fmt::format("{}: {}: is a link to {}", version.reference(), path, found->target));
  }
  part.kind = VersionKind::kFile;
  part.hash = found->hash;
  part.totals = {};
  part.totals.files = 1;
  part.totals.bytes = found->size;
  return part;
}

ManifestEntry EntryOfFile(const Version& version) {
  ManifestEntry entry;
  entry.path = version.name;
  entry.mode = version.mode;
  entry.modified = version.modified;
  entry.size = version.totals.bytes;
  entry.hash = version.hash;
  return entry;
}

Result<void> ReadManifest(const StoredFile& manifest, const std::stop_token& stop,
                          const ManifestReader::Visitor& visit) {
  ManifestReader reader(visit);
  DOLIUM_TRY_VOID(manifest.CheckHash());
  DOLIUM_TRY_VOID(manifest.ReadAll(
      1, stop, [&](BytesView segment) { return reader.Write(segment); }));
  return reader.Finish();
}

Result<void> CasStore::VisitManifest(const Version& version, Lease& lease,
                                     const ManifestReader::Visitor& visit) const {
  DOLIUM_TRY(const auto manifest,
             OpenFile(version.hash, lease, Pin::kTree).Within(version.reference()));
  return ReadManifest(*manifest, {}, visit).Within(version.reference());
}

}  // namespace dolium::cas
