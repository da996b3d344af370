#include "dolium/domain/skeleton/skeleton_source.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/codec/gzip.h"

namespace dolium::skeleton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SkeletonInfo InfoWithIntegers(bool sharded) {
  SkeletonInfo info;
  info.transform = {2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 1};
  info.attributes = {{"radius"}, {"vertex_types", AttributeType::kUint8, 1}};
  if (sharded) {
    info.sharding = neuroglancer::ShardingSpec{
        .preshift_bits = 0,
        .hash = neuroglancer::ShardHash::kMurmur3,
        .minishard_bits = 3,
        .shard_bits = 2,
        .minishard_index_encoding = neuroglancer::Encoding::kGzip,
        .data_encoding = neuroglancer::Encoding::kGzip};
  }
  return info;
}

// A path of as many vertices as the id says, and radii and types of them.
Skeleton Path(uint64_t id) {
  Skeleton skeleton;
  skeleton.attributes.resize(2);
  for (uint32_t i = 0; i < 2 + id % 7; ++i) {
    skeleton.vertices.push_back(
        {static_cast<float>(i), static_cast<float>(id % 1000), 3});
    if (i > 0) skeleton.edges.push_back({i - 1, i});
    Append(skeleton.attributes[0], std::as_bytes(std::span(&skeleton.vertices[i][0], 1)));
    skeleton.attributes[1].push_back(std::byte{static_cast<unsigned char>(i)});
  }
  return skeleton;
}

class SkeletonsOfAFolder : public testing::TestWithParam<bool> {
 protected:
  void Write(const std::vector<uint64_t>& ids, SkeletonWriter::Types types) {
    auto writer = SkeletonWriter::Create(folder_, InfoWithIntegers(GetParam()), types);
    ASSERT_TRUE(writer) << writer.error().message;
    for (const uint64_t id : ids) {
      const auto added = writer->Add(id, Path(id));
      ASSERT_TRUE(added) << added.error().message;
    }
    const auto done = writer->Finish();
    ASSERT_TRUE(done) << done.error().message;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>("test");
  Location folder_{store_, "skeletons"};
};

TEST_P(SkeletonsOfAFolder, AreThoseThatWereWritten) {
  std::vector<uint64_t> ids;
  for (uint64_t id = 1; id <= 1000; ++id) ids.push_back(id * id * 77'777'777);
  Write(ids, SkeletonWriter::Types::kKeep);
  const auto source = SkeletonSource::Open(folder_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->info(), InfoWithIntegers(GetParam()));
  const auto listed = source->ListIds();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(*listed, ids);
  std::vector<uint64_t> wanted(ids.rbegin(), ids.rend());
  wanted.push_back(5);
  const auto skeletons = source->GetMany(wanted, {.stored_units = true});
  ASSERT_TRUE(skeletons) << skeletons.error().message;
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_TRUE((*skeletons)[i]);
    ASSERT_EQ(*(*skeletons)[i], Path(wanted[i]));
  }
  EXPECT_FALSE(skeletons->back());
}

TEST_P(SkeletonsOfAFolder, AreInNanometres) {
  Write({7}, SkeletonWriter::Types::kKeep);
  const auto source = SkeletonSource::Open(folder_);
  ASSERT_TRUE(source);
  const auto skeleton = source->Get(7);
  ASSERT_TRUE(skeleton && *skeleton);
  EXPECT_THAT((*skeleton)->vertices, ElementsAre(Point{1, 15, 7}, Point{3, 15, 7}));
  EXPECT_EQ((*skeleton)->attributes, Path(7).attributes);
}

TEST_P(SkeletonsOfAFolder, AreOfFloatsUnlessTypesAreKept) {
  Write({7}, SkeletonWriter::Types::kFloat32);
  const auto source = SkeletonSource::Open(folder_);
  ASSERT_TRUE(source);
  EXPECT_TRUE(IsShownByClients(source->info()));
  const auto skeleton = source->Get(7);
  ASSERT_TRUE(skeleton && *skeleton);
  const Skeleton expected = AsFloat32(Path(7), InfoWithIntegers(false));
  EXPECT_EQ((*skeleton)->attributes, expected.attributes);
}

TEST_P(SkeletonsOfAFolder, EndWithTheFirstError) {
  Write({1, 2, 3, 4, 5}, SkeletonWriter::Types::kKeep);
  const auto source = SkeletonSource::Open(folder_);
  ASSERT_TRUE(source);
  const std::vector<uint64_t> ids = {1, 2, 3, 4, 5};
  const auto visited = source->GetEach(
      ids, {.read = {.jobs = 1}},
      [](size_t, const std::optional<Skeleton>&) -> Result<void> { return Cancelled(); });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, ErrorCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Storage, SkeletonsOfAFolder, testing::Bool(),
                         [](const auto& storage) {
                           return storage.param ? "Sharded" : "Unsharded";
                         });

TEST(SkeletonSource, ReadsFilesThatAreCompressed) {
  const auto store = std::make_shared<MemoryStore>("test");
  const SkeletonInfo info = InfoWithIntegers(false);
  const auto put = [&](std::string_view name, BytesView bytes) {
    ASSERT_TRUE(store->Put(name, bytes, Precondition::None()));
  };
  put("s/info", AsBytes(ToJson(info)));
  put("s/1", GzipEncode(*WriteSkeleton(Path(1), info)));
  put("s/2.gz", GzipEncode(*WriteSkeleton(Path(2), info)));
  put("s/0", *WriteSkeleton(Path(3), info));
  put("s/03", *WriteSkeleton(Path(3), info));
  put("s/0-8_0-8_0-8.spatial", AsBytes("{}"));
  const auto source = SkeletonSource::Open({store, "s"});
  ASSERT_TRUE(source) << source.error().message;
  const auto ids = source->ListIds();
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, ElementsAre(1, 2));
  for (const uint64_t id : *ids) {
    const auto skeleton = source->Get(id, {.stored_units = true});
    ASSERT_TRUE(skeleton && *skeleton);
    EXPECT_EQ(**skeleton, Path(id));
  }
  EXPECT_FALSE(*source->Get(0));
}

