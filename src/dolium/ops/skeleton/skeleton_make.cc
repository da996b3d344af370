#include "dolium/ops/skeleton/skeleton_make.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/stable_hash.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/skeleton/skeleton_make_job.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::skeleton {
namespace {

constexpr std::string_view kFolderName = "skeletons";
// Scales whose voxels are not much longer than those of the most isotropic one.
constexpr double kMostStretch = 1.5;
// What a voxel takes while a block is traced, if most of them have one label.
constexpr double kBytesOfVoxel = 80;
constexpr int64_t kLeastSide = 32;
constexpr int64_t kMostSide = 512;
// What is expected of a volume, to choose shards, and what a group of labels is to hold.
constexpr double kVoxelsOfSkeleton = 16384;
constexpr double kVoxelsOfByte = 16;
constexpr double kVoxelsOfGroup = 1 << 30;
constexpr unsigned kMostBits = 12;

double StretchOf(const volume::ScaleInfo& scale) {
  return std::ranges::max(scale.resolution) / std::ranges::min(scale.resolution);
}

size_t FinestIsotropic(const std::vector<volume::ScaleInfo>& scales) {
  double least = StretchOf(scales.front());
  for (const volume::ScaleInfo& scale : scales) least = std::min(least, StretchOf(scale));
  size_t chosen = 0;
  while (StretchOf(scales[chosen]) > kMostStretch * least) ++chosen;
  return chosen;
}

double VoxelsOf(const volume::ScaleInfo& scale) {
  double voxels = 1;
  for (const int64_t side : scale.size) voxels *= static_cast<double>(side);
  return voxels;
}

// Blocks of whole chunks, but for the voxel that they share.
volume::Vec3 BlockOf(const volume::ScaleInfo& scale, int64_t side) {
  volume::Vec3 block = {};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t chunk = scale.chunk_sizes.front()[d];
    const int64_t chunks = std::max<int64_t>(side / chunk, 1);
    block[d] = std::min(chunks * chunk, kMostSide);
  }
  return block;
}

class SkeletonMakeDraft final : public JobDraft {
 public:
  explicit SkeletonMakeDraft(const SkeletonMakeRequest& request) : request_(request) {}

  Result<void> Resolve(const RunOptions& options) {
    DOLIUM_TRY(const Location source, ParseLocation(request_.volume));
    DOLIUM_TRY(const volume::Volume volume,
               OpenVolume(source, {.exported = request_.exported}));
    DOLIUM_TRY(job_.source, PortableText(source, request_.volume));
    if (volume.dvid_export() != nullptr) job_.exported = request_.exported;
    DOLIUM_TRY_VOID(ChooseTarget(volume));
    DOLIUM_TRY_VOID(CheckDisjoint(source, *target_));
    DOLIUM_TRY_VOID(CheckNumbers());
    const auto& scales = volume.info().scales;
    job_.scale = request_.scale.value_or(FinestIsotropic(scales));
    DOLIUM_TRY_VOID(CheckSkeletonSource(job_));
    const volume::ScaleInfo& scale = scales[job_.scale];
    job_.teasar = request_.teasar;
    job_.cross_sections = request_.cross_sections;
    job_.min_voxels = request_.min_voxels;
    job_.dust = request_.dust;
    job_.tick = request_.tick;
    ChooseSegments();
    ChooseGroups(VoxelsOf(scale));
    ChooseBlock(scale, options);
    choice_.scale = job_.scale;
    choice_.resolution = scale.resolution;
    choice_.block = job_.block;
    choice_.sharding = job_.sharding;
    DOLIUM_TRY(text_, RequestText(job_));
    return {};
  }

  const Location& target() const { return *target_; }
  const SkeletonMakeChoice& choice() const { return choice_; }

  std::string_view kind() const override { return kSkeletonMakeKind; }
  const std::string& request() const override { return text_; }
  Result<std::string> FindSourceState() override {
    return FindSkeletonSourceState(job_, {});
  }
  Result<void> CheckReplaceable(const Location& folder) const override {
    return CheckSkeletonsReplaceable(folder);
  }
  Result<std::string> Plan(const PlanFolder& folder) override {
    if (request_.segments) {
      DOLIUM_TRY_VOID(WriteWantedLabels(folder, *request_.segments));
    }
    return ToText(job_);
  }

 private:
  Result<void> ChooseTarget(const volume::Volume& volume) {
    if (!request_.target.empty()) {
      DOLIUM_TRY(target_, ParseLocation(request_.target));
      choice_.target = target_->Describe();
      return {};
    }
    const Location& folder = volume.folder();
    DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
    if (!path || volume.dvid_export() != nullptr) {
      return InvalidArgument(fmt::format(
          "{}: cannot be written to, so that a target for its skeletons is needed",
          folder.Describe()));
    }
    job_.volume = *path;
    job_.key = volume.info().skeletons.value_or(std::string(kFolderName));
    target_ = volume::ResolveScaleKey(folder, job_.key);
    choice_.target = target_->Describe();
    choice_.is_registered = true;
    return {};
  }

