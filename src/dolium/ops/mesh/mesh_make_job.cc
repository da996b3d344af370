#include "dolium/ops/mesh/mesh_make_job.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/mesh/making/cell_file.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/making/make_mesh.h"
#include "dolium/domain/mesh/mesh_writer.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::mesh {
namespace {

using volume::Box;
using volume::Vec3;

constexpr std::string_view kSegmentsName = "segments";
constexpr uint64_t kMaxSegmentBytes = uint64_t{1} << 36;
// What progress counts of voxels.
constexpr uint64_t kVoxelsOfEntry = uint64_t{1} << 20;
// The share of the memory that the cells of labels, and what is written, may take each.
constexpr uint64_t kMemoryShare = 4;

// A label, and where its cells are.
struct FoundLabel {
  uint64_t label = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
  uint64_t voxels = 0;
  std::vector<std::pair<size_t, size_t>> runs = {};  // of files
};

// What blocks found of a group of labels.
struct GroupCells {
  std::vector<CellFile> files;
  std::vector<std::vector<CellRun>> runs;  // of each file
  std::vector<FoundLabel> labels;          // ascending
};

class MeshMaker final : public Job {
 public:
  MeshMaker(MeshMakeJob job, Location folder, volume::Volume volume,
            std::shared_ptr<volume::WholeScale> scale)
      : job_(std::move(job)),
        folder_(std::move(folder)),
        plan_(folder_),
        volume_(std::move(volume)),
        scale_(std::move(scale)) {
    for (size_t d = 0; d < 3; ++d) {
      const int64_t size = scale_->bounds().size()[d];
      blocks_[d] = (size + job_.block[d] - 1) / job_.block[d];
    }
    if (job_.sharding) {
      groups_ = *job_.sharding;
    } else {
      groups_.hash = neuroglancer::ShardHash::kMurmur3;
      groups_.shard_bits = job_.group_bits;
    }
    info_.vertex_quantization_bits = job_.bits;
    info_.sharding = job_.sharding;
  }

  // Numbers of blocks are those in the grid, x fastest; groups follow.
  Result<void> Plan(const PartSink& sink) override {
    DOLIUM_TRY(const std::vector<uint64_t> blocks, FindBlocks());
    uint64_t entries = 0;
    for (const uint64_t block : blocks) {
      JobPart part;
      part.number = block;
      const Vec3 size = VoxelsOf(CellsOf(block)).size();
      part.entries = EntriesOf(static_cast<uint64_t>(size[0] * size[1] * size[2]));
      entries += part.entries;
      sink(std::move(part));
    }
    for (uint64_t group = 0; group < group_count(); ++group) {
      JobPart part;
      part.number = block_count() + group;
      part.stage = 1;
      part.entries = std::max<uint64_t>(1, entries / group_count());
      sink(std::move(part));
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    if (part.number < block_count()) return MakeBlock(part.number, context);
    const uint64_t group = part.number - block_count();
    if (group < group_count()) return MakeGroup(group, part.entries, context);
    return InvalidArgument(
        fmt::format("{}: the plan has no part {}", folder_.Describe(), part.number));
  }

  std::optional<Location> PartObject(uint64_t part) const override {
    if (part >= block_count()) return std::nullopt;
    return CellObject(part);
  }

  Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const override {
    DOLIUM_TRY(std::string state, FindMeshSourceState(job_, options));
    return state;
  }

  Result<void> Finish() override {
    const Location object = folder_.Child(volume::kInfoName);
    DOLIUM_TRY(
        [[maybe_unused]] const Generation generation,
        object.store->Put(object.path, AsBytes(ToJson(info_)), Precondition::None()));
    DOLIUM_TRY([[maybe_unused]] const size_t removed,
               folder_.store->RemoveStaleTemporaries(folder_.path));
    if (job_.volume.empty()) return {};
    DOLIUM_TRY(const Location volume, ParseLocation(job_.volume));
    DOLIUM_TRY([[maybe_unused]] const auto info,
               volume::UpdateInfo(volume, [&](volume::VolumeInfo info) {
                 info.mesh = job_.key;
                 return Result<volume::VolumeInfo>(std::move(info));
               }));
    return {};
  }

  // kUnsupported if blocks do not count in 64 bits.
  Result<void> CheckBlocks() const {
    std::optional<uint64_t> count = group_count();
    for (const int64_t side : blocks_) {
      if (count) count = CheckedMul(*count, static_cast<uint64_t>(side));
    }
    if (count) return {};
    return Unsupported(fmt::format("{}: {} blocks do not count in 64 bits",
                                   folder_.Describe(), volume::ToString(blocks_)));
  }

 private:
  uint64_t block_count() const {
    return static_cast<uint64_t>(blocks_[0] * blocks_[1] * blocks_[2]);
  }
  uint64_t group_count() const { return uint64_t{1} << job_.group_bits; }
  static uint64_t EntriesOf(uint64_t voxels) {
    return std::max<uint64_t>(1, voxels / kVoxelsOfEntry);
  }
  Location CellObject(uint64_t block) const {
    return plan_.folder().Child(fmt::format("cells-{}", block));
  }

  // The cells of a block. Those around the data are of the blocks beside them: the first
  // begin one cell before it.
  Box CellsOf(uint64_t block) const {
    const auto number = static_cast<int64_t>(block);
    const Vec3 at = {number % blocks_[0], number / blocks_[0] % blocks_[1],
                     number / blocks_[0] / blocks_[1]};
    const Box& bounds = scale_->bounds();
    Box cells;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t begin = bounds.begin[d] + at[d] * job_.block[d];
      cells.begin[d] = at[d] == 0 ? begin - 1 : begin;
      cells.end[d] = std::min(begin + job_.block[d], bounds.end[d]);
    }
    return cells;
  }
  // Those that cells lie between, whether or not there are any.
  static Box VoxelsOf(Box cells) {
    for (int64_t& end : cells.end) ++end;
    return cells;
  }

