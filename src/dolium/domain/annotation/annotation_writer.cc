#include "dolium/domain/annotation/annotation_writer.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/annotation/cell_grid.h"
#include "dolium/domain/annotation/level_plan.h"
#include "dolium/domain/annotation/list_sorter.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"

namespace dolium::annotation {
namespace {

using neuroglancer::ShardHash;
using neuroglancer::ShardingSpec;

// Parts of the memory: one for the log, the others for the indexes that are being made.
constexpr uint64_t kLogPart = 4;
// A record must be held whole, several times.
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 30;

ShardingSpec ChooseBits(const AnnotationWriteOptions& options, ShardHash hash,
                        neuroglancer::Encoding encoding,
                        const neuroglancer::SetSize& size) {
  ShardingSpec base;
  base.hash = hash;
  base.data_encoding = encoding;
  base.minishard_index_encoding = neuroglancer::Encoding::kGzip;
  return neuroglancer::ChooseSharding(base, size, options.shard_bytes);
}

// The values of one index: chunks of shards, or files whose names `name` gives.
class IndexWriter {
 public:
  using Naming = std::function<std::string(uint64_t key)>;
  IndexWriter(Location folder, const std::optional<ShardingSpec>& sharding, Naming name,
              const WriterOptions& options)
      : folder_(std::move(folder)), name_(std::move(name)) {
    if (sharding) {
      shards_ =
          std::make_unique<neuroglancer::ShardedWriter>(folder_, *sharding, options);
    }
  }

  Result<void> Add(uint64_t key, BytesView value) {
    if (shards_ != nullptr) {
      return shards_->AddChunk(key, value, {}, /*encoded=*/false);
    }
    const std::string object = JoinPath(folder_.path, name_(key));
    auto put = folder_.store->Put(object, value, Precondition::Absent());
    if (!put && put.error().code == ErrorCode::kExists) {
      return InvalidArgument(fmt::format("{}: given twice", name_(key)));
    }
    if (!put) return std::move(put).error();
    files_ += {.entries = 1,
               .value_bytes = value.size(),
               .stored_bytes = value.size(),
               .objects = 1};
    return {};
  }

  Result<WriteSummary> Finish() {
    if (shards_ == nullptr) return files_;
    return shards_->Finish();
  }

 private:
  Location folder_;
  Naming name_;
  std::unique_ptr<neuroglancer::ShardedWriter> shards_;
  WriteSummary files_;
};

std::string DecimalName(uint64_t key) { return std::to_string(key); }

}  // namespace

// Counts what all indexes have done.
struct AnnotationWriter::Progressing {
  const ProgressFunction& report;
  uint64_t total = 0;
  std::mutex mutex = {};
  uint64_t done = 0;

  void Add(uint64_t entries) {
    if (!report) return;
    const std::lock_guard lock(mutex);
    done += entries;
    report({.entries = done, .total_entries = total});
  }
};

AnnotationWriter::AnnotationWriter(Location folder, AnnotationInfo info, bool has_bounds,
                                   const AnnotationWriteOptions& options)
    : folder_(std::move(folder)),
      info_(std::move(info)),
      layout_(info_),
      options_(options),
      has_bounds_(has_bounds),
      log_(folder_, options.writer.spill_folder, layout_,
           options.writer.memory / kLogPart) {}

Result<std::unique_ptr<AnnotationWriter>> AnnotationWriter::Create(
    Location folder, AnnotationSchema schema, const AnnotationWriteOptions& options) {
  AnnotationInfo info;
  info.type = schema.type;
  info.dimensions = std::move(schema.dimensions);
  info.properties = std::move(schema.properties);
  info.relationships = std::move(schema.relationships);
  for (Relationship& relationship : info.relationships) {
    if (relationship.key.empty()) relationship.key = "rel_" + relationship.id;
  }
  const bool has_bounds = !schema.lower_bound.empty() || !schema.upper_bound.empty();
  info.lower_bound = std::move(schema.lower_bound);
  info.upper_bound = std::move(schema.upper_bound);
  if (!has_bounds) {
    info.lower_bound.assign(info.rank(), 0);
    info.upper_bound.assign(info.rank(), 0);
  }
  DOLIUM_TRY_VOID(Validate(info));
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto there, at.store->Stat(at.path));
  if (there) {
    return Exists(fmt::format("{}: is there already", at.Describe()))
        .WithHint(Hint::kReplace);
  }
  return std::unique_ptr<AnnotationWriter>(
      new AnnotationWriter(std::move(folder), std::move(info), has_bounds, options));
}

