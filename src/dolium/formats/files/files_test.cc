#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/conformance.h"
#include "dolium/container/testing/entry_list.h"
#include "dolium/container/testing/must.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/files_target.h"
#include "dolium/formats/files/format.h"

namespace dolium::files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FormatCase FilesCase(std::string name, std::function<Location()> new_location) {
  FormatCase made = MakeFormatCase(std::move(name), kFormat, std::move(new_location));
  made.key = [](uint64_t i) { return "chunk " + std::to_string(i * 7919) + ".bin"; };
  made.bad_key = "../escape";
  made.with_preceding = [](uint64_t i) {
    return TestValue{ByteVector(i % 5 * 100, std::byte{'v'}),
                     ByteVector(i % 3 * 50, static_cast<std::byte>(i))};
  };
  return made;
}

const auto kCases = testing::Values(FilesCase("Memory", NewMemoryLocation),
                                    FilesCase("FileSystem", NewFileLocation),
                                    FilesCase("ObjectStore", NewObjectStoreLocation));

INSTANTIATE_TEST_SUITE_P(Files, ReadSuite, kCases, FormatCaseName);
INSTANTIATE_TEST_SUITE_P(Files, FormatSuite, kCases, FormatCaseName);
INSTANTIATE_TEST_SUITE_P(Files, ChangeSuite, kCases, FormatCaseName);
INSTANTIATE_TEST_SUITE_P(Files, PrecedingSuite, kCases, FormatCaseName);

class FilesTest : public testing::Test {
 protected:
  void Put(const std::string& name, std::string_view text) {
    Must(location_.store->Put(location_.path + "/" + name, AsBytes(text),
                              Precondition::None()));
  }
  bool IsThere(const std::string& name) {
    return Must(location_.store->Stat(location_.path + "/" + name)).has_value();
  }
  std::unique_ptr<Container> Open() { return Must(files::Open(location_, {})); }

  const Location location_ = NewMemoryLocation();
};

TEST(CheckKey, TakesASafePathBelowTheFolder) {
  for (const std::string_view key :
       {"a", "0", "...", ".hidden", "with space", "a.shard", "a/b", "a.preceding/b/c"}) {
    EXPECT_TRUE(CheckKey(key)) << key;
  }
}

TEST(CheckKey, RefusesWhatIsNotASafePathBelowTheFolder) {
  using namespace std::string_view_literals;
  for (const std::string_view key :
       {""sv, "."sv, ".."sv, "/"sv, "/a"sv, "a/"sv, "a//b"sv, "a/../b"sv, "./a"sv,
        "a\0b"sv, ".dolium-unfinished"sv, "a/.dolium-plan/b"sv, "a/.x.dolium-tmp-7"sv,
        "a/b.preceding"sv}) {
    const auto checked = CheckKey(key);
    ASSERT_FALSE(checked) << key;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(CheckKey("a/../b").error().message,
            "key \"a/../b\" cannot be a file name: it has \".\" or \"..\" in it");
}

TEST_F(FilesTest, ReadsAFolderThatItDidNotWrite) {
  Put("b", "second");
  Put("a", "first");
  Put("a.preceding", "before");
  Put("below/c/d", "third");
  Put("below/.dolium-part-0", "bookkeeping");
  const auto container = Open();
  std::vector<std::string> keys;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    keys.push_back(entry.key);
    return true;
  };
  Must(Scan(*container, visitor));
  EXPECT_THAT(keys, ElementsAre("a", "b", "below/c/d"));
  EXPECT_EQ(
      AsText(
          Must(ReadEntry(container->store(), *Must(container->Find("below/c/d")))).value),
      "third");
  const auto entry = Must(container->Find("a"));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->size, 5U);
  EXPECT_EQ(entry->preceding_size(), 6U);
  const EntryData data = Must(ReadEntry(container->store(), *entry));
  EXPECT_EQ(AsText(data.value), "first");
  EXPECT_EQ(AsText(data.preceding), "before");
}

TEST_F(FilesTest, WarnsOfWhatIsNotPartOfTheSet) {
  Put("a", "value");
  Put("below/b.preceding", "of nothing");
  Put("below/c", "value");
  Put("below/c.preceding", "before it");
  Put("line\nbreak", "value");
  std::vector<std::string> kinds;
  Must(Open()->CheckObject(location_.path, [&](const Finding& finding) {
    EXPECT_EQ(finding.severity, Severity::kWarning);
    kinds.push_back(finding.kind);
  }));
  EXPECT_THAT(kinds, ElementsAre("orphan", "name"));
  EXPECT_THAT(Must(FilesContainer(location_).Unlisted()),
              ElementsAre("below/b.preceding"));
}

