#include "dolium/formats/dvid/ipc.h"

#include <flatbuffers/flatbuffers.h>

#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/ipc_tables_internal.h"
#include "dolium/formats/dvid/shard_writer.h"

namespace dolium::dvid {
namespace {

using tables::FieldOffset;
using testing::HasSubstr;

template <typename T>
ByteVector Numbers(const std::vector<T>& values) {
  ByteVector bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreLE<T>(bytes.data() + i * sizeof(T), values[i]);
  }
  return bytes;
}

// A record batch of the seven columns, in the making.
struct TestBatch {
  uint64_t rows = 3;
  ByteVector chunk = Numbers<uint32_t>({1, 2, 3});
  ByteVector offsets = Numbers<uint32_t>({0, 1, 3, 4});
  ByteVector labels = Numbers<uint64_t>({10, 20, 21, 30});
  ByteVector supervoxels = Numbers<uint64_t>({1, 2, 3, 4});
  ByteVector block_offsets = Numbers<uint32_t>({0, 2, 5, 6});
  ByteVector blocks = Numbers<uint8_t>({'a', 'a', 'b', 'b', 'b', 'c'});
  ByteVector sizes = Numbers<uint32_t>({7, 8, 9});
  bool zstd = false;

  ByteVector metadata = {};
  ByteVector body = {};