Result<void> AnnotationWriter::Add(const AnnotationView& annotation,
                                   std::span<const std::span<const uint64_t>> related) {
  DOLIUM_TRY_VOID(CheckAnnotation(annotation, layout_));
  if (related.size() != info_.relationships.size()) {
    return InvalidArgument(fmt::format("annotation {}: {} relationships, expected {}",
                                       annotation.id, related.size(),
                                       info_.relationships.size()));
  }
  uint64_t bytes = annotation.geometry.size_bytes() + annotation.properties.size();
  for (const auto& ids : related) bytes += ids.size_bytes();
  if (bytes > kMaxRecordBytes) {
    return InvalidArgument(fmt::format("annotation {}: {} bytes, expected at most {}",
                                       annotation.id, bytes, kMaxRecordBytes));
  }
  const Region region = RegionOf(layout_.type(), layout_.rank(), annotation.geometry);
  for (size_t d = 0; d < layout_.rank(); ++d) {
    if (!has_bounds_) {
      const bool is_first = log_.size() == 0;
      double& lower = info_.lower_bound[d];
      double& upper = info_.upper_bound[d];
      lower = is_first ? region.lower[d] : std::min(lower, region.lower[d]);
      upper = is_first ? region.upper[d] : std::max(upper, region.upper[d]);
    } else if (region.lower[d] < info_.lower_bound[d] ||
               region.upper[d] > info_.upper_bound[d]) {
      return InvalidArgument(fmt::format(
          "annotation {}: reaches from {} to {} in {}, outside of the bounds "
          "from {} to {}",
          annotation.id, region.lower[d], region.upper[d], info_.dimensions[d].name,
          info_.lower_bound[d], info_.upper_bound[d]));
    }
  }
  return log_.Add(annotation, related);
}

