// Arbitrary text with braces, as a pattern, and as the name of an output.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dolium/base/testing/require.h"
#include "dolium/domain/dataset/glob.h"
#include "dolium/domain/dataset/shard_names.h"

namespace {

using dolium::Require;
using namespace dolium::dataset;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto names = ExpandBraces(text)) {
    Require(!names->empty() && names->size() <= kMaxExpandedNames);
    uint64_t bytes = 0;
    for (const auto& name : *names) bytes += name.size();
    Require(bytes <= kMaxExpandedBytes);
    if (text.find_first_of("{}\\") == std::string_view::npos) {
      Require(names->size() == 1 && names->front() == text);
    }
  }
  if (const auto namer = ShardNamer::Make(text)) {
    const auto name = namer->Name(0);
    Require(name.ends_with(".shardpack"));
    // What it names first, it counts on from.
    const auto again = ShardNamer::Make(name);
    Require(again && again->Name(0) == name && again->Name(7) == namer->Name(7));
  }
  const size_t middle = size / 2;
  const std::string_view pattern = text.substr(0, middle);
  const std::string_view name = text.substr(middle);
  const bool matches = GlobMatches(pattern, name);
  if (pattern.find_first_of("*?[\\") == std::string_view::npos) {
    Require(matches == (pattern == name));
  }
  return 0;
}
