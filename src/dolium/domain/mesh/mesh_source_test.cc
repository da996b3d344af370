#include "dolium/domain/mesh/mesh_source.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/codec/gzip.h"
#include "dolium/domain/mesh/legacy_mesh.h"
#include "dolium/domain/mesh/mesh_writer.h"
#include "dolium/domain/mesh/testing/shapes.h"

namespace dolium::mesh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

neuroglancer::ShardingSpec SomeShards() {
  return {.preshift_bits = 1,
          .hash = neuroglancer::ShardHash::kMurmur3,
          .minishard_bits = 2,
          .shard_bits = 1,
          .minishard_index_encoding = neuroglancer::Encoding::kGzip,
          .data_encoding = neuroglancer::Encoding::kGzip};
}

// Meshes of two levels: eight cells and the one above, each with a triangle of its own.
EncodedMesh Octree(uint32_t seed) {
  EncodedMesh mesh;
  mesh.manifest.chunk_shape = {10, 20, 30};
  mesh.manifest.grid_origin = {100, 200, 300};
  mesh.manifest.levels.resize(2);
  mesh.manifest.levels[1].scale = 2;
  mesh.manifest.levels[1].vertex_offset = {0.5F, 0, 0};
  const auto add = [&](size_t level, const Cell& cell, const QuantizedMesh& part) {
    const auto bytes = EncodeFragment(part, 10);
    ASSERT_TRUE(bytes) << bytes.error().message;
    mesh.manifest.levels[level].fragments.push_back(
        {cell, static_cast<uint32_t>(bytes->size())});
    Append(mesh.fragments, *bytes);
  };
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t q = (seed + i) % 1000;
    // A corner on the border with the next cell in x, y and z each.
    add(0, {i & 1, i >> 1 & 1, i >> 2},
        {{{1023, q, q}, {q, 1023, 5}, {0, 0, 1023}}, {{0, 1, 2}}});
  }
  add(1, {0, 0, 0}, {{{0, 0, 0}, {1023, 0, 0}, {512, seed % 1000, 1023}}, {{0, 1, 2}}});
  return mesh;
}

MultiresInfo TenBits(bool sharded) {
  MultiresInfo info;
  info.vertex_quantization_bits = 10;
  info.transform = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 40, 1000};
  if (sharded) info.sharding = SomeShards();
  return info;
}

class MultiresSource : public testing::TestWithParam<bool> {
 protected:
  void Write(const std::vector<uint64_t>& ids) {
    auto writer = MultiresWriter::Create(folder_, TenBits(GetParam()));
    ASSERT_TRUE(writer) << writer.error().message;
    for (const uint64_t id : ids) {
      const auto added = writer->Add(id, Octree(static_cast<uint32_t>(id)));
      ASSERT_TRUE(added) << added.error().message;
    }
    const auto summary = writer->Finish();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->entries, ids.size());
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>("test");
  Location folder_{store_, "mesh"};
};

TEST_P(MultiresSource, GivesEveryMeshThatWasWritten) {
  std::vector<uint64_t> ids;
  for (uint64_t id = 1; id <= 300; ++id) ids.push_back(id * id * 1'000'003);
  Write(ids);
  const auto source = MeshSource::Open(folder_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->kind(), MeshKind::kMultires);
  EXPECT_EQ(source->storage().is_sharded(), GetParam());
  const auto listed = source->ListIds();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(*listed, ids);
  std::vector<uint64_t> wanted(ids.rbegin(), ids.rend());
  wanted.push_back(17);  // not there
  wanted.push_back(0);
  const auto meshes = source->GetMany(wanted, {.weld = false});
  ASSERT_TRUE(meshes) << meshes.error().message;
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_TRUE((*meshes)[i]);
    EXPECT_THAT((*meshes)[i]->triangles, SizeIs(8));
    const EncodedMesh expected = Octree(static_cast<uint32_t>(wanted[i]));
    const auto manifest = source->GetManifest(wanted[i]);
    ASSERT_TRUE(manifest && *manifest);
    EXPECT_EQ(**manifest, expected.manifest);
  }
  EXPECT_FALSE((*meshes)[ids.size()]);
  EXPECT_FALSE((*meshes)[ids.size() + 1]);
}

