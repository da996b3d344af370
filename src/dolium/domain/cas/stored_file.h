// StoredFile: a file of a store, read at any place.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/base/sha256.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/catalog.h"
#include "dolium/domain/cas/xorb_cache.h"

namespace dolium::cas {

// Every chunk that is read is hashed and compared, so that damage is an error and never
// wrong bytes. Errors name file, term, xorb and chunk. Const methods may be called from
// many threads. Whoever reads has a lease on the file.
class StoredFile {
 public:
  // `found` must be the file of this hash; nullopt is the empty file, which no shard
  // need know. kCorrupt if it has no terms and is not the empty file.
  static Result<std::shared_ptr<const StoredFile>> Open(
      const xet::Hash& hash, const std::optional<FoundFile>& found,
      std::shared_ptr<XorbCache> xorbs);

  const xet::Hash& hash() const { return hash_; }
  uint64_t size() const { return offsets_.back(); }
  const std::vector<xet::Term>& terms() const { return terms_; }
  // As the shard says, which nobody has checked.
  const std::optional<Sha256Value>& sha256() const { return sha256_; }

  // Fills `into` from `offset` on. Precondition: the range lies within the file.
  Result<void> Read(uint64_t offset, MutableBytes into) const;

  // kCorrupt unless the chunks of all terms give the file's hash. Reads the footers of
  // xorbs, no chunk.
  Result<void> CheckHash() const;

  // The SHA-256 of what is stored. Reads all of it.
  Result<Sha256Value> ComputeSha256(size_t jobs, const std::stop_token& stop) const;
  // kCorrupt if a shard says another. Reads all of it, if one says anything.
  Result<void> CheckSha256(size_t jobs, const std::stop_token& stop) const;

  // Reads all of it in order, `jobs` threads ahead of `take`, which gets segments of some
  // MiB.
  Result<void> ReadAll(size_t jobs, const std::stop_token& stop,
                       const std::function<Result<void>(BytesView)>& take) const;

 private:
  StoredFile(const xet::Hash& hash, std::shared_ptr<XorbCache> xorbs)
      : hash_(hash), xorbs_(std::move(xorbs)) {}
  std::string Describe(size_t term) const;
  // The xorb of a term, after a check that the term fits it.
  Result<std::shared_ptr<const OpenedXorb>> XorbOf(size_t term) const;
  Result<void> ReadTerm(size_t term, uint64_t offset, MutableBytes into) const;

  const xet::Hash hash_;
  const std::shared_ptr<XorbCache> xorbs_;
  std::vector<xet::Term> terms_;
  std::vector<xet::Hash> verification_;  // of each term, or none
  std::optional<Sha256Value> sha256_;
  std::vector<uint64_t> offsets_;  // of each term in the file, and the size
  std::unique_ptr<std::atomic<bool>[]> checked_;
};

// Whether an error of reading says something about what is stored, and not about the way
// there.
inline bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported ||
         error.code == ErrorCode::kNotFound;
}

}  // namespace dolium::cas
