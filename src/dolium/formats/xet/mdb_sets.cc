#include "dolium/formats/xet/mdb_sets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

// A cursor that has looked at its next block.
template <typename Block>
class Input {
 public:
  explicit Input(BlockCursor<Block> cursor) : cursor_(std::move(cursor)) {}

  const std::optional<Block>& block() const { return block_; }

  // Goes to the next block that has another hash.
  Result<void> Advance() {
    const std::optional<Hash> last =
        block_ ? std::optional(block_->hash()) : std::nullopt;
    do {
      DOLIUM_TRY(block_, cursor_.Next());
    } while (block_ && last && block_->hash() == *last);
    if (block_ && last && block_->hash() < *last) {
      return InvalidArgument(fmt::format("shard is not in order: {} comes after {}",
                                         ToString(block_->hash()), ToString(*last)));
    }
    return {};
  }

 private:
  BlockCursor<Block> cursor_;
  std::optional<Block> block_;
};

template <typename Block>
using Inputs = std::vector<Input<Block>>;

template <typename Block>
Result<Inputs<Block>> OpenInputs(std::span<const ShardView> shards) {
  Inputs<Block> inputs;
  for (const ShardView& shard : shards) {
    if constexpr (std::is_same_v<Block, FileBlock>) {
      inputs.emplace_back(shard.files());
    } else {
      inputs.emplace_back(shard.xorbs());
    }
    DOLIUM_TRY_VOID(inputs.back().Advance());
  }
  return inputs;
}

// Writes shards up to a size each.
class Output {
 public:
  Output(const ShardSetOptions& options, const Hash& key, const NextSink& next)
      : options_(options), next_(next) {
    options_.write.key = key;
  }

  Result<void> Add(const FileBlock& file) {
    DOLIUM_TRY_VOID(MakeRoom(file));
    return writer_->AddFile(file);
  }
  Result<void> Add(const XorbBlock& xorb) {
    DOLIUM_TRY_VOID(MakeRoom(xorb));
    return writer_->AddXorb(xorb);
  }

  Result<size_t> Finish() {
    if (!writer_) DOLIUM_TRY_VOID(Begin());
    DOLIUM_TRY_VOID(writer_->Finish());
    return count_;
  }

 private:
  Result<void> Begin() {
    DOLIUM_TRY(ByteSink sink, next_());
    writer_.emplace(std::move(sink), options_.write);
    ++count_;
    return {};
  }

  template <typename Block>
  Result<void> MakeRoom(const Block& block) {
    if (writer_ && !writer_->empty() && writer_->SizeWith(block) > options_.shard_limit) {
      DOLIUM_TRY_VOID(writer_->Finish());
      writer_.reset();
    }
    if (!writer_) return Begin();
    return {};
  }

  ShardSetOptions options_;
  const NextSink& next_;
  std::optional<MdbShardWriter> writer_;
  size_t count_ = 0;
};

// Adds a file that several shards have: the first block that says as much as all of them,
// else that with the terms and range hashes of the first that has those and the SHA-256
// of the first that has one.
Result<void> AddUnited(std::span<const FileBlock> blocks, Output& output) {
  const auto verified = std::ranges::find_if(blocks, &FileBlock::has_verification);
  const auto digested = std::ranges::find_if(
      blocks, [](const FileBlock& block) { return block.sha256().has_value(); });
  for (const FileBlock& block : blocks) {
    if ((block.has_verification() || verified == blocks.end()) &&
        (block.sha256() || digested == blocks.end())) {
      return output.Add(block);
    }
  }
  FileInfo file = InfoOf(verified == blocks.end() ? blocks.front() : *verified);
  file.sha256 = digested->sha256();
  ByteVector merged;
  AppendFile(file, merged);
  return output.Add(FileBlock(merged));
}

Result<void> AddUnited(std::span<const XorbBlock> blocks, Output& output) {
  return output.Add(blocks.front());
}

template <typename Block>
Result<void> Unite(std::span<const ShardView> shards, Output& output) {
  DOLIUM_TRY(Inputs<Block> inputs, OpenInputs<Block>(shards));
  for (;;) {
    const Input<Block>* least = nullptr;
    for (const Input<Block>& input : inputs) {
      if (input.block() &&
          (least == nullptr || input.block()->hash() < least->block()->hash())) {
        least = &input;
      }
    }
    if (least == nullptr) return {};
    const Hash hash = least->block()->hash();
    std::vector<Block> equal;
    for (const Input<Block>& input : inputs) {
      if (input.block() && input.block()->hash() == hash) {
        equal.push_back(*input.block());
      }
    }
    DOLIUM_TRY_VOID(AddUnited(equal, output));
    for (Input<Block>& input : inputs) {
      if (input.block() && input.block()->hash() == hash)
        DOLIUM_TRY_VOID(input.Advance());
    }
  }
}

template <typename Block>
Result<void> Subtract(const ShardView& shard, std::span<const ShardView> without,
                      Output& output) {
  DOLIUM_TRY(Inputs<Block> from, OpenInputs<Block>(std::span(&shard, 1)));
  DOLIUM_TRY(Inputs<Block> inputs, OpenInputs<Block>(without));
  for (Input<Block>& left = from.front(); left.block();) {
    const Hash hash = left.block()->hash();
    bool is_there = false;
    for (Input<Block>& input : inputs) {
      while (input.block() && input.block()->hash() < hash) {
        DOLIUM_TRY_VOID(input.Advance());
      }
      is_there = is_there || (input.block() && input.block()->hash() == hash);
    }
    if (!is_there) DOLIUM_TRY_VOID(output.Add(*left.block()));
    DOLIUM_TRY_VOID(left.Advance());
  }
  return {};
}

Result<void> CheckKeys(std::span<const ShardView> shards, const Hash& key) {
  for (const ShardView& shard : shards) {
    if (shard.key() != key) {
      return InvalidArgument("shards have different keys: their chunks do not compare");
    }
  }
  return {};
}

}  // namespace

Result<size_t> UniteShards(std::span<const ShardView> shards,
                           const ShardSetOptions& options, const NextSink& next) {
  const Hash key = shards.empty() ? Hash() : shards.front().key();
  DOLIUM_TRY_VOID(CheckKeys(shards, key));
  Output output(options, key, next);
  DOLIUM_TRY_VOID(Unite<FileBlock>(shards, output));
  DOLIUM_TRY_VOID(Unite<XorbBlock>(shards, output));
  return output.Finish();
}

Result<size_t> SubtractShards(const ShardView& shard, std::span<const ShardView> without,
                              const ShardSetOptions& options, const NextSink& next) {
  DOLIUM_TRY_VOID(CheckKeys(without, shard.key()));
  Output output(options, shard.key(), next);
  DOLIUM_TRY_VOID(Subtract<FileBlock>(shard, without, output));
  DOLIUM_TRY_VOID(Subtract<XorbBlock>(shard, without, output));
  return output.Finish();
}

}  // namespace dolium::xet
