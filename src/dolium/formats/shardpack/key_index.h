// KEYX: from a key to the numbers of the records that may have it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::shardpack {

// A hash and the record it belongs to.
struct KeyHash {
  uint64_t hash = 0;
  uint32_t record = 0;

  friend auto operator<=>(const KeyHash&, const KeyHash&) = default;
};

uint64_t HashKey(std::string_view key);

// The body of the section. `keys` in order of hash, then of record.
ByteVector WriteKeyIndex(std::span<const KeyHash> keys);

// Sums of KeyHashes that are equal, in whatever order, only for the same ones.
class KeyHashSum {
 public:
  void Add(KeyHash key);
  friend bool operator==(const KeyHashSum&, const KeyHashSum&) = default;

 private:
  uint64_t sum_ = 0;
};

// What a body that is there as a whole says: with the sum() of the records' keys, and
// is_sorted(), it is what WriteKeyIndex makes of them.
class KeyIndexCheck {
 public:
  // kCorrupt of kind kSection if it is not the index of `count` records.
  static Result<KeyIndexCheck> Make(const Bytes& body, uint64_t count);

  KeyHashSum sum() const { return sum_; }
  // Ascending by hash, then by record; and its reserved bytes are zero.
  bool is_sorted() const { return is_sorted_; }
  bool are_hashes_unique() const { return are_hashes_unique_; }

 private:
  KeyHashSum sum_;
  bool is_sorted_ = true;
  bool are_hashes_unique_ = true;
};

// Looks into a body, wherever it is. Hashes are spread evenly, so that a small window
// around the place where one should be nearly always holds it: a body that is remote
// costs one request, and one more if it is there.
class KeyIndex {
 public:
  // Reads bytes of the body: a slice of memory, or a request.
  using Read = std::function<Result<Bytes>(ByteRange)>;

  // kCorrupt of kind kSection if it is not the index of `count` records.
  static Result<KeyIndex> Open(uint64_t body_size, uint64_t count, Read read);
  static Result<KeyIndex> FromBody(Bytes body, uint64_t count);

  // Records whose keys have this hash, ascending. Whether the key is theirs is to be
  // seen.
  Result<std::vector<uint64_t>> Candidates(uint64_t hash) const;

 private:
  KeyIndex(uint64_t count, Read read) : count_(count), read_(std::move(read)) {}

  // A place in the list of hashes, and hashes around it that were read on the way.
  struct Position {
    uint64_t at = 0;
    uint64_t from = 0;  // of the window
    Bytes window;
  };
  // Of the first hash that is not below this one.
  Result<Position> FirstNotBelow(uint64_t hash) const;

  uint64_t count_;
  Read read_;
};

}  // namespace dolium::shardpack
