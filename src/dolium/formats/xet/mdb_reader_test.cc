// Shards, read as streams and by footer.
#include "dolium/formats/xet/mdb_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_stream.h"
#include "dolium/formats/xet/testing/shards.h"
#include "dolium/formats/xet/testing/vectors.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {
namespace {

using ::testing::HasSubstr;

// The blocks of a shard, in order, and its footer.
struct Contents {
  std::vector<ByteVector> files;
  std::vector<ByteVector> xorbs;
  std::optional<ShardFooter> footer;

  ShardVisitor visitor() {
    const auto keep = [](std::vector<ByteVector>& to) {
      return [&to](const auto& block) -> Result<void> {
        to.emplace_back(block.bytes().begin(), block.bytes().end());
        return {};
      };
    };
    return {.file = keep(files), .xorb = keep(xorbs)};
  }
  friend bool operator==(const Contents&, const Contents&) = default;
};

Result<Contents> ByStream(BytesView shard, size_t segment) {
  Contents contents;
  ShardStream stream(contents.visitor());
  for (size_t at = 0; at < shard.size(); at += segment) {
    DOLIUM_TRY_VOID(
        stream.Write(shard.subspan(at, std::min(segment, shard.size() - at))));
  }
  DOLIUM_TRY(contents.footer, stream.Finish());
  return contents;
}

Result<Contents> ByFooter(BytesView shard) {
  Contents contents;
  DOLIUM_TRY(const ShardView view, ShardView::Open(shard));
  DOLIUM_TRY_VOID(view.Scan(contents.visitor()));
  contents.footer = view.footer();
  return contents;
}

// The error of both ways of reading, which must both refuse.
std::pair<std::string, std::string> Errors(BytesView shard) {
  const auto streamed = ByStream(shard, 100);
  const auto opened = ByFooter(shard);
  EXPECT_FALSE(streamed);
  EXPECT_FALSE(opened);
  return {streamed ? "" : streamed.error().message, opened ? "" : opened.error().message};
}

// The same error from both.
std::string Refusal(BytesView shard) {
  const auto [streamed, opened] = Errors(shard);
  EXPECT_EQ(streamed, opened);
  return streamed;
}

ByteVector Changed(BytesView shard, size_t at, uint64_t value) {
  ByteVector out(shard.begin(), shard.end());
  StoreLE(out.data() + at, value);
  return out;
}

ByteVector Changed32(BytesView shard, size_t at, uint32_t value) {
  ByteVector out(shard.begin(), shard.end());
  StoreLE(out.data() + at, value);
  return out;
}

// Changes a field of the footer of the full vector.
ByteVector FooterChanged(size_t field, uint64_t value) {
  const ByteVector shard = ShardVector("full");
  return Changed(shard, shard.size() - kShardFooterSize + field, value);
}

TEST(Shard, IsTheSameAsAStreamAndByFooter) {
  for (const std::string& name : ShardVectorNames()) {
    const ByteVector shard = ShardVector(name);
    const auto opened = ByFooter(shard);
    ASSERT_TRUE(opened) << name << ": " << opened.error().message;
    for (const size_t segment : {1UL, 47UL, 48UL, 49UL, 199UL, 200UL, 201UL, 100000UL}) {
      const auto streamed = ByStream(shard, segment);
      ASSERT_TRUE(streamed) << name << ": " << streamed.error().message;
      EXPECT_EQ(*streamed, *opened) << name << " in segments of " << segment;
    }
  }
}

TEST(Shard, IsReadWithAFooterThatKnowsOfNoTables) {
  for (const char* name : {"full", "keyed", "minimal full", "empty"}) {
    const ByteVector with = ShardVector(name);
    const ByteVector without = WithoutTables(with);
    EXPECT_TRUE(std::all_of(without.end() - 200 + 24, without.end() - 200 + 72,
                            [](std::byte byte) { return byte == std::byte{0}; }));
    const auto opened = ByFooter(without);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(ByStream(without, 61).value(), *opened);
    const auto expected = ByFooter(with).value();
    EXPECT_EQ(opened->files, expected.files);
    EXPECT_EQ(opened->xorbs, expected.xorbs);
    EXPECT_EQ(opened->footer->key, expected.footer->key);
    EXPECT_TRUE(CheckShard(ShardView::Open(without).value()));
  }
}

TEST(ShardStream, ReadsFromAPipe) {
  const ByteVector shard = ShardVector("full");
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  std::jthread writer([&] {
    EXPECT_EQ(write(ends[1], shard.data(), shard.size()),
              static_cast<ssize_t>(shard.size()));
    close(ends[1]);
  });
  Contents contents;
  ShardStream stream(contents.visitor());
  std::array<std::byte, 333> buffer;
  for (;;) {
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    ASSERT_GE(got, 0);
    if (got == 0) break;
    ASSERT_TRUE(stream.Write(BytesView(buffer).first(static_cast<size_t>(got))));
  }
  close(ends[0]);
  contents.footer = stream.Finish().value();
  EXPECT_EQ(contents, ByFooter(shard).value());
}

TEST(ShardView, HasWhatTheVectorsSay) {
  const ByteVector shard = ShardVector("full");
  const auto view = ShardView::Open(shard).value();
  FileCursor files = view.files();
  for (const auto& v : Vectors()["shard"]["files"]) {
    const auto file = files.Next().value();
    ASSERT_TRUE(file);
    EXPECT_EQ(ToString(file->hash()), v["file_str"]);
    EXPECT_EQ(file->raw_bytes(), v["size"]);
    EXPECT_EQ(ToString(file->sha256().value()), v["sha256_hex"]);
    ASSERT_EQ(file->size(), v["terms"].size());
    for (size_t i = 0; i < file->size(); ++i) {
      EXPECT_EQ(file->term(i).first, v["terms"][i]["start"]);
      EXPECT_EQ(file->term(i).end, v["terms"][i]["end"]);
      EXPECT_EQ(file->term(i).raw_bytes, v["terms"][i]["bytes"]);
      EXPECT_EQ(ToString(file->verification(i)), v["terms"][i]["range_str"]);
    }
  }
  EXPECT_FALSE(files.Next().value());
  XorbCursor xorbs = view.xorbs();
  const auto xorb = xorbs.Next().value();
  ASSERT_TRUE(xorb);
  EXPECT_EQ(ToString(xorb->hash()), Vectors()["shard"]["xorb_str"]);
  EXPECT_EQ(xorb->size(), 20U);
  EXPECT_EQ(xorb->raw_bytes(), 1000012U);
  EXPECT_EQ(xorb->chunk(1).offset, 12U);
  EXPECT_FALSE(xorbs.Next().value());
  EXPECT_EQ(ToString(ChunkHash(shard)) + ".mdb",
            Vectors()["shard"]["full_local_file_name"]);
}

TEST(ShardView, KnowsWhenItExpires) {
  const ByteVector keyed = ShardVector("keyed");
  const auto view = ShardView::Open(keyed).value();
  EXPECT_EQ(view.footer()->created, 1700000000U);
  EXPECT_EQ(view.footer()->expiry, 4000000000U);
  EXPECT_FALSE(view.IsExpired(4000000000));
  EXPECT_TRUE(view.IsExpired(4000000001));
  EXPECT_EQ(view.key(), RawHashOf(Vectors()["keyed_chunk_hash"][0]["key_raw"]));
  const ByteVector full = ShardVector("full");
  // In answers of servers, 0 says that there is no expiry.
  const ByteVector unlimited =
      Changed(keyed, keyed.size() - kShardFooterSize + 112, uint64_t{0});
  EXPECT_FALSE(ShardView::Open(unlimited)->IsExpired(4000000001));
  EXPECT_FALSE(ShardView::Open(full)->IsExpired(kNeverExpires));
  const ByteVector upload = ShardVector("upload");
  EXPECT_FALSE(ShardView::Open(upload)->IsExpired(kNeverExpires));
}

TEST(CheckShard, TakesTheVectors) {
  for (const std::string& name : ShardVectorNames()) {
    const ByteVector shard = ShardVector(name);
    const auto checked = CheckShard(ShardView::Open(shard).value());
    EXPECT_TRUE(checked) << name << ": " << checked.error().message;
  }
}

TEST(Shard, IsRefusedWithAnotherTag) {
  for (const size_t at : {0UL, 13UL, 14UL, 31UL}) {
    ByteVector shard = ShardVector("full");
    shard[at] ^= std::byte{1};
    EXPECT_EQ(Refusal(shard), "not a shard: it does not begin with the tag of one");
  }
}

TEST(Shard, IsRefusedWithAnotherHeaderVersion) {
  for (const uint64_t version : {0UL, 1UL, 3UL, 1UL << 32 | 2}) {
    EXPECT_EQ(Refusal(Changed(ShardVector("full"), 32, version)),
              fmt::format("shard header has version {}, 2 expected", version));
  }
}

TEST(Shard, IsRefusedWithAnotherFooterVersion) {
  for (const uint64_t version : {0UL, 2UL}) {
    EXPECT_EQ(Refusal(FooterChanged(0, version)),
              fmt::format("shard footer has version {}, 1 expected", version));
  }
}

TEST(Shard, IsRefusedWithAnotherFooterSize) {
  EXPECT_EQ(Refusal(Changed(ShardVector("full"), 40, 199)),
            "shard header says the footer has 199 bytes, 0 or 200 expected");
  EXPECT_THAT(Refusal(Changed(ShardVector("full"), 40, 0)),
              HasSubstr("bytes follow a shard that says it has no footer"));
}

// As hf_xet 1.1.7 to 1.2.0 wrote them.
TEST(Shard, IsReadWithoutTheFooterThatItsHeaderAnnounces) {
  for (const char* name : {"upload", "minimal upload"}) {
    const ByteVector plain = ShardVector(name);
    const ByteVector announced = Changed(plain, 40, kShardFooterSize);
    const auto expected = ByFooter(plain).value();
    const auto opened = ByFooter(announced);
    ASSERT_TRUE(opened) << name << ": " << opened.error().message;
    EXPECT_EQ(*opened, expected);
    EXPECT_FALSE(opened->footer);
    for (const size_t segment : {1UL, 48UL, 199UL, 100000UL}) {
      const auto streamed = ByStream(announced, segment);
      ASSERT_TRUE(streamed) << name << ": " << streamed.error().message;
      EXPECT_EQ(*streamed, expected);
    }
    const auto checked = CheckShard(ShardView::Open(announced).value());
    EXPECT_TRUE(checked) << name << ": " << checked.error().message;
  }
}

TEST(Shard, IsRefusedWithoutAFooterThatItNeeds) {
  // The key is in the footer.
  const ByteVector keyed = ShardVector("keyed");
  const uint64_t end = ByFooter(keyed)->footer->xorbs_end();
  EXPECT_EQ(Refusal(BytesView(keyed).first(end)),
            "shard ends where its xorbs end, without its footer: its hashes may be "
            "keyed; is it complete?");
  const ByteVector empty = ShardVector("empty");
  EXPECT_EQ(Refusal(BytesView(empty).first(3 * kRecordSize)),
            "shard ends where its xorbs end, without its footer: it holds nothing; is it "
            "complete?");
}

TEST(Shard, IsNoUploadIfItsLastRecordMayBeOfAFooter) {
  const ByteVector upload = Changed(ShardVector("upload"), 40, kShardFooterSize);
  const ByteVector shard =
      Changed(upload, upload.size() - 8, upload.size() - kShardFooterSize);
  EXPECT_THAT(Errors(shard).first, HasSubstr("its last record has more than an end"));
}

TEST(Shard, SaysThatItIsCutShort) {
  const ByteVector full = ShardVector("full");
  const uint64_t end = ByFooter(full)->footer->xorbs_end();
  const auto message = [&](uint64_t size) {
    return Errors(BytesView(full).first(size)).second;
  };
  EXPECT_THAT(message(end - 1), HasSubstr("are no footer; is it complete?; xorb"));
  EXPECT_THAT(message(end + 1), HasSubstr("are no footer; is it complete?"));
  EXPECT_THAT(message(full.size() - 1), HasSubstr("are no footer; is it complete?"));
}

TEST(Shard, IsRefusedWithOffsetsOutOfBoundsOrOrder) {
  const ByteVector shard = ShardVector("full");
  const auto footer = ByFooter(shard)->footer.value();
  const uint64_t beyond = shard.size() + 48;
  EXPECT_THAT(Refusal(FooterChanged(8, 0)), HasSubstr("offset of files"));
  EXPECT_THAT(Refusal(FooterChanged(8, 96)), HasSubstr("offset of files"));
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{48}, footer.files.offset, beyond, ~uint64_t{0}}) {
    Errors(FooterChanged(16, value));
  }
  EXPECT_THAT(Refusal(FooterChanged(16, beyond)), HasSubstr("offset of xorbs"));
  EXPECT_THAT(Refusal(FooterChanged(16, footer.xorb_info + 1)),
              HasSubstr("not at records"));
  EXPECT_THAT(Refusal(FooterChanged(24, beyond)), HasSubstr("end of xorbs"));
  EXPECT_THAT(Refusal(FooterChanged(24, 0)), HasSubstr("offset of xorbs"));
  EXPECT_THAT(Refusal(FooterChanged(40, footer.files.offset)),
              HasSubstr("offset of the xorb table"));
  EXPECT_THAT(Refusal(FooterChanged(56, footer.xorbs.offset)),
              HasSubstr("offset of the chunk table"));
  EXPECT_THAT(Refusal(FooterChanged(56, beyond)), HasSubstr("offset of the chunk table"));
  EXPECT_THAT(Refusal(FooterChanged(192, 0)), HasSubstr("says it begins at 0"));
  EXPECT_THAT(Refusal(FooterChanged(192, footer.footer_offset + 1)),
              HasSubstr("says it begins at"));
}

