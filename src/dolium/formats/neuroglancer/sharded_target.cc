#include "dolium/formats/neuroglancer/sharded_target.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/container/read_entry.h"
#include "dolium/formats/neuroglancer/part_chunks.h"

namespace dolium::neuroglancer {
namespace {

constexpr uint64_t kBytesAtOnce = uint64_t{8} << 20;
constexpr uint64_t kMinBytesAtOnce = uint64_t{256} << 10;

// The ids that several entries have, none of them taken yet. Holds eight bytes for each
// entry meanwhile.
Result<std::map<uint64_t, bool>> RepeatedIds(EntrySource& entries) {
  std::vector<uint64_t> ids;
  while (true) {
    DOLIUM_TRY(const std::span<const Entry> next, entries.Next());
    if (next.empty()) break;
    for (const Entry& entry : next) {
      DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  std::map<uint64_t, bool> repeated;
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] == ids[i - 1]) repeated.emplace(ids[i], false);
  }
  DOLIUM_TRY_VOID(entries.Rewind());
  return repeated;
}

}  // namespace

ShardedTarget::ShardedTarget(Location location, const ShardingSpec& spec,
                             std::string own_info)
    : location_(std::move(location)),
      spec_(spec),
      own_info_(std::move(own_info)),
      codecs_(CodecsOf(spec.data_encoding)) {}

std::string ShardedTarget::Describe() const {
  return DumpJson(nlohmann::json{{"sharding", ToJson(spec_)}, {"info", own_info_}});
}

Result<uint64_t> ShardedTarget::PartOf(std::string_view key) const {
  DOLIUM_TRY(const uint64_t id, ParseKey(key));
  return spec_.LocationOf(id).shard;
}

std::string ShardedTarget::PartObject(uint64_t part) const {
  return JoinPath(location_.path, spec_.ShardStem(part) + ".shard");
}

Result<WriteSummary> ShardedTarget::WritePart(uint64_t part, const PartSource& source,
                                              const WriterOptions& options) {
  if (source.skip_damaged) return EncodePart(source, options);  // Decoding shows damage.
  DOLIUM_TRY(const auto copied, CopyPart(part, source, options));
  if (copied) return *copied;
  DOLIUM_TRY_VOID(source.entries->Rewind());
  return EncodePart(source, options);
}

Result<std::optional<WriteSummary>> ShardedTarget::CopyPart(
    uint64_t part, const PartSource& source, const WriterOptions& options) {
  SpillFolder spills(location_, options.spill_folder);
  PartChunks stored_chunks(spec_, *source.store, spills, options.memory / 4);
  while (true) {
    if (options.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY(const std::span<const Entry> entries, source.entries->Next());
    if (entries.empty()) break;
    for (const Entry& entry : entries) {
      for (const Extent& extent : entry.extents) {
        if (extent.codecs != codecs_) return std::nullopt;
      }
      DOLIUM_TRY(const bool taken, stored_chunks.Add(entry));
      if (!taken) return std::nullopt;
    }
  }
  stored_chunks.Finish();
  const std::string object = PartObject(part);
  DOLIUM_TRY(const auto out, location_.store->Begin(object));
  auto written = AssembleShard(
      spec_, stored_chunks, *out,
      {.memory = options.memory / 4, .stop = options.stop, .progress = source.progress});
  if (!written)
    return std::move(written).error().Within(location_.store->Describe(object));
  if (written->entries != 0) DOLIUM_TRY_VOID(out->Commit(Precondition::None()));
  return *written;
}

Result<WriteSummary> ShardedTarget::EncodePart(const PartSource& source,
                                               const WriterOptions& options) {
  ShardedWriter writer(location_, spec_, options, ShardedWriter::Appear::kOnce);
  const uint64_t bytes_at_once =
      std::clamp(options.memory / 8, kMinBytesAtOnce, kBytesAtOnce);
  std::map<uint64_t, bool> repeated;  // Only salvage meets a key twice.
  if (source.skip_damaged) {
    DOLIUM_TRY(repeated, RepeatedIds(*source.entries));
  }
  while (true) {
    DOLIUM_TRY(std::span<const Entry> entries, source.entries->Next());
    if (entries.empty()) return writer.Finish();
    while (!entries.empty()) {
      if (options.stop.stop_requested()) return Cancelled();
      size_t count = 0;
      uint64_t bytes = 0;
      while (count < entries.size() && (count == 0 || bytes < bytes_at_once)) {
        bytes += entries[count].stored_size() + entries[count].preceding_size();
        ++count;
      }
      DOLIUM_TRY_VOID(EncodeEntries(source, entries.first(count), repeated, writer));
      if (source.progress) source.progress(count, bytes);
      entries = entries.subspan(count);
    }
  }
}

Result<void> ShardedTarget::EncodeEntries(const PartSource& source,
                                          std::span<const Entry> entries,
                                          std::map<uint64_t, bool>& repeated,
                                          ShardedWriter& writer) const {
  std::vector<Result<EntryData>> stored = ReadManyStored(*source.store, entries);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    auto decoded = stored[i] ? DecodeStored(*source.store, entry, *stored[i])
                             : Result<EntryData>(stored[i].error());
    if (!decoded) {
      if (source.skip_damaged && source.skip_damaged(entry, decoded.error())) continue;
      return std::move(decoded).error();
    }
    DOLIUM_TRY(const uint64_t id, ParseKey(entry.key));
    if (const auto found = repeated.find(id); found != repeated.end()) {
      if (found->second) {
        const Error twice = Corrupt("listed more than once; the first is kept");
        if (source.skip_damaged(entry, twice)) continue;
        return twice;
      }
      found->second = true;
    }
    // What was decoded without error is copied as it was, if it is stored in the same
    // way.
    const bool same =
        entry.extents.size() == 1 && entry.extents.front().codecs == codecs_;
    DOLIUM_TRY_VOID(writer.AddChunk(id, same ? stored[i]->value : decoded->value,
                                    decoded->preceding, same));
  }
  return {};
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
