// Conversions of whole sources: nothing is left out unsaid.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
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
#include "dolium/ops/convert.h"
#include "dolium/ops/scan_source.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/testing/volume_plan_fixture.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The manifest of a mesh.
constexpr const char* kNoFragments = R"({"fragments": []})";
constexpr const char* kNoProperties =
    R"({"@type": "neuroglancer_segment_properties", "inline": {"ids": [], "properties": []}})";

void WriteText(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Every file below a folder, by its path there, in order.
std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) {
      files.push_back(fs::relative(entry.path(), folder).native());
    }
  }
  std::ranges::sort(files);
  return files;
}

Result<ConvertReport> Copy(const std::string& source, const std::string& target,
                           const std::string& format = {}, bool force = false,
                           bool skip_damaged = false) {
  ConvertRequest request;
  request.source = source;
  request.target = target;
  request.target_format = format;
  request.force = force;
  request.skip_damaged = skip_damaged;
  return Convert(BuiltinFormats(), request, {});
}

class CopyVolume : public volume::VolumePlanTest {
 protected:
  void Make(bool sharded) const {
    volume::IngestRequest request = Ingest({20, 16, 8}, "data/vol");
    request.storage.sharded = sharded;
    request.pyramid.scales = 0;
    fs::create_directories(Path("data"));
    Run(PlanIngest(request));
  }
  void Name(const std::string& mesh, const std::string& properties) const {
    Must(volume::UpdateInfo(Must(ParseLocation(Path("data/vol"))),
                            [&](volume::VolumeInfo info) -> Result<volume::VolumeInfo> {
                              info.mesh = mesh;
                              info.segment_properties = properties;
                              return info;
                            }));
  }
  void CheckWhole(const std::string& path) const {
    const auto source = Must(OpenSource(BuiltinFormats(), Must(ParseLocation(path))));
    EXPECT_EQ(source->kind(), "volume");
    std::vector<std::string> findings;
    Must(source->Check({}, [&](const Finding& finding) {
      findings.push_back(finding.kind + ": " + finding.message);
    }));
    EXPECT_THAT(findings, ElementsAre());
  }
};

TEST_F(CopyVolume, KeepsEverythingInItsFolder) {
  for (const bool sharded : {true, false}) {
    const std::string out = Path(sharded ? "sharded" : "files");
    fs::remove_all(Path("data"));
    Make(sharded);
    Name("mesh", "properties");
    WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
    WriteText(Path("data/vol/mesh/below/7"), "fragment");
    WriteText(Path("data/vol/properties/info"), kNoProperties);
    WriteText(Path("data/vol/provenance"), "who");
    Must(Copy(Path("data/vol"), out));
    const auto files = FilesBelow(Path("data/vol"));
    EXPECT_GE(files.size(), 6U);
    EXPECT_EQ(FilesBelow(out), files);
    for (const std::string& file : files) {
      EXPECT_EQ(ReadText(out + "/" + file), ReadText(Path("data/vol/") + file)) << file;
    }
    CheckWhole(out);
  }
}

TEST_F(CopyVolume, BringsPartsFromOtherFolders) {
  Make(/*sharded=*/true);
  Name("../../elsewhere/mesh", "../mesh");
  WriteText(Path("elsewhere/mesh/7:0"), kNoFragments);
  WriteText(Path("data/mesh/info"), kNoProperties);
  WriteText(Path("data/vol/mesh"), "a name that is taken");
  Must(Copy(Path("data/vol"), Path("out")));
  const auto info = Must(volume::Volume::Open(Must(ParseLocation(Path("out"))))).info();
  EXPECT_EQ(info.segment_properties, "mesh_2");
  EXPECT_EQ(info.mesh, "mesh_3");
  EXPECT_EQ(ReadText(Path("out/mesh")), "a name that is taken");
  EXPECT_EQ(ReadText(Path("out/mesh_2/info")), kNoProperties);
  EXPECT_EQ(ReadText(Path("out/mesh_3/7:0")), kNoFragments);
  CheckWhole(Path("out"));
}