TEST(Shard, IsRefusedWithCountsThatOverflow) {
  for (const size_t field : {32UL, 48UL, 64UL}) {
    for (const uint64_t count :
         {uint64_t{1000}, ~uint64_t{0}, ~uint64_t{0} / 12 + 1, ~uint64_t{0} / 16 + 1}) {
      EXPECT_THAT(Refusal(FooterChanged(field, count)), HasSubstr("rows at"));
    }
  }
  // Of terms, and of chunks.
  const ByteVector upload = ShardVector("upload");
  for (const uint32_t count : {~uint32_t{0}, uint32_t{1000}}) {
    EXPECT_THAT(Errors(Changed32(upload, 48 + 36, count)).second,
                HasSubstr("bytes of records"));
    const ByteVector keyed = ShardVector("keyed");
    EXPECT_THAT(Errors(Changed32(keyed, 96 + 36, count)).second,
                HasSubstr("bytes of records"));
  }
}

TEST(ShardStream, RefusesBlocksBeyondTheLimit) {
  ShardStream stream({}, 1000);
  EXPECT_THAT(stream.Write(ShardVector("full")).error().message,
              HasSubstr("says it has 1008 bytes of records, at most 1000 expected"));
}

TEST(Shard, IsRefusedWithoutBookends) {
  const ByteVector full = ShardVector("full");
  const auto footer = ByFooter(full)->footer.value();
  for (const uint64_t end : {footer.xorb_info, footer.files.offset}) {
    ByteVector shard = full;
    shard[end - 48] = std::byte{0};
    const auto [streamed, opened] = Errors(shard);
    EXPECT_THAT(opened, HasSubstr("do not end with a bookend"));
  }
  const ByteVector upload = ShardVector("upload");
  EXPECT_EQ(
      ByFooter(BytesView(upload).first(upload.size() - 48)).error().message.substr(0, 4),
      "xorb");
  Errors(BytesView(upload).first(upload.size() - 48));
}

