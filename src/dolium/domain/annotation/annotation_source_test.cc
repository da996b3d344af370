#include "dolium/domain/annotation/annotation_source.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/domain/annotation/annotation_writer.h"
#include "dolium/domain/annotation/level_plan.h"

namespace dolium::annotation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kRank = 3;

// Annotations of one type, with what is needed to compare them.
struct Made {
  uint64_t id = 0;
  std::vector<float> geometry;
  ByteVector properties;
  std::vector<uint64_t> related;

  AnnotationView view() const { return {id, geometry, properties}; }
};

AnnotationSchema SchemaOf(AnnotationType type) {
  AnnotationSchema schema;
  schema.type = type;
  schema.dimensions = {{"x", 8e-9, "m"}, {"y", 8e-9, "m"}, {"z", 4e-8, "m"}};
  schema.properties = {{"score", PropertyType::kFloat32}, {"color", PropertyType::kRgb}};
  schema.relationships = {{.id = "segments", .key = ""}};
  return schema;
}

std::vector<Made> MakeAnnotations(AnnotationType type, size_t count) {
  std::mt19937_64 random(7);
  std::vector<Made> made(count);
  const auto draw = [&](double most) {
    return static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-53 * most);
  };
  for (size_t i = 0; i < count; ++i) {
    Made& one = made[i];
    one.id = i;
    // Half of them close together, so that there are several levels.
    const double reach = i % 2 == 0 ? 1000 : 100;
    for (size_t d = 0; d < kRank; ++d) one.geometry.push_back(draw(reach));
    const size_t more = type == AnnotationType::kPoint      ? 0
                        : type == AnnotationType::kPolyline ? i % 4 * kRank
                                                            : kRank;
    for (size_t n = 0; n < more; ++n) {
      const float step = draw(60);
      one.geometry.push_back(type == AnnotationType::kEllipsoid
                                 ? step
                                 : one.geometry[one.geometry.size() - kRank] + step - 30);
    }
    one.properties.resize(8);
    StoreLE(one.properties.data(), static_cast<uint32_t>(i));
    for (uint64_t r = 0; r < i % 3; ++r) one.related.push_back(r * 100 + i % 10);
  }
  return made;
}

class Annotations : public testing::TestWithParam<std::tuple<AnnotationType, bool>> {
 protected:
  AnnotationType type() const { return std::get<0>(GetParam()); }
  bool is_unsharded() const { return std::get<1>(GetParam()); }

  AnnotationSource Write(const std::vector<Made>& made, AnnotationWriteOptions options,
                         const std::string& folder = "set") {
    const Location at{store_, folder};
    auto writer = AnnotationWriter::Create(at, SchemaOf(type()), options);
    EXPECT_TRUE(writer) << writer.error().message;
    for (const Made& one : made) {
      const std::span<const uint64_t> related[] = {one.related};
      const auto added = (*writer)->Add(one.view(), related);
      EXPECT_TRUE(added) << added.error().message;
    }
    const auto done = (*writer)->Finish();
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->annotations, made.size());
    auto source = AnnotationSource::Open(at);
    EXPECT_TRUE(source) << source.error().message;
    return *std::move(source);
  }
  AnnotationWriteOptions Options() const {
    AnnotationWriteOptions options;
    options.unsharded = is_unsharded();
    options.limit = 40;
    return options;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>("test");
};

std::string NameOf(const testing::TestParamInfo<std::tuple<AnnotationType, bool>>& info) {
  std::string name(ToString(std::get<0>(info.param)));
  return name + (std::get<1>(info.param) ? "_unsharded" : "_sharded");
}

INSTANTIATE_TEST_SUITE_P(
    OfAllTypes, Annotations,
    testing::Combine(testing::Values(AnnotationType::kPoint, AnnotationType::kLine,
                                     AnnotationType::kBox, AnnotationType::kEllipsoid,
                                     AnnotationType::kPolyline),
                     testing::Bool()),
    NameOf);

