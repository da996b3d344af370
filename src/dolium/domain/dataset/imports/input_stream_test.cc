#include "dolium/domain/dataset/imports/input_stream.h"

#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/dataset/imports/testing/samples.h"

namespace dolium::dataset {
namespace {

using ::testing::HasSubstr;

std::string RandomText(size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Reads segments of many sizes, holds some of them, and compares.
void CheckReads(InputStream& stream, std::string_view text) {
  std::vector<std::pair<Bytes, size_t>> held;
  std::mt19937 random(8);
  size_t at = 0;
  while (at < text.size()) {
    const size_t wanted = std::min<size_t>(
        text.size() - at, random() % 20 == 0 ? random() % 700'000 : random() % 20'000);
    EXPECT_EQ(stream.position(), at);
    if (random() % 5 == 0) {
      Must(stream.Skip(wanted, "x"));
    } else {
      held.emplace_back(Must(stream.Read(wanted, "x")), at);
    }
    at += wanted;
  }
  EXPECT_TRUE(Must(stream.AtEnd()));
  for (const auto& [bytes, from] : held) {
    ASSERT_TRUE(AsText(bytes) == text.substr(from, bytes.size())) << from;
  }
}

TEST(InputStream, HandsOutSegmentsThatStayAsTheyWere) {
  const std::string text = RandomText(8'000'000);
  const TemporaryFolder folder;
  WriteFile(folder.path() + "/f", text);
  CheckReads(*Must(InputStream::Open(Must(ParseLocation(folder.path() + "/f")))), text);
  CheckReads(*Must(InputStream::Open(Bytes::Copy(AsBytes(text)), "x")), text);
  const auto packed =
      Must(InputStream::Open(Bytes::FromVector(GzipEncode(AsBytes(text))), "x"));
  CheckReads(*packed, text);
  EXPECT_EQ(packed->consumed(), packed->size());
}

TEST(InputStream, SaysWhatIsMissingWhere) {
  const auto stream = Must(InputStream::Open(Bytes::Copy(AsBytes("0123456789")), "f"));
  Must(stream->Skip(4, "head"));
  EXPECT_EQ(ErrorOf(stream->Read(7, "the body")),
            "corrupt: f: the body needs 7 bytes at 4, 6 remain");
  EXPECT_EQ(ErrorOf(stream->Read(uint64_t{1} << 60, "the body")),
            "corrupt: f: the body needs 1152921504606846976 bytes at 4, 6 remain");
  EXPECT_EQ(ErrorOf(stream->Skip(7, "the body")),
            "corrupt: f: the body needs 1 bytes at 10, 0 remain");
}

TEST(InputStream, DoesNotTrustSizesThatCompressedDataClaim) {
  const auto stream =
      Must(InputStream::Open(Bytes::FromVector(GzipEncode(AsBytes("0123456789"))), "f"));
  EXPECT_THAT(ErrorOf(stream->Read(uint64_t{1} << 60, "it")), HasSubstr("10 remain"));
}

TEST(InputStream, NamesCompressionsThatItDoesNotUndo) {
  EXPECT_EQ(ErrorOf(InputStream::Open(Bytes::Copy(AsBytes("BZh91AY")), "f")),
            "unsupported: f: compressed with bzip2; only gzip is undone on the way");
}

TEST(InputStream, NoticesAFileThatChanges) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  WriteFile(path, std::string(5'000'000, 'a'));
  const auto stream = Must(InputStream::Open(Must(ParseLocation(path))));
  Must(stream->Skip(10, "x"));
  WriteFile(path, std::string(5'000'001, 'b'));
  EXPECT_THAT(ErrorOf(stream->Read(4'000'000, "x")), HasSubstr("conflict"));
}

TEST(InputStream, MayBeEmpty) {
  const auto stream = Must(InputStream::Open(Bytes(), "f"));
  EXPECT_TRUE(Must(stream->AtEnd()));
  EXPECT_FALSE(Must(stream->ReadLine(10)).has_value());
  EXPECT_EQ(Must(stream->Read(0, "x")).size(), 0U);
}

}  // namespace
}  // namespace dolium::dataset