TEST(Shard, IsRefusedIfASectionEndsBeforeItsBookend) {
  // A bookend in place of a file: the files end there, and blocks follow.
  const ByteVector full = ShardVector("full");
  ByteVector shard = full;
  std::fill(shard.begin() + 48, shard.begin() + 80, std::byte{0xFF});
  const auto [streamed, opened] = Errors(shard);
  EXPECT_THAT(opened, HasSubstr("bytes before they should"));
}

TEST(Shard, IsRefusedWithMixedVerification) {
  auto files = FilesOfShardVector();
  files[1].is_verified = false;
  ByteVector shard;
  AppendShardHeader({.footer_size = 0}, shard);
  for (const FileInfo& file : files) AppendFile(file, shard);
  AppendBookend(shard);
  AppendBookend(shard);
  // Opening walks through the blocks, and reading them compares.
  EXPECT_THAT(Refusal(shard), HasSubstr("has no verification, files before it have one"));
  EXPECT_THAT(Refusal(Changed(shard, 40, kShardFooterSize)),
              HasSubstr("has no verification, files before it have one"));
}

TEST(Shard, WithFooterMayHaveMixedVerification) {
  auto files = FilesOfShardVector();
  files[1].is_verified = false;
  const auto shard = WriteShard(files, XorbsOfShardVector(), {}).value();
  const auto opened = ByFooter(shard);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(ByStream(shard, 100).value(), *opened);
  EXPECT_TRUE(CheckShard(ShardView::Open(shard).value()));
}

