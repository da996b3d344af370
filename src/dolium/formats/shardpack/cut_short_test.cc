// Shards that somebody cuts short while they are mapped: an error, not the end of the
// process, and never zeros in the place of data.
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/repair.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/testing/shards.h"
#include "dolium/formats/shardpack/verify.h"

namespace dolium::shardpack {
namespace {

class CutShortOnceTest : public testing::Test {
 protected:
  // Records of some 10,000 bytes, so that each is on pages of its own.
  void Write(size_t count, Compression compression = Compression::kNone) {
    std::vector<Sample> samples;
    for (size_t i = 0; i < count; ++i) {
      samples.push_back({.key = "key" + std::to_string(i),
                         .files = {{.name = "a", .data = Text(std::string(10'000, 'a'))},
                                   {.name = "b", .data = Text("small")}}});
      samples.back().files[0].compression = compression;
    }
    Must(location_.store->Put(location_.path, AsBytes(MakeShard(samples)),
                              Precondition::None()));
  }
  void Cut(uint64_t size = 100) const {
    const std::string path = folder_.path() + "/a.shardpack";
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0);
  }
  template <typename T>
  static ErrorCode CodeOf(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kNotFound : result.error().code;
  }

  const TemporaryFolder folder_;
  const Location location_{Must(FileStore::Open(folder_.path())), "a.shardpack"};
};

class CutShortTest : public CutShortOnceTest,
                     public testing::WithParamInterface<Check> {};

TEST_P(CutShortTest, ReadsAreConflicts) {
  Write(20);
  const auto shard = Must(Shard::Open(location_, {.check = GetParam()}));
  ASSERT_TRUE(shard->is_mapped());
  const Record first = Must(shard->Read(0));
  const Record held = Must(shard->Read(10));
  Cut(5000);  // in the first record
  EXPECT_EQ(CodeOf(shard->Read(12)), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(shard->Content(10, held, held.entries()[0])), ErrorCode::kConflict);
  ByteVector into(10'000);
  EXPECT_EQ(CodeOf(shard->ContentInto(10, held, held.entries()[0], into)),
            ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(shard->Find("key3")), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(shard->CheckMap()), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(shard->metadata()), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(shard->VisitKeys([](uint64_t, std::string_view) { return true; })),
            ErrorCode::kConflict);
  // The index is gone: whatever it shows now leads nowhere else.
  for (uint64_t number = 0; number < shard->size(); ++number) {
    EXPECT_LE(shard->range(number).end(), shard->footer().index_offset);
    EXPECT_FALSE(shard->Read(number));
  }
  EXPECT_EQ(CodeOf(shard->ReadMany(std::vector<uint64_t>{3, 4})[1]),
            ErrorCode::kConflict);
  // What is left of the file is damage.
  EXPECT_EQ(KindOf(Shard::Open(location_)), "incomplete");
}

TEST_P(CutShortTest, GivesNoZerosToThreadsThatRead) {
  Write(200);
  const auto shard = Must(Shard::Open(location_, {.check = GetParam()}));
  std::atomic<int> reading = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      ByteVector into(10'000);
      for (uint64_t number = 0;; number = (number + 1) % 200) {
        const auto record = shard->Read(number);
        if (!record) {
          EXPECT_EQ(record.error().code, ErrorCode::kConflict) << record.error().message;
          return;
        }
        const auto done = shard->ContentInto(number, *record, record->entries()[0], into);
        if (!done) {
          EXPECT_EQ(done.error().code, ErrorCode::kConflict) << done.error().message;
          return;
        }
        EXPECT_EQ(AsText(into), std::string(10'000, 'a'));
        if (number == 10) ++reading;
      }
    });
  }
  while (reading < 3) std::this_thread::yield();
  Cut(0);
}

INSTANTIATE_TEST_SUITE_P(Checks, CutShortTest,
                         testing::Values(Check::kNone, Check::kHeaders, Check::kFull));

TEST_F(CutShortOnceTest, VerifyAndRepairFail) {
  Write(2000);
  bool is_cut = false;
  VerifyOptions options{.jobs = 1};
  options.progress = [&](const Progress&) {
    if (!is_cut) Cut(20'000);
    is_cut = true;
  };
  EXPECT_EQ(CodeOf(VerifyShard(location_, options, [](const Finding&) {})),
            ErrorCode::kConflict);

  Write(200);
  std::string bytes = BytesAt(location_);
  bytes[bytes.find("key5")] = 'K';
  Must(location_.store->Put(location_.path, AsBytes(bytes), Precondition::None()));
  const Location target{location_.store, "b.shardpack"};
  EXPECT_EQ(CodeOf(RepairShard(location_, target, {}, [&](const Finding&) { Cut(0); })),
            ErrorCode::kConflict);
  EXPECT_EQ(BytesAt(target), "");
}

TEST_F(CutShortOnceTest, ChunksThatAreGoneLeadNowhere) {
  std::vector<Sample> samples{
      {.key = "a", .files = {{.name = "a", .data = Text(std::string(1 << 20, 'a'))}}}};
  ShardWriterOptions options;
  options.encode.compression = Compression::kZstd;
  options.encode.chunk_threshold = 1;
  options.encode.chunk_size = 64 << 10;
  Must(location_.store->Put(location_.path, AsBytes(MakeShard(samples, options)),
                            Precondition::None()));
  const auto shard = Must(Shard::Open(location_, {.check = Check::kNone}));
  const Record record = Must(shard->Read(0));
  Cut(0);
  EXPECT_EQ(CodeOf(shard->Content(0, record, record.entries()[0])), ErrorCode::kConflict);
}

}  // namespace
}  // namespace dolium::shardpack