  // The blocks that can have labels, ascending.
  Result<std::vector<uint64_t>> FindBlocks() {
    const std::lock_guard lock(mutex_);
    if (!found_) {
      std::set<uint64_t> blocks;
      const auto add = [&](const Box& voxels) {
        Box touched;
        for (size_t d = 0; d < 3; ++d) {
          const int64_t begin = voxels.begin[d] - scale_->bounds().begin[d];
          const int64_t end = voxels.end[d] - scale_->bounds().begin[d];
          // The cells before the first voxel are of the block before.
          touched.begin[d] = std::max<int64_t>(begin - 1, 0) / job_.block[d];
          touched.end[d] = (end + job_.block[d] - 1) / job_.block[d];
        }
        for (const Vec3& at : volume::CellsOf(touched)) {
          blocks.insert(
              static_cast<uint64_t>((at[2] * blocks_[1] + at[1]) * blocks_[0] + at[0]));
        }
      };
      const volume::Scale& first = scale_->first();
      DOLIUM_TRY(const bool is_known, first.storage().VisitOccupied(
                                          [&](const Box& cells) -> Result<void> {
                                            add(first.grid().VoxelsOf(cells));
                                            return {};
                                          },
                                          {}));
      if (!is_known) {
        found_.emplace(block_count());
        std::iota(found_->begin(), found_->end(), uint64_t{0});
      } else {
        found_.emplace(blocks.begin(), blocks.end());
      }
    }
    return *found_;
  }

