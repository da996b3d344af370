// The end of a shard: footer, index, directory. What opens can be asked anything.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/shard.h"

using namespace dolium;

namespace {

// Checksums of the tail made right, so that what they guard is reached.
void Seal(ByteVector& bytes) {
  if (bytes.size() < shardpack::kFooterBytes) return;
  std::byte* footer = bytes.data() + bytes.size() - shardpack::kFooterBytes;
  const auto index_offset = LoadLE<uint64_t>(footer);
  const auto count = LoadLE<uint64_t>(footer + 8);
  const auto directory = LoadLE<uint32_t>(footer + 24);
  const uint64_t before = bytes.size() - shardpack::kFooterBytes;
  StoreLE(footer + 16, uint64_t{bytes.size()});
  if (index_offset <= before && count < (before - index_offset) / 8) {
    StoreLE(footer + 28, Crc32c(BytesView(bytes).subspan(index_offset, 8 * (count + 1))));
  }
  if (directory <= before) {
    StoreLE(footer + 32, Crc32c(BytesView(bytes).subspan(before - directory, directory)));
  }
  StoreLE(footer + 52, Crc32c(BytesView(footer, 52)));
}

void Use(const shardpack::Shard& shard) {
  for (const auto tag : {"META", "STAT", "KEYX", "KEYS", "ENTX", "ZDIC"}) {
    static_cast<void>(shard.ReadSection(tag).has_value());
  }
  static_cast<void>(shard.metadata().has_value());
  static_cast<void>(shard.Find("images17/image194").has_value());
  for (uint64_t i = 0; i < shard.size() && i < 100; ++i) {
    if (shard.NumberAt(shard.offset(i)) != i) __builtin_trap();
    static_cast<void>(shard.Read(i).has_value());
  }
  static_cast<void>(shard.content_options().has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const BytesView input = std::as_bytes(std::span(data + 1, size - 1));
  ByteVector bytes(input.begin(), input.end());
  if ((data[0] & 1) != 0) Seal(bytes);
  auto store = std::make_shared<MemoryStore>("fuzz");
  if (!store->Put("a", bytes, Precondition::None())) return 0;
  for (const uint64_t tail : {uint64_t{64}, uint64_t{1} << 20}) {
    const auto shard = shardpack::Shard::Open({store, "a"}, {.tail_bytes = tail});
    if (shard) Use(**shard);
  }
  return 0;
}
