#include "dolium/domain/dataset/imports/lmdb.h"

#include <lmdb.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/dataset/imports/testing/samples.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    out.push_back(entry.path().filename());
  }
  return out;
}

// Entries written with the library alone, in a folder as it makes them.
void MakeEnvironment(const std::string& path, const char* database, unsigned flags,
                     const std::vector<std::pair<std::string, std::string>>& entries) {
  std::filesystem::create_directories(path);
  const auto check = [](int status) {
    if (status != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(status));
  };
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi handle = 0;
  check(mdb_env_create(&environment));
  check(mdb_env_set_maxdbs(environment, 2));
  check(mdb_env_open(environment, path.c_str(), MDB_NOLOCK, 0666));
  check(mdb_txn_begin(environment, nullptr, 0, &transaction));
  check(mdb_dbi_open(transaction, database, MDB_CREATE | flags, &handle));
  for (auto [key, value] : entries) {
    MDB_val k{key.size(), key.data()};
    MDB_val v{value.size(), value.data()};
    check(mdb_put(transaction, handle, &k, &v, 0));
  }
  check(mdb_txn_commit(transaction));
  mdb_env_close(environment);
}

class LmdbTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/db";
};

TEST_F(LmdbTest, HasASampleForEachEntry) {
  MakeEnvironment(path_, nullptr, 0, {{"b", "\xff\xd8\xff"}, {"a/1", "x"}, {"\xff", ""}});
  {
    const auto source = Must(OpenLmdb(path_, {}));
    EXPECT_EQ(source->progress().total_entries, 3U);
    const auto samples = ReadAll(*source);
    EXPECT_THAT(Described(samples),
                ElementsAre("a/1: data=x", "b: data=\xff\xd8\xff", "0xff: data="));
    EXPECT_EQ(samples[1].files[0].content_type, "image/jpeg");
  }
  EXPECT_THAT(FilesIn(path_), ElementsAre("data.mdb"));  // no lock file is left
  EXPECT_EQ(ReadAll(*Must(OpenLmdb(path_ + "/data.mdb", {}))).size(), 3U);
}

TEST_F(LmdbTest, GroupsKeysAsFoldersDo) {
  MakeEnvironment(path_, nullptr, 0,
                  {{"k1/a.txt", "1a"},
                   {"k1/b.txt", "1b"},
                   {"k1", "1"},
                   {"x/y/a", "2"},
                   {"/rooted", "3"},
                   {"open/", "4"}});
  const auto samples =
      ReadAll(*Must(OpenLmdb(path_, {.grouping = Grouping::kDirectory})));
  EXPECT_THAT(Described(samples),
              ElementsAre("/rooted: data=3", "k1: data=1 a.txt=1a b.txt=1b",
                          "open/: data=4", "x/y: a=2"));
  EXPECT_EQ(samples[1].files[1].content_type, "text/plain");
}

TEST_F(LmdbTest, KeepsValuesValidAfterTheSourceIsGone) {
  MakeEnvironment(path_, nullptr, 0, {{"a", "value"}});
  auto source = Must(OpenLmdb(path_, {}));
  const auto samples = ReadAll(*source);
  source.reset();
  EXPECT_EQ(AsText(samples[0].files[0].data), "value");
}

TEST_F(LmdbTest, ReadsNamedDatabasesAndIntegerKeys) {
  const uint64_t number = 258;
  MakeEnvironment(path_, "train", MDB_INTEGERKEY,
                  {{std::string(reinterpret_cast<const char*>(&number), 8), "x"}});
  EXPECT_THAT(Described(ReadAll(*Must(OpenLmdb(path_, {.database = "train"})))),
              ElementsAre("258: data=x"));
  EXPECT_THAT(ErrorOf(OpenLmdb(path_, {.database = "test"})),
              HasSubstr("cannot open database \"test\""));
}

