// Shards that others wrote. Of those by pyarrow, tools/make_dvid_testdata.py says what is
// in them.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/shard_writer.h"

namespace dolium::dvid {
namespace {

constexpr std::array<Key, 3> kKeys = {{{0, 0, 0}, {1, 0, 0}, {1, 2, 3}}};

uint64_t Expected(size_t number, size_t x, size_t y, size_t z) {
  if (number == 0) return 7;
  if (number == 1) return 1000 + x / 5 + y / 9 * 3;
  return (x / 16 + y / 16 + z / 16) % 3 * ((uint64_t{1} << 40) + 1);
}

class GoldenShards : public testing::TestWithParam<std::string> {
 protected:
  static Location File(const std::string& name) {
    return Must(ParseLocation(
        DOLIUM_SOURCE_DIR "/src/dolium/formats/dvid/testdata/good/" + name + ".arrow"));
  }
};

TEST_P(GoldenShards, HaveTheVoxelsThatTheirMakerSays) {
  const bool is_seed = GetParam() == "seed";
  const auto shard = Must(Shard::Open(File(GetParam())));
  EXPECT_EQ(shard->is_file(), GetParam().starts_with("file") || is_seed);
  EXPECT_EQ(shard->in_voxels(), is_seed);
  ASSERT_EQ(shard->size(), kKeys.size());
  for (size_t number = 0; number < kKeys.size(); ++number) {
    const auto found = shard->FindBlock(kKeys[number]);
    ASSERT_TRUE(found);
    const Row row = Must(shard->Read(*found));
    const auto supervoxels = Must(DecodeRow(row, LabelKind::kSupervoxels)).voxels;
    const auto labels = Must(DecodeRow(row, LabelKind::kLabels)).voxels;
    for (size_t i = 0; i < supervoxels.size(); ++i) {
      const uint64_t expected = Expected(number, i % 64, i / 64 % 64, i / 4096);
      ASSERT_EQ(supervoxels[i], expected) << i;
      ASSERT_EQ(labels[i], 10 * expected) << i;
    }
  }
}

TEST_P(GoldenShards, AreContainersWhoseEntriesAreTheBlocks) {
  const auto container = Must(kFormat.open(File(GetParam()), {}));
  size_t entries = 0;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    ++entries;
    const Bytes value = Must(ReadEntry(container->store(), entry)).value;
    EXPECT_TRUE(LabelBlock::Parse(value)) << entry.key;
    Must(container->CheckValue(entry, value));
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_EQ(entries, kKeys.size());
}

// Every byte of a batch with wide types is spoiled in turn.
TEST(WideColumns, AreRefusedWhereTheyHoldWhat32BitsCannot) {
  for (const char* const name : {"stream-large", "stream-any-columns"}) {
    const Location file =
        Must(ParseLocation(DOLIUM_SOURCE_DIR "/src/dolium/formats/dvid/testdata/good/" +
                           std::string(name) + ".arrow"));
    const Bytes good = Must(file.store->ReadWhole(file.path, 100'000)).bytes;
    const auto shard = Must(Shard::Open(file));
    const Location bad{std::make_shared<MemoryStore>("test"), "0_0_0.arrow"};
    bool is_refused = false;
    for (uint64_t at = shard->MessageOf(0).offset; at < shard->MessageOf(0).end(); ++at) {
      ByteVector bytes(good.view().begin(), good.view().end());
      bytes[static_cast<size_t>(at)] ^= std::byte{0x81};
      Must(bad.store->Put(bad.path, bytes, Precondition::None()));
      const auto opened = Shard::Open(bad);
      if (!opened) {
        is_refused = is_refused || opened.error().message.find(
                                       "which 32 bits do not hold") != std::string::npos;
        continue;
      }
      for (size_t i = 0; i < (*opened)->size(); ++i) {
        static_cast<void>((*opened)->Read(i).has_value());
      }
    }
    EXPECT_TRUE(is_refused) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Pyarrow, GoldenShards,
                         testing::Values("stream-plain", "stream-lz4", "stream-zstd",
                                         "file-plain", "file-lz4", "file-zstd",
                                         "stream-v4", "stream-legacy", "block-none",
                                         "block-gzip", "block-lz4-frame", "block-lz4",
                                         "seed", "stream-more-columns", "stream-large",
                                         "file-large", "stream-any-columns",
                                         "file-any-columns", "stream-any-columns-zstd"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// What DVID writes of one solid block: the schema, a batch and the end mark.
TEST(DvidShardWriter, WritesTheBytesThatDvidWrites) {
  const Location file = Must(ParseLocation(
      DOLIUM_SOURCE_DIR "/src/dolium/formats/dvid/testdata/good/dvid-one-row.arrow"));
  const Bytes expected = Must(file.store->ReadWhole(file.path, 10'000)).bytes;
  ASSERT_EQ(expected.size(), 688U + 8 + 536 + 112 + 8);
  const auto shard = Must(Shard::Open(file));
  ASSERT_EQ(shard->size(), 1U);
  const Row row = Must(shard->Read(0));
  EXPECT_EQ(row.key, (Key{0, 0, 0}));
  const auto voxels = Must(DecodeRow(row, LabelKind::kLabels)).voxels;
  EXPECT_EQ(std::ranges::count(voxels, 7U), 64 * 64 * 64);

  const Location made{std::make_shared<MemoryStore>("test"), "0_0_0.arrow"};
  const auto writer = Must(DvidShardWriter::Begin(made, {.csv = CsvForm::kDvid}));
  Must(writer->Add({.block = row.key,
                    .labels = LabelList(row.labels),
                    .supervoxels = LabelList(row.supervoxels),
                    .stored = row.stored,
                    .uncompressed_size = 24}));
  Must(writer->Finish());
  EXPECT_TRUE(Equal(Must(made.store->ReadWhole("0_0_0.arrow", 10'000)).bytes, expected));
  EXPECT_EQ(AsText(Must(made.store->ReadWhole("0_0_0.csv", 10'000)).bytes),
            "# schema_size=0\nx,y,z,offset,size,batch_idx\n0,0,0,0,1344,0\n");
}

}  // namespace
}  // namespace dolium::dvid
