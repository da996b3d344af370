#include "dolium/ops/skeleton/skeleton_make_job.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/skeleton/making/join_strands.h"
#include "dolium/domain/skeleton/making/strand_file.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::skeleton {
namespace {

constexpr std::string_view kWantedName = "segments";
constexpr uint64_t kMaxWantedBytes = uint64_t{1} << 36;
// What progress counts of voxels.
constexpr uint64_t kVoxelsOfEntry = uint64_t{1} << 20;
// What is looked at around a block, where areas across lines are asked for.
constexpr int64_t kContext = 32;

// A block: what it reads, and what of that it traces, in coordinates of the volume.
struct BlockBoxes {
  Box read;
  Box core;
  BlockCore within;  // the core, in coordinates of what is read
};

Result<LabelBlock> NumberVoxels(const ByteVector& voxels, volume::DataType type,
                                const Vec3& size, std::span<const uint64_t> wanted) {
  const auto number = [&]<typename T>(T) {
    return NumberLabels(
        std::span(reinterpret_cast<const T*>(voxels.data()), voxels.size() / sizeof(T)),
        size, wanted);
  };
  switch (type) {
    case volume::DataType::kUint8:
      return number(uint8_t{0});
    case volume::DataType::kUint16:
      return number(uint16_t{0});
    case volume::DataType::kUint32:
      return number(uint32_t{0});
    default:
      return number(uint64_t{0});
  }
}

class SkeletonMaker final : public Job {
 public:
  SkeletonMaker(SkeletonMakeJob job, Location folder, volume::Volume volume,
                std::shared_ptr<volume::WholeScale> scale)
      : job_(std::move(job)),
        folder_(std::move(folder)),
        plan_(folder_),
        volume_(std::move(volume)),
        scale_(std::move(scale)) {
    for (size_t d = 0; d < 3; ++d) {
      // Blocks share their last voxels with those that follow.
      const int64_t steps = std::max<int64_t>(scale_->bounds().size()[d] - 1, 1);
      blocks_[d] = (steps + job_.block[d] - 1) / job_.block[d];
    }
    if (job_.sharding) {
      groups_ = *job_.sharding;
    } else {
      groups_.hash = neuroglancer::ShardHash::kMurmur3;
      groups_.shard_bits = job_.group_bits;
    }
    info_ = InfoOfMade(job_.cross_sections);
    info_.sharding = job_.sharding;
  }

  // Numbers of blocks are those in the grid, x fastest; groups follow.
  Result<void> Plan(const PartSink& sink) override {
    DOLIUM_TRY(const std::vector<uint64_t> blocks, FindBlocks());
    for (const uint64_t block : blocks) {
      JobPart part;
      part.number = block;
      part.entries = EntriesOf(BoxesOf(block).core);
      sink(std::move(part));
    }
    for (uint64_t group = 0; group < group_count(); ++group) {
      JobPart part;
      part.number = block_count() + group;
      part.stage = 1;
      part.entries = 1;
      sink(std::move(part));
    }
    return {};
  }

  Result<TaskReport> RunPart(const JobPart& part, const PartContext& context) override {
    if (part.number < block_count()) return MakeBlock(part.number, context);
    const uint64_t group = part.number - block_count();
    if (group < group_count()) return MakeGroup(group, context);
    return InvalidArgument(
        fmt::format("{}: the plan has no part {}", folder_.Describe(), part.number));
  }

  std::optional<Location> PartObject(uint64_t part) const override {
    if (part >= block_count()) return std::nullopt;
    return StrandObject(part);
  }

