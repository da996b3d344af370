#include "dolium/domain/dataset/imports/webdataset.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/dataset/imports/tar_header.h"
#include "dolium/domain/dataset/imports/testing/samples.h"
#include "dolium/domain/dataset/imports/webdataset_name.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// An archive in the making.
class Tar {
 public:
  Tar& Add(const TarHeader& header, std::string_view content) {
    TarHeader sized = header;
    sized.size = content.size();
    AppendTarHeader(sized, bytes_);
    return Content(content);
  }
  Tar& Add(std::string_view name, std::string_view content) {
    return Add(TarHeader{.name = std::string(name)}, content);
  }
  Tar& Content(std::string_view content) {
    Append(bytes_, AsBytes(content));
    bytes_.resize(bytes_.size() + TarPadding(content.size()));
    return *this;
  }
  Tar& End() {
    bytes_.resize(bytes_.size() + 2 * kTarBlock);
    return *this;
  }
  ByteVector& bytes() { return bytes_; }

  std::unique_ptr<SampleSource> Read(const ImportOptions& options = {}) const {
    return ReadWebDataset(Must(InputStream::Open(Bytes::Copy(bytes_), "t.tar")), options);
  }
  std::vector<std::string> Samples(const ImportOptions& options = {}) const {
    return Described(ReadAll(*Read(options)));
  }
  std::string Error() const { return FirstError(*Read()); }

 private:
  ByteVector bytes_;
};

TEST(WebDatasetName, EndsTheKeyAtTheFirstDotOfTheBaseName) {
  EXPECT_EQ(SplitAtFirstDot("a/b.jpg"), (StemAndRest{"a/b", "jpg"}));
  EXPECT_EQ(SplitAtFirstDot("a.b/c.seg.png"), (StemAndRest{"a.b/c", "seg.png"}));
  EXPECT_EQ(SplitAtFirstDot("x."), (StemAndRest{"x", ""}));
  EXPECT_EQ(SplitAtFirstDot("./x.y"), (StemAndRest{"./x", "y"}));
  EXPECT_EQ(SplitAtFirstDot("README"), std::nullopt);
  EXPECT_EQ(SplitAtFirstDot("a.b/README"), std::nullopt);
  EXPECT_EQ(SplitAtFirstDot(".hidden"), std::nullopt);
  // Odd, but what WebDataset's pattern gives.
  EXPECT_EQ(SplitAtFirstDot("dir/.hidden"), (StemAndRest{"dir/", "hidden"}));
  EXPECT_EQ(SplitAtFirstDot("a.b/.hidden"), std::nullopt);
  EXPECT_EQ(SplitAtFirstDot(""), std::nullopt);
}

TEST(WebDatasetName, SaysWhatReadersPass) {
  EXPECT_TRUE(IsWebDatasetMeta("__info__"));
  EXPECT_TRUE(IsWebDatasetMeta("__meta__/a.json"));
  EXPECT_FALSE(IsWebDatasetMeta("__a__b/c.json"));
  EXPECT_FALSE(IsWebDatasetMeta("a/__b__"));
  EXPECT_FALSE(IsWebDatasetMeta("___/a"));
}

TEST(WebDataset, GroupsFilesInARowByKey) {
  Tar tar;
  tar.Add("a/1.jpg", "J1").Add("a/1.cls", "0").Add("a/2.jpg", "J2").End();
  const auto samples = ReadAll(*tar.Read());
  EXPECT_THAT(Described(samples), ElementsAre("a/1: jpg=J1 cls=0", "a/2: jpg=J2"));
  EXPECT_EQ(samples[0].files[0].content_type, "image/jpeg");
  EXPECT_EQ(samples[0].files[1].content_type, "text/plain");
  EXPECT_EQ(samples[0].files[0].modified, std::nullopt);
}

TEST(WebDataset, TakesAKeyThatComesAgainForAnotherSample) {
  Tar tar;
  tar.Add("a.x", "1").Add("b.x", "2").Add("a.y", "3").End();
  EXPECT_THAT(tar.Samples(), ElementsAre("a: x=1", "b: x=2", "a: y=3"));
}

