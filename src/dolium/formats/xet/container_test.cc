// Shards and xorbs as containers.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/location.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/format.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/format.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "dolium/formats/xet/shard_container.h"
#include "dolium/formats/xet/testing/made_store.h"
#include "dolium/formats/xet/testing/vectors.h"
#include "dolium/formats/xet/xorb_container.h"
#include "dolium/formats/xet/xorb_writer.h"

namespace dolium::xet {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr Format kFormats[] = {kFormat};

MadeStore SomeStore(XorbWriter::Footer footer = XorbWriter::Footer::kVersion1) {
  MadeStore store(footer);
  store.Add(SplitMix(1, 1500000));
  store.Add(Repeated(7, 700000));
  store.Add(Text("Hello World!"));
  store.Add({});
  return store;
}

std::unique_ptr<Container> OpenXet(const Location& location,
                                   const OpenOptions& options = {}) {
  return Must(OpenContainer(kFormats, location, "", options));
}

std::map<std::string, std::string> ReadAll(const Container& container) {
  std::map<std::string, std::string> values;
  Must(Scan(container, {.entry =
                            [&](const Entry& entry) {
                              const auto data = ReadEntry(container.store(), entry);
                              values[entry.key] = data ? std::string(AsText(data->value))
                                                       : data.error().message;
                              EXPECT_EQ(entry.size, values[entry.key].size());
                              return true;
                            },
                        .damage = {}}));
  return values;
}

std::vector<Finding> Check(const Container& container) {
  std::vector<Finding> findings;
  const auto objects = Must(container.Objects());
  for (const std::string& object : objects) {
    Must(container.CheckObject(
        object, [&](const Finding& finding) { findings.push_back(finding); }));
  }
  return findings;
}

std::map<std::string, std::string> PropertiesOf(const Container& container) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : container.properties()) texts[name] = value.text();
  return texts;
}

class XetContainerTest : public ::testing::Test {
 protected:
  const Location memory_{std::make_shared<MemoryStore>("m"), "store"};
};

TEST_F(XetContainerTest, ReadsFilesThroughTheirXorbs) {
  for (const auto footer : {XorbWriter::Footer::kVersion1, XorbWriter::Footer::kNone}) {
    const MadeStore made = SomeStore(footer);
    const auto container = OpenXet(made.Put(memory_));
    EXPECT_EQ(container->format_name(), "xet");
    EXPECT_EQ(ReadAll(*container), made.contents());
    EXPECT_THAT(Check(*container), IsEmpty());
    for (const auto& [key, value] : made.contents()) {
      const auto entry = Must(container->Find(key));
      ASSERT_TRUE(entry);
      std::string joined;
      Must(ReadInSegments(container->store(), *entry,
                          [&](const Bytes& segment) -> Result<void> {
                            joined += AsText(segment);
                            return {};
                          }));
      EXPECT_EQ(joined, value);
    }
    EXPECT_FALSE(Must(container->Find(ToString(kDataKey))));
    EXPECT_EQ(container->Find("seven").error().code, ErrorCode::kInvalidArgument);
  }
}

// A map of it would end the process.
TEST_F(XetContainerTest, KeepsAnOpenShardThatIsCutShort) {
  const TemporaryFolder folder;
  const MadeStore made = SomeStore(XorbWriter::Footer::kVersion1);
  const Location shard = made.Put(Must(ParseLocation(folder.path())));
  const auto container = OpenXet(shard);
  const std::string key = made.contents().begin()->first;
  ASSERT_TRUE(Must(container->Find(key)));
  std::filesystem::resize_file(shard.path, 0);
  EXPECT_TRUE(Must(container->Find(key)));
  EXPECT_EQ(ReadAll(*container), made.contents());
}

TEST_F(XetContainerTest, ReadsWhatTheStockClientWrote) {
  const Location folder = Must(
      ParseLocation(DOLIUM_SOURCE_DIR "/src/dolium/formats/xet/testdata/good/shards"));
  const auto container = OpenXet(folder);
  EXPECT_THAT(Check(*container), IsEmpty());
  const auto values = ReadAll(*container);
  ASSERT_THAT(values, SizeIs(5));
  for (const auto& [key, value] : values) {
    EXPECT_EQ(ToString(FileHash(ChunkAndHash(AsBytes(value)).value())), key);
  }
  EXPECT_EQ(values.at("a9dae0ad88b060bdd7e7c87abdcf95b132c95a0414b06d4f6beb68d287b87165"),
            "Hello World!");
}

