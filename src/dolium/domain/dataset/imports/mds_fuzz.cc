// An MDS data set of arbitrary bytes: the first of them up to a NUL are the index, the
// rest every shard of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dolium/domain/dataset/imports/mds_shard.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dolium;
  using namespace dolium::dataset;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view index = all.substr(0, all.find('\0'));
  const auto shards = ParseMdsIndex(index);
  if (!shards) return 0;
  const std::string_view rest = all.substr(std::min(index.size() + 1, all.size()));
  for (const MdsShardInfo& info : *shards) {
    const auto shard = MdsShard::Open(Bytes::Copy(AsBytes(rest)), info);
    if (!shard) continue;
    for (uint32_t i = 0; i < shard->size(); ++i) {
      const auto values = shard->Read(i);
      if (!values) continue;
      if (values->size() != info.columns.size()) std::abort();
      // What was read is written as it was.
      const ByteVector encoded = EncodeMdsSample(info.columns, *values);
      size_t total = 0;
      for (size_t c = 0; c < values->size(); ++c) {
        total += (*values)[c].size() + (info.columns[c].size ? 0 : 4);
        static_cast<void>(MdsFileOf(info.columns[c], (*values)[c]));
      }
      if (encoded.size() != total) std::abort();
    }
  }
  return 0;
}
