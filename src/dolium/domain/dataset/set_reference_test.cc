#include "dolium/domain/dataset/set_reference.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/http_test_server.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"

namespace dolium::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SetReferenceTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const {
    return folder_.path() + "/" + std::string(name);
  }

  void Write(std::string_view name, std::string_view text = "x") const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  // What `reference`, put behind the folder, leads to, named from the folder.
  std::vector<std::string> Resolved(std::string_view reference) const {
    return Named(Must(ResolveSet(Path(reference))));
  }

  std::vector<std::string> Named(const std::vector<ShardReference>& shards) const {
    std::vector<std::string> names;
    for (const ShardReference& shard : shards) {
      std::string name = shard.location.Describe();
      if (name.starts_with(Path(""))) name.erase(0, Path("").size());
      names.push_back(name);
    }
    return names;
  }

  std::string ErrorOf(std::string_view reference, ErrorCode code) const {
    const auto shards = ResolveSet(reference);
    if (shards) return "no error";
    EXPECT_EQ(shards.error().code, code) << shards.error().message;
    std::string message = shards.error().message;
    for (size_t at = 0; (at = message.find(Path(""), at)) != std::string::npos;) {
      message.erase(at, Path("").size());
    }
    return message;
  }

  TemporaryFolder folder_;
};

TEST_F(SetReferenceTest, TakesOneShard) {
  Write("a.bin");
  EXPECT_THAT(Resolved("a.bin"), ElementsAre("a.bin"));
  EXPECT_THAT(Named(Must(ResolveSet("file://" + Path("a.bin")))), ElementsAre("a.bin"));
}

TEST_F(SetReferenceTest, ExpandsBraces) {
  for (const char* name : {"t-08", "t-09", "t-10"}) Write(name);
  EXPECT_THAT(Resolved("t-{08..10}"), ElementsAre("t-08", "t-09", "t-10"));
  EXPECT_THAT(Resolved("t-{10,08}"), ElementsAre("t-10", "t-08"));
  EXPECT_EQ(ErrorOf(Path("t-{08..11}"), ErrorCode::kNotFound),
            "t-11: no such file or folder");
}

TEST_F(SetReferenceTest, TakesANameThatExistsAsItIs) {
  Write("{x}[1]*.shardpack");
  EXPECT_THAT(Resolved("{x}[1]*.shardpack"), ElementsAre("{x}[1]*.shardpack"));
}

TEST_F(SetReferenceTest, MatchesPatternsInNameOrder) {
  for (const char* name : {"b/2.shardpack", "b/1.shardpack", "a/3.shardpack", "a/x.txt",
                           "a/.4.shardpack", "c/d/5.shardpack", "6.shardpack"}) {
    Write(name);
  }
  EXPECT_THAT(Resolved("*/*.shardpack"),
              ElementsAre("a/3.shardpack", "b/1.shardpack", "b/2.shardpack"));
  EXPECT_THAT(Resolved("b/[2-9].shardpack"), ElementsAre("b/2.shardpack"));
  EXPECT_THAT(Resolved("*/1.shardpack"), ElementsAre("b/1.shardpack"));
  EXPECT_THAT(Resolved("{b,a}/*.shardpack"),
              ElementsAre("b/1.shardpack", "b/2.shardpack", "a/3.shardpack"));
  EXPECT_EQ(ErrorOf(Path("b/*.sp"), ErrorCode::kNotFound), "b/*.sp: matches no file");
  EXPECT_EQ(ErrorOf(Path("none/*/x"), ErrorCode::kNotFound), "none/*/x: matches no file");
}

TEST_F(SetReferenceTest, TakesTheShardsOfAFolderInNameOrder) {
  for (const char* name :
       {"d/2.shardpack", "d/10.shardpack", "d/notes", "e/notes", "d/f/3.shardpack"}) {
    Write(name);
  }
  EXPECT_THAT(Resolved("d"), ElementsAre("d/10.shardpack", "d/2.shardpack"));
  EXPECT_THAT(Resolved("d/"), ElementsAre("d/10.shardpack", "d/2.shardpack"));
  EXPECT_EQ(ErrorOf(Path("e"), ErrorCode::kNotFound), "e: has no *.shardpack in it");
  EXPECT_EQ(ErrorOf(Path("nowhere"), ErrorCode::kNotFound),
            "nowhere: no such file or folder");
}

TEST_F(SetReferenceTest, ReadsLists) {
  for (const char* name : {"l/1.shardpack", "l/2.shardpack", "m/3.shardpack"})
    Write(name);
  Write("l/set.txt", "# the set\r\n\r\n  {2,1}.shardpack\r\n../m\nhttp://host/4?t=1\n" +
                         Path("m/*.shardpack"));
  EXPECT_THAT(Resolved("l/set.txt"),
              ElementsAre("l/2.shardpack", "l/1.shardpack", "l/../m/3.shardpack",
                          "http://host/4", "m/3.shardpack"));
  Write("l/set", "1.shardpack");
  EXPECT_THAT(Named(Must(ResolveSet("@" + Path("l/set")))), ElementsAre("l/1.shardpack"));
}

