#include "dolium/ops/volume/dvid_job.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/checked_math.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/dvid/spec_names.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/dvid_rows.h"
#include "dolium/ops/volume/skipped_chunks.h"
#include "dolium/ops/volume/volume_job.h"
#include "dolium/ops/volume/volume_occupied.h"
#include "dolium/ops/volume/volume_source.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

// Far more than any volume has, and far from where sums overflow.
constexpr int64_t kMaxShardSide = int64_t{1} << 40;
// Rows that are made before any of them is written, for each thread.
constexpr size_t kWindowPerJob = 16;

// What is written of a scale, and where its rows come from.
struct WrittenScale {
  std::string folder;  // "s0"
  Box bounds;
  Box cubes;  // numbers of its shards in x, y and z
  std::shared_ptr<const Scale> source;
  std::unique_ptr<RowSource> rows;

  // How many cubes there are; kUnsupported if they do not count in 64 bits.
  Result<uint64_t> CountCubes() const {
    const Vec3 size = cubes.size();
    std::optional<uint64_t> count = 1;
    for (const int64_t side : size) {
      if (count) count = CheckedMul(*count, static_cast<uint64_t>(side));
    }
    if (count) return *count;
    return Unsupported(
        fmt::format("{}: {} shards do not count in 64 bits; make them larger", folder,
                    ToString(size)));
  }
};

// Reads a request from a record, where it stands without target and force.
Result<DvidWriteRequest> ParseRequest(const JobRecord& record) {
  return ParseJob(
      record.parameters, "the record of a DVID export",
      [](const json& value) -> Result<DvidWriteRequest> {
        DvidWriteRequest request;
        value.at("source").get_to(request.source);
        DOLIUM_TRY(request.exported,
                   ParseDvidReadOptions(value.at("export").get<std::string>()));
        value.at("scales").get_to(request.scales);
        const bool is_seed = value.at("layout") == "seed";
        request.layout = is_seed ? dvid::ShardLayout::kSeed : dvid::ShardLayout::kStream;
        const bool is_dvid = value.at("csv") == "dvid";
        request.csv = is_dvid ? dvid::CsvForm::kDvid : dvid::CsvForm::kDocumented;
        value.at("shard_side").get_to(request.shard_side);
        // Records of earlier versions do not have it.
        request.skip_damaged = value.value("skip_damaged", false);
        return request;
      });
}

// The cubes of this side that have one of these voxels.
Box TouchedBy(const Box& voxels, int64_t side) {
  Box cubes;
  for (size_t d = 0; d < 3; ++d) {
    cubes.begin[d] = voxels.begin[d] / side;
    cubes.end[d] = (voxels.end[d] + side - 1) / side;
  }
  return cubes;
}

// Parts are cubes of blocks, scale by scale, x fastest, as far as the source has anything
// there; one of zeros leaves no shard.
class DvidJob final : public Job {
 public:
  DvidJob(DvidWriteRequest request, Location folder, Volume volume,
          std::vector<WrittenScale> scales)
      : request_(std::move(request)),
        folder_(std::move(folder)),
        volume_(std::move(volume)),
        scales_(std::move(scales)) {}

