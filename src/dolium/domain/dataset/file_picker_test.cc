#include "dolium/domain/dataset/file_picker.h"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/testing/shards.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;
using shardpack::Text;
using ::testing::HasSubstr;

// A folder that is there for as long as the test.
class FilePickerTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::vector<Sample>& samples,
                    shardpack::PackOptions options = {}) const {
    const std::string path = folder_ + "/" + name;
    options.place = [&](uint64_t) { return Must(ParseLocation(path)); };
    auto writer = Must(shardpack::PackWriter::Create(options));
    for (const Sample& sample : samples) Must(writer->Add(sample));
    Must(writer->Finish());
    return path;
  }

  static std::shared_ptr<const SampleSet> Open(const std::vector<std::string>& paths,
                                               bool map = true) {
    return Must(OpenSampleSet(paths, {.shard = {.map = map}}));
  }

 private:
  const TemporaryFolder own_;
  const std::string folder_ = own_.path();
};

std::vector<Sample> Three() {
  return {
      {.key = "x",
       .files = {{.name = "a", .data = Text("xa")}, {.name = "b", .data = Text("xb")}}},
      {.key = "y", .files = {{.name = "b", .data = Text("yb")}}},
      {.key = "z",
       .files = {{.name = "c", .data = Text("zc")}, {.name = "a", .data = Text("za")}}}};
}

std::string ContentOf(const PickedFile& file) {
  if (!file.is_there()) return "-";
  Must(file.CheckLimits());
  std::string content(file.header.raw_size, '?');
  Must(file.ContentInto(std::as_writable_bytes(std::span(content))));
  return content;
}

TEST_F(FilePickerTest, FindsFilesByNameWhereverTheyAre) {
  const std::string path = Write("a.shardpack", Three());
  for (const bool map : {true, false}) {
    const auto set = Open({path}, map);
    const FilePicker picker(set, {"a", "b"});
    std::array<PickedFile, 2> found;
    EXPECT_EQ(Must(picker.Pick(0, found)).key, "x");
    EXPECT_EQ(ContentOf(found[0]), "xa");
    EXPECT_EQ(ContentOf(found[1]), "xb");
    const PickedSample second = Must(picker.Pick(1, found));
    EXPECT_EQ(second.key, "y");
    EXPECT_EQ(ContentOf(found[0]), "-");
    EXPECT_EQ(ContentOf(found[1]), "yb");
    const PickedSample third = Must(picker.Pick(2, found));
    EXPECT_EQ(ContentOf(found[0]), "za");
    EXPECT_EQ(ContentOf(found[1]), "-");
    EXPECT_EQ(third.owner == nullptr, map);
  }
}

TEST_F(FilePickerTest, PicksManyAsItPicksOne) {
  const std::vector<Sample> samples = shardpack::RandomSamples(7, 500);
  const std::string path = Write("a.shardpack", samples);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 500; ++i) numbers.push_back((i * 7919) % 500);
  const std::string name = samples[0].files[0].name;
  for (const bool map : {true, false}) {
    const auto set = Open({path}, map);
    const FilePicker picker(set, {name});
    std::vector<PickedFile> many(numbers.size());
    const auto picked = Must(picker.PickMany(numbers, many));
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::array<PickedFile, 1> one;
      const PickedSample sample = Must(picker.Pick(numbers[i], one));
      EXPECT_EQ(picked[i].key, sample.key);
      EXPECT_EQ(picked[i].key, samples[numbers[i]].key);
      EXPECT_EQ(ContentOf(many[i]), ContentOf(one[0]));
    }
  }
}