TEST_F(XetContainerTest, ReadsFoldersOfShards) {
  MadeStore one;
  one.Add(SplitMix(1, 300000));
  MadeStore other;
  other.Add(SplitMix(2, 300000));
  one.Put(memory_);
  other.Put(memory_);
  // As LMDB names its files.
  Must(memory_.store->Put(memory_.Child("shards/data.mdb").path, Text("no shard"),
                          Precondition::None()));
  const auto container = OpenXet(memory_.Child("shards"));
  auto contents = one.contents();
  contents.insert(other.contents().begin(), other.contents().end());
  EXPECT_EQ(ReadAll(*container), contents);
  EXPECT_THAT(Must(container->Objects()), SizeIs(2));
  for (const auto& [key, value] : contents) EXPECT_TRUE(Must(container->Find(key)));
}

TEST_F(XetContainerTest, FindsXorbsByAllNamesInUse) {
  const MadeStore made = SomeStore();
  for (const std::string prefix : {"default.", ""}) {
    const Location folder = memory_.Child("by" + prefix);
    EXPECT_EQ(ReadAll(*OpenXet(made.Put(folder, prefix))), made.contents());
  }
}

TEST_F(XetContainerTest, FindsXorbsInAFolderThatIsNamed) {
  const MadeStore made = SomeStore();
  const TemporaryFolder local;
  const Location folder = Must(ParseLocation(local.path()));
  const Location shard = made.Put(folder.Child("a"));
  for (const auto& [hash, object] : made.objects()) {
    Must(
        folder.store->Remove(folder.Child("a/xorbs/" + hash).path, Precondition::None()));
    const std::string name = "elsewhere/" + hash.substr(0, 2) + "/" + hash;
    Must(folder.store->Put(folder.Child(name).path, object, Precondition::None()));
  }
  OpenOptions options;
  options.parameters["xorbs"] = local.path() + "/elsewhere";
  EXPECT_EQ(ReadAll(*OpenXet(shard, options)), made.contents());
  const auto refused = OpenContainer(kFormats, made.Put(memory_), "", options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("read from where the shard is"));
}

TEST_F(XetContainerTest, ListsFilesWhoseXorbsAreElsewhere) {
  const MadeStore made = SomeStore();
  const Location shard = memory_.Child("alone.mdb");
  Must(memory_.store->Put(shard.path, made.Shard(), Precondition::None()));
  const auto container = OpenXet(shard);
  std::map<std::string, uint64_t> sizes;
  std::string error;
  Must(Scan(*container, {.entry =
                             [&](const Entry& entry) {
                               sizes[entry.key] = entry.size.value();
                               const auto read = ReadEntry(container->store(), entry);
                               if (!read) error = read.error().message;
                               return true;
                             },
                         .damage = {}}));
  EXPECT_THAT(sizes, SizeIs(made.contents().size()));
  for (const auto& [key, value] : made.contents()) EXPECT_EQ(sizes[key], value.size());
  EXPECT_THAT(error, HasSubstr("no such object"));
  EXPECT_THAT(Check(*container), IsEmpty());
}

TEST_F(XetContainerTest, NamesFileTermXorbAndChunkOfDamage) {
  MadeStore made;
  const std::string key = made.Add(SplitMix(1, 1500000));
  const Location shard = made.Put(memory_);
  const auto container = OpenXet(shard);
  const Entry entry = Must(container->Find(key)).value();
  ASSERT_THAT(entry.extents, SizeIs(2));
  // A byte within the third chunk of the second term's xorb.
  const std::string object = entry.extents[1].object->name;
  const std::string hash(BaseName(object));
  ByteVector damaged = made.objects().at(hash);
  damaged[200000] ^= std::byte{1};
  Must(memory_.store->Put(object, damaged, Precondition::None()));
  const auto again = OpenXet(shard);
  const auto read = ReadEntry(again->store(), Must(again->Find(key)).value()).error();
  EXPECT_EQ(read.code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.message, HasSubstr(key));
  EXPECT_THAT(read.message, HasSubstr("term 1: xorb " + hash + ": chunk "));
}