  Result<void> Plan(const PartSink& sink) override {
    uint64_t first = 0;
    for (const WrittenScale& scale : scales_) {
      DOLIUM_TRY(const std::vector<Vec3> cubes, FindCubes(scale));
      const Vec3 count = scale.cubes.size();
      for (const Vec3& cube : cubes) {
        const Vec3 blocks = BlocksOf(scale, cube).size();
        JobPart part;
        part.number = first;
        uint64_t stride = 1;
        for (size_t d = 0; d < 3; ++d) {
          part.number += static_cast<uint64_t>(cube[d] - scale.cubes.begin[d]) * stride;
          stride *= static_cast<uint64_t>(count[d]);
        }
        part.entries = static_cast<uint64_t>(blocks[0] * blocks[1] * blocks[2]);
        sink(std::move(part));
      }
      DOLIUM_TRY(const uint64_t all, scale.CountCubes());
      const auto sum = CheckedAdd(first, all);
      if (!sum) return Unsupported("an export of more shards than there are numbers");
      first = *sum;
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    uint64_t rest = part.number;
    for (const WrittenScale& scale : scales_) {
      const Vec3 count = scale.cubes.size();
      DOLIUM_TRY(const uint64_t cubes, scale.CountCubes());
      if (rest >= cubes) {
        rest -= cubes;
        continue;
      }
      const auto index = static_cast<int64_t>(rest);
      const Vec3 cube = {scale.cubes.begin[0] + index % count[0],
                         scale.cubes.begin[1] + index / count[0] % count[1],
                         scale.cubes.begin[2] + index / count[0] / count[1]};
      return WriteShard(scale, cube, context);
    }
    return InvalidArgument(
        fmt::format("{}: the plan has no part {}", folder_.Describe(), part.number));
  }

  Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const override {
    DOLIUM_TRY(std::string state, FindDvidSourceState(request_, options));
    return state;
  }

  Result<void> Finish() override {
    const DvidExport* const exported = volume_.dvid_export();
    VolumeInfo spec = exported != nullptr ? exported->MakeSpec() : SpecOf(volume_.info());
    // Where nothing can be listed, it says which shards there can be.
    for (ScaleInfo& scale : spec.scales) {
      scale.extra[std::string(dvid::kShardSideMember)] =
          fmt::format("{}", request_.shard_side);
    }
    const Location object = folder_.Child(kSpecName);
    DOLIUM_TRY_VOID(Validate(spec).Within(object.Describe()));
    DOLIUM_TRY_VOID(
        object.store->Put(object.path, AsBytes(ToJson(spec)), Precondition::None()));
    for (const WrittenScale& scale : scales_) {
      const Location folder = folder_.Child(scale.folder);
      DOLIUM_TRY([[maybe_unused]] const size_t removed,
                 folder.store->RemoveStaleTemporaries(folder.path));
    }
    return {};
  }

  // What Plan() had to leave out as damaged; parts find further damage.
  std::vector<Finding> plan_findings() const { return plan_skipped_.findings(); }

 private:
  // Of `skipped`; empty if damage is an error.
  ChunkStorage::DamagedIndexVisitor IndexVisitor(SkippedChunks& skipped,
                                                 const WrittenScale& scale) const {
    if (!request_.skip_damaged) return {};
    return skipped.index_visitor(*scale.source);
  }

  // The cubes that can have a block, x fastest: from what the source lists, or all.
  Result<std::vector<Vec3>> FindCubes(const WrittenScale& scale) {
    std::set<Vec3> found;  // as z, y, x
    DOLIUM_TRY(
        const bool is_known,
        scale.source->storage().VisitOccupied(
            [&](const Box& cells) -> Result<void> {
              const Box voxels = scale.source->grid().VoxelsOf(cells);
              for (const Vec3& cube : CellsOf(TouchedBy(voxels, request_.shard_side))) {
                found.insert({cube[2], cube[1], cube[0]});
              }
              return {};
            },
            IndexVisitor(plan_skipped_, scale)));
    if (!is_known) return CellsOf(scale.cubes);
    std::vector<Vec3> cubes;
    cubes.reserve(found.size());
    for (const Vec3& cube : found) cubes.push_back({cube[2], cube[1], cube[0]});
    return cubes;
  }

  // The blocks of a shard that can have a voxel that is not zero, x fastest.
  Result<std::vector<Vec3>> FindBlocks(const WrittenScale& scale, const Vec3& cube,
                                       SkippedChunks& skipped) const {
    const Box all = BlocksOf(scale, cube);
    Box voxels;
    for (size_t d = 0; d < 3; ++d) {
      voxels.begin[d] = all.begin[d] * dvid::kBlockSide;
      voxels.end[d] = all.end[d] * dvid::kBlockSide;
    }
    const Grid& grid = scale.source->grid();
    DOLIUM_TRY(const auto occupied,
               scale.source->storage().FindOccupied(grid.CellsTouching(voxels),
                                                    IndexVisitor(skipped, scale)));
    if (!occupied) return CellsOf(all);
    std::vector<Vec3> blocks;
    for (const Vec3& cell : *occupied) {
      const Box touched = TouchedBy(grid.VoxelsOf(cell), dvid::kBlockSide);
      std::ranges::copy(CellsOf(touched.Intersect(all)), std::back_inserter(blocks));
    }
    SortCells(blocks);
    return blocks;
  }

  // The blocks of a shard that have a voxel of the scale.
  Box BlocksOf(const WrittenScale& scale, const Vec3& cube) const {
    Box blocks;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t begin = cube[d] * request_.shard_side;
      const int64_t end = std::min(scale.bounds.end[d], begin + request_.shard_side);
      blocks.begin[d] = std::max(begin, scale.bounds.begin[d]) / dvid::kBlockSide;
      blocks.end[d] = (end + dvid::kBlockSide - 1) / dvid::kBlockSide;
    }
    return blocks;
  }

