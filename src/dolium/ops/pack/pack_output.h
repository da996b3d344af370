// PackOutput: where the shards of a new set go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/shard_names.h"

namespace dolium::dataset {

// Immutable. Const methods may be called from many threads.
class PackOutput {
 public:
  // Numbered: shards are named as ShardNamer does it. Else there is one, which has the
  // name `output` itself. kExists if one of the first two is there, unless `force`.
  static Result<PackOutput> Make(const std::string& output, bool is_numbered, bool force);

  bool is_numbered() const { return namer_.has_value(); }
  // Precondition: number is 0 unless numbered.
  Location At(uint64_t number) const;

  // The shard of that number, if there is one: left from an earlier, larger set, it would
  // be taken for a part of a set of `count` shards.
  Result<std::optional<std::string>> Leftover(uint64_t count) const;

  // Removes a shard of a set that could not be completed.
  void Withdraw(uint64_t number) const;

 private:
  PackOutput(std::string output, std::optional<ShardNamer> namer)
      : output_(std::move(output)), namer_(std::move(namer)) {}

  std::string output_;
  std::optional<ShardNamer> namer_;
};

}  // namespace dolium::dataset
