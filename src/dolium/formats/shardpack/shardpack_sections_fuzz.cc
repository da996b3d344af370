// The sections of a tail, of arbitrary bytes for an arbitrary number of records.
#include <cstddef>
#include <cstdint>

#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/key_index.h"
#include "dolium/formats/shardpack/sections.h"

using namespace dolium;
using namespace dolium::shardpack;

// Which section, the number of records (4 bytes), then the body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 5;
  if (size < kHeader) return 0;
  const uint64_t count = LoadLE<uint32_t>(reinterpret_cast<const std::byte*>(data + 1));
  const Bytes body =
      Bytes::Copy(std::as_bytes(std::span(data + kHeader, size - kHeader)));
  switch (data[0] % 5) {
    case 0: {
      const auto stat = ParseStat(body);
      if (stat && ParseStat(WriteStat(*stat)).value() != *stat) __builtin_trap();
      break;
    }
    case 1: {
      uint64_t visited = 0;
      const auto keys = VisitKeys(body, count, [&](uint64_t, auto) { ++visited; });
      if (keys && visited != count) __builtin_trap();
      break;
    }
    case 2: {
      const auto index = EntryIndex::Parse(body, count);
      if (!index) break;
      for (uint64_t i = 0; i < count && i < 1000; ++i) {
        for (const EntryLocation& place : index->EntriesOf(i)) {
          if (place.column >= index->columns().size()) __builtin_trap();
        }
      }
      break;
    }
    case 3: {
      const auto places = ParseDictionaryLocations(body);
      if (places &&
          !Equal(WriteDictionaryLocations(*places).size() == body.size() ? body.view()
                                                                         : BytesView(),
                 body)) {
        __builtin_trap();
      }
      break;
    }
    default: {
      const auto index = KeyIndex::FromBody(body, count);
      if (!index) break;
      for (uint64_t i = 0; i < count && i < 50; ++i) {
        const auto hash = LoadLE<uint64_t>(body.data() + 16 + 8 * i);
        const auto found = index->Candidates(hash);
        if (!found) continue;
        for (const uint64_t record : *found) {
          if (record >= count) __builtin_trap();
        }
      }
    }
  }
  return 0;
}