TEST_P(MultiresSource, PlacesVerticesAsTheClientDoes) {
  Write({7});
  const auto source = MeshSource::Open(folder_);
  ASSERT_TRUE(source);
  const auto coarse = source->Get(7, {.level = -1, .stored_units = true});
  ASSERT_TRUE(coarse) << coarse.error().message;
  ASSERT_TRUE(*coarse);
  const float half = 512.0F / 1023;
  const auto corners = Corners(Mesh{{{100.5F, 200, 300},
                                     {120.5F, 200, 300},
                                     {100.5F + 20 * half, 200 + 40 * 7.0F / 1023, 360}},
                                    {{0, 1, 2}}});
  const auto found = Corners(**coarse);
  ASSERT_THAT(found, SizeIs(1));
  for (size_t corner = 0; corner < 3; ++corner) {
    for (size_t d = 0; d < 3; ++d) {
      EXPECT_NEAR(found[0][corner][d], corners[0][corner][d], 1e-4);
    }
  }
  const auto nanometres = source->Get(7, {.level = 1});
  ASSERT_TRUE(nanometres && *nanometres);
  for (size_t i = 0; i < 3; ++i) {
    const Point& stored = (*coarse)->vertices[i];
    EXPECT_EQ((*nanometres)->vertices[i],
              (Point{stored[0] * 4, stored[1] * 4, stored[2] * 40 + 1000}));
  }
}

TEST_P(MultiresSource, SaysThatThereIsNoSuchLevel) {
  Write({7});
  const auto source = MeshSource::Open(folder_);
  ASSERT_TRUE(source);
  for (const int level : {2, -3}) {
    const auto mesh = source->Get(7, {.level = level});
    ASSERT_FALSE(mesh);
    EXPECT_EQ(mesh.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(mesh.error().message,
                HasSubstr(fmt::format("level {} was asked for, it has 2", level)));
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, MultiresSource, testing::Bool(),
                         [](const auto& storage) {
                           return storage.param ? "Sharded" : "Unsharded";
                         });

TEST(MeshSource, JoinsFragmentsAtTheirBorders) {
  // Cells 0 and 1 in x, and a triangle in each with an edge on the border between them.
  Manifest manifest;
  manifest.chunk_shape = {3, 7, 11};
  manifest.grid_origin = {0.1F, 0.2F, 0.3F};
  manifest.levels.resize(1);
  Mesh mesh;
  ASSERT_TRUE(AddFragment(manifest, 0, {0, 0, 0}, 16,
                          {{{65535, 1, 2}, {65535, 777, 2}, {3, 4, 5}}, {{0, 1, 2}}},
                          mesh));
  ASSERT_TRUE(AddFragment(manifest, 0, {1, 0, 0}, 16,
                          {{{0, 1, 2}, {0, 777, 2}, {3, 4, 5}}, {{1, 0, 2}}}, mesh));
  EXPECT_THAT(mesh.vertices, SizeIs(6));
  WeldVertices(mesh);
  EXPECT_THAT(mesh.vertices, SizeIs(4));
}

// The values of the reference.
TEST(MeshSource, DequantizesAsTheClientDoes) {
  struct Case {
    unsigned bits;
    uint32_t q;
    size_t level;
    uint32_t cell;
    double value;
  };
  for (const Case& c :
       {Case{16, 0, 0, 0, 100.5}, Case{16, 65535, 0, 0, 164.5},
        Case{16, 32768, 1, 2, 420.5009765774014}, Case{10, 512, 0, 3, 324.53128054740955},
        Case{10, 1023, 2, 1, 612.5}}) {
    Manifest manifest;
    manifest.grid_origin = {100, 0, 0};
    manifest.chunk_shape = {64, 1, 1};
    manifest.levels.resize(c.level + 1);
    manifest.levels[c.level].vertex_offset = {0.5, 0, 0};
    Mesh mesh;
    ASSERT_TRUE(AddFragment(manifest, c.level, {c.cell, 0, 0}, c.bits,
                            {{{c.q, 0, 0}}, {}}, mesh));
    EXPECT_EQ(mesh.vertices[0][0], static_cast<float>(c.value));
  }
}

TEST(MeshSource, RefusesLabelZeroAndManifestsThatLie) {
  const auto store = std::make_shared<MemoryStore>("test");
  auto writer = MultiresWriter::Create({store, "mesh"}, TenBits(false));
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->Add(0, Octree(1)).error().message, "id 0 is no label");
  EncodedMesh mesh = Octree(1);
  mesh.fragments.pop_back();
  EXPECT_THAT(writer->Add(5, mesh).error().message, HasSubstr("mesh 5: fragments are "));
  mesh = Octree(1);
  std::swap(mesh.manifest.levels[0].fragments[0], mesh.manifest.levels[0].fragments[1]);
  EXPECT_THAT(writer->Add(5, mesh).error().message, HasSubstr("is not in Z order"));
  ASSERT_TRUE(writer->Finish());
  EXPECT_EQ(MultiresWriter::Create({store, "mesh"}, TenBits(false)).error().code,
            ErrorCode::kExists);
}

TEST(MeshSource, ReadsManifestsThatWereCompressedAheadOfTime) {
  const auto store = std::make_shared<MemoryStore>("test");
  const auto put = [&](std::string_view name, BytesView bytes) {
    ASSERT_TRUE(store->Put(name, bytes, Precondition::None()));
  };
  const EncodedMesh mesh = Octree(3);
  const auto manifest = WriteManifest(mesh.manifest);
  ASSERT_TRUE(manifest);
  put("mesh/info", GzipEncode(AsBytes(ToJson(TenBits(false)))));
  put("mesh/3.index", GzipEncode(*manifest));
  put("mesh/3", mesh.fragments);
  put("mesh/4.index.gz", GzipEncode(*manifest));
  put("mesh/4", mesh.fragments);
  const auto source = MeshSource::Open({store, "mesh"});
  ASSERT_TRUE(source) << source.error().message;
  const auto ids = source->ListIds();
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, ElementsAre(3, 4));
  for (const uint64_t id : *ids) {
    const auto found = source->Get(id);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(*found);
    EXPECT_THAT((*found)->triangles, SizeIs(8));
  }
}

