// Arbitrary bytes as a stream, as a shard to verify, and as one to repair.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dolium/bytes/memory_store.h"
#include "dolium/formats/shardpack/repair.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/verify.h"

using namespace dolium;
using namespace dolium::shardpack;

namespace {

// Whether the stream proved complete.
bool IsComplete(const Location& location) {
  auto input = ObjectInput(location);
  if (!input) return false;
  StreamReader reader(*std::move(input), {.record_limit = 1 << 20, .raw_limit = 1 << 20});
  while (true) {
    const auto record = reader.Next();
    if (record && !*record) return true;
    if (!record && reader.is_done()) return false;
    if (!record) continue;
    for (const EntryHeader& entry : (*record)->entries()) {
      static_cast<void>((*record)->Content(entry, reader.content_options()).has_value());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto store = std::make_shared<MemoryStore>("fuzz");
  const Location source{store, "a"};
  const Location target{store, "b"};
  const BytesView bytes = std::as_bytes(std::span(data, size));
  if (!store->Put(source.path, bytes, Precondition::None())) return 0;
  const bool is_complete = IsComplete(source);
  // What is complete front to back can be opened, unless its sections forbid it.
  const auto opened = Shard::Open(source);
  if (is_complete && !opened && opened.error().kind != "section" &&
      opened.error().kind != "unsupported-feature" &&
      opened.error().kind != "unsupported-codec" && opened.error().kind != "limit") {
    __builtin_trap();
  }
  const auto verified =
      VerifyShard(source, {.raw_limit = 1 << 20, .ratio_limit = 100, .jobs = 1},
                  [](const Finding&) {});
  static_cast<void>(verified.has_value());
  const auto repaired = RepairShard(source, target, {}, [](const Finding&) {});
  if (!repaired) return 0;
  // What was repaired is whole.
  const auto shard = Shard::Open(target);
  if (!shard || (*shard)->size() != repaired->written.records) __builtin_trap();
  for (uint64_t i = 0; i < (*shard)->size(); ++i) {
    if (!(*shard)->Read(i)) __builtin_trap();
  }
  if (!IsComplete(target)) __builtin_trap();
  return 0;
}
