#include "dolium/formats/xet/chunker.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/xet/gear_table_internal.h"
#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The rule as it is written down: state cleared at each cut, short chunks not looked at.
std::vector<uint64_t> CutsByTheRule(BytesView data, std::vector<uint64_t> forced = {}) {
  std::vector<uint64_t> cuts;
  for (size_t start = 0; start < data.size();) {
    size_t end = std::min<size_t>(data.size(), start + 131072);
    for (const uint64_t position : forced) {
      if (position > start) end = std::min<size_t>(end, position);
    }
    size_t cut = end;
    uint64_t state = 0;
    for (size_t i = std::min(end, start + 8127); i < end; ++i) {
      state = GearStep(state, data[i]);
      if (i + 1 - start >= 8192 && (state >> 48) == 0) {
        cut = i + 1;
        break;
      }
    }
    cuts.push_back(cut);
    start = cut;
  }
  return cuts;
}

std::vector<uint64_t> CutsInSegments(BytesView data, size_t segment,
                                     std::vector<uint64_t> forced = {},
                                     GearVariant variant = BestGearVariant()) {
  Chunker chunker(forced, variant);
  std::vector<uint64_t> cuts;
  for (size_t at = 0; at < data.size(); at += segment) {
    chunker.Write(data.subspan(at, std::min(segment, data.size() - at)), cuts);
  }
  chunker.Finish(cuts);
  return cuts;
}

ByteVector InputOf(const std::string& name) {
  if (name.starts_with("splitmix64")) return SplitMix(0, 1000000);
  if (name.starts_with("1000000")) return Repeated(59, 1000000);
  if (name == "empty") return {};
  return Text(name == "Hello World!" ? "Hello World!" : "Hello World!\n");
}

ByteVector BoundaryHit(size_t number) {
  ByteVector data;
  for (const auto& byte : Vectors()["chunking_boundary_hits"]["base"]) {
    data.push_back(static_cast<std::byte>(byte.get<int>()));
  }
  data.resize(data.size() + number);
  while (data.size() < 65536) {
    const ByteVector copy = data;
    Append(data, BytesView(copy).first(std::min(copy.size(), 65536 - data.size())));
  }
  return data;
}

// Repetitive, sparse and dense by turns, so that marks come in all densities.
ByteVector Mixed(uint64_t seed, size_t size) {
  std::mt19937_64 random(seed);
  ByteVector data;
  while (data.size() < size) {
    const size_t length = 1 + random() % 100000;
    switch (random() % 4) {
      case 0:
        Append(data, SplitMix(random(), length));
        break;
      case 1:
        Append(data, Repeated(static_cast<uint8_t>(random()), length));
        break;
      case 2: {
        // Repeats a window that matches: a mark every some hundred bytes.
        const ByteVector hit = BoundaryHit(random() % 128);
        Append(data, BytesView(hit).first(std::min<size_t>(hit.size(), length)));
        break;
      }
      default: {
        const ByteVector pattern = SplitMix(random(), 1 + random() % 200);
        for (size_t i = 0; i < length; i += pattern.size()) Append(data, pattern);
      }
    }
  }
  data.resize(size);
  return data;
}

TEST(GearStep, AgreesWithTheVectors) {
  for (const auto& v : Vectors()["gear_scan"]["cases"]) {
    uint64_t state = 0;
    for (const std::byte byte : FromHex(v["input_hex"].get<std::string>())) {
      state = GearStep(state, byte);
    }
    EXPECT_EQ(state, std::stoull(v["h"].get<std::string>(), nullptr, 16));
  }
}

TEST(GearScanner, FindsTheSameMarksInEveryVariant) {
  for (const size_t size : {0UL, 1UL, 100UL, 4096UL, 8191UL, 65536UL, 1000003UL}) {
    const ByteVector data = Mixed(size, size);
    std::vector<uint32_t> expected;
    GearScanner(GearVariant::kScalar).Scan(data, expected);
    for (const GearVariant variant : AvailableGearVariants()) {
      std::vector<uint32_t> marks;
      GearScanner(variant).Scan(data, marks);
      EXPECT_EQ(marks, expected) << GearVariantName(variant) << ", " << size << " bytes";
    }
  }
}

TEST(CutPoints, AgreeWithTheVectors) {
  for (const auto& v : Vectors()["chunking"]["cases"]) {
    const ByteVector data = InputOf(v["input"]);
    const auto expected = v["ends"].get<std::vector<uint64_t>>();
    for (const GearVariant variant : AvailableGearVariants()) {
      EXPECT_EQ(CutPoints(data, {.variant = variant}).value(), expected);
      EXPECT_EQ(CutsInSegments(data, 4099, {}, variant), expected);
    }
    const auto chunks = ChunkAndHash(data).value();
    ASSERT_EQ(chunks.size(), expected.size());
    const auto derived = v.value("derived", nlohmann::json::object());
    if (derived.contains("chunk_str")) {
      for (size_t i = 0; i < chunks.size(); ++i) {
        EXPECT_EQ(ToString(chunks[i].hash), derived["chunk_str"][i]);
      }
      EXPECT_EQ(ToString(MerkleRoot(chunks)), derived["xorb_str_if_all_in_one"]);
    }
    if (derived.contains("file_str")) {
      EXPECT_EQ(ToString(FileHash(chunks)), derived["file_str"]);
    }
  }
}