TEST_F(CopyVolume, FollowsALinkToAPartAndNoOther) {
  Make(/*sharded=*/true);
  fs::rename(Path("data/vol/4_4_8"), Path("scale"));
  fs::create_directory_symlink(Path("scale"), Path("data/vol/4_4_8"));
  Must(Copy(Path("data/vol"), Path("out")));
  EXPECT_EQ(FilesBelow(Path("out/4_4_8")), FilesBelow(Path("scale")));
  CheckWhole(Path("out"));
  fs::create_directory_symlink("..", Path("data/vol/back"));
  const auto copied = Copy(Path("data/vol"), Path("other"));
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(copied.error().message, HasSubstr("a copy would leave out \"back\""));
  EXPECT_FALSE(fs::exists(Path("other")));
}

TEST_F(CopyVolume, ReplacesAVolumeAndNothingElse) {
  Make(/*sharded=*/true);
  Name("mesh", "properties");
  WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
  Must(Copy(Path("data/vol"), Path("out")));
  const auto again = Copy(Path("data/vol"), Path("out"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
  WriteText(Path("data/vol/mesh/8:0"), kNoFragments);
  Must(Copy(Path("data/vol"), Path("out"), "", /*force=*/true));
  EXPECT_TRUE(fs::exists(Path("out/mesh/8:0")));
  WriteText(Path("out/notes"), "mine");
  const auto refused = Copy(Path("data/vol"), Path("out"), "", /*force=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("holds \"notes\""));
}

TEST_F(CopyVolume, RemovesNothingForeignFromItsParts) {
  for (const bool sharded : {true, false}) {
    fs::remove_all(Path("data"));
    fs::remove_all(Path("out"));
    Make(sharded);
    Name("mesh", "properties");
    WriteText(Path("data/vol/mesh/below/7:0"), kNoFragments);
    Must(Copy(Path("data/vol"), Path("out")));
    Must(Copy(Path("data/vol"), Path("out"), "", /*force=*/true));
    for (const std::string foreign : {"4_4_8/notes", "4_4_8/below/0.shard"}) {
      WriteText(Path("out/") + foreign, "mine");
      const auto refused = Copy(Path("data/vol"), Path("out"), "", /*force=*/true);
      ASSERT_FALSE(refused) << foreign;
      EXPECT_EQ(refused.error().code, ErrorCode::kExists);
      EXPECT_THAT(refused.error().message, HasSubstr("holds \"4_4_8/"));
      EXPECT_EQ(ReadText(Path("out/") + foreign), "mine");
      fs::remove(Path("out/") + foreign);
    }
  }
}

TEST_F(CopyVolume, RefusesNotesInAMesh) {
  Make(/*sharded=*/true);
  Name("mesh", "properties");
  WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
  WriteText(Path("data/vol/mesh/7:0:0-64_0-64_0-64.gz"), "fragment");
  WriteText(Path("data/vol/mesh/info"), "{}");
  WriteText(Path("data/vol/properties/info"), kNoProperties);
  Must(Copy(Path("data/vol"), Path("out")));
  Must(Copy(Path("data/vol"), Path("out"), "", /*force=*/true));
  for (const std::string foreign : {"mesh/notes.txt", "properties/notes.txt"}) {
    WriteText(Path("out/") + foreign, "mine");
    const auto refused = Copy(Path("data/vol"), Path("out"), "", /*force=*/true);
    ASSERT_FALSE(refused) << foreign;
    EXPECT_EQ(refused.error().code, ErrorCode::kExists);
    EXPECT_EQ(ReadText(Path("out/") + foreign), "mine");
    fs::remove(Path("out/") + foreign);
  }
}