  Result<std::optional<std::string>> FindSourceState(
      const WriterOptions& options) const override {
    DOLIUM_TRY(std::string state, FindSkeletonSourceState(job_, options));
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
                 info.skeletons = job_.key;
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
  static uint64_t EntriesOf(const Box& box) {
    const Vec3 size = box.size();
    return std::max<uint64_t>(
        1, static_cast<uint64_t>(size[0] * size[1] * size[2]) / kVoxelsOfEntry);
  }
  Location StrandObject(uint64_t block) const {
    return plan_.folder().Child(fmt::format("strands-{}", block));
  }

  BlockBoxes BoxesOf(uint64_t block) const {
    const auto number = static_cast<int64_t>(block);
    const Vec3 at = {number % blocks_[0], number / blocks_[0] % blocks_[1],
                     number / blocks_[0] / blocks_[1]};
    const Box& bounds = scale_->bounds();
    const int64_t context = job_.cross_sections ? kContext : 0;
    BlockBoxes boxes;
    for (size_t d = 0; d < 3; ++d) {
      boxes.core.begin[d] = bounds.begin[d] + at[d] * job_.block[d];
      boxes.core.end[d] =
          std::min(boxes.core.begin[d] + job_.block[d] + 1, bounds.end[d]);
      boxes.read.begin[d] = std::max(boxes.core.begin[d] - context, bounds.begin[d]);
      boxes.read.end[d] = std::min(boxes.core.end[d] + context, bounds.end[d]);
      boxes.within.box.begin[d] = boxes.core.begin[d] - boxes.read.begin[d];
      boxes.within.box.end[d] = boxes.core.end[d] - boxes.read.begin[d];
      boxes.within.shares[d] = {at[d] > 0, at[d] + 1 < blocks_[d]};
    }
    return boxes;
  }

  // The blocks that can have labels, ascending.
  Result<std::vector<uint64_t>> FindBlocks() {
    const std::lock_guard lock(mutex_);
    if (found_) return *found_;
    std::set<uint64_t> blocks;
    const volume::Scale& first = scale_->first();
    const auto visit = [&](const Box& cells) -> Result<void> {
      AddBlocks(first.grid().VoxelsOf(cells), blocks);
      return {};
    };
    DOLIUM_TRY(const bool is_known, first.storage().VisitOccupied(visit, {}));
    if (is_known) {
      found_.emplace(blocks.begin(), blocks.end());
    } else {
      found_.emplace(block_count());
      std::iota(found_->begin(), found_->end(), uint64_t{0});
    }
    return *found_;
  }

  void AddBlocks(const Box& voxels, std::set<uint64_t>& blocks) const {
    Box touched;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t begin = voxels.begin[d] - scale_->bounds().begin[d];
      const int64_t end = voxels.end[d] - scale_->bounds().begin[d];
      touched.begin[d] = std::max<int64_t>(begin - 1, 0) / job_.block[d];
      touched.end[d] = std::min((end - 1) / job_.block[d] + 1, blocks_[d]);
    }
    for (const Vec3& at : volume::CellsOf(touched)) {
      blocks.insert(
          static_cast<uint64_t>((at[2] * blocks_[1] + at[1]) * blocks_[0] + at[0]));
    }
  }

  // The labels that are wanted; none: all.
  Result<std::vector<uint64_t>> WantedLabels() const {
    std::vector<uint64_t> labels;
    if (job_.segments == 0) return labels;
    const Location object = plan_.folder().Child(kWantedName);
    DOLIUM_TRY(const auto whole, object.store->ReadWhole(object.path, kMaxWantedBytes));
    const BytesView bytes = whole.bytes;
    for (size_t i = 0; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
      labels.push_back(LoadLE<uint64_t>(&bytes[i]));
    }
    // A list of none is no list of all.
    if (labels.empty()) labels.push_back(0);
    return labels;
  }

  Result<LabelBlock> ReadLabels(const Box& box, const PartContext& context) {
    const volume::ArrayShape shape{box.size(), 1, scale_->type()};
    const auto bytes = shape.bytes();
    if (!bytes) return Unsupported("a block of more bytes than there are");
    ByteVector voxels(*bytes);
    DOLIUM_TRY([[maybe_unused]] const uint64_t chunks,
               scale_->Read(box, volume::MutableVoxelView::Dense(shape, voxels.data()),
                            {.jobs = context.writer.jobs, .stop = context.writer.stop}));
    DOLIUM_TRY(const auto wanted, WantedLabels());
    return NumberVoxels(voxels, scale_->type(), box.size(), wanted);
  }

