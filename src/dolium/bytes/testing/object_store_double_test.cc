#include "dolium/bytes/testing/object_store_double.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/store_suite.h"

namespace dolium {
namespace {

using Fault = ObjectService::Fault;

INSTANTIATE_TEST_SUITE_P(
    ObjectStore, StoreSuite,
    testing::Values(
        MakeStoreCase("SmallParts",
                      [] { return std::make_shared<ObjectStoreDouble>(1000, 3); }),
        MakeStoreCase("LargeParts",
                      [] { return std::make_shared<ObjectStoreDouble>(5 << 20, 1000); })),
    StoreCaseName);

TEST(ObjectService, RefusesASmallPartThatIsNotTheLast) {
  ObjectService service(/*min_part=*/4, /*page_size=*/10);
  const std::string upload(AsText(service.CreateUpload("key").body));
  ASSERT_EQ(service.UploadPart(upload, 1, AsBytes("abc")).status, 200);
  ASSERT_EQ(service.UploadPart(upload, 2, AsBytes("d")).status, 200);
  EXPECT_EQ(service.CompleteUpload(upload, 2, {}).status, 400);
  ASSERT_EQ(service.UploadPart(upload, 1, AsBytes("abcd")).status, 200);
  EXPECT_EQ(service.CompleteUpload(upload, 2, {}).status, 200);
  EXPECT_EQ(AsText(service.Get("key", std::nullopt, std::nullopt).body), "abcdd");
  EXPECT_EQ(service.pending_uploads(), 0U);
}

TEST(ObjectService, AnswersRangesAsHttpDoes) {
  ObjectService service(4, 10);
  ASSERT_EQ(service.Put("key", AsBytes("0123456789"), {}).status, 200);
  const auto across = service.Get("key", ByteRange{8, 5}, std::nullopt);
  EXPECT_EQ(across.status, 206);
  EXPECT_EQ(AsText(across.body), "89");
  EXPECT_EQ(across.total_size, 10U);
  EXPECT_EQ(service.Get("key", ByteRange{10, 1}, std::nullopt).status, 416);
  EXPECT_EQ(service.Get("key", ByteRange{0, 1}, "\"other\"").status, 412);
}

TEST(ObjectStoreDouble, AbortsTheUploadOfAWriterThatGivesUp) {
  ObjectStoreDouble store(/*min_part=*/10);
  {
    auto writer = store.Begin("one");
    ASSERT_TRUE(writer && (*writer)->Append(AsBytes("more than two parts of ten")));
    EXPECT_EQ(store.pending_uploads(), 1U);
  }
  EXPECT_EQ(store.pending_uploads(), 0U);
}

TEST(ObjectStoreDouble, AbortsTheUploadOfACommitThatFailed) {
  ObjectStoreDouble store(/*min_part=*/10);
  ASSERT_TRUE(store.Put("one", AsBytes("x"), Precondition::None()));
  const auto put =
      store.Put("one", AsBytes("more than two parts of ten"), Precondition::Absent());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kExists);
  EXPECT_EQ(store.pending_uploads(), 0U);
}

TEST(ObjectStoreDouble, PassesFaultsOnAsUnavailable) {
  ObjectStoreDouble store;
  ASSERT_TRUE(store.Put("one", AsBytes("old"), Precondition::None()));
  store.set_fault_hook([](std::string_view call, std::string_view) {
    return call == "Put" || call == "Get" ? Fault::kRefused : Fault::kNone;
  });
  const auto put = store.Put("one", AsBytes("new"), Precondition::None());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kUnavailable);
  const auto read = store.ReadWhole("one", 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "s3://double/one: HTTP status 503");
  store.set_fault_hook(nullptr);
  EXPECT_EQ(AsText(store.ReadWhole("one", 10)->bytes), "old");
}

TEST(ObjectStoreDouble, CanLoseTheAnswerOfACommitThatTookPlace) {
  ObjectStoreDouble store;
  store.set_fault_hook([](std::string_view call, std::string_view) {
    return call == "Put" ? Fault::kAnswerLost : Fault::kNone;
  });
  EXPECT_FALSE(store.Put("one", AsBytes("new"), Precondition::Absent()));
  EXPECT_EQ(AsText(store.ReadWhole("one", 10)->bytes), "new");
}

TEST(ObjectStoreDouble, MergesNearRangesIntoOneRequest) {
  ObjectStoreDouble store;
  ASSERT_TRUE(store.Put("one", ByteVector(10'000), Precondition::None()));
  const uint64_t before = store.calls();
  const ByteRange ranges[] = {{0, 100}, {300, 100}, {9000, 10}};
  ASSERT_TRUE(store.ReadRanges("one", ranges));
  EXPECT_EQ(store.calls() - before, 3U) << "a Head and two Gets";
}

}  // namespace
}  // namespace dolium