// The bytes that gzip begins with are a count of vertices as well.
TEST(SkeletonSource, ReadsASkeletonThatBeginsAsGzipDoes) {
  const auto store = std::make_shared<MemoryStore>("test");
  Skeleton skeleton;
  skeleton.vertices.resize(0x00088b1f, Point{1, 2, 3});
  const auto bytes = WriteSkeleton(skeleton, {});
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(
      store->Put("s/info", AsBytes(ToJson(SkeletonInfo())), Precondition::None()));
  ASSERT_TRUE(store->Put("s/1", *bytes, Precondition::None()));
  const auto source = SkeletonSource::Open({store, "s"});
  ASSERT_TRUE(source);
  const auto found = source->Get(1);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->vertices.size(), skeleton.vertices.size());
}

TEST(SkeletonSource, ReadsAgainWhatIsReplacedMeanwhile) {
  const auto store = std::make_shared<MemoryStore>("test");
  SkeletonInfo info = InfoWithIntegers(true);
  info.sharding->shard_bits = 0;
  const auto write = [&](std::string_view folder, uint64_t id) {
    auto writer = SkeletonWriter::Create({store, std::string(folder)}, info,
                                         SkeletonWriter::Types::kKeep);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->Add(1, Path(id)));
    ASSERT_TRUE(writer->Finish());
  };
  write("old", 1);
  write("new", 2);
  const auto source = SkeletonSource::Open({store, "old"});
  ASSERT_TRUE(source);
  ASSERT_TRUE(source->Get(1));  // Its index is in the cache now.
  const auto replacement = store->ReadWhole("new/0.shard", 1 << 20);
  ASSERT_TRUE(replacement);
  ASSERT_TRUE(store->Put("old/0.shard", replacement->bytes, Precondition::None()));
  const auto skeleton = source->Get(1, {.stored_units = true});
  ASSERT_TRUE(skeleton && *skeleton);
  EXPECT_EQ(**skeleton, Path(2));
}

TEST(SkeletonSource, SaysWhichSkeletonIsDamaged) {
  const auto store = std::make_shared<MemoryStore>("test");
  const SkeletonInfo info = InfoWithIntegers(false);
  const auto bytes = WriteSkeleton(Path(1), info);
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(store->Put("s/info", AsBytes(ToJson(info)), Precondition::None()));
  ASSERT_TRUE(store->Put("s/9", BytesView(*bytes).first(20), Precondition::None()));
  const auto source = SkeletonSource::Open({store, "s"});
  ASSERT_TRUE(source);
  EXPECT_THAT(
      source->Get(9).error().message,
      HasSubstr("memory://test/s/9: vertex_positions needs 36 bytes at 8, 12 remain"));
  EXPECT_EQ(SkeletonSource::Open({store, "t"}).error().code, ErrorCode::kNotFound);
}

// Skeletons that cloud-volume wrote: see testdata/good/README.md.
class GoodSkeletons : public testing::TestWithParam<const char*> {};

TEST_P(GoodSkeletons, AreRead) {
  const auto folder =
      ParseLocation(std::string(DOLIUM_SOURCE_DIR) +
                    "/src/dolium/domain/skeleton/testdata/good/" + GetParam());
  ASSERT_TRUE(folder);
  const auto source = SkeletonSource::Open(*folder);
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<uint64_t> ids = {5, 77, 123456789012345};
  const auto listed = source->ListIds();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(*listed, ids);
  EXPECT_THAT(source->info().attributes,
              ElementsAre(Attribute{"radius"},
                          Attribute{"vertex_types", AttributeType::kUint8, 1}));
  const auto skeletons = source->GetMany(ids);
  ASSERT_TRUE(skeletons) << skeletons.error().message;
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_TRUE((*skeletons)[i]);
    const Skeleton& skeleton = *(*skeletons)[i];
    const float y = static_cast<float>(ids[i] % 10);
    EXPECT_THAT(skeleton.vertices, ElementsAre(Point{0, y, 3}, Point{1, y, 3},
                                               Point{2, y, 3}, Point{3, y, 3}));
    EXPECT_THAT(skeleton.edges, ElementsAre(Edge{0, 1}, Edge{1, 2}, Edge{2, 3}));
    const float radii[] = {0.5, 1.5, 2.5, 3.5};
    EXPECT_TRUE(Equal(skeleton.attributes[0], std::as_bytes(std::span(radii))));
    EXPECT_THAT(skeleton.attributes[1],
                ElementsAre(std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}));
    EXPECT_EQ(skeleton.trailing_bytes, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(CloudVolume, GoodSkeletons,
                         testing::Values("skeletons", "skeletons_sharded"),
                         [](const auto& folder) { return std::string(folder.param); });

TEST(SkeletonWriter, RefusesLabelZeroAndAnOldFolder) {
  const auto store = std::make_shared<MemoryStore>("test");
  auto writer = SkeletonWriter::Create({store, "s"}, {});
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->Add(0, {}).error().message, "id 0 is no label");
  ASSERT_TRUE(writer->Finish());
  EXPECT_EQ(SkeletonWriter::Create({store, "s"}, {}).error().code, ErrorCode::kExists);
}

}  // namespace
}  // namespace dolium::skeleton
