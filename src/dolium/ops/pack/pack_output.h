// PackOutput: what the shards of a new set are called, and where they go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/shard_names.h"

namespace dolium::dataset {

// Immutable. Const methods may be called from many threads.
class PackOutput {
 public:
  // Numbered: shards are named as ShardNamer does it. Else there is one, which has the
  // name `output` itself.
  static Result<PackOutput> Make(const std::string& output, bool is_numbered);

  bool is_numbered() const { return namer_.has_value(); }
  // Precondition: number is 0 unless numbered.
  Location At(uint64_t number) const;
  // The last part of its path.
  std::string NameOf(uint64_t number) const;

  // kExists if shard `number` is there.
  Result<void> CheckFree(uint64_t number) const;

  // The shard of that number, if there is one: left from an earlier, larger set, it would
  // be taken for a part of a set of `count` shards.
  Result<std::optional<std::string>> Leftover(uint64_t count) const;

 private:
  PackOutput(std::string output, std::optional<ShardNamer> namer)
      : output_(std::move(output)), namer_(std::move(namer)) {}

  std::string output_;
  std::optional<ShardNamer> namer_;
};

}  // namespace dolium::dataset
