// SampleSet: samples by number and by key, wherever they are: the shards of one set, sets
// joined as columns, sets laid over another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/loaded_sample.h"
#include "dolium/domain/dataset/sample_order.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::dataset {

// A record where it lies in a mapped shard. Good for as long as its set.
struct MappedRecord {
  const shardpack::Shard* shard = nullptr;
  uint64_t number = 0;
  BytesView block = {};
};

// Immutable. Const methods may be called from many threads.
class SampleSet {
 public:
  virtual ~SampleSet() = default;

  virtual uint64_t size() const = 0;

  // Precondition of all that take a number: number < size().
  virtual Result<LoadedSample> Read(uint64_t number) const = 0;
  // Each has its own result. By default one after another.
  virtual std::vector<Result<LoadedSample>> ReadMany(
      std::span<const uint64_t> numbers) const;

  // The same for files of these names alone: others may be missing in the samples, which
  // spares reading them. By default all of them.
  virtual std::vector<Result<LoadedSample>> ReadManyOf(
      std::span<const uint64_t> numbers, std::span<const std::string> names) const;

  // Where the sample lies, if it is one record of a mapped shard; else nullopt. Reads
  // nothing of it.
  virtual Result<std::optional<MappedRecord>> Locate(uint64_t number) const;

  // The first sample with that key; nullopt if there is none.
  virtual Result<std::optional<uint64_t>> Find(std::string_view key) const = 0;

  // Calls visit(number, key) in order, until it returns false.
  virtual Result<void> VisitKeys(
      const std::function<bool(uint64_t, std::string_view)>& visit) const = 0;

  // Samples that lie together, for orders that keep neighbours together.
  virtual std::vector<ShardExtent> extents() const = 0;

  // The shards of the set itself, or of the first of those it is made of.
  virtual size_t shard_count() const = 0;
  virtual Result<std::shared_ptr<const shardpack::Shard>> shard(size_t index) const = 0;

  // Whether the samples are those of the shards, all of them and in their order.
  virtual bool is_whole() const = 0;

  // Whether reading is a look into mapped files, and never a wait for others.
  virtual bool is_mapped() const = 0;
};

struct SetOptions {
  shardpack::ShardOptions shard = {};
  size_t jobs = 0;  // threads that open shards; 0: a few
};

// The shards that `references` name (see set_reference.h), one after another. Their ends
// are read at once, in parallel; those that a catalog lists, when first needed.
Result<std::shared_ptr<const SampleSet>> OpenSampleSet(
    std::span<const std::string> references, const SetOptions& options = {});

// What to do with a sample that another column does not have.
enum class Nonmatch : uint8_t { kError, kSkip, kNone };

struct ColumnOptions {
  Nonmatch nonmatch = Nonmatch::kError;
  bool by_key = false;  // do not even try by position
};

// Several sets as columns of one. Sets whose shards have equal digests of their keys, one
// by one, are joined by position, which costs nothing; others by key, sample by sample.
// kSkip looks at all keys first. The numbers are those of the first set.
Result<std::shared_ptr<const SampleSet>> JoinColumns(
    std::vector<std::shared_ptr<const SampleSet>> sets,
    const ColumnOptions& options = {});

// `base` with what `layers` change: files of the same name are replaced, other files and
// keys added (new keys at the end), tombstones removed. Later layers win. Layers are
// small: their keys are held in memory.
Result<std::shared_ptr<const SampleSet>> Overlay(
    std::shared_ptr<const SampleSet> base,
    std::vector<std::shared_ptr<const SampleSet>> layers);

}  // namespace dolium::dataset