TEST_P(Annotations, AreFoundById) {
  const auto made = MakeAnnotations(type(), 300);
  const AnnotationSource source = Write(made, Options());
  const auto ids = source.ListIds();
  ASSERT_TRUE(ids) << ids.error().message;
  ASSERT_EQ(ids->size(), made.size());
  EXPECT_EQ(ids->front(), 0U);
  const std::vector<uint64_t> wanted = {299, 0, 1000, 17};
  const auto table = source.GetMany(wanted);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->ids(), ElementsAre(299, 0, 17));
  for (size_t i = 0; i < table->size(); ++i) {
    const Made& expected = made[table->ids()[i]];
    EXPECT_THAT((*table)[i].geometry, testing::ElementsAreArray(expected.geometry));
    EXPECT_TRUE(Equal((*table)[i].properties, expected.properties));
    EXPECT_THAT(table->related()[0].Of(i), testing::ElementsAreArray(expected.related));
  }
}

TEST_P(Annotations, AreFoundByWhatTheyAreRelatedTo) {
  const auto made = MakeAnnotations(type(), 300);
  const AnnotationSource source = Write(made, Options());
  for (const uint64_t segment : {0, 3, 104, 999}) {
    std::vector<uint64_t> expected;
    for (const Made& one : made) {
      if (std::ranges::count(one.related, segment) > 0) expected.push_back(one.id);
    }
    const auto table = source.Related("segments", segment);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->ids(), expected) << segment;
  }
  EXPECT_EQ(source.Related("cells", 1).error().message,
            "memory://test/set: no relationship \"cells\"; there is segments");
}

TEST_P(Annotations, AreInOneLevelEachAndInEveryCellThatTheyMeet) {
  const auto made = MakeAnnotations(type(), 1000);
  const AnnotationSource source = Write(made, Options());
  const AnnotationInfo& info = source.info();
  ASSERT_GE(info.spatial.size(), 3U);
  std::map<uint64_t, size_t> level_of;
  std::map<uint64_t, std::set<uint64_t>> cells_of;
  for (size_t level = 0; level < info.spatial.size(); ++level) {
    const auto codes = source.ListCells(level);
    ASSERT_TRUE(codes) << codes.error().message;
    std::mutex mutex;
    uint64_t most = 0;
    const auto read = source.ReadLists(
        level, *codes, {},
        [&](uint64_t code, const AnnotationTable& list) -> Result<void> {
          const std::lock_guard lock(mutex);
          most = std::max<uint64_t>(most, list.size());
          for (const uint64_t id : list.ids()) {
            EXPECT_EQ(level_of.try_emplace(id, level).first->second, level) << id;
            EXPECT_TRUE(cells_of[id].insert(code).second) << id;
          }
          return {};
        });
    ASSERT_TRUE(read) << read.error().message;
    // A random choice, which this seed makes. The last level takes all that is left.
    EXPECT_LE(most, 2 * info.spatial[level].limit);
    const bool is_last = level + 1 == info.spatial.size();
    EXPECT_TRUE(is_last || info.spatial[level].limit == 40);
    for (size_t d = 0; d < kRank; ++d) {
      EXPECT_NEAR(static_cast<double>(info.spatial[level].grid_shape[d]) *
                      info.spatial[level].chunk_size[d],
                  info.upper_bound[d] - info.lower_bound[d], 1e-6);
    }
  }
  ASSERT_EQ(level_of.size(), made.size());
  for (const Made& one : made) {
    const CellGrid& grid = source.grid(level_of[one.id]);
    std::set<uint64_t> expected;
    grid.VisitCells(type(), one.geometry, [&](std::span<const uint64_t> cell) {
      expected.insert(grid.Encode(cell));
    });
    EXPECT_EQ(cells_of[one.id], expected) << one.id;
  }
}

