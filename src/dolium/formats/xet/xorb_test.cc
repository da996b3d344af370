// Xorbs, written and read in all ways.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/formats/xet/testing/vectors.h"
#include "dolium/formats/xet/xorb_reader.h"
#include "dolium/formats/xet/xorb_stream.h"
#include "dolium/formats/xet/xorb_writer.h"

namespace dolium::xet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Footer = XorbWriter::Footer;

struct RawChunk {
  ByteVector raw;
  Scheme scheme;
};

std::vector<RawChunk> ChunksOfVector(size_t number) {
  std::vector<RawChunk> raw_chunks = {{Text("Hello World!"), Scheme::kNone}};
  if (number == 0) return raw_chunks;
  raw_chunks.push_back({Repeated(0x61, 100), Scheme::kLz4});
  ByteVector fours;
  for (size_t i = 0; i < 100; ++i) fours.push_back(static_cast<std::byte>(1 + i % 4));
  raw_chunks.push_back({fours, Scheme::kBg4Lz4});
  return raw_chunks;
}

XorbWriter::Xorb Write(const std::vector<RawChunk>& raw_chunks, Footer footer) {
  XorbWriter writer;
  ChunkCompressor compressor;
  for (const RawChunk& raw_chunk : raw_chunks) {
    EXPECT_TRUE(writer.HasRoom(raw_chunk.raw.size()));
    writer.Add(ChunkHash(raw_chunk.raw), raw_chunk.raw.size(),
               compressor.Encode(raw_chunk.raw, raw_chunk.scheme));
  }
  return writer.Finish(footer);
}

std::vector<RawChunk> ManyChunks() {
  std::vector<RawChunk> raw_chunks;
  for (size_t i = 0; i < 40; ++i) {
    ByteVector raw = SplitMix(i, 1 + i * 997);
    if (i % 3 != 0) raw.resize(raw.size() * 2);  // zeros compress
    raw_chunks.push_back({raw, static_cast<Scheme>(i % 3)});
  }
  return raw_chunks;
}

ByteVector Joined(const std::vector<RawChunk>& raw_chunks, size_t first, size_t end) {
  ByteVector out;
  for (size_t i = first; i < end; ++i) Append(out, raw_chunks[i].raw);
  return out;
}

Result<ByteVector> ReadRange(BytesView object, const XorbIndex& index, size_t first,
                             size_t end) {
  const ByteRange range = index.records(first, end);
  ByteVector into(index.raw_offset(end) - index.raw_offset(first));
  ChunkDecompressor decompressor;
  DOLIUM_TRY_VOID(ReadChunks(
      index, first, end, object.subspan(range.offset, range.length), decompressor, into));
  return into;
}

// A footer of version 0 behind the records of `xorb`, which has none.
ByteVector WithVersion0(const XorbWriter::Xorb& xorb) {
  ByteVector object = xorb.object;
  const size_t begin = object.size();
  const auto number = [&](size_t value) {
    object.resize(object.size() + 4);
    StoreLE(object.data() + object.size() - 4, static_cast<uint32_t>(value));
  };
  Append(object, AsBytes("XETBLOB"));
  object.push_back(std::byte{0});
  Append(object, xorb.index.hash.view());
  number(xorb.index.size());
  for (const uint32_t end : xorb.index.record_ends) number(end);
  for (const Hash& hash : xorb.index.chunks) Append(object, hash.view());
  object.resize(object.size() + 16);
  number(object.size() - begin);
  return object;
}

std::string ErrorOf(BytesView object) {
  const auto opened = OpenXorb(object);
  const auto verified = VerifyXorb(object);
  EXPECT_FALSE(verified);
  EXPECT_FALSE(opened);
  return opened ? "" : opened.error().message;
}