TEST_F(CopyVolume, TranscodesWithItsOtherFolders) {
  Make(/*sharded=*/true);
  Name("mesh", "../props");
  WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
  WriteText(Path("data/vol/mesh/below/7"), "fragment");
  WriteText(Path("data/props/info"), kNoProperties);
  volume::TranscodeRequest request;
  request.source = Path("data/vol");
  request.target = Path("out");
  request.sharded = false;
  std::vector<Finding> left_out;
  const FindingVisitor visitor = [&](const Finding& finding) {
    left_out.push_back(finding);
  };
  const auto planned = PlanTranscode(request, {}, visitor);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_TRUE(left_out.empty());
  // Some of it by a run that ends early.
  for (size_t i = 0; i < planned->stages.front().size(); i += 2) {
    Must(RunTask(BuiltinFormats(), planned->stages.front()[i], {}));
  }
  const auto report = Run(PlanTranscode(request));
  // All of it is reported, not what this run did.
  EXPECT_GT(report.parts_done_before, 0U);
  EXPECT_EQ(report.written.entries, 2U);
  EXPECT_EQ(report.written.objects, 5U);
  const auto info = Must(volume::Volume::Open(Must(ParseLocation(Path("out"))))).info();
  EXPECT_EQ(info.mesh, "mesh");
  EXPECT_EQ(info.segment_properties, "props");
  EXPECT_THAT(FilesBelow(Path("out/mesh")), ElementsAre("7:0", "below/7"));
  EXPECT_EQ(ReadText(Path("out/mesh/below/7")), "fragment");
  EXPECT_EQ(ReadText(Path("out/props/info")), kNoProperties);
  CheckWhole(Path("out"));
  request.force = true;
  request.sharded = true;
  WriteText(Path("data/vol/mesh/8:0"), kNoFragments);
  Run(PlanTranscode(request));
  EXPECT_THAT(FilesBelow(Path("out/mesh")), ElementsAre("7:0", "8:0", "below/7"));
  CheckWhole(Path("out"));
}

TEST_F(CopyVolume, NamesWhatItCannotTranscodeWith) {
  Make(/*sharded=*/true);
  Name("mesh", "gone");
  WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
  fs::create_directory_symlink("..", Path("data/vol/mesh/back"));
  volume::TranscodeRequest request;
  request.source = Path("data/vol");
  request.target = Path("out");
  std::vector<Finding> left_out;
  const FindingVisitor visitor = [&](const Finding& finding) {
    left_out.push_back(finding);
  };
  const auto planned = PlanTranscode(request, {}, visitor);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(left_out.size(), 2U);
  EXPECT_THAT(left_out[0].message, HasSubstr("mesh is left out: \"back\" in it"));
  EXPECT_THAT(left_out[1].message,
              HasSubstr("segment_properties is left out: the folder is not there"));
  Run(planned);
  const auto info = Must(volume::Volume::Open(Must(ParseLocation(Path("out"))))).info();
  EXPECT_EQ(info.mesh, std::nullopt);
  EXPECT_EQ(info.segment_properties, std::nullopt);
  EXPECT_FALSE(fs::exists(Path("out/mesh")));
}

TEST_F(CopyVolume, IsStartedAgainWhereAMeshHasChanged) {
  Make(/*sharded=*/true);
  Name("mesh", "mesh");
  WriteText(Path("data/vol/mesh/7:0"), "old");
  volume::TranscodeRequest request;
  request.source = Path("data/vol");
  request.target = Path("out");
  const auto planned = PlanTranscode(request);
  ASSERT_TRUE(planned) << planned.error().message;
  WriteText(Path("data/vol/mesh/7:0"), "new and longer");
  const auto run = RunPlan(BuiltinFormats(), *planned, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kConflict);
}

// A store that denies one folder, as a file system does to strangers.
class DenyingStore final : public Store {
 public:
  DenyingStore(std::shared_ptr<Store> store, std::string denied)
      : store_(std::move(store)), denied_(std::move(denied)) {}

  std::string Describe(std::string_view object) const override {
    return store_->Describe(object);
  }
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override {
    DOLIUM_TRY_VOID(Check(object));
    return store_->Stat(object);
  }
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override {
    DOLIUM_TRY_VOID(Check(folder));
    return store_->List(folder, visit);
  }
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override {
    DOLIUM_TRY_VOID(Check(object));
    return store_->ReadInto(object, slices, options);
  }
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override {
    DOLIUM_TRY_VOID(Check(object));
    return store_->ReadWhole(object, limit);
  }
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override {
    return store_->Begin(object);
  }
  Result<void> Remove(std::string_view object,
                      const Precondition& precondition) override {
    return store_->Remove(object, precondition);
  }
  Result<std::optional<std::string>> LocalPath(std::string_view object) const override {
    return store_->LocalPath(object);
  }

 private:
  Result<void> Check(std::string_view object) const {
    if (object.find(denied_) == std::string_view::npos) return {};
    return IoError(std::string(object) + ": permission denied");
  }

