#include "dolium/ops/pack/pack_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/text_values.h"
#include "dolium/formats/shardpack/content.h"

namespace dolium::dataset {
namespace {

using nlohmann::ordered_json;
using shardpack::EntryHeader;
using shardpack::MetadataFormat;

// Larger files are decoded for a preview only if a part of them can be.
constexpr uint64_t kWholePreview = uint64_t{1} << 20;
constexpr size_t kLongestMetadata = size_t{1} << 20;

bool IsText(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  return content_type.starts_with("text/") || content_type.ends_with("+json") ||
         content_type.ends_with("+xml") || content_type == "application/json" ||
         content_type == "application/xml" || content_type == "application/x-ndjson" ||
         content_type == "application/jsonl" || content_type == "application/yaml";
}

// The longest beginning of at most `length` bytes that is whole characters; empty if that
// is no UTF-8.
std::string BeginningOf(BytesView bytes, size_t length) {
  size_t end = std::min(length, bytes.size());
  const size_t least = end > 3 ? end - 3 : 0;
  while (end > least && end < bytes.size() &&
         (std::to_integer<unsigned>(bytes[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  const BytesView begin = bytes.first(end);
  return IsUtf8(begin) ? std::string(AsText(begin)) : std::string();
}

Result<std::string> PreviewOf(const LoadedSample& sample, LoadedSample::FileRef file,
                              size_t length) {
  const EntryHeader& head = sample.header(file);
  if (!IsText(head.content_type)) return std::string();
  const bool is_cheap =
      head.raw_size <= kWholePreview || head.is_chunked() || head.codec == 0;
  if (!is_cheap) return std::string();
  const SamplePart& part = sample.parts()[file.part];
  DOLIUM_TRY(const auto options, part.shard->content_options());
  // A few more bytes, to see where the last character ends.
  const ByteRange range{0, std::min<uint64_t>(head.raw_size, length + 4)};
  auto bytes = DecodeContentRange(head, part.record.Stored(head), range, options);
  if (!bytes) {
    return std::move(bytes).error().Within(
        fmt::format("{}: record {}: {}", part.shard->Describe(), part.number,
                    shardpack::EntryContext(sample.key(), head.name)));
  }
  return BeginningOf(*bytes, length);
}

ordered_json MetadataJson(const shardpack::Metadata& metadata) {
  const auto format_name = [&]() -> std::string_view {
    switch (metadata.format) {
      case MetadataFormat::kNone:
        return "none";
      case MetadataFormat::kJson:
        return "json";
      case MetadataFormat::kMsgPack:
        return "msgpack";
      case MetadataFormat::kOpaque:
        return "opaque";
      case MetadataFormat::kCbor:
        return "cbor";
    }
    return "unknown";
  };
  if (metadata.format == MetadataFormat::kNone && metadata.bytes.empty()) return nullptr;
  if (metadata.bytes.size() <= kLongestMetadata) {
    const std::string_view text = AsText(metadata.bytes);
    if (metadata.format == MetadataFormat::kJson) {
      if (auto value = ParseOrderedJson(text)) return *std::move(value);
    }
    if (metadata.format == MetadataFormat::kOpaque && IsUtf8(metadata.bytes)) return text;
  }
  return {{"format", format_name()}, {"size", metadata.bytes.size()}};
}

ViewedSample View(uint64_t number, const Result<LoadedSample>& sample,
                  const ViewOptions& options) {
  ViewedSample viewed;
  viewed.facts.number = number;
  if (!sample) {
    viewed.error = sample.error().message;
    return viewed;
  }
  viewed.facts = FactsOf(number, *sample);
  viewed.metadata = MetadataJson(sample->metadata());
  if (const Error* const damage = sample->damage()) viewed.error = damage->message;
  for (const auto file : sample->files()) {
    auto preview = options.preview_bytes == 0
                       ? Result<std::string>(std::string())
                       : PreviewOf(*sample, file, options.preview_bytes);
    if (!preview && viewed.error.empty()) viewed.error = preview.error().message;
    viewed.previews.push_back(preview ? *std::move(preview) : std::string());
  }
  return viewed;
}

struct Numbers {
  uint64_t total = 0;
  std::vector<uint64_t> page;
};

Result<Numbers> NumbersOf(const SampleSet& set, const ViewOptions& options) {
  Numbers numbers;
  PackSelection filter = options.filter;
  const bool is_range = !filter.keys && filter.prefix.empty() && filter.every == 1 &&
                        !filter.sample_count && !filter.sample_fraction;
  if (is_range) {  // Nothing but the page has to be listed.
    const uint64_t end = std::min(filter.end, set.size());
    numbers.total = end - std::min(filter.begin, end);
    const uint64_t begin = std::min(options.begin, numbers.total);
    filter.end = filter.begin + begin + std::min(options.count, numbers.total - begin);
    filter.begin += begin;
    DOLIUM_TRY(numbers.page, SelectSamples(set, filter));
    return numbers;
  }
  DOLIUM_TRY(const std::vector<uint64_t> all, SelectSamples(set, filter));
  numbers.total = all.size();
  const uint64_t begin = std::min<uint64_t>(options.begin, all.size());
  const uint64_t count = std::min<uint64_t>(options.count, all.size() - begin);
  const auto first = all.begin() + static_cast<ptrdiff_t>(begin);
  numbers.page.assign(first, first + static_cast<ptrdiff_t>(count));
  return numbers;
}

}  // namespace

Result<ViewPage> ViewSamples(const SampleSet& set, const ViewOptions& options) {
  DOLIUM_TRY(const Numbers wanted, NumbersOf(set, options));
  ViewPage page{.total = wanted.total, .begin = options.begin, .samples = {}};
  const auto loaded = set.ReadMany(wanted.page);
  for (size_t i = 0; i < wanted.page.size(); ++i) {
    page.samples.push_back(View(wanted.page[i], loaded[i], options));
  }
  return page;
}

ordered_json ToJson(const ViewedSample& sample) {
  ordered_json json = ToJson(sample.facts);
  json["metadata"] = sample.metadata;
  for (size_t i = 0; i < sample.previews.size(); ++i) {
    if (!sample.previews[i].empty()) json["files"][i]["preview"] = sample.previews[i];
  }
  if (!sample.error.empty()) json["error"] = sample.error;
  return json;
}

ordered_json ToJson(const ViewPage& page) {
  ordered_json json = {
      {"total", page.total}, {"begin", page.begin}, {"samples", ordered_json::array()}};
  for (const ViewedSample& sample : page.samples) {
    json["samples"].push_back(ToJson(sample));
  }
  return json;
}

}  // namespace dolium::dataset