TEST(XorbWriter, MakesTheXorbsOfTheVectors) {
  const auto& first = Vectors()["xorb"]["cases"][0];
  const auto with = Write(ChunksOfVector(0), Footer::kVersion1);
  EXPECT_EQ(ToString(with.index.hash), first["xorb_str"]);
  EXPECT_TRUE(Equal(with.object, FromHex(first["with_footer_hex"].get<std::string>())));
  EXPECT_TRUE(Equal(Write(ChunksOfVector(0), Footer::kNone).object,
                    FromHex(first["body_hex"].get<std::string>())));
  // Of what compresses, the name is the same, but not what it is compressed to.
  const auto& second = Vectors()["xorb"]["cases"][1];
  const auto others = Write(ChunksOfVector(1), Footer::kVersion1);
  EXPECT_EQ(ToString(others.index.hash), second["xorb_str"]);
  EXPECT_EQ(others.object.size(), others.index.record_ends.back() + XorbFooterBytes(3));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ToString(others.index.chunks[i]), second["chunk_str"][i]);
  }
}

TEST(AppendXorbFooter, MakesTheFootersOfTheVectors) {
  for (const auto& v : Vectors()["xorb"]["cases"]) {
    const ByteVector object = FromHex(v["with_footer_hex"].get<std::string>());
    ByteVector again = FromHex(v["body_hex"].get<std::string>());
    AppendXorbFooter(VerifyXorb(again).value(), again);
    EXPECT_EQ(again, object);
  }
}

TEST(XorbStream, ReadsTheXorbsOfTheVectors) {
  for (size_t i = 0; i < 2; ++i) {
    const auto& v = Vectors()["xorb"]["cases"][i];
    const auto raw_chunks = ChunksOfVector(i);
    for (const char* form : {"with_footer_hex", "body_hex"}) {
      const ByteVector object = FromHex(v[form].get<std::string>());
      std::vector<ByteVector> chunks;
      XorbStream stream([&](const StreamedChunk& chunk) -> Result<void> {
        EXPECT_EQ(chunk.index, chunks.size());
        EXPECT_EQ(chunk.header.scheme, raw_chunks[chunk.index].scheme);
        EXPECT_EQ(chunk.hash, ChunkHash(chunk.raw));
        chunks.emplace_back(chunk.raw.begin(), chunk.raw.end());
        return {};
      });
      ASSERT_TRUE(stream.Write(object));
      const auto index = stream.Finish();
      ASSERT_TRUE(index) << index.error().message;
      EXPECT_EQ(ToString(index->hash), v["xorb_str"]);
      ASSERT_EQ(chunks.size(), raw_chunks.size());
      for (size_t k = 0; k < chunks.size(); ++k) EXPECT_EQ(chunks[k], raw_chunks[k].raw);
    }
  }
}

TEST(XorbStream, GivesTheSameHoweverTheInputIsSplit) {
  for (const Footer footer : {Footer::kNone, Footer::kVersion1}) {
    const auto xorb = Write(ManyChunks(), footer);
    for (const size_t segment : {1UL, 3UL, 7UL, 8UL, 9UL, 1000UL, 65536UL}) {
      XorbStream stream;
      for (size_t at = 0; at < xorb.object.size(); at += segment) {
        ASSERT_TRUE(
            stream.Write(BytesView(xorb.object)
                             .subspan(at, std::min(segment, xorb.object.size() - at))));
      }
      const auto index = stream.Finish();
      ASSERT_TRUE(index) << index.error().message;
      EXPECT_EQ(*index, xorb.index);
    }
  }
}

TEST(OpenXorb, GivesRangesOfChunks) {
  const auto raw_chunks = ManyChunks();
  const auto with = Write(raw_chunks, Footer::kVersion1);
  const auto without = Write(raw_chunks, Footer::kNone);
  const ByteVector old = WithVersion0(without);
  for (const ByteVector* object : {&with.object, &without.object, &old}) {
    const auto index = OpenXorb(*object);
    ASSERT_TRUE(index) << index.error().message;
    EXPECT_EQ(index->record_ends, with.index.record_ends);
    EXPECT_EQ(index->raw_ends, with.index.raw_ends);
    for (const auto& [first, end] :
         {std::pair(0UL, 40UL), std::pair(0UL, 1UL), std::pair(7UL, 19UL),
          std::pair(39UL, 40UL), std::pair(5UL, 5UL)}) {
      EXPECT_EQ(ReadRange(*object, *index, first, end).value(),
                Joined(raw_chunks, first, end));
    }
    EXPECT_TRUE(VerifyXorb(*object, &with.index.hash));
  }
  EXPECT_THAT(OpenXorb(without.object)->chunks, IsEmpty());
  EXPECT_EQ(OpenXorb(old)->chunks, with.index.chunks);
  EXPECT_TRUE(OpenXorb(old, &with.index.hash));
}