TEST(MeshSource, SaysWhichMeshIsDamaged) {
  const auto store = std::make_shared<MemoryStore>("test");
  const auto put = [&](std::string_view name, BytesView bytes) {
    ASSERT_TRUE(store->Put(name, bytes, Precondition::None()));
  };
  const EncodedMesh mesh = Octree(3);
  const auto manifest = WriteManifest(mesh.manifest);
  ASSERT_TRUE(manifest);
  put("mesh/info", AsBytes(ToJson(TenBits(false))));
  put("mesh/3.index", *manifest);
  put("mesh/4.index", BytesView(*manifest).first(50));
  put("mesh/5.index", *manifest);
  put("mesh/5", BytesView(mesh.fragments).first(60));
  put("mesh/6.index", *manifest);
  ByteVector damaged = mesh.fragments;
  damaged[0] = std::byte{0};
  put("mesh/6", damaged);
  const auto source = MeshSource::Open({store, "mesh"});
  ASSERT_TRUE(source);
  const auto message = [&](uint64_t id) {
    const auto found = source->Get(id);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
    return found.error().message;
  };
  EXPECT_EQ(message(3),
            "memory://test/mesh/3.index: memory://test/mesh/3: fragments are missing");
  EXPECT_THAT(message(4),
              HasSubstr("memory://test/mesh/4.index: vertex_offsets needs 24"));
  EXPECT_THAT(message(5), HasSubstr("memory://test/mesh/5 has 60"));
  EXPECT_THAT(message(6), HasSubstr("memory://test/mesh/6.index: level 0, fragment 0: "));
}

TEST(MeshSource, RejectsAFolderOfAnotherKind) {
  const auto store = std::make_shared<MemoryStore>("test");
  ASSERT_TRUE(store->Put("a/info", AsBytes(R"({"@type": "neuroglancer_skeletons"})"),
                         Precondition::None()));
  ASSERT_TRUE(store->Put("b/info", AsBytes("nonsense"), Precondition::None()));
  EXPECT_EQ(MeshSource::Open({store, "a"}).error().message,
            "memory://test/a/info: @type: found neuroglancer_skeletons, expected "
            "neuroglancer_multilod_draco or neuroglancer_legacy_mesh");
  EXPECT_EQ(MeshSource::Open({store, "b"}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(MeshSource::Open({store, "c"}).error().code, ErrorCode::kNotFound);
}

TEST(LegacySource, ReadsWhatItWrote) {
  const auto store = std::make_shared<MemoryStore>("test");
  auto writer = LegacyWriter::Create({store, "mesh"});
  ASSERT_TRUE(writer);
  const Mesh sphere = Sphere({100, 200, 300}, 50, 12);
  ASSERT_TRUE(writer->Add(12, sphere));
  ASSERT_TRUE(writer->Add(UINT64_MAX, sphere));
  EXPECT_EQ(writer->Add(0, sphere).error().message, "id 0 is no label");
  ASSERT_TRUE(writer->Finish());
  const auto source = MeshSource::Open({store, "mesh"});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->kind(), MeshKind::kLegacy);
  const auto ids = source->ListIds();
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, ElementsAre(12, UINT64_MAX));
  for (const uint64_t id : *ids) {
    const auto mesh = source->Get(id);
    ASSERT_TRUE(mesh && *mesh);
    EXPECT_EQ(**mesh, sphere);
  }
  EXPECT_FALSE(*source->Get(13));
  EXPECT_FALSE(source->Get(12, {.level = 1}));
  EXPECT_FALSE(source->GetManifest(12));
}

