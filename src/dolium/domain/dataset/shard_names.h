// The names of shards: brace notation to read many, numbers to write many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::dataset {

inline constexpr uint64_t kMaxExpandedNames = 1'000'000;
inline constexpr uint64_t kMaxExpandedBytes = uint64_t{256} << 20;

// Expands braces as shells do, leftmost slowest:
//
//   {000000..000973}   numbers; padded with zeros if one of the two ends is
//   {0..10..2}         every second; {10..0} counts down; ends may be negative
//   {a..e}             letters
//   {train,val}        alternatives; may be empty, and hold braces in turn
//
// A backslash takes the meaning from the `{`, `}` or `,` behind it; before anything else
// it stays. A text without braces gives itself. kInvalidArgument if braces do not match,
// hold neither a list nor a range, or stand for more than the limits above.
Result<std::vector<std::string>> ExpandBraces(std::string_view text);

// Names the shards that a writer makes: `PREFIX-NNNNNN.shardpack`.
//
//   train-000000.shardpack   train-000000, train-000001, ...
//   train-017                train-017.shardpack, train-018.shardpack, ...
//   train                    train-000000.shardpack, ...
class ShardNamer {
 public:
  // `output` is a path or URL; the digits that end its stem are the first number and say
  // how wide numbers are. Without digits, `-000000` is added, and `.shardpack` if it is
  // missing. kInvalidArgument if there is no file name.
  static Result<ShardNamer> Make(std::string_view output);

  // The name of the `index`-th shard. Numbers that outgrow their width get longer.
  std::string Name(uint64_t index) const;

 private:
  ShardNamer(std::string prefix, uint64_t start, size_t width)
      : prefix_(std::move(prefix)), start_(start), width_(width) {}

  std::string prefix_;
  uint64_t start_;
  size_t width_;
};

}  // namespace dolium::dataset
