#include "dolium/ops/source/source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/store.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/list.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/testing/volume_plan_fixture.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::unique_ptr<Source> OpenAt(const std::string& path,
                               const SourceOptions& options = {}) {
  return Must(OpenSource(BuiltinFormats(), Must(ParseLocation(path)), options));
}

std::vector<std::string> EntryKeysOf(const Source& source) {
  std::vector<std::string> keys;
  Must(List(*Must(source.entries()), {.entry =
                                          [&](const Entry& entry) {
                                            keys.push_back(entry.key);
                                            return true;
                                          },
                                      .damage = {}}));
  return keys;
}

std::vector<std::string> FindingsOf(const Source& source,
                                    CheckDepth depth = CheckDepth::kDefault) {
  std::vector<std::string> findings;
  VerifyOptions options;
  options.depth = depth;
  Must(source.Check(options, [&](const Finding& finding) {
    findings.push_back(finding.kind + ": " + finding.message);
  }));
  return findings;
}

void WriteTo(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

TEST(SourceKinds, HaveNamesOfTheirOwn) {
  std::set<std::string_view> kinds;
  std::set<std::string_view> formats;
  for (const SourceKind& row : SourceKinds()) {
    EXPECT_TRUE(kinds.insert(row.kind).second) << row.kind;
    if (row.is_at != nullptr) {
      // Its entries are those of a format that has a row.
      EXPECT_TRUE(row.format.empty()) << row.kind;
      EXPECT_EQ(row.probe, nullptr) << row.kind;
      continue;
    }
    EXPECT_TRUE(formats.insert(row.format).second) << row.format;
    // A row either is a format's, or recognises and opens its own.
    const bool is_format = FindFormat(BuiltinFormats(), row.format).has_value();
    EXPECT_NE(is_format, row.probe != nullptr) << row.kind;
    EXPECT_EQ(row.probe != nullptr, row.entries != nullptr) << row.kind;
  }
  for (const Format& format : BuiltinFormats()) {
    EXPECT_TRUE(formats.contains(format.name)) << format.name;
  }
}

// What `dolium info`, `ls`, `stats` and `verify` print of each kind is written down.
TEST(SourceKinds, HaveAGoldenCaseEach) {
  std::set<std::string> shown;
  const fs::path cases = fs::path(DOLIUM_SOURCE_DIR) / "tests/cli/sources";
  for (const auto& entry : fs::directory_iterator(cases)) {
    std::ifstream out(entry.path() / "case.stdout");
    for (std::string line; std::getline(out, line);) {
      std::istringstream words(line);
      std::string word;
      std::string format;
      if (words >> word >> format && word == "format") shown.insert(format);
    }
  }
  for (const SourceKind& row : SourceKinds()) {
    if (row.is_at != nullptr) continue;
    EXPECT_TRUE(shown.contains(std::string(row.format)))
        << "no case below " << cases << " has `dolium info` of a " << row.kind;
  }
}

TEST(SourceKinds, TakeEntriesIfTheirFormatCanBeWritten) {
  const TemporaryFolder folder;
  for (const Format& format : BuiltinFormats()) {
    const auto target =
        format.create(Must(ParseLocation(folder.path() + "/set")), CreateOptions());
    const bool is_written = target || target.error().code != ErrorCode::kUnsupported;
    const auto targets = EntryTargets();
    EXPECT_EQ(std::ranges::count(targets, format.name), is_written ? 1 : 0)
        << format.name;
  }
}

class VolumeSource : public volume::VolumePlanTest {
 protected:
  void Make(bool sharded) const {
    volume::IngestRequest request = Ingest({20, 16, 8}, "vol");
    request.storage.sharded = sharded;
    request.storage.encoding = volume::EncodingSpec{.encoding = volume::Encoding::kRaw};
    request.pyramid.scales = 0;
    Run(PlanIngest(request));
  }
  // Names a part in the info that lies in another folder.
  void AddMesh(const std::string& key) const {
    Must(volume::UpdateInfo(Must(ParseLocation(Path("vol"))),
                            [&](volume::VolumeInfo info) -> Result<volume::VolumeInfo> {
                              info.mesh = key;
                              return info;
                            }));
  }
};

TEST_F(VolumeSource, HasTheEntriesOfItsScales) {
  Make(/*sharded=*/false);
  const auto source = OpenAt(Path("vol"));
  EXPECT_EQ(source->kind(), "volume");
  EXPECT_THAT(EntryKeysOf(*source),
              ElementsAre("4_4_8/21-25_-3-13_0-8", "4_4_8/5-21_-3-13_0-8"));
  EXPECT_EQ(
      Must(Cat(*Must(source->entries()), "4_4_8/5-21_-3-13_0-8", false)).value.size(),
      16u * 16 * 8 * 4);
  EXPECT_EQ(Must(source->CountSizes({})).stored_size.count, 2u);
  EXPECT_THAT(FindingsOf(*source), IsEmpty());
  EXPECT_NE(Must(source->volume()), nullptr);
  EXPECT_EQ(Must(source->samples()), nullptr);
  EXPECT_EQ(Must(source->versions()), nullptr);
}

TEST_F(VolumeSource, IsNotChangedByKey) {
  Make(/*sharded=*/true);
  const auto entries =
      Must(Must(OpenSource(BuiltinFormats(), Must(ParseLocation(Path("vol")))))
               ->MutableEntries());
  EXPECT_EQ(entries->format_name(), "precomputed");
  const Change change{.key = "mine", .value = Bytes::Copy(AsBytes("x")), .preceding = {}};
  const auto applied = entries->Apply({&change, 1});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(fs::exists(Path("vol/mine")));
}

TEST_F(VolumeSource, NumbersTheChunksOfAShardedScale) {
  Make(/*sharded=*/true);
  const auto source = OpenAt(Path("vol"));
  EXPECT_THAT(EntryKeysOf(*source), ElementsAre("4_4_8/0", "4_4_8/1"));
  EXPECT_EQ(Must(Cat(*Must(source->entries()), "4_4_8/0", false)).value.size(),
            16u * 16 * 8 * 4);
  const auto absent = Cat(*Must(source->entries()), "nowhere/0", false);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("no entry \"nowhere/0\""));
  EXPECT_THAT(FindingsOf(*source), IsEmpty());
}

