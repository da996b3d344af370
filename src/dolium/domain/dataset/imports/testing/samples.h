// Samples in tests: made from text, gathered from sources, described as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/bytes.h"
#include "dolium/bytes/store.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

inline shardpack::File MakeFile(std::string name, std::string_view data) {
  std::string type(ContentTypeOfName(name));
  return {.name = std::move(name),
          .content_type = std::move(type),
          .data = Bytes::Copy(AsBytes(data))};
}

inline shardpack::Sample MakeSample(
    std::string key, const std::vector<std::pair<std::string, std::string>>& files) {
  shardpack::Sample sample{.key = std::move(key)};
  for (const auto& [name, data] : files) sample.files.push_back(MakeFile(name, data));
  return sample;
}

// Throws at an error.
inline std::vector<shardpack::Sample> ReadAll(SampleSource& source) {
  std::vector<shardpack::Sample> out;
  while (auto sample = Must(source.Next())) out.push_back(*std::move(sample));
  return out;
}

inline void WriteAll(SampleSink& sink, const std::vector<shardpack::Sample>& samples) {
  for (const shardpack::Sample& sample : samples) Must(sink.Put(sample));
  Must(sink.Finish());
}

// "key: name=data name=data".
inline std::string Described(const shardpack::Sample& sample) {
  std::string out = sample.key + ":";
  for (const shardpack::File& file : sample.files) {
    out += fmt::format(" {}={}", file.name, AsText(file.data));
  }
  return out;
}

inline std::vector<std::string> Described(const std::vector<shardpack::Sample>& samples) {
  std::vector<std::string> out;
  for (const shardpack::Sample& sample : samples) out.push_back(Described(sample));
  return out;
}

// The message of the first error, with the code's name before it; "" if all is well.
inline std::string FirstError(SampleSource& source) {
  while (true) {
    const auto sample = source.Next();
    if (!sample) {
      return fmt::format("{}: {}", ErrorCodeName(sample.error().code),
                         sample.error().message);
    }
    if (!*sample) return "";
  }
}
template <typename T>
std::string ErrorOf(const Result<T>& result) {
  if (result) return "";
  return fmt::format("{}: {}", ErrorCodeName(result.error().code),
                     result.error().message);
}

inline void WriteFile(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace dolium::dataset