TEST_P(Annotations, OfABoxAreThoseThatMeetIt) {
  const auto made = MakeAnnotations(type(), 1000);
  const AnnotationSource source = Write(made, Options());
  for (const Region& region :
       {Region{{0, 0, 0}, {50, 50, 50}}, Region{{200, 300, 100}, {700, 600, 900}},
        Region{{5000, 0, 0}, {6000, 1, 1}},
        Region{{-1e9, -1e9, -1e9}, {1e9, 1e9, 1e9}}}) {
    std::set<uint64_t> expected;
    for (const Made& one : made) {
      if (Intersects(type(), kRank, one.geometry, region)) expected.insert(one.id);
    }
    const auto table = source.Query({.region = region});
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->size(), expected.size());
    EXPECT_EQ(std::set<uint64_t>(table->ids().begin(), table->ids().end()), expected);
  }
  EXPECT_THAT(source.Query({.region = {{0, 0}, {1, 1}}}).error().message,
              HasSubstr("a box of 2 and 2 numbers, expected 3 of each"));
}

TEST_P(Annotations, AreVisitedByAScan) {
  const auto made = MakeAnnotations(type(), 100);
  const AnnotationSource source = Write(made, Options());
  std::vector<uint64_t> ids;
  const auto visited =
      source.VisitAll({}, [&](const AnnotationTable& table) -> Result<void> {
        ids.insert(ids.end(), table.ids().begin(), table.ids().end());
        return {};
      });
  ASSERT_TRUE(visited) << visited.error().message;
  ASSERT_EQ(ids.size(), made.size());
  EXPECT_TRUE(std::ranges::is_sorted(ids));
}

// All objects of a folder and of those in it.
std::map<std::string, std::string> FilesOf(const MemoryStore& store,
                                           const std::string& folder) {
  std::map<std::string, std::string> files;
  std::vector<std::string> folders = {""};
  while (!folders.empty()) {
    const std::string below = folders.back();
    folders.pop_back();
    const auto listed =
        store.List(JoinPath(folder, below), [&](std::string_view name, bool is_folder) {
          const std::string path =
              below.empty() ? std::string(name) : JoinPath(below, name);
          if (is_folder) {
            folders.push_back(path);
          } else {
            const auto whole = store.ReadWhole(JoinPath(folder, path), 1 << 30);
            files[path] = whole ? std::string(AsText(whole->bytes)) : "";
          }
          return true;
        });
    EXPECT_TRUE(listed) << listed.error().message;
  }
  return files;
}

TEST_P(Annotations, DependOnNeitherOrderNorMemoryNorThreads) {
  auto made = MakeAnnotations(type(), 2000);
  AnnotationWriteOptions options = Options();
  Write(made, options, "first");
  std::ranges::reverse(made);
  options.writer.memory = 1 << 16;
  options.writer.jobs = 3;
  Write(made, options, "second");
  const auto first = FilesOf(*store_, "first");
  EXPECT_GE(first.size(), 4U);
  EXPECT_EQ(first, FilesOf(*store_, "second"));
}

TEST_P(Annotations, MayBeNone) {
  const AnnotationSource source = Write({}, Options());
  EXPECT_TRUE(source.ListIds()->empty());
  const auto table = source.Query({.region = {{0, 0, 0}, {1, 1, 1}}});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->empty());
}

TEST(AnnotationWriter, RefusesAnIdThatIsThereTwice) {
  for (const bool is_unsharded : {false, true}) {
    AnnotationSchema schema;
    schema.dimensions = {{"x", 1, "nm"}};
    AnnotationWriteOptions options;
    options.unsharded = is_unsharded;
    auto writer = AnnotationWriter::Create({std::make_shared<MemoryStore>("test"), "set"},
                                           schema, options);
    ASSERT_TRUE(writer) << writer.error().message;
    const std::vector<float> at = {1};
    for (const uint64_t id : {3, 4, 3}) {
      ASSERT_TRUE((*writer)->Add({id, at, {}}));
    }
    const auto done = (*writer)->Finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(done.error().message, HasSubstr("by_id"));
  }
}