  Result<void> CheckNumbers() const {
    const TeasarOptions& teasar = request_.teasar;
    for (const double number :
         {teasar.scale, teasar.constant, teasar.penalty_scale, teasar.penalty_exponent,
          teasar.soma_detection, teasar.soma_acceptance, teasar.soma_scale,
          teasar.soma_constant, request_.dust, request_.tick}) {
      if (std::isfinite(number) && number >= 0) continue;
      return InvalidArgument(
          fmt::format("{} is no length or factor, expected 0 or more", number));
    }
    if (request_.block_side && (*request_.block_side < 1)) {
      return InvalidArgument(fmt::format("blocks of {} voxels a side, expected 1 or more",
                                         *request_.block_side));
    }
    return {};
  }

  void ChooseSegments() {
    if (!request_.segments) return;
    auto& segments = *request_.segments;
    std::ranges::sort(segments);
    const auto repeated = std::ranges::unique(segments);
    segments.erase(repeated.begin(), repeated.end());
    const auto hash = StableHash(AsText(std::as_bytes(std::span(segments))));
    job_.segments = std::max<uint64_t>(1, hash);
  }

  void ChooseGroups(double voxels) {
    const double groups = std::max(1.0, voxels / kVoxelsOfGroup);
    job_.group_bits =
        std::min(kMostBits, static_cast<unsigned>(std::ceil(std::log2(groups))));
    if (!request_.sharded) return;
    neuroglancer::ShardingSpec base;
    base.hash = neuroglancer::ShardHash::kMurmur3;
    base.minishard_index_encoding = neuroglancer::Encoding::kGzip;
    base.data_encoding = neuroglancer::Encoding::kGzip;
    neuroglancer::SetSize size;
    size.entries = request_.segments ? request_.segments->size()
                                     : static_cast<uint64_t>(voxels / kVoxelsOfSkeleton);
    size.bytes = static_cast<uint64_t>(voxels / kVoxelsOfByte);
    job_.sharding = ChooseSharding(base, size, neuroglancer::kDefaultShardBytes);
    job_.sharding->shard_bits = std::min(job_.sharding->shard_bits, kMostBits);
    job_.group_bits = job_.sharding->shard_bits;
  }

  void ChooseBlock(const volume::ScaleInfo& scale, const RunOptions& options) {
    int64_t side = request_.block_side.value_or(0);
    if (!request_.block_side) {
      const auto threads =
          static_cast<double>(ThreadCount(options.writer.jobs, SIZE_MAX));
      const double room = static_cast<double>(options.writer.memory) / threads;
      side = static_cast<int64_t>(std::cbrt(room / kBytesOfVoxel));
    }
    job_.block =
        BlockOf(scale, std::clamp(side, request_.block_side ? 1 : kLeastSide, kMostSide));
    // Smaller ones where somebody asks for them.
    if (request_.block_side && side < std::ranges::min(scale.chunk_sizes.front())) {
      job_.block = {side, side, side};
    }
  }

  SkeletonMakeRequest request_;
  SkeletonMakeJob job_;
  SkeletonMakeChoice choice_;
  std::optional<Location> target_;
  std::string text_;
};

}  // namespace

Result<OpenJob> BeginSkeletonMake(const SkeletonMakeRequest& request,
                                  const RunOptions& options,
                                  const SkeletonChoiceVisitor& visitor) {
  SkeletonMakeDraft draft(request);
  DOLIUM_TRY_VOID(draft.Resolve(options));
  DOLIUM_TRY(OpenJob open,
             BeginJob(BuiltinFormats(), draft, draft.target(), request.force, options));
  if (visitor) visitor(draft.choice());
  return open;
}

Result<Plan> PlanSkeletonMake(const SkeletonMakeRequest& request,
                              const RunOptions& options,
                              const SkeletonChoiceVisitor& visitor) {
  DOLIUM_TRY(const OpenJob open, BeginSkeletonMake(request, options, visitor));
  return PlanOf(open);
}

Result<JobReport> MakeSkeletonsOf(const SkeletonMakeRequest& request,
                                  const RunOptions& options,
                                  const SkeletonChoiceVisitor& visitor) {
  SkeletonMakeRequest asked = request;
  return BeginAndRun(
      BuiltinFormats(),
      [&](bool again) {
        asked.force |= again;
        return BeginSkeletonMake(asked, options, visitor);
      },
      options);
}

}  // namespace dolium::skeleton