TEST_F(SetReferenceTest, NamesTheLineOfAListThatIsWrong) {
  Write("1.shardpack");
  Write("set.txt", "1.shardpack\n\nmissing.shardpack\n");
  EXPECT_EQ(ErrorOf(Path("set.txt"), ErrorCode::kNotFound),
            "set.txt: line 3: missing.shardpack: no such file or folder");
  Write("loop.txt", "loop.txt\n");
  EXPECT_EQ(
      ErrorOf(Path("loop.txt"), ErrorCode::kInvalidArgument),
      "loop.txt: line 1: loop.txt: a list names shards, not other lists or catalogs");
  Write("empty.txt", "# nothing\n");
  EXPECT_EQ(ErrorOf(Path("empty.txt"), ErrorCode::kNotFound),
            "empty.txt: names no shards");
  EXPECT_THAT(ErrorOf("@" + Path("no-list"), ErrorCode::kNotFound), HasSubstr("no-list"));
}

TEST_F(SetReferenceTest, ReadsCatalogs) {
  const CatalogShard known{.path = "x/1.shardpack", .size = 100, .records = 1};
  Write("set.json",
        Must(CatalogText({.shards = {known, {.path = "http://host/2", .size = 72}}})));
  const auto shards = Must(ResolveSet(Path("set.json")));
  EXPECT_THAT(Named(shards), ElementsAre("x/1.shardpack", "http://host/2"));
  EXPECT_EQ(shards[0].known, known);
  EXPECT_EQ(shards[1].known->size, 72);
  Write("bad.json", "{}");
  EXPECT_THAT(ErrorOf(Path("bad.json"), ErrorCode::kCorrupt),
              HasSubstr("bad.json: not a catalog"));
  Write("none.json", Must(CatalogText({})));
  EXPECT_EQ(ErrorOf(Path("none.json"), ErrorCode::kNotFound),
            "none.json: names no shards");
}

TEST_F(SetReferenceTest, ExpandsUrlsWithoutAskingTheServer) {
  const auto shards = Must(ResolveSet("http://127.0.0.1:1/a/t-{0..2}.shardpack?x={1,2}"));
  EXPECT_THAT(Named(shards), ElementsAre("http://127.0.0.1:1/a/t-0.shardpack",
                                         "http://127.0.0.1:1/a/t-1.shardpack",
                                         "http://127.0.0.1:1/a/t-2.shardpack"));
  EXPECT_EQ(shards[0].location.store, shards[2].location.store);
  EXPECT_THAT(ErrorOf("http://host/*.shardpack", ErrorCode::kUnsupported),
              HasSubstr("http://host/*.shardpack: patterns find local files only"));
  EXPECT_THAT(ErrorOf("http://host/set/", ErrorCode::kUnsupported),
              HasSubstr("name the shards with braces, a list or a catalog"));
}

TEST_F(SetReferenceTest, ReadsRemoteListsAndCatalogs) {
  HttpTestServer server;
  const auto put = [&](const std::string& path, std::string text) {
    ServedObject object;
    object.body = std::move(text);
    server.Put(path, object);
  };
  put("/d/set.txt", "a/{1..2}.shardpack\n../3.shardpack\n");
  put("/d/set.json",
      Must(CatalogText({.shards = {{.path = "4.shardpack", .size = 72}}})));
  const std::vector<std::string> references = {server.origin() + "/d/set.txt",
                                               server.origin() + "/d/set.json?t=1"};
  EXPECT_THAT(
      Named(Must(ResolveSet(references))),
      ElementsAre(server.origin() + "/d/a/1.shardpack",
                  server.origin() + "/d/a/2.shardpack", server.origin() + "/3.shardpack",
                  server.origin() + "/d/4.shardpack"));
  for (const char* local : {"/etc/passwd", "file:///etc/passwd"}) {
    put("/bad.txt", local);
    EXPECT_THAT(ErrorOf(server.origin() + "/bad.txt", ErrorCode::kInvalidArgument),
                HasSubstr("is a local name, in a list that was read over the network"));
  }
  put("/out.txt", "../../x");
  EXPECT_THAT(ErrorOf(server.origin() + "/out.txt", ErrorCode::kInvalidArgument),
              HasSubstr("leads out of its server"));
  EXPECT_THAT(ErrorOf(server.origin() + "/none.txt", ErrorCode::kNotFound),
              HasSubstr("/none.txt"));
}

TEST_F(SetReferenceTest, JoinsReferencesInTheOrderGiven) {
  for (const char* name : {"1", "2", "3"}) Write(name);
  const std::vector<std::string> references = {Path("3"), Path("{1..2}")};
  EXPECT_THAT(Named(Must(ResolveSet(references))), ElementsAre("3", "1", "2"));
}

TEST_F(SetReferenceTest, RejectsNothing) {
  EXPECT_EQ(ErrorOf("", ErrorCode::kInvalidArgument), "the name of a set is empty");
  EXPECT_FALSE(ResolveSet(std::vector<std::string>{}));
  EXPECT_FALSE(ResolveSet("@"));
  EXPECT_FALSE(ResolveSet(std::string(10'000, 'x')));
}

}  // namespace
}  // namespace dolium::dataset