TEST_F(LmdbTest, SaysWhatIsNotThereOrNoEnvironment) {
  EXPECT_THAT(ErrorOf(OpenLmdb(path_, {})), HasSubstr("not_found"));
  WriteFile(path_ + "/data.mdb", std::string(10'000, 'x'));
  EXPECT_THAT(ErrorOf(OpenLmdb(path_, {})), HasSubstr("corrupt"));
}

TEST_F(LmdbTest, WritesWhatItReads) {
  WriteAll(*Must(CreateLmdb(path_, {})), {MakeSample("b", {{"data", "1"}}),
                                          MakeSample("a", {{"jpg", "J"}, {"txt", ""}})});
  EXPECT_THAT(FilesIn(path_), ElementsAre("data.mdb"));
  EXPECT_THAT(Described(ReadAll(*Must(OpenLmdb(path_, {})))),
              ElementsAre("a/jpg: data=J", "a/txt: data=", "b: data=1"));
  EXPECT_THAT(ErrorOf(CreateLmdb(path_, {})), HasSubstr("is there already"));
}

using SampleList = std::vector<shardpack::Sample>;

TEST_F(LmdbTest, GivesBackWhatItTook) {
  const SampleList values = {MakeSample("a", {{"data", "1"}}),
                             MakeSample("a/b", {{"data", "2"}}),
                             MakeSample("a/b/c", {{"data", "3"}})};
  WriteAll(*Must(CreateLmdb(path_, {})), values);
  EXPECT_EQ(Described(ReadAll(*Must(OpenLmdb(path_, {})))), Described(values));

  const SampleList grouped = {
      MakeSample("/r", {{"data", "7"}}), MakeSample("a", {{"data", "1"}, {"x", "2"}}),
      MakeSample("a.b", {{"data", "3"}}), MakeSample("a/b", {{"data", "4"}, {"y", "5"}}),
      MakeSample("c/", {{"z", "6"}})};
  WriteAll(*Must(CreateLmdb(path_ + "2", {})), grouped);
  EXPECT_THAT(Described(ReadAll(
                  *Must(OpenLmdb(path_ + "2", {.grouping = Grouping::kDirectory})))),
              ::testing::UnorderedElementsAreArray(Described(grouped)));
}

// The first error of writing them; "" if there is none.
std::string ErrorOfWriting(const std::string& path, const SampleList& samples) {
  const auto sink = Must(CreateLmdb(path, {.force = true}));
  for (const shardpack::Sample& sample : samples) {
    if (const auto put = sink->Put(sample); !put) return ErrorOf(put);
  }
  return ErrorOf(sink->Finish());
}

TEST_F(LmdbTest, RefusesWhatItWouldNotGiveBack) {
  EXPECT_EQ(
      ErrorOfWriting(path_, {MakeSample("b", {{"y/z", ""}})}),
      "invalid_argument: sample \"b\", file \"y/z\": would not be found again in an "
      "LMDB, where names of files have no slash");
  EXPECT_EQ(ErrorOfWriting(path_, {MakeSample("a", {{"x", ""}, {"z", ""}}),
                                   MakeSample("a/x", {{"q", ""}})}),
            "invalid_argument: samples \"a\" and \"a/x\": would not be found again in an "
            "LMDB, where files of the one lie among those of the other");
  const SampleList mixed = {MakeSample("a/b", {{"data", ""}}),
                            MakeSample("c", {{"x", ""}})};
  EXPECT_THAT(ErrorOfWriting(path_, mixed),
              HasSubstr("sample \"a/b\", file \"data\": would not be found again"));
  EXPECT_THAT(ErrorOfWriting(path_, {mixed[1], mixed[0]}),
              HasSubstr("sample \"a/b\", file \"data\": would not be found again"));
  EXPECT_EQ(
      ErrorOfWriting(path_, {MakeSample("a", {{"x", ""}}), MakeSample("a", {{"y", ""}})}),
      "invalid_argument: 2 samples would be found again in the LMDB as 1: some have "
      "the same key");
  EXPECT_THAT(FilesIn(path_), ElementsAre());
}

TEST_F(LmdbTest, MakesTheMapAsLargeAsItMustBe) {
  std::vector<shardpack::Sample> samples;
  samples.reserve(20);
  for (int i = 0; i < 20; ++i) {
    samples.push_back(
        MakeSample(std::to_string(100 + i), {{"data", std::string(5'000'000, 'a')}}));
  }
  const std::string file = folder_.path() + "/x.mdb";
  WriteAll(*Must(CreateLmdb(file, {})), samples);
  const auto again = ReadAll(*Must(OpenLmdb(file, {})));
  ASSERT_EQ(again.size(), 20U);
  EXPECT_EQ(again[19].files[0].data.size(), 5'000'000U);
}

TEST_F(LmdbTest, RefusesKeysThatAreTooLongOrComeTwice) {
  auto sink = Must(CreateLmdb(path_, {}));
  EXPECT_THAT(ErrorOf(sink->Put(MakeSample(std::string(512, 'k'), {{"data", ""}}))),
              HasSubstr("has 512 bytes, not 1 to 511"));
  Must(sink->Put(MakeSample("a", {{"data", "1"}})));
  Must(sink->Put(MakeSample("a", {{"data", "2"}})));
  EXPECT_THAT(ErrorOf(sink->Finish()), HasSubstr("exists: "));
  sink.reset();
  EXPECT_THAT(FilesIn(path_), ElementsAre());
}

}  // namespace
}  // namespace dolium::dataset
