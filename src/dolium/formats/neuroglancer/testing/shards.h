// Small sets of shards for tests, and shards made by hand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/container.h"
#include "dolium/formats/neuroglancer/shard_reader.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {

using Chunks = std::map<uint64_t, std::string>;

// Bytes from hexadecimal digits.
ByteVector FromHex(std::string_view digits);
std::string ToHex(BytesView bytes);

// A folder named `set` in a store of its own.
struct TestFolder {
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>("test");
  Location location{store, "set"};

  void Put(std::string_view name, BytesView bytes);
  // Empty if there is no such object.
  std::string Get(std::string_view name) const;
  std::vector<std::string> Names() const;
};

// Writes chunks; EXPECTs that it works.
void WriteChunks(const Location& folder, const ShardingSpec& spec, const Chunks& chunks,
                 const WriterOptions& options = {});

// Everything that a reader finds for `ids`; EXPECTs that it works. Absent ones are left
// out.
Chunks ReadChunks(const ShardReader& reader, const std::vector<uint64_t>& ids);

// Values of 0 to 3,000 bytes under ids of every magnitude, the same for the same seed.
Chunks RandomChunks(uint64_t seed, size_t count);
ShardingSpec RandomSpec(uint64_t seed);

std::vector<uint64_t> IdsOf(const Chunks& chunks);

// All findings of a container's index checks.
std::vector<Finding> CheckAll(const Container& container);

}  // namespace dolium::neuroglancer
