// Small shards for tests, and the files of testdata/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/bytes/memory_store.h"
#include "dolium/container/container.h"
#include "dolium/formats/shardpack/pack_writer.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/sample.h"
#include "dolium/formats/shardpack/stream_reader.h"

namespace dolium::shardpack {

// testdata/<path>, as it is; and what an expected.json says, by file.
std::string TestFile(const std::string& path);
std::map<std::string, nlohmann::json> TestJson(const std::string& path);

std::string ToHex(BytesView bytes);
// In hexadecimal digits.
std::string Sha256(BytesView bytes);

// A store of its own with one object.
Location InMemory(std::string_view bytes, const std::string& name = "a.shardpack");
// Empty if there is no such object.
std::string BytesAt(const Location& location);

Bytes Text(std::string_view text);
// Files of 0 to some 3,000 bytes that compress more or less, metadata of all kinds; the
// same for the same seed.
Sample RandomSample(uint64_t seed);
std::vector<Sample> RandomSamples(uint64_t seed, size_t count);
// EXPECTs that both hold the same: key, metadata, files.
void ExpectEqual(const Sample& found, const Sample& expected);

// The blocks of these samples, one after another; and a whole shard.
std::string Blocks(const std::vector<Sample>& samples, const EncodeOptions& options = {});
std::string MakeShard(const std::vector<Sample>& samples,
                      const ShardWriterOptions& options = {});
// Every shard that a PackWriter makes of them.
std::vector<std::string> Pack(const std::vector<Sample>& samples, PackOptions options,
                              PackSummary* summary = nullptr);

// All samples of a shard, by number.
std::vector<Sample> ReadSamples(const Location& location);

// What VerifyShard reports: "error record", "warning padding", in order of the alphabet,
// each once.
std::vector<std::string> Verdicts(const Location& location, bool contents = true);

// The kind of an error; "ok" if there is none, "?" if it has no kind.
template <typename T>
std::string KindOf(const Result<T>& result) {
  if (result) return "ok";
  return result.error().kind.empty() ? "?" : std::string(result.error().kind);
}

// Bytes that come a few at a time; they must outlive it.
std::unique_ptr<ByteInput> TestInput(std::string_view bytes);

// What a StreamReader makes of bytes.
struct Streamed {
  std::vector<Record> records;
  uint64_t count = 0;         // records met, also those that were not understood
  std::string verdict;        // "complete", or a kind
  std::vector<Error> errors;  // of records that were passed over
};
Streamed Stream(std::string_view bytes);

}  // namespace dolium::shardpack
