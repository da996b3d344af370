// Files of shards, and chunks of a xorb, pass the suite of all formats that are read.
#include "dolium/container/testing/conformance.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/format.h"
#include "dolium/formats/xet/testing/made_store.h"

namespace dolium::xet {
namespace {

constexpr size_t kFilesOfAShard = 50;

// Shards in one folder, their xorbs in the folder beside it.
void WriteShards(const Location& shards, const TestSet& set, XorbWriter::Footer footer) {
  auto made = std::make_unique<MadeStore>(footer);
  for (const auto& [key, value] : set) {
    EXPECT_EQ(made->Add(value.value), key);
    if (made->contents().size() == kFilesOfAShard) {
      made->Put(shards.Parent());
      made = std::make_unique<MadeStore>(footer);
    }
  }
  made->Put(shards.Parent());
}

FormatCase ShardCase(std::string name, const std::function<Location()>& new_location,
                     XorbWriter::Footer footer) {
  FormatCase made = MakeFormatCase(std::move(name), kFormat, [new_location] {
    return new_location().Child("shards");
  });
  made.key = [](uint64_t i) { return fmt::format("{:064x}", i); };
  made.key_of_value = [](BytesView value) {
    return ToString(FileHash(ChunkAndHash(value).value()));
  };
  made.write = [footer](const Location& location, const TestSet& set) {
    WriteShards(location, set, footer);
  };
  made.bad_key = "seven";
  return made;
}

void WriteXorb(const Location& location, const TestSet& set, XorbWriter::Footer footer) {
  std::map<uint64_t, const ByteVector*> chunks;
  for (const auto& [key, value] : set) chunks[std::stoull(key)] = &value.value;
  XorbWriter writer;
  ChunkCompressor compressor;
  for (const auto& [number, chunk] : chunks) {
    ASSERT_TRUE(writer.HasRoom(chunk->size()));
    writer.Add(ChunkHash(*chunk), chunk->size(),
               compressor.Encode(*chunk, ChooseScheme(*chunk)));
  }
  Must(location.store->Put(location.path, writer.Finish(footer).object,
                           Precondition::None()));
}

FormatCase XorbCase(std::string name, const std::function<Location()>& new_location,
                    XorbWriter::Footer footer) {
  FormatCase made = MakeFormatCase(std::move(name), kFormat, new_location);
  made.key = [](uint64_t i) { return std::to_string(i); };
  made.write = [footer](const Location& location, const TestSet& set) {
    WriteXorb(location, set, footer);
  };
  made.bad_key = "1st";
  made.smallest_value = 1;
  return made;
}

constexpr auto kFooter = XorbWriter::Footer::kVersion1;
constexpr auto kNoFooter = XorbWriter::Footer::kNone;

INSTANTIATE_TEST_SUITE_P(
    Xet, ReadSuite,
    testing::Values(ShardCase("ShardsInMemory", NewMemoryLocation, kFooter),
                    ShardCase("ShardsWithoutFooters", NewMemoryLocation, kNoFooter),
                    ShardCase("ShardsInFiles", NewFileLocation, kFooter),
                    ShardCase("ShardsInObjects", NewObjectStoreLocation, kFooter),
                    XorbCase("XorbInFiles", NewFileLocation, kFooter)),
    FormatCaseName);

}  // namespace
}  // namespace dolium::xet