TEST_F(XetContainerTest, RefusesTermsThatTheXorbDoesNotHave) {
  const MadeStore made = SomeStore();
  const auto shard_with = [&](const std::function<void(Term&)>& change) {
    MadeStore again = SomeStore();
    auto files = std::vector<FileInfo>();
    const ByteVector shard = again.Shard();
    FileCursor cursor = ShardView::Open(shard).value().files();
    while (const auto file = cursor.Next().value()) {
      FileInfo info;
      info.hash = file->hash();
      for (size_t i = 0; i < file->size(); ++i) info.terms.push_back(file->term(i));
      if (!info.terms.empty()) change(info.terms[0]);
      files.push_back(info);
    }
    const Location location = memory_.Child("shards/changed.mdb");
    Must(memory_.store->Put(location.path, WriteShard(files, {}, {}).value(),
                            Precondition::None()));
    std::vector<std::string> messages;
    Must(Scan(*OpenXet(location), {.entry = [](const Entry&) { return true; },
                                   .damage =
                                       [&](const Finding& finding) {
                                         EXPECT_EQ(finding.kind, "terms");
                                         messages.push_back(finding.message);
                                         return true;
                                       }}));
    return messages;
  };
  made.Put(memory_);
  EXPECT_THAT(shard_with([](Term&) {}), IsEmpty());
  EXPECT_THAT(shard_with([](Term& term) { term.end = 5000; }),
              Contains(HasSubstr("term 0: chunks [0, 5000) of xorb")));
  EXPECT_THAT(shard_with([](Term& term) { term.end = term.first; }),
              Contains(HasSubstr("term 0: chunks [0, 0) of xorb")));
  EXPECT_THAT(shard_with([](Term& term) { ++term.raw_bytes; }),
              Contains(HasSubstr("bytes, ")));
}

TEST_F(XetContainerTest, RefusesFilesWhoseChunksGiveAnotherHash) {
  MadeStore made;
  made.Add(SplitMix(1, 300000));
  made.Put(memory_);
  const ByteVector shard = made.Shard();
  const FileBlock file = ShardView::Open(shard).value().files().Next().value().value();
  FileInfo info;
  info.hash = kDataKey;
  for (size_t i = 0; i < file.size(); ++i) info.terms.push_back(file.term(i));
  const Location location = memory_.Child("shards/other.mdb");
  Must(memory_.store->Put(location.path, WriteShard({info}, {}, {}).value(),
                          Precondition::None()));
  const auto found = OpenXet(location)->Find(ToString(kDataKey));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              HasSubstr("its chunks give the hash " + ToString(file.hash())));
}

TEST_F(XetContainerTest, SaysWhatAShardIs) {
  const MadeStore made = SomeStore();
  const auto properties = PropertiesOf(*OpenXet(made.Put(memory_)));
  EXPECT_EQ(properties.at("kind"), "shard");
  EXPECT_EQ(properties.at("files"), "4");
  EXPECT_EQ(properties.at("file_bytes"), std::to_string(1500000 + 700000 + 12));
  EXPECT_EQ(properties.at("xorbs"), std::to_string(made.objects().size()));
  EXPECT_EQ(properties.at("keyed"), "no");
  EXPECT_EQ(properties.at("expires"), "never");
  const Location upload = memory_.Child("upload.mdb");
  Must(memory_.store->Put(upload.path, made.Shard({.with_footer = false}),
                          Precondition::None()));
  EXPECT_EQ(PropertiesOf(*OpenXet(upload)).at("footer"), "none");
  const Location dated = memory_.Child("dated.mdb");
  Must(memory_.store->Put(dated.path,
                          made.Shard({.created = 1700000000, .expiry = 1800000000}),
                          Precondition::None()));
  EXPECT_EQ(PropertiesOf(*OpenXet(dated)).at("created"), "2023-11-14T22:13:20Z");
  EXPECT_EQ(PropertiesOf(*OpenXet(dated)).at("expires"), "2027-01-15T08:00:00Z");
}