TEST(CutPoints, AgreeAroundTheLeastSize) {
  const auto& ends = Vectors()["chunking_boundary_hits"]["ends"];
  ASSERT_EQ(ends.size(), 128U);
  for (size_t i = 0; i < ends.size(); ++i) {
    const ByteVector data = BoundaryHit(i);
    EXPECT_EQ(std::to_integer<int>(data[11111]),
              Vectors()["chunking_boundary_hits"]["byte_at_11111"][i]);
    const auto expected = ends[i].get<std::vector<uint64_t>>();
    EXPECT_EQ(CutPoints(data).value(), expected) << "case " << i;
    EXPECT_EQ(CutsInSegments(data, 63), expected) << "case " << i;
    EXPECT_EQ(CutsByTheRule(data), expected) << "case " << i;
  }
}

TEST(Chunker, CutsTheSameHoweverTheInputIsSplit) {
  const ByteVector data = Mixed(1, 700000);
  const auto expected = CutsByTheRule(data);
  for (const size_t segment : {1UL, 2UL, 63UL, 64UL, 65UL, 1000UL, 8191UL, 8192UL, 8193UL,
                               65536UL, 131072UL, 700000UL}) {
    EXPECT_EQ(CutsInSegments(data, segment), expected) << "segments of " << segment;
  }
}

TEST(Chunker, CutsTheSameInRandomSegments) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const ByteVector data = Mixed(seed, 50000 + random() % 600000);
    Chunker chunker;
    std::vector<uint64_t> cuts;
    for (size_t at = 0; at < data.size();) {
      const size_t segment = std::min<size_t>(data.size() - at, random() % 30000);
      chunker.Write(BytesView(data).subspan(at, segment), cuts);
      at += segment;
    }
    chunker.Finish(cuts);
    EXPECT_EQ(cuts, CutsByTheRule(data)) << "seed " << seed;
  }
}

TEST(CutPoints, AreTheSameOnAnyNumberOfThreads) {
  // More than one round of tasks.
  const ByteVector data = Mixed(7, 20000001);
  const auto expected = CutsByTheRule(data);
  for (const size_t jobs : {1UL, 2UL, 5UL}) {
    for (const GearVariant variant : AvailableGearVariants()) {
      EXPECT_EQ(CutPoints(data, {.jobs = jobs, .variant = variant}).value(), expected)
          << jobs << " jobs, " << GearVariantName(variant);
    }
  }
}

TEST(ChunkAndHash, IsTheSameOnAnyNumberOfThreads) {
  const ByteVector data = Mixed(8, 18000000);
  const auto one = ChunkAndHash(data, {.jobs = 1}).value();
  EXPECT_EQ(ChunkAndHash(data, {.jobs = 3}).value(), one);
  uint64_t sum = 0;
  for (const MerkleNode& chunk : one) {
    EXPECT_EQ(chunk.hash, ChunkHash(BytesView(data).subspan(sum, chunk.size)));
    sum += chunk.size;
  }
  EXPECT_EQ(sum, data.size());
}

TEST(ChunkAndHash, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  const ByteVector data(100000);
  EXPECT_EQ(ChunkAndHash(data, {.stop = source.get_token()}).error().code,
            ErrorCode::kCancelled);
}

TEST(Chunker, MakesForcedCuts) {
  const ByteVector zeros(300000);
  EXPECT_THAT(CutsInSegments(zeros, 1000, {5, 6, 140000, 300000}),
              ElementsAre(5, 6, 131078, 140000, 271072, 300000));
  EXPECT_THAT(CutsInSegments(zeros, 300000, {0, 131072}),
              ElementsAre(131072, 262144, 300000));
  EXPECT_THAT(CutsInSegments(zeros, 300000, {400000}),
              ElementsAre(131072, 262144, 300000));
  EXPECT_THAT(CutsInSegments({}, 1, {0, 5}), IsEmpty());
}

TEST(Chunker, MakesForcedCutsTheSameEverywhere) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    const ByteVector data = Mixed(seed + 100, 3000000);
    std::vector<uint64_t> forced;
    const uint64_t step = 1 + random() % 200000;
    for (uint64_t at = random() % step; at < data.size() + 1000;
         at += 1 + random() % step) {
      forced.push_back(at);
    }
    const auto expected = CutsByTheRule(data, forced);
    EXPECT_EQ(CutsInSegments(data, 12345, forced), expected) << "seed " << seed;
    EXPECT_EQ(CutPoints(data, {.forced = forced, .jobs = 2}).value(), expected)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace dolium::xet
