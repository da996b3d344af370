#include "dolium/domain/dataset/imports/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/domain/dataset/imports/testing/samples.h"

namespace dolium::dataset {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

class FolderSourceTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, std::string_view text = "") const {
    WriteFile(path_ + "/" + name, text);
  }
  std::vector<std::string> Samples(const ImportOptions& options = {}) const {
    return Described(ReadAll(*Must(OpenFolderSource(path_, options))));
  }
  std::string Error(const ImportOptions& options = {}) const {
    auto source = OpenFolderSource(path_, options);
    return source ? FirstError(**source) : ErrorOf(source);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/in";
};

TEST_F(FolderSourceTest, TakesADirectoryOfFilesForASample) {
  Add("images17/image194/right.jpg", "R");
  Add("images17/image194/left.jpg", "L");
  Add("images17/image194/meta.json", "{}");
  Add("images2/a/x.txt", "1");
  const auto source = Must(OpenFolderSource(path_, {}));
  EXPECT_EQ(source->progress().total_entries, 2U);
  const auto samples = ReadAll(*source);
  EXPECT_THAT(Described(samples),
              ElementsAre("images17/image194: left.jpg=L meta.json={} right.jpg=R",
                          "images2/a: x.txt=1"));
  EXPECT_EQ(samples[0].files[0].content_type, "image/jpeg");
  EXPECT_EQ(samples[0].files[0].mode, std::nullopt);
  EXPECT_EQ(source->progress().bytes, 5U);
}