TEST(OpenXorb, IsNotMisledByAXorbWithinAXorb) {
  // Without footer, and the last chunk ends like a xorb that has one.
  const auto inner = Write(ChunksOfVector(1), Footer::kVersion1);
  const auto outer = Write(
      {{Text("before"), Scheme::kNone}, {inner.object, Scheme::kNone}}, Footer::kNone);
  const auto index = OpenXorb(outer.object, &outer.index.hash);
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->record_ends, outer.index.record_ends);
  EXPECT_EQ(ReadRange(outer.object, *index, 1, 2).value(), inner.object);
}

TEST(OpenXorb, FindsTheChunkOfAByte) {
  const auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  EXPECT_EQ(xorb.index.ChunkAt(0), 0U);
  EXPECT_EQ(xorb.index.ChunkAt(11), 0U);
  EXPECT_EQ(xorb.index.ChunkAt(12), 1U);
  EXPECT_EQ(xorb.index.ChunkAt(211), 2U);
}

TEST(OpenXorb, RefusesAnotherName) {
  const auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  const Hash other = ChunkHash(AsBytes("other"));
  EXPECT_THAT(OpenXorb(xorb.object, &other).error().message,
              HasSubstr("chunks give a xorb the hash 2462f710c3eb344a"));
  EXPECT_FALSE(VerifyXorb(xorb.object, &other));
}

TEST(ReadChunks, NamesTheChunkThatIsDamaged) {
  auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  const auto index = OpenXorb(xorb.object).value();
  xorb.object[8] ^= std::byte{1};
  EXPECT_THAT(ReadRange(xorb.object, index, 0, 3).error().message,
              HasSubstr("chunk 0: chunk has the hash"));
  EXPECT_TRUE(ReadRange(xorb.object, index, 1, 3));
}

