#include "dolium/formats/neuroglancer/sharded_target.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/read_entry.h"
#include "dolium/formats/neuroglancer/piece_sources.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::neuroglancer {
namespace {

constexpr size_t kEntriesAtOnce = 1024;
constexpr uint64_t kBytesAtOnce = uint64_t{8} << 20;

}  // namespace

ShardedTarget::ShardedTarget(Location location, const ShardingSpec& spec,
                             std::string own_info)
    : location_(std::move(location)),
      spec_(spec),
      own_info_(std::move(own_info)),
      codecs_(CodecsOf(spec.data_encoding)) {}

std::string ShardedTarget::Describe() const {
  return nlohmann::json{{"sharding", ToJson(spec_)}, {"info", own_info_}}.dump();
}

Result<uint64_t> ShardedTarget::PartOf(std::string_view key) const {
  DOLIUM_TRY(const uint64_t id, ParseKey(key));
  return spec_.PlaceOf(id).shard;
}

std::string ShardedTarget::PartObject(uint64_t part) const {
  return JoinPath(location_.path, spec_.ShardStem(part) + ".shard");
}

Result<WriteSummary> ShardedTarget::WritePart(uint64_t part, const PartSource& source,
                                              const WriterOptions& options) {
  bool as_stored = !source.skip_damaged;  // Damage shows only in decoding.
  for (const Entry& entry : source.entries) {
    as_stored = as_stored && entry.extents.size() == 1 && !entry.preceding_from &&
                entry.extents.front().codecs == codecs_;
  }
  return as_stored ? CopyPart(part, source, options) : EncodePart(source, options);
}

Result<WriteSummary> ShardedTarget::CopyPart(uint64_t part, const PartSource& source,
                                             const WriterOptions& options) {
  std::vector<Piece> pieces;
  std::vector<PieceInput> inputs;
  std::unordered_map<const ObjectVersion*, uint32_t> numbers;
  std::map<std::pair<std::string, std::string>, uint32_t> by_name;
  pieces.reserve(source.entries.size());
  for (const Entry& entry : source.entries) {
    const Extent& extent = entry.extents.front();
    const auto [input, is_new] =
        numbers.emplace(extent.object.get(), static_cast<uint32_t>(inputs.size()));
    if (is_new) {
      // Scans may make several of one object at one generation.
      const auto [same, is_first] =
          by_name.emplace(std::pair(extent.object->name, extent.object->generation.token),
                          static_cast<uint32_t>(inputs.size()));
      if (is_first) inputs.push_back({source.store, extent.object});
      input->second = same->second;
    }
    DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
    if (entry.preceding > extent.range.offset) {
      return Corrupt(fmt::format("chunk {}: {} bytes cannot precede it at offset {}", id,
                                 entry.preceding, extent.range.offset));
    }
    pieces.push_back({.id = id,
                      .length = extent.range.length,
                      .preceding = entry.preceding,
                      .memory = nullptr,
                      .offset = extent.range.offset - entry.preceding,
                      .input = input->second});
  }
  const std::string object = PartObject(part);
  ListSource list(spec_, std::move(pieces), std::move(inputs));
  DOLIUM_TRY(const auto out, location_.store->Begin(object));
  auto written = AssembleShard(
      spec_, list, *out,
      {.memory = options.memory / 4, .stop = options.stop, .progress = source.progress});
  if (!written)
    return std::move(written).error().Within(location_.store->Describe(object));
  if (written->entries != 0) DOLIUM_TRY_VOID(out->Commit(Precondition::None()));
  return written;
}

Result<WriteSummary> ShardedTarget::EncodePart(const PartSource& source,
                                               const WriterOptions& options) {
  ShardedWriter writer(location_, spec_, options, ShardedWriter::Appear::kOnce);
  std::unordered_set<std::string> taken;  // Only salvage meets a key twice.
  size_t begin = 0;
  while (begin < source.entries.size()) {
    if (options.stop.stop_requested()) return Cancelled();
    size_t end = begin;
    uint64_t bytes = 0;
    while (end < source.entries.size() && end - begin < kEntriesAtOnce &&
           (end == begin || bytes < kBytesAtOnce)) {
      bytes += source.entries[end].stored_size() + source.entries[end].preceding_size();
      ++end;
    }
    const std::span<const Entry> batch = source.entries.subspan(begin, end - begin);
    std::vector<Result<EntryData>> stored = ReadManyStored(*source.store, batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      const Entry& entry = batch[i];
      auto decoded = stored[i] ? DecodeStored(*source.store, entry, *stored[i])
                               : Result<EntryData>(stored[i].error());
      if (!decoded) {
        if (source.skip_damaged && source.skip_damaged(entry, decoded.error())) continue;
        return std::move(decoded).error();
      }
      if (source.skip_damaged && !taken.insert(entry.key).second) {
        const Error twice = Corrupt("listed more than once; the first is kept");
        if (source.skip_damaged(entry, twice)) continue;
        return twice;
      }
      // What was decoded without error is copied as it was, if it is stored in the same
      // way.
      const bool same =
          entry.extents.size() == 1 && entry.extents.front().codecs == codecs_;
      DOLIUM_TRY_VOID(writer.Add({.key = entry.key,
                                  .value = same ? stored[i]->value : decoded->value,
                                  .preceding = decoded->preceding,
                                  .encoded = same}));
    }
    if (source.progress) source.progress(end - begin, bytes);
    begin = end;
  }
  return writer.Finish();
}

Result<std::unique_ptr<Writer>> ShardedTarget::NewWriter(const WriterOptions& options) {
  return std::make_unique<ShardedWriter>(location_, spec_, options);
}

Result<void> ShardedTarget::Finish() {
  DOLIUM_TRY_VOID(location_.store->Put(JoinPath(location_.path, "info"),
                                       AsBytes(InfoText(own_info_, spec_)),
                                       Precondition::None()));
  return {};
}

}  // namespace dolium::neuroglancer
