#include "dolium/domain/cas/chunk_pipeline.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kLimit = uint64_t{32} << 20;

// Keeps all blocks, as a disk that does not move would, until nothing else can be done.
class SlowConsumer : public ChunkConsumer {
 public:
  Result<void> TakeChunks(std::span<const HashedChunk> chunks,
                          std::shared_ptr<const ChunkBlock> block) override {
    for (const HashedChunk& chunk : chunks) bytes_ += chunk.raw.size();
    blocks_.push_back(std::move(block));
    most_blocks_ = std::max(most_blocks_, blocks_.size());
    ++taken_;
    return {};
  }
  Result<void> EndFile(const ChunkInput&, const std::optional<Error>& failed) override {
    if (failed) return *failed;
    return {};
  }
  Result<bool> Poll() override {
    const bool is_stuck = given_ == taken_ && !std::exchange(was_asked_, false);
    if (!is_stuck || blocks_.empty()) return false;
    blocks_.pop_front();
    return true;
  }

  // The pipeline asked for a file, and got one.
  void Asked(bool is_given) {
    was_asked_ = true;
    if (is_given) ++given_;
  }

  uint64_t bytes_ = 0;
  size_t given_ = 0;
  size_t taken_ = 0;
  size_t most_blocks_ = 0;

 private:
  std::deque<std::shared_ptr<const ChunkBlock>> blocks_;
  bool was_asked_ = false;
};

TEST(ChunkPipeline, ReadsNoMoreThanTheBudgetWhileNothingIsWritten) {
  constexpr size_t kFiles = 100;
  constexpr uint64_t kSize = uint64_t{1} << 20;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  WriteText(path, RandomText(kSize, 1));
  MemoryBudget budget(kLimit);
  WorkerPool pool(2);
  SlowConsumer consumer;
  ChunkPipeline pipeline(pool, 64, budget, {});
  const auto done = pipeline.Run(
      [&](ChunkInput& input) -> Result<ChunkPipeline::Next> {
        const bool is_given = consumer.given_ < kFiles;
        consumer.Asked(is_given);
        if (!is_given) return ChunkPipeline::Next::kEnd;
        input = {.label = path, .path = path, .size = kSize};
        return ChunkPipeline::Next::kFile;
      },
      consumer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(consumer.bytes_, kFiles * kSize);
  EXPECT_GT(consumer.most_blocks_, 5u);
  // The rest is for what becomes of the blocks.
  EXPECT_LE(budget.peak(), kLimit / 5 * 2);
}

}  // namespace
}  // namespace dolium::cas