  Result<TaskReport> WriteShard(const WrittenScale& scale, const Vec3& cube,
                                const PartContext& context) const {
    const int64_t side = request_.shard_side;
    const Location object =
        folder_.Child(scale.folder)
            .Child(fmt::format("{}_{}_{}{}", cube[0] * side, cube[1] * side,
                               cube[2] * side, dvid::kExtension));
    SkippedChunks skipped;
    const DamageVisitor skip_damaged =
        request_.skip_damaged ? skipped.visitor() : DamageVisitor();
    std::vector<dvid::Key> blocks;
    DOLIUM_TRY(const std::vector<Vec3> occupied, FindBlocks(scale, cube, skipped));
    blocks.reserve(occupied.size());
    for (const Vec3& cell : occupied) {
      blocks.push_back({static_cast<int32_t>(cell[0]), static_cast<int32_t>(cell[1]),
                        static_cast<int32_t>(cell[2])});
    }
    // The part was planned with all its blocks.
    const Vec3 size = BlocksOf(scale, cube).size();
    context.progress(static_cast<uint64_t>(size[0] * size[1] * size[2]) - blocks.size(),
                     0);
    std::unique_ptr<dvid::DvidShardWriter> writer;
    const size_t jobs = ThreadCount(context.writer.jobs, SIZE_MAX);
    const size_t window = jobs * kWindowPerJob;
    std::vector<std::optional<MadeRow>> made;
    for (size_t from = 0; from < blocks.size(); from += window) {
      const auto some =
          std::span(blocks).subspan(from, std::min(window, blocks.size() - from));
      made.assign(some.size(), std::nullopt);
      DOLIUM_TRY_VOID(ParallelFor(
          some.size(), jobs,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(made[i], scale.rows->Make(some[i], skip_damaged));
            return {};
          },
          context.writer.stop));
      for (size_t i = 0; i < some.size(); ++i) {
        if (!made[i]) continue;
        if (writer == nullptr) {
          DOLIUM_TRY(writer,
                     dvid::DvidShardWriter::Begin(
                         object, {.layout = request_.layout, .csv = request_.csv}));
        }
        DOLIUM_TRY_VOID(writer->Add({.block = some[i],
                                     .labels = dvid::LabelList(made[i]->labels),
                                     .supervoxels = dvid::LabelList(made[i]->supervoxels),
                                     .stored = made[i]->stored,
                                     .uncompressed_size = made[i]->block_bytes}));
      }
      context.progress(some.size(), some.size() * kBlockVoxels * sizeof(uint64_t));
    }
    TaskReport report;
    if (writer != nullptr) {
      DOLIUM_TRY(report.written, writer->Finish());
    }
    report.skipped = skipped.findings();
    return report;
  }

  const DvidWriteRequest request_;
  const Location folder_;
  const Volume volume_;
  const std::vector<WrittenScale> scales_;
  SkippedChunks plan_skipped_;
};

