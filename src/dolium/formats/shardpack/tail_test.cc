#include "dolium/formats/shardpack/tail.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::shardpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Footer GoodFooter() {
  return {.index_offset = 160,
          .record_count = 2,
          .file_size = 160 + 24 + 80 + 64,
          .directory_size = 80,
          .index_crc32c = 1,
          .directory_crc32c = 2,
          .align_log2 = 4,
          .features_optional = 1};
}

TEST(ParseFooter, UndoesWriteFooter) {
  const Footer want = GoodFooter();
  const Footer footer = Must(ParseFooter(WriteFooter(want), want.file_size));
  EXPECT_EQ(footer.index_offset, 160U);
  EXPECT_EQ(footer.record_count, 2U);
  EXPECT_EQ(footer.file_size, want.file_size);
  EXPECT_EQ(footer.directory_size, 80U);
  EXPECT_EQ(footer.index_crc32c, 1U);
  EXPECT_EQ(footer.directory_crc32c, 2U);
  EXPECT_EQ(footer.align_log2, 4U);
  EXPECT_EQ(footer.features_optional, 1U);
  EXPECT_EQ(footer.index(), (ByteRange{160, 24}));
  EXPECT_EQ(footer.directory(), (ByteRange{184, 80}));
}

TEST(ParseFooter, ReportsFilesOfAnotherSize) {
  const auto bytes = WriteFooter(GoodFooter());
  EXPECT_EQ(KindOf(ParseFooter(bytes, GoodFooter().file_size - 1)), kind::kIncomplete);
  EXPECT_EQ(KindOf(ParseFooter(bytes, GoodFooter().file_size + 1)), kind::kTrailingData);
  EXPECT_EQ(KindOf(ParseFooter(BytesView(bytes).first(63), 63)), kind::kIncomplete);
  EXPECT_EQ(KindOf(ParseFooter({}, 0)), kind::kIncomplete);
}

TEST(ParseFooter, GivesOnlyPlacesWithinTheFile) {
  const auto kind_with = [](auto change) {
    Footer footer = GoodFooter();
    change(footer);
    return KindOf(ParseFooter(WriteFooter(footer), GoodFooter().file_size));
  };
  EXPECT_EQ(kind_with([](Footer&) {}), "ok");
  EXPECT_EQ(kind_with([](Footer& f) { f.record_count = 3; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.record_count = UINT64_MAX; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.record_count = uint64_t{1} << 61; }),
            kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.index_offset = UINT64_MAX; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.index_offset = 168; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.directory_size = 120; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.directory_size = 79; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.directory_size = UINT32_MAX; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.align_log2 = 2; }), kind::kIndex);
  EXPECT_EQ(kind_with([](Footer& f) { f.features_required = 1; }),
            kind::kUnsupportedFeature);
}

// An index of these offsets, with a footer for it.
struct Index {
  ByteVector bytes;
  Footer footer;

  Index(const std::vector<uint64_t>& offsets, uint64_t end) {
    bytes.resize(8 * (offsets.size() + 1));
    StoreLE(bytes.data(), uint64_t{offsets.size()});
    for (size_t i = 0; i < offsets.size(); ++i) {
      StoreLE(bytes.data() + 8 * (i + 1), offsets[i]);
    }
    footer = {.index_offset = end,
              .record_count = offsets.size(),
              .index_crc32c = Crc32c(bytes),
              .align_log2 = 4};
  }
  std::string Kind() const { return KindOf(CheckIndex(footer, bytes)); }
};

TEST(CheckIndex, WantsOffsetsThatAscendFromNothingToTheIndex) {
  EXPECT_EQ(Index({}, 0).Kind(), "ok");
  EXPECT_EQ(Index({0, 48, 96}, 144).Kind(), "ok");
  EXPECT_EQ(Index({}, 48).Kind(), kind::kIndex);
  EXPECT_EQ(Index({16, 64}, 128).Kind(), kind::kIndex);
  EXPECT_EQ(Index({0, 48, 48}, 96).Kind(), kind::kIndex);
  EXPECT_EQ(Index({0, 96, 48}, 144).Kind(), kind::kIndex);
  EXPECT_EQ(Index({0, 48}, 64).Kind(), kind::kIndex);   // too small a record
  EXPECT_EQ(Index({0, 56}, 112).Kind(), kind::kIndex);  // not aligned
  EXPECT_EQ(Index({0, 48}, 100).Kind(), kind::kIndex);
  EXPECT_EQ(Index({0, UINT64_MAX - 15}, 48).Kind(), kind::kIndex);
  EXPECT_EQ(CheckIndex(Index({0, 96, 48}, 144).footer, Index({0, 96, 48}, 144).bytes)
                .error()
                .message,
            "record 1 lies at [96, 48)");
}

