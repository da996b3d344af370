#include "dolium/domain/dataset/imports/kinds.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/testing/samples.h"

namespace dolium::dataset {
namespace {

using ::testing::HasSubstr;

// Samples that every format can hold.
std::vector<shardpack::Sample> Samples() {
  std::vector<shardpack::Sample> out;
  out.reserve(20);
  for (int i = 0; i < 20; ++i) {
    out.push_back(
        MakeSample(fmt::format("k{:02}", i),
                   {{"data", std::string(static_cast<size_t>(i) * 1000, 'd')}}));
  }
  return out;
}

class KindsTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
};

TEST_F(KindsTest, ReadWhatTheyWrite) {
  for (const SampleKind& kind : SampleKinds()) {
    const std::string path = fmt::format("{}/{}", folder_.path(), kind.name);
    WriteAll(*Must(OpenSampleSink(kind.name, path, {})), Samples());
    EXPECT_EQ(Described(ReadAll(*Must(OpenSampleSource(kind.name, path, {})))),
              Described(Samples()))
        << kind.name;
    if (kind.name != "folder") {  // which finds out file by file
      EXPECT_THAT(ErrorOf(OpenSampleSink(kind.name, path, {})), HasSubstr("exists: "));
    }
    WriteAll(*Must(OpenSampleSink(kind.name, path, {.force = true})), Samples());
  }
}

TEST_F(KindsTest, AreNamedInTheErrorForAnUnknownOne) {
  EXPECT_EQ(ErrorOf(OpenSampleSource("zip", "x", {})),
            "invalid_argument: no kind \"zip\"; there are folder, webdataset, mds, "
            "tfrecord, lmdb, jsonl");
}

TEST_F(KindsTest, WriteNumberedFilesAndReadThemInMostWays) {
  for (const std::string kind : {"webdataset", "tfrecord", "jsonl"}) {
    const std::string suffix = kind == "webdataset" ? ".tar"
                               : kind == "jsonl"    ? ".jsonl.gz"
                                                    : ".tfrecord";
    const std::string folder = fmt::format("{}/{}", folder_.path(), kind);
    const auto path = [&](std::string_view name) {
      return fmt::format("{}/{}{}", folder, name, suffix);
    };
    WriteAll(*Must(OpenSampleSink(kind, path("x"), {.shard_samples = 6})), Samples());
    for (const std::string& way : {folder, path("x-{000000..000003}"), path("x-*")}) {
      EXPECT_EQ(Described(ReadAll(*Must(OpenSampleSource(kind, way, {})))),
                Described(Samples()))
          << way;
    }
    EXPECT_EQ(ReadAll(*Must(OpenSampleSource(kind, path("x-000001"), {}))).size(), 6U);
    EXPECT_THAT(ErrorOf(OpenSampleSource(kind, path("y"), {})), HasSubstr("not_found: "));
  }
}

TEST_F(KindsTest, BeginAFileBeforeItHasTooManyBytes) {
  const std::string path = folder_.path() + "/x-0007.tar";
  WriteAll(*Must(OpenSampleSink("webdataset", path, {.shard_bytes = 64'000})), Samples());
  EXPECT_LE(ReadFile(path).size(), 64'000U);
  EXPECT_GT(ReadFile(path).size(), 50'000U);
  EXPECT_EQ(
      ReadAll(*Must(OpenSampleSource("webdataset", folder_.path() + "/x-*.tar", {})))
          .size(),
      20U);
}

TEST_F(KindsTest, AreBoundToTheStateOfTheirFiles) {
  struct Row {
    std::string kind;
    ImportOptions options = {};
  };
  const auto change_all = [](const std::string& path) {
    using std::filesystem::last_write_time;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    for (const auto& file : files) {
      last_write_time(file, last_write_time(file) + std::chrono::seconds(1));
    }
  };
  for (const Row& row :
       {Row{"folder"}, Row{"folder", {.grouping = Grouping::kManifest}}, Row{"mds"},
        Row{"lmdb"}, Row{"webdataset"}, Row{"tfrecord"}, Row{"jsonl"}}) {
    SCOPED_TRACE(row.kind);
    const std::string folder = fmt::format("{}/{}{}", folder_.path(), row.kind,
                                           static_cast<int>(row.options.grouping));
    // Of several files, if the kind has any.
    const bool is_numbered =
        row.kind == "webdataset" || row.kind == "tfrecord" || row.kind == "jsonl";
    const std::string suffix = row.kind == "webdataset" ? "tar" : row.kind;
    const std::string target =
        is_numbered ? fmt::format("{}/x.{}", folder, suffix) : folder;
    WriteAll(
        *Must(OpenSampleSink(row.kind, target,
                             {.shard_samples = 6,
                              .manifest = row.options.grouping == Grouping::kManifest})),
        Samples());
    const auto open = [&] {
      return Must(OpenSampleSource(row.kind, folder, row.options));
    };
    const std::string state = Must(open()->Bind());
    EXPECT_EQ(Must(open()->Bind()), state);

    const auto source = open();
    EXPECT_EQ(Must(source->Bind()), state);
    Must(source->Next());
    change_all(folder);
    EXPECT_NE(Must(open()->Bind()), state);
    auto next = source->Next();
    while (next && *next) next = source->Next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, ErrorCode::kConflict);
    EXPECT_THAT(next.error().message, HasSubstr("has changed since the job began"));
  }
}

TEST_F(KindsTest, LeaveNothingBehindIfTheyAreNotFinished) {
  for (const SampleKind& kind : SampleKinds()) {
    if (kind.name == "folder") continue;
    const std::string path = fmt::format("{}/{}", folder_.path(), kind.name);
    Must(Must(OpenSampleSink(kind.name, path, {}))->Put(Samples()[1]));
    EXPECT_NE(ErrorOf(OpenSampleSource(kind.name, path, {})), "") << kind.name;
  }
}

TEST(NumberedName, CountsOnFromTheDigitsOfTheFirst) {
  EXPECT_EQ(Must(NumberedName("d/x-0005.tar", 2)), "d/x-0007.tar");
  EXPECT_EQ(Must(NumberedName("x.tar.gz", 2)), "x-000002.tar.gz");
  EXPECT_EQ(Must(NumberedName("x9.tar", 1)), "x10.tar");
  EXPECT_EQ(Must(NumberedName("v1/train", 0)), "v1/train-000000");
  EXPECT_NE(ErrorOf(NumberedName(std::string(19, '9') + ".tar", 0)), "");
}

TEST(Grouping, HasNames) {
  EXPECT_EQ(Must(ParseGrouping("dir")), Grouping::kDirectory);
  EXPECT_EQ(ErrorOf(ParseGrouping("x")),
            "invalid_argument: no grouping \"x\"; there are auto, dir, stem, manifest");
}

}  // namespace
}  // namespace dolium::dataset
