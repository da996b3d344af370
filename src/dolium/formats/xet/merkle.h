// The merkle tree over (hash, size) pairs, from which xorbs and files have their names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dolium/formats/xet/hash.h"

namespace dolium::xet {

// A leaf or an inner node: its hash, and the raw bytes below it.
struct MerkleNode {
  Hash hash;
  uint64_t size = 0;

  friend bool operator==(const MerkleNode&, const MerkleNode&) = default;
};

// Takes leaves one after another and keeps at most nine nodes of each level, whatever the
// number of leaves. One thread at a time.
class MerkleBuilder {
 public:
  void Add(const Hash& hash, uint64_t size) { AddAt(0, {hash, size}); }

  // The root over all leaves so far; the zero hash without any. Nothing changes: more
  // leaves may follow.
  Hash Root() const;

  uint64_t leaves() const { return levels_.empty() ? 0 : levels_[0].count; }
  uint64_t size() const { return size_; }  // raw bytes of all leaves

 private:
  struct Level {
    std::vector<MerkleNode> open;  // the group that is not closed yet
    uint64_t count = 0;            // nodes that this level has had
  };
  void AddAt(size_t level, const MerkleNode& node);

  std::vector<Level> levels_;
  uint64_t size_ = 0;
};

// The node above `children`.
MerkleNode JoinNodes(std::span<const MerkleNode> children);

// The name of a xorb with these chunks.
Hash MerkleRoot(std::span<const MerkleNode> leaves);
// The name of a file with these chunks, in order, with repetitions.
Hash FileHash(std::span<const MerkleNode> leaves, const Hash& salt = {});
Hash FileHash(const MerkleBuilder& leaves, const Hash& salt = {});

}  // namespace dolium::xet