TEST_F(FolderSourceTest, KeepsWhatItReadWhateverBecomesOfTheFile) {
  // What is mapped would be gone, and the process with it.
  for (const size_t size : {1000, 500'000, 3'000'000}) {
    Add("a/x", std::string(size, 'x'));
    const auto samples = ReadAll(*Must(OpenFolderSource(path_, {})));
    fs::resize_file(path_ + "/a/x", 0);
    EXPECT_EQ(AsText(samples[0].files[0].data), std::string(size, 'x'));
  }
}

TEST_F(FolderSourceTest, OrdersSamplesByTheBytesOfTheirKeys) {
  for (const char* name : {"a/x", "a-b/x", "a.b/x", "B/x", "a0/x", "ä/x"}) Add(name);
  EXPECT_THAT(Samples(),
              ElementsAre("B: x=", "a: x=", "a-b: x=", "a.b: x=", "a0: x=", "ä: x="));
  Add("loose.txt");
  EXPECT_EQ(Error({.grouping = Grouping::kStem}).find("invalid_argument"), 0U);
}

TEST_F(FolderSourceTest, OrdersStemsByTheBytesOfTheirKeysAcrossDirectories) {
  for (const char* name :
       {"a/x.1", "a-b/x.1", "a.1", "a-.1", "a0.1", "a/w.1", "a/x.0", "a-b.0", "a.0"}) {
    Add(name);
  }
  EXPECT_THAT(Samples({.grouping = Grouping::kStem}),
              ElementsAre("a: 0= 1=", "a-: 1=", "a-b: 0=", "a-b/x: 1=", "a/w: 1=",
                          "a/x: 0= 1=", "a0: 1="));
}

TEST_F(FolderSourceTest, GroupsLooseFilesByStem) {
  Add("1.jpg", "J");
  Add("1.seg.png", "P");
  Add("10.jpg", "T");
  Add("2.jpg", "K");
  Add(".DS_Store", "hidden");
  EXPECT_THAT(Samples(), ElementsAre("1: jpg=J seg.png=P", "10: jpg=T", "2: jpg=K"));
}

TEST_F(FolderSourceTest, WantsAChoiceForAMixedTree) {
  Add("1.jpg", "J");
  Add("more/2.jpg", "K");
  EXPECT_THAT(Error(), HasSubstr("it holds both files and directories"));
  EXPECT_THAT(Error(), HasSubstr("group by dir (all files of a directory) or by stem"));
  EXPECT_THAT(Samples({.grouping = Grouping::kStem}),
              ElementsAre("1: jpg=J", "more/2: jpg=K"));
  EXPECT_THAT(Error({.grouping = Grouping::kDirectory}),
              HasSubstr("files directly in it"));
  fs::remove(path_ + "/1.jpg");
  Add("more/deep/3.jpg", "L");
  EXPECT_THAT(Error(), HasSubstr("more holds both files and directories"));
  EXPECT_THAT(Samples({.grouping = Grouping::kDirectory}),
              ElementsAre("more: 2.jpg=K", "more/deep: 3.jpg=L"));
}

TEST_F(FolderSourceTest, RefusesFilesWithoutADotWhereStemsAreWanted) {
  Add("a/README");
  EXPECT_THAT(Error({.grouping = Grouping::kStem}),
              HasSubstr("a/README: nothing after a dot"));
}

TEST_F(FolderSourceTest, ReadsFilesOfAllSizes) {
  std::vector<std::string> texts;
  for (const size_t size :
       {0, 1, 4095, 100'000, 131'072, 131'073, 1'048'576, 1'048'577, 5'000'000}) {
    texts.emplace_back(size, static_cast<char>('a' + texts.size()));
    Add(fmt::format("s/{}", texts.size()), texts.back());
  }
  const auto samples = ReadAll(*Must(OpenFolderSource(path_, {})));
  ASSERT_EQ(samples.size(), 1U);
  ASSERT_EQ(samples[0].files.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(Equal(samples[0].files[i].data, AsBytes(texts[i]))) << i;
  }
  EXPECT_THAT(Error({.max_file_bytes = 4'000'000}),
              HasSubstr("in/s/9: 5000000 bytes, more than the limit of 4000000"));
}

TEST_F(FolderSourceTest, PassesWhatIsNoFile) {
  Add("s/a.txt", "1");
  ASSERT_EQ(mkfifo((path_ + "/s/pipe").c_str(), 0666), 0);
  Add("s/.a.txt.dolium-tmp-0123456789abcdef", "left by a writer");
  fs::create_directories(path_ + "/empty/er");
  EXPECT_THAT(Samples(), ElementsAre("s: a.txt=1"));
}

TEST_F(FolderSourceTest, SaysWhatIsOfNoSample) {
  Add("a.txt", "1");
  Add(".one", "hidden");
  Add(".two", "hidden");
  Add(".a.txt.dolium-tmp-0123456789abcdef", "left by a writer");
  ASSERT_EQ(mkfifo((path_ + "/pipe.txt").c_str(), 0666), 0);
  fs::create_symlink("pipe.txt", path_ + "/to_pipe.txt");
  fs::create_symlink("nowhere", path_ + "/link.txt");
  for (const bool skip_damaged : {false, true}) {
    const auto source = Must(OpenSampleSource(
        "folder", path_, {.skip_links = true, .skip_damaged = skip_damaged}));
    EXPECT_THAT(Described(ReadAll(*source)), ElementsAre("a: txt=1"));
    std::vector<std::string> said;
    for (const Finding& finding : source->TakeLeftOut(1)) {
      EXPECT_EQ(finding.severity, Severity::kWarning);
      EXPECT_EQ(finding.object, path_);
      said.push_back(finding.message);
    }
    EXPECT_THAT(said,
                ElementsAre(StartsWith("2 things that are no files, "),
                            "link.txt: is a link that is not followed; left out",
                            AnyOf("2 hidden files, .one the first of them; left out",
                                  "2 hidden files, .two the first of them; left out")));
  }
}

TEST_F(FolderSourceTest, FollowsLinksWithinTheFolderOnly) {
  Add("s/a.txt", "1");
  fs::create_symlink("a.txt", path_ + "/s/b.txt");
  EXPECT_THAT(Samples(), ElementsAre("s: a.txt=1 b.txt=1"));
  WriteFile(folder_.path() + "/secret", "2");
  fs::create_symlink("../../secret", path_ + "/s/c.txt");
  EXPECT_THAT(Error(), HasSubstr("link: s/c.txt: leads out of the folder"));
  EXPECT_THAT(Samples({.skip_links = true}), ElementsAre("s: a.txt=1 b.txt=1"));
  fs::remove(path_ + "/s/c.txt");
  fs::create_symlink("..", path_ + "/s/loop");
  EXPECT_THAT(Error(), HasSubstr("s/loop: a link to a folder, which is not followed"));
  EXPECT_THAT(Samples({.skip_links = true}), ElementsAre("s: a.txt=1 b.txt=1"));
}

TEST_F(FolderSourceTest, KeepsTimesAndModesIfAsked) {
  Add("s/a.txt", "1");
  ASSERT_EQ(chmod((path_ + "/s/a.txt").c_str(), 0640), 0);
  struct stat status{};
  ASSERT_EQ(stat((path_ + "/s/a.txt").c_str(), &status), 0);
  const auto samples = ReadAll(*Must(OpenFolderSource(path_, {.keep_attributes = true})));
  EXPECT_EQ(samples[0].files[0].mode, 0640U);
  EXPECT_EQ(samples[0].files[0].modified,
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
}

TEST_F(FolderSourceTest, ReadsWhatAManifestSays) {
  Add("img/1.jpg", "J");
  Add("t/1.txt", "T");
  Add("m.jsonl",
      R"({"key": "z", "files": [{"path": "img/1.jpg"}], "metadata": {"a": 1}})"
      "\n\n"
      R"({"key": "a", "files": [{"path": "t/1.txt", "name": "c", "compression": "lz4"}]})");
  const auto samples = ReadAll(*Must(OpenFolderSource(
      path_, {.grouping = Grouping::kManifest, .manifest = path_ + "/m.jsonl"})));
  EXPECT_THAT(Described(samples), ElementsAre("z: 1.jpg=J", "a: c=T"));
  EXPECT_EQ(AsText(samples[0].metadata.bytes), "{\"a\":1}");
  EXPECT_EQ(samples[1].files[0].content_type, "text/plain");
  EXPECT_EQ(samples[1].files[0].compression, shardpack::Compression::kLz4);
  // The manifest itself may be named instead of the folder.
  EXPECT_THAT(Described(ReadAll(*Must(OpenFolderSource(path_ + "/m.jsonl", {})))),
              ElementsAre("z: 1.jpg=J", "a: c=T"));
}

TEST_F(FolderSourceTest, RefusesManifestsThatLeadOut) {
  WriteFile(folder_.path() + "/secret", "2");
  for (const char* path : {"../secret", "/etc/passwd", "x/../../secret", "a\\u0000b"}) {
    Add("manifest.jsonl",
        fmt::format(R"({{"key": "k", "files": [{{"path": "{}", "name": "n"}}]}})", path));
    EXPECT_THAT(Error({.grouping = Grouping::kManifest}),
                HasSubstr("manifest.jsonl: line 1"))
        << path;
  }
  Add("manifest.jsonl", R"({"key": "k", "files": [{"path": "../secret"}]})");
  EXPECT_THAT(Error({.grouping = Grouping::kManifest}),
              HasSubstr("leads out of the folder"));
}

class FolderSinkTest : public FolderSourceTest {
 protected:
  void Write(const std::vector<shardpack::Sample>& samples,
             const SampleExportOptions& options = {}) const {
    WriteAll(*Must(CreateFolderSink(path_, options)), samples);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (!entry.is_directory()) out.push_back(fs::relative(entry.path(), path_));
    }
    return out;
  }
};

TEST_F(FolderSinkTest, WritesWhatTheSourceReads) {
  const std::vector<shardpack::Sample> samples = {
      MakeSample("a/1", {{"left.jpg", "L"}, {"meta.json", "{}"}}),
      MakeSample("b", {{"x", std::string(2'000'000, 'x')}})};
  Write(samples);
  EXPECT_THAT(Files(), UnorderedElementsAre("a/1/left.jpg", "a/1/meta.json", "b/x"));
  EXPECT_EQ(Samples(), Described(samples));
}

TEST_F(FolderSinkTest, WritesStemsAndDropsDotsOfPaths) {
  Write({MakeSample("./a/1", {{"jpg", "L"}, {"seg.png", "P"}})},
        {.layout = FolderLayout::kStem});
  EXPECT_THAT(Files(), UnorderedElementsAre("a/1.jpg", "a/1.seg.png"));
  EXPECT_THAT(Samples({.grouping = Grouping::kStem}),
              ElementsAre("a/1: jpg=L seg.png=P"));
}

TEST_F(FolderSinkTest, RestoresTimesAndModes) {
  shardpack::Sample sample = MakeSample("a", {{"x", "1"}});
  sample.files[0].modified = 1'234'567'890'123'456'789;
  sample.files[0].mode = 04640;
  Write({sample});
  struct stat status{};
  ASSERT_EQ(stat((path_ + "/a/x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(status.st_mtim.tv_nsec, 123'456'789);
}

TEST_F(FolderSinkTest, ReplacesNothingUnlessToldTo) {
  Write({MakeSample("a", {{"x", "1"}})});
  const auto sink = Must(CreateFolderSink(path_, {}));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample("a", {{"x", "2"}}))),
              HasSubstr("exists: " + path_ + "/a/x: is there already"));
  EXPECT_THAT(Files(), ElementsAre("a/x"));  // no temporary is left
  EXPECT_EQ(ReadFile(path_ + "/a/x"), "1");
  Write({MakeSample("a", {{"x", "2"}})}, {.force = true});
  EXPECT_EQ(ReadFile(path_ + "/a/x"), "2");
}

TEST_F(FolderSinkTest, NamesTheSampleWhosePathIsThatOfAnother) {
  const auto sink = Must(CreateFolderSink(
      path_, {.layout = FolderLayout::kStem, .destination = folder_.path()}));
  Must(sink->Put(MakeSample("a", {{"b.c", "1"}})));
  EXPECT_EQ(
      ErrorOf(sink->Put(MakeSample("a.b", {{"c", "2"}}))),
      "exists: sample \"a.b\", file \"c\": a sample before has a file with the same "
      "path, a.b.c");
}

TEST_F(FolderSinkTest, RefusesPathsThatLeadOut) {
  const auto sink = Must(CreateFolderSink(path_, {}));
  const auto error = [&](const char* key, const char* name) {
    return ErrorOf(sink->Put(MakeSample(key, {{name, "1"}})));
  };
  EXPECT_THAT(error("/etc", "passwd"), HasSubstr("it is absolute"));
  EXPECT_THAT(error("a/../..", "x"), HasSubstr("it has \"..\" in it"));
  EXPECT_THAT(error("a", "../x"), HasSubstr("it has \"..\" in it"));
  EXPECT_THAT(error("a//b", "x"), HasSubstr("a part of it is empty"));
  EXPECT_THAT(error("a", "b/"), HasSubstr("a part of it is empty"));
  EXPECT_THAT(error("a", "."), HasSubstr("no file name"));
  EXPECT_THAT(error("a", ".x.dolium-tmp-1"), HasSubstr("the name of a temporary"));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample(std::string("a\0b", 3), {{"x", "1"}}))),
              HasSubstr("it has a NUL in it"));
  EXPECT_THAT(Files(), ElementsAre());
}

TEST_F(FolderSinkTest, WritesAManifestFromWhichEverythingComesBack) {
  shardpack::Sample sample = MakeSample("a.b/1", {{"x", "1"}});
  sample.metadata = {shardpack::MetadataFormat::kJson, Bytes::Copy(AsBytes("[1]"))};
  sample.files[0].content_type = "application/x-private";
  Write({sample, MakeSample("0", {{"y", "2"}})}, {.manifest = true});
  const auto again = ReadAll(*Must(OpenFolderSource(path_ + "/manifest.jsonl", {})));
  EXPECT_THAT(Described(again), ElementsAre("a.b/1: x=1", "0: y=2"));
  EXPECT_EQ(AsText(again[0].metadata.bytes), "[1]");
  EXPECT_EQ(again[0].files[0].content_type, "application/x-private");
}

}  // namespace
}  // namespace dolium::dataset
