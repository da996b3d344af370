#include "dolium/domain/cas/version_files.h"

#include "dolium/domain/cas/manifest.h"

namespace dolium::cas {

Result<std::set<xet::Hash>> FilesOf(const CasStore& store, const Version& version,
                                    Lease& lease) {
  std::set<xet::Hash> files;
  if (version.kind == VersionKind::kFile) {
    DOLIUM_TRY([[maybe_unused]] const auto noted, store.OpenFile(version.hash, lease));
    files.insert(version.hash);
    return files;
  }
  DOLIUM_TRY_VOID(store.VisitManifest(version, lease,
                                      [&](const ManifestEntry& entry) -> Result<void> {
                                        if (entry.type == EntryType::kFile)
                                          files.insert(entry.hash);
                                        return {};
                                      }));
  return files;
}

}  // namespace dolium::cas