Result<std::unique_ptr<DvidJob>> MakeDvidJob(DvidWriteRequest request,
                                             const Location& folder) {
  DOLIUM_TRY_VOID(CheckShardSide(request.shard_side));
  DOLIUM_TRY(const Location source, ParseLocation(request.source));
  DOLIUM_TRY(Volume volume, OpenVolume(source, {.exported = request.exported}));
  DOLIUM_TRY_VOID(CheckDvidSource(volume, request.scales));
  const DvidExport* const exported = volume.dvid_export();
  std::vector<WrittenScale> scales;
  for (const size_t index : request.scales) {
    DOLIUM_TRY(const auto opened, volume.OpenCopy(index));
    WrittenScale scale;
    const size_t number = exported != nullptr ? exported->number(index) : index;
    scale.folder = fmt::format("s{}", number);
    scale.bounds = opened->bounds();
    for (size_t d = 0; d < 3; ++d) {
      scale.cubes.begin[d] = scale.bounds.begin[d] / request.shard_side;
      scale.cubes.end[d] =
          (scale.bounds.end[d] + request.shard_side - 1) / request.shard_side;
    }
    scale.source = opened;
    if (exported != nullptr) {
      scale.rows = RowsOfExport(exported->scale(index), request.layout);
    } else {
      scale.rows = RowsOfVoxels(opened, request.layout);
    }
    scales.push_back(std::move(scale));
  }
  return std::make_unique<DvidJob>(std::move(request), folder, std::move(volume),
                                   std::move(scales));
}

}  // namespace

Result<void> CheckDvidSource(const Volume& volume, const std::vector<size_t>& scales) {
  const VolumeInfo& info = volume.info();
  const std::string name = volume.folder().Describe();
  if (info.num_channels != 1 ||
      (info.data_type != DataType::kUint64 && info.data_type != DataType::kUint32)) {
    return Unsupported(fmt::format(
        "{}: exports hold labels, one uint64 for each voxel; this volume has {} channels "
        "of {}",
        name, info.num_channels, ToString(info.data_type)));
  }
  for (const size_t index : scales) {
    if (index >= info.scales.size()) {
      return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}", name,
                                         index, info.scales.size()));
    }
    const Box bounds = info.scales[index].bounds();
    for (size_t d = 0; d < 3; ++d) {
      if (bounds.begin[d] >= 0 && bounds.end[d] <= INT32_MAX) continue;
      return Unsupported(
          fmt::format("{}: scale {} has voxels {}, blocks of exports lie "
                      "within 0:{}",
                      name, index, ToString(bounds), INT32_MAX));
    }
  }
  return {};
}

Result<void> CheckShardSide(int64_t side) {
  if (side >= dvid::kBlockSide && side % dvid::kBlockSide == 0 && side <= kMaxShardSide) {
    return {};
  }
  return InvalidArgument(fmt::format("shards of {} voxels, expected a multiple of {}",
                                     side, dvid::kBlockSide));
}

Result<std::string> FindDvidSourceState(const DvidWriteRequest& request,
                                        const WriterOptions& options) {
  DOLIUM_TRY(const Location source, ParseLocation(request.source));
  return FindVolumeState(source, request.exported, request.scales, options);
}

Result<std::vector<Finding>> FindDamageOfPlan(const DvidWriteRequest& request,
                                              const Location& folder) {
  DOLIUM_TRY(const auto job, MakeDvidJob(request, folder));
  DOLIUM_TRY_VOID(job->Plan([](const JobPart&) {}));
  return job->plan_findings();
}

Result<std::unique_ptr<Job>> OpenDvidJob(Formats /*formats*/, const Location& folder,
                                         const JobRecord& record) {
  DOLIUM_TRY(DvidWriteRequest request, ParseRequest(record).Within(folder.Describe()));
  DOLIUM_TRY(std::unique_ptr<Job> job, MakeDvidJob(std::move(request), folder));
  return job;
}

Result<void> CheckDvidReplaceable(const Location& folder) {
  DOLIUM_TRY(const auto foreign, FindForeign(folder, /*is_strict=*/true));
  if (foreign.empty()) return {};
  return Exists(
      fmt::format("{}: holds {}, which is no part of an export and would be "
                  "lost; it is to be moved away first",
                  folder.Describe(), foreign.front()));
}

Result<void> CheckDvidJobReplaceable(Formats /*formats*/, const JobRecord& /*record*/,
                                     const Location& folder) {
  return CheckDvidReplaceable(folder);
}

}  // namespace dolium::volume
