#include "dolium/formats/dvid/container.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/reindex.h"
#include "dolium/formats/dvid/wrapper.h"

namespace dolium::dvid {
namespace {

// Distinct labels that are counted one by one.
constexpr size_t kMaxCounted = size_t{1} << 24;

// 0 if it does not decode.
uint64_t BlockSize(const Row& row) {
  if (const auto size = ClaimedSize(row.wrapper, row.stored)) return *size;
  const auto block = row.Block();
  return block ? block->size() : 0;
}

class LabelCounter {
 public:
  void Add(const LabelList& list) {
    listed_ += list.size();
    for (size_t i = 0; i < list.size() && seen_.size() < kMaxCounted; ++i) {
      seen_.insert(list[i]);
    }
  }
  PropertyValue distinct() const {
    if (seen_.size() < kMaxCounted) return seen_.size();
    return fmt::format("{} or more", kMaxCounted);
  }
  uint64_t listed() const { return listed_; }

 private:
  std::unordered_set<uint64_t> seen_;
  uint64_t listed_ = 0;
};

}  // namespace

Result<LabelBlock> ParseRowBlock(const Row& row, const Bytes& block) {
  DOLIUM_TRY(const LabelBlock parsed, LabelBlock::Parse(block));
  if (!Equal(parsed.labels().bytes(), row.supervoxels)) {
    return Corrupt(
        fmt::format("the supervoxels of its row are not the {} labels of the block",
                    parsed.labels().size()));
  }
  if (row.labels.size() != row.supervoxels.size()) {
    return Corrupt(fmt::format("{} labels for {} supervoxels",
                               row.labels.size() / sizeof(uint64_t),
                               row.supervoxels.size() / sizeof(uint64_t)));
  }
  return parsed;
}

std::optional<LabelKind> ParseLabelKind(std::string_view word) {
  if (word == "labels") return LabelKind::kLabels;
  if (word == "supervoxels") return LabelKind::kSupervoxels;
  return std::nullopt;
}

std::string_view ToString(LabelKind kind) {
  return kind == LabelKind::kLabels ? "labels" : "supervoxels";
}

Result<BlockVoxels> DecodeRow(const Row& row, LabelKind kind) {
  DOLIUM_TRY(const Bytes bytes, row.Block());
  DOLIUM_TRY(const LabelBlock block, ParseRowBlock(row, bytes));
  // A block of a few bytes may claim very many voxels.
  if (block.voxels() > kMaxBlockBytes / sizeof(uint64_t)) {
    return Unsupported(fmt::format("a block of {} voxels", block.voxels()));
  }
  BlockVoxels out;
  out.size = block.size();
  out.voxels.resize(static_cast<size_t>(block.voxels()));
  DOLIUM_TRY_VOID(DecodeBlock(
      block, kind == LabelKind::kLabels ? LabelList(row.labels) : block.labels(),
      out.voxels));
  return out;
}

Result<std::unique_ptr<DvidContainer>> DvidContainer::Open(const Location& location,
                                                           const ShardOptions& options,
                                                           uint64_t index_bytes) {
  DOLIUM_TRY(const std::vector<ScaleFolder> folders, ListScales(location));
  if (folders.empty()) {
    return NotFound(fmt::format("{}: no file *{} in it, nor in s0, s1, ...",
                                location.Describe(), kExtension));
  }
  std::vector<Scale> scales;
  for (const ScaleFolder& folder : folders) {
    DOLIUM_TRY(auto shards, ExportScale::Open(folder.location, options, index_bytes,
                                              std::nullopt, folder.objects));
    scales.push_back({folder.prefix, std::move(shards)});
  }
  return std::unique_ptr<DvidContainer>(
      new DvidContainer(ExportFolder(location), std::move(scales)));
}

std::string_view DvidContainer::format_name() const { return kFormat.name; }

Properties DvidContainer::properties() const {
  Properties properties;
  properties.emplace_back("scales", scales_.size());
  for (const Scale& scale : scales_) {
    if (const auto side = scale.shards->shard_side(); side && *side > 0) {
      properties.emplace_back(scale.prefix + "shard side", *side);
    }
  }
  const auto shard =
      scales_.front().shards->OpenShard(scales_.front().shards->objects().front());
  if (!shard) return properties;
  properties.emplace_back("flavour", (*shard)->is_file() ? "file" : "stream");
  properties.emplace_back("index", std::string((*shard)->index_form()));
  properties.emplace_back("coordinates", (*shard)->in_voxels() ? "voxel" : "block");
  properties.emplace_back("columns", (*shard)->schema().columns);
  return properties;
}

Result<std::pair<const DvidContainer::Scale*, Key>> DvidContainer::ParseEntryKey(
    std::string_view key) const {
  for (const Scale& scale : scales_) {
    if (!key.starts_with(scale.prefix)) continue;
    const auto parsed = dvid::ParseKey(key.substr(scale.prefix.size()));
    if (parsed) return std::pair(&scale, *parsed);
  }
  return InvalidArgument(fmt::format("\"{}\" is not the key of a block: expected {}x_y_z",
                                     key, scales_.front().prefix));
}

Result<Entry> DvidContainer::MakeEntry(const Scale& scale, const Shard& shard,
                                       size_t number) {
  DOLIUM_TRY(const Row row, shard.Read(number));
  Entry entry;
  entry.key = scale.prefix + ToString(shard.key(number));
  Extent& extent = entry.extents.emplace_back();
  extent.object = shard.object();
  extent.range = row.range;
  extent.codecs = row.codecs();
  // The rows of a batch with compressed buffers were decompressed together.
  extent.predecoded_steps = row.buffer.size();
  if (!shard.is_mapped() && extent.predecoded_steps == 0) {
    // It was read to find out where it is: known is all of it.
    extent.codecs.insert(extent.codecs.begin(),
                         CodecStep{CodecId::kSlice, row.stored.size()});
    extent.predecoded_steps = 1;
  }
  if (extent.predecoded_steps > 0) extent.known = row.stored;
  if (row.wrapper.empty()) {
    entry.size = row.stored.size();
  } else if (row.wrapper.back().codec != CodecId::kGzip) {
    entry.size = row.wrapper.back().decoded_size;
  }
  return entry;
}

Result<std::optional<Entry>> DvidContainer::Find(std::string_view key) const {
  DOLIUM_TRY(const auto parsed, ParseEntryKey(key));
  DOLIUM_TRY(const auto found, parsed.first->shards->FindKey(parsed.second));
  if (!found) return std::nullopt;
  DOLIUM_TRY(Entry entry, MakeEntry(*parsed.first, *found->shard, found->number));
  return entry;
}

Result<std::optional<Row>> DvidContainer::FindRow(std::string_view key) const {
  DOLIUM_TRY(const auto parsed, ParseEntryKey(key));
  DOLIUM_TRY(const auto found, parsed.first->shards->FindKey(parsed.second));
  if (!found) return std::nullopt;
  DOLIUM_TRY(Row row, found->shard->Read(found->number));
  return row;
}

Result<std::vector<std::string>> DvidContainer::Objects() const {
  std::vector<std::string> objects;
  for (const Scale& scale : scales_) {
    const auto& names = scale.shards->objects();
    objects.insert(objects.end(), names.begin(), names.end());
  }
  std::ranges::sort(objects);
  return objects;
}

const DvidContainer::Scale* DvidContainer::ScaleOf(std::string_view object) const {
  for (const Scale& scale : scales_) {
    if (std::ranges::binary_search(scale.shards->objects(), object)) return &scale;
  }
  return nullptr;
}

Error DvidContainer::NoShard(std::string_view object) const {
  return NotFound(fmt::format("{}: not a shard of {}", store().Describe(object),
                              location_.Describe()));
}

Result<bool> DvidContainer::WriteIndex(std::string_view object, bool replace) {
  const Scale* scale = ScaleOf(object);
  if (scale == nullptr) return NoShard(object);
  return WriteShardIndex({location_.store, std::string(object)}, scale->shards->options(),
                         replace);
}

Result<void> DvidContainer::ScanObject(std::string_view object,
                                       const ScanVisitor& visitor) const {
  const Scale* scale = ScaleOf(object);
  if (scale == nullptr) return NoShard(object);
  const std::string name(object);
  auto shard = scale->shards->OpenShard(name);
  if (!shard) {
    if (!visitor.damage || shard.error().code != ErrorCode::kCorrupt) {
      return std::move(shard).error();
    }
    visitor.damage(ErrorFinding("index", store().Describe(name), {}, {}, shard.error()));
    return {};
  }
  for (Finding finding : (*shard)->warnings()) {
    if (finding.kind != kLostKind || !visitor.damage) continue;
    finding.severity = Severity::kError;
    if (!visitor.damage(finding)) return {};
  }
  for (size_t i = 0; i < (*shard)->size(); ++i) {
    const auto entry = MakeEntry(*scale, **shard, i);
    if (entry) {
      if (!visitor.entry(*entry)) return {};
      continue;
    }
    if (!visitor.damage || entry.error().code != ErrorCode::kCorrupt) {
      return entry.error();
    }
    Finding finding =
        ErrorFinding("row", (*shard)->Describe(), ToString((*shard)->key(i)),
                     (*shard)->MessageOf(i), entry.error());
    finding.key.insert(0, scale->prefix);
    if (!visitor.damage(finding)) return {};
  }
  return {};
}

Result<void> DvidContainer::CheckObject(std::string_view object,
                                        const FindingVisitor& visitor) const {
  const Scale* scale = ScaleOf(object);
  if (scale == nullptr) return {};
  const std::string name(object);
  const auto shard = scale->shards->OpenShard(name);
  if (!shard) {
    if (shard.error().code != ErrorCode::kCorrupt) return shard.error();
    visitor(ErrorFinding("index", store().Describe(name), {}, {}, shard.error()));
    return {};
  }
  const FindingVisitor visit = [&](const Finding& finding) {
    Finding named = finding;
    if (!named.key.empty()) named.key = scale->prefix + named.key;
    visitor(named);
  };
  if (const auto side = scale->shards->shard_side()) return (*shard)->Check(visit, *side);
  DOLIUM_TRY_VOID((*shard)->Check(visit));
  return CheckElsewhere(*scale, **shard, name, visit);
}

// Where names do not say which file has a block, the first one that has it is read.
Result<void> DvidContainer::CheckElsewhere(const Scale& scale, const Shard& shard,
                                           std::string_view object,
                                           const FindingVisitor& visitor) {
  for (const std::string& earlier : scale.shards->objects()) {
    if (earlier >= object) break;
    const auto other = scale.shards->OpenShard(earlier);
    if (!other) continue;  // Reported when it is checked.
    for (size_t i = 0; i < shard.size(); ++i) {
      if (!(*other)->FindBlock(shard.BlockOf(i))) continue;
      visitor(ErrorFinding(
          "twice", shard.Describe(), ToString(shard.key(i)), shard.MessageOf(i),
          Corrupt(fmt::format("is also in {}, which is the one that readers take",
                              (*other)->Describe()))));
    }
  }
  return {};
}

Result<void> DvidContainer::CheckValue(const Entry& entry, const Bytes& value) const {
  DOLIUM_TRY(const auto row, FindRow(entry.key));
  if (!row) return {};
  DOLIUM_TRY(const LabelBlock block, ParseRowBlock(*row, value));
  if (block.voxels() > kMaxBlockBytes / sizeof(uint64_t)) {
    return Unsupported(fmt::format("a block of {} voxels", block.voxels()));
  }
  std::vector<uint64_t> voxels(static_cast<size_t>(block.voxels()));
  return DecodeBlock(block, block.labels(), voxels);
}

Result<Properties> DvidContainer::Statistics(std::stop_token stop) const {
  LabelCounter labels;
  LabelCounter supervoxels;
  uint64_t blocks = 0;
  uint64_t solid = 0;
  uint64_t block_bytes = 0;
  size_t most = 0;
  for (const Scale& scale : scales_) {
    for (const std::string& object : scale.shards->objects()) {
      const auto shard = scale.shards->OpenShard(object);
      if (!shard) continue;  // Reported as damage already.
      for (size_t i = 0; i < (*shard)->size(); ++i) {
        if (stop.stop_requested()) return Cancelled();
        const auto row = (*shard)->Read(i);
        if (!row) continue;
        const LabelList own(row->supervoxels);
        labels.Add(LabelList(row->labels));
        supervoxels.Add(own);
        ++blocks;
        solid += own.size() == 1 ? 1 : 0;
        most = std::max(most, own.size());
        block_bytes += BlockSize(*row);
      }
    }
  }
  Properties properties;
  properties.emplace_back("labels", labels.distinct());
  properties.emplace_back("supervoxels", supervoxels.distinct());
  const double mean = blocks == 0 ? 0 : double(supervoxels.listed()) / double(blocks);
  properties.emplace_back("labels per block",
                          fmt::format("{:.1f} on average, {} at most", mean, most));
  properties.emplace_back("solid blocks", solid);
  properties.emplace_back("block bytes", block_bytes);
  return properties;
}

}  // namespace dolium::dvid
