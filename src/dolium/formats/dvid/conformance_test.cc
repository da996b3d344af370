// Exports pass the suite of all formats that are read.
#include "dolium/container/testing/conformance.h"

#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/shard_writer.h"

namespace dolium::dvid {
namespace {

constexpr int32_t kShardBlocks = 4;

// Entries are bytes to the container; that they are label blocks is a matter of
// CheckValue().
void WriteEntries(const Location& location, const TestSet& set, size_t rows_per_batch) {
  std::map<Key, std::map<Key, const ByteVector*>> shards;
  for (const auto& [name, value] : set) {
    const Key key = *ParseKey(name.substr(name.find('/') + 1));
    Key corner = {0, 0, 0};
    for (size_t d = 0; d < 3; ++d) {
      corner[d] = key[d] / kShardBlocks * kShardBlocks * int32_t{kBlockSide};
    }
    shards[corner][key] = &value.value;
  }
  for (const auto& [corner, blocks] : shards) {
    const auto writer = Must(
        DvidShardWriter::Begin(location.Child("s0").Child(ToString(corner) + ".arrow"),
                               {.rows_per_batch = rows_per_batch}));
    for (const auto& [key, value] : blocks) {
      const ByteVector stored = ZstdEncodeChecked(*value);
      Must(writer->Add({.block = key,
                        .labels = LabelList(BytesView()),
                        .supervoxels = LabelList(BytesView()),
                        .stored = stored,
                        .uncompressed_size = static_cast<uint32_t>(value->size())}));
    }
    Must(writer->Finish());
  }
}

FormatCase ExportCase(std::string name, std::function<Location()> new_location,
                      size_t rows_per_batch) {
  FormatCase made = MakeFormatCase(std::move(name), kFormat, std::move(new_location));
  made.key = [](uint64_t i) {
    const auto at = static_cast<int32_t>(i);
    return "s0/" + ToString({at % 6, at / 6 % 6, at / 36});
  };
  made.write = [rows_per_batch](const Location& location, const TestSet& set) {
    WriteEntries(location, set, rows_per_batch);
  };
  made.bad_key = "s0/1_2";
  return made;
}

INSTANTIATE_TEST_SUITE_P(Dvid, ReadSuite,
                         testing::Values(ExportCase("OneRow", NewMemoryLocation, 1),
                                         ExportCase("Rows", NewMemoryLocation, 7),
                                         ExportCase("InFiles", NewFileLocation, 1),
                                         ExportCase("InObjects", NewObjectStoreLocation,
                                                    7)),
                         FormatCaseName);

}  // namespace
}  // namespace dolium::dvid