TEST_F(XetContainerTest, FindsEveryFlippedBitOfANamedShard) {
  MadeStore made;
  made.Add(SplitMix(1, 300000));
  const Location location = made.Put(memory_);
  const ByteVector shard = made.Shard();
  for (size_t at = 0; at < shard.size(); ++at) {
    ByteVector damaged = shard;
    damaged[at] ^= static_cast<std::byte>(1 << (at % 8));
    Must(memory_.store->Put(location.path, damaged, Precondition::None()));
    const auto container = Open(location, {});
    size_t findings = 0;
    const auto checked =
        (*container)->CheckObject(location.path, [&](const Finding&) { ++findings; });
    EXPECT_TRUE(!checked || findings > 0) << "byte " << at;
  }
}

TEST_F(XetContainerTest, ReadsChunksOfXorbs) {
  for (const auto footer : {XorbWriter::Footer::kVersion1, XorbWriter::Footer::kNone}) {
    MadeStore made(footer);
    const ByteVector data = SplitMix(3, 500000);
    made.Add(data);
    for (const auto& [hash, object] : made.objects()) {
      const Location location = memory_.Child(hash);
      Must(memory_.store->Put(location.path, object, Precondition::None()));
      const auto container = OpenXet(location);
      std::string joined;
      for (const auto& [key, value] : ReadAll(*container)) joined += value;
      EXPECT_THAT(std::string(AsText(data)), HasSubstr(joined));
      EXPECT_THAT(Check(*container), IsEmpty());
      const auto properties = PropertiesOf(*container);
      EXPECT_EQ(properties.at("kind"), "xorb");
      EXPECT_EQ(properties.at("hash"), hash);
      EXPECT_EQ(properties.at("raw_bytes"), std::to_string(joined.size()));
      EXPECT_EQ(properties.at("footer"),
                footer == XorbWriter::Footer::kNone ? "none" : "version 1");
      const auto first = Must(container->Find("0")).value();
      const Bytes chunk = Must(ReadEntry(container->store(), first)).value;
      const auto by_hash = Must(container->Find(ToString(ChunkHash(chunk))));
      ASSERT_TRUE(by_hash);
      EXPECT_EQ(by_hash->key, "0");
      EXPECT_FALSE(Must(container->Find("100000")));
      EXPECT_FALSE(Must(container->Find(ToString(kDataKey))));
      EXPECT_EQ(container->Find("x").error().code, ErrorCode::kInvalidArgument);
    }
  }
}

TEST_F(XetContainerTest, RefusesAXorbOfAnotherName) {
  MadeStore made;
  made.Add(SplitMix(3, 100000));
  const Location location = memory_.Child(ToString(kDataKey));
  Must(memory_.store->Put(location.path, made.objects().begin()->second,
                          Precondition::None()));
  const auto container = Must(Open(location, {}));
  const auto checked = container->CheckObject(location.path, [](const Finding&) {});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(checked.error().message, HasSubstr(ToString(kDataKey) + " expected"));
}

TEST_F(XetContainerTest, IsNotSeenInOtherFiles) {
  const auto score = [&](const std::string& name, BytesView bytes) {
    const Location location = memory_.Child(name);
    Must(memory_.store->Put(location.path, bytes, Precondition::None()));
    return Must(Probe(location));
  };
  MadeStore made;
  made.Add(SplitMix(3, 100000));
  const ByteVector& xorb = made.objects().begin()->second;
  EXPECT_GT(score("a.mdb", made.Shard()), 90);
  EXPECT_EQ(score("data.mdb", Text("not a shard, though it is named like one")), 0);
  EXPECT_GT(score(ToString(kDataKey), xorb), 80);
  EXPECT_GT(score("default." + ToString(kDataKey), xorb), 80);
  EXPECT_EQ(score(ToString(kDataKey), {}), 0);
  EXPECT_EQ(score(ToString(kDataKey), Text("no chunk at the beginning of this")), 0);
  EXPECT_EQ(Must(Probe(memory_.Child("absent"))), 0);
}

TEST_F(XetContainerTest, CannotBeWritten) {
  EXPECT_EQ(kFormat.create(memory_, {}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(kFormat.reopen(memory_, "").error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(kFormat.owns_object(ToString(kDataKey) + ".mdb"));
  EXPECT_FALSE(kFormat.owns_object("data.mdb"));
}

}  // namespace
}  // namespace dolium::xet
