// A shard of arbitrary bytes under an arbitrary spec: listing, checking, finding and
// changing it must not crash, and must not allocate what the bytes cannot hold.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/read_entry.h"
#include "dolium/formats/neuroglancer/sharded_container.h"

using dolium::BytesView;
using dolium::Entry;
using dolium::Finding;
using namespace dolium::neuroglancer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 4;
  if (size < kHeader) return 0;
  const uint8_t flags = data[0];
  ShardingInfo info;
  info.spec.hash = (flags & 1) != 0 ? ShardHash::kMurmur3 : ShardHash::kIdentity;
  info.spec.minishard_index_encoding =
      (flags & 2) != 0 ? Encoding::kGzip : Encoding::kRaw;
  info.spec.data_encoding = (flags & 4) != 0 ? Encoding::kGzip : Encoding::kRaw;
  info.kind = (flags & 8) != 0 ? Kind::kMesh : Kind::kSkeletons;
  info.spec.minishard_bits = data[1] % 33;
  info.spec.preshift_bits = data[2] % 65;
  if (info.spec.minishard_bits > 16 && data[3] % 16 != 0) info.spec.minishard_bits = 16;

  auto store = std::make_shared<dolium::MemoryStore>("fuzz");
  const BytesView shard = std::as_bytes(std::span(data + kHeader, size - kHeader));
  if (!store->Put("set/0.shard", shard, dolium::Precondition::None())) return 0;
  const dolium::Location folder{store, "set"};
  ShardedContainer container(folder, folder, info, std::nullopt, 1 << 20);

  uint64_t entries = 0;
  std::string some_key = "0";
  auto scanned = container.ScanObject(
      "set/0.shard", {.entry =
                          [&](const Entry& entry) {
                            some_key = entry.key;
                            const auto read =
                                ReadEntry(*store, entry, {.decoded = 1 << 20});
                            static_cast<void>(read.has_value());
                            return ++entries < 1000;
                          },
                      .damage = [](const Finding&) { return true; }});
  static_cast<void>(scanned.has_value());
  auto checked = container.CheckObject("set/0.shard", [](const Finding&) {});
  static_cast<void>(checked.has_value());
  const auto found = container.Find(some_key);
  static_cast<void>(found.has_value());
  if (info.spec.minishard_bits <= 10) {
    const auto applied = container.Apply(std::vector<dolium::Change>{
        {some_key, dolium::Bytes::Copy(dolium::AsBytes("x")), {}}});
    static_cast<void>(applied.has_value());
  }
  return 0;
}