  Result<TaskReport> MakeBlock(uint64_t number, const PartContext& context) {
    const BlockBoxes boxes = BoxesOf(number);
    DOLIUM_TRY(const LabelBlock block, ReadLabels(boxes.read, context));
    StrandOptions options;
    options.resolution = scale_->info().resolution;
    options.teasar = job_.teasar;
    options.cross_sections = job_.cross_sections;
    options.jobs = context.writer.jobs;
    options.stop = context.writer.stop;
    DOLIUM_TRY(auto strands, MakeStrands(block, boxes.within, options));
    for (SkeletonStrand& strand : strands) {
      for (Vec3& vertex : strand.line.vertices) {
        for (size_t d = 0; d < 3; ++d) vertex[d] += boxes.read.begin[d];
      }
    }
    const ByteVector file = WriteStrandFile(strands, group_count(), [&](uint64_t id) {
      return groups_.LocationOf(id).shard;
    });
    const Location object = StrandObject(number);
    DOLIUM_TRY([[maybe_unused]] const Generation generation,
               object.store->Put(object.path, file, Precondition::None()));
    context.progress(EntriesOf(boxes.core), 0);
    return TaskReport{};
  }

  // Adds what a block found of a group.
  Result<void> ReadStrands(uint64_t block, uint64_t group,
                           std::vector<SkeletonStrand>& strands) const {
    const Location object = StrandObject(block);
    const ByteRange at = StrandEntryRange(group);
    ByteVector entry(at.length);
    const ReadSlice slice = {at.offset, entry};
    const auto found = object.store->ReadInto(object.path, std::span(&slice, 1), {});
    if (!found && found.error().code == ErrorCode::kNotFound) {
      return Unavailable(
          fmt::format("{}: block {} is not done yet", folder_.Describe(), block));
    }
    if (!found) return found.error();
    DOLIUM_TRY(const ByteRange range,
               ParseStrandEntry(entry, found->size).Within(object.Describe()));
    if (range.empty()) return {};
    ByteVector bytes(range.length);
    const ReadSlice whole = {range.offset, bytes};
    DOLIUM_TRY([[maybe_unused]] const auto read,
               object.store->ReadInto(object.path, std::span(&whole, 1), {}));
    return ParseStrands(bytes, strands).Within(object.Describe());
  }

  Result<TaskReport> MakeGroup(uint64_t group, const PartContext& context) {
    DOLIUM_TRY(const std::vector<uint64_t> blocks, FindBlocks());
    std::vector<SkeletonStrand> strands;
    for (const uint64_t block : blocks) {
      DOLIUM_TRY_VOID(ReadStrands(block, group, strands));
    }
    std::ranges::stable_sort(strands, {}, &SkeletonStrand::id);
    std::vector<std::span<const SkeletonStrand>> labels;
    for (size_t begin = 0; begin < strands.size();) {
      size_t end = begin;
      uint64_t voxels = 0;
      while (end < strands.size() && strands[end].id == strands[begin].id) {
        voxels += strands[end++].voxels;  // no more than the volume has
      }
      if (voxels >= job_.min_voxels) {
        labels.push_back(
            std::span<const SkeletonStrand>(strands).subspan(begin, end - begin));
      }
      begin = end;
    }
    TaskReport report;
    DOLIUM_TRY(report.written, WriteLabels(labels, context));
    context.progress(1, 0);
    return report;
  }