TEST(FilesInFolders, DoNotFollowLinksThatMayLeadBack) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/below");
  std::ofstream(folder.path() + "/below/a") << "value";
  fs::create_directory_symlink("..", folder.path() + "/below/back");
  const FilesContainer container(Must(ParseLocation(folder.path())));
  std::vector<std::string> keys;
  Must(Scan(container, {.entry =
                            [&](const Entry& entry) {
                              keys.push_back(entry.key);
                              return true;
                            },
                        .damage = {}}));
  EXPECT_THAT(keys, ElementsAre("below/a"));
  EXPECT_THAT(Must(container.Unlisted()), ElementsAre("below/back"));
  std::vector<std::string> messages;
  Must(container.CheckObject(container.location().path, [&](const Finding& finding) {
    messages.push_back(finding.kind + ": " + finding.message);
  }));
  EXPECT_THAT(messages, ElementsAre("folder: a link to a folder is not followed"));
}

TEST(FilesInFolders, AreNotChangedThroughLinks) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere.path() + "/b") << "of somebody else";
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/link");
  FilesContainer container(Must(ParseLocation(folder.path())));
  for (const bool removes : {true, false}) {
    Change change{.key = "link/b", .value = std::nullopt, .preceding = {}};
    if (!removes) change.value = Bytes::FromVector(ByteVector(3));
    const auto applied = container.Apply({&change, 1}, {});
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(applied.error().message, HasSubstr("/link: a link to a folder"));
  }
  EXPECT_EQ(fs::file_size(elsewhere.path() + "/b"), 16u);
}

TEST(FilesInFolders, ReportWhatIsNoFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/a") << "value";
  std::filesystem::create_symlink("nowhere", folder.path() + "/b");
  ASSERT_EQ(mkfifo((folder.path() + "/c").c_str(), 0600), 0);
  const FilesContainer container(Must(ParseLocation(folder.path())));
  std::vector<std::string> damaged;
  ScanVisitor visitor{.entry = [](const Entry&) { return true; },
                      .damage =
                          [&](const Finding& finding) {
                            damaged.push_back(finding.key);
                            return true;
                          }};
  Must(Scan(container, visitor));
  EXPECT_THAT(damaged, ElementsAre("b", "c"));
  visitor.damage = nullptr;
  EXPECT_EQ(Scan(container, visitor).error().code, ErrorCode::kCorrupt);
}

TEST(FilesInFolders, LoseTheTemporariesOfKilledWriters) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/below/deep");
  const std::string temporary = folder.path() + "/below/deep/.a.dolium-tmp-00";
  std::ofstream(temporary) << "half";
  std::ofstream(folder.path() + "/below/deep/a") << "value";
  Must(FilesTarget(Must(ParseLocation(folder.path()))).Finish());
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_TRUE(fs::exists(folder.path() + "/below/deep/a"));
}

TEST(FilesInFolders, AreChangedByTheirPaths) {
  const TemporaryFolder folder;
  FilesContainer container(Must(ParseLocation(folder.path())));
  const std::vector<Change> changes = {{.key = "a/b/c",
                                        .value = Bytes::Copy(AsBytes("value")),
                                        .preceding = {},
                                        .only_if_absent = true}};
  Must(container.Apply(changes));
  EXPECT_EQ(Must(container.Find("a/b/c"))->size, 5U);
}

TEST_F(FilesTest, BidsForAFolderWithFilesButNotForShards) {
  EXPECT_EQ(Must(Probe(location_)), 0);
  Put(".dolium-unfinished", "{}");
  EXPECT_EQ(Must(Probe(location_)), 0);
  Put("a", "value");
  EXPECT_EQ(Must(Probe(location_)), 5);
  EXPECT_EQ(Must(Probe(location_.Child("a"))), 0);
  Put("0.shard", "");
  EXPECT_EQ(Must(Probe(location_)), 0);
}