  void Build() {
    std::vector<tables::TwoLongs> places;
    ByteVector none;
    for (const ByteVector* buffer :
         {&none, &chunk, &none, &chunk, &none, &chunk, &none, &offsets, &none, &labels,
          &none, &offsets, &none, &supervoxels, &none, &block_offsets, &blocks, &none,
          &sizes}) {
      const auto at = static_cast<int64_t>(body.size());
      if (zstd && !buffer->empty()) {
        Append(body, Numbers<uint64_t>({buffer->size()}));
        Append(body, ZstdEncode(*buffer));
      } else {
        Append(body, *buffer);
      }
      places.push_back({at, static_cast<int64_t>(body.size()) - at});
      body.resize((body.size() + 7) / 8 * 8);
    }
    const auto count = static_cast<int64_t>(rows);
    const auto values = static_cast<int64_t>(labels.size() / 8);
    const std::vector<tables::TwoLongs> nodes = {{count, 0},  {count, 0},  {count, 0},
                                                 {count, 0},  {values, 0}, {count, 0},
                                                 {values, 0}, {count, 0},  {count, 0}};
    flatbuffers::FlatBufferBuilder builder;
    const auto buffer_list = builder.CreateVectorOfStructs(places);
    const auto node_list = builder.CreateVectorOfStructs(nodes);
    auto start = builder.StartTable();
    builder.AddElement<int8_t>(FieldOffset(0), 1, 0);
    const flatbuffers::Offset<void> compression(builder.EndTable(start));
    start = builder.StartTable();
    builder.AddElement<int64_t>(FieldOffset(0), count, 0);
    builder.AddOffset(FieldOffset(1), node_list);
    builder.AddOffset(FieldOffset(2), buffer_list);
    if (zstd) builder.AddOffset(FieldOffset(3), compression);
    const flatbuffers::Offset<void> batch(builder.EndTable(start));
    start = builder.StartTable();
    builder.AddElement<int16_t>(FieldOffset(0), 4, 0);
    builder.AddElement<uint8_t>(FieldOffset(1), 3, 0);
    builder.AddOffset(FieldOffset(2), batch);
    builder.AddElement<int64_t>(FieldOffset(3), static_cast<int64_t>(body.size()), 0);
    builder.Finish(flatbuffers::Offset<void>(builder.EndTable(start)));
    const auto bytes =
        std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    metadata.assign(bytes.begin(), bytes.end());
  }
};

Schema StreamSchema() {
  const auto store = std::make_shared<MemoryStore>("test");
  Must(Must(DvidShardWriter::Begin({store, "0_0_0.arrow"}, {}))->Finish());
  const Bytes bytes = Must(store->ReadWhole("0_0_0.arrow", 10'000)).bytes;
  const MessagePrefix prefix = Must(ParsePrefix(bytes));
  return Must(ParseSchema(bytes.Slice(prefix.bytes, prefix.metadata)));
}

constexpr uint64_t kBodyAt = 1000;

Result<Batch> Parse(const TestBatch& made) {
  return Batch::Parse(StreamSchema(), made.metadata,
                      {.range = {kBodyAt, made.body.size()},
                       .whole = Bytes::Copy(made.body),
                       .held = made.body.size()});
}

void ExpectSecondRow(const Batch& batch) {
  EXPECT_EQ(batch.rows(), 3U);
  EXPECT_EQ(batch.key(1), (Key{2, 2, 2}));
  EXPECT_EQ(batch.uncompressed_size(1), 8U);
  const Batch::Cells cells = Must(batch.Read(1));
  EXPECT_TRUE(Equal(cells.labels, Numbers<uint64_t>({20, 21})));
  EXPECT_TRUE(Equal(cells.supervoxels, Numbers<uint64_t>({2, 3})));
  EXPECT_EQ(AsText(cells.block), "bbb");
}

TEST(Batch, ReadsPlainAndCompressedBuffers) {
  for (const bool zstd : {false, true}) {
    TestBatch made{.zstd = zstd};
    made.Build();
    const Batch batch = Must(Parse(made));
    ExpectSecondRow(batch);
    EXPECT_EQ(batch.block_location(1).codecs.size(), zstd ? 2U : 0U);
    EXPECT_EQ(batch.held_bytes() > made.body.size(), zstd);
  }
}

TEST(Batch, ReadsOfARemoteBodyWhatItNeeds) {
  TestBatch made;
  made.Build();
  size_t calls = 0;
  uint64_t bytes = 0;
  Body body;
  body.range = {kBodyAt, made.body.size()};
  body.read = [&](std::span<const ByteRange> ranges) -> Result<std::vector<Bytes>> {
    ++calls;
    std::vector<Bytes> parts;
    for (const ByteRange& range : ranges) {
      parts.push_back(Bytes::Copy(
          BytesView(made.body).subspan(range.offset - kBodyAt, range.length)));
      bytes += range.length;
    }
    return parts;
  };
  const Batch batch = Must(Batch::Parse(StreamSchema(), made.metadata, std::move(body)));
  EXPECT_EQ(bytes, 3 * 12U + 3 * 16U + 12U) << "keys, offsets, sizes";
  EXPECT_EQ(batch.held_bytes(), bytes);
  calls = 0;
  bytes = 0;
  ExpectSecondRow(batch);
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(bytes, 16U + 16U + 3U);
}

TEST(Batch, RefusesMoreRowsThanItsBodyCanHold) {
  TestBatch made{.rows = 1'000'000};
  for (ByteVector* column : {&made.chunk, &made.sizes}) column->resize(4'000'000);
  for (ByteVector* offsets : {&made.offsets, &made.block_offsets}) {
    offsets->assign(4'000'004, std::byte{0});
  }
  made.labels.clear();
  made.supervoxels.clear();
  made.zstd = true;
  made.Build();
  EXPECT_LT(made.body.size(), 100'000U);
  const auto batch = Parse(made);
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message, HasSubstr("a batch of 1000000 rows in"));
}

TEST(Batch, RefusesRowsWithoutABlock) {
  TestBatch made;
  made.block_offsets = Numbers<uint32_t>({0, 0, 0, 0});
  made.blocks.resize(2);
  made.Build();
  EXPECT_THAT(Parse(made).error().message,
              HasSubstr("\"dvid_compressed_block\" has 2 bytes for 3 rows"));
}

TEST(Batch, GivesItsBuffersOneBudget) {
  TestBatch made;
  // Each fits the 64 MiB that a small body may become, both do not.
  made.labels.resize(size_t{40} << 20);
  made.zstd = true;
  made.Build();
  ExpectSecondRow(Must(Parse(made)));
  TestBatch more;
  more.labels.resize(size_t{40} << 20);
  more.supervoxels.resize(size_t{40} << 20);
  more.zstd = true;
  more.Build();
  const auto batch = Parse(more);
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message, HasSubstr("decompresses to 41943040 bytes, of "));
}

}  // namespace
}  // namespace dolium::dvid