TEST(Shard, IsRefusedWithUnknownFlags) {
  EXPECT_THAT(Refusal(Changed32(ShardVector("upload"), 48 + 32, 0xC0000001)),
              HasSubstr("file has flags 0xc0000001"));
}

TEST(Shard, IsRefusedCutShortAnywhere) {
  for (const char* name : {"full", "upload", "keyed", "empty"}) {
    const ByteVector shard = ShardVector(name);
    const auto footer = ByFooter(shard)->footer;
    const uint64_t sections = footer ? footer->xorbs_end() : shard.size();
    for (size_t size = 0; size < shard.size(); size += 1 + size / 50) {
      const BytesView cut = BytesView(shard).first(size);
      // What is left then is an upload with all that the shard has.
      if (name == std::string_view("full") && size == sections) continue;
      EXPECT_FALSE(ByFooter(cut)) << name << " cut to " << size;
      EXPECT_FALSE(ByStream(cut, 1000)) << name << " cut to " << size;
    }
  }
}

TEST(Shard, HoldsEmptyFiles) {
  FileInfo empty;
  empty.is_verified = true;
  const auto shard = WriteShard({empty}, {}, {}).value();
  const auto contents = ByFooter(shard).value();
  EXPECT_EQ(ByStream(shard, 5).value(), contents);
  ASSERT_EQ(contents.files.size(), 1U);
  const FileBlock file(contents.files[0]);
  EXPECT_TRUE(file.hash().is_zero());
  EXPECT_EQ(file.raw_bytes(), 0U);
  EXPECT_EQ(file.sha256(), std::nullopt);
  EXPECT_TRUE(CheckShard(ShardView::Open(shard).value()));
}

