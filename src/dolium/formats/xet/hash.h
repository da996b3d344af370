// Hash: 32 bytes that name a chunk, xorb, file or shard, and the ways Xet makes them.
//
// All are BLAKE3 in keyed mode. The functions may be called from many threads.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"
#include "dolium/base/result.h"

namespace dolium::xet {

// A value. Different parts of it serve different ends: order, text and look-ups go by its
// four little-endian words, never by its bytes.
struct Hash {
  static constexpr size_t kSize = 32;

  std::array<std::byte, kSize> bytes{};

  // Precondition: kSize bytes are readable at `from`.
  static Hash Load(const std::byte* from) {
    Hash hash;
    std::memcpy(hash.bytes.data(), from, kSize);
    return hash;
  }
  // All bits set: the mark at the end of a section of a shard.
  static constexpr Hash Ones() {
    Hash hash;
    hash.bytes.fill(std::byte{0xFF});
    return hash;
  }

  BytesView view() const { return bytes; }
  uint64_t word(size_t index) const { return LoadLE<uint64_t>(bytes.data() + 8 * index); }
  // What look-up tables hold of it.
  uint64_t truncated() const { return word(0); }
  // The remainder that merkle groups (4) and global deduplication (1024) go by.
  uint64_t Mod(uint64_t divisor) const { return word(3) % divisor; }
  // "No hash": the name of the empty file, the absent key.
  bool is_zero() const { return *this == Hash(); }

  friend bool operator==(const Hash&, const Hash&) = default;
  friend std::strong_ordering operator<=>(const Hash& a, const Hash& b) {
    for (size_t i = 0; i < 3; ++i) {
      if (const auto order = a.word(i) <=> b.word(i); order != 0) return order;
    }
    return a.word(3) <=> b.word(3);
  }
};
static_assert(sizeof(Hash) == Hash::kSize);  // Arrays of hashes are hashed as they lie.

// For unordered containers: hashes are uniform already.
struct HashOfHash {
  size_t operator()(const Hash& hash) const {
    return static_cast<size_t>(hash.truncated());
  }
};

// 64 lowercase digits, each word printed from its highest digit on.
std::string ToString(const Hash& hash);
// The same, into `to`. Precondition: 64 bytes are writable there.
void WriteText(const Hash& hash, char* to);

// Takes 64 digits, upper or lower case; anything else is kInvalidArgument.
Result<Hash> ParseHash(std::string_view text);

// BLAKE3 under `key`, in segments. One thread at a time.
class KeyedHasher {
 public:
  explicit KeyedHasher(const Hash& key);

  void Update(BytesView bytes);
  Hash Finish() const;

 private:
  // A blake3_hasher; its header is not needed to use this one.
  alignas(16) std::array<std::byte, 2048> state_;
};

Hash KeyedHash(const Hash& key, BytesView bytes);

// The fixed keys.
extern const Hash kDataKey;          // chunks, names of shard files
extern const Hash kInternalKey;      // inner nodes of the merkle tree
extern const Hash kVerificationKey;  // terms

// Of the raw bytes of a chunk. The name of a shard file is made in the same way, from the
// whole file.
Hash ChunkHash(BytesView chunk);

// Proves to a server that whoever sends a term knows its chunks.
Hash TermHash(std::span<const Hash> chunks);

// What a keyed shard holds in place of `chunk`. A zero key means that the shard is not
// keyed: the hash itself.
Hash KeyedChunkHash(const Hash& key, const Hash& chunk);

// The name of a file whose chunks have the merkle root `root`. Precondition: the file is
// not empty; the name of the empty file is the zero hash, whatever the salt.
Hash FileHashOfRoot(const Hash& root, const Hash& salt = {});

// A SHA-256 digest in the form of shards, and back: its text as a Hash is the usual one,
// so each group of eight bytes is turned round.
Hash Sha256Field(std::span<const std::byte, Hash::kSize> digest);
std::array<std::byte, Hash::kSize> Sha256Digest(const Hash& field);

}  // namespace dolium::xet
