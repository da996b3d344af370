#include "dolium/ops/pack/pack_options.h"

#include <gtest/gtest.h>

namespace dolium::dataset {
namespace {

using shardpack::Compression;
using shardpack::PackOptions;

std::string MessageOf(const PackWishes& wishes) {
  const auto options = PackOptionsOf(wishes);
  if (options) return "";
  EXPECT_EQ(options.error().code, ErrorCode::kInvalidArgument);
  return options.error().message;
}

TEST(PackOptionsOf, LeavesWhatIsNotWishedFor) {
  const PackOptions usual;
  const auto options = PackOptionsOf({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->shard.encode.compression, usual.shard.encode.compression);
  EXPECT_EQ(options->shard.encode.level, usual.shard.encode.level);
  EXPECT_EQ(options->shard.encode.chunk_size, usual.shard.encode.chunk_size);
  EXPECT_EQ(options->shard.encode.chunk_threshold, usual.shard.encode.chunk_threshold);
  EXPECT_EQ(options->shard.encode.align_log2, usual.shard.encode.align_log2);
  EXPECT_EQ(options->shard.tail.key_index, usual.shard.tail.key_index);
  EXPECT_EQ(options->shard.tail.entry_index, usual.shard.tail.entry_index);
  EXPECT_EQ(options->oversize, usual.oversize);
  EXPECT_EQ(options->dictionary_bytes, usual.dictionary_bytes);
  EXPECT_FALSE(options->shard.encode.worth_compressing("image/jpeg"));
}

TEST(PackOptionsOf, TakesWords) {
  const auto options = PackOptionsOf({.compression = "zstd",
                                      .level = 22,
                                      .compress_all = true,
                                      .chunk_size = uint64_t{1} << 16,
                                      .chunk_threshold = 0,
                                      .align = 4096,
                                      .record_size_limit = 100,
                                      .oversize = "split",
                                      .key_index = false,
                                      .entry_index = false});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->shard.encode.compression, Compression::kZstd);
  EXPECT_EQ(options->shard.encode.level, 22);
  EXPECT_EQ(options->shard.encode.chunk_size, uint64_t{1} << 16);
  EXPECT_EQ(options->shard.encode.chunk_threshold, 0U);
  EXPECT_EQ(options->shard.encode.align_log2, 12U);
  EXPECT_EQ(options->shard.encode.record_limit, 100U);
  EXPECT_FALSE(options->shard.encode.worth_compressing);
  EXPECT_EQ(options->oversize, shardpack::Oversize::kSplit);
  EXPECT_FALSE(options->shard.tail.key_index);
  EXPECT_EQ(options->shard.tail.entry_index, shardpack::Wanted::kNo);
}

TEST(PackOptionsOf, NamesWhatCannotBe) {
  EXPECT_EQ(MessageOf({.compression = "lz4", .level = 13}),
            "level: 13 is not a number of 0 to 12");
  EXPECT_EQ(MessageOf({.compression = "zstd", .level = -1}),
            "level: -1 is not a number of 0 to 22");
  EXPECT_EQ(MessageOf({.chunk_size = 100'000}),
            "chunk_size: 100000 is not a power of two of 64KiB to 1GiB");
  EXPECT_EQ(MessageOf({.align = 24}), "align: 24 is not a power of two of 8 to 4096");
  EXPECT_EQ(MessageOf({.oversize = "drop"}),
            "oversize: \"drop\" is none of: error, split, skip");
  EXPECT_EQ(MessageOf({.compression = "brotli"}),
            "compression: no compression \"brotli\"; there are none, gzip, lz4, zstd");
}

}  // namespace
}  // namespace dolium::dataset