Result<AnnotationSummary> AnnotationWriter::Finish() {
  DOLIUM_TRY(const LevelPlan plan, PlanLevels(info_, log_,
                                              {.limit = options_.limit,
                                               .seed = options_.seed,
                                               .jobs = options_.writer.jobs,
                                               .stop = options_.writer.stop}));
  for (const LevelPlan::Level& level : plan.levels) info_.spatial.push_back(level.level);
  const size_t relationships = info_.relationships.size();
  const size_t indexes = 1 + relationships + plan.levels.size();
  const size_t jobs = ThreadCount(options_.writer.jobs, indexes);
  WriterOptions writer = options_.writer;
  // Of an index: a half for its sorter, a half for its shards.
  writer.memory = options_.writer.memory / kLogPart * (kLogPart - 1) / (2 * jobs);
  Progressing progress{.report = options_.progress, .total = indexes * log_.size()};
  std::mutex spilling;
  const ListSorter::SpillTo spill_to = [&]() -> Result<Store*> {
    const std::lock_guard lock(spilling);
    return log_.spill_store();
  };
  // Each pass over the log follows the stop request.
  const auto read_all = [&](const auto& visit) -> Result<void> {
    for (size_t block = 0; block < log_.block_count(); ++block) {
      if (writer.stop.stop_requested()) return Cancelled();
      uint64_t count = 0;
      DOLIUM_TRY_VOID(log_.Read(block, [&](const LoggedRecord& record) {
        ++count;
        return visit(record);
      }));
      progress.Add(count);
    }
    return {};
  };

  const auto write_by_id = [&]() -> Result<WriteSummary> {
    if (!options_.unsharded) {
      info_.by_id.sharding =
          ChooseBits(options_, ShardHash::kMurmur3, neuroglancer::Encoding::kRaw,
                     {log_.size(), log_.value_bytes(), 0});
    }
    IndexWriter index(folder_.Child(info_.by_id.key), info_.by_id.sharding, DecimalName,
                      writer);
    ByteVector value;
    DOLIUM_TRY_VOID(read_all([&](const LoggedRecord& record) {
      value.assign(record.record.begin(), record.record.end());
      Append(value, record.related);
      return index.Add(record.id, value);
    }));
    return index.Finish();
  };

  const auto write_lists = [&](ListSorter& lists, IndexWriter& index) {
    return lists.VisitLists([&](uint64_t key, BytesView list) -> Result<void> {
      if (writer.stop.stop_requested()) return Cancelled();
      return index.Add(key, list);
    });
  };

  const auto write_related = [&](size_t number) -> Result<WriteSummary> {
    Relationship& relationship = info_.relationships[number];
    ListSorter lists(spill_to, fmt::format("related{}", number), writer.memory);
    std::vector<uint64_t> keys_of_one;
    DOLIUM_TRY_VOID(read_all([&](const LoggedRecord& record) -> Result<void> {
      ByteReader related(record.related);
      keys_of_one.clear();
      for (size_t r = 0;; ++r) {
        DOLIUM_TRY(const uint32_t count, related.Read<uint32_t>("related ids"));
        for (uint32_t i = 0; i < count; ++i) {
          DOLIUM_TRY(const uint64_t key, related.Read<uint64_t>("related ids"));
          if (r == number) keys_of_one.push_back(key);
        }
        if (r < number) continue;
        // Once in a list, however often it names it.
        std::ranges::sort(keys_of_one);
        const auto same = std::ranges::unique(keys_of_one);
        keys_of_one.erase(same.begin(), same.end());
        for (const uint64_t key : keys_of_one) {
          DOLIUM_TRY_VOID(lists.Add(key, 0, record.id, record.record));
        }
        return {};
      }
    }));
    if (!options_.unsharded) {
      DOLIUM_TRY(const uint64_t keys, lists.CountKeys());
      relationship.sharding = ChooseBits(options_, ShardHash::kMurmur3, options_.encoding,
                                         {keys, lists.bytes(), 0});
    }
    IndexWriter index(folder_.Child(relationship.key), relationship.sharding, DecimalName,
                      writer);
    DOLIUM_TRY_VOID(write_lists(lists, index));
    return index.Finish();
  };

  const auto write_level = [&](size_t number) -> Result<WriteSummary> {
    SpatialLevel& level = info_.spatial[number];
    const CellGrid grid(info_.lower_bound, level);
    ListSorter lists(spill_to, level.key, writer.memory);
    DOLIUM_TRY_VOID(read_all([&](const LoggedRecord& record) -> Result<void> {
      const uint64_t random = RandomOf(record.id, options_.seed);
      if (plan.LevelOf(random) != number) return {};
      if (info_.type == AnnotationType::kPoint) {
        return lists.Add(grid.CodeOfPoint(record.geometry), random, record.id,
                         record.record);
      }
      Result<void> added;
      grid.VisitCells(info_.type, record.geometry, [&](std::span<const uint64_t> cell) {
        if (!added) return;
        added = lists.Add(grid.Encode(cell), random, record.id, record.record);
      });
      return added;
    }));
    // The one list of a grid of one cell is a file, as other writers have it.
    if (!options_.unsharded && grid.cell_count() > 1) {
      const uint64_t bytes = lists.bytes() + lists.size() * sizeof(uint64_t);
      level.sharding =
          ChooseBits(options_, ShardHash::kIdentity, options_.encoding,
                     {plan.levels[number].lists, bytes, grid.cell_count() - 1});
    }
    IndexWriter index(
        folder_.Child(level.key), level.sharding,
        [&](uint64_t code) {
          return CellGrid::NameOf(grid.Decode(code).value_or(Cell()));
        },
        writer);
    DOLIUM_TRY_VOID(write_lists(lists, index));
    return index.Finish();
  };

  std::vector<WriteSummary> summaries(indexes);
  DOLIUM_TRY_VOID(ParallelFor(
      indexes, jobs,
      [&](size_t i) -> Result<void> {
        std::string name = info_.by_id.key;
        Result<WriteSummary> written = WriteSummary();
        if (i == 0) {
          written = write_by_id();
        } else if (i <= relationships) {
          name = info_.relationships[i - 1].key;
          written = write_related(i - 1);
        } else {
          name = info_.spatial[i - 1 - relationships].key;
          written = write_level(i - 1 - relationships);
        }
        if (!written) return std::move(written).error().Within(name);
        summaries[i] = *written;
        return {};
      },
      writer.stop));
  AnnotationSummary summary{log_.size(), plan.levels.size(), {}};
  for (const WriteSummary& one : summaries) summary.written += one;
  DOLIUM_TRY_VOID(Validate(info_));
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             folder_.store->Put(JoinPath(folder_.path, "info"), AsBytes(ToJson(info_)),
                                Precondition::Absent()));
  return summary;
}

}  // namespace dolium::annotation
