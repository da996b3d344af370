// A whole shard: messages, schema, batches, footers. What opens can be asked anything.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dolium/bytes/memory_store.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/shard.h"

using namespace dolium;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto store = std::make_shared<MemoryStore>("fuzz");
  const BytesView input = std::as_bytes(std::span(data, size));
  if (!store->Put("0_0_0.arrow", input, Precondition::None())) return 0;
  for (const bool salvage : {false, true}) {
    const auto shard = dvid::Shard::Open({store, "0_0_0.arrow"}, {.salvage = salvage});
    if (!shard) continue;
    static_cast<void>((*shard)->Check([](const Finding&) {}).has_value());
    for (size_t i = 0; i < (*shard)->size() && i < 16; ++i) {
      if ((*shard)->Find((*shard)->key(i)) != i) __builtin_trap();
      const auto row = (*shard)->Read(i);
      if (row) static_cast<void>(DecodeRow(*row, dvid::LabelKind::kLabels).has_value());
    }
  }
  return 0;
}
