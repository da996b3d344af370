// Folders of meshes and skeletons as sources: what they are, their checks and copies.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/codec/codec.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/mesh/legacy_mesh.h"
#include "dolium/domain/mesh/mesh_writer.h"
#include "dolium/domain/mesh/testing/shapes.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/objects/object_export.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/source/object_folder.h"
#include "dolium/ops/source/source.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kIds[] = {1, 5, 77, 123456789012345, UINT64_MAX};

class ObjectFolders : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  Location At(const std::string& name) const { return Must(ParseLocation(Path(name))); }

  static mesh::Mesh MeshOf(uint64_t id) {
    return mesh::Sphere({static_cast<float>(id % 100), 5, 7}, 40, 6);
  }
  static skeleton::Skeleton SkeletonOf(uint64_t id) {
    skeleton::Skeleton skeleton;
    const auto x = static_cast<float>(id % 100);
    skeleton.vertices = {{x, 0, 0}, {x, 1, 0}, {x, 2, 2}};
    skeleton.edges = {{0, 1}, {1, 2}};
    skeleton.attributes = {ByteVector(12)};
    return skeleton;
  }

  static std::optional<neuroglancer::ShardingSpec> SpecIf(bool sharded) {
    if (!sharded) return std::nullopt;
    return neuroglancer::ShardingSpec{
        .hash = neuroglancer::ShardHash::kMurmur3, .minishard_bits = 1, .shard_bits = 1};
  }

  void MakeMeshes(const std::string& name, bool sharded) const {
    mesh::MultiresInfo info;
    info.sharding = SpecIf(sharded);
    auto writer = Must(mesh::MultiresWriter::Create(At(name), info));
    for (const uint64_t id : kIds) {
      Must(writer.Add(id, Must(mesh::EncodeSingleLevel(MeshOf(id), 16))));
    }
    Must(writer.Finish());
  }

  void MakeSkeletons(
      const std::string& name, bool sharded,
      skeleton::AttributeType type = skeleton::AttributeType::kFloat32) const {
    skeleton::SkeletonInfo info;
    info.attributes = {{.id = "radius", .type = type}};
    info.sharding = SpecIf(sharded);
    auto writer = Must(skeleton::SkeletonWriter::Create(
        At(name), info, skeleton::SkeletonWriter::Types::kKeep));
    for (const uint64_t id : kIds) Must(writer.Add(id, SkeletonOf(id)));
    Must(writer.Finish());
  }

  void MakeLegacy(const std::string& name) const {
    auto writer = Must(mesh::LegacyWriter::Create(At(name)));
    for (const uint64_t id : kIds) Must(writer.Add(id, MeshOf(id)));
    Must(writer.Finish());
  }

  std::unique_ptr<Source> Open(const std::string& name) const {
    return Must(OpenSource(BuiltinFormats(), At(name)));
  }

  struct Outcome {
    VerifyReport report;
    std::vector<std::string> findings;
  };
  Outcome Check(const std::string& name, CheckDepth depth = CheckDepth::kDeep) const {
    Outcome out;
    VerifyOptions options;
    options.depth = depth;
    out.report = Must(Open(name)->Check(options, [&](const Finding& finding) {
      const bool is_error = finding.severity == Severity::kError;
      out.findings.push_back(fmt::format("{} {} {}: {}", is_error ? "error" : "warning",
                                         finding.kind, finding.key, finding.message));
    }));
    std::ranges::sort(out.findings);
    return out;
  }

  std::string Read(const std::string& name) const {
    std::ifstream stream(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  // Replaces a file by what is around it.
  void WrapFile(const std::string& name, const std::string& as,
                volume::Wrapper wrapper) const {
    const std::string text = Read(name);
    fs::remove(Path(name));
    Write(as, std::string(AsText(volume::Wrap(wrapper, AsBytes(text)))));
  }

  Result<ConvertReport> Copy(const std::string& from, const std::string& to,
                             const std::string& format) const {
    ConvertRequest request;
    request.source = Path(from);
    request.target = Path(to);
    request.target_format = format;
    return Convert(BuiltinFormats(), request, {});
  }

  void ExpectMeshes(const std::string& name) const {
    const auto meshes = Must(OpenMeshes(At(name)));
    EXPECT_THAT(Must(meshes->ListIds()), ::testing::ElementsAreArray(kIds));
    const auto found = Must(meshes->GetMany(kIds));
    MakeMeshes(name + "-expected", false);
    const auto expected = Must(Must(OpenMeshes(At(name + "-expected")))->GetMany(kIds));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(found[i]);
      EXPECT_EQ(mesh::Corners(*found[i]), mesh::Corners(*expected[i])) << kIds[i];
    }
  }
  void ExpectSkeletons(const std::string& name) const {
    const auto skeletons = Must(OpenSkeletons(At(name)));
    EXPECT_THAT(Must(skeletons->ListIds()), ::testing::ElementsAreArray(kIds));
    const auto found = Must(skeletons->GetMany(kIds));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(found[i]);
      EXPECT_EQ(*found[i], SkeletonOf(kIds[i])) << kIds[i];
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(ObjectFolders, AreKindsOfTheirOwn) {
  MakeMeshes("files", false);
  MakeMeshes("shards", true);
  MakeLegacy("legacy");
  MakeSkeletons("lines", true);
  for (const char* const name : {"files", "shards", "legacy"}) {
    const auto source = Open(name);
    EXPECT_EQ(source->kind(), "meshes") << name;
    ASSERT_NE(Must(source->meshes()), nullptr) << name;
    EXPECT_EQ(Must(source->skeletons()), nullptr) << name;
    EXPECT_THAT(Must(Must(source->meshes())->ListIds()),
                ::testing::ElementsAreArray(kIds));
  }
  EXPECT_EQ(Open("lines")->kind(), "skeletons");
  EXPECT_NE(Must(Open("lines")->skeletons()), nullptr);
  EXPECT_EQ(Must(Open("lines")->meshes()), nullptr);
}

TEST_F(ObjectFolders, OfLegacyMeshesNeedNoInfo) {
  MakeLegacy("legacy");
  fs::remove(Path("legacy/info"));
  EXPECT_EQ(Open("legacy")->kind(), "meshes");
  EXPECT_THAT(Check("legacy").findings, IsEmpty());
  Write("other", "");
  EXPECT_EQ(KindOfObjects(At(".")), ObjectKind::kNone);
}

TEST_F(ObjectFolders, AreWhatTheirFormatSaysIfThatIsNamed) {
  MakeMeshes("files", false);
  SourceOptions options;
  options.format = "files";
  EXPECT_EQ(Must(OpenSource(BuiltinFormats(), At("files"), options))->kind(),
            "folder of files");
}

TEST_F(ObjectFolders, AreNotFoundWhereThereAreOthers) {
  MakeMeshes("files", false);
  const auto skeletons = OpenSkeletons(At("files"));
  ASSERT_FALSE(skeletons);
  EXPECT_EQ(skeletons.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(skeletons.error().message, HasSubstr("holds meshes, and no skeletons"));
  const auto nothing = OpenMeshes(At("."));
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no info of meshes, and no volume"));
}

TEST_F(ObjectFolders, AreGoodAsTheyAreWritten) {
  for (const bool sharded : {false, true}) {
    const std::string suffix = sharded ? "-sharded" : "";
    MakeMeshes("meshes" + suffix, sharded);
    MakeSkeletons("lines" + suffix, sharded);
    EXPECT_THAT(Check("meshes" + suffix).findings, IsEmpty());
    EXPECT_THAT(Check("lines" + suffix).findings, IsEmpty());
  }
  MakeLegacy("legacy");
  EXPECT_THAT(Check("legacy").findings, IsEmpty());
}

TEST_F(ObjectFolders, ReadEachFileOnceToCheck) {
  MakeMeshes("meshes", false);
  const Outcome all = Check("meshes");
  // Info, manifests and fragments.
  EXPECT_EQ(all.report.entries, 11U);
  EXPECT_EQ(all.report.entries_read, 11U);
  uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(Path("meshes")))
    bytes += file.file_size();
  EXPECT_EQ(all.report.bytes_read, bytes);
  EXPECT_EQ(Check("meshes", CheckDepth::kQuick).report.entries_read, 0U);
}

TEST_F(ObjectFolders, AreCheckedDownToFragments) {
  MakeMeshes("meshes", false);
  fs::remove(Path("meshes/5"));
  Write("meshes/77", Read("meshes/77").substr(0, 100));
  fs::remove(Path("meshes/1.index"));
  std::string fragment = Read("meshes/123456789012345");
  fragment.replace(10, 40, 40, '\xff');
  Write("meshes/123456789012345", fragment);
  Write("meshes/0.index", Read("meshes/5.index"));
  const auto findings = Check("meshes").findings;
  EXPECT_THAT(findings, Contains(HasSubstr("error missing 5.index: the fragments are "
                                           "missing: no file 5, of")));
  EXPECT_THAT(findings, Contains(HasSubstr("error manifest 77.index: ")));
  EXPECT_THAT(findings,
              Contains("warning orphan 1: fragments without a manifest 1.index"));
  EXPECT_THAT(findings,
              Contains(HasSubstr("error fragment 123456789012345.index: level 0, "
                                 "fragment 0: ")));
  EXPECT_THAT(findings,
              Contains("warning label 0.index: 0 is no label: clients never ask "
                       "for it"));
}

TEST_F(ObjectFolders, AreCheckedQuicklyForFilesThatAreMissing) {
  MakeMeshes("meshes", false);
  fs::remove(Path("meshes/5"));
  EXPECT_THAT(Check("meshes", CheckDepth::kQuick).findings,
              ElementsAre(HasSubstr("error key 5.index: the fragments are missing: no "
                                    "file 5, of")));
}

TEST_F(ObjectFolders, WithLegacyMeshesAreCheckedForTheirFragments) {
  MakeLegacy("legacy");
  fs::remove(Path("legacy/5:0:0"));
  Write("legacy/77:0:0", Read("legacy/77:0:0").substr(0, 30));
  Write("legacy/1:0", "not json");
  const auto findings = Check("legacy").findings;
  EXPECT_THAT(findings, Contains(HasSubstr("error missing 5:0: fragment ")));
  EXPECT_THAT(findings, Contains(HasSubstr("error fragment 77:0:0: ")));
  EXPECT_THAT(findings, Contains(HasSubstr("error manifest 1:0: ")));
}

TEST_F(ObjectFolders, OfSkeletonsAreCheckedForTheirLengthsAndTypes) {
  MakeSkeletons("lines", false, skeleton::AttributeType::kInt32);
  Write("lines/5", Read("lines/5").substr(0, 20));
  const auto findings = Check("lines").findings;
  EXPECT_THAT(findings, Contains(HasSubstr("error skeleton 5: ")));
  EXPECT_THAT(findings,
              Contains(HasSubstr("warning attributes : has an attribute that is "
                                 "not of float32")));
}

TEST_F(ObjectFolders, WithADamagedInfoAreCheckedAsEntries) {
  MakeMeshes("meshes", false);
  Write("meshes/info", R"({"@type": "neuroglancer_multilod_draco"})");
  EXPECT_THAT(Check("meshes").findings, ElementsAre(HasSubstr("error info : ")));
}

TEST_F(ObjectFolders, AreConvertedToShardsAndBack) {
  MakeMeshes("meshes", false);
  ASSERT_EQ(Must(Copy("meshes", "sharded", "neuroglancer")).written.entries, 5U);
  EXPECT_FALSE(fs::exists(Path("sharded/5.index")));
  ExpectMeshes("sharded");
  EXPECT_THAT(Check("sharded").findings, IsEmpty());
  ASSERT_TRUE(Copy("sharded", "back", "unsharded"));
  ExpectMeshes("back");
  for (const auto& file : fs::directory_iterator(Path("meshes"))) {
    const std::string name = file.path().filename();
    if (name != "info") {
      EXPECT_EQ(Read("back/" + name), Read("meshes/" + name)) << name;
    }
  }
  EXPECT_THAT(Read("back/info"), ::testing::Not(HasSubstr("sharding")));

  MakeSkeletons("lines", false);
  ASSERT_TRUE(Copy("lines", "lines-sharded", "neuroglancer"));
  ExpectSkeletons("lines-sharded");
  ASSERT_TRUE(Copy("lines-sharded", "lines-back", "unsharded"));
  ExpectSkeletons("lines-back");
}

TEST_F(ObjectFolders, AreConvertedWhateverIsAroundTheirFiles) {
  MakeMeshes("meshes", false);
  WrapFile("meshes/1.index", "meshes/1.index.gz", volume::Wrapper::kGzip);
  WrapFile("meshes/5.index", "meshes/5.index.br", volume::Wrapper::kBrotli);
  WrapFile("meshes/77.index", "meshes/77.index", volume::Wrapper::kGzip);
  EXPECT_THAT(Check("meshes").findings, IsEmpty());
  ASSERT_TRUE(Copy("meshes", "sharded", "neuroglancer"));
  ExpectMeshes("sharded");

  MakeSkeletons("lines", false);
  WrapFile("lines/1", "lines/1.zstd", volume::Wrapper::kZstd);
  WrapFile("lines/5", "lines/5.gz", volume::Wrapper::kGzip);
  ASSERT_TRUE(Copy("lines", "lines-sharded", "neuroglancer"));
  ExpectSkeletons("lines-sharded");
}

TEST_F(ObjectFolders, AreNotShardedIfSomethingWouldBeLost) {
  MakeLegacy("legacy");
  const auto legacy = Copy("legacy", "out", "neuroglancer");
  ASSERT_FALSE(legacy);
  EXPECT_EQ(legacy.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(legacy.error().message, HasSubstr("legacy meshes have no shards"));
  MakeMeshes("meshes", false);
  Write("meshes/notes.txt", "keep");
  const auto more = Copy("meshes", "out", "neuroglancer");
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("notes.txt"));
}

TEST_F(ObjectFolders, OfOtherThingsHaveNoUnshardedStorage) {
  MakeSkeletons("lines", true);
  fs::remove(Path("lines/info"));
  Write("lines/info", R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0,
    "hash": "murmurhash3_x86_128", "minishard_bits": 1, "shard_bits": 1})");
  const auto copied = Copy("lines", "out", "unsharded");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error().message, HasSubstr("only meshes and skeletons"));
}

TEST(ParseIds, TakesNumbersBetweenSpacesCommasAndLines) {
  EXPECT_THAT(Must(ParseIds("5, 7\n18446744073709551615\r\n\t3 # a comment")),
              ElementsAre(5, 7, 18446744073709551615U, 3));
  EXPECT_THAT(Must(ParseIds("")), ElementsAre());
  for (const std::string word : {"x7", "2x"}) {
    const auto bad = ParseIds("5 1\n4 " + word + " 3");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message,
              "line 2: found \"" + word + "\", expected a segment id");
  }
}

}  // namespace
}  // namespace dolium
