// Marking: what of a store is needed, from versions to files to xorbs.
//
// Files are those of versions and of the leases of living processes. The xorbs of a file
// are those that any shard says it has: two writers may have stored one file in two ways.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

using HashSet = std::unordered_set<xet::Hash, xet::HashOfHash>;

// What was marked stays marked; each method may be called again for what came meanwhile.
// Whatever cannot be read is an error: what it needs is not known. One thread at a time.
class Marking {
 public:
  Marking(const CasStore& store, std::stop_token stop, ProgressFunction progress)
      : store_(store),
        layout_(store.layout()),
        objects_(layout_.objects()),
        stop_(std::move(stop)),
        progress_(std::move(progress)) {}

  Result<void> MarkVersions();
  Result<void> MarkPins(const LivePins& pins);
  // Marks the xorbs of files that are marked. A shard is read again only if more files
  // are needed than when it was read last.
  Result<void> MarkXorbs();
  // Shards and xorbs may be gone since they were seen; precondition: they stay now.
  Result<void> ForgetWhatIsGone();
  // That all files of versions can be read.
  Result<void> CheckFiles();
  // One that cannot, as far as is known.
  std::optional<xet::Hash> FirstIncomplete() const;

  bool IsMarked(const xet::Hash& file) const {
    return files_.contains(file) || pinned_files_.contains(file);
  }
  // By a lease.
  bool IsPinned(const xet::Hash& file) const { return pinned_files_.contains(file); }
  // Whether a marked file can be read by some shard.
  bool HasComplete(const xet::Hash& file) const { return complete_.contains(file); }
  // Whether all xorbs of a file can be read.
  Result<bool> IsComplete(const xet::FileBlock& file);
  // Whether a xorb is there; and whether its footer can be read, too.
  Result<bool> IsThere(const xet::Hash& xorb);
  Result<bool> IsReadable(const xet::Hash& xorb);

  // Xorbs that are needed.
  HashSet& xorbs() { return xorbs_; }

  std::string DescribeShard(const xet::Hash& name) const;

 private:
  Result<void> MarkTree(const xet::Hash& hash, HashSet& trees, HashSet& files);
  Result<bool> HasLostVersions() const;
  Result<void> CheckBytes(const MappedShard& shard);
  Result<void> MarkXorbsOf(const MappedShard& shard);

  const CasStore& store_;
  const Layout& layout_;
  const Objects& objects_;
  const std::stop_token stop_;
  const ProgressFunction progress_;
  std::set<std::string> versions_;
  HashSet trees_;         // of versions
  HashSet pinned_trees_;  // of leases
  HashSet files_;         // of versions
  HashSet pinned_files_;  // of leases
  HashSet complete_;      // of both, those that can be read by a shard
  HashSet xorbs_;         // that are needed
  HashSet checked_;       // shards that have the bytes they are named after
  // Shards that were read, with the number of files that were needed then.
  std::unordered_map<xet::Hash, size_t, xet::HashOfHash> scanned_;
  std::unordered_map<xet::Hash, bool, xet::HashOfHash> there_;  // xorbs
  HashSet readable_;                                            // of them
};

}  // namespace dolium::cas
