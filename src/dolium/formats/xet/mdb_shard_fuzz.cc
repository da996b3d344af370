// A shard of arbitrary bytes: reading it as a stream and by its footer must not crash,
// and must give the same; searching, checking and joining it must not crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_lookup.h"
#include "dolium/formats/xet/mdb_sets.h"

using namespace dolium;
using namespace dolium::xet;

namespace {

// A digest of what a visitor gets.
struct Digest {
  KeyedHasher hasher{kDataKey};
  ShardVisitor visitor() {
    const auto see = [this](const auto& block) -> Result<void> {
      hasher.Update(block.bytes());
      return {};
    };
    return {.file = see, .xorb = see};
  }
};

std::optional<Hash> ByStream(BytesView shard, size_t segment) {
  Digest digest;
  ShardStream stream(digest.visitor());
  for (size_t at = 0; at < shard.size(); at += segment) {
    if (!stream.Write(shard.subspan(at, std::min(segment, shard.size() - at)))) return {};
  }
  if (!stream.Finish()) return {};
  return digest.hasher.Finish();
}

std::optional<Hash> ByFooter(BytesView shard) {
  Digest digest;
  const auto view = ShardView::Open(shard);
  if (!view || !view->Scan(digest.visitor())) return {};
  return digest.hasher.Finish();
}

void Search(const ShardView& view) {
  const auto see_file = [&](const FileBlock& file) -> Result<void> {
    static_cast<void>(FindFile(view, file.hash()).has_value());
    for (size_t i = 0; i < file.size() && i < 8; ++i) {
      static_cast<void>(FindXorb(view, file.term(i).xorb).has_value());
    }
    static_cast<void>(file.sha256());
    return {};
  };
  const auto see_xorb = [&](const XorbBlock& xorb) -> Result<void> {
    static_cast<void>(FindXorb(view, xorb.hash()).has_value());
    for (size_t i = 0; i < xorb.size() && i < 8; ++i) {
      const Hash hash = xorb.chunk_hash(i);
      static_cast<void>(FindRun(view, std::span(&hash, 1), 0).has_value());
    }
    return {};
  };
  static_cast<void>(view.Scan({.file = see_file, .xorb = see_xorb}).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView shard = std::as_bytes(std::span(data, size));
  const auto by_footer = ByFooter(shard);
  if (ByStream(shard, 4096) != by_footer || ByStream(shard, 61) != by_footer)
    std::abort();
  const auto view = ShardView::Open(shard);
  if (!view) return 0;
  Search(*view);
  static_cast<void>(CheckShard(*view).has_value());

  ByteVector out;
  const NextSink next = [&]() -> Result<ByteSink> {
    out.clear();
    return [&](BytesView bytes) -> Result<void> {
      Append(out, bytes);
      return {};
    };
  };
  const std::vector<ShardView> twice = {*view, *view};
  if (UniteShards(twice, {.shard_limit = ~uint64_t{0}}, next)) {
    const auto united = ShardView::Open(out);
    if (!united || !united->Scan({})) std::abort();
  }
  static_cast<void>(SubtractShards(*view, twice, {}, next).has_value());
  return 0;
}