TEST(AnnotationWriter, ListsAnAnnotationOnceThatNamesASegmentTwice) {
  const Location at{std::make_shared<MemoryStore>("test"), "set"};
  AnnotationSchema schema;
  schema.dimensions = {{"x", 1, "nm"}};
  schema.relationships = {{.id = "first", .key = ""}, {.id = "second", .key = ""}};
  auto writer = AnnotationWriter::Create(at, schema, {});
  ASSERT_TRUE(writer) << writer.error().message;
  const std::vector<uint64_t> first = {8};
  const std::vector<uint64_t> second = {9, 8, 9};
  const std::span<const uint64_t> related[] = {first, second};
  ASSERT_TRUE((*writer)->Add({1, std::vector<float>{1}, {}}, related));
  ASSERT_TRUE((*writer)->Finish());
  const auto source = AnnotationSource::Open(at);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT(source->Related("second", 9)->ids(), ElementsAre(1));
  EXPECT_THAT(source->Related("second", 8)->ids(), ElementsAre(1));
  EXPECT_TRUE(source->Related("first", 9)->empty());
  const uint64_t id = 1;
  EXPECT_THAT(source->GetMany(std::span(&id, 1))->related()[1].Of(0),
              ElementsAre(9, 8, 9));
}

TEST(AnnotationWriter, RefusesWhatItCannotWrite) {
  const Location at{std::make_shared<MemoryStore>("test"), "set"};
  AnnotationSchema schema;
  schema.dimensions = {{"x", 1, "nm"}};
  schema.lower_bound = {0};
  schema.upper_bound = {10};
  auto writer = AnnotationWriter::Create(at, schema, {});
  ASSERT_TRUE(writer) << writer.error().message;
  const std::vector<float> outside = {11};
  EXPECT_EQ(
      (*writer)->Add({5, outside, {}}).error().message,
      "annotation 5: reaches from 11 to 11 in x, outside of the bounds from 0 to 10");
  const std::span<const uint64_t> related[] = {{}};
  EXPECT_EQ((*writer)->Add({5, std::vector<float>{1}, {}}, related).error().message,
            "annotation 5: 1 relationships, expected 0");
  ASSERT_TRUE((*writer)->Finish());
  EXPECT_EQ(AnnotationWriter::Create(at, schema, {}).error().message,
            "memory://test/set/info: is there already");
}

TEST(AnnotationWriter, EndsWithManyAtOnePlace) {
  const Location at{std::make_shared<MemoryStore>("test"), "set"};
  AnnotationSchema schema;
  schema.dimensions = {{"x", 1, "nm"}, {"y", 1, "nm"}};
  AnnotationWriteOptions options;
  options.limit = 10;
  auto writer = AnnotationWriter::Create(at, schema, options);
  ASSERT_TRUE(writer) << writer.error().message;
  for (uint64_t id = 0; id < 1000; ++id) {
    const std::vector<float> place = {id == 0 ? 1.0F : 0.0F, 5};
    ASSERT_TRUE((*writer)->Add({id, place, {}}));
  }
  const auto done = (*writer)->Finish();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_LE(done->levels, 25U);
  const auto source = AnnotationSource::Open(at);
  ASSERT_TRUE(source) << source.error().message;
  const auto table = source->Query({.region = {{0, 5}, {0, 5}}});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->size(), 999U);
}

TEST(AnnotationSource, SaysWhatIsNotThere) {
  const Location at{std::make_shared<MemoryStore>("test"), "set"};
  EXPECT_EQ(AnnotationSource::Open(at).error().message,
            "memory://test/set/info: is not there");
  ASSERT_TRUE(at.store->Put("set/info", AsBytes("{}"), Precondition::None()));
  EXPECT_EQ(AnnotationSource::Open(at).error().message,
            "memory://test/set/info: @type: found null, expected "
            "neuroglancer_annotations_v1");
}

}  // namespace
}  // namespace dolium::annotation