  Result<WriteSummary> WriteLabels(
      std::span<const std::span<const SkeletonStrand>> labels,
      const PartContext& context) const {
    JoinOptions options;
    options.resolution = scale_->info().resolution;
    options.teasar = job_.teasar;
    options.dust = job_.dust;
    options.tick = job_.tick;
    std::unique_ptr<neuroglancer::ShardedWriter> shard;
    WriteSummary files;
    std::mutex writing;  // guards both
    const auto write = [&](uint64_t id, const ByteVector& bytes) -> Result<void> {
      const std::lock_guard lock(writing);
      if (job_.sharding) {
        if (shard == nullptr) {
          shard = std::make_unique<neuroglancer::ShardedWriter>(
              folder_, *job_.sharding, context.writer,
              neuroglancer::ShardedWriter::Appear::kOnce);
        }
        return shard->AddChunk(id, bytes, {}, /*encoded=*/false);
      }
      const Location object = folder_.Child(std::to_string(id));
      DOLIUM_TRY([[maybe_unused]] const Generation generation,
                 object.store->Put(object.path, bytes, Precondition::None()));
      files += {1, bytes.size(), bytes.size(), 1};
      return {};
    };
    DOLIUM_TRY_VOID(ParallelFor(
        labels.size(), context.writer.jobs,
        [&](size_t i) -> Result<void> {
          const Skeleton skeleton = JoinStrands(labels[i], options);
          if (skeleton.vertices.empty()) return {};
          const uint64_t id = labels[i].front().id;
          const auto bytes = WriteSkeleton(skeleton, info_);
          if (!bytes) return Error(bytes.error()).Within(fmt::format("label {}", id));
          return write(id, *bytes);
        },
        context.writer.stop));
    if (shard == nullptr) return files;
    return shard->Finish();
  }

  const SkeletonMakeJob job_;
  const Location folder_;
  const PlanFolder plan_;
  const volume::Volume volume_;
  const std::shared_ptr<volume::WholeScale> scale_;
  Vec3 blocks_ = {0, 0, 0};
  neuroglancer::ShardingSpec groups_;
  SkeletonInfo info_;
  std::mutex mutex_;
  std::optional<std::vector<uint64_t>> found_;  // guarded by mutex_
};

Result<std::unique_ptr<SkeletonMaker>> OpenSkeletonMaker(SkeletonMakeJob job,
                                                         const Location& folder) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  DOLIUM_TRY(volume::Volume volume, OpenVolume(source, {.exported = job.exported}));
  const volume::VolumeInfo& info = volume.info();
  const std::string name = volume.folder().Describe();
  const volume::DataType type = info.data_type;
  const bool is_label =
      type == volume::DataType::kUint8 || type == volume::DataType::kUint16 ||
      type == volume::DataType::kUint32 || type == volume::DataType::kUint64;
  if (info.num_channels != 1 || !is_label) {
    return Unsupported(fmt::format(
        "{}: skeletons are made of labels, one unsigned number for each voxel; this "
        "volume has {} channels of {}",
        name, info.num_channels, volume::ToString(type)));
  }
  if (job.scale >= info.scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}", name,
                                       job.scale, info.scales.size()));
  }
  DOLIUM_TRY(auto scale, volume.OpenScale(job.scale));
  auto maker = std::make_unique<SkeletonMaker>(std::move(job), folder, std::move(volume),
                                               std::move(scale));
  DOLIUM_TRY_VOID(maker->CheckBlocks());
  return maker;
}

}  // namespace

Result<void> WriteWantedLabels(const PlanFolder& folder,
                               const std::vector<uint64_t>& labels) {
  ByteVector bytes(labels.size() * sizeof(uint64_t));
  for (size_t i = 0; i < labels.size(); ++i) {
    StoreLE(&bytes[i * sizeof(uint64_t)], labels[i]);
  }
  const Location object = folder.folder().Child(kWantedName);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, bytes, Precondition::None()));
  return {};
}

Result<void> CheckSkeletonSource(const SkeletonMakeJob& job) {
  DOLIUM_TRY(const Location source, ParseLocation(job.source));
  DOLIUM_TRY([[maybe_unused]] const auto maker, OpenSkeletonMaker(job, source));
  return {};
}

Result<std::unique_ptr<Job>> OpenSkeletonMakeJob(Formats /*formats*/,
                                                 const Location& folder,
                                                 const JobRecord& record) {
  DOLIUM_TRY(SkeletonMakeJob parameters,
             ParseSkeletonMakeJob(record.parameters).Within(folder.Describe()));
  DOLIUM_TRY(std::unique_ptr<Job> job, OpenSkeletonMaker(std::move(parameters), folder));
  return job;
}

}  // namespace dolium::skeleton