TEST(WebDataset, PassesWhatItsReadersPass) {
  Tar tar;
  tar.Add("__meta__/x.json", "{}")
      .Add("README", "no dot")
      .Add({.name = "d/", .type = '5'}, "")
      .Add({.name = "d/l.jpg", .type = '2'}, "")
      .Add("d/a.x", "1")
      .Add("NOTES", "between two files of a sample")
      .Add("d/a.y", "2")
      .End();
  EXPECT_THAT(tar.Samples(), ElementsAre("d/a: x=1 y=2"));
}

TEST(WebDataset, SaysWhatIsOfNoSample) {
  Tar tar;
  tar.Add("README", "no dot")
      .Add({.name = "d/", .type = '5'}, "")
      .Add({.name = "d/l.jpg", .type = '2'}, "")
      .Add("d/a.x", "1")
      .Add({.name = "d/h.jpg", .type = '1'}, "")
      .Add({.name = "d/p.jpg", .type = '6'}, "")
      .End();
  const auto source = tar.Read();
  EXPECT_THAT(Described(ReadAll(*source)), ElementsAre("d/a: x=1"));
  // They are known behind the last sample.
  EXPECT_TRUE(source->TakeLeftOut(1).empty());
  std::vector<std::string> said;
  for (const Finding& finding : source->TakeLeftOut(2)) {
    EXPECT_EQ(finding.severity, Severity::kWarning);
    EXPECT_EQ(finding.object, "t.tar");
    said.push_back(finding.message);
  }
  EXPECT_THAT(said,
              ElementsAre("2 links, for which an archive has no content, d/l.jpg the "
                          "first of them; left out",
                          "d/p.jpg: is no file; left out",
                          "README: is of no sample by its name; left out"));
  EXPECT_TRUE(source->TakeLeftOut(UINT64_MAX).empty());
}

TEST(WebDataset, SaysThatAnArchiveGoesOnBehindItsEnd) {
  Tar tar;
  tar.Add("a.x", "1").End();
  const ByteVector one = tar.bytes();
  tar.bytes().resize(one.size() + 5 * kTarBlock);  // Zeros are padding.
  auto source = tar.Read();
  EXPECT_EQ(ReadAll(*source).size(), 1U);
  EXPECT_TRUE(source->TakeLeftOut(UINT64_MAX).empty());
  Append(tar.bytes(), one);
  for (const bool is_packed : {false, true}) {
    if (is_packed) tar.bytes() = GzipEncode(tar.bytes());
    source = tar.Read();
    EXPECT_EQ(ReadAll(*source).size(), 1U);
    const auto left_out = source->TakeLeftOut(UINT64_MAX);
    ASSERT_EQ(left_out.size(), 1U);
    EXPECT_THAT(left_out[0].message,
                StartsWith("goes on at 4608, behind the mark of its end; left out"));
  }
}

TEST(WebDataset, MakesNamesLowerCaseUnlessToldNotTo) {
  Tar tar;
  tar.Add("A.JPG", "1").End();
  EXPECT_THAT(tar.Samples(), ElementsAre("A: jpg=1"));
  EXPECT_THAT(tar.Samples({.keep_case = true}), ElementsAre("A: JPG=1"));
}

TEST(WebDataset, RejectsAFileTwiceInASample) {
  Tar tar;
  tar.Add("a.x", "1").Add("a.X", "2").End();
  EXPECT_EQ(tar.Error(),
            "corrupt: t.tar: a.X: the sample has a file of that name already");
}

TEST(WebDataset, RejectsAFileWithNothingAfterTheDot) {
  Tar tar;
  tar.Add("a.", "1").End();
  EXPECT_EQ(tar.Error(), "corrupt: t.tar: a.: nothing after the dot to name the file by");
}