TEST(LegacySource, ReadsAFolderWithoutInfoWithSubfoldersAndWrappedFragments) {
  const auto store = std::make_shared<MemoryStore>("test");
  const Mesh sphere = Sphere({0, 0, 0}, 50, 4);
  const auto bytes = WriteLegacyFragment(sphere);
  ASSERT_TRUE(bytes);
  const auto put = [&](std::string_view name, BytesView value) {
    ASSERT_TRUE(store->Put(name, value, Precondition::None()));
  };
  put("mesh/8:0", AsBytes(R"({"fragments": ["sub/a", "b", "mesh/c"]})"));
  put("mesh/sub/a", *bytes);
  put("mesh/b.gz", GzipEncode(*bytes));
  put("mesh/c", *bytes);
  put("mesh/9:0", AsBytes(R"({"fragments": ["gone"]})"));
  const auto source = MeshSource::Open({store, "mesh"});
  ASSERT_TRUE(source) << source.error().message;
  const auto mesh = source->Get(8, {.weld = false});
  ASSERT_TRUE(mesh) << mesh.error().message;
  ASSERT_TRUE(*mesh);
  EXPECT_EQ((*mesh)->triangles.size(), 3 * sphere.triangles.size());
  EXPECT_EQ(source->Get(9).error().message,
            "memory://test/mesh/9:0: fragment memory://test/mesh/gone is missing");
}

TEST(EncodeSingleLevel, KeepsAMeshWithinHalfAStep) {
  const Mesh sphere = Sphere({1000, -2000, 300}, 250, 40);
  const auto store = std::make_shared<MemoryStore>("test");
  MultiresInfo info;
  info.sharding = SomeShards();
  auto writer = MultiresWriter::Create({store, "mesh"}, info);
  ASSERT_TRUE(writer);
  const auto encoded = EncodeSingleLevel(sphere, 16);
  ASSERT_TRUE(encoded) << encoded.error().message;
  ASSERT_TRUE(writer->Add(42, *encoded));
  ASSERT_TRUE(writer->Finish());
  const auto source = MeshSource::Open({store, "mesh"});
  ASSERT_TRUE(source);
  const auto mesh = source->Get(42);
  ASSERT_TRUE(mesh) << mesh.error().message;
  ASSERT_TRUE(*mesh);
  EXPECT_EQ((*mesh)->vertices.size(), sphere.vertices.size());
  EXPECT_EQ((*mesh)->triangles.size(), sphere.triangles.size());
  for (const Point& vertex : (*mesh)->vertices) {
    const double distance =
        std::hypot(vertex[0] - 1000, vertex[1] + 2000, vertex[2] - 300);
    EXPECT_NEAR(distance, 250, 0.01);
  }
}

// Files of cloud-volume's tests, where they are: see the README beside them.
TEST(PeerMeshes, OfCloudVolumeAreRead) {
  const std::filesystem::path data = "../shared/data/cloud-volume";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no " << data;
  struct Case {
    const char* folder;
    std::vector<uint64_t> ids;
  };
  for (const Case& c :
       {Case{"test_cv/mesh_mip_2_draco_sv16", {648518346349515986}},
        Case{"test_cv/mesh_mip_2_err_40_sv16", {648518346349515986}},
        Case{"test_seg_unsharded/mesh_mip_2_err_40", {25024949, 67301298}}}) {
    const auto folder = ParseLocation((data / c.folder).string());
    ASSERT_TRUE(folder);
    const auto source = MeshSource::Open(*folder);
    ASSERT_TRUE(source) << source.error().message;
    const auto meshes = source->GetMany(c.ids);
    ASSERT_TRUE(meshes) << meshes.error().message;
    for (const auto& mesh : *meshes) {
      ASSERT_TRUE(mesh) << c.folder;
      EXPECT_GT(mesh->triangles.size(), 500U) << c.folder;
      EXPECT_TRUE(Validate(*mesh));
    }
  }
}

}  // namespace
}  // namespace dolium::mesh
