// CasStore: a folder that keeps each chunk of the files put into it once.
//
// Several processes may use one at the same time. See layout.h for what is in it, and
// put.h, restore.h, collect.h, check.h and statistics.h for what can be done with it.
//
// Its objects may be in any Store. Then processes that share the local folder are as safe
// from each other as those of a local store. Others may put and read beside them; but gc
// does not know what they need, so that only the grace period keeps what they rely on.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "dolium/base/result.h"
#include "dolium/domain/cas/catalog.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/domain/cas/lease.h"
#include "dolium/domain/cas/manifest.h"
#include "dolium/domain/cas/stored_file.h"
#include "dolium/domain/cas/version.h"
#include "dolium/domain/cas/xorb_cache.h"

namespace dolium::cas {

// Methods may be called from many threads.
class CasStore {
 public:
  // kNotFound if there is none at `path`.
  static Result<std::shared_ptr<CasStore>> Open(const std::string& path);
  // With objects that are not local files. What is local is made unless it is there.
  static Result<std::shared_ptr<CasStore>> Open(const Layout& layout);

  const Layout& layout() const { return catalog_->layout(); }
  const std::shared_ptr<Catalog>& catalog() const { return catalog_; }
  const std::shared_ptr<XorbCache>& xorbs() const { return xorbs_; }

  Result<std::unique_ptr<Lease>> TakeLease(std::stop_token stop = {}) const {
    return Lease::Take(layout(), std::move(stop));
  }

  // Opens a file and notes in the lease that it is needed: with kFile it alone, with
  // kTree also what it lists as a manifest. kNotFound if there is no such file. If
  // several shards list it, by one whose xorbs are whole as far as footers say.
  Result<std::shared_ptr<const StoredFile>> OpenFile(const xet::Hash& hash, Lease& lease,
                                                     Pin pin = Pin::kFile) const;
  // The same for a file that a lease covers already.
  Result<std::shared_ptr<const StoredFile>> OpenCovered(const xet::Hash& hash) const;

  // What a reference stands for: a version, or a file by its hash.
  Result<Version> Find(const Reference& reference) const;

  // What has the path in a version, with the kind, hash, mode, time and size of that; the
  // version itself for an empty path. kNotFound if nothing has it.
  Result<Version> FindPart(const Version& version, const std::string& path,
                           Lease& lease) const;

  // Visits what a folder had in it, in order. Precondition: the version is no file, which
  // is the one entry that FileEntryOf() gives.
  Result<void> VisitManifest(const Version& version, Lease& lease,
                             const ManifestReader::Visitor& visit) const;

 private:
  Result<std::shared_ptr<const StoredFile>> OpenBest(const xet::Hash& hash,
                                                     const FoundFile& first) const;
  bool IsInPlace(const StoredFile& file) const;

  explicit CasStore(std::shared_ptr<Catalog> catalog);

  const std::shared_ptr<Catalog> catalog_;
  const std::shared_ptr<XorbCache> xorbs_;
};

// A version that is a file as an entry of its own name.
ManifestEntry FileEntryOf(const Version& version);

// Visits the entries of a manifest that is open.
Result<void> ReadManifest(const StoredFile& manifest, const std::stop_token& stop,
                          const ManifestReader::Visitor& visit);

}  // namespace dolium::cas