  // The labels that are wanted; nullptr: all.
  Result<const std::vector<uint64_t>*> Segments() {
    if (job_.segments == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (!segments_) {
      const Location object = plan_.folder().Child(kSegmentsName);
      DOLIUM_TRY(const auto whole,
                 object.store->ReadWhole(object.path, kMaxSegmentBytes));
      const BytesView bytes = whole.bytes;
      segments_.emplace();
      for (size_t i = 0; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
        segments_->push_back(LoadLE<uint64_t>(bytes.data() + i));
      }
    }
    return &*segments_;
  }

  Result<TaskReport> MakeBlock(uint64_t block, const PartContext& context) {
    const Box cells = CellsOf(block);
    const Box whole = VoxelsOf(cells);
    const volume::ArrayShape shape{whole.size(), 1, scale_->type()};
    const auto bytes = shape.bytes();
    if (!bytes) return Unsupported("a block of more bytes than there are");
    ByteVector voxels(*bytes);
    const auto view = volume::MutableVoxelView::Dense(shape, voxels.data());
    const Box inside = whole.Intersect(scale_->bounds());
    DOLIUM_TRY([[maybe_unused]] const uint64_t chunks,
               scale_->Read(inside, view.Part(whole, inside),
                            {.jobs = context.writer.jobs, .stop = context.writer.stop}));
    DOLIUM_TRY(
        BlockCells found,
        FindLabelCells(volume::VoxelView::Dense(shape, voxels.data()), cells.begin));
    voxels = {};
    DOLIUM_TRY(const std::vector<uint64_t>* const segments, Segments());
    if (segments != nullptr) {
      std::erase_if(found.runs, [&](const CellRun& run) {
        return !std::ranges::binary_search(*segments, run.label);
      });
    }
    const Location object = CellObject(block);
    DOLIUM_TRY([[maybe_unused]] const Generation generation,
               object.store->Put(object.path,
                                 WriteCellFile(found, cells, group_count(),
                                               [&](uint64_t label) {
                                                 return groups_.LocationOf(label).shard;
                                               }),
                                 Precondition::None()));
    const Vec3 size = whole.size();
    context.progress(EntriesOf(static_cast<uint64_t>(size[0] * size[1] * size[2])),
                     *bytes);
    return TaskReport{};
  }

  Result<GroupCells> FindGroup(uint64_t group) {
    DOLIUM_TRY(const std::vector<uint64_t> blocks, FindBlocks());
    GroupCells cells;
    std::map<uint64_t, FoundLabel> labels;
    for (const uint64_t block : blocks) {
      auto file = CellFile::Open(CellObject(block), group_count());
      if (!file && file.error().code == ErrorCode::kNotFound) {
        return Unavailable(
            fmt::format("{}: block {} is not done yet", folder_.Describe(), block));
      }
      if (!file) return std::move(file).error();
      DOLIUM_TRY(std::vector<CellRun> runs, file->ReadRuns(group));
      if (runs.empty()) continue;
      for (size_t i = 0; i < runs.size(); ++i) {
        FoundLabel& label = labels[runs[i].label];
        label.label = runs[i].label;
        label.cells += runs[i].cells;
        label.bytes += runs[i].size;
        label.voxels += runs[i].voxels;
        label.runs.emplace_back(cells.files.size(), i);
      }
      cells.files.push_back(*std::move(file));
      cells.runs.push_back(std::move(runs));
    }
    for (auto& [label, found] : labels) {
      if (found.voxels >= job_.min_voxels) cells.labels.push_back(std::move(found));
    }
    return cells;
  }

  MakeOptions OptionsOfMeshes() const {
    MakeOptions options;
    options.resolution = scale_->info().resolution;
    options.voxels = scale_->bounds();
    options.open = job_.open;
    options.error = job_.error;
    options.levels = job_.levels;
    options.cell = job_.cell;
    options.bits = job_.bits;
    return options;
  }

  Result<TaskReport> MakeGroup(uint64_t group, uint64_t entries,
                               const PartContext& context) {
    DOLIUM_TRY(const GroupCells cells, FindGroup(group));
    TaskReport report;
    if (!cells.labels.empty()) {
      WriterOptions options = context.writer;
      options.memory /= kMemoryShare;
      DOLIUM_TRY(MultiresWriter writer,
                 MultiresWriter::CreatePart(folder_, info_, options));
      const uint64_t room = context.writer.memory / kMemoryShare;
      for (size_t begin = 0; begin < cells.labels.size();) {
        size_t end = begin;
        uint64_t bytes = 0;
        while (end < cells.labels.size() &&
               (end == begin || bytes + cells.labels[end].bytes <= room)) {
          bytes += cells.labels[end++].bytes;
        }
        DOLIUM_TRY_VOID(MakeLabels(cells, begin, end, writer, context));
        begin = end;
      }
      DOLIUM_TRY(report.written, writer.FinishPart());
    }
    context.progress(entries, 0);
    return report;
  }

  // Those from one to another, whose cells are read at once.
  Result<void> MakeLabels(const GroupCells& cells, size_t begin, size_t end,
                          MultiresWriter& writer, const PartContext& context) const {
    const auto labels = std::span(cells.labels).subspan(begin, end - begin);
    // In each file, runs are in order of label.
    std::vector<std::pair<Bytes, uint64_t>> stored(cells.files.size());
    for (size_t file = 0; file < cells.files.size(); ++file) {
      const auto& runs = cells.runs[file];
      const auto first =
          std::ranges::lower_bound(runs, labels.front().label, {}, &CellRun::label);
      const auto last =
          std::ranges::upper_bound(runs, labels.back().label, {}, &CellRun::label);
      if (first == last) continue;
      DOLIUM_TRY(stored[file].first, cells.files[file].ReadCells(*first, *(last - 1)));
      stored[file].second = first->offset;
    }
    std::vector<const FoundLabel*> order;
    order.reserve(labels.size());
    for (const FoundLabel& label : labels) order.push_back(&label);
    // The largest first, so that no thread is left with one at the end.
    std::ranges::stable_sort(order, std::greater<>(),
                             [](const FoundLabel* label) { return label->cells; });
    std::mutex writing;
    const auto make = [&](const FoundLabel& label, size_t jobs) -> Result<void> {
      std::vector<LabelRun> runs;
      for (const auto& [file, number] : label.runs) {
        const CellRun& run = cells.runs[file][number];
        const BytesView bytes = stored[file].first;
        runs.push_back({cells.files[file].block(), run.cells,
                        bytes.subspan(run.offset - stored[file].second, run.size)});
      }
      const auto context_text = [&] { return fmt::format("label {}", label.label); };
      MakeOptions options = OptionsOfMeshes();
      options.jobs = jobs;
      auto surface = MakeLabelSurface(runs, options);
      if (!surface) return std::move(surface).error().Within(context_text());
      auto encoded = EncodeLevels(*std::move(surface), options);
      if (!encoded) return std::move(encoded).error().Within(context_text());
      if (!*encoded) return {};
      const std::lock_guard lock(writing);
      return writer.Add(label.label, **encoded);
    };
    const size_t threads = ThreadCount(context.writer.jobs, SIZE_MAX);
    const uint64_t room = context.writer.memory / threads;
    size_t large = 0;
    for (; large < order.size() && MemoryToMake(order[large]->cells) > room; ++large) {
      if (context.writer.stop.stop_requested()) return Cancelled("stopped on request");
      DOLIUM_TRY_VOID(make(*order[large], threads));
    }
    return ParallelFor(
        order.size() - large, threads,
        [&](size_t i) { return make(*order[large + i], 1); }, context.writer.stop);
  }

  const MeshMakeJob job_;
  const Location folder_;
  const PlanFolder plan_;
  const volume::Volume volume_;
  const std::shared_ptr<volume::WholeScale> scale_;
  Vec3 blocks_ = {0, 0, 0};
  neuroglancer::ShardingSpec groups_;
  MultiresInfo info_;
  std::mutex mutex_;  // guards the following
  std::optional<std::vector<uint64_t>> found_;
  std::optional<std::vector<uint64_t>> segments_;
};

Result<std::unique_ptr<MeshMaker>> OpenMaker(MeshMakeJob job, const Location& folder) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  DOLIUM_TRY(volume::Volume volume, OpenVolume(source, {.exported = job.exported}));
  const volume::VolumeInfo& info = volume.info();
  const std::string name = volume.folder().Describe();
  const bool is_label = info.data_type == volume::DataType::kUint8 ||
                        info.data_type == volume::DataType::kUint16 ||
                        info.data_type == volume::DataType::kUint32 ||
                        info.data_type == volume::DataType::kUint64;
  if (info.num_channels != 1 || !is_label) {
    return Unsupported(fmt::format(
        "{}: meshes are made of labels, one unsigned number for each voxel; this volume "
        "has {} channels of {}",
        name, info.num_channels, volume::ToString(info.data_type)));
  }
  if (job.scale >= info.scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}", name,
                                       job.scale, info.scales.size()));
  }
  DOLIUM_TRY(auto scale, volume.OpenScale(job.scale));
  auto maker = std::make_unique<MeshMaker>(std::move(job), folder, std::move(volume),
                                           std::move(scale));
  DOLIUM_TRY_VOID(maker->CheckBlocks());
  return maker;
}

}  // namespace

Result<void> WriteSegments(const PlanFolder& folder,
                           const std::vector<uint64_t>& segments) {
  ByteVector bytes(segments.size() * sizeof(uint64_t));
  for (size_t i = 0; i < segments.size(); ++i) {
    StoreLE(&bytes[i * sizeof(uint64_t)], segments[i]);
  }
  const Location object = folder.folder().Child(kSegmentsName);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, bytes, Precondition::None()));
  return {};
}

Result<void> CheckMeshSource(const MeshMakeJob& job) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  DOLIUM_TRY([[maybe_unused]] const auto maker, OpenMaker(job, source));
  return {};
}

Result<std::unique_ptr<Job>> OpenMeshMakeJob(Formats /*formats*/, const Location& folder,
                                             const JobRecord& record) {
  DOLIUM_TRY(MeshMakeJob parameters,
             ParseMeshMakeJob(record.parameters).Within(folder.Describe()));
  DOLIUM_TRY(std::unique_ptr<Job> job, OpenMaker(std::move(parameters), folder));
  return job;
}

}  // namespace dolium::mesh
