#include "dolium/domain/dataset/imports/jsonl.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/put_checks.h"
#include "dolium/domain/dataset/imports/running_key.h"
#include "dolium/domain/dataset/imports/sample_json.h"
#include "dolium/domain/dataset/imports/source_files.h"
#include "dolium/domain/dataset/imports/text_values.h"

namespace dolium::dataset {
namespace {

using nlohmann::json;
using shardpack::MetadataFormat;
using shardpack::Sample;

constexpr std::string_view kName = "json";
constexpr std::string_view kType = "application/json";
// The first that is there counts.
constexpr const char* kKeyMembers[] = {"__key__", "key", "id"};

// nullopt if the value has no key in it.
std::optional<std::string> OwnKey(const json& value) {
  if (!value.is_object()) return std::nullopt;
  for (const char* member : kKeyMembers) {
    const auto found = value.find(member);
    if (found == value.end()) continue;
    if (found->is_string() && !found->get_ref<const std::string&>().empty()) {
      return found->get<std::string>();
    }
    if (found->is_number()) return found->dump();
  }
  return std::nullopt;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

class JsonLinesSource final : public SampleSource {
 public:
  JsonLinesSource(SourceFiles files, const ImportOptions& options)
      : files_(std::move(files)), options_(options) {}

  Result<std::string> Bind() override { return files_.Bind(); }

  bool can_go_on() const override { return can_go_on_; }

  Result<std::optional<Sample>> Next() override {
    can_go_on_ = false;
    while (true) {
      if (!stream_) {
        DOLIUM_TRY(stream_, files_.Next());
        if (!stream_) return std::nullopt;
        line_ = 0;
      }
      DOLIUM_TRY(const auto line, stream_->ReadLine(options_.max_file_bytes));
      if (!line) {
        bytes_before_ += stream_->consumed();
        stream_ = nullptr;
        continue;
      }
      ++line_;
      if (IsBlank(AsText(*line))) continue;
      auto sample = MakeSample(*line);
      ++samples_;  // A bad one has its number, too.
      if (!sample) {
        can_go_on_ = true;
        return std::move(sample).error().Within(
            fmt::format("{}: line {}", stream_->name(), line_));
      }
      return *std::move(sample);
    }
  }

  Progress progress() const override {
    return {.entries = samples_,
            .bytes = bytes_before_ + (stream_ ? stream_->consumed() : 0),
            .total_bytes = files_.total_bytes()};
  }

 private:
  Result<Sample> MakeSample(Bytes line) const {
    if (AsText(line).ends_with('\r')) line = line.Slice(0, line.size() - 1);
    auto value = ParseJson(AsText(line));
    if (!value) return Corrupt(value.error().message);
    if (options_.jsonl_files && IsSampleJson(*value)) return ParseSampleJson(*value);
    Sample sample;
    auto key = OwnKey(*value);
    sample.key = key ? *std::move(key) : RunningKey(options_.key_prefix, samples_);
    sample.files.push_back({.name = std::string(kName),
                            .content_type = std::string(kType),
                            .data = std::move(line)});
    return sample;
  }

  SourceFiles files_;
  const ImportOptions options_;
  std::unique_ptr<InputStream> stream_;
  uint64_t samples_ = 0;
  uint64_t line_ = 0;  // in the current file, from 1
  bool can_go_on_ = false;
  uint64_t bytes_before_ = 0;  // of the files done
};

class JsonLinesSink final : public SampleSink {
 public:
  explicit JsonLinesSink(std::unique_ptr<OutputShards> shards)
      : shards_(std::move(shards)) {}

  Keeps keeps() const override { return {.metadata = true, .file_metadata = true}; }
  bool KeepsArray(const shardpack::ArrayShape& /*array*/) const override { return true; }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    std::string line;
    if (auto bare = BareJson(sample)) {
      line = *std::move(bare);
    } else {
      DOLIUM_TRY(line, SampleJsonLine(sample));
    }
    line += '\n';
    ++samples_;
    DOLIUM_TRY_VOID(shards_->BeginSample(line.size()));
    return shards_->Append(AsBytes(line));
  }

  Result<void> Finish() override { return shards_->Finish(); }

 private:
  // The line for a sample that is just JSON; nullopt for all others.
  std::optional<std::string> BareJson(const Sample& sample) const {
    if (sample.files.size() != 1 || sample.metadata.format != MetadataFormat::kNone) {
      return std::nullopt;
    }
    const shardpack::File& file = sample.files.front();
    if (file.name != kName || file.content_type != kType || file.modified || file.mode ||
        file.metadata.format != MetadataFormat::kNone) {
      return std::nullopt;
    }
    const auto value = ParseJson(AsText(file.data));
    if (!value || IsSampleJson(*value)) return std::nullopt;
    // On one line, and else as it is.
    std::string line(AsText(file.data));
    if (line.find_first_of("\r\n") != std::string::npos) line = value->dump();
    if (OwnKey(*value).value_or(RunningKey("", samples_)) == sample.key) return line;
    if (!value->is_object() || value->contains(kKeyMembers[0]) ||
        !IsUtf8(AsBytes(sample.key))) {
      return std::nullopt;
    }
    const size_t brace = line.find('{');
    line.insert(brace + 1,
                fmt::format("\"{}\":{}{}", kKeyMembers[0], DumpJson(json(sample.key)),
                            value->empty() ? "" : ","));
    return line;
  }

  const std::unique_ptr<OutputShards> shards_;
  uint64_t samples_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenJsonLines(std::vector<Location> files,
                                                    const ImportOptions& options) {
  DOLIUM_TRY(SourceFiles opened, SourceFiles::Open(std::move(files)));
  return std::make_unique<JsonLinesSource>(std::move(opened), options);
}

std::unique_ptr<SampleSource> ReadJsonLines(std::unique_ptr<InputStream> stream,
                                            const ImportOptions& options) {
  return std::make_unique<JsonLinesSource>(SourceFiles(std::move(stream)), options);
}

Result<std::unique_ptr<SampleSink>> CreateJsonLines(const std::string& path,
                                                    const SampleExportOptions& options) {
  DOLIUM_TRY(auto shards, OutputShards::Create(path, options));
  return std::make_unique<JsonLinesSink>(std::move(shards));
}

}  // namespace dolium::dataset