TEST_F(FilesTest, OpensOnlyWhatIsThere) {
  const auto opened = files::Open(location_, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST_F(FilesTest, OpensAnUnfinishedSetOnRequestOnly) {
  Put("a", "value");
  Must(WriteMarker(location_, "{}"));
  const auto opened = files::Open(location_, {});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("unfinished"));
  OpenOptions options;
  options.allow_unfinished = true;
  EXPECT_TRUE(files::Open(location_, options));
}

TEST_F(FilesTest, TakesPrecedingBytesAwayWithTheirEntry) {
  Put("a", "value");
  Put("a.preceding", "before");
  Put("b", "value");
  Put("b.preceding", "before");
  const std::vector<Change> changes = {{"a", std::nullopt, {}},
                                       {"b", Bytes::Copy(AsBytes("new")), {}}};
  Must(Open()->Apply(changes));
  EXPECT_FALSE(IsThere("a"));
  EXPECT_FALSE(IsThere("a.preceding"));
  EXPECT_TRUE(IsThere("b"));
  EXPECT_FALSE(IsThere("b.preceding"));
}

TEST_F(FilesTest, RefusesTwoChangesOfOneKey) {
  Put("a", "value");
  const std::vector<Change> changes = {{"a", Bytes::Copy(AsBytes("1")), {}},
                                       {"a", std::nullopt, {}}};
  const auto applied = Open()->Apply(changes);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message, "key \"a\" is changed twice");
}

TEST_F(FilesTest, WriterReplacesNoFile) {
  Put("a", "old");
  const auto target = Must(Create(location_, {}));
  const auto writer = Must(target->NewWriter({}));
  Must(writer->Add({"a", AsBytes("new"), {}, false}));
  const auto finished = writer->Finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(AsText(Must(location_.store->ReadWhole("set/a", 100)).bytes), "old");
}

TEST_F(FilesTest, CopiesLargeRawValuesWithWhatPrecedesThem) {
  MemoryStore source;
  ByteVector all(16, std::byte{'p'});
  all.resize(16 + (5 << 20), std::byte{'v'});
  const auto version = std::make_shared<const ObjectVersion>(
      ObjectVersion{"all", Must(source.Put("all", all, Precondition::None()))});
  std::vector<Entry> entries(1);
  entries[0].key = "large";
  entries[0].preceding = 16;
  entries[0].extents.push_back({version, {16, all.size() - 16}, {}});
  const auto target = Must(Create(location_, {}));
  const uint64_t part = Must(target->PartOf("large"));
  EntryList list(entries);
  PartSource part_source;
  part_source.store = &source;
  part_source.entries = &list;
  const WriteSummary summary = Must(target->WritePart(part, part_source, {}));
  EXPECT_EQ(summary.objects, 2U);
  EXPECT_EQ(summary.value_bytes, all.size() - 16);
  EXPECT_EQ(Must(location_.store->Stat("set/large"))->size, all.size() - 16);
  EXPECT_EQ(AsText(Must(location_.store->ReadWhole("set/large.preceding", 100)).bytes),
            "pppppppppppppppp");

  entries[0].extents[0].range.length += 1;
  Must(list.Rewind());
  part_source.skip_damaged = [](const Entry&, const Error& error) {
    EXPECT_THAT(error.message, HasSubstr("all: large: bytes"));
    return true;
  };
  EXPECT_EQ(Must(target->WritePart(part, part_source, {})).entries, 0U);
}

TEST_F(FilesTest, RefusesAPartWithAKeyGivenTwice) {
  MemoryStore source;
  const auto version = std::make_shared<const ObjectVersion>(ObjectVersion{
      "all", Must(source.Put("all", AsBytes("value"), Precondition::None()))});
  std::vector<Entry> entries(12);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].key = std::to_string(i % 11);
    entries[i].extents.push_back({version, {0, 5}, {}});
  }
  EntryList list(entries);
  PartSource part_source;
  part_source.store = &source;
  part_source.entries = &list;
  const auto written = Must(Create(location_, {}))->WritePart(0, part_source, {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(written.error().message, HasSubstr("key \"0\" is given twice"));
  EXPECT_FALSE(IsThere("1")) << "nothing is written before all keys are checked";
}

TEST_F(FilesTest, RefusesASpecAndParameters) {
  CreateOptions options;
  options.parameters["shard-size"] = "1GB";
  const auto created = Create(location_, options);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("no parameter \"shard-size\""));
  OpenOptions open_options;
  open_options.spec = "{}";
  EXPECT_FALSE(files::Open(location_, open_options));
}

TEST(OwnsObject, OwnsPlainNamesOnly) {
  EXPECT_TRUE(OwnsObject("a"));
  EXPECT_FALSE(OwnsObject(".dolium-part-3"));
}

}  // namespace
}  // namespace dolium::files
