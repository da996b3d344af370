#include "dolium/ops/pack/pack_options.h"

#include <bit>
#include <string_view>

#include <fmt/format.h>

#include "dolium/domain/dataset/content_types.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::dataset {
namespace {

using shardpack::Compression;

constexpr uint64_t kMostAlign = 4096;

int HighestLevel(Compression compression) {
  return compression == Compression::kZstd ? 22 : 12;
}

Result<shardpack::Oversize> ParseOversize(std::string_view text) {
  if (text == "error") return shardpack::Oversize::kError;
  if (text == "split") return shardpack::Oversize::kSplit;
  if (text == "skip") return shardpack::Oversize::kSkip;
  return InvalidArgument(
      fmt::format("oversize: \"{}\" is none of: error, split, skip", text));
}

Result<void> TakeEncoding(const PackWishes& wishes, shardpack::EncodeOptions& encode) {
  if (wishes.compression) {
    DOLIUM_TRY(encode.compression,
               shardpack::ParseCompression(*wishes.compression).Within("compression"));
  }
  if (!wishes.compress_all) {
    encode.worth_compressing = [](std::string_view content_type) {
      return !IsAlreadyCompressed(content_type);
    };
  }
  if (wishes.level && encode.compression != Compression::kNone) {
    const int most = HighestLevel(encode.compression);
    if (*wishes.level < 0 || *wishes.level > most) {
      return InvalidArgument(
          fmt::format("level: {} is not a number of 0 to {}", *wishes.level, most));
    }
    encode.level = static_cast<int>(*wishes.level);
  }
  if (wishes.chunk_size) {
    const uint64_t size = *wishes.chunk_size;
    if (!std::has_single_bit(size) || size < shardpack::kMinChunkSize ||
        size > shardpack::kMaxChunkSize) {
      return InvalidArgument(
          fmt::format("chunk_size: {} is not a power of two of 64KiB to 1GiB", size));
    }
    encode.chunk_size = size;
  }
  if (wishes.chunk_threshold) encode.chunk_threshold = *wishes.chunk_threshold;
  if (wishes.align) {
    const uint64_t align = *wishes.align;
    if (!std::has_single_bit(align) || align < 8 || align > kMostAlign) {
      return InvalidArgument(
          fmt::format("align: {} is not a power of two of 8 to {}", align, kMostAlign));
    }
    encode.align_log2 = static_cast<unsigned>(std::countr_zero(align));
  }
  encode.record_limit = wishes.record_size_limit.value_or(0);
  return {};
}

}  // namespace

Result<shardpack::PackOptions> PackOptionsOf(const PackWishes& wishes) {
  shardpack::PackOptions options;
  DOLIUM_TRY_VOID(TakeEncoding(wishes, options.shard.encode));
  shardpack::TailOptions& tail = options.shard.tail;
  tail.key_index = wishes.key_index;
  tail.keys = wishes.keys;
  if (wishes.entry_index) {
    tail.entry_index =
        *wishes.entry_index ? shardpack::Wanted::kYes : shardpack::Wanted::kNo;
  }
  if (wishes.oversize) {
    DOLIUM_TRY(options.oversize, ParseOversize(*wishes.oversize));
  }
  options.dictionary_bytes = static_cast<size_t>(wishes.dictionary.value_or(0));
  options.shard_bytes = wishes.shard_size;
  options.shard_records = wishes.shard_records;
  options.shard.reproducible = wishes.reproducible;
  options.shard.force = wishes.force;
  return options;
}

}  // namespace dolium::dataset
