// Catalog: what is in a store, by the shards it has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/index.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/formats/xet/mdb_reader.h"

namespace dolium::cas {

// A shard in memory; in a memory map if it is local.
struct MappedShard {
  xet::Hash name;
  Bytes bytes;
  xet::ShardView view;
};

// A file as a shard describes it.
struct FoundFile {
  std::shared_ptr<const MappedShard> shard;
  xet::FileBlock block;
};

// A chunk of a xorb, as a shard describes it: whether the xorb is there is not said.
struct FoundChunk {
  xet::Hash xorb;
  uint32_t chunk = 0;
};

// Shards are opened when they are asked for, and kept. May be used from many threads.
class Catalog {
 public:
  // Opens the index as well, if it can be opened; without it, files are looked for in
  // all shards, and chunks are not found.
  static Result<std::shared_ptr<Catalog>> Open(const Layout& layout);

  const Layout& layout() const { return layout_; }
  // nullptr if there is none.
  std::shared_ptr<Index> index() const;

  // Brings the index to the state of the shards: adds those it lacks, removes those that
  // are gone. One that is damaged is rebuilt; `lease` is for its temporaries.
  Result<void> Refresh(std::string_view lease);

  // Several shards may list one file, and not all of them with xorbs that are whole:
  // gives the first that is accepted.
  using Accept = std::function<bool(const FoundFile&)>;
  Result<std::optional<FoundFile>> FindFile(const xet::Hash& hash,
                                            const Accept& accept = {});
  // Not by shards that have expired.
  std::optional<FoundChunk> FindChunk(const xet::Hash& hash);

  // Names of all shards that are there.
  Result<std::vector<xet::Hash>> ShardNames() const;
  // nullptr if it is gone. Errors name it; kCorrupt and kUnsupported: it is damaged.
  // Whether its bytes give its name is not looked at.
  Result<std::shared_ptr<const MappedShard>> Shard(const xet::Hash& name);

  // Forgets a shard that was removed.
  void Forget(const xet::Hash& name);

  // Adds the shards that `known` lacks to an index, takes those that are there out of
  // `known`, and gives the number that the index has then. Shards that are damaged or
  // have expired are passed over: one of them must not keep all others from use.
  Result<size_t> AddShards(Index& index, std::map<xet::Hash, uint32_t>& known);

  // Without an index.
  explicit Catalog(Layout layout) : layout_(std::move(layout)) {}

 private:
  Result<std::optional<FoundFile>> FindIn(std::shared_ptr<const MappedShard> shard,
                                          const xet::Hash& hash) const;
  Result<void> Sync(Index& index);
  void SetIndex(std::shared_ptr<Index> index);

  const Layout layout_;
  mutable std::mutex mutex_;
  std::shared_ptr<Index> index_;
  std::map<xet::Hash, std::shared_ptr<const MappedShard>> opened_;
  std::map<uint32_t, xet::Hash> numbers_;
};

// Whether an error is the damage of one shard, and not what keeps all of them from being
// read.
bool IsDamagedShard(const Error& error);

// Puts an index in place that is made from the shards alone, whatever is there. Gives
// the number of shards it has.
Result<size_t> RebuildIndex(const Layout& layout, std::string_view lease);

}  // namespace dolium::cas
