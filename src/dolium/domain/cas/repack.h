// Repack: copies what is needed of xorbs that are mostly garbage to new ones.
//
// First all terms that are needed are given, then chunks are copied as they are stored,
// beside everything else. When nobody can begin to rely on anything, those xorbs are kept
// that somebody relies on as they are; terms of the others are translated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/cas/xorb_cache.h"
#include "dolium/formats/xet/mdb_records.h"

namespace dolium::cas {

// One thread at a time.
class Repack {
 public:
  // `lease` keeps what is written.
  Repack(const CasStore& store, Lease& lease) : store_(store), lease_(lease) {}

  void Need(const xet::Term& term);

  struct Options {
    uint32_t percent = 0;  // xorbs of which less is needed, by stored bytes
    // Whether a xorb may be replaced.
    std::function<Result<bool>(const xet::Hash& xorb)> may_replace;
    bool dry_run = false;  // choose, but copy nothing
    std::stop_token stop;
  };
  // Xorbs that are damaged stay as they are, and so do all if there is no space.
  Result<void> Copy(const Options& options);

  // Keeps a xorb as it is.
  void Keep(const xet::Hash& xorb) { replaced_.erase(xorb); }
  void KeepAll() { replaced_.clear(); }
  // Whether a xorb will be gone: all its needed chunks are elsewhere.
  bool IsReplaced(const xet::Hash& xorb) const { return replaced_.contains(xorb); }
  // Whether the term can be translated. Precondition: its xorb is replaced.
  bool Covers(const xet::Term& term) const;
  // Puts terms of new xorbs in place of those of replaced ones; whether there were any.
  bool Translate(xet::FileInfo& file) const;

  size_t replaced() const { return replaced_.size(); }
  std::vector<xet::Hash> ReplacedXorbs() const;
  // The new xorbs, for a shard; and how many bytes they have.
  const std::vector<xet::XorbInfo>& made() const { return made_; }
  uint64_t made_bytes() const { return made_bytes_; }
  // Why all xorbs stay as they are, if something kept them from being copied.
  const std::optional<Error>& gave_up() const { return gave_up_; }

 private:
  struct ChunkLocation {
    uint32_t xorb = 0;  // number in made_
    uint32_t chunk = 0;
  };
  struct Replaced {
    std::vector<bool> needed;
    std::vector<xet::Hash> chunks;
    std::vector<uint32_t> raw_ends;
    std::vector<ChunkLocation> now;  // of chunks that are needed

    uint32_t raw_size(size_t i) const {
      return raw_ends[i] - (i == 0 ? 0 : raw_ends[i - 1]);
    }
  };
  class Writer;

  static uint64_t NeededBytes(const xet::XorbIndex& index,
                              const std::vector<bool>& needed);
  static Result<void> CopyXorb(const OpenedXorb& xorb, Replaced& replaced,
                               Writer& writer);
  Result<void> GiveUp(const Error& error);

  const CasStore& store_;
  Lease& lease_;
  std::vector<xet::Hash> order_;  // of needed_: neighbours stay neighbours
  std::unordered_map<xet::Hash, std::vector<bool>, xet::HashOfHash> needed_;
  std::unordered_map<xet::Hash, Replaced, xet::HashOfHash> replaced_;
  std::vector<xet::XorbInfo> made_;
  uint64_t made_bytes_ = 0;
  std::optional<Error> gave_up_;
};

}  // namespace dolium::cas
