#include "dolium/formats/neuroglancer/testing/shards.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dolium::neuroglancer {

ByteVector FromHex(std::string_view digits) {
  ByteVector bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(
        std::stoul(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::string ToHex(BytesView bytes) {
  std::string digits;
  for (const std::byte b : bytes)
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return digits;
}

void TestFolder::Put(std::string_view name, BytesView bytes) {
  const auto put = store->Put(JoinPath(location.path, name), bytes, Precondition::None());
  EXPECT_TRUE(put) << put.error().message;
}

std::string TestFolder::Get(std::string_view name) const {
  const auto whole = store->ReadWhole(JoinPath(location.path, name), uint64_t{1} << 30);
  return whole ? std::string(AsText(whole->bytes)) : std::string();
}

std::vector<std::string> TestFolder::Names() const {
  std::vector<std::string> names;
  const auto listed = store->List(location.path, [&](std::string_view name, bool) {
    names.emplace_back(name);
    return true;
  });
  EXPECT_TRUE(listed || listed.error().code == ErrorCode::kNotFound);
  std::ranges::sort(names);
  return names;
}

void WriteChunks(const Location& folder, const ShardingSpec& spec, const Chunks& chunks,
                 const WriterOptions& options) {
  ShardedWriter writer(folder, spec, options);
  for (const auto& [id, value] : chunks) {
    const auto added = writer.AddChunk(id, AsBytes(value), {}, /*encoded=*/false);
    ASSERT_TRUE(added) << added.error().message;
  }
  const auto summary = writer.Finish();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->entries, chunks.size());
}

Chunks ReadChunks(const ShardReader& reader, const std::vector<uint64_t>& ids) {
  Chunks chunks;
  const auto values = reader.GetMany(ids);
  EXPECT_TRUE(values) << values.error().message;
  if (!values) return chunks;
  for (size_t i = 0; i < ids.size(); ++i) {
    if ((*values)[i]) chunks[ids[i]] = std::string(AsText(*(*values)[i]));
  }
  return chunks;
}

Chunks RandomChunks(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  Chunks chunks;
  while (chunks.size() < count) {
    const uint64_t id = random() >> (random() % 64);
    std::string value(random() % 3000, '\0');
    for (char& c : value) c = static_cast<char>(random() % 7 + 'a');
    chunks[id] = std::move(value);
  }
  return chunks;
}

ShardingSpec RandomSpec(uint64_t seed) {
  std::mt19937_64 random(seed);
  ShardingSpec spec;
  spec.hash = random() % 2 == 0 ? ShardHash::kIdentity : ShardHash::kMurmur3;
  spec.preshift_bits = static_cast<unsigned>(random() % 65);
  spec.minishard_bits = static_cast<unsigned>(random() % 6);
  spec.shard_bits = static_cast<unsigned>(random() % 8);
  spec.minishard_index_encoding = random() % 2 == 0 ? Encoding::kRaw : Encoding::kGzip;
  spec.data_encoding = random() % 2 == 0 ? Encoding::kRaw : Encoding::kGzip;
  return spec;
}

std::vector<uint64_t> IdsOf(const Chunks& chunks) {
  std::vector<uint64_t> ids;
  ids.reserve(chunks.size());
  for (const auto& [id, value] : chunks) ids.push_back(id);
  return ids;
}

std::vector<Finding> CheckAll(const Container& container) {
  std::vector<Finding> findings;
  const auto objects = container.Objects();
  EXPECT_TRUE(objects) << objects.error().message;
  if (!objects) return findings;
  for (const std::string& object : *objects) {
    const auto checked = container.CheckObject(
        object, [&](const Finding& finding) { findings.push_back(finding); });
    EXPECT_TRUE(checked) << checked.error().message;
  }
  return findings;
}

}  // namespace dolium::neuroglancer
