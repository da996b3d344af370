// A cas store as a container: the files of all its versions, with keys `NAME@N/path`; the
// key of a version that is one file is `NAME@N`. Folders and links are no entries.
//
// Read-only. Takes a lease, so that what was found stays while the container does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dolium/base/lru_cache.h"
#include "dolium/container/container.h"
#include "dolium/domain/cas/store.h"
#include "dolium/formats/xet/xorb_folder.h"

namespace dolium {

class CasEntries final : public Container {
 public:
  static Result<std::shared_ptr<CasEntries>> Open(
      Location location, std::shared_ptr<const cas::CasStore> store,
      uint64_t cache_bytes);

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override;
  // Reads the manifest of the version, and keeps those that were used last.
  Result<std::optional<Entry>> Find(std::string_view key) const override;
  // The files that hold the versions.
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;

  // The key that a symbolic link in one of the versions would have; nullopt if there is
  // none.
  Result<std::optional<std::string>> FindLink() const;
  Result<Properties> Statistics(std::stop_token stop) const override;

  const cas::CasStore& versions() const { return *store_; }

 private:
  CasEntries(Location location, std::shared_ptr<const cas::CasStore> store,
             std::unique_ptr<cas::Lease> lease, uint64_t cache_bytes);

  // The files of a folder, by path.
  using Files = std::unordered_map<std::string, xet::Hash>;

  Result<std::shared_ptr<const Files>> FilesOf(const cas::Version& version) const;
  Result<cas::Version> VersionOf(std::string_view object) const;
  Result<Entry> EntryOfFile(std::string key, const xet::Hash& hash) const;

  const Location location_;
  const std::shared_ptr<const cas::CasStore> store_;
  const std::unique_ptr<cas::Lease> lease_;
  const xet::XorbFolder xorbs_;
  mutable LruCache<std::string, Files> files_;  // by reference; versions never change
};

}  // namespace dolium