TEST(WebDataset, KeepsTimesAndModesIfAsked) {
  Tar tar;
  tar.Add({.name = "a.x", .modified = 1'500'000'000'000'000'000, .mode = 0640}, "1")
      .Add({.name = "b.x", .modified = -1'500'000'000, .mode = 0400}, "1")
      .End();
  const auto samples = ReadAll(*tar.Read({.keep_attributes = true}));
  EXPECT_EQ(samples[0].files[0].modified, 1'500'000'000'000'000'000);
  EXPECT_EQ(samples[0].files[0].mode, 0640U);
  EXPECT_EQ(samples[1].files[0].modified, -1'500'000'000);
}

TEST(Tar, HasLongNamesInPaxHeaders) {
  const std::string in_prefix = std::string(90, 'd') + "/" + std::string(90, 'k');
  const std::string too_long = std::string(200, 'k');
  Tar tar;
  tar.Add(in_prefix + ".x", "1").Add(too_long + ".x", "2").End();
  // Only the second needs a header of its own, with a block of content.
  EXPECT_EQ(tar.bytes().size(), (2 + 2 + 2 + 2) * kTarBlock);
  EXPECT_THAT(tar.Samples(), ElementsAre(in_prefix + ": x=1", too_long + ": x=2"));
}

TEST(Tar, UnderstandsGnuLongNamesAndBinarySizes) {
  const std::string name = std::string(150, 'n') + ".x";
  Tar tar;
  tar.Add({.name = "././@LongLink", .type = 'L'}, name + std::string(1, '\0'));
  const size_t at = tar.bytes().size();
  tar.Add("cut", "content").End();
  // The size as a number of 12 bytes, with the first bit set.
  ByteVector& bytes = tar.bytes();
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at) + 124, 11, std::byte{0});
  bytes[at + 124] = std::byte{0x80};
  bytes[at + 135] = std::byte{7};
  uint32_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : std::to_integer<uint32_t>(bytes[at + i]);
  }
  const std::string digits = fmt::format("{:06o}", sum);
  for (size_t i = 0; i < 6; ++i) bytes[at + 148 + i] = static_cast<std::byte>(digits[i]);
  EXPECT_THAT(tar.Samples(), ElementsAre(name.substr(0, 150) + ": x=content"));
}