  const std::shared_ptr<Store> store_;
  const std::string denied_;
};

TEST_F(CopyVolume, IsUnreadableAndNotBadWhereAFolderIsDenied) {
  for (const bool sharded : {true, false}) {
    fs::remove_all(Path("data"));
    Make(sharded);
    Name("mesh", "properties");
    WriteText(Path("data/vol/mesh/7:0"), kNoFragments);
    WriteText(Path("data/vol/properties/info"), kNoProperties);
    for (const std::string denied : {"/mesh", "/4_4_8"}) {
      const Location there = Must(ParseLocation(Path("data/vol")));
      const Location location{std::make_shared<DenyingStore>(there.store, denied),
                              there.path};
      const auto source = Must(OpenSource(BuiltinFormats(), location));
      const auto report = Must(source->Check({}, [](const Finding&) {}));
      EXPECT_EQ(report.errors, 1U) << denied;
      EXPECT_EQ(report.unreadable, 1U) << denied;
    }
  }
}

TEST_F(CopyVolume, IsRefusedWhereDamageIsToBeLeftOut) {
  Make(/*sharded=*/true);
  const auto refused = Copy(Path("data/vol"), Path("out"), "", false, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("a volume is copied file by file"));
  EXPECT_FALSE(fs::exists(Path("out")));
}

TEST_F(CopyVolume, IsRefusedWhereTheTargetHasAPart) {
  Make(/*sharded=*/true);
  Name("../out/mesh", "properties");
  WriteText(Path("data/out/mesh/7:0"), kNoFragments);
  const auto copied = Copy(Path("data/vol"), Path("data/out"), "", /*force=*/true);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(copied.error().message, HasSubstr("lies in the target"));
}

TEST_F(CopyVolume, GivesItsPartsToOtherFormats) {
  Make(/*sharded=*/true);
  const auto refused = Copy(Path("data/vol"), Path("out"), "files");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("data/vol/4_4_8, can be converted"));
  Must(Copy(Path("data/vol/4_4_8"), Path("out"), "files"));
  EXPECT_THAT(FilesBelow(Path("out")), ElementsAre("0", "1"));
}

class CopyFolder : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  TemporaryFolder folder_;
};

TEST_F(CopyFolder, KeepsSubfolders) {
  WriteText(path("set/a"), "first");
  WriteText(path("set/below/b"), "second");
  Must(Copy(path("set"), path("out")));
  EXPECT_THAT(FilesBelow(path("out")), ElementsAre("a", "below/b"));
}

TEST_F(CopyFolder, ReplacesSubfoldersButNoLinksAndPipes) {
  WriteText(path("set/a"), "first");
  WriteText(path("set/below/b"), "old");
  Must(Copy(path("set"), path("out")));
  WriteText(path("set/below/b"), "new");
  Must(Copy(path("set"), path("out"), "", /*force=*/true));
  EXPECT_EQ(ReadText(path("out/below/b")), "new");
  fs::create_directory_symlink("..", path("out/below/back"));
  const auto refused = Copy(path("set"), path("out"), "", /*force=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("holds \"below/back\""));
  fs::remove(path("out/below/back"));
  ASSERT_EQ(mkfifo(path("out/pipe").c_str(), 0600), 0);
  EXPECT_THAT(Copy(path("set"), path("out"), "", /*force=*/true).error().message,
              HasSubstr("holds \"pipe\""));
}

TEST_F(CopyFolder, DoesNotReplaceAVolumeWithinAFolder) {
  WriteText(path("set/a"), "first");
  Must(Copy(path("set"), path("out")));
  WriteText(path("out/below/further/info"), R"({"scales": []})");
  const auto refused = Copy(path("set"), path("out"), "", /*force=*/true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("out/below/further: holds a volume"));
  EXPECT_TRUE(fs::exists(path("out/below/further/info")));
}