TEST(CheckIndex, HoldsItAgainstTheFooter) {
  Index index({0, 48}, 96);
  index.footer.index_crc32c ^= 1;
  EXPECT_EQ(index.Kind(), kind::kIndex);
  index.footer.index_crc32c ^= 1;
  index.footer.record_count = 1;
  EXPECT_EQ(index.Kind(), kind::kIndex);
}

std::vector<NewSection> TwoSections() {
  const std::string text(500, 'x');
  const BytesView bytes = AsBytes(text);
  return {
      {.tag = "KEYS", .body = ByteVector(bytes.begin(), bytes.end()), .compress = true},
      {.tag = "META", .body = ByteVector(5, std::byte{'m'}), .format = 1}};
}

struct LaidOut {
  SectionsAndDirectory parts;
  Footer footer;
  Result<std::vector<Section>> sections = std::vector<Section>();

  explicit LaidOut(const std::vector<NewSection>& list) {
    parts = LayOutSections(list, 184);
    footer = {.index_offset = 160,
              .record_count = 2,
              .file_size = 184 + parts.bytes.size() + kFooterBytes,
              .directory_size = parts.directory_size,
              .directory_crc32c = parts.directory_crc32c};
    sections = ParseDirectory(footer, BytesView(parts.bytes).last(parts.directory_size));
  }
  Bytes Stored(const Section& section) const {
    return Bytes::Copy(
        BytesView(parts.bytes).subspan(section.range.offset - 184, section.range.length));
  }
};

TEST(ParseDirectory, UndoesLayOutSections) {
  const LaidOut laid_out(TwoSections());
  const auto& sections = Must(laid_out.sections);
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].name(), "KEYS");
  EXPECT_EQ(sections[0].codec, 3);  // It shrinks.
  EXPECT_EQ(sections[0].raw_size, 500U);
  EXPECT_EQ(sections[1].codec, 0);
  EXPECT_EQ(sections[1].format, 1);
  EXPECT_EQ(sections[1].range.offset % 8, 0U);
  EXPECT_EQ(FindSection(sections, "META"), &sections[1]);
  EXPECT_EQ(FindSection(sections, "STAT"), nullptr);
  EXPECT_EQ(AsText(Must(ReadSection(sections[0], laid_out.Stored(sections[0]), 500))),
            std::string(500, 'x'));
  EXPECT_EQ(KindOf(ReadSection(sections[0], laid_out.Stored(sections[0]), 499)),
            kind::kLimit);
  Section damaged = sections[1];
  damaged.crc32c ^= 1;
  const auto read = ReadSection(damaged, laid_out.Stored(damaged), 500);
  EXPECT_EQ(KindOf(read), kind::kSection);
  EXPECT_THAT(read.error().message, HasSubstr("section META: content has CRC-32C"));
}

TEST(ParseDirectory, RefusesPlacesOutsideAndWhatItMustUnderstand) {
  LaidOut laid_out(TwoSections());
  const auto change = [&](size_t at, uint64_t value, size_t size) {
    ByteVector directory(laid_out.parts.bytes.end() - laid_out.parts.directory_size,
                         laid_out.parts.bytes.end());
    for (size_t i = 0; i < size; ++i) {
      directory[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
    Footer footer = laid_out.footer;
    footer.directory_crc32c = Crc32c(directory);
    return KindOf(ParseDirectory(footer, directory));
  };
  EXPECT_EQ(change(8, 0, 8), kind::kSection);  // in the records
  EXPECT_EQ(change(8, UINT64_MAX, 8), kind::kSection);
  EXPECT_EQ(change(16, UINT64_MAX - 200, 8), kind::kSection);
  EXPECT_EQ(change(16, laid_out.parts.bytes.size(), 8), kind::kSection);
  EXPECT_EQ(change(4, 1, 2), "ok");  // REQUIRED, and known
  EXPECT_EQ(change(0, 'N', 1), "ok");
  EXPECT_EQ(change(0, 0x0001'0000'0000 | 0x58575A4E, 6), kind::kUnsupportedFeature);
  laid_out.footer.directory_crc32c ^= 1;
  EXPECT_EQ(KindOf(ParseDirectory(
                laid_out.footer,
                BytesView(laid_out.parts.bytes).last(laid_out.parts.directory_size))),
            kind::kSection);
}

}  // namespace
}  // namespace dolium::shardpack
