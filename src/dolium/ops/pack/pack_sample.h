// What is to be said of a sample: its key, where it lies, its files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/loaded_sample.h"

namespace dolium::dataset {

struct FileFacts {
  std::string name;
  std::string content_type;  // empty: not known
  uint64_t size = 0;         // decoded
  uint64_t stored_size = 0;
  std::string compression;  // none, gzip, lz4, zstd, or the number of another codec
  bool is_chunked = false;
};

struct SampleFacts {
  uint64_t number = 0;  // in its set
  std::string key;
  std::string shard;
  uint64_t record = 0;  // in the shard
  uint64_t offset = 0;  // of the record
  bool is_tombstone = false;
  std::vector<FileFacts> files;

  uint64_t size() const;
  uint64_t stored_size() const;
};

// Reads nothing.
SampleFacts FactsOf(uint64_t number, const LoadedSample& sample);

nlohmann::ordered_json ToJson(const FileFacts& file);
nlohmann::ordered_json ToJson(const SampleFacts& sample);

// The name of a codec: none, gzip, lz4, zstd; "codec 200" for others.
std::string CodecName(uint8_t codec);

}  // namespace dolium::dataset