TEST(CheckShard, FindsTermsThatDisagreeWithTheirXorb) {
  const auto error_with = [](auto change) {
    auto files = FilesOfShardVector();
    auto xorbs = XorbsOfShardVector();
    change(files[0], xorbs[0]);
    const ByteVector shard = WriteShard(files, xorbs, {}).value();
    const auto checked = CheckShard(ShardView::Open(shard).value());
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(error_with([](FileInfo&, XorbInfo&) {}), "");
  EXPECT_THAT(error_with([](FileInfo& file, XorbInfo&) { file.terms[0].end = 21; }),
              HasSubstr("which has 20"));
  EXPECT_THAT(error_with([](FileInfo& file, XorbInfo&) { ++file.terms[0].raw_bytes; }),
              HasSubstr("expected"));
  EXPECT_THAT(error_with([](FileInfo& file, XorbInfo&) { file.terms[0].end = 0; }),
              HasSubstr("term 0 has chunks ["));
  EXPECT_THAT(error_with([](FileInfo& file, XorbInfo&) { file.verification[0] = {}; }),
              HasSubstr("term 0: verification is 0000"));
  EXPECT_THAT(error_with([](FileInfo& file, XorbInfo&) { file.hash = kDataKey; }),
              HasSubstr("chunks give the hash"));
  EXPECT_THAT(error_with([](FileInfo&, XorbInfo& xorb) { ++xorb.chunks[3].offset; }),
              HasSubstr("chunk 3 has"));
}

TEST(CheckShard, RefusesXorbsThatAreTooLarge) {
  const auto error_of = [](const XorbInfo& xorb) {
    const ByteVector shard = WriteShard({}, {xorb}, {}).value();
    const auto checked = CheckShard(ShardView::Open(shard).value());
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(error_of(MadeUpXorb(1, kMaxXorbChunks)), "");
  EXPECT_THAT(error_of(MadeUpXorb(1, kMaxXorbChunks + 1)), HasSubstr("8193 chunks of"));
  XorbInfo large = MadeUpXorb(1, 1);
  large.chunks[0].raw_bytes = kMaxXorbRaw + 1;
  EXPECT_THAT(error_of(large), HasSubstr("1 chunks of 67108865 bytes, expected at most"));
}

// A shard of some 400 KB must not cost hours: N terms of N chunks are N * N to hash.
TEST(CheckShard, RefusesTermsThatShareMoreChunksThanItCanHash) {
  const XorbInfo xorb = MadeUpXorb(1, 4000);
  uint32_t raw = 0;
  for (const ChunkEntry& chunk : xorb.chunks) raw += chunk.raw_bytes;
  FileInfo file;
  file.hash = kDataKey;
  file.terms.assign(4000, Term{xorb.hash, raw, 0, 4000});
  const ByteVector shard = WriteShard({file}, {xorb}, {}).value();
  const auto checked = CheckShard(ShardView::Open(shard).value());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(checked.error().message, HasSubstr("in a shard of 8004 records"));
  // Some hundred times are fine.
  file.terms.resize(200);
  const ByteVector fewer = WriteShard({file}, {xorb}, {}).value();
  EXPECT_THAT(CheckShard(ShardView::Open(fewer).value()).error().message,
              HasSubstr("chunks give the hash"));
}

TEST(CheckShard, FindsEveryFlippedBitThatMatters) {
  const ByteVector full = ShardVector("full");
  const auto footer = ByFooter(full)->footer.value();
  // Hashes and numbers of records and tables; sums, times and reserved bytes aside.
  size_t missed = 0;
  for (uint64_t at = 48; at < footer.footer_offset; ++at) {
    ByteVector damaged = full;
    damaged[at] ^= std::byte{4};
    const auto view = ShardView::Open(damaged);
    if (view && CheckShard(*view)) ++missed;
  }
  // The SHA-256 of three files, the xorbs that four terms name (others need not be
  // described here), the stored size of the xorb, and what is unused.
  const uint64_t unused_of_files = 3 * (8 + 16) + 4 * (4 + 16) + 16;
  const uint64_t unused_of_xorbs = 4 + 4 + 20 * 8 + 16;
  EXPECT_EQ(missed, 3 * 32 + 4 * 32 + unused_of_files + unused_of_xorbs);
}

}  // namespace
}  // namespace dolium::xet