TEST_F(FilePickerTest, PicksByTheEntryIndexAsWithoutIt) {
  std::vector<Sample> samples = shardpack::RandomSamples(8, 40);
  for (Sample& sample : samples) {
    sample.files.insert(sample.files.begin() + 1,
                        {.name = "large", .data = Text(std::string(150'000, 'x'))});
    sample.files.push_back({.name = "label", .data = Text(sample.key + "!")});
  }
  shardpack::PackOptions options;
  options.shard.encode.align_log2 = 6;
  const std::string path = Write("a.shardpack", samples, options);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 40; ++i) numbers.push_back((i * 7) % 40);
  const auto set = Must(OpenSampleSet(std::vector<std::string>{path},
                                      {.shard = {.map = false, .tail_bytes = 3000}}));
  const FilePicker picker(set, {"label", samples[0].files[0].name});
  std::vector<PickedFile> many(2 * numbers.size());
  const auto picked = Must(picker.PickMany(numbers, many));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Sample& sample = samples[numbers[i]];
    EXPECT_EQ(picked[i].key, sample.key);
    EXPECT_EQ(ContentOf(many[2 * i]), sample.key + "!");
    std::array<PickedFile, 2> one;
    const PickedSample again = Must(picker.Pick(numbers[i], one));
    EXPECT_EQ(again.owner->files().size(), one[1].is_there() ? 2U : 1U);
    EXPECT_EQ(ContentOf(one[0]), sample.key + "!");
    EXPECT_EQ(ContentOf(one[1]), ContentOf(many[2 * i + 1]));
  }
}

TEST_F(FilePickerTest, JoinsThePartsOfASample) {
  const std::vector<Sample> samples = {
      {.key = "large",
       .files = {{.name = "a", .data = Text(std::string(3000, 'a'))},
                 {.name = "b", .data = Text(std::string(3000, 'b'))}}},
      {.key = "small", .files = {{.name = "b", .data = Text("b")}}}};
  shardpack::PackOptions options;
  options.oversize = shardpack::Oversize::kSplit;
  options.shard.encode.record_limit = 4000;
  const auto set = Open({Write("a.shardpack", samples, options)});
  ASSERT_EQ(set->size(), 2u);
  EXPECT_FALSE(Must(set->Locate(0)));
  const FilePicker picker(set, {"b"});
  std::array<PickedFile, 1> found;
  const PickedSample large = Must(picker.Pick(0, found));
  EXPECT_EQ(ContentOf(found[0]), std::string(3000, 'b'));
  const PickedSample small = Must(picker.Pick(1, found));
  EXPECT_EQ(small.key, "small");
  EXPECT_EQ(ContentOf(found[0]), "b");
}

TEST_F(FilePickerTest, JoinsTheSegmentsOfAFile) {
  std::string text(10'000, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  const std::vector<Sample> samples = {
      {.key = "large",
       .files = {{.name = "a", .data = Text("small")},
                 {.name = "b", .data = Text(text)}}},
      {.key = "small", .files = {{.name = "b", .data = Text("b")}}}};
  shardpack::PackOptions options;
  options.oversize = shardpack::Oversize::kSplit;
  options.shard.encode.record_limit = 3000;
  const auto set = Open({Write("a.shardpack", samples, options)});
  ASSERT_EQ(set->size(), 2u);
  const FilePicker picker(set, {"b"});
  std::array<PickedFile, 1> found;
  const PickedSample large = Must(picker.Pick(0, found));
  EXPECT_EQ(ContentOf(found[0]), text);
  EXPECT_TRUE(found[0].is_plain());
  EXPECT_EQ(AsText(found[0].stored), text);

  const LoadedSample loaded = Must(set->Read(0));
  EXPECT_GT(loaded.parts().size(), 3U);
  const auto file = loaded.Find("b");
  ASSERT_TRUE(file);
  EXPECT_EQ(loaded.header(*file).raw_size, text.size());
  EXPECT_EQ(AsText(Must(loaded.Content(*file))), text);
  for (const ByteRange range : {ByteRange{0, 10'000}, ByteRange{0, 0},
                                ByteRange{2'500, 5'000}, ByteRange{9'999, 1}}) {
    EXPECT_EQ(AsText(Must(loaded.ContentRange(*file, range))),
              text.substr(range.offset, range.length));
  }
  const auto past = loaded.ContentRange(*file, {9'999, 2});
  EXPECT_EQ(past.error().code, ErrorCode::kInvalidArgument);
  const Sample whole = Must(loaded.Decode());
  ASSERT_EQ(whole.files.size(), 2U);
  EXPECT_EQ(AsText(whole.files[1].data), text);
  EXPECT_FALSE(whole.files[1].segment);

  const auto laid = Must(Overlay(set, {set}));
  const LoadedSample over = Must(laid->Read(0));
  EXPECT_EQ(AsText(Must(over.Content(*over.Find("b")))), text);
}

TEST_F(FilePickerTest, GoesOnFromShardToShard) {
  const auto set =
      Open({Write("a.shardpack", Three()),
            Write("b.shardpack",
                  {{.key = "w", .files = {{.name = "a", .data = Text("wa")}}}})});
  ASSERT_EQ(set->size(), 4u);
  const auto place = Must(set->Locate(3));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->number, 0u);
  EXPECT_THAT(place->shard->Describe(), HasSubstr("b.shardpack"));
  const FilePicker picker(set, {"a"});
  std::array<PickedFile, 1> found;
  EXPECT_EQ(Must(picker.Pick(3, found)).key, "w");
  EXPECT_EQ(ContentOf(found[0]), "wa");
}

TEST_F(FilePickerTest, NamesTheLocationOfDamage) {
  const std::string path = Write(
      "a.shardpack",
      {{.key = "x", .files = {{.name = "a", .data = Text(std::string(2000, 'a'))}}}});
  std::string bytes = shardpack::BytesAt(Must(ParseLocation(path)));
  bytes[1000] ^= 1;
  const Location location = Must(ParseLocation(path));
  auto writer = Must(location.store->Begin(location.path));
  Must(writer->Append(AsBytes(bytes)));
  Must(writer->Commit(Precondition::None()));
  const auto set = Open({path});
  const FilePicker picker(set, {"a"});
  std::array<PickedFile, 1> found;
  const PickedSample sample = Must(picker.Pick(0, found));
  std::string content(2000, '?');
  const auto done = found[0].ContentInto(std::as_writable_bytes(std::span(content)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(
      done.error().message,
      HasSubstr("a.shardpack: record 0: \"x\": entry \"a\": content has CRC-32C"));
}

}  // namespace
}  // namespace dolium::dataset
