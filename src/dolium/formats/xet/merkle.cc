#include "dolium/formats/xet/merkle.h"

#include <array>
#include <charconv>

namespace dolium::xet {

namespace {

constexpr size_t kLeastOfGroup = 3;  // nodes before a group may end
constexpr size_t kMostOfGroup = 9;
constexpr uint64_t kGroupEnd = 4;  // a hash that is 0 modulo this ends its group

// A line is 64 digits, " : ", at most 20 digits, "\n".
constexpr size_t kMostOfLine = 64 + 3 + 20 + 1;

bool EndsGroup(std::span<const MerkleNode> group) {
  return group.size() == kMostOfGroup ||
         (group.size() >= kLeastOfGroup && group.back().hash.Mod(kGroupEnd) == 0);
}

}  // namespace

MerkleNode JoinNodes(std::span<const MerkleNode> children) {
  KeyedHasher hasher(kInternalKey);
  uint64_t size = 0;
  for (const MerkleNode& child : children) {
    std::array<char, kMostOfLine> line;
    WriteText(child.hash, line.data());
    char* at = line.data() + 64;
    for (const char c : {' ', ':', ' '}) *at++ = c;
    at = std::to_chars(at, line.data() + line.size(), child.size).ptr;
    *at++ = '\n';
    hasher.Update(AsBytes({line.data(), static_cast<size_t>(at - line.data())}));
    size += child.size;
  }
  return {hasher.Finish(), size};
}

void MerkleBuilder::AddAt(size_t level, const MerkleNode& node) {
  if (level == 0) size_ += node.size;
  MerkleNode next = node;
  for (;; ++level) {
    if (level == levels_.size()) levels_.emplace_back().open.reserve(kMostOfGroup);
    Level& here = levels_[level];
    here.open.push_back(next);
    ++here.count;
    if (!EndsGroup(here.open)) return;
    next = JoinNodes(here.open);
    here.open.clear();
  }
}

Hash MerkleBuilder::Root() const {
  // What the levels below hand up: the group that the end of the leaves closes.
  std::vector<MerkleNode> group;
  std::optional<MerkleNode> from_below;
  for (size_t level = 0; level < levels_.size() || from_below; ++level) {
    group.clear();
    uint64_t count = 0;
    if (level < levels_.size()) {
      group = levels_[level].open;
      count = levels_[level].count;
    }
    if (from_below) {
      group.push_back(*from_below);
      ++count;
      from_below.reset();
    }
    if (count == 1) return group.front().hash;
    if (!group.empty()) from_below = JoinNodes(group);
  }
  return {};
}

Hash MerkleRoot(std::span<const MerkleNode> leaves) {
  MerkleBuilder builder;
  for (const MerkleNode& leaf : leaves) builder.Add(leaf.hash, leaf.size);
  return builder.Root();
}

Hash FileHash(const MerkleBuilder& leaves, const Hash& salt) {
  return leaves.leaves() == 0 ? Hash() : FileHashOfRoot(leaves.Root(), salt);
}

Hash FileHash(std::span<const MerkleNode> leaves, const Hash& salt) {
  return leaves.empty() ? Hash() : FileHashOfRoot(MerkleRoot(leaves), salt);
}

}  // namespace dolium::xet
