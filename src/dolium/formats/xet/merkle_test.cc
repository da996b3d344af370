#include "dolium/formats/xet/merkle.h"

#include <gtest/gtest.h>

#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

std::vector<MerkleNode> Leaves(const nlohmann::json& pairs) {
  std::vector<MerkleNode> leaves;
  for (const auto& pair : pairs) {
    leaves.push_back({HashOf(pair[0]), pair[1].get<uint64_t>()});
  }
  return leaves;
}

std::vector<MerkleNode> NumberedLeaves(size_t count) {
  std::vector<MerkleNode> leaves;
  for (size_t i = 0; i < count; ++i) {
    leaves.push_back({ChunkHash(AsBytes(std::to_string(i))), i + 1});
  }
  return leaves;
}

// The rule as it is written down, level by level.
Hash RootByLevels(std::vector<MerkleNode> level) {
  if (level.empty()) return {};
  while (level.size() > 1) {
    std::vector<MerkleNode> above;
    for (size_t at = 0; at < level.size();) {
      const size_t rest = level.size() - at;
      size_t length = std::min<size_t>(9, rest);
      for (size_t i = 2; rest > 2 && i < std::min<size_t>(9, rest); ++i) {
        if (level[at + i].hash.Mod(4) == 0) {
          length = i + 1;
          break;
        }
      }
      above.push_back(JoinNodes(std::span(level).subspan(at, length)));
      at += length;
    }
    level = std::move(above);
  }
  return level[0].hash;
}

TEST(JoinNodes, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["internal_node"]) {
    const MerkleNode node = JoinNodes(Leaves(v["children"]));
    EXPECT_EQ(ToString(node.hash), v["node_str"]);
    EXPECT_EQ(node.size, v["node_size"]);
  }
}

TEST(MerkleRoot, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["merkle"]["cases"]) {
    const auto leaves = Leaves(v["leaves"]);
    EXPECT_EQ(ToString(MerkleRoot(leaves)), v["xorb_str"]) << leaves.size() << " leaves";
    for (const auto& file : v["file_with_salt"]) {
      EXPECT_EQ(ToString(FileHash(leaves, HashOf(file["salt_str"]))), file["file_str"]);
    }
  }
}

TEST(MerkleRoot, AgreesWithTheSmallVectors) {
  for (const auto& v : Vectors()["merkle_small"]["cases"]) {
    const auto leaves = NumberedLeaves(v["n"].get<size_t>());
    EXPECT_EQ(ToString(MerkleRoot(leaves)), v["root_str"]) << leaves.size() << " leaves";
    EXPECT_EQ(ToString(FileHash(leaves)), v["file_str"]);
  }
}

TEST(MerkleBuilder, GivesTheRootOfEveryPrefix) {
  const auto leaves = NumberedLeaves(700);
  MerkleBuilder builder;
  for (size_t count = 0; count <= leaves.size(); ++count) {
    ASSERT_EQ(builder.Root(),
              RootByLevels({leaves.begin(), leaves.begin() + static_cast<long>(count)}))
        << count << " leaves";
    if (count < leaves.size()) builder.Add(leaves[count].hash, leaves[count].size);
  }
  EXPECT_EQ(builder.leaves(), 700U);
  EXPECT_EQ(builder.size(), 700U * 701 / 2);
}

TEST(FileHash, OfNothingIsZeroWhateverTheSalt) {
  EXPECT_TRUE(FileHash(MerkleBuilder()).is_zero());
  EXPECT_TRUE(FileHash(std::span<const MerkleNode>(), kDataKey).is_zero());
}

}  // namespace
}  // namespace dolium::xet
