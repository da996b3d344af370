#include "dolium/formats/shardpack/shard_writer.h"

#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dolium/container/json.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

namespace {

constexpr std::pair<Compression, std::string_view> kCompressions[] = {
    {Compression::kNone, "none"},
    {Compression::kGzip, "gzip"},
    {Compression::kLz4, "lz4"},
    {Compression::kZstd, "zstd"},
};

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace

std::string_view CompressionName(Compression compression) {
  for (const auto& [known, name] : kCompressions) {
    if (known == compression) return name;
  }
  return "unknown";
}

Result<Compression> ParseCompression(std::string_view name) {
  for (const auto& [compression, known] : kCompressions) {
    if (known == name) return compression;
  }
  return InvalidArgument(
      fmt::format("no compression \"{}\"; there are none, gzip, lz4, zstd", name));
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Create(
    const Location& location, const ShardWriterOptions& options) {
  DOLIUM_TRY_VOID(CheckOptions(options.encode));
  if (!options.force) {
    DOLIUM_TRY(const auto there, location.store->Stat(location.path));
    if (there) {
      return Exists(fmt::format("{}: is there already", location.Describe()))
          .WithHint(Hint::kReplace);
    }
  }
  DOLIUM_TRY(auto object, location.store->Begin(location.path));
  return std::unique_ptr<ShardWriter>(
      new ShardWriter(location, options, std::move(object)));
}

Result<void> ShardWriter::Append(const EncodedRecord& record) {
  for (const Bytes& segment : record.segments) DOLIUM_TRY_VOID(object_->Append(segment));
  tail_.Add(record);
  return {};
}

std::string ShardWriter::MetadataText(std::optional<uint64_t> number) const {
  nlohmann::ordered_json own = {{"version", "1.0"}};
  own["writer"] = "dolium " DOLIUM_VERSION;
  if (!options_.reproducible) own["created"] = Now();
  if (!options_.dataset.empty()) own["dataset"] = options_.dataset;
  if (number) own["shard_index"] = *number;
  own["compression"] = CompressionName(options_.encode.compression);
  if (options_.encode.level >= 0) own["level"] = options_.encode.level;
  if (tail_.stat().is_regular && !tail_.columns().empty()) {
    auto columns = nlohmann::ordered_json::array();
    for (const EntryColumn& column : tail_.columns()) {
      columns.push_back({{"name", column.name}, {"content_type", column.content_type}});
    }
    own["columns"] = std::move(columns);
  }
  nlohmann::ordered_json all = {{"shardpack", std::move(own)}};
  all["user"] = options_.user;
  return DumpJsonLossy(all);
}

Result<ShardSummary> ShardWriter::Finish(std::optional<uint64_t> number) {
  const ByteVector tail = tail_.Build(options_.encode.align_log2, MetadataText(number));
  DOLIUM_TRY_VOID(object_->Append(tail));
  ShardSummary summary{.location = location_,
                       .records = tail_.record_count(),
                       .bytes = object_->size(),
                       .stat = tail_.stat()};
  auto committed =
      object_->Commit(options_.force ? Precondition::None() : Precondition::Absent());
  if (!committed) return std::move(committed).error();
  return summary;
}

}  // namespace dolium::shardpack