TEST(Tar, LetsAPaxSizeCountMoreThanTheHeaders) {
  Tar tar;
  tar.Add({.name = "pax", .type = 'x'}, "10 size=3\n19 mtime=12.500000\n");
  tar.Add("a.x", "").Content("abc").End();
  const auto samples = ReadAll(*tar.Read({.keep_attributes = true}));
  EXPECT_THAT(Described(samples), ElementsAre("a: x=abc"));
  EXPECT_EQ(samples[0].files[0].modified, 12'500'000'000);
}

TEST(Tar, KeepsTimesWithinWhatCanBeTold) {
  Tar tar;
  tar.Add({.name = "pax", .type = 'x'}, "22 mtime=9223372036.9\n").Add("a.x", "");
  tar.Add({.name = "pax", .type = 'x'}, "23 mtime=-9223372036.9\n").Add("b.x", "");
  tar.Add({.name = "pax", .type = 'x'}, "22 mtime=9223372036.8\n").Add("c.x", "");
  tar.Add({.name = "pax", .type = 'x'}, "28 mtime=9000000000000000.5\n").Add("d.x", "");
  tar.Add({.name = "pax", .type = 'x'}, "14 mtime=-0.5\n").Add("e.x", "").End();
  const auto samples = ReadAll(*tar.Read({.keep_attributes = true}));
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_EQ(samples[0].files[0].modified, INT64_MAX);
  EXPECT_EQ(samples[1].files[0].modified, INT64_MIN);
  EXPECT_EQ(samples[2].files[0].modified, 9'223'372'036'800'000'000);
  EXPECT_EQ(samples[3].files[0].modified, INT64_MAX);
  EXPECT_EQ(samples[4].files[0].modified, -500'000'000);
}

TEST(Tar, RejectsDamagedHeaders) {
  Tar tar;
  tar.Add("a.x", "1").Add("b.x", "2").End();
  tar.bytes()[1024 + 3] = std::byte{'!'};
  EXPECT_THAT(tar.Error(), StartsWith("corrupt: t.tar: header at 1024: its checksum is"));
}

TEST(Tar, RejectsArchivesThatAreCutShort) {
  Tar whole;
  whole.Add("a.x", "1").Add("b.x", std::string(600, 'b'));
  Tar tar = whole;
  EXPECT_EQ(tar.Error(),
            "corrupt: t.tar: ends at 2560 without the mark of the end (two "
            "blocks of zeros); was it cut short?; sample \"b\" may lack files");
  tar.bytes().resize(1024 + 512 + 100);
  EXPECT_EQ(tar.Error(), "corrupt: t.tar: b.x needs 600 bytes at 1536, 100 remain");
  tar.bytes().resize(1024 + 100);
  EXPECT_EQ(tar.Error(),
            "corrupt: t.tar: a header needs 512 bytes at 1024, 100 remain; sample \"a\" "
            "may lack files");
}

TEST(Tar, RejectsWhatItCannotGiveBack) {
  Tar sparse;
  sparse.Add({.name = "a.x", .type = 'S'}, "1").End();
  EXPECT_EQ(sparse.Error(), "unsupported: t.tar: a.x: a sparse file");
  Tar pax;
  pax.Add({.name = "pax", .type = 'x'}, "99 size=3\n").Add("a.x", "").End();
  EXPECT_THAT(pax.Error(), HasSubstr("a PAX record is not"));
  Tar large;
  large.Add("a.x", "12345").End();
  EXPECT_EQ(FirstError(*large.Read({.max_file_bytes = 4})),
            "corrupt: t.tar: a.x has 5 bytes, more than the limit of 4");
}

TEST(WebDataset, ReadsGzipToItsEndAndChecksIt) {
  Tar tar;
  tar.Add("a.x", std::string(3'000'000, 'x')).End();
  const ByteVector packed = GzipEncode(tar.bytes());
  tar.bytes() = packed;
  EXPECT_EQ(tar.Samples().size(), 1U);
  tar.bytes().resize(packed.size() - 9);
  EXPECT_THAT(tar.Error(), HasSubstr("gzip data is cut short"));
  tar.bytes() = packed;
  tar.bytes()[packed.size() - 8] ^= std::byte{1};
  EXPECT_THAT(tar.Error(), HasSubstr("gzip stream is damaged"));
}

TEST(WebDataset, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/t.tar";
  std::vector<shardpack::Sample> samples = {
      MakeSample("a/1", {{"jpg", std::string(513, 'j')}, {"json", "{}"}}),
      MakeSample("b.c/2", {{"left.png", ""}}),
      MakeSample(std::string(300, 'k'), {{"txt", "t"}}),
  };
  samples[0].files[0].modified = 1'234'567'890'123'456'789;
  WriteAll(*Must(CreateWebDataset(path, {})), samples);
  auto source =
      Must(OpenWebDataset({Must(ParseLocation(path))}, {.keep_attributes = true}));
  const auto again = ReadAll(*source);
  EXPECT_EQ(Described(again), Described(samples));
  EXPECT_EQ(again[0].files[0].modified, 1'234'567'890'123'456'789);
  EXPECT_EQ(again[0].files[1].modified, 0);
  EXPECT_EQ(again[0].files[1].mode, 0444U);
  EXPECT_EQ(source->progress().entries, 3U);
  EXPECT_EQ(source->progress().total_bytes, ReadFile(path).size());
  EXPECT_EQ(ReadFile(path).size() % kTarBlock, 0U);

  EXPECT_THAT(ErrorOf(CreateWebDataset(path, {})), HasSubstr("is there already"));
}

TEST(WebDataset, KeepsTheMetadataOfSamples) {
  using shardpack::MetadataFormat;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/t.tar";
  std::vector<shardpack::Sample> samples;
  for (const auto format :
       {MetadataFormat::kNone, MetadataFormat::kJson, MetadataFormat::kMsgPack,
        MetadataFormat::kOpaque, MetadataFormat::kCbor}) {
    samples.push_back(MakeSample("s" + std::to_string(samples.size()), {{"x", "1"}}));
    if (format == MetadataFormat::kNone) continue;
    samples.back().metadata = {format, Bytes::Copy(AsBytes("{\"a\": 1}"))};
  }
  const auto sink = Must(CreateWebDataset(path, {}));
  EXPECT_TRUE(sink->keeps().metadata);
  EXPECT_FALSE(sink->keeps().file_metadata);
  WriteAll(*sink, samples);
  const auto again = ReadAll(*Must(OpenWebDataset({Must(ParseLocation(path))}, {})));
  ASSERT_EQ(again.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(again[i].files.size(), 1U);
    EXPECT_EQ(again[i].metadata.format, samples[i].metadata.format);
    EXPECT_TRUE(Equal(again[i].metadata.bytes, samples[i].metadata.bytes));
  }
  // A file that would become metadata, and metadata that come twice.
  EXPECT_THAT(ErrorOf(Must(CreateWebDataset(folder.path() + "/u.tar", {}))
                          ->Put(MakeSample("a", {{"__metadata__.json", "{}"}}))),
              HasSubstr("would become the metadata"));
  Tar tar;
  tar.Add("a.__metadata__.json", "{}").Add("a.__metadata__.cbor", "1").End();
  EXPECT_THAT(tar.Error(), HasSubstr("the sample has metadata already"));
}

TEST(WebDataset, RefusesWhatReadersWouldJoin) {
  const TemporaryFolder folder;
  const auto sink =
      Must(CreateWebDataset(folder.path() + "/t.tar", {.dot_replacement = "_"}));
  EXPECT_EQ(ErrorOf(sink->Put(MakeSample("k", {{"A.jpg", "1"}, {"a.JPG", "2"}}))),
            "invalid_argument: sample \"k\", file \"a.JPG\": readers of WebDataset, who "
            "make names lower case, would find another file of that name");
  Must(sink->Put(MakeSample("a_b", {{"x", "1"}})));
  const std::string joined =
      ": readers of WebDataset would join it with the one before, whose key is the same";
  EXPECT_EQ(ErrorOf(sink->Put(MakeSample("a.b", {{"y", "2"}}))),
            "invalid_argument: sample \"a.b\"" + joined);
  EXPECT_EQ(ErrorOf(sink->Put(MakeSample("a_b", {{"y", "2"}}))),
            "invalid_argument: sample \"a_b\"" + joined);
  Must(sink->Put(MakeSample("c", {{"x", "3"}})));
  Must(sink->Put(MakeSample("a_b", {{"y", "4"}})));
}

TEST(WebDataset, RefusesKeysThatReadersWouldCut) {
  const TemporaryFolder folder;
  const auto sink = Must(CreateWebDataset(folder.path() + "/t.tar", {}));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample("a/v1.2", {{"x", "1"}}))),
              StartsWith("invalid_argument: sample \"a/v1.2\", file \"x\": would not be "
                         "found again as \"a/v1.2.x\""));
  EXPECT_NE(ErrorOf(sink->Put(MakeSample("__a__/b", {{"x", "1"}}))), "");
  EXPECT_NE(ErrorOf(sink->Put(MakeSample("a", {{"b/c", "1"}}))), "");
  EXPECT_NE(ErrorOf(sink->Put({.key = "a", .tombstone = true})), "");

  const std::string path = folder.path() + "/u.tar";
  WriteAll(*Must(CreateWebDataset(path, {.dot_replacement = "_"})),
           {MakeSample("a.b/v1.2", {{"x", "1"}})});
  auto source = Must(OpenWebDataset({Must(ParseLocation(path))}, {}));
  EXPECT_THAT(Described(ReadAll(*source)), ElementsAre("a.b/v1_2: x=1"));
}

}  // namespace
}  // namespace dolium::dataset
