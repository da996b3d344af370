#include "dolium/formats/files/files_target.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/unfinished.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/formats/files/files_writer.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/files/part_copier.h"

namespace dolium::files {
namespace {

constexpr std::string_view kPartPrefix = ".dolium-part-";

Result<void> CheckKeys(std::span<const Entry> entries) {
  std::vector<std::string_view> keys;
  keys.reserve(entries.size());
  for (const Entry& entry : entries) {
    DOLIUM_TRY_VOID(CheckKey(entry.key));
    keys.push_back(entry.key);
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return {};
  return InvalidArgument(fmt::format("key \"{}\" is given twice", *twice));
}

}  // namespace

std::string_view FilesTarget::format_name() const { return kFormat.name; }

std::string FilesTarget::Describe() const {
  return nlohmann::json{{"format", kFormat.name}}.dump();
}

Result<uint64_t> FilesTarget::PartOf(std::string_view key) const {
  DOLIUM_TRY_VOID(CheckKey(key));
  return PartOfKey(key);
}

std::string FilesTarget::PartObject(uint64_t part) const {
  return JoinPath(location_.path, fmt::format("{}{}", kPartPrefix, part));
}

Result<WriteSummary> FilesTarget::WritePart(uint64_t part, const PartSource& source,
                                            const WriterOptions& options) {
  DOLIUM_TRY_VOID(CheckKeys(source.entries).Within(location_.Describe()));
  DOLIUM_TRY(WriteSummary summary, PartCopier(location_, source, options).Run());
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             location_.store->Put(PartObject(part), {}, Precondition::None()));
  return summary;
}

Result<std::unique_ptr<Writer>> FilesTarget::NewWriter(const WriterOptions& options) {
  return std::make_unique<FilesWriter>(location_, options);
}

Result<void> FilesTarget::Finish() {
  for (uint64_t part = 0; part < kParts; ++part) {
    const auto removed = location_.store->Remove(PartObject(part), Precondition::None());
    if (!removed && removed.error().code != ErrorCode::kNotFound) return removed.error();
  }
  return {};
}

}  // namespace dolium::files