TEST(ReadChunks, RefusesOtherSizes) {
  const auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  ChunkDecompressor decompressor;
  ByteVector into(5);
  EXPECT_EQ(ReadChunks(xorb.index, 0, 1, xorb.object, decompressor, into).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(ParseChunkHeader, RefusesWhatNoChunkHas) {
  const auto refuse = [](std::string_view hex) {
    return ParseChunkHeader(FromHex(hex)).error().message;
  };
  EXPECT_EQ(refuse("010c0000000c0000"), "chunk header has version 1, 0 expected");
  EXPECT_EQ(refuse("000c0000030c0000"), "compression scheme 3 is not known");
  EXPECT_EQ(refuse("000c0000630c0000"), "compression scheme 99 is not known");
  EXPECT_EQ(refuse("00010004010c0000"),
            "chunk has 262145 stored bytes, at most 262144 expected");
  EXPECT_EQ(refuse("000c000000010002"),
            "chunk has 131073 raw bytes, 1 to 131072 expected");
  EXPECT_EQ(refuse("000c000000000000"), "chunk has 0 raw bytes, 1 to 131072 expected");
  EXPECT_TRUE(ParseChunkHeader(FromHex("0000000401000002")));
}

TEST(VerifyXorb, RefusesAChunkOfAnotherSizeThanItsHeaderSays) {
  EXPECT_THAT(
      VerifyXorb(FromHex("000c0000000d000048656c6c6f20576f726c6421")).error().message,
      "chunk 0: 12 stored bytes are said to be 13 raw ones");
}

TEST(VerifyXorb, RefusesWhatIsNotWhole) {
  EXPECT_EQ(VerifyXorb({}).error().message, "xorb has no chunks");
  EXPECT_EQ(OpenXorb({}).error().message, "xorb has no chunks");
  const auto body = Write(ChunksOfVector(1), Footer::kNone).object;
  for (size_t size = 1; size < body.size(); ++size) {
    const BytesView cut = BytesView(body).first(size);
    const bool at_record = size == 20 || size == 54;
    EXPECT_EQ(VerifyXorb(cut).has_value(), at_record) << size;
    EXPECT_EQ(OpenXorb(cut).has_value(), at_record) << size;
  }
  const auto whole = Write(ChunksOfVector(1), Footer::kVersion1).object;
  for (size_t size = body.size() + 1; size < whole.size(); ++size) {
    EXPECT_FALSE(VerifyXorb(BytesView(whole).first(size))) << size;
    EXPECT_FALSE(OpenXorb(BytesView(whole).first(size))) << size;
  }
  ByteVector longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(VerifyXorb(longer));
}

TEST(VerifyXorb, FindsEveryFlippedBitThatMatters) {
  const auto whole = Write(ChunksOfVector(1), Footer::kVersion1).object;
  const auto name = VerifyXorb(whole).value().hash;
  size_t missed = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    ByteVector damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    if (VerifyXorb(damaged, &name)) ++missed;
  }
  // The nonce and the zeros behind it; and four bits of the last token of each of the two
  // LZ4 blocks, which mean nothing either: compressed bytes are not hashed.
  EXPECT_EQ(missed, 16U * 8 + 2 * 4);
}

TEST(ParseXorbFooter, RefusesWhatDisagrees) {
  const auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  const size_t begin = xorb.index.record_ends.back();
  const auto changed = [&](size_t at, uint32_t value) {
    ByteVector object = xorb.object;
    StoreLE(object.data() + begin + at, value);
    return ErrorOf(object);
  };
  const size_t hashes = 40;
  const size_t bounds = hashes + 12 + 3 * 32;
  EXPECT_THAT(changed(hashes + 8, 2), HasSubstr("no XBLBBND"));
  EXPECT_THAT(changed(hashes + 8, 0), "xorb footer has 0 chunks, 1 to 8192 expected");
  EXPECT_THAT(changed(hashes + 8, 8193),
              "xorb footer has 8193 chunks, 1 to 8192 expected");
  EXPECT_THAT(changed(hashes + 8, 8192), HasSubstr("chunk hashes needs 262144 bytes"));
  EXPECT_THAT(changed(bounds + 8, 4),
              "second number of chunks of a xorb footer is 4, 3 expected");
  EXPECT_THAT(changed(bounds + 12, 0), HasSubstr("chunk 0 ends at 0, 9 to"));
  EXPECT_EQ(changed(bounds + 20, static_cast<uint32_t>(begin - 1)),
            fmt::format("last record of a xorb ends at {}, its footer begins at {}",
                        begin - 1, begin));
  EXPECT_THAT(changed(bounds + 24, 0),
              "ends of chunks: chunk 0 ends at 0, 1 to 131072 expected");
  EXPECT_THAT(changed(bounds + 36, 2),
              "third number of chunks of a xorb footer is 2, 3 expected");
  EXPECT_THAT(changed(bounds + 40, 0),
              "distance from the hashes of a xorb footer is 0, 172 expected");
  EXPECT_THAT(changed(bounds + 44, 0),
              "distance from the boundaries of a xorb footer is 0, 64 expected");
  ByteVector object = xorb.object;
  object[begin + 7] = std::byte{2};
  EXPECT_EQ(ErrorOf(object), "xorb footer has version 2, 0 or 1 expected");
  object = xorb.object;
  object[begin + hashes + 7] = std::byte{1};
  EXPECT_THAT(ErrorOf(object), HasSubstr("XBLBHSH of a xorb footer has version 1"));
  object = xorb.object;
  object[begin + bounds + 7] = std::byte{0};
  EXPECT_THAT(ErrorOf(object), HasSubstr("XBLBBND of a xorb footer has version 0"));
}

TEST(XorbStream, ComparesTheFooterWithTheChunks) {
  const auto xorb = Write(ChunksOfVector(1), Footer::kVersion1);
  const size_t begin = xorb.index.record_ends.back();
  const auto error = [&](size_t at) {
    ByteVector object = xorb.object;
    object[begin + at] ^= std::byte{1};
    return VerifyXorb(object).error().message;
  };
  EXPECT_THAT(error(8), HasSubstr("xorb has the hash 2462f710c3eb344a"));
  EXPECT_THAT(error(52), HasSubstr("chunk 0 has the hash d8d408e608fb9ca2"));
  // Chunk 1 would end within the first record of chunk 1, and chunk 2 begin there.
  EXPECT_THAT(error(40 + 12 + 96 + 12), HasSubstr("record of chunk 0 ends at 20"));
  EXPECT_THAT(error(40 + 12 + 96 + 24), HasSubstr("raw bytes of chunk 0 end at 12"));
}

TEST(XorbStream, HandsOnTheVisitorsError) {
  XorbStream stream([](const StreamedChunk&) -> Result<void> { return Cancelled(); });
  EXPECT_EQ(stream.Write(Write(ChunksOfVector(0), Footer::kNone).object).error().code,
            ErrorCode::kCancelled);
}

TEST(XorbStream, RefusesMoreChunksThanAXorbHas) {
  const ByteVector record = FromHex("000100000001000041");
  XorbStream stream;
  for (size_t i = 0; i < 8192; ++i) ASSERT_TRUE(stream.Write(record));
  EXPECT_EQ(stream.Write(record).error().message,
            "chunk 8192: xorb has more than 8192 chunks");
}

TEST(XorbWriter, StaysBelow64MiBWhateverCompresses) {
  uint64_t raw = 0;
  uint64_t chunks = 0;
  while (XorbHasRoom(chunks, raw, 65536)) {
    raw += 65536;
    ++chunks;
  }
  EXPECT_EQ(chunks, 1023U);
  EXPECT_LE(raw + 8 * chunks + XorbFooterBytes(chunks), uint64_t{64} << 20);
  EXPECT_FALSE(XorbHasRoom(8192, 8192, 1));
  EXPECT_TRUE(XorbHasRoom(8191, 8191, 1));
  EXPECT_TRUE(XorbHasRoom(0, 0, 131072));
}

TEST(XorbWriter, BeginsAnewAfterFinish) {
  XorbWriter writer;
  ChunkCompressor compressor;
  const auto chunk = Text("Hello World!");
  for (int round = 0; round < 2; ++round) {
    writer.Add(ChunkHash(chunk), chunk.size(), compressor.Encode(chunk, Scheme::kLz4));
    EXPECT_EQ(writer.chunks(), 1U);
    EXPECT_EQ(writer.raw_bytes(), 12U);
    EXPECT_EQ(writer.stored_bytes(), 20U);
    EXPECT_EQ(writer.Finish(Footer::kNone).index.hash, ChunkHash(chunk));
  }
}

TEST(SchemeChooser, AsksTheFirstOf32Chunks) {
  ByteVector numbers(65536);
  for (size_t i = 0; i < numbers.size(); i += 4) {
    StoreLE(numbers.data() + i, static_cast<uint32_t>(i / 4));
  }
  const ByteVector zeros(4096);
  ASSERT_EQ(ChooseScheme(numbers), Scheme::kBg4Lz4);
  SchemeChooser chooser;
  EXPECT_EQ(chooser.Next(numbers), Scheme::kBg4Lz4);
  for (int i = 1; i < 32; ++i) EXPECT_EQ(chooser.Next(zeros), Scheme::kBg4Lz4);
  EXPECT_EQ(chooser.Next(zeros), Scheme::kLz4);
  EXPECT_EQ(chooser.Next(numbers), Scheme::kLz4);
  chooser.Restart();
  EXPECT_EQ(chooser.Next(numbers), Scheme::kBg4Lz4);
}

}  // namespace
}  // namespace dolium::xet