TEST_F(CopyFolder, SaysWhatOfAnInfoIsLeftOut) {
  WriteText(path("set/1"), "first");
  Must(Copy(path("set"), path("sharded"), "neuroglancer"));
  ConvertRequest request;
  request.source = path("sharded");
  request.target = path("bare");
  request.target_format = "files";
  std::vector<std::string> said;
  const auto visit = [&](const Finding& finding) { said.push_back(finding.message); };
  Must(Convert(BuiltinFormats(), request, {}, visit));
  EXPECT_THAT(said, ElementsAre());
  std::string info = ReadText(path("sharded/info"));
  info.replace(info.find('{'), 1, R"({"vertex_quantization_bits": 10, "x": 1, )");
  WriteText(path("sharded/info"), info);
  request.target = path("out");
  Must(Convert(BuiltinFormats(), request, {}, visit));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said.front(), HasSubstr("vertex_quantization_bits, x"));
  EXPECT_THAT(FilesBelow(path("out")), ElementsAre("1"));
  request.target = path("again");
  request.target_format = "neuroglancer";
  Must(Convert(BuiltinFormats(), request, {}, visit));
  EXPECT_EQ(said.size(), 1U);
}

TEST(IsDamage, IsNotWhatCannotBeReached) {
  EXPECT_TRUE(IsDamage(Corrupt("x")));
  EXPECT_TRUE(IsDamage(NotFound("x")));
  EXPECT_FALSE(IsDamage(IoError("x")));
  EXPECT_FALSE(IsDamage(Unavailable("x")));
}

TEST_F(CopyFolder, LeavesOutWhatIsNoFileOnlyIfAsked) {
  WriteText(path("set/a"), "text");
  fs::create_symlink("nowhere", path("set/link"));
  ASSERT_EQ(mkfifo(path("set/pipe").c_str(), 0600), 0);
  const auto refused = Copy(path("set"), path("out"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  const auto report = Must(Copy(path("set"), path("out"), "", false, true));
  ASSERT_EQ(report.skipped.size(), 2U);
  EXPECT_EQ(report.skipped[0].key, "link");
  EXPECT_EQ(report.skipped[1].key, "pipe");
  EXPECT_THAT(FilesBelow(path("out")), ElementsAre("a"));
}

TEST_F(CopyFolder, RefusesWhatNoEntryShows) {
  WriteText(path("set/1"), "first");
  Must(Copy(path("set"), path("sharded"), "neuroglancer"));
  WriteText(path("sharded/notes/text"), "mine");
  const auto refused = Copy(path("sharded"), path("out"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message,
              HasSubstr("a conversion would leave out \"notes\", which is no part of the "
                        "sharded set; move it away, or name the format"));
  ConvertRequest request;
  request.source = path("sharded");
  request.source_format = "neuroglancer";
  request.target = path("out");
  Must(Convert(BuiltinFormats(), request, {}));
  WriteText(path("set/2.preceding"), "of nothing");
  EXPECT_THAT(Copy(path("set"), path("other")).error().message,
              HasSubstr("would leave out \"2.preceding\""));
}

TEST_F(CopyFolder, ExportsTheVersionsOfACasStore) {
  Must(cas::InitStore(path("store")));
  WriteText(path("tree/a"), std::string(300'000, 'a'));
  WriteText(path("tree/b/c"), "text");
  WriteText(path("tree/empty"), "");
  const auto put = [&] {
    const auto store = Must(cas::CasStore::Open(path("store")));
    cas::PutOptions options;
    options.name = "tree";
    Must(cas::Put(*store, {path("tree")}, options));
  };
  put();
  WriteText(path("tree/b/c"), "other text");
  put();
  Must(Copy(path("store"), path("out")));
  EXPECT_THAT(FilesBelow(path("out")),
              ElementsAre("tree@1/a", "tree@1/b/c", "tree@1/empty", "tree@2/a",
                          "tree@2/b/c", "tree@2/empty"));
  EXPECT_EQ(ReadText(path("out/tree@1/b/c")), "text");
  EXPECT_EQ(ReadText(path("out/tree@2/b/c")), "other text");
  EXPECT_EQ(ReadText(path("out/tree@2/a")), std::string(300'000, 'a'));
  fs::create_symlink("a", path("tree/link"));
  put();
  EXPECT_THAT(Copy(path("store"), path("other")).error().message,
              HasSubstr("would leave out \"tree@3/link\""));
  WriteText(path("store/notes"), "mine");
  EXPECT_THAT(Copy(path("store"), path("other")).error().message,
              HasSubstr("would leave out \"notes\""));
}

}  // namespace
}  // namespace dolium