TEST_F(VolumeSource, HasPartsInOtherFolders) {
  Make(/*sharded=*/true);
  WriteTo(Path("meshes/7:0"), "a mesh");
  AddMesh("../meshes");
  const auto source = OpenAt(Path("vol"));
  const auto parts = Must(source->parts());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].kind, "mesh");
  EXPECT_EQ(parts[1].location.Describe(), Path("meshes"));
  EXPECT_THAT(EntryKeysOf(*source), ElementsAre("4_4_8/0", "4_4_8/1", "../meshes/7:0"));
  EXPECT_EQ(AsText(Must(Cat(*Must(source->entries()), "../meshes/7:0", false)).value),
            "a mesh");
  EXPECT_THAT(EntryKeysOf(*OpenAt(parts[1].location.Describe())), ElementsAre("7:0"));
}

TEST_F(VolumeSource, WarnsOfAPartThatIsNotThere) {
  Make(/*sharded=*/true);
  AddMesh("mesh");
  EXPECT_THAT(FindingsOf(*OpenAt(Path("vol"))),
              ElementsAre("part: the info names it as mesh, and it is not there"));
}

TEST_F(VolumeSource, OpensAScaleAloneAndAFormatByName) {
  Make(/*sharded=*/true);
  EXPECT_EQ(OpenAt(Path("vol/4_4_8"))->kind(), "sharded set");
  EXPECT_EQ(OpenAt(Path("vol"), {.format = "files"})->kind(), "folder of files");
  EXPECT_EQ(OpenAt(Path("vol"), {.format = "precomputed"})->kind(), "volume");
}

class CasSource : public ::testing::Test {
 protected:
  CasSource() {
    Must(cas::InitStore(path("store")));
    WriteTo(path("tree/a"), std::string(300'000, 'a'));
    WriteTo(path("tree/b/c"), "text");
    const auto store = Must(cas::CasStore::Open(path("store")));
    const auto put = [&](const std::string& name, const std::string& file) {
      cas::PutOptions options;
      options.name = name;
      Must(cas::Put(*store, {path(file)}, options));
    };
    put("tree", "tree");
    put("a", "tree/a");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
};

TEST_F(CasSource, HasTheFilesOfItsVersions) {
  const auto source = OpenAt(path("store"));
  EXPECT_EQ(source->kind(), "cas store");
  EXPECT_THAT(EntryKeysOf(*source), ElementsAre("a@1", "tree@1/a", "tree@1/b/c"));
  const Container& entries = *Must(source->entries());
  EXPECT_EQ(AsText(Must(Cat(entries, "tree@1/b/c", false)).value), "text");
  EXPECT_EQ(Must(Cat(entries, "a@1", false)).value.size(), 300'000u);
  for (const char* key : {"tree@1/b", "tree@2/a", "a@1/a", "tree/a", "none"}) {
    EXPECT_EQ(Must(entries.Find(key)), std::nullopt) << key;
  }
  EXPECT_EQ(Must(source->CountSizes({})).stored_size.count, 3u);
  EXPECT_THAT(FindingsOf(*source), IsEmpty());
  EXPECT_NE(Must(source->versions()), nullptr);
}

TEST_F(CasSource, FindsADamagedXorb) {
  for (const auto& file : fs::recursive_directory_iterator(path("store/xorbs"))) {
    if (!file.is_regular_file()) continue;
    fs::permissions(file.path(), fs::perms::owner_write, fs::perm_options::add);
    std::fstream out(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(20);
    out.put('\x7f');
  }
  EXPECT_THAT(FindingsOf(*OpenAt(path("store"))), Contains(StartsWith("damaged_file: ")));
}

}  // namespace
}  // namespace dolium
